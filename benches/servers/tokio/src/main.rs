//! The echo server on `mcp-proto-tokio`.

#[path = "../../echo.rs"]
mod echo;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), mcp_proto_tokio::ServeError> {
    mcp_proto_tokio::serve(&echo::CONFIG, |event, _| echo::handle(event)).await
}
