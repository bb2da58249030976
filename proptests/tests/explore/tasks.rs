//! The table of tasks: a server with two slots for tasks, and a client that sends its messages in any order.

use std::collections::BTreeSet;

use mcp_proto::input::{Form, Input};
use mcp_proto::server::{
    Event, Feature, Limits, ServerConfig, TaskOptions, TaskOutcome, TaskTable, TaskTicket, Tasks, Tool, Tools,
};
use mcp_proto::{Buffer, Millis, SendError, Server, TaskSupport, Ticket};
use mcp_proto_proptests::explore::{Check, World, explore};
use serde_json::{Value, json};

use super::assert_counted;
use super::lines::{Lines, Wants};

const TTL: u64 = 100;
const AFTER: u64 = 10;
const DEFERRED: u64 = 40;

static TOOLS: Tools = Tools::new(&[
    Tool::new("task", "{}").task_support(TaskSupport::Optional),
    Tool::new("later", "{}").task_support(TaskSupport::Optional),
]);
static TASKS: Tasks = Tasks::new().automatic(Millis(AFTER), || TaskOptions::new([1; 16]).ttl(Millis(TTL)));
static FEATURES: [&dyn Feature; 2] = [&TOOLS, &TASKS];
static CONFIG: ServerConfig = ServerConfig::new("s", "1")
    .features(&FEATURES)
    .limits(Limits::DEFAULT.with_deferred_timeout(Millis(DEFERRED)));
static FORM: Form = Form::new("Who?", &[]);

/// The state of a call or of its task, as the model expects it.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Expected {
    /// A deferred call.
    Call,
    Working,
    InputRequired,
    Ended(&'static str),
}

#[derive(Debug)]
struct Known {
    request: u64,
    task: Option<TaskTicket>,
    call: Option<Ticket>,
    id: Option<String>,
    expected: Expected,
    due: u64,
}

struct Scene {
    server: Server<'static>,
    lines: Lines,
    known: Vec<Known>,
    ids: BTreeSet<String>,
    gone: Vec<TaskTicket>,
    next: u64,
    /// The id of the unanswered request for the status of a task, and the status that the model expects.
    asked: Option<(u64, &'static str)>,
}

impl Scene {
    fn new() -> Scene {
        let server = Server::new(&CONFIG, Buffer::grown(900), Buffer::grown(1500)).unwrap();
        let table = TaskTable::grown(2, 600).keep_on_reset();
        let server = server.in_flight_grown(2).unwrap().tasks_owned(table);
        let (known, ids, gone) = (Vec::new(), BTreeSet::new(), Vec::new());
        Scene { server, lines: Lines::default(), known, ids, gone, next: 1, asked: None }
    }

