//! Encodes the server's messages as JSON-RPC lines.

use super::super::encode::note;
use super::operation::{Answer, Message, Question};

/// Returns a text that only the response to request `n` contains.
pub(crate) fn response_text(n: u64) -> String {
    format!("answer of {n}.")
}

/// A request of the client that the server has read.
#[derive(Debug, Clone)]
pub(crate) struct Read {
    pub(crate) id: String,
    pub(crate) method: String,
    pub(crate) n: Option<u64>,
    pub(crate) answered: bool,
}

/// Encoder of the server's lines. Stores the ids for later lines.
#[derive(Debug, Default)]
pub(crate) struct Encoder {
    /// The declared capabilities as JSON.
    pub(crate) capabilities: String,
    /// The revision that the handshake selects.
    pub(crate) revision: &'static str,
    pub(crate) read: Vec<Read>,
    /// The ids of requests of the server.
    pub(crate) asked: Vec<String>,
}

fn nth_back(count: usize, nth: u8) -> Option<usize> {
    count.checked_sub(1 + usize::from(nth) % count.max(1))
}

impl Encoder {
    /// Encodes a message. A request of the server also adds its id to `asked`.
    pub(crate) fn message(&mut self, message: &Message) -> String {
        match message {
            Message::Answer(nth, answer) => {
                let open: Vec<usize> = (0..self.read.len()).filter(|at| !self.read[*at].answered).collect();
                let at = nth_back(open.len(), *nth).map(|at| open[at]);
                at.map_or_else(|| odd(*nth), |at| self.answer(at, *answer))
            }
            Message::Again(nth, answer) => {
                nth_back(self.read.len(), *nth).map_or_else(|| odd(*nth), |at| self.answer(at, *answer))
            }
            Message::Progress(nth) => {
                let id = self.id(*nth);
                note(
                    "notifications/progress",
                    &format!(r#"{{"progressToken":{id},"progress":{}}}"#, self.read.len()),
                )
            }
            Message::Acknowledge(nth) => {
                let id = self.subscription(Some(*nth));
                note(
                    "notifications/subscriptions/acknowledged",
                    &format!(r#"{{{id},"notifications":{{"toolsListChanged":true}}}}"#),
                )
            }
            Message::Changed(nth) => {
                note("notifications/tools/list_changed", &format!("{{{}}}", self.subscription(*nth)))
            }
            Message::Ends(nth) => {
                let id = self.id(*nth);
                note("notifications/cancelled", &format!(r#"{{"requestId":{id}}}"#))
            }
            Message::Ask(question, how, filler) => {
                let id = format!("\"s{}\"", self.asked.len());
                self.asked.push(id.clone());
                let (method, params) = match question {
                    Question::Ping => ("ping", ""),
                    Question::Roots => ("roots/list", ""),
                    Question::Sample => (
                        "sampling/createMessage",
                        r#""messages":[{"role":"user","content":{"type":"text","text":"?"}}],"maxTokens":9,"#,
                    ),
                    Question::Form => (
                        "elicitation/create",
                        r#""message":"Who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}},"#,
                    ),
                    Question::Unknown => ("no/such", ""),
                };
                let filler = "x".repeat(usize::from(filler % 1500));
                format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{params}"k":{id},"how":"{how:?}","x":"{filler}","_meta":{{"progressToken":1}}}}}}"#
                )
            }
            Message::CancelRequest(nth) => {
                let id = nth_back(self.asked.len(), *nth).map_or("7", |at| &self.asked[at]);
                note("notifications/cancelled", &format!(r#"{{"requestId":{id}}}"#))
            }
            Message::Odd(which) => odd(*which),
        }
    }

    fn id(&self, nth: u8) -> &str {
        nth_back(self.read.len(), nth).map_or("7", |at| &self.read[at].id)
    }

    fn subscription(&self, nth: Option<u8>) -> String {
        let id = nth.map(|nth| format!(r#""io.modelcontextprotocol/subscriptionId":{}"#, self.id(nth)));
        format!(r#""_meta":{{{}}}"#, id.unwrap_or_default())
    }

    fn answer(&mut self, at: usize, answer: Answer) -> String {
        let Read { id, method, n, .. } = self.read[at].clone();
        self.read[at].answered = true;
        let own = n.map(response_text).unwrap_or_default();
        let result = self.result(&method, answer);
        let filler = if let Answer::Good(bytes) = answer {
            "x".repeat(usize::from(bytes % 2000))
        } else {
            String::new()
        };
        let result = format!(r#"{{{result}"own":"{own}","x":"{filler}"}}"#);
        match answer {
            Answer::Error => {
                format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32601,"message":"no"}}}}"#)
            }
            Answer::Malformed(true) => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":7}}"#),
            Answer::Malformed(false) => {
                format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"result":{result},"error":{{"code":1,"message":"no"}}}}"#
                )
            }
            Answer::Text => {
                format!(r#"{{"jsonrpc":"2.0","result":{result},"id":"{}"}}"#, id.trim_matches('"'))
            }
            _ => format!(r#"{{"jsonrpc":"2.0","result":{result},"id":{id}}}"#),
        }
    }

    /// Returns the members of a result, each with a trailing comma.
    fn result(&self, method: &str, answer: Answer) -> String {
        let strange = answer == Answer::Strange;
        let list = |key: &str| {
            let more = if answer == Answer::Page { r#""nextCursor":"c","# } else { "" };
            format!(r#""{key}":{},{more}"#, if strange { "7" } else { "[]" })
        };
        match (method, answer) {
            ("initialize", _) => {
                let revision = if strange { "1999-01-01" } else { self.revision };
                format!(
                    r#""protocolVersion":"{revision}","capabilities":{},"serverInfo":{{"name":"s","version":"1"}},"#,
                    self.capabilities
                )
            }
            ("server/discover", _) => {
                let revision = if strange { "2999-01-01" } else { "2026-07-28" };
                format!(r#""supportedVersions":["{revision}"],"capabilities":{},"#, self.capabilities)
            }
            (_, Answer::Needs(state)) => {
                let state = if state { r#""requestState":"s","# } else { "" };
                format!(
                    r#""resultType":"input_required",{state}"inputRequests":{{"r":{{"method":"roots/list"}}}},"#
                )
            }
            ("tools/list", _) => list("tools"),
            ("resources/list", _) => list("resources"),
            ("resources/templates/list", _) => list("resourceTemplates"),
            ("prompts/list", _) => list("prompts"),
            ("tools/call", _) => format!(r#""content":{},"#, if strange { "7" } else { "[]" }),
            ("resources/read", _) => r#""contents":[],"#.into(),
            ("prompts/get", _) => r#""messages":[],"#.into(),
            ("completion/complete", _) => r#""completion":{"values":[]},"#.into(),
            _ => String::new(),
        }
    }
}

fn odd(which: u8) -> String {
    let odd = [
        "",
        " \t",
        "[]",
        "{}",
        "null",
        "nonsense",
        "[7]",
        "starting …",
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":""}}"#,
        r#"{"jsonrpc":"2.0","id":"none","result":{}}"#,
        r#"{"jsonrpc":"2.0","id":999999,"result":{}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"m:log"}}"#,
        r#"{"jsonrpc":"2.0","method":"example/own"}"#,
    ];
    odd[usize::from(which) % odd.len()].into()
}
