//! A client with few slots, its application, and a server that sends its messages in any order.

mod states;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use mcp_proto::client::{ClientConfig, Connect, Event, Filter, Options, Timeouts};
use mcp_proto::{Buffer, Client, ClientCapabilities, Millis, Revision, SendError, State, Ticket};
use mcp_proto_proptests::explore::World;
use serde_json::Value;

use super::Changes;
use super::lines::{Lines, Wants};
use states::is_connecting;

const TIMEOUTS: Timeouts = Timeouts {
    probe: Millis(15),
    initialize: Millis(25),
    request: Millis(50),
    maximum: Millis(50),
    grace: Millis(20),
};
const DECLARED: ClientCapabilities = ClientCapabilities::ROOTS_LIST_CHANGED;
static AUTOMATIC: ClientConfig = ClientConfig::new("c", "1").capabilities(DECLARED).timeouts(TIMEOUTS);
static HANDSHAKE: ClientConfig = AUTOMATIC.connect(Connect::Handshake);
static STATELESS: ClientConfig = AUTOMATIC.connect(Connect::Stateless);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Call,
    List,
    Subscription,
}

#[derive(Debug)]
struct Open {
    ticket: Ticket,
    kind: Kind,
    /// The time at which the request was sent.
    since: u64,
    require_input: bool,
    /// Whether a subscription is acknowledged. The acknowledgment ends the timeout of the subscription.
    acknowledged: bool,
}

/// Counts of server requests with one id, and of their responses.
#[derive(Debug, Default)]
struct Count {
    sent: usize,
    answered: usize,
    excused: usize,
}

struct Scene {
    client: Client<'static>,
    lines: Lines,
    changes: Rc<RefCell<Changes>>,
    open: Vec<Open>,
    /// Deferred server requests: ticket, id and time of arrival.
    deferred: Vec<(Ticket, String, u64)>,
    gone: Vec<Ticket>,
    counts: BTreeMap<String, Count>,
    /// Requests that the server has read and not answered: id and method.
    read: Vec<(u64, String)>,
    last: Option<u64>,
    ids: BTreeSet<u64>,
    /// The methods of the requests with which the client has tried to connect.
    tried: Vec<String>,
    while_blocked: Vec<&'static str>,
    state: State,
}

fn slot(ticket: Ticket) -> String {
    format!("{ticket:?}").split(',').next().unwrap_or_default().to_owned()
}

impl Scene {
    fn new(info: &'static ClientConfig<'static>, slots: usize, changes: &Rc<RefCell<Changes>>) -> Scene {
        let client = Client::new(info, Buffer::grown(700), Buffer::grown(900)).unwrap();
        Scene {
            client: client.in_flight_grown(slots),
            lines: Lines::default(),
            changes: Rc::clone(changes),
            open: Vec::new(),
            deferred: Vec::new(),
            gone: Vec::new(),
            counts: BTreeMap::new(),
            read: Vec::new(),
            last: None,
            ids: BTreeSet::new(),
            tried: Vec::new(),
            while_blocked: Vec::new(),
            state: State::Start,
        }
    }

