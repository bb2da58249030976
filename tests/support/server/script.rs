//! Scripts of server sessions as text, run at many paces.
//!
//! ```text
//! > call 1 tools/call {"name":"echo"}    the client sends a request; `> note method params` a notification;
//! > {"any":"line"}                        any other line, unchanged
//! < result 1 {"content":[]}               the server responds; `< error 1 -32602 message`; `< note method params`;
//! < {"any":"line"}                        any other line, unchanged
//! ! call echo {}                          the server emits an event
//! * time 500                              the application runs a command: see `ServerHarness::command`
//! ```
//!
//! In expected text, `…` matches any text. Before every `*` and at the end, all output and all events must match the
//! expected ones.

use super::ServerHarness;
use crate::support::transport::{Order, Pace};
use mcp_proto::server::{Server, ServerConfig, Slot};
use mcp_proto::{Buffer, KeepAlive, Revision};

/// The configuration and the buffers of a server.
#[derive(Clone)]
pub(crate) struct Setup {
    info: ServerConfig<'static>,
    tx: usize,
    rx: Vec<usize>,
    slots: usize,
    text: usize,
    max_reply_size: Option<usize>,
    keep_alive: Option<KeepAlive>,
    /// The size of the batch buffer, in bytes.
    batch_buffer: usize,
    /// The size of the subscription buffer, in bytes.
    subscription_buffer: usize,
    /// Lines before each script, with their responses and events.
    prelude: String,
}

impl Setup {
    pub(crate) fn new(info: ServerConfig<'static>) -> Setup {
        Setup {
            info,
            tx: 4096,
            rx: Vec::new(),
            slots: 4,
            text: 4 * 64,
            max_reply_size: None,
            keep_alive: None,
            batch_buffer: 0,
            subscription_buffer: 0,
            prelude: String::new(),
        }
    }

    pub(crate) fn tx(mut self, bytes: usize) -> Setup {
        self.tx = bytes;
        self
    }

    /// Sets the sizes of the receive buffer. By default, scripts run with several sizes that hold the longest line.
    pub(crate) fn rx(mut self, bytes: &[usize]) -> Setup {
        self.rx = bytes.to_vec();
        self
    }

    /// Sets the number of slots, and the text bytes of each slot.
    pub(crate) fn slots(mut self, count: usize, text: usize) -> Setup {
        (self.slots, self.text) = (count, count * text);
        self
    }

    pub(crate) fn max_reply_size(mut self, bytes: usize) -> Setup {
        self.max_reply_size = Some(bytes);
        self
    }

    pub(crate) fn keep_alive(mut self, keep_alive: KeepAlive) -> Setup {
        self.keep_alive = Some(keep_alive);
        self
    }

    pub(crate) fn subscription_buffer(mut self, bytes: usize) -> Setup {
        self.subscription_buffer = bytes;
        self
    }

    pub(crate) fn batch_buffer(mut self, bytes: usize) -> Setup {
        self.batch_buffer = bytes;
        self
    }

    /// Opens a session of this revision before each script.
    pub(crate) fn session(self, revision: Revision) -> Setup {
        self.session_with(revision, "{}")
    }

    /// Opens a session of this revision, with these client capabilities, before each script.
    pub(crate) fn session_with(mut self, revision: Revision, capabilities: &str) -> Setup {
        self.prelude = format!(
            "> call 0 initialize {}\n< result 0 …\n! connected {revision} c {capabilities}\n\
             > note notifications/initialized\n! ready\n",
            hello_with(revision.as_str(), capabilities),
        );
        self
    }

