//! Encodes the client's messages as JSON-RPC lines.

use super::nth_back;
use super::operation::{Behavior, Id, Message, Reaction, Request, TaskMethod, What};

const REVISIONS: [&str; 6] =
    ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28", "1999-01-01"];

/// Client capabilities with the extension of tasks.
const DECLARED: &str = r#"{"roots":{},"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}"#;

const LISTS: [&str; 4] = ["tools/list", "resources/list", "resources/templates/list", "prompts/list"];

/// Names that select the behavior of the application.
pub(crate) const BEHAVIORS: [(&str, Behavior); 13] = [
    ("answer", Behavior::Answer),
    ("error", Behavior::Error),
    ("drop", Behavior::Drop),
    ("defer", Behavior::Defer(0)),
    ("busy", Behavior::Busy),
    ("progress", Behavior::Progress),
    ("log", Behavior::Log),
    ("change", Behavior::Change),
    ("needs", Behavior::Needs),
    ("lacks", Behavior::Lacks),
    ("large", Behavior::Large),
    ("unbalanced", Behavior::Unbalanced),
    ("task", Behavior::Task),
];

pub(crate) fn name(behavior: Behavior) -> &'static str {
    let same = |known: &Behavior| std::mem::discriminant(known) == std::mem::discriminant(&behavior);
    BEHAVIORS.iter().find(|(_, known)| same(known)).map_or("answer", |(name, _)| name)
}

/// Encoder of the client's lines. Stores the ids for later lines.
#[derive(Debug, Default)]
pub(crate) struct Encoder {
    /// The ids of requests of the client as JSON text, in order.
    pub(crate) ids: Vec<String>,
    /// The ids of requests of the server.
    pub(crate) asked: Vec<String>,
    /// The ids of tasks, from all connections.
    pub(crate) tasks: Vec<String>,
}

pub(crate) fn note(method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#)
}

