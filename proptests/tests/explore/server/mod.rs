//! A server with few slots, its application, and a client that sends its messages in any order.

mod states;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use mcp_proto::input::ListRoots;
use mcp_proto::server::{
    Change, Event, Feature, Limits, RequestOptions, SecondInitialize, ServerConfig, Subscriptions, Tool,
    Tools,
};
use mcp_proto::{Buffer, Millis, SendError, Server, State, Ticket};
use mcp_proto_proptests::explore::World;

use super::Changes;
use super::lines::{Lines, Wants};

const DEFERRED: u64 = 50;
const ASKED: u64 = 30;
const GRACE: u64 = 20;

static TOOLS: Tools = Tools::new(&[Tool::new("later", "{}"), Tool::new("quick", "{}")]).list_changed();
static FEATURES: [&dyn Feature; 2] = [&TOOLS, &Subscriptions];
const LIMITS: Limits = Limits::DEFAULT
    .with_deferred_timeout(Millis(DEFERRED))
    .with_request_timeout(Millis(ASKED))
    .with_grace(Millis(GRACE));
static REFUSES: ServerConfig = ServerConfig::new("s", "1").features(&FEATURES).limits(LIMITS);
static RESTARTS: ServerConfig = REFUSES.second_initialize(SecondInitialize::Restart);

/// A deferred request, a subscription, or a server request.
#[derive(Debug)]
struct Deferred {
    ticket: Ticket,
    /// The id as text. The id of a server request is unknown until the client reads the request.
    id: String,
    due: u64,
    subscription: bool,
}

/// Counts of requests and responses with one id.
#[derive(Debug, Default, PartialEq)]
struct Count {
    sent: usize,
    answered: usize,
    /// Requests that need no response: cancelled, or dropped with their session.
    excused: usize,
}

struct Scene {
    server: Server<'static>,
    lines: Lines,
    changes: Rc<RefCell<Changes>>,
    deferred: Vec<Deferred>,
    asked: Vec<Deferred>,
    /// Tickets of ended requests.
    gone: Vec<Ticket>,
    counts: BTreeMap<String, Count>,
    grace: Option<u64>,
    /// Whether too many bad lines came in a row, so that the server no longer sends errors without an id.
    muted: bool,
    nameless: usize,
    /// The operations that happened while the client did not read.
    while_blocked: Vec<&'static str>,
    /// The number of subscriptions that the application ended, and whose last response the client has not read.
    ended: usize,
    /// The last observed state of the connection.
    state: State,
}

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

impl Scene {
    fn new(info: &'static ServerConfig<'static>, slots: usize, changes: &Rc<RefCell<Changes>>) -> Scene {
        let server = Server::new(info, Buffer::grown(600), Buffer::grown(700)).unwrap();
        let server = server.in_flight_grown(slots).unwrap();
        Scene {
            server,
            lines: Lines::default(),
            changes: Rc::clone(changes),
            deferred: Vec::new(),
            asked: Vec::new(),
            gone: Vec::new(),
            counts: BTreeMap::new(),
            grace: None,
            muted: false,
            nameless: 0,
            while_blocked: Vec::new(),
            ended: 0,
            state: State::Waiting,
        }
    }

