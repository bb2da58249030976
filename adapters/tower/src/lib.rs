//! [`mcp_proto`] over HTTP as a [tower service](tower_service::Service), for axum, hyper and other servers.
//!
//! - [`Serve`]: the limits of a server. [`Serve::service`] creates the service.
//! - [`McpService`]: the service. Clones share one server.
//! - [`HttpAccess`] and [`HttpConfig`]: paths, hosts, origins, sessions, authorization.
//!
//! The handler is the same as in [`mcp_proto_tokio`]: it responds to an event at once, or starts a task with
//! [`ServerHandle::run`]. With the default feature `derive`, `route` passes requests to functions. By default, the
//! server speaks only 2026-07-28. With [`SessionMode::Sessions`], the server speaks every revision from 2025-03-26 on,
//! at one URL.
//!
//! # With axum
//!
//! ```no_run
//! use mcp_proto_tower::server::{Event, ServerConfig, Tool, Tools};
//! use mcp_proto_tower::{HttpAccess, HttpConfig, Serve, SessionMode};
//!
//! static TOOLS: Tools = Tools::new(&[Tool::new("hello", r#"{"type":"object"}"#)]);
//! static CONFIG: ServerConfig = ServerConfig::new("greeter", "1.0.0").features(&[&TOOLS]);
//! static HTTP: HttpConfig = HttpConfig::new().path("/mcp").sessions(SessionMode::Sessions);
//!
//! #[tokio::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let mcp = Serve::new(&CONFIG).service(HttpAccess::new(&HTTP), |event, server| match event {
//!         Event::Call(call) => server.run(call, |responder| async { responder.text("Hello!") }),
//!         _ => {}
//!     })?;
//!     let router = axum::Router::new().route_service("/mcp", mcp);
//!     let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
//!     axum::serve(listener, router).await?;
//!     Ok(())
//! }
//! ```
//!
//! `Router::nest_service` removes the prefix from the path of a request. [`HttpConfig::path`] must then be the rest of
//! the path, or unset.
//!
//! # With hyper
//!
//! ```no_run
//! # use mcp_proto_tower::server::{Event, ServerConfig, Tool, Tools};
//! # use mcp_proto_tower::{HttpAccess, HttpConfig, Serve, SessionMode};
//! # static CONFIG: ServerConfig = ServerConfig::new("greeter", "1.0.0");
//! # static HTTP: HttpConfig = HttpConfig::new().path("/mcp").sessions(SessionMode::Sessions);
//! use hyper::server::conn::http1;
//! use hyper_util::{rt::TokioIo, rt::TokioTimer, service::TowerToHyperService};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let mcp = Serve::new(&CONFIG).service(HttpAccess::new(&HTTP), |event, _| match event {
//!     Event::Call(call) => call.text("Hello!"),
//!     _ => {}
//! })?;
//! let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
//! loop {
//!     let (stream, _) = listener.accept().await?;
//!     let service = TowerToHyperService::new(mcp.clone());
//!     let connection = http1::Builder::new().timer(TokioTimer::new()).serve_connection(TokioIo::new(stream), service);
//!     tokio::spawn(connection);
//! }
//! # }
//! ```
//!
//! # Hooks and layers
//!
//! [`Serve::hook`] adds a [`RequestHook`]. A hook observes the method, tool and outcome of each MCP request for the
//! handler, and may refuse the request. The feature `tracing` adds a span for each of these requests. Layers
//! of tower observe each HTTP request:
//!
//! ```
//! # use mcp_proto_tower::server::ServerConfig;
//! # use mcp_proto_tower::{HttpAccess, HttpConfig, Serve};
//! use axum::middleware::{Next, from_fn};
//! # static CONFIG: ServerConfig = ServerConfig::new("greeter", "1.0.0");
//! # static HTTP: HttpConfig = HttpConfig::new();
//!
//! # fn example() -> Result<axum::Router, mcp_proto_tower::ServeError> {
//! let mcp = Serve::new(&CONFIG).service(HttpAccess::new(&HTTP), |_, _| {})?;
//! let log = from_fn(|request: axum::extract::Request, next: Next| async move {
//!     let method = request.method().clone();
//!     let response = next.run(request).await;
//!     println!("{method}: {}", response.status());
//!     response
//! });
//! let router = axum::Router::new().route_service("/mcp", mcp).layer(log);
//! # Ok(router)
//! # }
//! ```
//!
//! # Tokens
//!
//! [`HttpAccess::bearer`] accepts a list of tokens, and [`HttpAccess::authorize`] calls a function that decides. The
//! metadata of the protected resource (RFC 9728) has a separate path, for which the router needs a route, too:
//!
//! ```
//! # use mcp_proto_tower::server::ServerConfig;
//! use mcp_proto_tower::{HttpAccess, HttpConfig, RESOURCE_METADATA_PATH, Serve};
//! # static CONFIG: ServerConfig = ServerConfig::new("greeter", "1.0.0");
//! # static HTTP: HttpConfig = HttpConfig::new().path("/mcp");
//!
//! # fn example(token: &str) -> Result<axum::Router, Box<dyn std::error::Error>> {
//! let path = format!("{RESOURCE_METADATA_PATH}/mcp");
//! let metadata = r#"{"resource":"https://example.com/mcp","authorization_servers":["https://auth.example.com"]}"#;
//! let access =
//!     HttpAccess::new(&HTTP).bearer([token]).resource_metadata(format!("https://example.com{path}"), metadata);
//! let mcp = Serve::new(&CONFIG).service(access, |_, _| {})?;
//! let router = axum::Router::new().route_service("/mcp", mcp.clone()).route_service(&path, mcp);
//! # Ok(router)
//! # }
//! ```
//!
//! # Users
//!
//! [`HttpAccess::bearer`] or [`HttpAccess::authorize`] identifies the user of a request. Without them, the user is the
//! [`User`] that a layer has inserted into the extensions of the HTTP request. A session or a task belongs to the user
//! of the request that created it. `user` of [`Call`](server::Call::user), of [`Responder`](Responder::user), of
//! [`RequestInfo`](RequestInfo::user) and of `ClientDetails` returns the user:
//!
//! ```
//! use axum::extract::Request;
//! use axum::middleware::map_request;
//! use mcp_proto_tower::handler::ClientDetails;
//! use mcp_proto_tower::server::{Failure, ServerConfig};
//! use mcp_proto_tower::{HttpAccess, HttpConfig, Refusal, RequestHook, RequestInfo, Router, Serve, User};
//! use mcp_proto_tower::{route, router, tool};
//! use std::collections::HashMap;
//!
//! struct Shop {
//!     orders: HashMap<u64, Vec<String>>,
//! }
//!
//! /// Lists the orders of the user.
//! #[tool(read_only)]
//! async fn orders(shop: &Shop, client: ClientDetails) -> Result<String, Failure> {
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
//! static HTTP: HttpConfig = HttpConfig::new().path("/mcp");
//!
//! # fn user_of(_: &axum::http::HeaderMap) -> Option<u64> { None }
//! # fn example(shop: Shop) -> Result<axum::Router, mcp_proto_tower::ServeError> {
//! let mcp = Serve::new(&CONFIG).hook(OwnerCloses).service(HttpAccess::new(&HTTP), route(&ROUTER, shop))?;
//! // This layer may serve the whole application. For example, it reads a cookie or a token.
//! let users = map_request(|mut request: Request| async {
//!     if let Some(user) = user_of(request.headers()) {
//!         request.extensions_mut().insert(User(user));
//!     }
//!     request
//! });
//! let router = axum::Router::new().route_service("/mcp", mcp).layer(users);
//! # Ok(router)
//! # }
//! ```
//!
//! The user is a number, such as a key of the application's database, with which a handler finds more about the user.
//!
//! # Runtime
//!
//! The service runs inside of a tokio runtime with its timer enabled. The service has one lock and no central task: the
//! task of a request runs the state machine and the handler. An immediate response of the handler needs no other task.
//! One further task sleeps until the next deadline, and runs the commands of handles. [`Serve::service`] starts this
//! task inside of a runtime, and otherwise the first request does.
//!
//! # Shutdown
//!
//! A [`Stop`] switch, or [`ServerHandle::shutdown`] on [`McpService::handle`], ends subscriptions with their result,
//! and refuses new requests. Running calls may finish within the time limit. Then all responses end, so a graceful
//! shutdown of the HTTP server returns. The function `stop_on_ctrl_c` of `mcp-proto-tokio` returns a switch for Ctrl-C,
//! and on Unix also for SIGTERM and SIGHUP.
//!
//! ```no_run
//! # use mcp_proto_tower::server::ServerConfig;
//! # static CONFIG: ServerConfig = ServerConfig::new("greeter", "1.0.0");
//! # static HTTP: mcp_proto_tower::HttpConfig = mcp_proto_tower::HttpConfig::new();
//! use mcp_proto_tower::{HttpAccess, Serve, Stop};
//!
//! # async fn example(listener: tokio::net::TcpListener) -> Result<(), Box<dyn std::error::Error>> {
//! let stop = Stop::new();
//! let mcp = Serve::new(&CONFIG).stopped_by(&stop).service(HttpAccess::new(&HTTP), |_, _| {})?;
//! let router = axum::Router::new().route_service("/mcp", mcp);
//! axum::serve(listener, router).with_graceful_shutdown(stop.stopped()).await?;
//! # Ok(()) }
//! ```
#![cfg_attr(docsrs, feature(doc_cfg))]
// A panic in library code would end the connection.
#![cfg_attr(
    not(test),
    deny(
        clippy::string_slice,
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::unreachable,
        clippy::todo,
        clippy::unimplemented
    )
)]

mod body;
mod exchange;
mod future;
mod head;
mod received;
mod serve;
mod service;
mod shared;
mod timer;

// The whole core, so that an application needs no other crate. Names of this crate take precedence.
pub use mcp_proto::*;

pub use body::{ResponseBody, StreamCut};
pub use future::ResponseFuture;
pub use mcp_proto_handles::{HttpAccess, Stop};
pub use mcp_proto_http::server::{
    AllowList, Challenge, HttpConfig, HttpLimits, HttpTimes, LegacyPaths, Method, RESOURCE_METADATA_PATH,
    RequestHead, SessionMode, Verdict,
};
pub use mcp_proto_tokio::{
    Cancellation, ClientResponse, Defer, Refusal, RequestError, RequestHook, RequestInfo, RequestOutcome,
    Responder, ServeError, ServerHandle,
};
#[cfg(feature = "derive")]
pub use mcp_proto_tokio::{Router, handler, route};
pub use serve::Serve;
pub use service::{McpService, User};
