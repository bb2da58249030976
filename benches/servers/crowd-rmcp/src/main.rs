//! The echo server on rmcp, for many connections to a Unix socket: `crowd-rmcp PATH`.

#[path = "../../echo_rmcp.rs"]
mod echo_rmcp;

use rmcp::ServiceExt;
use tokio::net::UnixListener;

use echo_rmcp::Echo;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("crowd-rmcp PATH")?;
    let listener = UnixListener::bind(path)?;
    println!("listening");
    let echo = Echo::new();
    loop {
        let (stream, _) = listener.accept().await?;
        let echo = echo.clone();
        tokio::spawn(async move {
            let server = echo.serve(stream).await.expect("a client");
            server.waiting().await.expect("no panic")
        });
    }
}
