//! A server whose tool prints to stdout and starts a process that does the same.
//!
//! Neither output reaches the client.

use mcp_proto::server::{Event, ServerConfig, Tool, Tools};
use std::process::Command;

static TOOLS: Tools = Tools::new(&[Tool::new("noisy", "{}")]);
static CONFIG: ServerConfig = ServerConfig::new("noisy", "1.0.0").features(&[&TOOLS]);

fn main() -> Result<(), mcp_proto_std::ServeError> {
    mcp_proto_std::serve(&CONFIG, |event, _| {
        if let Event::Call(call) = event {
            println!("printed");
            // `cat` would consume the client's next request if it inherited the real stdin.
            let _ = Command::new("sh").args(["-c", "echo echoed; cat"]).status();
            call.text("quiet");
        }
    })
}
