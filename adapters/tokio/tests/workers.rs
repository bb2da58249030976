//! What tasks can do beside answering calls: ask the client, answer other requests, say what has changed.

use std::time::Duration;

use crate::peer::{Peer, call, cancel};
use mcp_proto::input::{Field, Form, ListRoots};
use mcp_proto::server::{
    Argument, Change, Completion, Event, Prompt, Prompts, Resource, Resources, ServerConfig, Subscriptions,
    Template, Tool, Tools,
};
use mcp_proto_tokio::ServerHandle;
use tokio::sync::mpsc;
use tokio::time::timeout;

static TOOLS: Tools = Tools::new(&[
    Tool::new("greet", "{}"),
    Tool::new("hasty", "{}"),
    Tool::new("touch", "{}"),
    Tool::new("impatient", "{}"),
]);
static RESOURCES: Resources =
    Resources::new(&[Resource::new("a:log", "log")]).templates(&[Template::new("a:{n}", "n")]).subscribe();
static PROMPTS: Prompts = Prompts::new(&[Prompt::new("review").arguments(&[Argument::new("file")])]);
static INFO: ServerConfig =
    ServerConfig::new("test", "1").features(&[&TOOLS, &RESOURCES, &PROMPTS, &Completion, &Subscriptions]);
static FIELDS: [Field; 1] = [Field::text("name").required()];

