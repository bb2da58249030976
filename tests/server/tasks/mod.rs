//! Tasks of a server. Ids such as `TC-1` and `TX-1` in these tests refer to `docs/task-rules.md`.

mod access;
mod automatic;
mod core;
mod extension;
mod input_requests;
mod lifetime;
mod released_slots;
mod rules;
mod subscriptions;

use std::collections::BTreeMap;

use crate::support::transport::exchange;
use mcp_proto::input::{Field, Form};
use mcp_proto::server::{
    Call, Event, Extensions, ServerConfig, Slot, Subscriptions, TaskOptions, TaskSlot, TaskTable, TaskTicket,
    Tasks, Tool, Tools,
};
use mcp_proto::{Action, Millis, Server, TaskSupport, Ticket};
use serde_json::{Value, json};

static TOOLS: Tools = Tools::new(&[
    Tool::new("plain", "{}"),
    Tool::new("optional", "{}").task_support(TaskSupport::Optional),
    Tool::new("required", "{}").task_support(TaskSupport::Required),
]);
static TASKS: Tasks = Tasks::new().list();
static OTHERS: Extensions = Extensions::new(&[("com.example/other", r#"{"a":1}"#)]);
static CONFIG: ServerConfig =
    ServerConfig::new("s", "1").features(&[&TOOLS, &OTHERS, &TASKS, &Subscriptions]).anonymous_results();

static FIELDS: [Field; 1] = [Field::text("name").required()];
static FORM: Form = Form::new("Who are you?", &FIELDS);

/// The Unix time at time 0 of the tests: 2026-07-28T09:30:00Z.
const START: Millis = Millis(1_785_231_000_000);

fn leak<T>(value: T) -> &'static mut T {
    Box::leak(Box::new(value))
}

/// Returns a table of three tasks with 600 bytes each.
fn table() -> TaskTable<'static> {
    TaskTable::new(leak([TaskSlot::EMPTY; 3]), leak([0; 1800])).wall_clock(START)
}

/// A server, its application, and its client.
struct Host {
    server: Server<'static>,
    now: Millis,
    output: Vec<u8>,
    /// The tasks, in the order of their creation.
    tickets: Vec<TaskTicket>,
    /// The deferred calls, if the application defers calls.
    deferred: Option<Vec<Ticket>>,
    events: Vec<String>,
    options: TaskOptions,
    /// The last byte of the random bits of the next task.
    next_random: u8,
    next_id: u64,
}

impl Host {
    fn new(info: &'static ServerConfig<'static>, table: Option<TaskTable<'static>>) -> Host {
        let (rx, tx) = (leak([0; 4096]), leak([0; 4096]));
        let server = Server::new(info, rx, tx).unwrap();
        let server = server.in_flight(leak([Slot::EMPTY; 6]), leak([0; 6 * 40])).unwrap();
        let server = server.subscription_buffer(leak([0; 512]));
        let server = match table {
            Some(table) => server.tasks(leak(table)),
            None => server,
        };
        Host {
            server,
            now: Millis(0),
            output: Vec::new(),
            tickets: Vec::new(),
            deferred: None,
            events: Vec::new(),
            options: TaskOptions::new([0; 16]),
            next_random: 0,
            next_id: 1,
        }
    }

    /// Creates a host whose client uses `2026-07-28`.
    fn extension() -> Host {
        Host::new(&CONFIG, Some(table()))
    }

    /// Creates a host whose client has completed the handshake of `2025-11-25`.
    fn core() -> Host {
        Host::new(&CONFIG, Some(table())).session("2025-11-25")
    }

    fn session(mut self, revision: &str) -> Host {
        let client = json!({"name": "c", "version": "1"});
        let params =
            json!({"protocolVersion": revision, "capabilities": {"elicitation": {}}, "clientInfo": client});
        self.send(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}));
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        self.take();
        self.events.clear();
        self
    }

    /// Sends a message, and runs the server.
    fn send(&mut self, message: &Value) {
        let line = format!("{message}\n");
        let mut input = line.as_bytes();
        self.run(&mut input);
        assert!(input.is_empty());
    }

    fn run(&mut self, input: &mut &[u8]) {
        loop {
            match self.server.poll(self.now) {
                Action::Io(io) => {
                    if !exchange(io, input, &mut self.output) {
                        return;
                    }
                }
                Action::Event => {
                    let next = self.options;
                    match (self.server.event().unwrap(), &mut self.deferred) {
                        (Event::Call(call), Some(deferred)) => deferred.push(call.defer(None).unwrap()),
                        (event, _) => {
                            handle(event, next, self.next_random, &mut self.tickets, &mut self.events);
                        }
                    }
                    self.next_random += 1;
                }
                Action::Closed => return,
            }
        }
    }

    /// Runs the server at a later time.
    fn at(&mut self, now: u64) {
        self.now = Millis(now);
        self.run(&mut &[][..]);
    }

    /// Runs the server. Removes its messages from the output, and returns them.
    fn take(&mut self) -> Vec<Value> {
        self.run(&mut &[][..]);
        let text = String::from_utf8(std::mem::take(&mut self.output)).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Runs the server. Removes the recorded events, and returns them.
    fn take_events(&mut self) -> Vec<String> {
        self.run(&mut &[][..]);
        std::mem::take(&mut self.events)
    }

    /// Sends a request with the next id, and returns the id.
    fn start(&mut self, method: &str, params: Value) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// Sends a request. Checks that the server sends only the response, and returns the response.
    #[track_caller]
    fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.start(method, params);
        let mut messages = self.take();
        assert_eq!((messages.len(), &messages[0]["id"]), (1, &json!(id)), "{messages:?}");
        messages.remove(0)
    }

    /// Sends a request of `2026-07-28` from a client that declares tasks and forms. Returns the response.
    #[track_caller]
    fn modern(&mut self, method: &str, params: Value) -> Value {
        self.request(method, with_meta(params, DECLARED))
    }

    /// Creates a task of `2026-07-28`, and returns its id.
    #[track_caller]
    fn create(&mut self) -> String {
        let created = self.modern("tools/call", json!({"name": "optional"}));
        text(&created["result"]["taskId"])
    }

    /// Creates a task of `2025-11-25`, and returns its id.
    #[track_caller]
    fn create_core(&mut self) -> String {
        let created = self.request("tools/call", json!({"name": "optional", "task": {}}));
        text(&created["result"]["task"]["taskId"])
    }

    /// Returns the task of `2026-07-28` with this id.
    #[track_caller]
    fn get(&mut self, id: &str) -> Value {
        self.modern("tasks/get", json!({"taskId": id}))["result"].clone()
    }

    /// Returns the task of `2025-11-25` with this id.
    #[track_caller]
    fn get_core(&mut self, id: &str) -> Value {
        self.request("tasks/get", json!({"taskId": id}))["result"].clone()
    }

    /// Returns the ticket of the last task.
    fn last(&self) -> TaskTicket {
        *self.tickets.last().unwrap()
    }

    fn complete(&mut self, text: &str) {
        let ticket = self.last();
        self.server.task(ticket).unwrap().complete(|result| result.text(text)).unwrap();
    }
}

