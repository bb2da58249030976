//! A client with a random application, a random server and connection failures.
use std::collections::{BTreeMap, BTreeSet};

use crate::support::FailureContext;
use crate::support::Random;
use crate::support::transport::{give_input, take_output};
use mcp_proto::client::{ClientConfig, Connect, Event, Filter, Options, Slot, TaskLimits};
use mcp_proto::{Action, Client, ClientCapabilities as C, Millis, Ticket};

const EVERYTHING: C =
    C::ROOTS_LIST_CHANGED.with(C::SAMPLING_TOOLS).with(C::ELICITATION_FORM).with(C::ELICITATION_URL);

struct World {
    client: Client<'static>,
    random: Random,
    now: u64,
    stateless: bool,
    /// Bytes in transit to the client.
    down: Vec<u8>,
    /// Bytes in transit to the server.
    up: Vec<u8>,
    /// Server requests of this connection: the number of responses by id.
    asks: BTreeMap<u64, usize>,
    taken_back: BTreeSet<u64>,
    next_ask: u64,
    /// Whether the revision has batches.
    in_batches: bool,
    /// Whether an event is unread.
    fetches: bool,
    /// The number of further polls in which the server reads nothing.
    blocked: usize,
    finishes: bool,
    deferred: Vec<Ticket>,
    /// Tickets of open requests.
    open: BTreeSet<Ticket>,
    require_input: Vec<Ticket>,
    /// Tickets of ended requests.
    ended: BTreeSet<Ticket>,
    /// Received client requests: id and method.
    read: Vec<(u64, String)>,
    connected: bool,
    /// Whether all calls get tasks as responses, and requests rarely time out.
    is_calm: bool,
    /// The number of events about tasks.
    tasks: usize,
}

fn leak<T>(value: T) -> &'static mut T {
    Box::leak(Box::new(value))
}

impl World {
    fn new(seed: u64, stateless: bool) -> World {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let connect = if stateless { Connect::Stateless } else { Connect::Handshake };
        let info =
            ClientConfig::new("c", "1").connect(connect).capabilities(EVERYTHING).pages(4).input_limit(4);
        let info = info.tasks(TaskLimits::DEFAULT);
        let slots = [1, 2, 5][random.below(3)];
        let slots: &'static mut [Slot] = Box::leak(vec![Slot::EMPTY; slots].into_boxed_slice());
        let text = Box::leak(vec![0; slots.len() * [8, 40][random.below(2)]].into_boxed_slice());
        let tx: &'static mut [u8] = Box::leak(vec![0; 900 + random.below(600)].into_boxed_slice());
        let client = Client::new(leak(info), leak([0; 1024]), tx).unwrap().in_flight(slots, text);
        let client = if random.below(2) == 0 { client.max_reply_size(400).unwrap() } else { client };
        World {
            client: client.seed(seed),
            random,
            now: 0,
            stateless,
            down: Vec::new(),
            up: Vec::new(),
            asks: BTreeMap::new(),
            taken_back: BTreeSet::new(),
            next_ask: 1,
            in_batches: false,
            fetches: false,
            blocked: 0,
            finishes: false,
            deferred: Vec::new(),
            open: BTreeSet::new(),
            require_input: Vec::new(),
            ended: BTreeSet::new(),
            read: Vec::new(),
            connected: false,
            is_calm: seed.is_multiple_of(3),
            tasks: 0,
        }
    }

    /// Writes a server message, alone or in a batch. Sometimes repeats a response, and some repetitions are oversized.
    fn say(&mut self, text: String) {
        let again = self.random.below(12);
        let batch = self.in_batches && self.random.below(3) == 0;
        let text = match again {
            0 if batch && !text.contains("\"method\"") => format!("[{text}, {text}]"),
            _ if batch => format!(" [7,{text} ]"),
            0 if !text.contains("\"method\"") => format!("{text}\n{text}"),
            1 if !text.contains("\"method\"") => {
                format!(
                    "{text}\n{}",
                    text.replacen(
                        "\"result\":{",
                        &format!("\"result\":{{\"x\":\"{}\",", "x".repeat(2_000)),
                        1
                    )
                )
            }
            _ => text,
        };
        self.down.extend(text.into_bytes());
        self.down.push(b'\n');
    }

    fn step(&mut self) {
        match self.random.below(14) {
            0..=6 => self.poll(),
            7 => self.server_reads(),
            8 | 9 => self.server_speaks(),
            10 | 11 => self.host(),
            12 if self.random.below(4) == 0 => self.blocked = 60,
            12 if self.is_calm => self.now += [0, 10, 500, 2_000][self.random.below(4)],
            12 => self.now += [0, 10, 5_000, 100_000][self.random.below(4)],
            _ if self.random.below(10) == 0 && !self.is_calm => self.reconnect(),
            _ => {}
        }
    }