const CAN_ELICIT: (&str, &str) = ("2025-06-18", r#"{"elicitation":{}}"#);
const CAN_NOTHING: (&str, &str) = ("2025-06-18", "{}");

/// Everything in tasks.
fn handler(event: Event<'_>, server: &ServerHandle) {
    match event {
        Event::Call(call) if call.name() == "touch" => server.run(call, |answer| async move {
            answer.changed(Change::Resource("a:log"));
            answer.text("touched");
        }),
        Event::Call(call) if call.name() == "impatient" => server.run(call, |answer| async move {
            let who = Form::new("Who?", &FIELDS);
            let first =
                timeout(Duration::from_millis(50), answer.request_within(Duration::from_secs(60), &who));
            assert!(first.await.is_err());
            let said = answer.request_within(Duration::from_secs(60), &who).await;
            answer.text(if said.is_ok() { "the second time" } else { "never" });
        }),
        Event::Call(call) => {
            let time = Duration::from_millis(if call.name() == "hasty" { 50 } else { 60_000 });
            server.run(call, move |answer| async move {
                let question = format!("Who are you, client of {:?}?", answer.revision());
                match answer.request_within(time, &Form::new(&question, &FIELDS)).await {
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
            server.run(read, |answer| async {
                answer.answer(move |reply| reply.contents(|contents| contents.text(&uri, None, "read")));
            });
        }
        Event::GetPrompt(prompt) => server.run(prompt, |answer| async {
            answer.answer(|reply| reply.messages(|messages| messages.user().text("prompted")));
        }),
        Event::Complete(complete) => server.run(complete, |answer| async {
            answer.answer(|reply| reply.values(None, ["completed"]));
        }),
        _ => {}
    }
}

fn answer(id: u32, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#) + "\n"
}

#[tokio::test]
async fn a_task_asks_and_waits_for_the_answer() {
    // As many at once as there are places.
    let (mut peer, server) = Peer::connect(&INFO, 2, CAN_ELICIT, handler).await;
    peer.send(&(call(8, "greet", "{}") + &call(9, "greet", "{}"))).await;
    let asked = [peer.line().await, peer.line().await];
    let message =
        r#""method":"elicitation/create","params":{"message":"Who are you, client of V2025_06_18?""#;
    assert!(asked.iter().all(|line| line.contains(message)), "{asked:?}");
    let ids = asked
        .each_ref()
        .map(|line| line["{'jsonrpc':'2.0','id':".len()..].split(',').next().unwrap().parse());
    peer.send(&answer(ids[0].clone().unwrap(), r#"{"action":"accept","content":{"name":"Ada"}}"#)).await;
    assert!(peer.line().await.contains("Hello, Ada!"));
    let id: u32 = ids[1].clone().unwrap();
    let error = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":-1,\"message\":\"no\"}}}}\n");
    peer.send(&error).await;
    let line = peer.line().await;
    assert!(line.contains(r#"{"type":"text","text":"no (-1)"}],"isError":true"#), "{line}");
    peer.end(server).await;
}

#[tokio::test]
async fn a_task_hears_why_there_is_no_answer() {
    let (mut peer, server) = Peer::connect(&INFO, 1, CAN_NOTHING, handler).await;
    peer.send(&call(1, "greet", "{}")).await;
    assert!(peer.line().await.contains("the client does not support this"));
    peer.end(server).await;

    let (mut peer, server) = Peer::connect(&INFO, 1, CAN_ELICIT, handler).await;
    peer.send(&call(1, "hasty", "{}")).await;
    assert!(peer.line().await.contains("elicitation/create"));
    let lines = [peer.line().await, peer.line().await].concat();
    assert!(lines.contains("notifications/cancelled") && lines.contains("did not answer in time"), "{lines}");
    peer.end(server).await;
}

#[tokio::test]
async fn what_nobody_waits_for_any_more_is_not_asked_any_more() {
    // The request is cancelled.
    let (mut peer, server) = Peer::connect(&INFO, 1, CAN_ELICIT, handler).await;
    peer.send(&call(1, "greet", "{}")).await;
    assert!(peer.line().await.contains("elicitation/create"));
    peer.send(&cancel(1)).await;
    let line = peer.line().await;
    assert!(line.contains(r#""method":"notifications/cancelled","params":{"requestId":"#), "{line}");
    tokio::task::yield_now().await;
    // The task waits no longer: the future that asks is dropped.
    peer.send(&call(2, "impatient", "{}")).await;
    assert!(peer.line().await.contains("elicitation/create"));
    assert!(peer.line().await.contains("notifications/cancelled"));
    let line = peer.line().await;
    assert!(line.contains("elicitation/create"), "{line}");
    let id = line["{'jsonrpc':'2.0','id':".len()..].split(',').next().unwrap().parse().unwrap();
    peer.send(&answer(id, r#"{"action":"decline"}"#)).await;
    assert!(peer.line().await.contains("the second time"));
    // And at the end nobody waits for an answer that cannot come.
    peer.send(&call(3, "greet", "{}")).await;
    assert!(peer.line().await.contains("elicitation/create"));
    peer.end(server).await;
}

#[tokio::test]
async fn a_task_asks_for_what_belongs_to_no_request() {
    let (told, mut tells) = mpsc::unbounded_channel();
    let handler = move |event: Event<'_>, server: &ServerHandle| {
        if let Event::Ready = event {
            let (server, told) = (server.clone(), told.clone());
            tokio::spawn(async move {
                let said = server.request(&ListRoots).await.unwrap();
                told.send(said.roots().unwrap().map(|root| root.uri().to_string()).collect::<Vec<_>>())
                    .unwrap();
            });
        }
    };
    let (mut peer, server) = Peer::connect(&INFO, 1, ("2024-11-05", r#"{"roots":{}}"#), handler).await;
    assert_eq!(peer.line().await, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"roots/list\"}\n");
    peer.send(&answer(1, r#"{"roots":[{"uri":"file:///a"}]}"#)).await;
    assert_eq!(tells.recv().await.unwrap(), ["file:///a"]);
    peer.end(server).await;
}

#[tokio::test]
async fn every_kind_of_request_may_run_in_a_task() {
    let (mut peer, server) = Peer::connect(&INFO, 1, CAN_NOTHING, handler).await;
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
        let request = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#) + "\n";
        peer.send(&request).await;
        let line = peer.line().await;
        assert!(line.contains(expected), "{line}");
    }
    peer.end(server).await;
}

#[tokio::test]
async fn who_watches_a_resource_hears_from_a_task_that_it_changed() {
    let (mut peer, server) = Peer::connect(&INFO, 1, CAN_NOTHING, handler).await;
    let subscribe = r#"{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"a:log"}}"#;
    peer.send(&format!("{subscribe}\n")).await;
    assert!(peer.line().await.contains(r#""id":1,"result":{}"#));
    peer.send(&call(2, "touch", "{}")).await;
    let lines = [peer.line().await, peer.line().await].concat();
    let updated = r#""method":"notifications/resources/updated","params":{"uri":"a:log"}"#;
    assert!(lines.contains(updated) && lines.contains("touched"), "{lines}");
    peer.end(server).await;
}

#[tokio::test]
async fn a_batch_is_answered_as_one() {
    let (mut peer, server) = Peer::connect(&INFO, 2, ("2025-03-26", "{}"), handler).await;
    let member = |id| call(id, "touch", "{}").trim_end().to_owned();
    peer.send(&format!("[{},{}]\n", member(1), member(2))).await;
    let line = peer.line().await;
    assert!(line.starts_with('[') && line.matches("touched").count() == 2, "{line}");
    peer.end(server).await;
}
