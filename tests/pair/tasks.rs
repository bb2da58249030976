//! Tasks between a client and a server, over random pipes, in both revisions with tasks.

use std::collections::VecDeque;

use crate::support::pair::{Pipe, transfer};
use crate::support::{FailureContext, Random};
use mcp_proto::client::{self, ClientConfig, Connect, Filter, Options, TaskLimits};
use mcp_proto::input::{Field, Form};
use mcp_proto::server::{
    self, Feature, ServerConfig, Subscriptions, TaskOptions, TaskSlot, TaskTable, TaskTicket, Tasks, Tool,
    Tools,
};
use mcp_proto::{
    Action, Client, ClientCapabilities, Millis, Outcome, Revision, Revisions, Server, TaskStatus,
    TaskSupport, Ticket,
};

static TOOLS: Tools =
    Tools::new(&[Tool::new("slow", "{}").task_support(TaskSupport::Optional), Tool::new("fast", "{}")]);
static TASKS: Tasks = Tasks::new();
static FEATURES: [&dyn Feature; 3] = [&TOOLS, &TASKS, &Subscriptions];
static FIELDS: [Field; 1] = [Field::text("name").required()];
static FORM: Form = Form::new("Who?", &FIELDS);

struct TaskPair {
    client: Client<'static>,
    server: Server<'static>,
    revision: Revision,
    now: u64,
    up: Pipe,
    down: Pipe,
    random: Random,
    most: usize,
    client_events: Vec<String>,
    server_events: Vec<String>,
    task: Option<TaskTicket>,
    /// A call that needs input.
    asked: Option<Ticket>,
    polls: usize,
}

fn leak<T: Clone>(value: T, length: usize) -> &'static mut [T] {
    Box::leak(vec![value; length].into_boxed_slice())
}

impl TaskPair {
    fn new(revision: Revision, seed: u64, notifies: bool) -> TaskPair {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let only = Revisions::only(revision);
        let connect = if revision == Revision::V2026_07_28 { Connect::Stateless } else { Connect::Handshake };
        let config = ClientConfig::new("c", "1").connect(connect).revisions(only).tasks(TaskLimits::DEFAULT);
        let config = Box::leak(Box::new(config.capabilities(ClientCapabilities::ELICITATION_FORM)));
        let client = Client::new(config, leak(0, 1600 + random.below(900)), leak(0, 900 + random.below(900)));
        let client = client.unwrap().in_flight(leak(client::Slot::EMPTY, 4), leak(0, 4 * 128)).seed(seed);
        let table = TaskTable::new(leak(TaskSlot::EMPTY, 2), leak(0, 2 * 400)).keep_on_reset();
        let table = Box::leak(Box::new(if notifies { table.notify_sessions() } else { table }));
        let config = Box::leak(Box::new(ServerConfig::new("s", "1").features(&FEATURES).revisions(only)));
        let server =
            Server::new(config, leak(0, 1100 + random.below(900)), leak(0, 1500 + random.below(500)));
        let server = server.unwrap().in_flight(leak(server::Slot::EMPTY, 4), leak(0, 4 * 100)).unwrap();
        let narrow = random.below(2);
        let capacity = 1 + random.below([600, 3][narrow]);
        let pipe = || Pipe { bytes: VecDeque::new(), capacity };
        TaskPair {
            client,
            server: server.tasks(table).subscription_buffer(leak(0, 200)).seed(seed),
            revision,
            now: 0,
            up: pipe(),
            down: pipe(),
            most: 1 + random.below([300, 2][narrow]),
            random,
            client_events: Vec::new(),
            server_events: Vec::new(),
            task: None,
            asked: None,
            polls: 0,
        }
    }

    /// Runs a script in these revisions, with many seeds. At the end, no request may be in flight.
    fn run(revisions: &[Revision], script: impl Fn(&mut TaskPair)) {
        for revision in revisions {
            for seed in 0..24 {
                let _context = FailureContext(format!("{revision}, seed {seed}"));
                let mut pair = TaskPair::new(*revision, seed, seed % 3 == 0);
                pair.settle();
                pair.expect(&[&format!("connected {revision}")]);
                script(&mut pair);
                pair.settle();
                pair.expect(&[]);
                assert_eq!(pair.client.pending(), 0);
                assert!(pair.polls < 100, "{} requests about tasks", pair.polls);
            }
        }
    }

    fn step(&mut self) -> bool {
        if self.random.below(2) == 0 { self.step_client() } else { self.step_server() }
    }

    /// Runs until 64 steps in a row move no byte and report no event.
    fn settle(&mut self) {
        let mut quiet = 0;
        while quiet < 64 {
            quiet = if self.step() { 0 } else { quiet + 1 };
        }
    }