    fn notify(&mut self, method: &str, params: &str) {
        self.lines
            .send(&format!(r#"{{"jsonrpc":"2.0","method":"notifications/{method}","params":{{{params}}}}}"#));
    }

    fn request(&mut self, id: &str, method: &str) {
        let count = self.counts.entry(id.to_owned()).or_default();
        count.sent += 1;
        // Revision 2026-07-28 has no server requests, so the client does not respond.
        count.excused += usize::from(self.client.revision() == Some(Revision::V2026_07_28));
        self.lines.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#));
    }

    fn respond(&mut self, id: u64, rest: &str) {
        self.read.retain(|it| it.0 != id);
        self.last = Some(id);
        self.lines.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},{rest}}}"#));
    }

    /// Returns the unanswered request that establishes the connection, if any.
    fn connecting(&self) -> Option<(u64, String)> {
        self.read.iter().rev().find(|it| is_connecting(&it.1)).cloned()
    }

    /// Returns the first unanswered request with this method, if any. Ignores requests that establish the connection.
    /// An empty method matches any method.
    fn waits(&self, method: &str) -> Option<(u64, String)> {
        self.read.iter().find(|it| !is_connecting(&it.1) && it.1.contains(method)).cloned()
    }

    fn ended(&mut self, ticket: Ticket) {
        let at = self.open.iter().position(|it| it.ticket == ticket);
        let at = at.unwrap_or_else(|| panic!("{ticket:?} is not open"));
        self.open.remove(at);
        self.gone.push(ticket);
    }

    fn event(&mut self) {
        let Some(event) = self.client.event() else {
            panic!("poll returned Event, but event() returned None")
        };
        let (mut ends, mut needs, mut told, mut taken) = (None, None, None, None);
        let text = match event {
            Event::Connected(connected) => format!("connected {}", connected.revision()),
            Event::ConnectFailed(failure) => format!("failed {failure}"),
            Event::Response(end) => {
                ends = Some(end.ticket());
                format!("finished {:?}", end.outcome())
            }
            Event::Tools(page) => {
                ends = Some(page.ticket()).filter(|_| page.is_last());
                "tools".into()
            }
            Event::InputRequired(it) => {
                needs = Some(it.ticket());
                "input required".into()
            }
            Event::Progress(progress) => {
                told = Some(progress.ticket());
                "progress".into()
            }
            Event::Acknowledged(it) => {
                let open = self.open.iter_mut().find(|open| open.ticket == it.ticket());
                open.expect("the request is open").acknowledged = true;
                "acknowledged".into()
            }
            Event::ServerRequest(asked) => match asked.defer(None) {
                Ok(ticket) => {
                    self.deferred.push((ticket, "7".into(), self.lines.now));
                    "server request".into()
                }
                Err(asked) => {
                    asked.decline();
                    "server request, but all slots are full".into()
                }
            },
            Event::Cancelled { ticket, .. } => {
                taken = Some((ticket, true));
                "cancelled".into()
            }
            Event::Expired(ticket) => {
                taken = Some((ticket, false));
                "expired".into()
            }
            Event::ProtocolError(fault) => format!("protocol error {fault:?}"),
            other => format!("{other:?}"),
        };
        self.lines.note('!', &text);
        if let Some(ticket) = ends {
            self.ended(ticket);
        }
        for ticket in [needs, told].into_iter().flatten() {
            let open = self.open.iter_mut().find(|it| it.ticket == ticket).expect("the request is open");
            open.require_input |= needs.is_some();
        }
        if let Some((ticket, excused)) = taken {
            let at = self.deferred.iter().position(|it| it.0 == ticket).expect("the request is deferred");
            let (_, id, _) = self.deferred.remove(at);
            // The count is missing if a new connection has cleared the counts.
            if let Some(count) = self.counts.get_mut(&id).filter(|_| excused) {
                count.excused += 1;
            }
            self.gone.push(ticket);
        }
    }

    fn record_state(&mut self) {
        let (before, after) = (self.state, self.client.state());
        if before != after {
            self.changes.borrow_mut().insert((format!("{before:?}"), format!("{after:?}")));
        }
        self.state = after;
    }

    fn run_until_idle(&mut self) {
        loop {
            self.record_state();
            let (wants, written) = self.lines.run_until_idle(&mut self.client);
            self.record_state();
            for message in written {
                self.read_by_server(&message);
            }
            match wants {
                Wants::Event => self.event(),
                Wants::Idle => break,
            }
        }
        self.check();
    }

    /// Records a message that the server reads.
    fn read_by_server(&mut self, message: &Value) {
        match (message.get("id"), message["method"].as_str()) {
            (Some(id), Some(method)) => {
                let id = id.as_u64().expect("ids are numbers");
                assert!(self.ids.insert(id), "the id {id} is used twice");
                if is_connecting(method) {
                    self.tried.push(method.to_owned());
                }
                self.read.push((id, method.to_owned()));
            }
            (Some(id), None) => {
                let count = self.counts.get_mut(&id.to_string()).expect("the response has a request");
                count.answered += 1;
                assert!(count.answered + count.excused <= count.sent, "{id} has two responses: {count:?}");
            }
            (None, Some(method)) => {
                // The server need not respond to a cancelled request. The step `> again` responds late, to `last`.
                if let (true, Some(id)) =
                    (method.ends_with("/cancelled"), message["params"]["requestId"].as_u64())
                {
                    self.read.retain(|it| it.0 != id);
                    self.last = Some(id);
                }
            }
            (None, None) => panic!("a response without an id: {message}"),
        }
    }

    fn check(&mut self) {
        let Scene { client, lines, open, deferred, gone, counts, .. } = self;
        for ticket in &*gone {
            assert!(!client.is_pending(*ticket), "{ticket:?} has ended");
            assert_eq!(client.cancel(*ticket, ""), Err(SendError::Gone));
            assert_eq!(client.reply(*ticket).map(drop), Err(SendError::Gone));
        }
        for ticket in open.iter().map(|it| it.ticket).chain(deferred.iter().map(|it| it.0)) {
            assert!(client.is_pending(ticket), "{ticket:?} is open for the client only");
        }
        if lines.closed {
            assert_eq!(client.state(), State::Closed);
            assert!(deferred.is_empty(), "server requests are open at the end: {deferred:?}");
            assert!(open.iter().all(|it| it.kind == Kind::Subscription), "open at the end: {open:?}");
            return;
        }
        if lines.blocked || lines.broken {
            return;
        }
        assert_eq!(client.pending(), open.len() + deferred.len(), "{open:?} {deferred:?}");
        for (id, count) in counts {
            let open = deferred.iter().filter(|it| it.1 == *id).count();
            assert_eq!(count.sent, count.answered + count.excused + open, "{id}: {count:?}, {open} deferred");
        }
        let waits = open.iter().any(|it| !it.acknowledged) || !deferred.is_empty();
        let is_open = matches!(client.state(), State::Stateless | State::Ready);
        assert_eq!(lines.deadline.is_some(), waits || !is_open, "{open:?} {deferred:?} {:?}", client.state());
    }
}

