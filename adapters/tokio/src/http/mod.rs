//! Clients of servers at a URL.

mod connect;
mod pump;
mod sender;

use std::io;

use mcp_proto_handles::{ClientHandle, ConnectError, HttpEndpoint, HttpExchanges, Reconnect};
use tokio::time::Instant;

use crate::connector::Connector;
use crate::source::ServerSource;
use sender::HttpSender;

pub(crate) use pump::HttpPump;

/// A server at a URL, and the idle connections to it.
pub(crate) struct HttpSource {
    endpoint: HttpEndpoint,
    sender: HttpSender,
    requests: usize,
    longest: usize,
    max_resumptions: u32,
}

impl HttpSource {
    /// Creates a pump for a new session.
    pub(crate) fn open(&self, start: Instant) -> io::Result<HttpPump> {
        let has_tls = cfg!(feature = "https");
        let exchanges = HttpExchanges::new(&self.endpoint, has_tls, self.requests, self.longest)?;
        let exchanges = exchanges.max_resumptions(self.max_resumptions);
        Ok(HttpPump::new(exchanges, self.sender.clone(), start))
    }
}

impl Connector {
    /// Connects to a server at a URL: Streamable HTTP, or HTTP+SSE of 2024-11-05 if the server speaks nothing newer.
    ///
    /// If the server ends the session, the client starts a new session, and repeats the request that the server refused
    /// for this reason: over HTTP, [`reconnect`](Connector::reconnect) is on by default. A stream that breaks can
    /// resume after its last event, and fails after the last attempt of `reconnect`. The client does not follow
    /// redirects, and uses the HTTP proxy that the environment names (`HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`,
    /// `NO_PROXY`). Lists omit tools whose schema has an invalid annotation `x-mcp-header`, as the specification
    /// requires.
    ///
    /// ```no_run
    /// use mcp_proto_tokio::{Connector, HttpEndpoint};
    ///
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// let endpoint = HttpEndpoint::new("https://example.com/mcp").header("Authorization", "Bearer …");
    /// let client = Connector::new("my-host", "1.0.0").http(endpoint).await?;
    /// for tool in client.list_tools().await? {
    ///     println!("{}", tool.name);
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// See [`ConnectError`]. [`ConnectError::Http`]: the server refuses the requests or cannot be reached. On an
    /// established connection, such a failure ends one request with [`CallError::Http`](crate::CallError::Http).
    pub async fn http(mut self, endpoint: HttpEndpoint) -> Result<ClientHandle, ConnectError> {
        self.settings.use_http();
        let reconnect = *self.reconnect.get_or_insert(Reconnect::DEFAULT);
        let source = HttpSource {
            sender: HttpSender::new(&endpoint)?,
            endpoint,
            requests: self.settings.requests,
            longest: self.settings.longest_line,
            max_resumptions: reconnect.attempts,
        };
        self.start(ServerSource::Http(source)).await
    }
}
