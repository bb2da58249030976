//! One message as JSON for the page: its parts, its violations and its text.

use mcp_proto::Millis;
use mcp_proto::json::{Json, Kind};
use mcp_proto::monitor::{Requirement, Sender, Violation};
use mcp_proto::rpc::{Message, MessageKind};

use crate::quoted;

/// The maximum length of the text of a message, in bytes. The page gets the beginning of a longer text.
const TEXT_LIMIT: usize = 256 << 10;

/// A JSON object that grows by one member at a time.
struct Object(String);

impl Object {
    fn new() -> Object {
        Object(String::from("{"))
    }

    /// Adds a member whose value is JSON.
    fn json(mut self, name: &str, value: impl std::fmt::Display) -> Object {
        let comma = if self.0.len() > 1 { "," } else { "" };
        self.0.push_str(&format!("{comma}\"{name}\":{value}"));
        self
    }

    fn text(self, name: &str, value: &str) -> Object {
        self.json(name, quoted(value))
    }

    fn optional_text(self, name: &str, value: Option<String>) -> Object {
        match value {
            Some(value) => self.text(name, &value),
            None => self,
        }
    }

    fn finish(self) -> String {
        self.0 + "}"
    }
}

/// Returns the description of the session as JSON: the command or the URL of the server, and the time since the start
/// of the session in milliseconds.
pub(super) fn session(title: &str, now: Millis) -> String {
    Object::new().text("title", title).json("now", now.0).finish()
}

/// Returns the end of the session as JSON.
pub(super) fn close(now: Millis) -> String {
    Object::new().json("now", now.0).finish()
}

/// Returns a message and its violations as JSON.
pub(super) fn message(
    number: u64,
    at: Millis,
    sender: Sender,
    line: &[u8],
    violations: &[Violation],
) -> String {
    let begin = line.get(..TEXT_LIMIT).unwrap_or(line);
    head(number, at, sender, violations)
        .json("parts", array(parts(line)))
        .json("bytes", line.len())
        .json("isCut", begin.len() < line.len())
        .text("text", &String::from_utf8_lossy(begin))
        .finish()
}

/// Returns the end of one direction as JSON.
pub(super) fn end(number: u64, at: Millis, sender: Sender, violations: &[Violation]) -> String {
    head(number, at, sender, violations).json("end", true).finish()
}

fn head(number: u64, at: Millis, sender: Sender, violations: &[Violation]) -> Object {
    Object::new()
        .json("number", number)
        .json("at", at.0)
        .text("from", name(sender))
        .json("violations", array(violations.iter().map(violation)))
}

fn violation(violation: &Violation) -> String {
    let is_recommended = violation.rule.requirement() == Requirement::Should;
    Object::new()
        .text("rule", violation.rule.name())
        .text("from", name(violation.sender))
        .text("text", &violation.text)
        .text("section", violation.rule.section())
        .json("isRecommended", is_recommended)
        .optional_text("revision", violation.revision.map(|revision| revision.as_str().into()))
        .optional_text("id", violation.id.clone())
        .finish()
}

/// Returns the messages of a line as JSON: the messages of a batch, or one message. JSON that is not a message has the
/// kind `invalid`. A line that is not JSON has no messages.
fn parts(line: &[u8]) -> Vec<String> {
    match Json::parse(line) {
        Ok(batch) if batch.kind() == Kind::Array => {
            batch.elements().filter_map(|message| part(message.bytes())).collect()
        }
        Ok(_) => part(line).into_iter().collect(),
        Err(_) => Vec::new(),
    }
}

