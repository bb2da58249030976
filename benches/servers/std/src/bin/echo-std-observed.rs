//! The echo server on `mcp-proto-std`, with an observer.

#[path = "../../../echo.rs"]
mod echo;
#[path = "../../../observer.rs"]
mod observer;

fn main() -> Result<(), mcp_proto_std::ServeError> {
    let mut observer = observer::IdleObserver;
    let server = mcp_proto_std::Serve::new(&echo::CONFIG).observe(&mut observer);
    server.stdio(|event, _| echo::handle(event))
}
