//! Client requests besides tool calls, and responses to server requests, in both eras.

#[path = "../../handles/fixtures/full_server.rs"]
mod full_server;

use std::time::Duration;

use crate::peer::SOON;
use full_server::{CONFIG, FORM, PAGE, SAMPLE};
use mcp_proto::client::{Connect, InputRequest, Listed, Reference};
use mcp_proto::input::{Input, ListRoots};
use mcp_proto::server::{Call, Change, Event};
use mcp_proto::{ClientCapabilities, Level, Revision};
use mcp_proto_tokio::{
    CallError, CallOptions, ClientHandle, Connector, InputResponse, Notification, Serve, ServerHandle,
    ServerRequest, Subscription,
};
use tokio::io::{DuplexStream, duplex};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};

fn handler(event: Event<'_>, server: &ServerHandle) {
    match event {
        Event::Call(mut call) if call.name() == "touch" => {
            let _ = call.log(Level::Info, None, "touching");
            server.changed(Change::Resource("a:log"));
            server.changed(Change::Tools);
            call.text("touched");
        }
        Event::Call(call) => match call.name() {
            "form" => obtain_input(call, server, &FORM),
            "page" => obtain_input(call, server, &PAGE),
            "roots" => obtain_input(call, server, &ListRoots),
            _ => obtain_input(call, server, &SAMPLE),
        },
        other => full_server::answer(other),
    }
}

/// Obtains input from the client with the mechanism of the era, and responds to the call with the input.
fn obtain_input(call: Call<'_>, server: &ServerHandle, input: &'static (dyn Input + Sync)) {
    if call.can_require_input() {
        return match call.input("key").map(|answer| answer.to_string()) {
            Some(answer) => call.text(answer),
            None => call.require_input(&[("key", input)], Some("state")),
        };
    }
    server.run(call, move |answer| async move {
        match answer.request_within(Duration::from_secs(1), input).await {
            Ok(response) => answer.text(response.json()),
            Err(error) => answer.fail(error),
        }
    });
}

fn connector(era: Connect) -> (Connector, DuplexStream) {
    let (here, there) = duplex(4096);
    tokio::spawn(Serve::new(&CONFIG).stream(there, handler));
    (Connector::new("test", "1").connect(era), here)
}

async fn connect(era: Connect) -> ClientHandle {
    let (connector, stream) = connector(era);
    connector.stream(stream).await.unwrap()
}

async fn next(subscription: &mut Subscription) -> Option<Notification> {
    timeout(SOON, subscription.next()).await.unwrap()
}

const ERAS: [(Connect, Revision); 2] =
    [(Connect::Handshake, Revision::V2025_11_25), (Connect::Stateless, Revision::V2026_07_28)];