fn part(bytes: &[u8]) -> Option<String> {
    let message = Message::parse(bytes).ok()?;
    let kind = match (message.kind(), message.error()) {
        (MessageKind::Request, _) => "request",
        (MessageKind::Notification, _) => "notification",
        (MessageKind::Response, None) => "response",
        (MessageKind::Response, Some(_)) => "error",
        (MessageKind::Batch | MessageKind::Invalid, _) => "invalid",
    };
    let [subject, uri, meta, token, cancelled] =
        message.pick_params(["name", "uri", "_meta", "progressToken", "requestId"]);
    let raw = |json: Option<Json<'_>>| json.map(|json| json.raw().to_string());
    let code = message.error().and_then(|error| error.get("code"));
    let text = Object::new()
        .text("kind", kind)
        .optional_text("id", raw(message.id()))
        .optional_text("method", message.method().and_then(Json::string).map(|method| method.to_string()))
        .optional_text("name", subject.or(uri).and_then(Json::string).map(|name| name.to_string()))
        // `token` is the request's own token. `target` is the token or id to which a notification refers.
        .optional_text("token", raw(meta.and_then(|meta| meta.get("progressToken"))))
        .optional_text("target", raw(token.or(cancelled)))
        .optional_text("code", raw(code));
    Some(text.finish())
}

fn array(items: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", items.into_iter().collect::<Vec<_>>().join(","))
}

fn name(sender: Sender) -> &'static str {
    match sender {
        Sender::Client => "client",
        Sender::Server => "server",
    }
}

#[cfg(test)]
mod tests {
    use mcp_proto::monitor::Monitor;

    use super::*;

    #[test]
    fn message_is_described_by_its_parts() {
        let cases: [(&[u8], &[&str]); 9] = [
            (
                br#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"x","_meta":{"progressToken":7}}}"#,
                &[r#""parts":[{"kind":"request","id":"\"a\"","method":"tools/call","name":"x","token":"7"}]"#],
            ),
            (
                br#"{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"a:b"}}"#,
                &[r#"{"kind":"request","id":"1","method":"resources/read","name":"a:b"}"#],
            ),
            (br#"{"jsonrpc":"2.0","id":1,"result":{}}"#, &[r#"[{"kind":"response","id":"1"}]"#]),
            (
                br#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}"#,
                &[r#"[{"kind":"error","id":"1","code":"-32601"}]"#],
            ),
            (
                br#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t"}}"#,
                &[r#"{"kind":"notification","method":"notifications/progress","target":"\"t\""}"#],
            ),
            (
                br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}"#,
                &[r#""target":"5""#],
            ),
            (
                br#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"},7]"#,
                &[r#""id":"1","method":"ping"},{"#, r#""id":"2""#],
            ),
            (b"[]", &[r#""parts":[]"#]),
            (b"no \"JSON\" \xff\x1b", &[r#""parts":[]"#, "no \\\"JSON\\\" \u{fffd}\\u001b"]),
        ];
        for (line, expected) in cases {
            let text = message(3, Millis(12), Sender::Client, line, &[]);
            assert!(Json::parse(text.as_bytes()).is_ok(), "{text}");
            assert!(text.starts_with(r#"{"number":3,"at":12,"from":"client","violations":[],"#), "{text}");
            for words in expected {
                assert!(text.contains(words), "{words} is missing in {text}");
            }
        }
    }

    #[test]
    fn violation_has_its_rule_and_section() {
        let line = br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
        let violations = Monitor::new().line(Sender::Client, line, Millis(0));
        let text = message(1, Millis(0), Sender::Client, line, &violations);
        let expected = r#""violations":[{"rule":"initialize-first","from":"client","text":"the request comes before `initialize`","section":"Lifecycle, Initialization","isRecommended":false,"id":"1"}]"#;
        assert!(text.contains(expected), "{text}");
    }

    #[test]
    fn long_message_is_cut_but_keeps_its_parts() {
        let long = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"text":"{}"}}}}"#, "é".repeat(TEXT_LIMIT));
        let text = message(1, Millis(0), Sender::Server, long.as_bytes(), &[]);
        assert!(
            text.contains(r#""parts":[{"kind":"response","id":"1"}]"#) && text.contains(r#""isCut":true"#)
        );
        assert!(text.contains(&format!(r#""bytes":{}"#, long.len())) && text.len() < TEXT_LIMIT + 500);
        assert!(Json::parse(text.as_bytes()).is_ok());
    }
}
