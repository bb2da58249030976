//! What workers can do beside answering calls: ask the client, answer other requests, say what has changed.
#![cfg(unix)]

use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use crate::peer::{Peer, call};
use mcp_proto::input::{Field, Form, ListRoots};
use mcp_proto::server::{
    Argument, Change, Completion, Event, Prompt, Prompts, Resource, Resources, ServerConfig, Subscriptions,
    Template, Tool, Tools,
};
use mcp_proto_std::{RequestError, ServerHandle};

static TOOLS: Tools =
    Tools::new(&[Tool::new("greet", "{}"), Tool::new("hasty", "{}"), Tool::new("touch", "{}")]);
static RESOURCES: Resources =
    Resources::new(&[Resource::new("a:log", "log")]).templates(&[Template::new("a:{n}", "n")]).subscribe();
static PROMPTS: Prompts = Prompts::new(&[Prompt::new("review").arguments(&[Argument::new("file")])]);
static INFO: ServerConfig =
    ServerConfig::new("test", "1").features(&[&TOOLS, &RESOURCES, &PROMPTS, &Completion, &Subscriptions]);
static FIELDS: [Field; 1] = [Field::text("name").required()];

const CAN_ELICIT: (&str, &str) = ("2025-06-18", r#"{"elicitation":{}}"#);
const CAN_NOTHING: (&str, &str) = ("2025-06-18", "{}");

/// Everything on workers.
fn handler(event: Event<'_>, server: &ServerHandle) {
    match event {
        Event::Call(call) if call.name() == "touch" => server.run(call, |answer| {
            answer.changed(Change::Resource("a:log"));
            answer.text("touched");
        }),
        Event::Call(call) => {
            let time = Duration::from_millis(if call.name() == "hasty" { 50 } else { 60_000 });
            server.run(call, move |answer| {
                let question = format!("Who are you, client of {:?}?", answer.revision());
                match answer.request_within(time, &Form::new(&question, &FIELDS)) {
                    Ok(said) => {
                        let name = said.elicited().and_then(|form| form.field("name")?.string());
                        answer.text(format_args!("Hello, {}!", name.unwrap()));
                    }
                    Err(why) => answer.fail(why),
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

fn answer(id: u32, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#) + "\n"
}

#[test]
fn a_worker_asks_and_waits_for_the_answer() {
    // As many at once as there are workers.
    let (mut peer, server) = Peer::connect(&INFO, 2, CAN_ELICIT, handler);
    peer.send(&(call(8, "greet", "{}") + &call(9, "greet", "{}")));
    let asked = [peer.line(), peer.line()];
    let message =
        r#""method":"elicitation/create","params":{"message":"Who are you, client of V2025_06_18?""#;
    assert!(asked.iter().all(|line| line.contains(message)), "{asked:?}");
    let ids = asked
        .each_ref()
        .map(|line| line["{'jsonrpc':'2.0','id':".len()..].split(',').next().unwrap().parse());
    peer.send(&answer(ids[0].clone().unwrap(), r#"{"action":"accept","content":{"name":"Ada"}}"#));
    assert!(peer.line().contains("Hello, Ada!"));
    let id: u32 = ids[1].clone().unwrap();
    peer.send(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":-1,\"message\":\"no\"}}}}\n"));
    let line = peer.line();
    assert!(line.contains(r#"{"type":"text","text":"no (-1)"}],"isError":true"#), "{line}");
    drop(peer);
    server.join().unwrap();
}

#[test]
fn a_worker_hears_why_there_is_no_answer() {
    let (mut peer, _server) = Peer::connect(&INFO, 1, CAN_NOTHING, handler);
    peer.send(&call(1, "greet", "{}"));
    assert!(peer.line().contains("the client does not support this"));

    // A request of the stateless era is no reason to ask, even if a session has one.
    let (mut peer, _server) = Peer::connect(&INFO, 1, CAN_ELICIT, handler);
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}"#;
    peer.send(
        &(format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"greet",{meta}}}}}"#)
            + "\n"),
    );
    let line = peer.line();
    assert!(line.contains("the client does not support this"), "{line}");

    let (mut peer, _server) = Peer::connect(&INFO, 1, CAN_ELICIT, handler);
    peer.send(&call(1, "hasty", "{}"));
    assert!(peer.line().contains("elicitation/create"));
    let lines = [peer.line(), peer.line()].concat();
    assert!(lines.contains("notifications/cancelled") && lines.contains("did not answer in time"), "{lines}");
}

#[test]
fn what_was_asked_for_a_cancelled_request_is_cancelled_too() {
    let (mut peer, server) = Peer::connect(&INFO, 1, CAN_ELICIT, handler);
    peer.send(&call(1, "greet", "{}"));
    assert!(peer.line().contains("elicitation/create"));
    peer.send("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}\n");
    let line = peer.line();
    assert!(line.contains(r#""method":"notifications/cancelled","params":{"requestId":"#), "{line}");
    // Its thread is free again.
    let freed = (2..).find(|id| {
        peer.send(&call(*id, "touch", "{}"));
        peer.line().contains("touched")
    });
    assert!(freed.is_some());
    peer.send(&call(9, "greet", "{}"));
    assert!(peer.line().contains("elicitation/create"));
    // And at the end nobody waits for an answer that cannot come.
    drop(peer);
    server.join().unwrap();
}

#[test]
fn a_thread_asks_for_what_belongs_to_no_request_but_the_handler_cannot_wait() {
    let (told, tells) = channel();
    let handler = move |event: Event<'_>, server: &ServerHandle| {
        if let Event::Ready = event {
            let refused = server.request(&ListRoots);
            assert!(matches!(refused, Err(RequestError::Invalid(_))), "{refused:?}");
            let (server, told) = (server.clone(), told.clone());
            thread::spawn(move || {
                let said = server.request(&ListRoots).unwrap();
                told.send(said.roots().unwrap().map(|root| root.uri().to_string()).collect::<Vec<_>>())
                    .unwrap();
            });
        }
    };
    let (mut peer, server) = Peer::connect(&INFO, 1, ("2024-11-05", r#"{"roots":{}}"#), handler);
    assert_eq!(peer.line(), "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"roots/list\"}\n");
    peer.send(&answer(1, r#"{"roots":[{"uri":"file:///a"}]}"#));
    assert_eq!(tells.recv().unwrap(), ["file:///a"]);
    drop(peer);
    server.join().unwrap();
}

#[test]
fn every_kind_of_request_may_run_on_a_worker() {
    let (mut peer, _server) = Peer::connect(&INFO, 1, CAN_NOTHING, handler);
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
fn who_watches_a_resource_hears_from_a_worker_that_it_changed() {
    let (mut peer, _server) = Peer::connect(&INFO, 1, CAN_NOTHING, handler);
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
fn a_batch_is_answered_as_one() {
    let (mut peer, _server) = Peer::connect(&INFO, 2, ("2025-03-26", "{}"), handler);
    let member = |id| call(id, "touch", "{}").trim_end().to_owned();
    peer.send(&format!("[{},{}]\n", member(1), member(2)));
    let line = peer.line();
    assert!(line.starts_with('[') && line.matches("touched").count() == 2, "{line}");
}
