//! Client requests besides tool calls, and responses to server requests, in both eras.
#![cfg(unix)]

#[path = "../../handles/fixtures/full_server.rs"]
mod full_server;

use std::os::unix::net::UnixStream;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use full_server::{CONFIG, FORM, PAGE, SAMPLE};
use mcp_proto::client::{Connect, InputRequest, Listed, Reference};
use mcp_proto::input::{Input, ListRoots};
use mcp_proto::server::{Call, Change, Event};
use mcp_proto::{ClientCapabilities, Level, Revision};
use mcp_proto_std::{
    CallError, CallOptions, ClientHandle, Connector, InputResponse, Notification, Serve, ServerHandle,
    ServerRequest,
};

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
    server.run(call, move |answer| match answer.request_within(Duration::from_secs(1), input) {
        Ok(response) => answer.text(response.json()),
        Err(error) => answer.fail(error),
    });
}

fn connector(era: Connect) -> (Connector, UnixStream) {
    let (here, there) = UnixStream::pair().unwrap();
    thread::spawn(move || Serve::new(&CONFIG).stream(there, handler));
    (Connector::new("test", "1").connect(era), here)
}

fn connect(era: Connect) -> ClientHandle {
    let (connector, stream) = connector(era);
    connector.stream(stream).unwrap()
}

const ERAS: [(Connect, Revision); 2] =
    [(Connect::Handshake, Revision::V2025_11_25), (Connect::Stateless, Revision::V2026_07_28)];
const SOON: Duration = Duration::from_secs(20);

