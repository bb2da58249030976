//! The echo server on `mcp-proto-tokio`, for many connections to a Unix socket: `crowd-tokio PATH`.

#[path = "../../echo.rs"]
mod echo;

use mcp_proto_tokio::Serve;
use tokio::net::UnixListener;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("crowd-tokio PATH")?;
    let listener = UnixListener::bind(path)?;
    println!("listening");
    let handler = |event: mcp_proto::server::Event<'_>, _: &_| echo::handle(event);
    Ok(Serve::new(&echo::CONFIG).connections(usize::MAX).listen(listener, handler).await?)
}