impl Encoder {
    pub(crate) fn message(&mut self, message: &Message) -> String {
        match message {
            Message::Request(request) => self.request(request),
            Message::Cancel(nth) => {
                let id = nth_back(&self.ids, *nth).unwrap_or("null".into());
                note("notifications/cancelled", &format!(r#"{{"requestId":{id},"reason":"why"}}"#))
            }
            Message::Answer(nth, reaction) => self.answer(*nth, *reaction),
            Message::Progress(nth) => {
                let token = nth_back(&self.asked, *nth).unwrap_or("7".into());
                note("notifications/progress", &format!(r#"{{"progressToken":{token},"progress":1}}"#))
            }
            Message::Initialized => r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.into(),
            Message::Own => note("notifications/example", r#"{"n":1}"#),
            Message::RootsChanged => note("notifications/roots/list_changed", "{}"),
            Message::Odd(which) => {
                let odd = [
                    "",
                    " \t",
                    "[]",
                    "{}",
                    "null",
                    "nonsense",
                    "\u{feff}{}",
                    r#"{"jsonrpc":"2.0","method":"x"}"#,
                    r#"{"jsonrpc":"2.0","error":{"code":1}}"#,
                    r#"{"jsonrpc":"2.0","id":"none","result":{}}"#,
                    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":null}}"#,
                ];
                odd[usize::from(*which) % odd.len()].into()
            }
        }
    }

    fn answer(&self, nth: u8, reaction: Reaction) -> String {
        let id = nth_back(&self.asked, nth).unwrap_or("7".into());
        match reaction {
            Reaction::Result(bytes) => {
                let filler = "x".repeat(usize::from(bytes % 2000));
                format!(r#"{{"jsonrpc":"2.0","result":{{"roots":[],"x":"{filler}"}},"id":{id}}}"#)
            }
            Reaction::Error => {
                format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":1,"message":"no"}}}}"#)
            }
            Reaction::Malformed(true) => {
                format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}},"error":{{"code":1,"message":"no"}}}}"#)
            }
            Reaction::Malformed(false) => format!(r#"{{"jsonrpc":"2.0","id":{id}}}"#),
            Reaction::Text if id.starts_with('"') => {
                format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)
            }
            Reaction::Text => format!(r#"{{"jsonrpc":"2.0","id":"{id}","result":{{}}}}"#),
        }
    }

    fn request(&mut self, request: &Request) -> String {
        let n = self.ids.len();
        let id = match request.id {
            Id::Text => format!("\"r{n}\""),
            Id::Number => format!("{}", 1000 + n),
            Id::Again(nth) => {
                nth_back(&self.ids, nth).map_or("0".into(), |id| id.replacen("\"r", "\"\\u0072", 1))
            }
            Id::Long => format!("\"{n}{}\"", "x".repeat(100)),
            Id::None(which) => ["null", "1.5", "{}", "1e3", "true"][usize::from(which) % 5].into(),
        };
        self.ids.push(id.clone());
        let (method, params) = self.params(request.what, n, request.filler.is_multiple_of(16));
        let mut meta = format!("\"n\":{n}");
        if request.progress {
            meta += &if n.is_multiple_of(2) {
                format!(",\"progressToken\":\"t{n}\"")
            } else {
                format!(",\"progressToken\":{n}")
            };
        }
        if request.stateless {
            meta += r#","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":"#;
            meta += if n % 5 == 4 { r#"{"roots":{}}"# } else { DECLARED };
            meta += if n.is_multiple_of(3) { r#","io.modelcontextprotocol/logLevel":"info""# } else { "" };
        }
        let filler = "x".repeat(usize::from(request.filler % 4096));
        let params = format!(r#"{{{params}"x":"{filler}","_meta":{{{meta}}}}}"#);
        match request.order % 3 {
            0 => format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#),
            1 => format!(r#"{{"params":{params},"method":"{method}","id":{id},"jsonrpc":"2.0"}}"#),
            _ => format!(r#" {{ "id" : {id} , "method":"{method}", "jsonrpc":"2.0" ,"params" : {params}}} "#),
        }
    }

    /// Returns the method, and the members of its params, each with a trailing comma.
    fn params(&self, what: What, n: usize, valid: bool) -> (&'static str, String) {
        let arguments = |behavior| match behavior {
            Behavior::Defer(time) => format!(r#"{{"ms":{}}}"#, u16::from(time) * 10),
            _ => "{}".into(),
        };
        match what {
            What::Initialize(revision, can) => {
                let revision = REVISIONS[usize::from(revision) % REVISIONS.len()];
                let all = [
                    r#""roots":{"listChanged":true}"#,
                    r#""sampling":{}"#,
                    r#""elicitation":{"form":{}}"#,
                    r#""elicitation":{"form":{},"url":{}}"#,
                ];
                let can: Vec<&str> = all
                    .into_iter()
                    .enumerate()
                    .filter(|(at, _)| can >> at & 1 == 1)
                    .map(|(_, text)| text)
                    .collect();
                let can = can.join(",");
                (
                    "initialize",
                    format!(
                        r#""protocolVersion":"{revision}","capabilities":{{{can}}},"clientInfo":{{"name":"c","version":"1"}},"#
                    ),
                )
            }
            What::Discover => ("server/discover", String::new()),
            What::Ping => ("ping", String::new()),
            What::Call(behavior) => {
                let (name, arguments) = (name(behavior), arguments(behavior));
                let task = match behavior {
                    Behavior::Task | Behavior::Defer(_) if n.is_multiple_of(3) => r#""task":{"ttl":900},"#,
                    Behavior::Task | Behavior::Defer(_) if n % 3 == 1 => r#""task":{},"#,
                    _ => "",
                };
                ("tools/call", format!(r#"{task}"name":"{name}","arguments":{arguments},"#))
            }
            What::Own(behavior) => ("example/own", format!(r#""name":"{}","#, name(behavior))),
            What::Task(method, nth) => {
                let id = nth_back(&self.tasks, nth).unwrap_or("00".into());
                let task = format!(r#""taskId":"{id}","#);
                match method {
                    TaskMethod::Get => ("tasks/get", task),
                    TaskMethod::Result => ("tasks/result", task),
                    TaskMethod::Cancel => ("tasks/cancel", task),
                    TaskMethod::Update => {
                        let responses: Vec<String> =
                            (0..4).map(|key| format!(r#""k{key}":{{"action":"decline"}}"#)).collect();
                        ("tasks/update", format!(r#"{task}"inputResponses":{{{}}},"#, responses.join(",")))
                    }
                    TaskMethod::List => ("tasks/list", String::new()),
                }
            }
            What::Read(behavior) => ("resources/read", format!(r#""uri":"m:{}","#, name(behavior))),
            What::Prompt(behavior) => ("prompts/get", format!(r#""name":"{}","#, name(behavior))),
            What::Complete(behavior) => (
                "completion/complete",
                format!(
                    r#""ref":{{"type":"ref/prompt","name":"answer"}},"argument":{{"name":"free","value":"{}"}},"#,
                    name(behavior)
                ),
            ),
            What::List(which) => (
                LISTS[usize::from(which) % LISTS.len()],
                if valid { String::new() } else { r#""cursor":"?","#.into() },
            ),
            What::Level(which) => (
                "logging/setLevel",
                format!(r#""level":"{}","#, ["debug", "info", "emergency", "loud"][usize::from(which) % 4]),
            ),
            What::Subscribe(true) => ("resources/subscribe", r#""uri":"m:log","#.into()),
            What::Subscribe(false) => ("resources/unsubscribe", r#""uri":"m:log","#.into()),
            What::Listen => {
                let prompts = n.is_multiple_of(2);
                let tasks = match (&self.tasks[..], n % 3) {
                    ([], _) | (_, 0) => String::new(),
                    (ids, _) => format!(r#","taskIds":{ids:?}"#),
                };
                (
                    "subscriptions/listen",
                    format!(
                        r#""notifications":{{"toolsListChanged":true,"promptsListChanged":{prompts},"resourceSubscriptions":["m:log","m:{n}"]{tasks}}},"#
                    ),
                )
            }
            What::Unknown => ("no/such", String::new()),
            What::Deep(depth) => {
                // Stay below the depth limit of `serde_json`: 127 levels.
                let depth = usize::from(depth) % 100;
                ("ping", format!(r#""y":{}{},"#, "[".repeat(depth), "]".repeat(depth)))
            }
        }
    }
}
