//! An observer that prints the messages as a sequence diagram on stderr.

use std::io::{IsTerminal, stderr};

use mcp_proto::json::Json;
use mcp_proto::rpc::{Message, MessageKind};
use mcp_proto::{Direction, Observer, ProtocolError};

/// Approximate width of the diagram, in characters.
const WIDTH: usize = 64;
/// Maximum number of characters of a message that are shown below its arrow in a terminal.
const SHOWN: usize = 160;

#[derive(Debug, Default)]
pub(crate) struct Trace {
    begun: bool,
}

impl Observer for Trace {
    fn line(&mut self, direction: Direction, line: &[u8], outcome: Result<(), ProtocolError>) {
        if !std::mem::replace(&mut self.begun, true) {
            note!("client{}server", " ".repeat(WIDTH - 6));
        }
        let label = match outcome {
            Ok(()) => label(line),
            Err(fault) => fault.to_string(),
        };
        let label: String = label.chars().take(WIDTH - 8).collect();
        let dashes = "-".repeat(WIDTH - 6 - label.chars().count());
        match direction {
            Direction::Out => note!("   |- {label} {dashes}>|"),
            Direction::In => note!("   |<- {label} {dashes}|"),
        }
        let text = String::from_utf8_lossy(line);
        match text.char_indices().nth(SHOWN).filter(|_| stderr().is_terminal()) {
            Some((end, _)) => note!("   |     {}…", &text[..end]),
            None => note!("   |     {text}"),
        }
    }
}

/// Returns the label of a message: `3 tools/call`, `3 result`, `3 error -32602`, `notifications/progress`.
fn label(line: &[u8]) -> String {
    let Ok(message) = Message::parse(line) else { return "not JSON".into() };
    let id = message.id().map_or(String::new(), |id| format!("{id} "));
    let method = message.method().and_then(Json::string).map_or(String::new(), |method| method.to_string());
    match (message.kind(), message.error()) {
        (MessageKind::Response, Some(error)) => {
            let code = error.get("code").map_or(String::new(), |code| code.to_string());
            format!("{id}error {code}")
        }
        (MessageKind::Response, None) => format!("{id}result"),
        _ => format!("{id}{method}"),
    }
}
