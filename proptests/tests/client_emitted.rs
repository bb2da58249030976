//! Client declarations, replies and subscriptions of every revision against the official schemas.

use std::collections::HashMap;

use mcp_proto::client::{ClientConfig, Connect, Event, Filter, InputRequest, Options, ServerRequest};
use mcp_proto::{
    Action, Buffer, Client, ClientCapabilities as C, Decimal, Millis, Revision, Revisions, Ticket,
};
use mcp_proto_proptests::schema::Schemas;
use mcp_proto_proptests::transfer::transfer;
use mcp_proto_proptests::written::Written;
use serde_json::{Value, json};

const EVERYTHING: C = C::ROOTS_LIST_CHANGED
    .with(C::SAMPLING_TOOLS)
    .with(C::SAMPLING_CONTEXT)
    .with(C::ELICITATION_FORM)
    .with(C::ELICITATION_URL);

struct Host {
    client: Client<'static>,
    written: Written,
    checked: usize,
    revision: Revision,
    /// Selects the variant of the next replies: see `answer`.
    turn: usize,
    deferred: Vec<Ticket>,
    /// The methods of the server requests by id.
    asked: HashMap<String, String>,
    heard: Vec<String>,
}

impl Host {
    fn new(revision: Revision) -> Host {
        let connect = if revision == Revision::V2026_07_28 { Connect::Stateless } else { Connect::Handshake };
        let info = ClientConfig::new("client", "1")
            .title("Client")
            .description("for tests")
            .website("https://example.com/")
            .connect(connect)
            .revisions(Revisions::only(revision))
            .capabilities(EVERYTHING)
            .extensions(&[("com.example/x", r#"{"a":1}"#)])
            .experimental(&[("y", "{}")]);
        let written = Written::default();
        let client = Client::new(Box::leak(Box::new(info)), Buffer::grown(100_000), Buffer::grown(2000))
            .unwrap()
            .in_flight_grown(20)
            .observe(Box::leak(Box::new(written.clone())));
        let (deferred, asked, heard) = (Vec::new(), HashMap::new(), Vec::new());
        let mut host = Host { client, written, checked: 0, revision, turn: 0, deferred, asked, heard };
        host.run("");
        host
    }

    /// Sends a message of the server to the client.
    fn server(&mut self, message: &Value) {
        if let (Some(id), Some(method)) = (message.get("id"), message["method"].as_str()) {
            self.asked.insert(id.to_string(), method.to_owned());
        }
        self.run(&format!("{message}\n"));
    }

    fn run(&mut self, input: &str) {
        let mut input = input.as_bytes();
        loop {
            match self.client.poll(Millis(0)) {
                Action::Io(io) => {
                    // The observer records the output.
                    if !transfer(io, &mut input, &mut Vec::new()) {
                        return;
                    }
                }
                Action::Event => {
                    let event = self.client.event().unwrap();
                    self.heard.push(format!("{event:?}"));
                    if let Event::ServerRequest(asked) = event {
                        self.deferred.extend(answer(asked, self.turn));
                    }
                }
                Action::Closed => return,
            }
        }
    }

    /// Returns the id of the client's last request with this method.
    fn last(&self, method: &str) -> Value {
        let lines = self.written.0.lock().unwrap();
        let lines = lines.iter().rev().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.filter(|value| value["method"] == method).map(|value| value["id"].clone()).next().unwrap()
    }

    fn check(&mut self, schemas: &Schemas) {
        let lines = self.written.0.lock().unwrap().clone();
        for line in &lines[self.checked..] {
            let value: Value = serde_json::from_str(line).unwrap();
            let answers =
                value.get("method").is_none().then(|| self.asked.get(&value["id"].to_string())).flatten();
            schemas
                .check_client_line(self.revision.as_str(), answers.map(String::as_str), line)
                .unwrap_or_else(|error| panic!("{error}"));
            self.check_inputs(schemas, &value);
        }
        self.checked = lines.len();
    }

    /// Checks each input response against the definition for its request. `check_client_line` alone would accept a
    /// response that matches the definition of another request.
    fn check_inputs(&self, schemas: &Schemas, message: &Value) {
        let Some(inputs) = message.pointer("/params/inputResponses").and_then(Value::as_object) else {
            return;
        };
        for (key, input) in inputs {
            let definition = match key.as_str() {
                "roots" => "ListRootsResult",
                "sample" | "sample 2" => "CreateMessageResult",
                _ => "ElicitResult",
            };
            schemas
                .check(self.revision.as_str(), definition, input)
                .unwrap_or_else(|error| panic!("{error}"));
        }
    }
}

fn answer(mut asked: ServerRequest<'_>, turn: usize) -> Option<Ticket> {
    let _ = asked.progress(Decimal::new(5, -1), Some(Decimal::new(2, 0)), "half");
    match (asked.input(), turn) {
        (_, 0) => return asked.defer(None).ok(),
        (_, 1) => asked.decline(),
        (_, 2) => asked.cancel(),
        (_, 3) => asked.error(-5, "own \"error\""),
        (_, 4) => drop(asked),
        // In turn 5, the response is too large. In turn 6, the content has an unmatched bracket, and a request for
        // roots or sampling gets the wrong kind of response.
        (_, 5) => asked.error(-5, "x".repeat(5000)),
        (_, 6) => asked.accept(|content| content.end_object()),
        (InputRequest::Roots, _) => asked.roots(|roots| {
            roots.add("file:///a%20b", "A");
            roots.add("file:///c", "");
        }),
        (InputRequest::Sample(_), 7) => {
            asked.sampled("m", "endTurn", |content| content.text("one \u{1F600}"))
        }
        (InputRequest::Sample(_), 8) => asked.sampled("m", "", |content| {
            content.text("one");
            content.tool_use("u", "t", |input| input.field_boolean("b", true));
        }),
        (InputRequest::Sample(_), 9) => asked.sampled("m", "x", |content| content.image(b"\0", "image/png")),
        (InputRequest::Sample(_), _) => {
            asked.sampled("m", "x", |content| content.audio(b"\0\xff", "audio/wav"))
        }
        (_, 7) => asked.accept(|content| {
            content.field_string("s", "\u{7f}");
            content.field_integer("n", -3);
            content.field_boolean("b", true);
        }),
        _ => asked.accept(|content| {
            content.key("l");
            content.begin_array();
            content.string("x");
            content.end_array();
        }),
    }
    None
}

/// Returns the method and the params of each server request.
fn server_requests() -> [(&'static str, Value); 5] {
    let meta = json!({ "progressToken": "t" });
    [
        ("roots/list", json!({ "_meta": meta })),
        (
            "elicitation/create",
            json!({ "message": "m", "requestedSchema": { "type": "object", "properties": {} }, "_meta": meta }),
        ),
        (
            "elicitation/create",
            json!({ "mode": "url", "message": "m", "url": "https://a/", "elicitationId": "e" }),
        ),
        ("sampling/createMessage", json!({ "messages": [], "maxTokens": 1, "_meta": meta })),
        ("sampling/createMessage", json!({ "messages": [], "maxTokens": 1, "tools": [] })),
    ]
}

#[test]
fn client_responses_match_the_schema() {
    let Some(schemas) = Schemas::load_or_say() else { return };
    for revision in Revisions::HANDSHAKE.newest_first() {
        let mut host = Host::new(revision);
        let initialized = json!({ "protocolVersion": revision.as_str(), "capabilities": { "tools": {} }, "serverInfo": { "name": "s", "version": "1" } });
        host.server(&json!({ "jsonrpc": "2.0", "id": host.last("initialize"), "result": initialized }));
        for turn in 0..11 {
            host.turn = turn;
            for (at, (method, params)) in server_requests().into_iter().enumerate() {
                let id = if at % 2 == 0 { json!(turn * 10 + at) } else { json!(format!("{turn} {at}")) };
                host.server(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
            }
        }
        for ticket in std::mem::take(&mut host.deferred) {
            let mut reply = host.client.reply(ticket).unwrap();
            let _ = reply.progress(1u32, None, "more");
            reply.decline();
            host.run("");
        }
        host.client.roots_changed().unwrap();
        host.run("");
        host.check(&schemas);
        // Each request has one response.
        let lines = host.written.0.lock().unwrap().clone();
        let answers = lines.iter().filter(|line| !line.contains("\"method\"")).count();
        assert_eq!(answers, 55, "{revision}: {lines:#?}");
    }
}

#[test]
fn client_retries_and_subscriptions_match_the_schema() {
    let Some(schemas) = Schemas::load_or_say() else { return };
    let mut host = Host::new(Revision::V2026_07_28);
    let discovered = json!({ "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} } });
    host.server(&json!({ "jsonrpc": "2.0", "id": host.last("server/discover"), "result": discovered }));
    let ticket = host.client.call_json("t", "{}", Options::DEFAULT.with_progress()).unwrap();
    host.run("");
    let [roots, form, url, sample, tools] =
        server_requests().map(|(method, params)| json!({ "method": method, "params": params }));
    let requests =
        json!({ "roots": roots, "form": form, "url": url, "no": form, "sample": sample, "sample 2": tools });
    for round in 0..2 {
        let id = host.last("tools/call");
        let mut result = json!({ "resultType": "input_required", "inputRequests": requests });
        if round == 0 {
            result["requestState"] = json!("s\u{e9}\n");
        }
        host.server(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
        host.client
            .resume_call_json(ticket, "t", r#"{"a":1}"#, |answers| {
                answers.roots("roots", |roots| roots.add("file:///a", "A"));
                answers.accept("form", |content| content.field_string("a", "b"));
                answers.agree("url");
                answers.decline("no");
                answers.sampled("sample", "m", "", |content| content.text("t"));
                answers.sampled("sample 2", "m", "toolUse", |content| {
                    content.text("t");
                    content.tool_use("u", "t", |_| {});
                });
            })
            .unwrap();
        host.run("");
    }
    let filter = Filter::NOTHING.tools().prompts().resources().uris(&["file:///a"]);
    let listening = host.client.listen(filter, Options::DEFAULT).unwrap();
    host.client.listen(Filter::NOTHING, Options::DEFAULT).unwrap();
    host.run("");
    host.client.reconnect();
    host.run("");
    host.server(&json!({ "jsonrpc": "2.0", "id": host.last("server/discover"), "result": discovered }));
    host.client.cancel(listening, "why").unwrap();
    host.run("");
    host.check(&schemas);
    let lines = host.written.0.lock().unwrap().clone();
    assert_eq!(lines.iter().filter(|line| line.contains("subscriptions/listen")).count(), 4, "{lines:#?}");
    assert_eq!(lines.iter().filter(|line| line.contains("inputResponses")).count(), 2);
}