    fn poll(&mut self) {
        match self.client.poll(Millis(self.now)) {
            Action::Io(io) => {
                let (out, receive) = io.split();
                // Sometimes the server does not read for a while.
                let reads = self.blocked == 0;
                self.blocked = self.blocked.saturating_sub(1);
                let most = if reads { self.random.below(200) } else { 0 };
                take_output(out, most, &mut self.up);
                let given = give_input(receive, self.random.below(200), &mut &self.down[..]);
                self.down.drain(..given);
            }
            Action::Event => {
                // The event may stay unread while the application acts, or even reconnects.
                let open = self.open.clone();
                self.fetches = true;
                if self.random.below(4) == 0 && !self.finishes {
                    self.host();
                }
                if self.random.below(50) == 0 && !self.finishes {
                    return self.reconnect();
                }
                self.fetches = false;
                let Some(event) = self.client.event() else {
                    panic!("poll returned Event, but event() returned None")
                };
                match event {
                    Event::Connected(_) => self.connected = true,
                    Event::Tools(page) => {
                        assert!(open.contains(&page.ticket()), "{page:?}");
                        if page.is_last() {
                            self.open.remove(&page.ticket());
                            self.ended.insert(page.ticket());
                        }
                    }
                    Event::Response(end) => {
                        assert!(self.open.remove(&end.ticket()), "{end:?}: the request is not open");
                        assert!(self.ended.insert(end.ticket()));
                    }
                    Event::InputRequired(it) => {
                        assert!(open.contains(&it.ticket()));
                        self.require_input.push(it.ticket());
                    }
                    Event::Task { ticket, .. } => {
                        assert!(open.contains(&ticket));
                        self.tasks += 1;
                    }
                    Event::ServerRequest(asked) => match self.random.below(4) {
                        0 => asked.decline(),
                        1 => drop(asked),
                        2 => asked.error(1, "x".repeat(self.random.below(1500))),
                        _ => match asked.defer(Some(Millis(7_000))) {
                            Ok(ticket) => self.deferred.push(ticket),
                            Err(asked) => asked.cancel(),
                        },
                    },
                    Event::Expired(ticket) | Event::Cancelled { ticket, .. } => {
                        let before = self.deferred.len();
                        self.deferred.retain(|it| *it != ticket);
                        assert_eq!(self.deferred.len() + 1, before, "the request is not deferred");
                    }
                    _ => {}
                }
            }
            Action::Closed => self.reconnect(),
        }
    }