/// Handles an event as the application. Makes a task of each call for which this is possible. The response to
/// `Event::TaskResult` has the text "kept", unless `events` contains a word for another response. If `events` contains
/// "progress", sends the longest possible progress before the task.
fn handle(
    event: Event<'_>,
    options: TaskOptions,
    random: u8,
    tickets: &mut Vec<TaskTicket>,
    events: &mut Vec<String>,
) {
    let number = |ticket: TaskTicket, tickets: &[TaskTicket]| {
        tickets.iter().position(|known| *known == ticket).map_or("?".to_owned(), |at| at.to_string())
    };
    match event {
        Event::Call(mut call) => {
            if events.iter().any(|event| event == "progress") {
                let message = "x".repeat(4096);
                let mut lengths = (0..message.len()).rev();
                assert!(lengths.any(|length| call.progress(1, None, &message[..length]).is_ok()));
            }
            match into_task(call, options, random) {
                Ok(ticket) => tickets.push(ticket),
                Err(call) => call.text("plain"),
            }
        }
        Event::TaskResult(result) => {
            events.push(format!("result {}", number(result.task(), tickets)));
            let words = ["drop", "error", "error with data", "failure", "structured"];
            match words.into_iter().find(|word| events.iter().any(|event| event == word)) {
                Some("drop") => drop(result),
                Some("error") => result.error(7, "kept"),
                Some("error with data") => result.error_with(7, "kept", |out| out.integer(1)),
                Some("failure") => result.fail("kept"),
                Some("structured") => result.structured(&BTreeMap::from([("n", 1)])),
                _ => result.text("kept"),
            }
        }
        Event::TaskInput(input) => {
            for (key, outcome) in input.responses() {
                let found = input.response(&key.to_string());
                assert_eq!(format!("{found:?}"), format!("{:?}", Some(outcome)));
            }
            assert!(input.response("no key").is_none());
            let responses: Vec<_> =
                input.responses().map(|(key, outcome)| format!("{}={outcome:?}", key.raw())).collect();
            events.push(format!("input {} {}", number(input.task(), tickets), responses.join(", ")));
        }
        Event::TaskCancelled(ticket) => events.push(format!("cancelled {}", number(ticket, tickets))),
        Event::TaskExpired(ticket) => events.push(format!("expired {}", number(ticket, tickets))),
        Event::ProtocolError(error) => events.push(format!("{error:?}")),
        Event::Cancelled { .. } => events.push("request cancelled".into()),
        Event::Expired(_) => events.push("request expired".into()),
        _ => {}
    }
}

#[allow(clippy::result_large_err, reason = "the call is returned once per test")]
fn into_task<'a>(call: Call<'a>, options: TaskOptions, random: u8) -> Result<TaskTicket, Call<'a>> {
    assert_eq!(call.request_state(), None);
    // The random bits of two tasks differ only in the last byte.
    let mut bytes = [0xAB; 16];
    bytes[15] = random;
    call.into_task(options.with_random(bytes))
}

const DECLARED: &str = r#"{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}"#;

/// Adds the `_meta` of `2026-07-28` with these capabilities to the params.
fn with_meta(mut params: Value, capabilities: &str) -> Value {
    let capabilities: Value = serde_json::from_str(capabilities).unwrap();
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    });
    params
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no string: {value}")).to_owned()
}

/// Returns the code of an error response.
#[track_caller]
fn code(response: &Value) -> i64 {
    response["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error: {response}"))
}
