//! The echo server on `mcp-proto-std`, for many connections to a Unix socket: `crowd-std PATH`.

#[path = "../../echo.rs"]
mod echo;

use std::os::unix::net::UnixListener;

use mcp_proto_std::Serve;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("crowd-std PATH")?;
    let listener = UnixListener::bind(path)?;
    println!("listening");
    Ok(Serve::new(&echo::CONFIG).connections(usize::MAX).listen(listener, |event, _| echo::handle(event))?)
}
