//! The echo server over HTTP on threads.

#[path = "../../echo.rs"]
mod echo;

use std::net::TcpListener;

use mcp_proto_std::Serve;
use mcp_proto_std::http::{HttpAccess, HttpConfig, SessionMode};

static HTTP: HttpConfig = {
    let mut limits = HttpConfig::new().get_limits();
    limits.body = 1 << 20;
    HttpConfig::new().sessions(SessionMode::Sessions).limits(limits)
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    println!("{}", listener.local_addr()?);
    let server = Serve::new(&echo::CONFIG).connections(2000);
    server.http(listener, HttpAccess::new(&HTTP), |event, _| echo::handle(event))?;
    Ok(())
}
