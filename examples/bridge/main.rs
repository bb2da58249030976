//! A bridge between MCP over HTTP and MCP on stdin and stdout, in both directions.
//!
//! ```sh
//! cargo build --release --example bridge
//! target/release/examples/bridge http://127.0.0.1:8080/mcp            # a desktop client starts this as its server
//! target/release/examples/bridge --http 127.0.0.1:8080 -- some-server # serves a server on stdio at a URL
//! ```
//!
//! The bridge supports every revision from 2025-03-26 on, but refuses batches with `--http`. The bridge interprets only
//! the methods that begin and end sessions, requests and subscriptions. With `--http`, clients of 2026-07-28 share one
//! process, so the bridge replaces the ids and progress tokens of their requests. All other content of messages stays
//! unchanged.
//!
//! - From stdin and stdout to a URL: the bridge calls `mcp_proto_std::http::relay`.
//! - From a URL to a server process: the bridge uses the modules of this example. `serve` and `check` handle
//!   requests, `connection` implements HTTP/1.1, `process` runs servers, and `routes` finds the exchange of a
//!   message.
//!
//! From stdin to a URL, the bridge splits a batch into single messages. If the HTTP request of a JSON-RPC request
//! fails, the client gets an error with the URL, and the status or the reason. If the server ends the session, the
//! bridge repeats the handshake of the client.
//!
//! `--http` starts one process for each session, and one for all clients of 2026-07-28. By default the bridge accepts
//! only the `Host` and `Origin` of the own computer. `--host` and `--origin` allow others. The bridge neither
//! authenticates clients nor resumes event streams. A reverse proxy can authenticate clients. A server on
//! `mcp-proto-std` can also resume event streams.
//!
//! `https://` needs the feature `https` of `mcp-proto-std`.

mod check;
mod connection;
mod message;
mod options;
mod process;
mod routes;
mod serve;

use std::process::ExitCode;

use options::{Options, USAGE};

fn main() -> ExitCode {
    let result = match Options::parse(std::env::args().skip(1)) {
        Ok(Options::Help) => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Ok(Options::Relay(endpoint)) => {
            mcp_proto_std::http::relay(endpoint, std::io::stdin(), std::io::stdout())
        }
        Ok(Options::Serve(served)) => serve::run(served),
        Err(why) => {
            eprintln!("bridge: {why}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("bridge: {why}");
            ExitCode::FAILURE
        }
    }
}
