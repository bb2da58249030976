//! MCP over HTTP: clients of servers at a URL, and servers on a listener.

mod connection;
mod connections;
mod handshake;
mod lines;
mod pump;
mod relay;
mod serve;
mod transport;
mod worker;

use mcp_proto_handles::{ConnectError, HttpEndpoint};

use crate::client_handle::ClientHandle;
use crate::connector::Connector;
use crate::pump::Pump;
use crate::reconnect::Reconnect;
use crate::source::{Link, Source, Teardown};
use pump::HttpPump;
use transport::Transport;

pub use mcp_proto_handles::HttpAccess;
pub use mcp_proto_http::server::{
    AllowList, Challenge, HttpConfig, HttpLimits, HttpTimes, LegacyPaths, Method, RESOURCE_METADATA_PATH,
    RequestHead, SessionMode, Verdict,
};
pub use relay::relay;

impl Connector {
    /// Connects to a server at a URL: Streamable HTTP, or HTTP+SSE of 2024-11-05 if the server speaks nothing newer.
    ///
    /// If the server ends the session, the client starts a new session: over HTTP, [`reconnect`](Connector::reconnect)
    /// is on by default. The client does not follow redirects. Lists omit tools whose schema has an invalid annotation
    /// `x-mcp-header`, as the specification requires.
    ///
    /// ```no_run
    /// use mcp_proto_std::{Connector, HttpEndpoint};
    ///
    /// let client = Connector::new("my-host", "1.0.0").http(HttpEndpoint::new("http://localhost:8080/mcp"))?;
    /// for tool in client.list_tools()? {
    ///     println!("{}", tool.name);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// See [`ConnectError`]. [`ConnectError::Http`]: the server refuses the requests or cannot be reached. On an
    /// established connection, such a failure ends one request with [`CallError::Http`](crate::CallError::Http).
    pub fn http(mut self, endpoint: HttpEndpoint) -> Result<ClientHandle, ConnectError> {
        self.settings.use_http();
        self.reconnect.get_or_insert(Reconnect::DEFAULT);
        let (requests, longest) = (self.settings.requests, self.settings.longest_line);
        let source = Source::Opener(Box::new(move || {
            let pump = HttpPump::new(Transport::new(endpoint.clone(), requests, longest)?);
            Ok(Link { open: Pump::opener_with(pump), teardown: Teardown::Nothing(None) })
        }));
        self.start(source)
    }
}