    /// Advances the time in steps of 50 ms, and runs both machines after each step.
    fn wait(&mut self, millis: u64) {
        for _ in 0..millis / 50 {
            self.now += 50;
            self.settle();
        }
    }

    fn step_client(&mut self) -> bool {
        match self.client.poll(Millis(self.now)) {
            Action::Io(io) => transfer(io, &mut self.up, &mut self.down, &mut self.random, self.most),
            Action::Closed => false,
            Action::Event => {
                let text = match self.client.event().unwrap() {
                    client::Event::Connected(it) => format!("connected {}", it.revision()),
                    client::Event::Response(end) => {
                        match (end.tool_result().and_then(|it| it.text()), end.outcome()) {
                            (Some(text), _) => format!("result {text}"),
                            (_, Outcome::Error(error)) => format!("error {error}"),
                            (_, other) => format!("{other:?}"),
                        }
                    }
                    // Skip status events other than `working`, because their number depends on the time of the polls.
                    client::Event::Task { task, .. } if task.status() != Some(TaskStatus::Working) => {
                        return true;
                    }
                    client::Event::Task { task, .. } => {
                        format!("working {}", task.message().map_or(String::new(), |it| it.to_string()))
                    }
                    client::Event::InputRequired(it) => {
                        self.asked = Some(it.ticket());
                        let keys: Vec<_> = it.requests().map(|(key, _)| key.to_string()).collect();
                        format!("needs {}", keys.join(", "))
                    }
                    client::Event::ServerRequest(request) => {
                        request.accept(|content| content.field_string("name", "octocat"));
                        "needs input".to_owned()
                    }
                    client::Event::Progress(it) => format!("progress {}", it.progress()),
                    client::Event::Acknowledged(_) => "listens".to_owned(),
                    client::Event::Writable => return true,
                    other => format!("{other:?}"),
                };
                self.client_events.push(text);
                true
            }
        }
    }

    fn step_server(&mut self) -> bool {
        match self.server.poll(Millis(self.now)) {
            Action::Io(io) => transfer(io, &mut self.down, &mut self.up, &mut self.random, self.most),
            Action::Closed => false,
            Action::Event => {
                let text = match self.server.event().unwrap() {
                    server::Event::Call(call) if call.name() == "slow" => {
                        let options = TaskOptions::new([7; 16]).poll_interval(Millis(200));
                        self.task = Some(call.into_task(options).expect("the client supports tasks"));
                        return true;
                    }
                    server::Event::Call(call) => {
                        call.text("fast");
                        return true;
                    }
                    server::Event::TaskCancelled(_) => "cancelled".to_owned(),
                    server::Event::TaskInput(input) => {
                        let keys: Vec<_> = input.responses().map(|(key, _)| key.to_string()).collect();
                        format!("input {}", keys.join(", "))
                    }
                    server::Event::Connected(_) | server::Event::Ready | server::Event::Writable => {
                        return true;
                    }
                    other => format!("{other:?}"),
                };
                self.server_events.push(text);
                true
            }
        }
    }

    /// Expects these client events since the last call. Ignores unexpected `working` events without a message, because
    /// their number depends on the time of the polls. Ignores notifications about tasks, because these may follow a
    /// cancellation.
    #[track_caller]
    fn expect(&mut self, expected: &[&str]) -> &mut TaskPair {
        let is_expected = |event: &str| event != "working " || expected.contains(&event);
        self.client_events.retain(|event| {
            is_expected(event) && !event.starts_with("Notification { method: \"notifications/tasks/")
        });
        assert_eq!(std::mem::take(&mut self.client_events), expected);
        self
    }

    #[track_caller]
    fn expect_server(&mut self, expected: &[&str]) -> &mut TaskPair {
        assert_eq!(std::mem::take(&mut self.server_events), expected);
        self
    }

    /// Calls the slow tool, and waits for its task.
    fn start(&mut self) -> Ticket {
        let options = Options::DEFAULT.task(Millis::seconds(600)).with_progress();
        let ticket = self.client.call_json("slow", "{}", options).unwrap();
        self.settle();
        self.expect(&["working "]);
        ticket
    }