    fn request(&mut self, id: &str, method: &str, params: &str) {
        self.counts.entry(id.to_owned()).or_default().sent += 1;
        self.muted = false;
        self.lines
            .send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{params}}}}}"#));
    }

    fn call(&mut self, id: &str, tool: &str, meta: &str) {
        let comma = if meta.is_empty() { "" } else { "," };
        self.request(id, "tools/call", &format!(r#""name":"{tool}","arguments":{{"id":{id}}}{comma}{meta}"#));
    }

    fn notify(&mut self, method: &str, params: &str) {
        self.muted = false;
        self.lines
            .send(&format!(r#"{{"jsonrpc":"2.0","method":"notifications/{method}","params":{{{params}}}}}"#));
    }

    fn respond(&mut self, id: &str, rest: &str) {
        self.muted = false;
        self.lines.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},{rest}}}"#));
    }

    /// Handles an event.
    fn event(&mut self) {
        let Scene { server, lines, deferred, asked, gone, counts, .. } = self;
        let event = server.event().expect("poll returned Event, but event() returned None");
        let take = |deferred: &mut Vec<Deferred>, ticket| {
            let at = deferred.iter().position(|it| it.ticket == ticket).expect("the request is in flight");
            deferred.remove(at)
        };
        let text = match event {
            Event::Call(call) => {
                let id = call.raw_arguments().get("id").unwrap().raw().to_owned();
                let mut text = format!("call {} {id}", call.name());
                match call.name() {
                    "later" => match call.defer(None) {
                        Ok(ticket) => {
                            deferred.push(Deferred {
                                ticket,
                                id,
                                due: lines.now + DEFERRED,
                                subscription: false,
                            });
                        }
                        Err(call) => {
                            text += ", but all slots are full";
                            call.busy();
                        }
                    },
                    _ => call.text("done"),
                }
                text
            }
            Event::Listening(listening) => {
                let ticket = listening.ticket();
                deferred.push(Deferred { ticket, id: "3".into(), due: u64::MAX, subscription: true });
                "listening".into()
            }
            Event::Cancelled { ticket, .. } => {
                let it = take(deferred, ticket);
                counts.get_mut(&it.id).expect("the id was sent").excused += 1;
                gone.push(ticket);
                format!("cancelled {}", it.id)
            }
            Event::Expired(ticket) => {
                let it = take(deferred, ticket);
                gone.push(ticket);
                assert!(
                    it.due <= lines.now || self.grace.is_some_and(|at| at <= lines.now),
                    "{it:?} expires too early"
                );
                format!("expired {}", it.id)
            }
            Event::Response(answered) => {
                let it = take(asked, answered.ticket());
                gone.push(it.ticket);
                format!("answered {} {:?}", it.id, answered.outcome())
            }
            Event::Restarted => {
                for it in deferred.drain(..) {
                    counts.get_mut(&it.id).expect("the id was sent").excused += 1;
                    gone.push(it.ticket);
                }
                "restarted".into()
            }
            Event::Progress(told) => {
                assert!(asked.iter().any(|it| it.ticket == told.ticket()));
                "progress".into()
            }
            Event::ProtocolError(fault) => format!("fault {fault:?}"),
            Event::Writable => "room".into(),
            Event::Connected(_) => "connected".into(),
            Event::Ready => "ready".into(),
            other => format!("{other:?}"),
        };
        self.lines.note('!', &text);
    }

    /// Records the state change.
    fn record_state(&mut self) {
        let (before, after) = (self.state, self.server.state());
        if before != after {
            self.changes.borrow_mut().insert((format!("{before:?}"), format!("{after:?}")));
        }
        self.state = after;
    }

    /// Runs until no bytes move at this time, and checks the state.
    fn run_until_idle(&mut self) {
        loop {
            self.record_state();
            let (wants, written) = self.lines.run_until_idle(&mut self.server);
            self.record_state();
            for message in written {
                self.read(&message);
            }
            match wants {
                Wants::Event => self.event(),
                Wants::Idle => break,
            }
        }
        self.check();
    }

    /// Records a message that the client reads.
    fn read(&mut self, message: &serde_json::Value) {
        let id = message.get("id").filter(|id| !id.is_null()).map(ToString::to_string);
        match (id, message.get("method").is_some()) {
            (Some(id), true) => {
                let it = self.asked.iter_mut().find(|it| it.id.is_empty());
                // The server request may be cancelled before the client reads it.
                if let Some(it) = it {
                    it.id = id;
                }
            }
            (Some(id), false) => {
                let count = self.counts.get_mut(&id).expect("the response has a request");
                count.answered += 1;
                assert!(count.answered + count.excused <= count.sent, "{id} has two responses: {count:?}");
                // A subscription ends with its result, and without an event.
                let is_result = message.get("result").is_some();
                if is_result && id == "3" && self.ended > 0 {
                    self.ended -= 1;
                    return;
                }
                let ends = |it: &Deferred| it.subscription && it.id == id && is_result;
                self.gone.extend(self.deferred.iter().filter(|it| ends(it)).map(|it| it.ticket));
                self.deferred.retain(|it| !ends(it));
            }
            (None, false) => self.nameless += 1,
            (None, true) => {}
        }
    }

    /// Checks the invariants of every state.
    fn check(&mut self) {
        let Scene { server, lines, deferred, asked, gone, counts, .. } = self;
        let state = server.state();
        for ticket in &*gone {
            assert_eq!(server.reply(*ticket).map(drop), Err(SendError::Gone), "{ticket:?} has ended");
            assert_eq!(server.cancel(*ticket, ""), Err(SendError::Gone));
            assert_eq!(server.end_subscription(*ticket), Err(SendError::Gone));
        }
        if lines.closed {
            assert_eq!(state, State::Closed);
            assert!(asked.is_empty(), "server requests are open at the end: {asked:?}");
            let told = |it: &Deferred| lines.broken || it.subscription;
            assert!(deferred.iter().all(told), "requests without a cancellation event: {deferred:?}");
            gone.extend(deferred.drain(..).map(|it| it.ticket));
            return;
        }
        let ends_unheard = state == State::Draining && deferred.iter().any(|it| it.subscription);
        assert!(server.deferred() == deferred.len() || lines.blocked && ends_unheard, "{deferred:?}");
        if state == State::Draining {
            self.grace.get_or_insert(lines.now + GRACE);
        }
        if lines.blocked || lines.broken {
            return;
        }
        assert!(!lines.unsent);
        for (id, count) in counts {
            let open = deferred.iter().filter(|it| it.id == *id).count();
            assert_eq!(
                count.sent,
                count.answered + count.excused + open,
                "{id}: {count:?}, {open} in flight"
            );
        }
        let dues = deferred.iter().chain(&*asked).map(|it| it.due).filter(|due| *due < u64::MAX);
        assert_eq!(lines.deadline, dues.chain(self.grace).min(), "{deferred:?} {asked:?}");
    }

    fn host(&mut self, what: &str) {
        self.lines.note('*', what);
    }
}