    /// Reads whole lines as the server, and records the requests.
    fn server_reads(&mut self) {
        while let Some(at) = self.up.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.up.drain(..=at).collect();
            let value: serde_json::Value = serde_json::from_slice(&line).expect("every line is whole");
            match (value["method"].as_str(), value["id"].as_u64()) {
                (Some(method), Some(id)) => self.read.push((id, method.to_owned())),
                (None, Some(id)) => {
                    let answers = self.asks.get_mut(&id).expect("the response has a request");
                    *answers += 1;
                    assert_eq!(*answers, 1, "{value}");
                }
                _ => {}
            }
        }
    }

    fn server_speaks(&mut self) {
        let answered = match self.random.below(3) {
            0 => None,
            _ => (!self.read.is_empty()).then(|| self.read.remove(self.random.below(self.read.len()))),
        };
        if let Some((id, method)) = answered {
            return self.server_answers(id, &method);
        }
        if self.random.below(4) == 0 {
            let id = self.random.below(4) as u64;
            let task = self.task(id);
            let method = ["tasks", "tasks/status"][usize::from(!self.stateless)];
            return self.say(format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/{method}","params":{{{task}}}}}"#
            ));
        }
        if self.stateless {
            // The id may belong to any request, or to none.
            let id = self.random.below(60);
            return self.say(format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
            ));
        }
        let asked: Vec<u64> = self.asks.keys().copied().collect();
        match self.random.below(3) {
            0 if !asked.is_empty() => {
                let id = asked[self.random.below(asked.len())];
                self.taken_back.insert(id);
                self.say(format!(
                    r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
                ));
            }
            _ if self.connected => {
                let id = self.next_ask;
                self.next_ask += 1;
                self.asks.insert(id, 0);
                let method = ["roots/list", "ping", "x"][self.random.below(3)];
                self.say(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#));
            }
            _ => {}
        }
    }

    /// Returns the members of a task. Some members may not match the status.
    fn task(&mut self, id: u64) -> String {
        let statuses = ["working", "working", "input_required", "completed", "failed", "cancelled", "x"];
        let status = statuses[self.random.below(statuses.len())];
        let key = self.random.below(3);
        let more = [
            String::new(),
            format!(r#","inputRequests":{{"{key}":{{"method":"roots/list"}}}}"#),
            r#","result":{"content":[]},"error":{"code":1,"message":"m"}"#.to_owned(),
        ];
        let more = &more[self.random.below(more.len())];
        format!(r#""taskId":"{}","status":"{status}","statusMessage":"{id}"{more}"#, id % 4)
    }

    fn server_answers(&mut self, id: u64, method: &str) {
        let result = match method {
            "initialize" if self.random.below(2) == 0 => {
                let revision =
                    r#""protocolVersion":"2025-03-26","capabilities":{"tools":{}},"serverInfo":{}"#;
                self.down
                    .extend(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{{revision}}}}}"#).into_bytes());
                self.down.push(b'\n');
                self.in_batches = true;
                return;
            }
            "initialize" => concat!(
                r#""protocolVersion":"2025-11-25","serverInfo":{},"capabilities":"#,
                r#"{"tools":{},"tasks":{"cancel":{},"requests":{"tools":{"call":{}}}}}"#
            ),
            "server/discover" => concat!(
                r#""supportedVersions":["2026-07-28"],"capabilities":"#,
                r#"{"tools":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}"#
            ),
            "tools/call" if self.is_calm || self.random.below(2) == 0 => {
                let task = self.task(id);
                let result = match self.stateless {
                    true => format!(r#""resultType":"task",{task}"#),
                    false => format!(r#""task":{{{task}}}"#),
                };
                return self.say(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{{result}}}}}"#));
            }
            "tasks/get" => {
                let task = self.task(id);
                return self.say(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{{task}}}}}"#));
            }
            "tools/call" if self.random.below(2) == 0 => {
                r#""resultType":"input_required","requestState":"s""#
            }
            "subscriptions/listen" if self.random.below(2) == 0 => {
                return self.say(format!(
                    r#"{{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}}}}}"#
                ));
            }
            "tools/list" if self.random.below(2) == 0 => r#""tools":[],"nextCursor":"cccccccc""#,
            "tools/list" => [r#""tools":7"#, r#""tools":[]"#][self.random.below(2)],
            _ => r#""content":[]"#,
        };
        self.say(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{{result}}}}}"#));
    }

    fn host(&mut self) {
        let some = self.open.iter().nth(self.random.below(self.open.len() + 1)).copied();
        let started = match (self.random.below(11), some) {
            (9, _) => self.client.call_json("t", "{}", Options::DEFAULT.task(Millis(9)).with_progress()),
            (10, _) => self.client.resume_task("1", Options::DEFAULT),
            (7, _) => self.client.list_tools(Options::DEFAULT),
            (8, _) => {
                let text = "x".repeat(self.random.below(700));
                let _ = self.client.notify("x", |out| out.field_string("n", &text));
                return;
            }
            (0, _) => self.client.call_json("t", "{}", Options::DEFAULT),
            (1, _) => self.client.request("tools/call", Options::DEFAULT.timeout(Millis(3_000)), |_| {}),
            (2, _) => self.client.listen(Filter::NOTHING.tools(), Options::DEFAULT),
            (3, Some(ticket)) => {
                // If `cancel` fails, the unread event is the end of the request.
                if self.client.cancel(ticket, "why").is_ok() {
                    self.open.remove(&ticket);
                    self.ended.insert(ticket);
                } else {
                    assert!(self.fetches, "{ticket:?} is open");
                }
                return;
            }
            (4, _) => {
                if let Some(ticket) = self.require_input.pop() {
                    let _ = self.client.resume_call_json(ticket, "t", "{}", |_| {});
                }
                return;
            }
            (5, _) => {
                let Some(ticket) = self.deferred.first().copied() else { return };
                if let Ok(reply) = self.client.reply(ticket) {
                    self.deferred.remove(0);
                    if self.random.below(2) == 0 { reply.decline() } else { reply.roots(|_| {}) }
                }
                return;
            }
            _ => {
                let _ = self.client.roots_changed();
                return;
            }
        };
        if let Ok(ticket) = started {
            assert!(!self.ended.contains(&ticket) && self.open.insert(ticket), "a ticket is used once");
        }
    }

    fn reconnect(&mut self) {
        self.client.reconnect();
        self.down.clear();
        self.up.clear();
        self.read.clear();
        self.asks.clear();
        self.taken_back.clear();
        (self.connected, self.in_batches) = (false, false);
    }

    /// Ends all requests.
    fn finish(&mut self) {
        self.finishes = true;
        for _ in 0..3_000 {
            self.poll();
            self.server_reads();
            let (connecting, rest): (Vec<_>, Vec<_>) = std::mem::take(&mut self.read)
                .into_iter()
                .partition(|(_, method)| method == "initialize" || method == "server/discover");
            self.read = rest;
            for (id, method) in connecting {
                self.server_answers(id, &method);
            }
            self.now += 1_000;
        }
        for (id, answers) in &self.asks {
            assert!(*answers == 1 || self.taken_back.contains(id), "{id} was answered {answers} times");
        }
        assert!(self.deferred.is_empty(), "all deferred requests have expired");
        // Acknowledged subscriptions stay open.
        for ticket in std::mem::take(&mut self.open) {
            self.client.cancel(ticket, "").unwrap();
        }
        for _ in 0..100 {
            self.poll();
            self.server_reads();
        }
        assert_eq!(self.client.pending(), 0);
    }
}

#[test]
fn each_request_ends_once_under_random_traffic() {
    let mut tasks = 0;
    for seed in 0..300 {
        let stateless = seed % 2 == 0;
        let _context = FailureContext(format!("seed {seed}, stateless {stateless}"));
        let mut world = World::new(seed, stateless);
        for _ in 0..if world.is_calm { 8_000 } else { 1_500 } {
            world.step();
        }
        world.finish();
        tasks += world.tasks;
    }
    assert!(tasks > 80, "{tasks}");
}
