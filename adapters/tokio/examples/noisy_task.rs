//! A server whose tool prints to stdout and starts a process that does the same.
//!
//! Neither output reaches the client. A second tool shuts the server down.

use mcp_proto::server::{Event, ServerConfig, Tool, Tools};
use tokio::process::Command;

static TOOLS: Tools = Tools::new(&[Tool::new("noisy", "{}"), Tool::new("leave", "{}")]);
static CONFIG: ServerConfig = ServerConfig::new("noisy", "1.0.0").features(&[&TOOLS]);

#[tokio::main]
async fn main() -> Result<(), mcp_proto_tokio::ServeError> {
    mcp_proto_tokio::serve(&CONFIG, |event, server| match event {
        Event::Call(call) if call.name() == "noisy" => server.run(call, |answer| async {
            println!("printed");
            // `cat` would consume the client's next request if it inherited the real stdin.
            let _ = Command::new("sh").args(["-c", "echo echoed; cat"]).status().await;
            answer.text("quiet");
        }),
        Event::Call(call) => {
            call.text("bye");
            server.shutdown();
        }
        _ => {}
    })
    .await
}
