//! The echo server on `mcp-proto` alone, with a blocking loop.

mod blocking_loop;
#[path = "../../echo.rs"]
mod echo;

use mcp_proto::{Buffer, Server};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = Server::new(&echo::CONFIG, Buffer::grown(8 << 20), Buffer::grown(8 << 20))?;
    Ok(blocking_loop::run(server)?)
}
