//! Checks every message of a client about its tasks against the official schema, with random texts.

use mcp_proto::client::{ClientConfig, Connect, Event, ServerRequest, TaskOptions, TaskTable};
use mcp_proto::{Action, Buffer, Client, ClientCapabilities, Millis, Ticket};
use mcp_proto_proptests::schema::Schemas;
use mcp_proto_proptests::transfer::transfer;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

static CONFIG: ClientConfig = ClientConfig::new("c", "1")
    .connect(Connect::Handshake)
    .capabilities(ClientCapabilities::SAMPLING.with(ClientCapabilities::ELICITATION_FORM))
    .client_tasks(|| TaskOptions::new([7; 16]));

const REVISION: &str = "2025-11-25";

struct Host<'s> {
    client: Client<'static>,
    schemas: &'s Schemas,
    output: Vec<u8>,
    /// The response of the application, and whether it is deferred.
    response: (Response, bool),
    ticket: Option<Ticket>,
    checked: usize,
}

#[derive(Debug, Clone)]
enum Response {
    Result(String),
    Decline,
    Error(String),
}

impl Response {
    fn send(&self, reply: ServerRequest<'_>, is_sampling: bool) {
        match self {
            Response::Result(text) if is_sampling => {
                reply.sampled(text, text, |content| content.text(&**text))
            }
            Response::Result(text) => reply.accept(|content| content.field_string(text, text)),
            Response::Decline => reply.decline(),
            Response::Error(text) => reply.error(-5, &**text),
        }
    }
}

impl Host<'_> {
    /// Sends a message, or nothing if `message` is `null`. Checks and returns the messages of the client. `method` is
    /// the method of the request that the client answers, or empty. This method selects the schema of the answer.
    fn send(&mut self, method: &str, message: &Value) -> Result<Vec<Value>, TestCaseError> {
        let line = match message {
            Value::Null => String::new(),
            message => format!("{message}\n"),
        };
        let mut input = line.as_bytes();
        let is_sampling = method == "sampling/createMessage";
        loop {
            match self.client.poll(Millis(0)) {
                Action::Io(io) => {
                    if !transfer(io, &mut input, &mut self.output) {
                        break;
                    }
                }
                Action::Event => {
                    let (response, is_deferred) = &self.response;
                    match self.client.event() {
                        Some(Event::ServerRequest(request)) if *is_deferred => {
                            self.ticket = request.defer(None).ok();
                        }
                        Some(Event::ServerRequest(request)) => match response {
                            Response::Result(text) if is_sampling => {
                                request.sampled(text, text, |content| content.text(&**text));
                            }
                            Response::Result(text) => request.accept(|out| out.field_string(text, text)),
                            Response::Decline => request.decline(),
                            Response::Error(text) => request.error(-5, &**text),
                        },
                        _ => {}
                    }
                }
                Action::Closed => break,
            }
        }
        let output = String::from_utf8(std::mem::take(&mut self.output)).unwrap();
        let mut messages = Vec::new();
        for line in output.lines() {
            let value: Value = serde_json::from_str(line).unwrap();
            // The schema of `tasks/result` names no members: the result is that of the request that became the task.
            let checked = match method == "tasks/result" && value.get("result").is_some() {
                true => {
                    let has_model = value["result"].get("model").is_some();
                    let definition = if has_model { "CreateMessageResult" } else { "ElicitResult" };
                    self.schemas.check(REVISION, definition, &value["result"])
                }
                false => self.schemas.check_client_line(REVISION, Some(method), line),
            };
            prop_assert!(checked.is_ok(), "{checked:?}");
            self.checked += 1;
            messages.push(value);
        }
        Ok(messages)
    }

    fn request(&mut self, id: u32, method: &str, params: &Value) -> Result<Vec<Value>, TestCaseError> {
        self.send(method, &json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
    }
}

fn check(schemas: &Schemas, is_sampling: bool, response: (Response, bool)) -> Result<(), TestCaseError> {
    let table = TaskTable::grown(2, 4096).wall_clock(Millis(1_785_231_000_000)).notify();
    let client = Client::new(&CONFIG, Buffer::grown(65536), Buffer::grown(65536)).unwrap();
    let client = client.in_flight_grown(4).client_tasks_owned(table).unwrap();
    let mut host = Host { client, schemas, output: Vec::new(), response, ticket: None, checked: 0 };
    let asked = host.send("", &Value::Null)?;
    let capabilities = json!({
        "protocolVersion": REVISION, "capabilities": {}, "serverInfo": {"name": "s", "version": "1"},
    });
    host.send("", &json!({"jsonrpc": "2.0", "id": asked[0]["id"], "result": capabilities}))?;
    let (method, params) = match is_sampling {
        true => ("sampling/createMessage", json!({"messages": [], "maxTokens": 1, "task": {"ttl": 1000}})),
        false => {
            let schema = json!({"type": "object", "properties": {}});
            ("elicitation/create", json!({"message": "m", "requestedSchema": schema, "task": {}}))
        }
    };
    let created = host.request(1, method, &params)?;
    let task = json!({"taskId": created[0]["result"]["task"]["taskId"]});
    if task["taskId"].is_null() {
        prop_assert!(matches!(host.response, (Response::Error(_) | Response::Decline, false)), "{created:?}");
        return Ok(());
    }
    host.request(2, "tasks/get", &task)?;
    let waiting = host.request(3, "tasks/result", &task)?;
    if let Some(ticket) = host.ticket.take() {
        prop_assert_eq!(waiting.len(), 0);
        host.response.0.clone().send(host.client.reply(ticket).unwrap(), is_sampling);
        let messages = host.send("tasks/result", &Value::Null)?;
        prop_assert_eq!(messages.len(), 2, "a notification and the result");
    }
    host.request(4, "tasks/list", &json!({}))?;
    host.response.1 = true;
    host.request(5, method, &params)?;
    let listed = host.request(6, "tasks/list", &json!({}))?;
    let last = json!({"taskId": listed[0]["result"]["tasks"][1]["taskId"]});
    let cancelled = host.request(7, "tasks/cancel", &last)?;
    prop_assert_eq!(&cancelled[0]["result"]["status"], "cancelled");
    prop_assert!(host.checked >= 10, "{} messages", host.checked);
    Ok(())
}

#[test]
fn messages_about_tasks_of_a_client_match_the_schema() {
    let Some(schemas) = Schemas::load_or_say() else { return };
    let text = ".{1,12}";
    let response =
        prop_oneof![text.prop_map(Response::Result), Just(Response::Decline), text.prop_map(Response::Error)];
    let mut runner = TestRunner::new(crate::config(128));
    let outcome = runner
        .run(&(any::<bool>(), response, any::<bool>()), |(is_sampling, response, is_deferred)| {
            check(&schemas, is_sampling, (response, is_deferred))
        });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}