    /// Runs the script at every pace, and with further receive buffers at some paces. Expects the same output and the
    /// same events each time.
    pub(crate) fn check(&self, dialogue: &str) {
        let script = format!("{}{dialogue}", self.prelude);
        let steps: Vec<Step> = script.lines().filter_map(Step::parse).collect();
        let longest =
            steps.iter().map(|step| if let Step::In(line) = step { line.len() + 1 } else { 0 }).max();
        let longest = longest.unwrap_or(0).max(96);
        let sizes = if self.rx.is_empty() {
            vec![longest, longest + 1, longest * 2 + 5, 64 * 1024]
        } else {
            self.rx.clone()
        };
        let mut first: Option<(Vec<u8>, Vec<String>)> = None;
        let grown = (sizes[0], true);
        for (nth, (rx, grown)) in sizes.iter().map(|rx| (*rx, false)).chain([grown]).enumerate() {
            let is_at_every_pace = nth == 0 || !self.rx.is_empty() && !grown;
            for (at, read) in [usize::MAX, 1, 3, 7].into_iter().enumerate() {
                let writes = [
                    (usize::MAX, Order::WriteFirst),
                    (1, Order::WriteFirst),
                    (1, Order::ReadFirst),
                    (5, Order::ReadFirst),
                ];
                // For buffers that do not run at every pace, each read size has one write size, which depends on the
                // buffer.
                let writes = if is_at_every_pace { &writes[..] } else { &writes[(at + nth) % 4..][..1] };
                for (write, order) in writes.iter().copied() {
                    let pace = Pace { read, write, order, messages: false };
                    let events = self.run(&steps, (rx, grown), pace, dialogue);
                    match &first {
                        None => first = Some(events),
                        Some(first) => assert!(
                            *first == events,
                            "{pace:?} with {rx} bytes to receive changes the result of\n{dialogue}\n{}\n{}",
                            show(first),
                            show(&events),
                        ),
                    }
                }
            }
        }
    }

    /// Runs the script once. The receive buffer is lent or `grown` on the heap. Returns the output and the events.
    fn run(
        &self,
        steps: &[Step],
        (rx, grown): (usize, bool),
        pace: Pace,
        dialogue: &str,
    ) -> (Vec<u8>, Vec<String>) {
        let (mut lent, mut tx) = (vec![0; rx], vec![0; self.tx]);
        let rx = if grown { Buffer::grown(rx) } else { (&mut lent[..]).into() };
        let (mut slots, mut text) = (vec![Slot::EMPTY; self.slots], vec![0; self.text]);
        let info = self.info;
        // The server uses 24 bytes of the batch buffer itself.
        let (mut batches, mut subscriptions) =
            (vec![0; self.batch_buffer + 24], vec![0; self.subscription_buffer]);
        let mut server = Server::new(&info, rx, &mut tx[..]).unwrap();
        // The server mixes owners and ids into the seed, so a seed with all bits set finds errors that 0 does
        // not find.
        server = server.seed(u64::MAX).subscription_buffer(&mut subscriptions[..]);
        if self.batch_buffer > 0 {
            server = server.batch_buffer(&mut batches[..]);
        }
        if let Some(bytes) = self.max_reply_size {
            server = server.max_reply_size(bytes).unwrap();
        }
        if let Some(keep_alive) = self.keep_alive {
            server = server.keep_alive(keep_alive);
        }
        if self.slots > 0 {
            server = server.in_flight(&mut slots, &mut text).unwrap();
        }
        let mut harness = ServerHarness::new(server, pace);
        let (mut lines, mut events) = (Vec::new(), Vec::new());
        for step in steps {
            match step {
                Step::In(line) => {
                    harness.transport.write_line(line.as_bytes());
                }
                Step::Out(line) => lines.push(line.clone()),
                Step::Event(event) => events.push(event.clone()),
                Step::Command(command) => {
                    harness.run();
                    compare(&harness, &lines, &events, dialogue);
                    harness.command(command);
                }
            }
        }
        harness.run();
        compare(&harness, &lines, &events, dialogue);
        (harness.transport.output, harness.record.events)
    }
}