impl World for Scene {
    fn step(&mut self, step: &'static str) -> bool {
        let server_may_send = !self.lines.ended && !self.lines.closed && !self.lines.broken;
        let is_plain =
            ["time", "eof", "shut down", "gone", "reset", "reconnect", "stops reading", "reads again"]
                .contains(&step);
        if self.lines.blocked && !is_plain && self.while_blocked.len() >= 2 {
            return false;
        }
        let first = self.open.first().map(|it| it.ticket);
        let is_possible = match step {
            _ if step.starts_with('>') => server_may_send,
            "cancel" => first.is_some(),
            "resume" => self.open.iter().any(|it| it.require_input),
            "answer" => !self.deferred.is_empty(),
            "time" => self.lines.deadline.is_some() && !self.lines.closed,
            "eof" => server_may_send,
            "gone" => !self.lines.broken && !self.lines.closed,
            "stops reading" => !self.lines.blocked && server_may_send,
            "reads again" => self.lines.blocked && !self.lines.closed,
            "reset" | "reconnect" => self.lines.closed,
            _ => !self.lines.closed,
        };
        if !is_possible {
            return false;
        }
        let tools = r#""capabilities":{"tools":{"listChanged":true}}"#;
        let connecting = self.connecting();
        let (waits, calls) = (self.waits(""), self.waits("tools/call"));
        if step.starts_with('>') {
            match (step, connecting, waits, calls) {
                ("> accept", Some((id, method)), ..) => {
                    let result = match method.as_str() {
                        "initialize" => format!(
                            r#""protocolVersion":"2025-11-25",{tools},"serverInfo":{{"name":"s","version":"1"}}"#
                        ),
                        _ => format!(
                            r#""supportedVersions":["2026-07-28"],{tools},"ttlMs":0,"cacheScope":"private","resultType":"complete""#
                        ),
                    };
                    self.respond(id, &format!("\"result\":{{{result}}}"));
                }
                ("> refuse", Some((id, _)), ..) => {
                    self.respond(id, r#""error":{"code":-32601,"message":""}"#)
                }
                ("> unsupported", Some((id, _)), ..) => {
                    self.respond(id, r#""error":{"code":-32022,"message":"","data":{"supported":["2026-07-28"],"requested":"1"}}"#);
                }
                ("> nothing", Some((id, _)), ..) => self.respond(id, r#""result":{}"#),
                ("> result", _, Some((id, _)), _) => {
                    self.respond(id, r#""result":{"content":[],"tools":[],"resultType":"complete"}"#)
                }
                ("> error", _, Some((id, _)), _) => self.respond(id, r#""error":{"code":1,"message":""}"#),
                ("> more", _, Some((id, method)), _) if method == "tools/list" => {
                    self.respond(id, r#""result":{"tools":[],"nextCursor":"c"}"#)
                }
                ("> too long", _, Some((id, _)), _) => {
                    let text = "x".repeat(800);
                    self.respond(id, &format!(r#""result":{{"x":"{text}"}}"#));
                }
                ("> input required", _, _, Some((id, _))) => {
                    self.respond(id, r#""result":{"resultType":"input_required","requestState":"s"}"#);
                }
                ("> acknowledged", _, Some((id, method)), _) if method == "subscriptions/listen" => {
                    self.notify("subscriptions/acknowledged", &format!(r#""notifications":{{"toolsListChanged":true}},"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}"#));
                }
                ("> progress", _, _, Some((id, _))) => {
                    self.notify("progress", &format!(r#""progressToken":{id},"progress":1"#));
                }
                ("> again", ..) => match self.last {
                    Some(id) => self.respond(id, r#""result":{}"#),
                    None => return false,
                },
                ("> ping", ..) => self.request("\"p\"", "ping"),
                ("> ask", ..) => self.request("7", "roots/list"),
                ("> cancel server request", ..) => self.notify("cancelled", r#""requestId":7"#),
                ("> noise", ..) => self.lines.send("noise"),
                ("> changed", ..) => self.notify("tools/list_changed", ""),
                _ => return false,
            }
        } else {
            self.lines.note('*', step);
        }
        let now = self.lines.now;
        let options = Options::DEFAULT.with_progress();
        let started = match step {
            "call" => Some((self.client.call_json("t", "{}", options), Kind::Call)),
            "list" => Some((self.client.list_tools(options), Kind::List)),
            "listen" => {
                Some((self.client.listen(Filter::NOTHING.tools(), Options::DEFAULT), Kind::Subscription))
            }
            _ => None,
        };
        if let Some((started, kind)) = started {
            match started {
                Ok(ticket) => {
                    assert!(!self.gone.contains(&ticket) && self.open.iter().all(|it| it.ticket != ticket));
                    self.open.push(Open {
                        ticket,
                        kind,
                        since: now,
                        require_input: false,
                        acknowledged: false,
                    });
                }
                Err(why) => {
                    let connected = matches!(self.state, State::Ready | State::Stateless);
                    let fits = match why {
                        SendError::NotConnected => !connected,
                        SendError::Full => connected && self.open.len() + self.deferred.len() > 0,
                        SendError::Unsupported => kind == Kind::Subscription && self.state == State::Ready,
                        SendError::Busy => self.lines.blocked,
                        _ => false,
                    };
                    // A cancelled request keeps its slot until its cancellation is sent, so `Full` is correct, too.
                    assert!(fits || why == SendError::Full && self.lines.blocked, "{why:?}");
                    return false;
                }
            }
        }
        match step {
            "cancel" => {
                let ticket = first.expect("the step is possible");
                self.client.cancel(ticket, "").unwrap();
                self.ended(ticket);
            }
            "resume" => {
                let it = self.open.iter_mut().find(|it| it.require_input).expect("the step is possible");
                match self.client.resume_call_json(it.ticket, "t", "{}", |_| {}) {
                    Ok(()) => it.require_input = false,
                    Err(why) => {
                        assert!(why == SendError::Busy && self.lines.blocked, "{why:?}");
                        return false;
                    }
                }
            }
            "answer" => match self.client.reply(self.deferred[0].0) {
                Ok(reply) => {
                    reply.roots(|_| {});
                    let (ticket, ..) = self.deferred.remove(0);
                    self.gone.push(ticket);
                }
                Err(why) => {
                    assert!(why == SendError::Busy && self.lines.blocked, "{why:?}");
                    return false;
                }
            },
            "roots changed" if self.client.roots_changed().is_err() => return false,
            "shut down" => self.client.shutdown(Millis(now)),
            "time" => self.lines.now = self.lines.deadline.expect("the step is possible"),
            "eof" => self.lines.ended = true,
            "gone" => (self.lines.broken, self.lines.ended) = (true, true),
            "stops reading" => self.lines.blocked = true,
            "reads again" => {
                self.lines.blocked = false;
                self.while_blocked.clear();
            }
            "reset" | "reconnect" => {
                if step == "reset" {
                    self.client.reset();
                    self.gone.extend(self.open.drain(..).map(|it| it.ticket));
                } else {
                    self.client.reconnect();
                    // The client sends subscriptions again.
                    for it in &mut self.open {
                        (it.acknowledged, it.since) = (false, now);
                    }
                }
                self.state = self.client.state();
                self.lines.reconnect();
                self.counts.clear();
                self.read.clear();
                self.tried.clear();
                self.while_blocked.clear();
                self.last = None;
                if step == "reset" {
                    self.ids.clear();
                }
            }
            _ => {}
        }
        if self.lines.blocked && !is_plain {
            self.while_blocked.push(step);
        }
        self.run_until_idle();
        true
    }

    fn key(&self) -> String {
        let Scene { client, lines, open, deferred, read, last, tried, while_blocked, .. } = self;
        let since = |at: u64| lines.now - at;
        let open: Vec<_> = open
            .iter()
            .map(|it| {
                let since = if it.acknowledged { None } else { Some(since(it.since)) };
                (slot(it.ticket), it.kind, since, it.require_input)
            })
            .collect();
        let deferred: Vec<_> = deferred.iter().map(|it| (slot(it.0), since(it.2))).collect();
        let read: Vec<_> = read.iter().map(|it| &it.1).collect();
        let ends = (lines.ended, lines.blocked, lines.broken, lines.closed, lines.unsent, last.is_some());
        let deadline = lines.deadline.map(|at| at - lines.now);
        format!(
            "{:?} {:?} {open:?} {deferred:?} {read:?} {tried:?} {ends:?} {deadline:?} {while_blocked:?}",
            client.state(),
            client.revision()
        )
    }

    fn dialogue(&self) -> &str {
        &self.lines.dialogue
    }
}
