//! Requests and notifications of extensions, through the handles of both sides.

use std::collections::BTreeMap;
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Duration;

use crate::time_limit::{TEST_TIMEOUT, within};
use mcp_proto::client::{Connect, InputRequest};
use mcp_proto::input::OtherRequest;
use mcp_proto::server::{Event, ExtensionRequest, Extensions, ServerConfig, Subscriptions, Tool, Tools};
use mcp_proto::{ClientCapabilities, Ticket};
use mcp_proto_std::{
    CallError, CallOptions, ClientHandle, Connector, InputResponse, Notification, PeerError, RequestError,
    Responder, Serve, ServerHandle,
};

const NAME: &str = "com.example/own";

static OWN: Extensions = Extensions::new(&[(NAME, "{}")])
    .methods(&["own/echo", "own/fail", "own/stream", "own/ask"])
    .notifications(&["notifications/own/said"])
    .filter_members(&["ownListChanged"]);
static TOOLS: Tools = Tools::new(&[Tool::new("typed", "{}")]);
static CONFIG: ServerConfig = ServerConfig::new("test", "1").features(&[&TOOLS, &OWN, &Subscriptions]);

fn handler() -> impl FnMut(Event<'_>, &ServerHandle) {
    let mut listener: Option<Ticket> = None;
    let mut stream: Option<Responder> = None;
    move |event, server| match event {
        Event::Listening(listening) => listener = Some(listening.ticket()),
        Event::Notification { params, .. } => {
            let said = BTreeMap::from([("said", params.map(|params| params.to_string()))]);
            server.notify("notifications/own/heard", &said);
            if let Some(listener) = listener {
                server.notify_subscription(listener, "notifications/own/list_changed", &());
            }
            if let Some(stream) = stream.take() {
                stream.result(said);
            }
        }
        Event::Call(call) => call.result_of_type("com.example/later", |out| out.field_integer("n", 1)),
        Event::Request(request) => match request.method() {
            "own/stream" => stream = server.defer(request, Duration::MAX),
            "own/ask" => server.run(request, ask),
            _ => respond(request, server),
        },
        _ => {}
    }
}

fn respond(request: ExtensionRequest<'_>, server: &ServerHandle) {
    let (method, params) = (request.method().to_owned(), request.params().to_string());
    server.run(request, move |answer| match &*method {
        "own/echo" => {
            answer.progress(1u32, None, "half");
            answer.notify("notifications/own/part", &BTreeMap::from([("n", 1)]));
            answer.notify("notifications/own/part", &[1]);
            answer.notify("notifications/own/part", &());
            answer.result(BTreeMap::from([("params", params)]));
        }
        _ => answer.error(7, "no"),
    });
}

/// Sends a request of the extension to the client, and responds with the outcome.
fn ask(answer: Responder) {
    let request = OtherRequest::new("own/measure", &|out| out.field_integer("channel", 2));
    let outcome = match answer.request_within(Duration::from_millis(200), &request) {
        Ok(response) => response.json().to_string(),
        Err(RequestError::Client(PeerError { code, message, .. })) => format!("{message} ({code})"),
        Err(error) => error.to_string(),
    };
    answer.result(BTreeMap::from([("outcome", outcome)]));
}

fn connector(era: Connect) -> (Connector, UnixStream) {
    let (here, there) = UnixStream::pair().unwrap();
    thread::spawn(move || Serve::new(&CONFIG).stream(there, handler()));
    (Connector::new("test", "1").connect(era), here)
}

fn connect(era: Connect) -> ClientHandle {
    let (connector, stream) = connector(era);
    connector.extensions(&[(NAME, "{}")]).result_types(&["com.example/later"]).stream(stream).unwrap()
}

const ERAS: [Connect; 2] = [Connect::Handshake, Connect::Stateless];

/// Returns the method and the parameters of a notification, without the `_meta` of the parameters.
fn text(notification: Option<Notification>) -> String {
    match notification {
        Some(Notification::Other { method, params }) => {
            let params = params.unwrap_or_default();
            let own = params.split_once("},").map_or("", |(_, own)| own);
            format!("{} {own}", method.trim_start_matches("notifications/own/"))
        }
        other => format!("{other:?}"),
    }
}

