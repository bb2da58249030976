//! The echo server as a router of functions, to compare the router with a loop that handles each call itself.

use mcp_proto::server::{Router, ServerConfig};
use mcp_proto::{ToolArguments, router, tool};

#[derive(ToolArguments)]
struct Echo<'a> {
    text: &'a str,
}

#[tool]
fn echo<'a>(Echo { text }: Echo<'a>) -> &'a str {
    text
}

#[tool]
fn again<'a>(Echo { text }: Echo<'a>) -> &'a str {
    text
}

#[tool]
fn hold() -> &'static str {
    ""
}

/// The tools of [`crate::machine::CONFIG`]. Here, `hold` responds immediately.
pub static ROUTER: Router<()> = router![echo, again, hold];
/// The configuration of a server with these tools.
pub static CONFIG: ServerConfig = ServerConfig::new("echo", "1").features(ROUTER.features());
