//! A starting point for a server on axum, reachable at a URL. The server has two tools, one of which is slow.
//!
//! ```sh
//! cargo run --example http_server              # http://127.0.0.1:8080/mcp
//! cargo run --example http_server -- 127.0.0.1:9000
//! ```
//!
//! A desktop client takes the URL in its configuration:
//!
//! ```json
//! { "mcpServers": { "example": { "type": "http", "url": "http://127.0.0.1:8080/mcp" } } }
//! ```
//!
//! A first request with `curl`:
//!
//! ```sh
//! curl http://127.0.0.1:8080/mcp -H 'Content-Type: application/json' -d '{"jsonrpc":"2.0","id":1,
//!   "method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},
//!   "clientInfo":{"name":"curl","version":"8"}}}'
//! ```

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use mcp_proto::server::{Call, Event, ServerConfig, Tool, Tools};
use mcp_proto_tokio::stop_on_ctrl_c;
use mcp_proto_tower::{HttpAccess, HttpConfig, Serve, ServerHandle, SessionMode};
use serde::Deserialize;

const USAGE: &str = "usage: http_server [HOST:PORT]
Serves http://HOST:PORT/mcp. Without an address, it is 127.0.0.1:8080.";

static TOOLS: Tools = Tools::new(&[
    Tool::new(
        "add",
        r#"{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a","b"]}"#,
    )
    .description("Adds two integers"),
    Tool::new("count", r#"{"type":"object","properties":{"to":{"type":"integer"}},"required":["to"]}"#)
        .description("Counts, one number in a second"),
]);

static CONFIG: ServerConfig = ServerConfig::new("http_server", env!("CARGO_PKG_VERSION")).features(&[&TOOLS]);

/// By default, `Host` and `Origin` must name this computer, which prevents DNS rebinding: see `HttpConfig::hosts` and
/// `HttpConfig::origins`. The listen address limits who can connect.
static HTTP: HttpConfig = HttpConfig::new().path("/mcp").sessions(SessionMode::Sessions);

#[derive(Deserialize)]
struct Add {
    a: i64,
    b: i64,
}

#[derive(Deserialize)]
struct Count {
    to: u32,
}

#[tokio::main]
async fn main() -> ExitCode {
    let address = std::env::args().nth(1).unwrap_or("127.0.0.1:8080".into());
    if address == "--help" {
        println!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    match run(&address).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("http_server: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(address: &str) -> Result<(), Box<dyn Error>> {
    let listener = tokio::net::TcpListener::bind(address)
        .await
        .map_err(|error| format!("cannot listen on {address}: {error}\n{USAGE}"))?;
    let stop = stop_on_ctrl_c(Duration::from_secs(5))?;
    let mcp =
        Serve::new(&CONFIG).stopped_by(&stop).service(
            HttpAccess::new(&HTTP),
            |event, server| match event {
                Event::Call(call) if call.name() == "count" => count(call, server),
                Event::Call(mut call) => match call.arguments() {
                    Ok(Add { a, b }) => call.text(a.saturating_add(b)),
                    Err(error) => call.invalid(error),
                },
                Event::ProtocolError(error) => eprintln!("http_server: {error}"),
                _ => {}
            },
        )?;
    let router = axum::Router::new().route_service("/mcp", mcp);
    eprintln!("http_server: http://{}/mcp", listener.local_addr()?);
    axum::serve(listener, router).with_graceful_shutdown(stop.stopped()).await?;
    Ok(())
}

/// Counts in a task of tokio, because the handler must not wait. If the call is cancelled, the task ends at the next
/// number.
fn count(mut call: Call<'_>, server: &ServerHandle) {
    let to = match call.arguments() {
        Ok(Count { to }) => to,
        Err(error) => return call.invalid(error),
    };
    server.run(call, move |responder| async move {
        for number in 1..=to {
            responder.progress(number, Some(to.into()), "counting").await;
            tokio::time::sleep(Duration::from_secs(1)).await;
            if responder.is_cancelled() {
                return;
            }
        }
        responder.text("done");
    });
}
