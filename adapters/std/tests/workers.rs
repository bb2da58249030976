//! Requests of workers to the client, deferred requests of every kind, change notifications.
#![cfg(unix)]

use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use crate::peer::{Peer, call, stateless_call};
use mcp_proto::input::{Field, Form, ListRoots};
use mcp_proto::server::{
    Change, Completion, Event, Prompt, PromptArgument, Prompts, Resource, ResourceTemplate, Resources,
    ServerConfig, Subscriptions, Tool, Tools,
};
use mcp_proto_std::{RequestError, ServerHandle};

static TOOLS: Tools =
    Tools::new(&[Tool::new("greet", "{}"), Tool::new("hasty", "{}"), Tool::new("touch", "{}")]);
static RESOURCES: Resources = Resources::new(&[Resource::new("a:log", "log")])
    .templates(&[ResourceTemplate::new("a:{n}", "n")])
    .subscribe();
static PROMPTS: Prompts = Prompts::new(&[Prompt::new("review").arguments(&[PromptArgument::new("file")])]);
static CONFIG: ServerConfig =
    ServerConfig::new("test", "1").features(&[&TOOLS, &RESOURCES, &PROMPTS, &Completion, &Subscriptions]);
static FIELDS: [Field; 1] = [Field::text("name").required()];

const CAN_ELICIT: (&str, &str) = ("2025-06-18", r#"{"elicitation":{}}"#);
const CAN_NOTHING: (&str, &str) = ("2025-06-18", "{}");

/// Responds to every request on a worker.
fn handler(event: Event<'_>, server: &ServerHandle) {
    match event {
        Event::Call(call) if call.name() == "touch" => server.run(call, |answer| {
            answer.changed(Change::Resource("a:log"));
            answer.text("touched");
        }),
        Event::Call(call) => {
            let time = Duration::from_millis(if call.name() == "hasty" { 50 } else { 60_000 });
            server.run(call, move |answer| {
                let message = format!("Who are you, client of {:?}?", answer.revision());
                match answer.request_within(time, &Form::new(&message, &FIELDS)) {
                    Ok(response) => {
                        let name = response.elicited().and_then(|form| form.field("name")?.string());
                        answer.text(format_args!("Hello, {}!", name.unwrap()));
                    }
                    Err(error) => answer.fail(error),
                }
            });
        }
        Event::ReadResource(read) => {
            let uri = read.uri().to_owned();
            server.run(read, move |answer| {
                answer.answer(move |reply| reply.contents(|contents| contents.text(&uri, None, "read")));
            });
        }
        Event::GetPrompt(prompt) => server.run(prompt, |answer| {
            answer.answer(|reply| reply.messages(|messages| messages.user().text("prompted")));
        }),
        Event::Complete(complete) => {
            server.run(complete, |answer| answer.answer(|reply| reply.values(None, ["completed"])));
        }
        _ => {}
    }
}

fn response(id: u32, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#) + "\n"
}

#[test]
fn worker_request_returns_client_response() {
    // Both workers wait for a response at the same time.
    let (mut peer, server) = Peer::connect(&CONFIG, 2, CAN_ELICIT, handler);
    peer.send(&(call(8, "greet", "{}") + &call(9, "greet", "{}")));
    let requests = [peer.line(), peer.line()];
    let message =
        r#""method":"elicitation/create","params":{"message":"Who are you, client of V2025_06_18?""#;
    assert!(requests.iter().all(|line| line.contains(message)), "{requests:?}");
    let ids = requests
        .each_ref()
        .map(|line| line["{'jsonrpc':'2.0','id':".len()..].split(',').next().unwrap().parse());
    peer.send(&response(ids[0].clone().unwrap(), r#"{"action":"accept","content":{"name":"Ada"}}"#));
    assert!(peer.line().contains("Hello, Ada!"));
    let id: u32 = ids[1].clone().unwrap();
    peer.send(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":-1,\"message\":\"no\"}}}}\n"));
    let line = peer.line();
    assert!(line.contains(r#"{"type":"text","text":"no (-1)"}],"isError":true"#), "{line}");
    drop(peer);
    server.join().unwrap();
}

#[test]
fn worker_request_reports_failure_reason() {
    let (mut peer, _server) = Peer::connect(&CONFIG, 1, CAN_NOTHING, handler);
    peer.send(&call(1, "greet", "{}"));
    assert!(peer.line().contains("the client did not declare the capability elicitation.form"));

    // A request of the stateless era permits no request to the client, even within a session.
    let (mut peer, _server) = Peer::connect(&CONFIG, 1, CAN_ELICIT, handler);
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}"#;
    peer.send(
        &(format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"greet",{meta}}}}}"#)
            + "\n"),
    );
    let line = peer.line();
    assert!(line.contains("the protocol revision does not support the request"), "{line}");

    let (mut peer, _server) = Peer::connect(&CONFIG, 1, CAN_ELICIT, handler);
    peer.send(&call(1, "hasty", "{}"));
    assert!(peer.line().contains("elicitation/create"));
    let lines = [peer.line(), peer.line()].concat();
    assert!(
        lines.contains("notifications/cancelled") && lines.contains("did not respond in time"),
        "{lines}"
    );
}

