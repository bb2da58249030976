//! MCP over HTTP: clients of servers at a URL, and servers on a listener.

mod connection;
mod pump;
mod serve;
mod worker;

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_proto::json::Json;
use mcp_proto_handles::{ConnectError, ToolDescription, lock};
use mcp_proto_http::client::check_tool_headers;

use crate::client::ClientHandle;
use crate::connector::Connector;
use crate::pump::Pump;
use crate::reconnect::Reconnect;
use crate::source::{Link, Source, Teardown};
use pump::HttpPump;

pub use mcp_proto_http::server::{
    AllowList, HttpConfig, HttpLimits, HttpTimes, LegacyPaths, Method, RequestHead, SessionMode, Verdict,
};
pub use serve::HttpAccess;

/// The URL of a server, and how to reach it.
///
/// ```no_run
/// use mcp_proto_std::{Connector, HttpEndpoint};
///
/// let endpoint = HttpEndpoint::new("https://example.com/mcp").header("Authorization", "Bearer …");
/// let client = Connector::new("my-host", "1.0.0").http(endpoint)?;
/// # Ok::<(), mcp_proto_std::ConnectError>(())
/// ```
#[derive(Clone)]
pub struct HttpEndpoint {
    url: String,
    fields: Vec<(String, String)>,
    connect_timeout: Duration,
    /// The last failure to reach the server.
    error: Arc<Mutex<Option<String>>>,
}

impl HttpEndpoint {
    /// Creates an endpoint for a URL that begins with `http://` or, with the feature `https`, with `https://`.
    #[must_use]
    pub fn new(url: impl Into<String>) -> HttpEndpoint {
        HttpEndpoint {
            url: url.into(),
            fields: Vec::new(),
            connect_timeout: Duration::from_secs(10),
            error: Arc::default(),
        }
    }

    /// Adds a header field to every request, for example for authorization.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> HttpEndpoint {
        self.fields.push((name.into(), value.into()));
        self
    }

    /// Sets the time limit for a TCP connection. The default is 10 seconds.
    #[must_use]
    pub fn connect_timeout(mut self, time: Duration) -> HttpEndpoint {
        self.connect_timeout = time;
        self
    }
}

/// Returns a URL without its query and its user, which may hold secrets.
fn shown(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    match url.split_once("://") {
        Some((scheme, rest)) => {
            let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            format!("{scheme}://{}{path}", authority.rsplit('@').next().unwrap_or_default())
        }
        None => url.into(),
    }
}

impl std::fmt::Debug for HttpEndpoint {
    /// Leaves out the header fields, because they may hold secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpEndpoint").field("url", &shown(&self.url)).finish_non_exhaustive()
    }
}

impl Connector {
    /// Connects to a server at a URL: Streamable HTTP, in any revision from 2025-03-26 on.
    ///
    /// If the server ends the session, the client starts another one: see [`reconnect`](Connector::reconnect), which is
    /// on by default here. Redirects are not followed. Tools whose schema has an invalid annotation `x-mcp-header` are left out
    /// of lists, as the specification requires.
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
    /// See [`ConnectError`]. A server that cannot be reached is a [`ConnectError::Io`].
    pub fn http(mut self, endpoint: HttpEndpoint) -> Result<ClientHandle, ConnectError> {
        if endpoint.url.starts_with("https:") && !cfg!(feature = "https") {
            return Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "a URL with https needs the feature `https` of mcp-proto-std",
            )
            .into());
        }
        self.settings.message_mode = true;
        self.reconnect.get_or_insert(Reconnect::DEFAULT);
        let error = Arc::clone(&endpoint.error);
        let (requests, longest) = (self.settings.requests, self.settings.longest_line);
        let source = Source::Opener(Box::new(move || {
            let pump = HttpPump::new(endpoint.clone(), requests, longest);
            Ok(Link { open: Pump::opener_with(Box::new(pump)), teardown: Teardown::Nothing(None) })
        }));
        let client = self.start(source).map(|mut client| {
            client.permits_tool = has_valid_headers;
            client
        });
        client.map_err(|closed| match (closed, lock(&error).take()) {
            (ConnectError::Closed(_), Some(cause)) => io::Error::other(cause).into(),
            (closed, _) => closed,
        })
    }
}

/// Returns whether the annotations `x-mcp-header` in a tool's schema are valid. A client over HTTP leaves other tools out.
fn has_valid_headers(tool: &ToolDescription) -> bool {
    Json::parse(tool.input_schema.as_bytes()).is_ok_and(|schema| check_tool_headers(schema).is_ok())
}
