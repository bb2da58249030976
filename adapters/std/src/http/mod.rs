//! MCP over HTTP: clients of servers at a URL, and servers on a listener.
//!
//! # Users
//!
//! [`HttpAccess::bearer`] or [`HttpAccess::authorize`] determines the user of each request. A session or a task
//! belongs to the user of the request that created it. `user` of [`Call`](crate::server::Call::user), of
//! [`Responder`](crate::Responder::user), of [`RequestInfo`](crate::RequestInfo::user) and of `ClientDetails` returns
//! the user:
//!
//! ```no_run
//! # #[cfg(feature = "derive")] {
//! use mcp_proto_std::handler::ClientDetails;
//! use mcp_proto_std::http::{Challenge, HttpAccess, HttpConfig, SessionMode, Verdict};
//! use mcp_proto_std::server::{Failure, ServerConfig};
//! use mcp_proto_std::{Refusal, RequestHook, RequestInfo, Router, Serve, route, router, tool};
//! use std::collections::HashMap;
//! use std::net::TcpListener;
//!
//! struct Shop {
//!     orders: HashMap<u64, Vec<String>>,
//! }
//!
//! /// Lists the orders of the user.
//! #[tool(read_only)]
//! fn orders(shop: &Shop, client: ClientDetails) -> Result<String, Failure> {
//!     let user = client.user().ok_or("sign in first")?;
//!     Ok(shop.orders.get(&user).map_or("none".into(), |orders| orders.join("\n")))
//! }
//!
//! /// Closes the shop.
//! #[tool]
//! fn close() {}
//!
//! /// Only the owner, user 1, may close the shop.
//! struct OwnerCloses;
//!
//! impl RequestHook for OwnerCloses {
//!     fn before(&self, request: &RequestInfo) -> Result<(), Refusal> {
//!         match request.tool() {
//!             Some("close") if request.user() != Some(1) => Err(Refusal::new(-31_001, "only the owner may do that")),
//!             _ => Ok(()),
//!         }
//!     }
//! }
//!
//! static ROUTER: Router<Shop> = router![orders, close];
//! static CONFIG: ServerConfig = ServerConfig::new("shop", "1.0.0").features(ROUTER.features());
//! static HTTP: HttpConfig = HttpConfig::new().path("/mcp").sessions(SessionMode::Sessions);
//!
//! # fn user_of(_: Option<&[u8]>) -> Option<u64> { None }
//! # fn example(shop: Shop) -> Result<(), Box<dyn std::error::Error>> {
//! let access = HttpAccess::new(&HTTP).authorize(|head| match user_of(head.fields.field("authorization")) {
//!     Some(user) => Verdict::Allow { user },
//!     None => Verdict::Deny { status: 401, challenge: Challenge::new("Bearer") },
//! });
//! let listener = TcpListener::bind("127.0.0.1:8080")?;
//! Serve::new(&CONFIG).hook(OwnerCloses).http(listener, access, route(&ROUTER, shop))?;
//! # Ok(()) }
//! # }
//! ```
//!
//! The user is a number, such as a key of the application's database, with which a handler finds more about the user.

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
    /// If the server ends the session, the client starts a new session, and repeats the requests that the server
    /// refused for this reason: over HTTP, [`reconnect`](Connector::reconnect) is on by default. A stream that breaks
    /// can resume after its last event, and fails after the last attempt of `reconnect`. The client does not follow
    /// redirects. Lists omit tools whose schema has an invalid annotation `x-mcp-header`, as the specification
    /// requires.
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
        let attempts = self.reconnect.get_or_insert(Reconnect::DEFAULT).attempts;
        let (requests, longest) = (self.settings.requests, self.settings.longest_line);
        let source = Source::Opener(Box::new(move || {
            let pump = HttpPump::new(Transport::new(endpoint.clone(), requests, longest, attempts)?);
            Ok(Link { open: Pump::opener_with(pump), teardown: Teardown::Nothing(None) })
        }));
        self.start(source)
    }
}