#[tokio::test]
async fn all_requests_work_in_both_eras() {
    for (era, revision) in ERAS {
        let client = connect(era).await;
        assert_eq!(client.server().revision, revision);
        let resources = client.list_resources().await.unwrap();
        let uris: Vec<_> = resources.iter().map(|resource| resource.uri()).collect();
        assert_eq!(uris, ["a:log", "a:other"]);
        assert_eq!(client.list_templates().await.unwrap()[0].uri_template(), "a:{n}");
        let prompts = client.list_prompts().await.unwrap();
        assert_eq!((prompts.len(), &*prompts[0].name()), (1, "review"));
        assert_eq!(prompts[0].view().arguments().next().unwrap().name().unwrap(), "file");
        assert_eq!(client.find_tool("form").await.unwrap().unwrap().name, "form");
        assert_eq!(client.find_tool("nope").await, Ok(None));

        assert_eq!(client.read_resource("a:log").await.unwrap().text().as_deref(), Some("contents"));
        let Err(CallError::Server(error)) = client.read_resource("b:nope").await else { panic!() };
        assert!([-32002, -32602].contains(&error.code), "{error}");
        let prompt = client.get_prompt("review", &[("file", "main.rs")]).await.unwrap();
        let text = prompt.view().messages().next().unwrap().block().raw().get("text").unwrap();
        assert_eq!(text.string().unwrap(), "Review main.rs");
        let reference = Reference::Prompt("review");
        let values = client.complete(reference, "file", "ma", &[("other", "x")]).await.unwrap().values();
        assert_eq!(values, ["ma-x"]);
        let values = client.complete(Reference::Resource("a:{n}"), "n", "1", &[]).await.unwrap().values();
        assert_eq!(values, ["1-"]);

        let result = client.request("resources/read", r#"{"uri":"a:log"}"#).await.unwrap();
        assert!(result.contains(r#""text":"contents""#), "{result}");
        assert!(matches!(client.request("resources/read", "[]").await, Err(CallError::Invalid(_))));
        let Err(CallError::Server(error)) = client.request("no/such", "{}").await else { panic!() };
        assert_eq!(error.code, -32601);
    }
}

#[tokio::test]
async fn changes_arrive_after_subscription_of_the_era() {
    let (updated, changed) = (Notification::Updated("a:log".into()), Notification::Changed(Listed::Tools));
    let client = connect(Connect::Handshake).await;
    let mut notifications = client.notifications();
    assert!(matches!(client.listen(&[Listed::Tools], &[]).await, Err(CallError::Unsupported)));
    client.set_log_level(Level::Debug).await.unwrap();
    client.subscribe("a:log").await.unwrap();
    client.call_json("touch", "{}").await.unwrap();
    let mut received = Vec::new();
    while received.len() < 3 {
        received.push(timeout(SOON, notifications.next()).await.unwrap().unwrap());
    }
    received.sort_by_key(|notification| format!("{notification:?}"));
    assert_eq!(received[0], changed);
    assert!(
        matches!(&received[1], Notification::Log { level: Some(Level::Info), data, .. } if data == "\"touching\"")
    );
    assert_eq!(received[2], updated);
    client.unsubscribe("a:log").await.unwrap();
    client.call_json("touch", "{}").await.unwrap();
    client.ping().await.unwrap();
    client.close().await;
    let mut received = Vec::new();
    while let Some(notification) = notifications.next().await {
        received.push(notification);
    }
    assert!(!received.contains(&updated) && received.contains(&changed), "{received:?}");
    assert_eq!(client.notifications().next().await, None);

    let client = connect(Connect::Stateless).await;
    assert!(matches!(client.subscribe("a:log").await, Err(CallError::Unsupported)));
    assert!(matches!(client.set_log_level(Level::Debug).await, Err(CallError::Unsupported)));
    let mut notifications = client.notifications();
    let mut lists = client.listen(&[Listed::Tools], &[]).await.unwrap();
    let mut both = client.listen(&[Listed::Tools, Listed::Prompts], &["a:log"]).await.unwrap();
    let acknowledged = r#"{"toolsListChanged":true,"resourceSubscriptions":["a:log"]}"#;
    assert_eq!(both.acknowledged().raw(), acknowledged);
    client.with_options(CallOptions::new().log_level(Level::Info)).call_json("touch", "{}").await.unwrap();
    assert_eq!(next(&mut lists).await, Some(changed.clone()));
    let mut received = [next(&mut both).await.unwrap(), next(&mut both).await.unwrap()];
    received.sort_by_key(|notification| format!("{notification:?}"));
    assert_eq!(received, [changed.clone(), updated]);
    assert!(timeout(Duration::from_millis(20), lists.next()).await.is_err());
    loop {
        if let Notification::Log { .. } = timeout(SOON, notifications.next()).await.unwrap().unwrap() {
            break;
        }
    }
    drop(lists);
    client.call_json("touch", "{}").await.unwrap();
    assert!(next(&mut both).await.is_some());
    client.close().await;
    let mut rest = 0;
    while next(&mut both).await.is_some() {
        rest += 1;
    }
    assert!(rest <= 2, "the subscription ends with the connection");
}

#[tokio::test]
async fn dropped_listen_future_cancels_the_subscription() {
    let (here, there) = duplex(4096);
    let (sender, mut events) = mpsc::unbounded_channel();
    tokio::spawn(Serve::new(&CONFIG).stream(there, move |event, _| match event {
        Event::Listening(_) => sender.send("listening").unwrap(),
        Event::Cancelled { .. } => sender.send("cancelled").unwrap(),
        _ => {}
    }));
    let client = Connector::new("test", "1")
        .connect(Connect::Stateless)
        .requests(1)
        .waiting(0)
        .stream(here)
        .await
        .unwrap();
    for polls in 1..20 {
        // The future is dropped after a different number of polls each time.
        let mut listen = Box::pin(client.listen(&[Listed::Tools], &[]));
        let mut finished = false;
        for _ in 0..polls {
            let waker = std::task::Context::from_waker(std::task::Waker::noop()).waker().clone();
            finished = listen.as_mut().poll(&mut std::task::Context::from_waker(&waker)).is_ready();
            if finished {
                break;
            }
            tokio::task::yield_now().await;
        }
        drop(listen);
        client.ping().await.expect("the slot is free immediately");
        if finished {
            break;
        }
    }
    drop(client);
    let mut open = 0;
    while let Some(event) = timeout(SOON, events.recv()).await.unwrap() {
        open += if event == "listening" { 1 } else { -1 };
        assert!((0..=1).contains(&open), "one subscription at a time");
    }
    assert_eq!(open, 0, "each subscription was cancelled");
}

const DECLARED: ClientCapabilities = ClientCapabilities::ROOTS
    .with(ClientCapabilities::SAMPLING)
    .with(ClientCapabilities::ELICITATION_FORM)
    .with(ClientCapabilities::ELICITATION_URL);

async fn connect_with_handler<F: Future<Output = InputResponse> + Send>(
    era: Connect,
    answer: impl Fn(ServerRequest) -> F + Send + Sync + 'static,
) -> ClientHandle {
    let (connector, stream) = connector(era);
    connector.on_server_request(DECLARED, answer).stream(stream).await.unwrap()
}

async fn call_text(client: &ClientHandle, tool: &str) -> String {
    client.call_json(tool, "{}").await.unwrap().text().unwrap()
}

#[tokio::test]
async fn one_callback_answers_requests_of_both_eras() {
    for (era, _) in ERAS {
        let client = connect_with_handler(era, |request| async move {
            match request.input() {
                InputRequest::Roots => InputResponse::roots([("file:///a", "A"), ("file:///b", "")]),
                InputRequest::Elicit(form) => {
                    assert_eq!(form.message(), "Who are you?");
                    let field = form.fields().next().unwrap();
                    InputResponse::accept(
                        &[(field.name().to_string(), "Ada \"L\"")]
                            .into_iter()
                            .collect::<std::collections::BTreeMap<_, _>>(),
                    )
                }
                InputRequest::OpenUrl(page) if page.url() == "https://example.com/" => InputResponse::agree(),
                InputRequest::Sample(sample) => {
                    assert_eq!(sample.max_tokens(), 10);
                    InputResponse::sampled("m", "endTurn", "Hello\n\"you\"")
                }
                _ => unreachable!(),
            }
        })
        .await;
        assert_eq!(call_text(&client, "form").await, r#"{"action":"accept","content":{"name":"Ada \"L\""}}"#);
        assert_eq!(call_text(&client, "page").await, r#"{"action":"accept"}"#);
        let roots = r#"{"roots":[{"uri":"file:///a","name":"A"},{"uri":"file:///b"}]}"#;
        assert_eq!(call_text(&client, "roots").await, roots);
        let sampled = r#"{"role":"assistant","model":"m","stopReason":"endTurn","content":{"type":"text","text":"Hello\n\"you\""}}"#;
        assert_eq!(call_text(&client, "sample").await, sampled);
        // The callback handles many concurrent requests.
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..8 {
            let client = client.clone();
            tasks
                .spawn(async move { assert_eq!(call_text(&client, "page").await, r#"{"action":"accept"}"#) });
        }
        tasks.join_all().await;
    }
}

#[tokio::test]
async fn decline_is_sent_or_fails_the_request() {
    for (era, _) in ERAS {
        let client = connect_with_handler(era, |_| async { InputResponse::decline() }).await;
        assert_eq!(call_text(&client, "form").await, r#"{"action":"decline"}"#);
        match era {
            Connect::Handshake => assert_eq!(call_text(&client, "sample").await, "The user said no (-1)"),
            _ => {
                let declined = CallError::Declined("The user said no".into());
                assert_eq!(client.call_json("sample", "{}").await, Err(declined));
            }
        }
        client.ping().await.unwrap();
    }
}

#[tokio::test]
async fn bad_response_or_panic_fails_only_its_request() {
    for (era, _) in ERAS {
        let client = connect_with_handler(era, |request| async move {
            match request.input() {
                InputRequest::Sample(_) => panic!("expected panic"),
                _ => InputResponse::sampled("m", "", "x"),
            }
        })
        .await;
        for tool in ["form", "sample", "form"] {
            match client.call_json(tool, "{}").await {
                Ok(result) => assert!(result.is_error() && era == Connect::Handshake, "{result:?}"),
                Err(error) => assert!(matches!(error, CallError::Declined(_)) && era != Connect::Handshake),
            }
        }
        client.ping().await.unwrap();
    }
}

#[tokio::test]
async fn callback_observes_cancellation() {
    for (era, _) in ERAS {
        let (began, mut has_begun) = mpsc::unbounded_channel();
        let (sender, mut cancelled) = mpsc::unbounded_channel();
        let client = connect_with_handler(era, move |request| {
            let (began, sender) = (began.clone(), sender.clone());
            async move {
                began.send(()).unwrap();
                let start = Instant::now();
                let outcome = timeout(SOON, request.cancellation().cancelled()).await;
                sender.send((outcome.is_ok(), start.elapsed())).unwrap();
                InputResponse::decline()
            }
        })
        .await;
        // In the handshake era the server's timeout is one second; in the stateless era the client's
        // timeout applies.
        let short = client.with_options(CallOptions::new().maximum(Duration::from_secs(1)));
        let outcome = match era {
            Connect::Handshake => client.call_json("form", "{}").await,
            _ => short.call_json("form", "{}").await,
        };
        assert!(outcome.is_err() || outcome.unwrap().is_error());
        timeout(SOON, has_begun.recv()).await.unwrap().unwrap();
        let (was_cancelled, after) = timeout(SOON, cancelled.recv()).await.unwrap().unwrap();
        assert!(was_cancelled && after < Duration::from_secs(10), "{after:?}");
        // The callback also observes the cancellation of the call and the end of the connection.
        let pending = client.begin_json("form", "{}", CallOptions::new()).unwrap();
        timeout(SOON, has_begun.recv()).await.unwrap().unwrap();
        drop(pending);
        assert!(timeout(SOON, cancelled.recv()).await.unwrap().unwrap().0);
        let pending = client.begin_json("form", "{}", CallOptions::new()).unwrap();
        timeout(SOON, has_begun.recv()).await.unwrap().unwrap();
        client.close().await;
        assert!(timeout(SOON, cancelled.recv()).await.unwrap().unwrap().0);
        assert_eq!(pending.await, Err(CallError::Closed));
    }
}

#[tokio::test]
async fn roots_changed_reaches_the_server() {
    let (sender, mut received) = mpsc::unbounded_channel();
    let (here, there) = duplex(4096);
    tokio::spawn(Serve::new(&CONFIG).stream(there, move |event, server| match event {
        Event::RootsChanged => sender.send(()).unwrap(),
        event => handler(event, server),
    }));
    let declared = ClientCapabilities::ROOTS_LIST_CHANGED;
    let client = Connector::new("test", "1")
        .connect(Connect::Handshake)
        .on_server_request(declared, |_| async { InputResponse::roots([("file:///a", "")]) })
        .stream(here)
        .await
        .unwrap();
    assert_eq!(call_text(&client, "roots").await, r#"{"roots":[{"uri":"file:///a"}]}"#);
    client.roots_changed();
    timeout(SOON, received.recv()).await.unwrap().unwrap();
    // The server does not use undeclared capabilities.
    assert!(call_text(&client, "form").await.contains("did not declare the capability"));
}
