//! What a client may ask of a server beside calls, and what it answers when it is asked: in both eras.

#[path = "../../handles/fixtures/offers.rs"]
mod fixture;

use std::time::Duration;

use crate::peer::SOON;
use fixture::{FORM, INFO, PAGE, SAMPLE};
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
use tokio::time::{Instant, sleep, timeout};

fn handler(event: Event<'_>, server: &ServerHandle) {
    match event {
        Event::Call(mut call) if call.name() == "touch" => {
            let _ = call.log(Level::Info, None, "touching");
            server.changed(Change::Resource("a:log"));
            server.changed(Change::Tools);
            call.text("touched");
        }
        Event::Call(call) => match call.name() {
            "form" => asks(call, server, &FORM),
            "page" => asks(call, server, &PAGE),
            "roots" => asks(call, server, &ListRoots),
            _ => asks(call, server, &SAMPLE),
        },
        other => fixture::answer(other),
    }
}

/// Asks the client in the way of its era, and answers with what it said.
fn asks(call: Call<'_>, server: &ServerHandle, input: &'static (dyn Input + Sync)) {
    if call.can_require_input() {
        return match call.input("key").map(|answer| answer.to_string()) {
            Some(answer) => call.text(answer),
            None => call.require_input(&[("key", input)], Some("state")),
        };
    }
    server.run(call, move |answer| async move {
        match answer.request_within(Duration::from_millis(500), input).await {
            Ok(said) => answer.text(said.json()),
            Err(why) => answer.fail(why),
        }
    });
}

