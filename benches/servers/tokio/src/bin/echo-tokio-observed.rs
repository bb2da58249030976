//! The echo server on `mcp-proto-tokio`, with an observer.

#[path = "../../../echo.rs"]
mod echo;
#[path = "../../../observer.rs"]
mod observer;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), mcp_proto_tokio::ServeError> {
    let mut observer = observer::IdleObserver;
    let server = mcp_proto_tokio::Serve::new(&echo::CONFIG).observe(&mut observer);
    server.stdio(|event, _| echo::handle(event)).await
}