    /// Sends a request of a client that declares tasks. Returns the id of the request.
    fn request(&mut self, method: &str, mut params: Value) -> u64 {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities":
                {"elicitation": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}},
        });
        let id = self.next;
        self.next += 1;
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.lines.send(&message.to_string());
        id
    }

    fn event(&mut self) {
        let Scene { server, lines, known, gone, next, .. } = self;
        let (request, now) = (*next - 1, lines.now);
        let text = match server.event().expect("poll returned Event, but event() returned None") {
            Event::Call(call) if call.name() == "task" => {
                let mut options = TaskOptions::new([0; 16]).ttl(Millis(TTL));
                options = options.with_random([request as u8; 16]);
                match call.into_task(options) {
                    Ok(ticket) => {
                        let (task, expected, due) = (Some(ticket), Expected::Working, now + TTL);
                        known.push(Known { request, task, call: None, id: None, expected, due });
                        "a task"
                    }
                    Err(call) => {
                        call.text("at once");
                        "no slot for a task"
                    }
                }
            }
            Event::Call(call) => match call.defer(None) {
                Ok(ticket) => {
                    let (call, expected, due) = (Some(ticket), Expected::Call, now + DEFERRED);
                    known.push(Known { request, task: None, call, id: None, expected, due });
                    "deferred"
                }
                Err(call) => {
                    call.busy();
                    "no slot for a call"
                }
            },
            Event::TaskResult(result) => {
                let ended = |it: &Known| {
                    it.task == Some(result.task()) && it.expected == Expected::Ended("completed")
                };
                assert!(known.iter().any(ended), "no such result");
                result.text("kept");
                "result"
            }
            Event::TaskInput(input) => {
                let it =
                    known.iter_mut().find(|it| it.task == Some(input.task())).expect("the task is known");
                assert_eq!(it.expected, Expected::InputRequired);
                it.expected = Expected::Working;
                "input"
            }
            Event::TaskCancelled(ticket) => {
                let it = known.iter_mut().find(|it| it.task == Some(ticket)).expect("the task is known");
                assert!(!matches!(it.expected, Expected::Ended(_)), "the task has ended before");
                it.expected = Expected::Ended("cancelled");
                "cancelled"
            }
            Event::Cancelled { ticket, .. } => {
                let it = known.iter_mut().find(|it| it.call == Some(ticket)).expect("the call is known");
                assert!(!matches!(it.expected, Expected::Ended(_)), "the task has ended before");
                it.expected = Expected::Ended("cancelled");
                "cancelled"
            }
            Event::TaskExpired(ticket) => {
                let at = known.iter().position(|it| it.task == Some(ticket)).expect("the task is known");
                assert!(known.remove(at).due <= now, "the task expires too early");
                gone.push(ticket);
                "expired"
            }
            Event::Expired(ticket) => {
                let at = known.iter().position(|it| it.call == Some(ticket)).expect("the call is known");
                let it = known.remove(at);
                assert!(it.due <= now, "the call expires too early");
                assert!(!matches!(it.expected, Expected::Ended(_)), "the task has ended before");
                "expired"
            }
            Event::Writable => "writable",
            other => panic!("{other:?}"),
        };
        self.lines.note('!', text);
    }

    fn run_until_idle(&mut self) {
        loop {
            let (wants, written) = self.lines.run_until_idle(&mut self.server);
            written.iter().for_each(|message| self.read(message));
            match wants {
                Wants::Event => self.event(),
                Wants::Idle => break,
            }
        }
        // If the server has turned a deferred call into a task, the ended task expires without an event.
        let (now, is_call) = (self.lines.now, |it: &Known| it.call.is_some());
        self.known.retain(|it| !(is_call(it) && matches!(it.expected, Expected::Ended(_)) && it.due <= now));
        self.check();
    }

    /// Records a response that the client reads.
    fn read(&mut self, message: &Value) {
        let result = &message["result"];
        if let Some((_, status)) = self.asked.take_if(|(id, _)| message["id"] == *id) {
            assert_eq!(result["status"], status, "{message}");
        }
        if result["resultType"] == "task" {
            let id = result["taskId"].as_str().expect("the task has an id").to_owned();
            assert!(self.ids.insert(id.clone()), "the id of {message} is not unique");
            let it = self.known.iter_mut().find(|it| message["id"] == it.request).expect("a known call");
            it.id = Some(id);
            if it.expected == Expected::Call {
                (it.expected, it.due) = (Expected::Working, self.lines.now + TTL);
            }
        }
    }

    /// Checks the invariants of every state.
    fn check(&mut self) {
        for ticket in &self.gone {
            assert_eq!(self.server.task(*ticket).map(drop), Err(SendError::Gone), "{ticket:?} is removed");
        }
        for it in &self.known {
            let is_open = !matches!(it.expected, Expected::Ended(_));
            if let Some(task) = it.task {
                assert_eq!(self.server.task(task).is_ok(), is_open, "{it:?}");
            }
            if let Some(call) = it.call {
                let reply = self.server.reply(call).map(drop);
                assert_eq!(reply == Err(SendError::Gone), !is_open, "{it:?}");
            }
        }
        let calls = self.known.iter().filter(|it| it.expected == Expected::Call).count();
        assert_eq!(self.server.deferred(), calls);
    }

    /// Returns the index of the first task of the application that has not ended, if any.
    fn open(&self) -> Option<usize> {
        let is_open = |it: &Known| matches!(it.expected, Expected::Working | Expected::InputRequired);
        self.known.iter().position(|it| it.task.is_some() && is_open(it))
    }

    /// Sends a request about the last task that the client knows. Returns the id of the request, or `None` if the
    /// client knows no task.
    fn about_task(&mut self, method: &str, mut params: Value) -> Option<u64> {
        let id = self.known.iter().rev().find_map(|it| it.id.clone())?;
        params["taskId"] = id.into();
        Some(self.request(method, params))
    }
}

