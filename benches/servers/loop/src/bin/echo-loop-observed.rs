//! The echo server on `mcp-proto` alone, with a blocking loop and an observer.

#[path = "../blocking_loop.rs"]
mod blocking_loop;
#[path = "../../../echo.rs"]
mod echo;
#[path = "../../../observer.rs"]
mod observer;

use mcp_proto::{Buffer, Server};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut observer = observer::IdleObserver;
    let server = Server::new(&echo::CONFIG, Buffer::grown(8 << 20), Buffer::grown(8 << 20))?;
    Ok(blocking_loop::run(server.observe(&mut observer))?)
}