impl World for Scene {
    fn step(&mut self, step: &'static str) -> bool {
        let first = self.deferred.iter().find(|it| !it.subscription).map(|it| it.ticket);
        let subscription = self.deferred.iter().find(|it| it.subscription).map(|it| it.ticket);
        let asked = self.asked.first().map(|it| it.id.clone()).filter(|id| !id.is_empty());
        let client_may_send = !self.lines.ended && !self.lines.closed && !self.lines.broken;
        // While the client does not read, at most two steps besides those listed here are possible, to bound the
        // search.
        let is_plain =
            ["time", "eof", "shut down", "gone", "reset", "stops reading", "reads again"].contains(&step);
        if self.lines.blocked && !is_plain && self.while_blocked.len() >= 2 {
            return false;
        }
        let before = self.nameless;
        let is_possible = match step {
            // The messages of the client.
            _ if step.starts_with('>') => client_may_send,
            // The operations of the application, the time, and the connection.
            "answer" => first.is_some(),
            "forget" => first.is_some(),
            "end" => subscription.is_some(),
            "cancel server request" => !self.asked.is_empty(),
            "time" => self.lines.deadline.is_some() && !self.lines.closed,
            "eof" => client_may_send,
            "gone" => !self.lines.broken && !self.lines.closed,
            "stops reading" => !self.lines.blocked && client_may_send,
            "reads again" => self.lines.blocked && !self.lines.closed,
            "reset" => self.lines.closed,
            _ => !self.lines.closed,
        };
        if !is_possible {
            return false;
        }
        match step {
            "> initialize" => {
                let params = r#""protocolVersion":"2025-11-25","capabilities":{"roots":{}},"clientInfo":{"name":"c","version":"1"}"#;
                self.request("\"i\"", "initialize", params);
            }
            "> initialized" => self.notify("initialized", ""),
            "> ping" => self.request("\"p\"", "ping", ""),
            "> later 1" => self.call("1", "later", ""),
            "> later 2" => self.call("2", "later", ""),
            "> quick 1" => self.call("1", "quick", ""),
            "> stateless later 1" => self.call("1", "later", META),
            "> stateless quick 2" => self.call("2", "quick", META),
            "> listen 3" => self.request(
                "3",
                "subscriptions/listen",
                &format!(r#""notifications":{{"toolsListChanged":true}},{META}"#),
            ),
            "> cancel 1" => self.notify("cancelled", r#""requestId":1"#),
            "> cancel 3" => self.notify("cancelled", r#""requestId":3"#),
            "> shutdown" => self.request("\"s\"", "shutdown", ""),
            "> exit" => self.lines.send(r#"{"jsonrpc":"2.0","method":"exit"}"#),
            "> unknown" => self.request("\"u\"", "no/such", ""),
            "> result" => match asked {
                Some(id) => self.respond(&id, r#""result":{"roots":[]}"#),
                None => return false,
            },
            "> error" => match asked {
                Some(id) => self.respond(&id, r#""error":{"code":1,"message":""}"#),
                None => return false,
            },
            "> progress" => match asked {
                Some(id) => self.notify("progress", &format!(r#""progressToken":{id},"progress":1"#)),
                None => return false,
            },
            "> result for unknown id" => self.respond("99", r#""result":{}"#),
            "> noise" => {
                for _ in 0..9 {
                    self.lines.send("noise");
                }
                self.muted = true;
            }
            "> too long" => {
                let text = "x".repeat(700);
                self.request("\"l\"", "ping", &format!("\"x\":\"{text}\""));
            }
            "> given up" => {
                self.counts.entry("\"g\"".into()).or_default().sent += 1;
                self.muted = false;
                self.lines.send("{\"jsonrpc\":\"2.0\",\"id\":\"g\",\"method\":\u{18}");
            }
            _ => self.host(step),
        }
        let ticket = first.or(subscription);
        match step {
            "answer" | "forget" => {
                let ticket = ticket.expect("the step is possible");
                match self.server.reply(ticket) {
                    Ok(reply) => {
                        // `forget` drops the reply without a response, so the request stays deferred.
                        if step == "answer" {
                            reply.text("late");
                            self.deferred.retain(|it| it.ticket != ticket);
                            self.gone.push(ticket);
                        }
                    }
                    Err(why) => {
                        assert!(why == SendError::Busy && self.lines.blocked, "{why:?}");
                        return false;
                    }
                }
            }
            "end" => {
                let ticket = subscription.expect("the step is possible");
                if let Err(why) = self.server.end_subscription(ticket) {
                    // The subscription is already ending, but the client has not read its last response.
                    assert!(why == SendError::Gone && self.lines.blocked && self.state == State::Draining);
                    return false;
                }
                self.deferred.retain(|it| it.ticket != ticket);
                self.gone.push(ticket);
                self.ended += 1;
            }
            "ask" => match self.server.request(&ListRoots, RequestOptions::DEFAULT.with_progress()) {
                Ok(ticket) => {
                    let due = self.lines.now + ASKED;
                    self.asked.push(Deferred { ticket, id: String::new(), due, subscription: false });
                }
                Err(why) => {
                    let expected = match self.server.state() {
                        State::Ready if self.deferred.len() + self.asked.len() > 0 => SendError::Full,
                        _ => SendError::NotConnected,
                    };
                    assert!(why == expected || why == SendError::Busy && self.lines.blocked, "{why:?}");
                    return false;
                }
            },
            "cancel server request" => {
                let it = self.asked.remove(0);
                self.server.cancel(it.ticket, "").unwrap();
                self.gone.push(it.ticket);
            }
            "changed" => self.server.changed(Change::Tools),
            "shut down" => self.server.shutdown(Millis(self.lines.now)),
            "time" => self.lines.now = self.lines.deadline.expect("the step is possible"),
            "eof" => self.lines.ended = true,
            "gone" => (self.lines.broken, self.lines.ended) = (true, true),
            "stops reading" => self.lines.blocked = true,
            "reads again" => {
                self.lines.blocked = false;
                self.while_blocked.clear();
            }
            "reset" => {
                self.server.reset();
                self.state = self.server.state();
                self.lines.reconnect();
                self.gone.extend(self.deferred.drain(..).chain(self.asked.drain(..)).map(|it| it.ticket));
                self.counts.clear();
                (self.grace, self.muted, self.ended) = (None, false, 0);
                self.while_blocked.clear();
            }
            _ => {}
        }
        if self.lines.blocked && !is_plain {
            self.while_blocked.push(step);
        }
        self.run_until_idle();
        // A client that has sent `exit` sends nothing else.
        self.lines.ended |= step == "> exit" && self.server.state() == State::Draining;
        let noise = self.nameless - before;
        assert!(noise <= 8, "{noise} errors in a row have no id");
        true
    }

    fn key(&self) -> String {
        let Scene { server, lines, deferred, asked, muted, while_blocked, .. } = self;
        let all = deferred.iter().chain(asked).map(|it| {
            let (slot, _) = format!("{:?}", it.ticket)
                .split_once(',')
                .map(|(slot, rest)| (slot.to_owned(), rest.to_owned()))
                .unwrap();
            let in_time = if it.due == u64::MAX { None } else { it.due.checked_sub(lines.now) };
            (
                it.subscription,
                if asked.iter().any(|its| its.ticket == it.ticket) { "ours" } else { &*it.id }.to_owned(),
                slot,
                in_time,
            )
        });
        let all: Vec<_> = all.collect();
        let times = lines.deadline.map(|at| at - lines.now);
        let grace = self.grace.map(|at| at.saturating_sub(lines.now));
        let ends = (lines.ended, lines.blocked, lines.broken, lines.closed, lines.unsent);
        let state = (server.state(), server.revision());
        format!("{state:?} {all:?} {times:?} {grace:?} {ends:?} {muted} {while_blocked:?}")
    }

    fn dialogue(&self) -> &str {
        &self.lines.dialogue
    }
}