fn compare(harness: &ServerHarness<'_>, lines: &[String], events: &[String], dialogue: &str) {
    let output = String::from_utf8(harness.transport.output.clone()).expect("output is UTF-8");
    let written: Vec<&str> = output.split_terminator('\n').collect();
    let emitted: Vec<&str> = harness.record.events.iter().map(String::as_str).collect();
    let same = |seen: &[&str], expected: &[String]| {
        seen.len() == expected.len() && seen.iter().zip(expected).all(|(seen, pattern)| glob(pattern, seen))
    };
    assert!(
        same(&written, lines) && same(&emitted, events),
        "{:?} in\n{dialogue}\nwritten:\n  {}\nexpected:\n  {}\nevents:\n  {}\nexpected:\n  {}\n",
        harness.transport.pace,
        written.join("\n  "),
        lines.join("\n  "),
        emitted.join("\n  "),
        events.join("\n  "),
    );
    assert!(
        output.is_empty() || harness.is_blocked() || output.ends_with('\n'),
        "the output ends with a complete line"
    );
    for line in &written {
        let parsed = mcp_proto::json::Json::parse(line.as_bytes());
        assert!(harness.is_blocked() || parsed.is_ok(), "no JSON: {line}");
    }
}

fn show((output, events): &(Vec<u8>, Vec<String>)) -> String {
    format!("{}{events:#?}", String::from_utf8_lossy(output))
}

/// Returns the params of `initialize`.
pub(crate) fn hello(version: &str) -> String {
    hello_with(version, "{}")
}

fn hello_with(version: &str, capabilities: &str) -> String {
    format!(
        r#"{{"protocolVersion":"{version}","capabilities":{capabilities},"clientInfo":{{"name":"c","version":"1"}}}}"#
    )
}

enum Step {
    In(String),
    Out(String),
    Event(String),
    Command(String),
}

impl Step {
    fn parse(line: &str) -> Option<Step> {
        let line = line.trim_start();
        let Some((sigil, rest)) = line.split_once(' ') else {
            assert!(line.is_empty() || line == ">", "unknown step {line:?}");
            return (line == ">").then(|| Step::In(String::new()));
        };
        Some(match sigil {
            ">" => Step::In(message(rest)),
            "<" => Step::Out(message(rest)),
            "!" => Step::Event(rest.into()),
            "*" => Step::Command(rest.into()),
            _ => panic!("unknown step {line:?}"),
        })
    }
}

/// Expands the short form of a message to its JSON. Returns other text unchanged.
fn message(text: &str) -> String {
    let mut words = text.splitn(4, ' ');
    let word = words.next().unwrap_or_default();
    let mut next = || words.next().unwrap_or_default();
    let params = |text: &str| if text.is_empty() { String::new() } else { format!(r#","params":{text}"#) };
    match word {
        "call" => {
            let (id, method) = (next(), next());
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"{}}}"#, params(next()))
        }
        "note" => {
            let (_, rest) = text.split_once(' ').unwrap_or_default();
            let (method, rest) = rest.split_once(' ').unwrap_or((rest, ""));
            format!(r#"{{"jsonrpc":"2.0","method":"{method}"{}}}"#, params(rest))
        }
        "result" => {
            let (_, rest) = text.split_once(' ').unwrap_or_default();
            let (id, rest) = rest.split_once(' ').unwrap_or((rest, "{}"));
            format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{rest}}}"#)
        }
        "error" => {
            let (id, code, message) = (next(), next(), next());
            let id = if id == "-" { String::new() } else { format!(r#""id":{id},"#) };
            // The message may be followed by `data`.
            let (message, data) = message.split_once(" data ").unwrap_or((message, ""));
            let data = if data.is_empty() { String::new() } else { format!(r#","data":{data}"#) };
            let message = message.replace('"', r#"\""#);
            format!(r#"{{"jsonrpc":"2.0",{id}"error":{{"code":{code},"message":"{message}"{data}}}}}"#)
        }
        _ => text.into(),
    }
}

/// Returns whether `text` matches `pattern`. In the pattern, `…` stands for any text.
pub(crate) fn glob(pattern: &str, text: &str) -> bool {
    let mut pieces = pattern.split('…');
    let Some(mut rest) = pieces.next().and_then(|head| text.strip_prefix(head)) else { return false };
    let mut pieces = pieces.peekable();
    if pieces.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(piece) = pieces.next() {
        if pieces.peek().is_none() {
            return rest.ends_with(piece);
        }
        let Some(at) = rest.find(piece) else { return false };
        rest = &rest[at + piece.len()..];
    }
    true
}
