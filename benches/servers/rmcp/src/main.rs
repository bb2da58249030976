//! The echo server on rmcp, as in rmcp's documentation.
//!
//! `echo-rmcp pipes` uses the transport that rmcp recommends for pipes.

#[path = "../../echo_rmcp.rs"]
mod echo_rmcp;

use rmcp::{ServiceExt, transport};

use echo_rmcp::Echo;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let echo = Echo::new();
    let service = if std::env::args().nth(1).as_deref() == Some("pipes") {
        echo.serve(transport::stdio_pipes()).await?
    } else {
        echo.serve(transport::stdio()).await?
    };
    service.waiting().await?;
    Ok(())
}
