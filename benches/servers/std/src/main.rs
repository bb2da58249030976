//! The echo server on `mcp-proto-std`.

use mcp_proto::server::{Event, ServerConfig, Tool, Tools};

const SCHEMA: &str = r#"{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}"#;
static TOOLS: Tools = Tools::new(&[Tool::new("echo", SCHEMA)]);
static INFO: ServerConfig = ServerConfig::new("echo", "1").features(&[&TOOLS]);

#[derive(serde::Deserialize)]
struct Echo<'a> {
    text: &'a str,
}

fn main() -> Result<(), mcp_proto_std::ServeError> {
    mcp_proto_std::serve(&INFO, |event, _| match event {
        Event::Call(mut call) => match call.arguments() {
            Ok(Echo { text }) => call.text(text),
            Err(error) => call.invalid(error),
        },
        Event::ProtocolError(fault) => eprintln!("{fault}"),
        _ => {}
    })
}
