//! The echo server over HTTP on rmcp and axum, as in rmcp's documentation, with JSON responses.
//!
//! `http-rmcp sessions` has sessions of 2025-11-25, in which rmcp responds with event streams.

#[path = "../../echo_rmcp.rs"]
mod echo_rmcp;

use std::sync::Arc;

use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use echo_rmcp::Echo;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut config = StreamableHttpServerConfig::default();
    config.legacy_session_mode = std::env::args().nth(1).as_deref() == Some("sessions");
    config.json_response = true;
    let service: StreamableHttpService<Echo, LocalSessionManager> =
        StreamableHttpService::new(|| Ok(Echo::new()), Arc::default(), config);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    axum::serve(
        axum::serve::ListenerExt::tap_io(listener, |stream| drop(stream.set_nodelay(true))),
        axum::Router::new().fallback_service(service),
    )
    .await?;
    Ok(())
}
