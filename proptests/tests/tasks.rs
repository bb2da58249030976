//! Checks every message of a server about tasks against the official schemas, with random texts.

use mcp_proto::input::{Field, Form};
use mcp_proto::server::{
    Event, ServerConfig, Subscriptions, TaskOptions, TaskTable, TaskTicket, Tasks, Tool, Tools,
};
use mcp_proto::{Action, Buffer, Millis, Server, TaskSupport};
use mcp_proto_proptests::schema::{Schemas, TASKS};
use mcp_proto_proptests::transfer::transfer;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

static TOOLS: Tools = Tools::new(&[Tool::new("t", "{}").task_support(TaskSupport::Optional)]);
static FEATURE: Tasks = Tasks::new().list();
static CONFIG: ServerConfig = ServerConfig::new("s", "1").features(&[&TOOLS, &FEATURE, &Subscriptions]);

struct Host {
    server: Server<'static>,
    output: Vec<u8>,
    ticket: Option<TaskTicket>,
    text: String,
    next: u64,
}

impl Host {
    fn new(text: &str) -> Host {
        let table = TaskTable::grown(4, 4096).wall_clock(Millis(1_785_231_000_000)).notify_sessions();
        let server = Server::new(&CONFIG, Buffer::grown(65536), Buffer::grown(65536)).unwrap();
        let server = server.in_flight_grown(8).unwrap().subscription_buffer(Buffer::grown(1000));
        let server = server.tasks_owned(table);
        Host { server, output: Vec::new(), ticket: None, text: text.to_owned(), next: 1 }
    }

    /// Sends a message, and returns the messages of the server.
    fn send(&mut self, message: &Value) -> Vec<Value> {
        let line = format!("{message}\n");
        let mut input = line.as_bytes();
        loop {
            match self.server.poll(Millis(0)) {
                Action::Io(io) => {
                    if !transfer(io, &mut input, &mut self.output) {
                        break;
                    }
                }
                Action::Event => match self.server.event() {
                    Some(Event::Call(call)) => {
                        let options = TaskOptions::new([7; 16]);
                        self.ticket = call.into_task(options).ok();
                    }
                    Some(Event::TaskResult(result)) => result.text(&*self.text),
                    _ => {}
                },
                Action::Closed => break,
            }
        }
        let output = std::mem::take(&mut self.output);
        String::from_utf8(output).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn request(&mut self, method: &str, mut params: Value, is_stateless: bool) -> Vec<Value> {
        if is_stateless {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities":
                    {"elicitation": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}},
            });
        }
        let id = self.next;
        self.next += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
    }

    fn task(&mut self) -> mcp_proto::server::Task<'_> {
        let ticket = self.ticket.unwrap();
        self.server.task(ticket).unwrap()
    }

    /// Sets a message of the task, and requires input.
    fn work(&mut self) {
        let text = self.text.clone();
        self.task().set_message(&text).unwrap();
        let fields = [Field::text("name")];
        self.task().require_input(&text, &Form::new(&text, &fields)).unwrap();
    }

    /// Ends the task with a result, a failed result, an error, or a result that the application keeps.
    fn end(&mut self, how: u8) {
        let text = self.text.clone();
        match how {
            0 => self.task().complete(|result| result.text(&*text)).unwrap(),
            1 => self
                .task()
                .complete(|result| {
                    result.text(&*text);
                    result.failed();
                })
                .unwrap(),
            2 => self.task().fail(7, &*text).unwrap(),
            _ => self.task().finish(mcp_proto::server::TaskOutcome::Completed),
        }
    }
}

/// Checks the results, and the notifications, of the extension.
fn check_extension(schemas: &Schemas, definition: &str, messages: &[Value]) -> Result<(), TestCaseError> {
    for message in messages {
        let checked = match message.get("method") {
            Some(method) if method == "notifications/tasks" => {
                schemas.check(TASKS, "TaskStatusNotification", message)
            }
            Some(_) => Ok(()),
            None => schemas.check(TASKS, definition, &message["result"]),
        };
        prop_assert!(checked.is_ok(), "{checked:?} {message}");
    }
    Ok(())
}