#[test]
fn extension_request_has_progress_notifications_and_a_result() {
    within(TEST_TIMEOUT, || {
        for era in ERAS {
            let client = connect(era);
            let options = CallOptions::new().with_progress();
            let mut pending = client.begin_request("own/echo", r#"{"a":1}"#, options).unwrap();
            assert_eq!(text(pending.notification()), "part \"n\":1}");
            assert_eq!(text(pending.notification()), "part ");
            assert_eq!(pending.notification(), None);
            let mut progress = Vec::new();
            let result = pending.wait_with(|step| progress.push(step.message)).unwrap();
            assert!(result.contains(r#"\"a\":1"#), "{result}");
            assert_eq!(progress, [Some("half".to_owned())]);
            let Err(CallError::Server(error)) = client.request("own/fail", "{}") else { panic!() };
            assert_eq!((error.code, &*error.message), (7, "no"));
        }
    });
}

#[test]
fn open_request_ends_by_either_side_or_with_the_connection() {
    within(TEST_TIMEOUT, || {
        for era in ERAS {
            let client = connect(era);
            let open = || {
                let options = CallOptions::new().without_timeout();
                let pending = client.begin_request("own/stream", "{}", options).unwrap();
                // The response to a later request shows that the server has received the open request.
                client.request("own/fail", "{}").unwrap_err();
                pending
            };
            let mut cancelled = open();
            cancelled.cancel("");
            assert_eq!(cancelled.notification(), None);
            assert_eq!(cancelled.wait(), Err(CallError::Cancelled));

            let ended = open();
            client.notify("notifications/own/said", r#"{"n":1}"#).unwrap();
            assert!(ended.wait().unwrap().contains(r#""said":"{\"n\":1}""#));

            let mut closed = open();
            client.close();
            assert_eq!(closed.notification(), None);
            assert_eq!(closed.wait(), Err(CallError::Closed));
        }
    });
}

#[test]
fn extension_notifications_need_no_request() {
    within(TEST_TIMEOUT, || {
        let client = connect(Connect::Handshake);
        let mut notifications = client.notifications();
        client.notify("notifications/own/said", "{}").unwrap();
        let heard = Notification::Other {
            method: "notifications/own/heard".into(),
            params: Some(r#"{"said":"{}"}"#.into()),
        };
        // The client may omit empty parameters.
        let without = Notification::Other {
            method: "notifications/own/heard".into(),
            params: Some(r#"{"said":null}"#.into()),
        };
        let received = notifications.next().unwrap();
        assert!(received == heard || received == without, "{received:?}");

        let client = connect(Connect::Stateless);
        let mut subscription = client.listen_with(&[], &[], &[("ownListChanged", "true")]).unwrap();
        assert_eq!(subscription.acknowledged().to_string(), r#"{"ownListChanged":true}"#);
        client.notify("notifications/own/said", "{}").unwrap();
        assert_eq!(text(subscription.next()), "list_changed ");
    });
}

#[test]
fn invalid_messages_of_an_extension_are_refused() {
    within(TEST_TIMEOUT, || {
        let (connector, stream) = connector(Connect::Stateless);
        let client = connector.stream(stream).unwrap();
        assert_eq!(client.notify("notifications/own/said", "{}"), Err(CallError::Unsupported));
        for result in [
            client.notify("notifications/own/said", "[]"),
            client.listen_with(&[], &[], &[("ownListChanged", "yes")]).map(drop),
        ] {
            assert!(matches!(result, Err(CallError::Invalid(_))), "{result:?}");
        }
        // The client did not declare the type of this result.
        assert!(matches!(client.call_json("typed", "{}"), Err(CallError::Invalid(_))));
        let result = connect(Connect::Stateless).call_json("typed", "{}").unwrap();
        assert_eq!(result.result_type().as_deref(), Some("com.example/later"));
    });
}

#[test]
fn server_sends_a_request_of_an_extension_to_the_client() {
    type Answer = fn() -> InputResponse;
    let cases: [(Answer, &str); 5] = [
        (|| InputResponse::result(&BTreeMap::from([("celsius", 21)])), r#"{\"celsius\":21}"#),
        (|| InputResponse::error(9, "broken"), "broken (9)"),
        (|| InputResponse::result(&7), "(-32603)"),
        (InputResponse::agree, "(-32603)"),
        (
            || {
                thread::sleep(Duration::from_secs(1));
                InputResponse::cancel()
            },
            "the client did not respond in time",
        ),
    ];
    within(TEST_TIMEOUT, move || {
        for (answer, expected) in cases {
            let (connector, stream) = connector(Connect::Handshake);
            let client = connector.methods(&["own/measure"]).on_server_request(
                ClientCapabilities::NONE,
                move |request| {
                    let InputRequest::Other { method, params } = request.input() else { panic!() };
                    assert_eq!((method, params.to_string()), ("own/measure", r#"{"channel":2}"#.into()));
                    answer()
                },
            );
            let result = client.stream(stream).unwrap().request("own/ask", "{}").unwrap();
            assert!(result.contains(expected), "{result} {expected}");
        }
        // In the handshake era, the request to the client fails, because this client's configuration lacks the method.
        // In the stateless era, a server sends no requests.
        for (era, expected) in ERAS.into_iter().zip(["(-32601)", "does not support"]) {
            let result = connect(era).request("own/ask", "{}").unwrap();
            assert!(result.contains(expected), "{result}");
        }
    });
}
