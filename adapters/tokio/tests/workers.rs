//! Requests of tasks to the client, deferred requests of every kind, change notifications.

use std::time::Duration;

use crate::peer::{PING, Peer, call, cancel};
use mcp_proto::input::{Field, Form, ListRoots};
use mcp_proto::server::{
    Change, Completion, Event, Prompt, PromptArgument, Prompts, Resource, ResourceTemplate, Resources,
    ServerConfig, Subscriptions, Tool, Tools,
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
static RESOURCES: Resources = Resources::new(&[Resource::new("a:log", "log")])
    .templates(&[ResourceTemplate::new("a:{n}", "n")])
    .subscribe();
static PROMPTS: Prompts = Prompts::new(&[Prompt::new("review").arguments(&[PromptArgument::new("file")])]);
static CONFIG: ServerConfig =
    ServerConfig::new("test", "1").features(&[&TOOLS, &RESOURCES, &PROMPTS, &Completion, &Subscriptions]);
static FIELDS: [Field; 1] = [Field::text("name").required()];

const CAN_ELICIT: (&str, &str) = ("2025-06-18", r#"{"elicitation":{}}"#);
const CAN_NOTHING: (&str, &str) = ("2025-06-18", "{}");

/// Responds to every request in a task.
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
            let response = answer.request_within(Duration::from_secs(60), &who).await;
            answer.text(if response.is_ok() { "the second time" } else { "never" });
        }),
        Event::Call(call) => {
            let time = Duration::from_millis(if call.name() == "hasty" { 50 } else { 60_000 });
            server.run(call, move |answer| async move {
                let message = format!("Who are you, client of {:?}?", answer.revision());
                match answer.request_within(time, &Form::new(&message, &FIELDS)).await {
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

fn response(id: u32, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#) + "\n"
}

#[tokio::test]
async fn task_request_returns_client_response() {
    // The two calls occupy both workers.
    let (mut peer, server) = Peer::connect(&CONFIG, 2, CAN_ELICIT, handler).await;
    peer.send(&(call(8, "greet", "{}") + &call(9, "greet", "{}"))).await;
    let requests = [peer.line().await, peer.line().await];
    let message =
        r#""method":"elicitation/create","params":{"message":"Who are you, client of V2025_06_18?""#;
    assert!(requests.iter().all(|line| line.contains(message)), "{requests:?}");
    let ids = requests
        .each_ref()
        .map(|line| line["{'jsonrpc':'2.0','id':".len()..].split(',').next().unwrap().parse());
    peer.send(&response(ids[0].clone().unwrap(), r#"{"action":"accept","content":{"name":"Ada"}}"#)).await;
    assert!(peer.line().await.contains("Hello, Ada!"));
    let id: u32 = ids[1].clone().unwrap();
    let error = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":-1,\"message\":\"no\"}}}}\n");
    peer.send(&error).await;
    let line = peer.line().await;
    assert!(line.contains(r#"{"type":"text","text":"no (-1)"}],"isError":true"#), "{line}");
    peer.end(server).await;
}

#[tokio::test]
async fn task_request_reports_failure_reason() {
    let (mut peer, server) = Peer::connect(&CONFIG, 1, CAN_NOTHING, handler).await;
    peer.send(&call(1, "greet", "{}")).await;
    assert!(peer.line().await.contains("the client did not declare the capability elicitation.form"));
    peer.end(server).await;

    let (mut peer, server) = Peer::connect(&CONFIG, 1, CAN_ELICIT, handler).await;
    peer.send(&call(1, "hasty", "{}")).await;
    assert!(peer.line().await.contains("elicitation/create"));
    let lines = [peer.line().await, peer.line().await].concat();
    assert!(
        lines.contains("notifications/cancelled") && lines.contains("did not respond in time"),
        "{lines}"
    );
    peer.end(server).await;
}

#[tokio::test]
async fn abandoned_client_request_is_cancelled() {
    // The client cancels the call whose task waits for the client's response.
    let (mut peer, server) = Peer::connect(&CONFIG, 1, CAN_ELICIT, handler).await;
    peer.send(&call(1, "greet", "{}")).await;
    assert!(peer.line().await.contains("elicitation/create"));
    peer.send(&cancel(1)).await;
    let line = peer.line().await;
    assert!(line.contains(r#""method":"notifications/cancelled","params":{"requestId":"#), "{line}");
    tokio::task::yield_now().await;
    // The task drops the future of its request.
    peer.send(&call(2, "impatient", "{}")).await;
    assert!(peer.line().await.contains("elicitation/create"));
    assert!(peer.line().await.contains("notifications/cancelled"));
    let line = peer.line().await;
    assert!(line.contains("elicitation/create"), "{line}");
    let id = line["{'jsonrpc':'2.0','id':".len()..].split(',').next().unwrap().parse().unwrap();
    peer.send(&response(id, r#"{"action":"decline"}"#)).await;
    assert!(peer.line().await.contains("the second time"));
    // The end of the connection ends the wait for a response.
    peer.send(&call(3, "greet", "{}")).await;
    assert!(peer.line().await.contains("elicitation/create"));
    peer.end(server).await;
}

#[tokio::test]
async fn server_request_works_without_deferred_request() {
    let (sender, mut roots) = mpsc::unbounded_channel();
    let handler = move |event: Event<'_>, server: &ServerHandle| {
        if let Event::Ready = event {
            let (server, sender) = (server.clone(), sender.clone());
            tokio::spawn(async move {
                let response = server.request(&ListRoots).await.unwrap();
                sender
                    .send(response.roots().unwrap().map(|root| root.uri().to_string()).collect::<Vec<_>>())
                    .unwrap();
            });
        }
    };
    let (mut peer, server) = Peer::connect(&CONFIG, 1, ("2024-11-05", r#"{"roots":{}}"#), handler).await;
    assert_eq!(peer.line().await, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"roots/list\"}\n");
    peer.send(&response(1, r#"{"roots":[{"uri":"file:///a"}]}"#)).await;
    assert_eq!(roots.recv().await.unwrap(), ["file:///a"]);
    peer.end(server).await;
}

#[tokio::test]
async fn task_responds_to_every_kind_of_request() {
    let (mut peer, server) = Peer::connect(&CONFIG, 1, CAN_NOTHING, handler).await;
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
async fn task_change_is_sent_to_subscriber() {
    let (mut peer, server) = Peer::connect(&CONFIG, 1, CAN_NOTHING, handler).await;
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
async fn batch_is_answered_with_one_batch() {
    let (mut peer, server) = Peer::connect(&CONFIG, 2, ("2025-03-26", "{}"), handler).await;
    let member = |id| call(id, "touch", "{}").trim_end().to_owned();
    peer.send(&format!("[{},{}]\n", member(1), member(2))).await;
    let line = peer.line().await;
    assert!(line.starts_with('[') && line.matches("touched").count() == 2, "{line}");
    peer.end(server).await;
}

#[tokio::test]
async fn work_of_a_cancelled_request_is_never_started() {
    let (sender, mut started) = mpsc::unbounded_channel();
    let work = move |event: Event<'_>, server: &ServerHandle| {
        if let Event::Call(call) = event {
            let sender = sender.clone();
            server.run(call, move |_| async move { sender.send(()).unwrap() });
        }
    };
    let (mut peer, server) = Peer::connect(&CONFIG, 1, CAN_NOTHING, work).await;
    peer.send(&(call(1, "touch", "{}") + &cancel(1) + PING)).await;
    assert!(peer.line().await.contains("\"id\":\"p\""));
    peer.end(server).await;
    assert_eq!(started.recv().await, None);
}