fn extension(schemas: &Schemas, text: &str, how: u8) -> Result<(), TestCaseError> {
    let mut host = Host::new(text);
    let created = host.request("tools/call", json!({"name": "t"}), true);
    check_extension(schemas, "CreateTaskResult", &created)?;
    let task = json!({"taskId": created[0]["result"]["taskId"]});
    host.request("subscriptions/listen", json!({"notifications": {"taskIds": [task["taskId"]]}}), true);
    check_extension(schemas, "GetTaskResult", &host.request("tasks/get", task.clone(), true))?;
    host.work();
    let messages = host.request("tasks/get", task.clone(), true);
    prop_assert_eq!(messages.len(), 2);
    check_extension(schemas, "GetTaskResult", &messages)?;
    prop_assert_eq!(&messages[1]["result"]["inputRequests"][text]["params"]["message"], text);
    let update = json!({"taskId": task["taskId"], "inputResponses": {text: {"action": "decline"}}});
    check_extension(schemas, "UpdateTaskResult", &host.request("tasks/update", update, true))?;
    host.end(how);
    let messages = host.request("tasks/get", task.clone(), true);
    check_extension(schemas, "GetTaskResult", &messages)?;
    check_extension(schemas, "CancelTaskResult", &host.request("tasks/cancel", task, true))
}

/// Checks the messages of `2025-11-25`. `method` is the method of the request.
fn check_core(schemas: &Schemas, method: &str, messages: &[Value]) -> Result<(), TestCaseError> {
    for message in messages {
        // The schema of `tasks/result` names no members: the result is that of the request that became the task.
        let is_payload = method == "tasks/result" && message.get("result").is_some();
        let checked = match is_payload {
            true => schemas.check("2025-11-25", "CallToolResult", &message["result"]),
            false => schemas.check_server_line("2025-11-25", Some(method), &message.to_string()),
        };
        prop_assert!(checked.is_ok(), "{checked:?} {message}");
    }
    Ok(())
}

fn core(schemas: &Schemas, text: &str, how: u8) -> Result<(), TestCaseError> {
    let mut host = Host::new(text);
    let client = json!({"name": "c", "version": "1"});
    let params =
        json!({"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}}, "clientInfo": client});
    check_core(schemas, "initialize", &host.request("initialize", params, false))?;
    host.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    check_core(schemas, "tools/list", &host.request("tools/list", json!({}), false))?;
    let call = json!({"name": "t", "task": {}, "_meta": {"progressToken": text}});
    let created = host.request("tools/call", call, false);
    check_core(schemas, "tools/call", &created)?;
    let task = json!({"taskId": created[0]["result"]["task"]["taskId"]});
    let _ = host.task().progress(1, Some(2.into()), text);
    host.work();
    check_core(schemas, "tasks/get", &host.request("tasks/get", task.clone(), false))?;
    check_core(schemas, "tasks/list", &host.request("tasks/list", json!({}), false))?;
    host.request("tasks/result", task.clone(), false);
    host.end(how);
    check_core(schemas, "tasks/result", &host.request("tasks/result", task.clone(), false))?;
    host.request("tools/call", json!({"name": "t", "task": {}}), false);
    let listed = host.request("tasks/list", json!({}), false);
    let last = json!({"taskId": listed[0]["result"]["tasks"][1]["taskId"]});
    check_core(schemas, "tasks/cancel", &host.request("tasks/cancel", last, false))
}

#[test]
fn messages_about_tasks_match_the_schemas() {
    let Some(schemas) = Schemas::load_or_say() else { return };
    let mut runner = TestRunner::new(Config { cases: 128, failure_persistence: None, ..Config::default() });
    let outcome = runner.run(&(".{1,12}", 0u8..4), |(text, how)| {
        extension(&schemas, &text, how)?;
        core(&schemas, &text, how)
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}