    fn update(&mut self, act: impl FnOnce(server::Task<'_>) -> Result<(), mcp_proto::SendError>) {
        act(self.server.task(self.task.unwrap()).unwrap()).unwrap();
        self.settle();
    }

    /// Drops the bytes in transit, and resets the server, which keeps its tasks.
    fn lose_connection(&mut self) {
        self.up.bytes.clear();
        self.down.bytes.clear();
        self.server.reset();
    }

    fn is_stateless(&self) -> bool {
        self.revision == Revision::V2026_07_28
    }
}

const BOTH: [Revision; 2] = [Revision::V2025_11_25, Revision::V2026_07_28];
const STATELESS: [Revision; 1] = [Revision::V2026_07_28];

#[test]
fn call_as_a_task_ends_with_its_result() {
    TaskPair::run(&BOTH, |pair| {
        pair.start();
        pair.wait(1000);
        pair.expect(&[]);
        pair.update(|mut task| task.set_message("half"));
        pair.wait(400);
        pair.expect(&["working half"]);
        pair.update(|task| task.complete(|result| result.text("42")));
        pair.wait(400);
        pair.expect(&["result 42"]);
        let options = Options::DEFAULT.task(Millis::seconds(600));
        if pair.is_stateless() {
            pair.client.call_json("fast", "{}", options).unwrap();
            pair.settle();
            pair.expect(&["result fast"]);
        }
    });
}

#[test]
fn failed_task_ends_with_its_error() {
    TaskPair::run(&BOTH, |pair| {
        pair.start();
        pair.update(|task| task.fail(-7, "no"));
        pair.wait(400);
        pair.expect(&["error no (-7)"]);
        pair.start();
        pair.update(|task| {
            task.complete(|result| {
                result.text("bad");
                result.failed();
            })
        });
        pair.wait(400);
        pair.expect(&["result bad"]);
    });
}

#[test]
fn progress_of_a_task_reaches_its_call() {
    TaskPair::run(&[Revision::V2025_11_25], |pair| {
        pair.start();
        pair.wait(300);
        pair.update(|mut task| task.progress(1u32, None, ""));
        pair.expect(&["progress 1"]);
        pair.update(|task| task.complete(|result| result.text("42")));
        pair.wait(400);
        pair.expect(&["result 42"]);
    });
}

#[test]
fn cancelled_call_cancels_its_task() {
    TaskPair::run(&BOTH, |pair| {
        let ticket = pair.start();
        pair.wait(300);
        pair.client.cancel(ticket, "why").unwrap();
        pair.settle();
        pair.expect(&[]).expect_server(&["cancelled"]);
    });
}

#[test]
fn input_during_a_task_reaches_the_tool() {
    TaskPair::run(&BOTH, |pair| {
        pair.start();
        for key in ["a", "b"] {
            pair.update(|mut task| task.require_input(key, &FORM));
            pair.wait(400);
            if pair.is_stateless() {
                pair.expect(&[&format!("needs {key}")]);
                let ticket = pair.asked.take().unwrap();
                let responded = pair.client.resume(
                    ticket,
                    |_| {},
                    |responses| {
                        responses.accept(key, |content| content.field_string("name", "octocat"));
                    },
                );
                responded.unwrap();
                pair.wait(400);
            } else {
                pair.expect(&["needs input"]);
            }
            pair.expect(&[]).expect_server(&[&format!("input {key}")]);
        }
        pair.update(|task| task.complete(|result| result.text("42")));
        pair.wait(400);
        pair.expect(&["result 42"]);
    });
}

#[test]
fn subscription_ends_the_call_without_a_poll() {
    TaskPair::run(&STATELESS, |pair| {
        let ticket = pair.start();
        let id = pair.client.task_id(ticket).unwrap().to_string();
        let listen = pair.client.listen(Filter::NOTHING.tasks(&[&id]), Options::DEFAULT).unwrap();
        pair.settle();
        pair.expect(&["listens"]);
        pair.update(|mut task| task.set_message("half"));
        pair.expect(&["working half"]);
        pair.update(|task| task.complete(|result| result.text("42")));
        pair.expect(&["result 42"]);
        pair.client.cancel(listen, "").unwrap();
        pair.settle();
        pair.server_events.clear();
    });
}

#[test]
fn task_survives_its_connections() {
    TaskPair::run(&STATELESS, |pair| {
        pair.start();
        for wait in [0, 100, 250] {
            pair.wait(wait);
            pair.lose_connection();
            pair.client.reconnect();
            pair.settle();
            pair.expect(&["connected 2026-07-28"]);
        }
        pair.update(|task| task.complete(|result| result.text("42")));
        pair.wait(400);
        pair.expect(&["result 42"]);
    });
}

#[test]
fn task_is_resumed_by_its_id_after_a_restart() {
    TaskPair::run(&STATELESS, |pair| {
        let ticket = pair.start();
        let id = pair.client.task_id(ticket).unwrap().to_string();
        pair.lose_connection();
        pair.client.reset();
        pair.settle();
        pair.expect(&["connected 2026-07-28"]);
        pair.client.resume_task(&id, Options::DEFAULT).unwrap();
        pair.settle();
        pair.expect(&["working "]);
        pair.update(|task| task.complete(|result| result.text("42")));
        pair.wait(400);
        pair.expect(&["result 42"]);
        pair.client.resume_task("unknown", Options::DEFAULT).unwrap();
        pair.settle();
        let events = std::mem::take(&mut pair.client_events);
        assert!(events.len() == 1 && events[0].ends_with("(-32602)"), "{events:?}");
    });
}
