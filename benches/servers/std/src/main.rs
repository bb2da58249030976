//! The echo server on `mcp-proto-std`.

#[path = "../../echo.rs"]
mod echo;

fn main() -> Result<(), mcp_proto_std::ServeError> {
    mcp_proto_std::serve(&echo::CONFIG, |event, _| echo::handle(event))
}