impl World for Scene {
    fn step(&mut self, step: &'static str) -> bool {
        let open = self.open();
        let call =
            self.known.iter().position(|it| it.call.is_some() && !matches!(it.expected, Expected::Ended(_)));
        self.lines.note('*', step);
        match step {
            "> task" => _ = self.request("tools/call", json!({"name": "task"})),
            "> later" => _ = self.request("tools/call", json!({"name": "later"})),
            "> get" => {
                let Some(it) = self.known.iter().rev().find(|it| it.id.is_some()) else { return false };
                let status = match it.expected {
                    Expected::Call => unreachable!("a call has no id"),
                    Expected::Working => "working",
                    Expected::InputRequired => "input_required",
                    Expected::Ended(status) => status,
                };
                let id = self.about_task("tasks/get", json!({})).expect("a task is known");
                self.asked = Some((id, status));
            }
            "> cancel" => {
                if self.about_task("tasks/cancel", json!({})).is_none() {
                    return false;
                }
            }
            "> update" => {
                let responses = json!({"inputResponses": {"k": {"action": "decline"}, "other": {}}});
                if self.about_task("tasks/update", responses).is_none() {
                    return false;
                }
            }
            "ask" => {
                let Some(it) = open.map(|at| &mut self.known[at]) else { return false };
                let mut task = self.server.task(it.task.unwrap()).unwrap();
                let asked = task.require_input("k", &FORM as &dyn Input);
                // While the input request is open, its key is in use.
                assert_eq!(asked.is_ok(), it.expected == Expected::Working, "{asked:?}");
                it.expected = Expected::InputRequired;
            }
            "complete" | "fail" | "keep" => {
                let Some(it) = open.map(|at| &mut self.known[at]) else { return false };
                let task = self.server.task(it.task.unwrap()).unwrap();
                match step {
                    "complete" => task.complete(|result| result.text("done")).unwrap(),
                    "fail" => task.fail(7, "failed").unwrap(),
                    _ => task.finish(TaskOutcome::Completed),
                }
                it.expected = Expected::Ended(if step == "fail" { "failed" } else { "completed" });
            }
            "remove" => {
                let Some(at) = self.known.iter().position(|it| it.task.is_some()) else { return false };
                let ticket = self.known.remove(at).task.unwrap();
                self.server.remove_task(ticket);
                self.gone.push(ticket);
            }
            "reply" => {
                let Some(at) = call else { return false };
                let it = &mut self.known[at];
                self.server.reply(it.call.unwrap()).unwrap().text("done");
                match it.expected {
                    Expected::Call => _ = self.known.remove(at),
                    _ => it.expected = Expected::Ended("completed"),
                }
            }
            "time" => {
                let Some(deadline) = self.lines.deadline else { return false };
                self.lines.now = deadline;
            }
            "reset" => {
                self.server.reset();
                self.lines.reconnect();
                self.known.retain(|it| it.expected != Expected::Call);
            }
            other => panic!("{other}"),
        }
        self.run_until_idle();
        true
    }

    fn key(&self) -> String {
        // Times are rounded, because exact times would make a separate state of each order of calls.
        let known = self.known.iter().map(|it| {
            let left = (it.due - self.lines.now).div_ceil(60);
            format!("{} {} {:?} {left}", it.task.is_some(), it.id.is_some(), it.expected)
        });
        known.collect::<Vec<_>>().join(", ")
    }

    fn dialogue(&self) -> &str {
        &self.lines.dialogue
    }
}

/// Checks that all tasks expire, and that new calls then become tasks.
fn table_is_empty_in_the_end(scene: &mut Scene) {
    for _ in 0..8 {
        if !scene.step("time") {
            break;
        }
    }
    assert!(scene.known.is_empty(), "{:?}", scene.known);
    for step in ["> task", "> later", "time", "complete", "> get", "reply", "> get"] {
        assert!(scene.step(step), "{step}");
    }
    assert_eq!(scene.known.len(), 2);
    assert!(scene.known.iter().all(|it| it.expected == Expected::Ended("completed")));
}

const CHECKS: [Check<Scene>; 1] = [table_is_empty_in_the_end];

#[test]
fn task_has_one_end_in_every_state() {
    let steps = [
        "> task", "> get", "> cancel", "> update", "ask", "complete", "fail", "keep", "remove", "time",
        "reset",
    ];
    let explored = explore(Scene::new, &steps, &CHECKS, 1_000);
    assert_counted("table of tasks", &explored, 2, steps.len(), [25, 4]);
}

#[test]
fn automatic_task_has_one_end_in_every_state() {
    let steps = ["> later", "> get", "> cancel", "reply", "time", "reset"];
    let explored = explore(Scene::new, &steps, &CHECKS, 1_000);
    assert_counted("table of tasks", &explored, 2, steps.len(), [78, 12]);
}