#[test]
fn all_requests_work_in_both_eras() {
    for (era, revision) in ERAS {
        let client = connect(era);
        assert_eq!(client.server().revision, revision);
        let resources = client.list_resources().unwrap();
        let uris: Vec<_> = resources.iter().map(|resource| resource.uri()).collect();
        assert_eq!(uris, ["a:log", "a:other"]);
        assert_eq!(client.list_templates().unwrap()[0].uri_template(), "a:{n}");
        let prompts = client.list_prompts().unwrap();
        assert_eq!((prompts.len(), &*prompts[0].name()), (1, "review"));
        assert_eq!(prompts[0].view().arguments().next().unwrap().name().unwrap(), "file");
        assert_eq!(client.find_tool("form").unwrap().unwrap().name, "form");
        assert_eq!(client.find_tool("nope"), Ok(None));

        assert_eq!(client.read_resource("a:log").unwrap().text().as_deref(), Some("contents"));
        let Err(CallError::Server(error)) = client.read_resource("b:nope") else { panic!() };
        assert!([-32002, -32602].contains(&error.code), "{error}");
        let prompt = client.get_prompt("review", &[("file", "main.rs")]).unwrap();
        let text = prompt.view().messages().next().unwrap().block().raw().get("text").unwrap();
        assert_eq!(text.string().unwrap(), "Review main.rs");
        let reference = Reference::Prompt("review");
        let values = client.complete(reference, "file", "ma", &[("other", "x")]).unwrap().values();
        assert_eq!(values, ["ma-x"]);
        let values = client.complete(Reference::Resource("a:{n}"), "n", "1", &[]).unwrap().values();
        assert_eq!(values, ["1-"]);

        let result = client.request("resources/read", r#"{"uri":"a:log"}"#).unwrap();
        assert!(result.contains(r#""text":"contents""#), "{result}");
        assert!(matches!(client.request("resources/read", "[]"), Err(CallError::Invalid(_))));
        let Err(CallError::Server(error)) = client.request("no/such", "{}") else { panic!() };
        assert_eq!(error.code, -32601);
    }
}

#[test]
fn changes_arrive_after_subscription_of_the_era() {
    let (updated, changed) = (Notification::Updated("a:log".into()), Notification::Changed(Listed::Tools));
    let client = connect(Connect::Handshake);
    let mut notifications = client.notifications();
    assert!(matches!(client.listen(&[Listed::Tools], &[]), Err(CallError::Unsupported)));
    client.set_log_level(Level::Debug).unwrap();
    client.subscribe("a:log").unwrap();
    client.call_json("touch", "{}").unwrap();
    let mut received: Vec<_> = (0..3).map(|_| notifications.next_within(SOON).unwrap()).collect();
    received.sort_by_key(|notification| format!("{notification:?}"));
    assert_eq!(received[0], changed);
    assert!(
        matches!(&received[1], Notification::Log { level: Some(Level::Info), data, .. } if data == "\"touching\"")
    );
    assert_eq!(received[2], updated);
    client.unsubscribe("a:log").unwrap();
    client.call_json("touch", "{}").unwrap();
    client.ping().unwrap();
    let received: Vec<_> = std::iter::from_fn(|| notifications.next_within(Duration::ZERO)).collect();
    assert!(!received.contains(&updated) && received.contains(&changed), "{received:?}");
    client.close();
    assert_eq!(notifications.next(), None);
    assert_eq!(client.notifications().next(), None);

    let client = connect(Connect::Stateless);
    assert!(matches!(client.subscribe("a:log"), Err(CallError::Unsupported)));
    assert!(matches!(client.set_log_level(Level::Debug), Err(CallError::Unsupported)));
    let mut notifications = client.notifications();
    let mut lists = client.listen(&[Listed::Tools], &[]).unwrap();
    let mut both = client.listen(&[Listed::Tools, Listed::Prompts], &["a:log"]).unwrap();
    let acknowledged = r#"{"toolsListChanged":true,"resourceSubscriptions":["a:log"]}"#;
    assert_eq!(both.acknowledged().raw(), acknowledged);
    client.with_options(CallOptions::new().log_level(Level::Info)).call_json("touch", "{}").unwrap();
    assert_eq!(lists.next_within(SOON), Some(changed.clone()));
    let mut received = [both.next_within(SOON).unwrap(), both.next_within(SOON).unwrap()];
    received.sort_by_key(|notification| format!("{notification:?}"));
    assert_eq!(received, [changed.clone(), updated]);
    assert_eq!(lists.next_within(Duration::from_millis(20)), None);
    let logged = std::iter::from_fn(|| notifications.next_within(Duration::ZERO));
    assert!(logged.into_iter().any(|notification| matches!(notification, Notification::Log { .. })));
    drop(lists);
    client.call_json("touch", "{}").unwrap();
    assert!(both.next_within(SOON).is_some());
    client.close();
    assert!(both.by_ref().count() <= 2, "the subscription ends with the connection");
}

const DECLARED: ClientCapabilities = ClientCapabilities::ROOTS
    .with(ClientCapabilities::SAMPLING)
    .with(ClientCapabilities::ELICITATION_FORM)
    .with(ClientCapabilities::ELICITATION_URL);

fn connect_with_handler(
    era: Connect,
    answer: impl FnMut(&ServerRequest) -> InputResponse + Send + 'static,
) -> ClientHandle {
    let (connector, stream) = connector(era);
    connector.on_server_request(DECLARED, answer).stream(stream).unwrap()
}

fn call_text(client: &ClientHandle, tool: &str) -> String {
    client.call_json(tool, "{}").unwrap().text().unwrap()
}

#[test]
fn one_callback_answers_requests_of_both_eras() {
    for (era, _) in ERAS {
        let client = connect_with_handler(era, |request| match request.input() {
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
        });
        assert_eq!(call_text(&client, "form"), r#"{"action":"accept","content":{"name":"Ada \"L\""}}"#);
        assert_eq!(call_text(&client, "page"), r#"{"action":"accept"}"#);
        let roots = r#"{"roots":[{"uri":"file:///a","name":"A"},{"uri":"file:///b"}]}"#;
        assert_eq!(call_text(&client, "roots"), roots);
        let sampled = r#"{"role":"assistant","model":"m","stopReason":"endTurn","content":{"type":"text","text":"Hello\n\"you\""}}"#;
        assert_eq!(call_text(&client, "sample"), sampled);
        // The callback answers many requests one after the other.
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| assert_eq!(call_text(&client, "page"), r#"{"action":"accept"}"#));
            }
        });
    }
}

#[test]
fn decline_is_sent_or_fails_the_request() {
    for (era, _) in ERAS {
        let client = connect_with_handler(era, |_| InputResponse::decline());
        assert_eq!(call_text(&client, "form"), r#"{"action":"decline"}"#);
        match era {
            Connect::Handshake => assert_eq!(call_text(&client, "sample"), "The user said no (-1)"),
            _ => {
                let declined = CallError::Declined("The user said no".into());
                assert_eq!(client.call_json("sample", "{}"), Err(declined));
            }
        }
        client.ping().unwrap();
    }
}

#[test]
fn bad_response_or_panic_fails_only_its_request() {
    for (era, _) in ERAS {
        let client = connect_with_handler(era, |request| match request.input() {
            InputRequest::Sample(_) => panic!("expected panic"),
            _ => InputResponse::sampled("m", "", "x"),
        });
        for tool in ["form", "sample", "form"] {
            match client.call_json(tool, "{}") {
                Ok(result) => assert!(result.is_error() && era == Connect::Handshake, "{result:?}"),
                Err(error) => assert!(matches!(error, CallError::Declined(_)) && era != Connect::Handshake),
            }
        }
        client.ping().unwrap();
    }
}

#[test]
fn callback_observes_cancellation() {
    for (era, _) in ERAS {
        let ((began, has_begun), (sender, cancelled)) = (channel(), channel());
        let client = connect_with_handler(era, move |request| {
            began.send(()).unwrap();
            let start = Instant::now();
            let outcome = request.cancellation().sleep(SOON);
            sender.send((outcome.is_err(), start.elapsed())).unwrap();
            InputResponse::decline()
        });
        // In the handshake era the server's timeout is one second; in the stateless era the client's
        // timeout applies.
        let short = client.with_options(CallOptions::new().maximum(Duration::from_secs(1)));
        let outcome = match era {
            Connect::Handshake => client.call_json("form", "{}"),
            _ => short.call_json("form", "{}"),
        };
        assert!(outcome.is_err() || outcome.unwrap().is_error());
        has_begun.recv_timeout(SOON).unwrap();
        let (was_cancelled, after) = cancelled.recv_timeout(SOON).unwrap();
        assert!(was_cancelled && after < Duration::from_secs(10), "{after:?}");
        // The callback also observes the cancellation of the call and the end of the connection.
        let pending = client.begin_json("form", "{}", CallOptions::new()).unwrap();
        has_begun.recv_timeout(SOON).unwrap();
        drop(pending);
        assert!(cancelled.recv_timeout(SOON).unwrap().0);
        let pending = client.begin_json("form", "{}", CallOptions::new()).unwrap();
        has_begun.recv_timeout(SOON).unwrap();
        client.close();
        assert!(cancelled.recv_timeout(SOON).unwrap().0);
        assert_eq!(pending.wait(), Err(CallError::Closed));
    }
}

#[test]
fn root_with_an_invalid_uri_is_named_in_the_error() {
    const REASON: &str =
        "the URI of the root `file:///my files` must start with `file://` and be percent-encoded";
    let answer = |_: &ServerRequest| InputResponse::roots([("file:///my files", "")]);
    let client = connect_with_handler(Connect::Handshake, answer);
    assert!(call_text(&client, "roots").contains(REASON));
    let client = connect_with_handler(Connect::Stateless, answer);
    let Err(CallError::Declined(reason)) = client.call_json("roots", "{}") else { panic!("not declined") };
    assert!(reason.contains(REASON), "{reason}");
}

#[test]
fn roots_changed_reaches_the_server() {
    let (sender, received) = channel();
    let (here, there) = UnixStream::pair().unwrap();
    thread::spawn(move || {
        Serve::new(&CONFIG).stream(there, move |event, server| match event {
            Event::RootsChanged => sender.send(()).unwrap(),
            event => handler(event, server),
        })
    });
    let declared = ClientCapabilities::ROOTS_LIST_CHANGED;
    let client = Connector::new("test", "1")
        .connect(Connect::Handshake)
        .on_server_request(declared, |_| InputResponse::roots([("file:///a", "")]))
        .stream(here)
        .unwrap();
    assert_eq!(call_text(&client, "roots"), r#"{"roots":[{"uri":"file:///a"}]}"#);
    client.roots_changed();
    received.recv_timeout(SOON).unwrap();
    // The server does not use undeclared capabilities.
    assert!(call_text(&client, "form").contains("did not declare the capability"));
}