#[test]
fn cancelled_request_cancels_its_client_request() {
    let (mut peer, server) = Peer::connect(&CONFIG, 1, CAN_ELICIT, handler);
    peer.send(&call(1, "greet", "{}"));
    assert!(peer.line().contains("elicitation/create"));
    peer.send("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}\n");
    let line = peer.line();
    assert!(line.contains(r#""method":"notifications/cancelled","params":{"requestId":"#), "{line}");
    // Repeat the call until the worker is free again.
    let served = (2..).find(|id| {
        peer.send(&call(*id, "touch", "{}"));
        peer.line().contains("touched")
    });
    assert!(served.is_some());
    peer.send(&call(9, "greet", "{}"));
    assert!(peer.line().contains("elicitation/create"));
    // The end of the connection ends the wait for a response.
    drop(peer);
    server.join().unwrap();
}

#[test]
fn server_request_works_on_threads_but_not_in_handler() {
    let (sender, roots) = channel();
    let handler = move |event: Event<'_>, server: &ServerHandle| {
        if let Event::Ready = event {
            let refused = server.request(&ListRoots);
            assert!(matches!(refused, Err(RequestError::Invalid(_))), "{refused:?}");
            let (server, sender) = (server.clone(), sender.clone());
            thread::spawn(move || {
                let response = server.request(&ListRoots).unwrap();
                sender
                    .send(response.roots().unwrap().map(|root| root.uri().to_string()).collect::<Vec<_>>())
                    .unwrap();
            });
        }
    };
    let (mut peer, server) = Peer::connect(&CONFIG, 1, ("2024-11-05", r#"{"roots":{}}"#), handler);
    assert_eq!(peer.line(), "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"roots/list\"}\n");
    peer.send(&response(1, r#"{"roots":[{"uri":"file:///a"}]}"#));
    assert_eq!(roots.recv().unwrap(), ["file:///a"]);
    drop(peer);
    server.join().unwrap();
}

#[test]
fn worker_responds_to_every_kind_of_request() {
    let (mut peer, _server) = Peer::connect(&CONFIG, 1, CAN_NOTHING, handler);
    for (method, params, expected) in [
        (
            "resources/read",
            r#"{"uri":"a:log"}"#,
            r#""contents":[{"uri":"a:log","mimeType":"text/plain","text":"read"}]"#,
        ),
        ("prompts/get", r#"{"name":"review"}"#, r#""text":"prompted""#),
        (
            "completion/complete",
            r#"{"ref":{"type":"ref/resource","uri":"a:{n}"},"argument":{"name":"n","value":""}}"#,
            r#""values":["completed"]"#,
        ),
    ] {
        peer.send(&(format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#) + "\n"));
        let line = peer.line();
        assert!(line.contains(expected), "{line}");
    }
}

#[test]
fn worker_change_is_sent_to_subscriber() {
    let (mut peer, _server) = Peer::connect(&CONFIG, 1, CAN_NOTHING, handler);
    peer.send(
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/subscribe\",\"params\":{\"uri\":\"a:log\"}}\n",
    );
    assert!(peer.line().contains(r#""id":1,"result":{}"#));
    peer.send(&call(2, "touch", "{}"));
    let lines = [peer.line(), peer.line()].concat();
    let updated = r#""method":"notifications/resources/updated","params":{"uri":"a:log"}"#;
    assert!(lines.contains(updated) && lines.contains("touched"), "{lines}");
}

#[test]
fn call_without_a_free_slot_is_refused_with_the_reason() {
    let (mut peer, _server) = Peer::connect(&CONFIG, 1, CAN_NOTHING, handler);
    let listen = r#""method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":["a:log"]},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}"#;
    let mut open = 0;
    loop {
        peer.send(&format!("{{\"jsonrpc\":\"2.0\",\"id\":\"s{open}\",{listen}}}\n"));
        if !peer.line().contains("notifications/subscriptions/acknowledged") {
            break;
        }
        open += 1;
    }
    peer.send(&stateless_call(1, "touch", "{}"));
    let line = peer.line();
    assert!(
        line.contains(r#""code":-32603,"message":"Too many requests in flight (at most "#),
        "{open}: {line}"
    );
}

#[test]
fn batch_is_answered_with_one_batch() {
    let (mut peer, _server) = Peer::connect(&CONFIG, 2, ("2025-03-26", "{}"), handler);
    let member = |id| call(id, "touch", "{}").trim_end().to_owned();
    peer.send(&format!("[{},{}]\n", member(1), member(2)));
    let line = peer.line();
    assert!(line.starts_with('[') && line.matches("touched").count() == 2, "{line}");
}
