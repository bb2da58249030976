//! A starting point for a server on threads, reachable at a URL, without a runtime or an HTTP library.
//!
//! The server has two tools, one of which is slow.
//!
//! ```sh
//! cargo run --example http_server_std              # http://127.0.0.1:8080/mcp
//! cargo run --example http_server_std -- 127.0.0.1:9000
//! ```

use std::error::Error;
use std::net::TcpListener;
use std::process::ExitCode;
use std::time::Duration;

use mcp_proto::server::{Call, Event, ServerConfig, Tool, Tools};
use mcp_proto_std::http::{HttpAccess, HttpConfig, SessionMode};
use mcp_proto_std::{Serve, ServerHandle};
use serde::Deserialize;

const USAGE: &str = "usage: http_server_std [HOST:PORT]
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

static CONFIG: ServerConfig =
    ServerConfig::new("http_server_std", env!("CARGO_PKG_VERSION")).features(&[&TOOLS]);

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

fn main() -> ExitCode {
    let address = std::env::args().nth(1).unwrap_or("127.0.0.1:8080".into());
    if address == "--help" {
        println!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    match run(&address) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("http_server_std: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(address: &str) -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind(address)
        .map_err(|error| format!("cannot listen on {address}: {error}\n{USAGE}"))?;
    eprintln!("http_server_std: http://{}/mcp", listener.local_addr()?);
    Serve::new(&CONFIG).http(listener, HttpAccess::new(&HTTP), |event, server| match event {
        Event::Call(call) if call.name() == "count" => count(call, server),
        Event::Call(mut call) => match call.arguments() {
            Ok(Add { a, b }) => call.text(a.saturating_add(b)),
            Err(error) => call.invalid(error),
        },
        Event::ProtocolError(error) => eprintln!("http_server_std: {error}"),
        _ => {}
    })?;
    Ok(())
}

/// Counts on a worker thread, because the handler must not wait.
fn count(mut call: Call<'_>, server: &ServerHandle) {
    let to = match call.arguments() {
        Ok(Count { to }) => to,
        Err(error) => return call.invalid(error),
    };
    server.run(call, move |responder| {
        for number in 1..=to {
            responder.progress(number, Some(to.into()), "counting");
            if responder.sleep_unless_cancelled(Duration::from_secs(1)).is_err() {
                return;
            }
        }
        responder.text("done");
    });
}
