//! The tool `echo` of all servers on `mcp-proto`.

use mcp_proto::server::{Event, ServerConfig, Tool, Tools};

const SCHEMA: &str = r#"{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}"#;
static TOOLS: Tools = Tools::new(&[Tool::new("echo", SCHEMA)]);
pub static CONFIG: ServerConfig = ServerConfig::new("echo", "1").features(&[&TOOLS]);

#[derive(serde::Deserialize)]
struct Echo<'a> {
    text: &'a str,
}

/// Responds to calls, and prints protocol errors.
pub fn handle(event: Event<'_>) {
    match event {
        Event::Call(mut call) => match call.arguments() {
            Ok(Echo { text }) => call.text(text),
            Err(error) => call.invalid(error),
        },
        Event::ProtocolError(error) => eprintln!("{error}"),
        _ => {}
    }
}
