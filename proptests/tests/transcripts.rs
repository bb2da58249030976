//! The expected lines of `tests/transcripts` against the official schemas.

use std::collections::HashMap;

use mcp_proto_proptests::schema::Schemas;
use mcp_proto_transcripts::{Step, Transcript, all};
use serde_json::Value;

const STATELESS: &str = "2026-07-28";

/// Methods that no revision defines, and that only some applications send.
const APPLICATION_NOTIFICATIONS: [&str; 2] = ["shutdown", "exit"];

/// The session and the requests of a transcript, up to a step.
#[derive(Default)]
struct Messages {
    is_server: bool,
    /// Whether the machine has only handshake revisions.
    handshake_only: bool,
    /// The revision of the session, or `None` before it starts.
    session: Option<String>,
    /// Requests of the peer by id, with their method and the revision that they name.
    requests: HashMap<String, Vec<(String, Option<String>)>>,
}

fn text(value: &Value, path: &str) -> Option<String> {
    Some(value.pointer(path)?.as_str()?.to_owned())
}

/// Returns the revision in the `_meta` of a stateless request, or `None` for any other message.
fn stateless_revision(message: &Value) -> Option<String> {
    text(message, "/params/_meta/io.modelcontextprotocol~1protocolVersion")
}

impl Messages {
    /// Records the requests and the revision in a line of the peer. Ignores a line that is not JSON.
    fn peer(&mut self, line: &[u8]) {
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        let Ok(value) = serde_json::from_slice::<Value>(line) else { return };
        let batch = value.as_array().cloned().unwrap_or_else(|| vec![value]);
        for message in batch {
            if let (Some(id), Some(method)) = (message.get("id"), text(&message, "/method")) {
                let served =
                    stateless_revision(&message).filter(|named| named == STATELESS && !self.handshake_only);
                self.requests.entry(id.to_string()).or_default().push((method, served));
            }
            if !self.is_server {
                self.session = text(&message, "/result/protocolVersion").or(self.session.take());
            }
        }
    }

    /// Returns the possible revisions of a message from the machine. For a response, each revision comes with the
    /// method of a recorded request with this id, if any. There may be several, because the peer may reuse an id.
    fn machine(&mut self, message: &Value) -> Vec<(String, Option<String>)> {
        let id = message.get("id").filter(|_| message.get("method").is_none()).map(Value::to_string);
        let requests = id.and_then(|id| self.requests.get(&id)).cloned().unwrap_or_default();
        if self.is_server && requests.iter().any(|(method, _)| method == "initialize") {
            self.session = text(message, "/result/protocolVersion").or(self.session.take());
        }
        let session = self.session.clone().unwrap_or("2025-11-25".into());
        if !requests.is_empty() {
            let requests = requests.into_iter();
            return requests
                .map(|(method, named)| (named.unwrap_or(session.clone()), Some(method)))
                .collect();
        }
        let is_tagged = message.pointer("/params/_meta/io.modelcontextprotocol~1subscriptionId").is_some();
        let revision = if message.get("id").is_some_and(Value::is_null) {
            self.session.clone().unwrap_or("2025-06-18".into())
        } else if message.get("method").is_none() {
            session
        } else if let Some(revision) = text(message, "/params/protocolVersion") {
            revision
        } else if is_tagged || stateless_revision(message).is_some() || self.session.is_none() {
            STATELESS.into()
        } else {
            session
        };
        vec![(revision, None)]
    }
}

fn check(schemas: &Schemas, transcript: &Transcript) -> (usize, Vec<String>) {
    let is_server = transcript.is_server();
    let handshake_only = transcript.setup.word("revisions") == Some("handshake");
    let nothing = || Messages { is_server, handshake_only, ..Messages::default() };
    let (mut messages, mut line, mut checked, mut wrong) = (nothing(), Vec::new(), 0, Vec::new());
    for (number, step) in &transcript.steps {
        match step {
            Step::In(bytes) => {
                for byte in bytes {
                    line.push(*byte);
                    if *byte == b'\n' {
                        messages.peer(&line);
                        line.clear();
                    }
                }
            }
            // A last line without a newline is complete when the input ends.
            Step::End | Step::Gone => messages.peer(&std::mem::take(&mut line)),
            Step::Again => messages = nothing(),
            Step::Out(None) => {
                // The prelude opens the session. Its event `connected` names the revision.
                let session = transcript.steps.iter().find_map(|(_, step)| match step {
                    Step::Event(event) => event.strip_prefix("connected ")?.get(..10).map(str::to_owned),
                    _ => None,
                });
                messages.session = session.filter(|session| session != STATELESS);
            }
            Step::Out(Some(written)) => {
                let written = String::from_utf8_lossy(written);
                let value: Value = serde_json::from_str(&written).expect("JSON");
                let batch = value.as_array().cloned().unwrap_or_else(|| vec![value]);
                for message in batch {
                    if text(&message, "/method")
                        .is_some_and(|method| APPLICATION_NOTIFICATIONS.contains(&&*method))
                    {
                        continue;
                    }
                    let line = message.to_string();
                    let mut found = Ok(());
                    for (revision, answers) in messages.machine(&message) {
                        // No revision defines a result of `shutdown`.
                        let answers =
                            answers.as_deref().filter(|method| !APPLICATION_NOTIFICATIONS.contains(method));
                        found = match is_server {
                            true => schemas.check_server_line(&revision, answers, &line),
                            false => schemas.check_client_line(&revision, answers, &line),
                        };
                        if found.is_ok() {
                            break;
                        }
                    }
                    checked += 1;
                    wrong
                        .extend(found.err().map(|why| format!("{} line {number}: {why}", transcript.name())));
                }
            }
            _ => {}
        }
    }
    (checked, wrong)
}

#[test]
fn expected_lines_of_transcripts_match_the_schema() {
    let Some(schemas) = Schemas::load_or_say() else { return };
    let (mut checked, mut wrong) = (0, Vec::new());
    for transcript in all() {
        let (more, found) = check(&schemas, &transcript);
        checked += more;
        wrong.extend(found);
    }
    assert!(wrong.is_empty(), "{} of {checked}:\n{}", wrong.len(), wrong.join("\n\n"));
    assert!(checked > 500, "{checked}");
}
