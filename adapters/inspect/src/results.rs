//! Prints responses, requests and notifications of the server as JSON objects, for `--json`.

use std::collections::HashMap;

use mcp_proto::Direction;
use mcp_proto::json::Json;
use mcp_proto::rpc::{Message, MessageKind};

use crate::terminal::object;

/// The requests of the client that have no response, by their ids.
#[derive(Debug, Default)]
pub(crate) struct Results(HashMap<String, [Option<String>; 2]>);

impl Results {
    /// Remembers a request of the client. Prints a message of the server. To a response, adds the method and the
    /// parameters of its request.
    pub(crate) fn line(&mut self, direction: Direction, line: &[u8]) {
        let Ok(message) = Message::parse(line) else { return };
        let id = message.id().map(|id| id.to_string());
        let text = |json: Option<Json<'_>>| json.map(|json| json.to_string());
        match (direction, message.kind(), id) {
            (Direction::Out, MessageKind::Request, Some(id)) => {
                self.0.insert(id, [text(message.method()), text(message.params())]);
            }
            (Direction::In, MessageKind::Response, Some(id)) => {
                let [method, params] = self.0.remove(&id).unwrap_or_default();
                print([method, params, text(message.result()), text(message.error())]);
            }
            (Direction::In, MessageKind::Request | MessageKind::Notification, _) => {
                print([text(message.method()), text(message.params()), None, None]);
            }
            _ => {}
        }
    }
}

fn print(members: [Option<String>; 4]) {
    let names = ["method", "params", "result", "error"];
    let members = names.into_iter().zip(&members);
    let members: Vec<_> = members.filter_map(|(name, value)| Some((name, value.as_deref()?))).collect();
    object(&members);
}