fn connector(era: Connect) -> (Connector, DuplexStream) {
    let (here, there) = duplex(4096);
    tokio::spawn(Serve::new(&INFO).stream(there, handler));
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
async fn everything_that_a_server_offers_is_there_in_both_eras() {
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
async fn changes_are_heard_after_a_subscription_of_the_era() {
    let (updated, changed) = (Notification::Updated("a:log".into()), Notification::Changed(Listed::Tools));
    let client = connect(Connect::Handshake).await;
    let mut notices = client.notifications();
    assert!(matches!(client.listen(&[Listed::Tools], &[]).await, Err(CallError::Unsupported)));
    client.set_log_level(Level::Debug).await.unwrap();
    client.subscribe("a:log").await.unwrap();
    client.call_json("touch", "{}").await.unwrap();
    let mut heard = Vec::new();
    while heard.len() < 3 {
        heard.push(timeout(SOON, notices.next()).await.unwrap().unwrap());
    }
    heard.sort_by_key(|notice| format!("{notice:?}"));
    assert_eq!(heard[0], changed);
    assert!(
        matches!(&heard[1], Notification::Log { level: Some(Level::Info), data, .. } if data == "\"touching\"")
    );
    assert_eq!(heard[2], updated);
    client.unsubscribe("a:log").await.unwrap();
    client.call_json("touch", "{}").await.unwrap();
    client.ping().await.unwrap();
    client.close().await;
    let mut heard = Vec::new();
    while let Some(notice) = notices.next().await {
        heard.push(notice);
    }
    assert!(!heard.contains(&updated) && heard.contains(&changed), "{heard:?}");
    assert_eq!(client.notifications().next().await, None);

    let client = connect(Connect::Stateless).await;
    assert!(matches!(client.subscribe("a:log").await, Err(CallError::Unsupported)));
    assert!(matches!(client.set_log_level(Level::Debug).await, Err(CallError::Unsupported)));
    let mut notices = client.notifications();
    let mut lists = client.listen(&[Listed::Tools], &[]).await.unwrap();
    let mut both = client.listen(&[Listed::Tools, Listed::Prompts], &["a:log"]).await.unwrap();
    let acknowledged = r#"{"toolsListChanged":true,"resourceSubscriptions":["a:log"]}"#;
    assert_eq!(both.acknowledged().raw(), acknowledged);
    client.with_options(CallOptions::new().log_level(Level::Info)).call_json("touch", "{}").await.unwrap();
    assert_eq!(next(&mut lists).await, Some(changed.clone()));
    let mut heard = [next(&mut both).await.unwrap(), next(&mut both).await.unwrap()];
    heard.sort_by_key(|notice| format!("{notice:?}"));
    assert_eq!(heard, [changed.clone(), updated]);
    assert!(timeout(Duration::from_millis(20), lists.next()).await.is_err());
    loop {
        if let Notification::Log { .. } = timeout(SOON, notices.next()).await.unwrap().unwrap() {
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
    assert!(rest <= 2, "it ends with the connection");
}

#[tokio::test]
async fn a_subscription_that_nobody_waits_for_is_cancelled() {
    let (here, there) = duplex(4096);
    let (sender, mut events) = mpsc::unbounded_channel();
    tokio::spawn(Serve::new(&INFO).stream(there, move |event, _| match event {
        Event::Listening(_) => sender.send("listening").unwrap(),
        Event::Cancelled { .. } => sender.send("cancelled").unwrap(),
        _ => {}
    }));
    let client =
        Connector::new("test", "1").connect(Connect::Stateless).requests(1).stream(here).await.unwrap();
    for polls in 1..20 {
        // Dropped at every point of its life.
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
        client.ping().await.expect("its slot is free at once");
        if finished {
            break;
        }
    }
    drop(client);
    let mut open = 0;
    while let Some(event) = timeout(SOON, events.recv()).await.unwrap() {
        open += if event == "listening" { 1 } else { -1 };
        assert!((0..=1).contains(&open), "one at a time");
    }
    assert_eq!(open, 0, "each was cancelled");
}

const DECLARED: ClientCapabilities = ClientCapabilities::ROOTS
    .with(ClientCapabilities::SAMPLING)
    .with(ClientCapabilities::ELICITATION_FORM)
    .with(ClientCapabilities::ELICITATION_URL);

async fn asked<F: Future<Output = InputResponse> + Send>(
    era: Connect,
    answer: impl Fn(ServerRequest) -> F + Send + Sync + 'static,
) -> ClientHandle {
    let (connector, stream) = connector(era);
    connector.on_server_request(DECLARED, answer).stream(stream).await.unwrap()
}

async fn said(client: &ClientHandle, tool: &str) -> String {
    client.call_json(tool, "{}").await.unwrap().text().unwrap()
}

#[tokio::test]
async fn one_closure_answers_what_a_server_asks_in_either_era() {
    for (era, _) in ERAS {
        let client = asked(era, |question| async move {
            match question.input() {
                InputRequest::Roots => InputResponse::roots([("file:///a", "A"), ("file:///b", "")]),
                InputRequest::Elicit(form) => {
                    assert_eq!(form.message(), "Who are you?");
                    let field = form.properties().next().unwrap();
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
        assert_eq!(said(&client, "form").await, r#"{"action":"accept","content":{"name":"Ada \"L\""}}"#);
        assert_eq!(said(&client, "page").await, r#"{"action":"accept"}"#);
        let roots = r#"{"roots":[{"uri":"file:///a","name":"A"},{"uri":"file:///b"}]}"#;
        assert_eq!(said(&client, "roots").await, roots);
        let sampled = r#"{"role":"assistant","model":"m","stopReason":"endTurn","content":{"type":"text","text":"Hello\n\"you\""}}"#;
        assert_eq!(said(&client, "sample").await, sampled);
        // Many are asked at once.
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..8 {
            let client = client.clone();
            tasks.spawn(async move { assert_eq!(said(&client, "page").await, r#"{"action":"accept"}"#) });
        }
        tasks.join_all().await;
    }
}

#[tokio::test]
async fn a_user_may_say_no_and_what_cannot_be_refused_gives_the_request_up() {
    for (era, _) in ERAS {
        let client = asked(era, |_| async { InputResponse::decline() }).await;
        assert_eq!(said(&client, "form").await, r#"{"action":"decline"}"#);
        match era {
            Connect::Handshake => assert_eq!(said(&client, "sample").await, "The user said no (-1)"),
            _ => {
                let declined = CallError::Declined("The user said no".into());
                assert_eq!(client.call_json("sample", "{}").await, Err(declined));
            }
        }
        client.ping().await.unwrap();
    }
}

#[tokio::test]
async fn an_answer_that_does_not_fit_or_a_host_that_panics_harms_nobody_else() {
    for (era, _) in ERAS {
        let client = asked(era, |question| async move {
            match question.input() {
                InputRequest::Sample(_) => panic!("as it should"),
                _ => InputResponse::sampled("m", "", "x"),
            }
        })
        .await;
        for tool in ["form", "sample", "form"] {
            match client.call_json(tool, "{}").await {
                Ok(result) => assert!(result.is_error() && era == Connect::Handshake, "{result:?}"),
                Err(why) => assert!(matches!(why, CallError::Declined(_)) && era != Connect::Handshake),
            }
        }
        client.ping().await.unwrap();
    }
}

#[tokio::test]
async fn the_host_hears_when_nobody_waits_for_its_answer() {
    for (era, _) in ERAS {
        let (sender, mut cancelled) = mpsc::unbounded_channel();
        let client = asked(era, move |question| {
            let sender = sender.clone();
            async move {
                let start = Instant::now();
                let outcome = timeout(SOON, question.cancellation().cancelled()).await;
                sender.send((outcome.is_ok(), start.elapsed())).unwrap();
                InputResponse::decline()
            }
        })
        .await;
        // The server waits half a second in the handshake era; in the other it is the client who waits.
        let hasty = client.with_options(CallOptions::new().maximum(Duration::from_millis(100)));
        let outcome = match era {
            Connect::Handshake => client.call_json("form", "{}").await,
            _ => hasty.call_json("form", "{}").await,
        };
        assert!(outcome.is_err() || outcome.unwrap().is_error());
        let (was_cancelled, after) = timeout(SOON, cancelled.recv()).await.unwrap().unwrap();
        assert!(was_cancelled && after < Duration::from_secs(10), "{after:?}");
        // So it does when the call is cancelled, and when the connection ends.
        let pending = client.begin_json("form", "{}", CallOptions::new()).unwrap();
        sleep(Duration::from_millis(50)).await;
        drop(pending);
        assert!(timeout(SOON, cancelled.recv()).await.unwrap().unwrap().0);
        let pending = client.begin_json("form", "{}", CallOptions::new()).unwrap();
        sleep(Duration::from_millis(50)).await;
        client.close().await;
        assert!(timeout(SOON, cancelled.recv()).await.unwrap().unwrap().0);
        assert_eq!(pending.await, Err(CallError::Closed));
    }
}

#[tokio::test]
async fn a_server_is_told_that_the_roots_have_changed() {
    let (sender, mut heard) = mpsc::unbounded_channel();
    let (here, there) = duplex(4096);
    tokio::spawn(Serve::new(&INFO).stream(there, move |event, server| match event {
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
    assert_eq!(said(&client, "roots").await, r#"{"roots":[{"uri":"file:///a"}]}"#);
    client.roots_changed();
    timeout(SOON, heard.recv()).await.unwrap().unwrap();
    // What was not declared is not asked for.
    assert!(said(&client, "form").await.contains("does not support"));
}
