//! Tests of a client session and its client, without a pump.

use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use mcp_proto::client::{Connect, Listed, TaskLimits};
use mcp_proto::{Action, Client, ClientCapabilities, Millis, RequestFailure};

use super::ClientSession;
use crate::client_settings::ClientSettings;
use crate::client_shared::ClientShared;
use crate::error::CallError;
use crate::options::CallOptions;
use crate::pending::{Canceller, PendingRequest, RequestState, ResponseBody};
use crate::reconnect::Reconnect;
use crate::request::Request;
use crate::server_request::{InputResponse, ServerRequestHandler};

const DISCOVERED: &str = r#""resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true},"extensions":{"io.modelcontextprotocol/tasks":{}}}"#;
const TASK: &str =
    r#""taskId":"t","createdAt":"2026-07-28T10:00:00Z","lastUpdatedAt":"2026-07-28T10:00:00Z","ttlMs":60000"#;

/// A session and its client, without a pump.
struct Harness {
    client: Client<'static>,
    session: ClientSession,
    shared: Arc<ClientShared>,
    now: Millis,
}

impl Harness {
    fn new(settings: ClientSettings, handler: Option<ServerRequestHandler>) -> Harness {
        let settings = Box::leak(Box::new(settings));
        let config = Box::leak(Box::new(settings.config()));
        let shared = ClientShared::new(settings);
        let session = ClientSession::new(&shared, Arc::new(|| {}), handler);
        Harness { client: settings.client(config, None).unwrap(), session, shared, now: Millis(0) }
    }

    /// Starts a call.
    fn call(&self) -> Arc<RequestState> {
        let call = Request::Call { tool: "add".into(), arguments: "{}".into() };
        let state = RequestState::new(call, CallOptions::new());
        self.shared.start(Arc::clone(&state)).unwrap();
        state
    }

    /// Connects, and subscribes to changes of the tools. Returns the request, and the id of the subscription.
    fn subscribe(&mut self) -> (PendingRequest<()>, String) {
        let discover = self.exchange("");
        self.respond(&discover, DISCOVERED);
        let listen = Request::Listen { lists: vec![Listed::Tools], uris: Vec::new(), members: Vec::new() };
        let state = RequestState::new(listen, CallOptions::new());
        self.shared.start(Arc::clone(&state)).unwrap();
        let id = id(&self.exchange("")).to_owned();
        let read = |body| matches!(body, ResponseBody::Listening(..)).then_some(());
        (PendingRequest::new(state, Arc::clone(&self.shared), read), id)
    }

    /// Passes `input` to the client, and handles all events. Returns the sent lines.
    fn exchange(&mut self, input: &str) -> String {
        let Harness { client, session, now, .. } = self;
        let (mut rest, mut sent) = (input.as_bytes(), String::new());
        loop {
            session.process_commands(client, *now);
            match client.poll(*now) {
                Action::Event => _ = session.handle_event(client, None),
                Action::Io(io) => {
                    let (transmit, mut receive) = io.split();
                    if !transmit.bytes().is_empty() {
                        sent += std::str::from_utf8(transmit.bytes()).unwrap();
                        let length = transmit.bytes().len();
                        transmit.sent(length);
                        continue;
                    }
                    let length = rest.len().min(receive.space().len());
                    if length == 0 {
                        return sent;
                    }
                    receive.space()[..length].copy_from_slice(&rest[..length]);
                    rest = &rest[length..];
                    receive.filled(length);
                }
                Action::Closed => return sent,
            }
        }
    }

    /// Responds to the sent request with a result of these members. Returns the sent lines.
    fn respond(&mut self, request: &str, result: &str) -> String {
        let id = id(request);
        self.exchange(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{{result}}}}}\n"))
    }

    /// Ends the input of the client, and polls the client for its first event.
    fn end_input(&mut self) {
        match self.client.poll(self.now) {
            Action::Io(io) => io.split().1.eof(),
            action => panic!("{action:?}"),
        }
        assert!(matches!(self.client.poll(self.now), Action::Event));
    }
}

/// Returns the id of a sent request.
fn id(request: &str) -> &str {
    request.split("\"id\":").nth(1).unwrap().split(',').next().unwrap()
}

/// Returns the acknowledgment of the subscription with this id.
fn acknowledgment(id: &str) -> String {
    let tag = format!(r#""_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}"#);
    let params = format!(r#"{{{tag},"notifications":{{"toolsListChanged":true}}}}"#);
    format!(
        "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\",\"params\":{params}}}\n"
    )
}

fn stateless_settings() -> ClientSettings {
    let mut settings = ClientSettings::new("test".into(), "1".into());
    settings.connect = Connect::Stateless;
    settings
}

#[test]
fn cancelled_unsent_requests_are_dropped() {
    let mut settings = ClientSettings::new("test".into(), "1".into());
    (settings.requests, settings.waiting) = (1, 4);
    let mut harness = Harness::new(settings, None);
    let kept = harness.call();
    for _ in 0..10_000 {
        drop(PendingRequest::<()>::new(harness.call(), Arc::clone(&harness.shared), |_| None));
        harness.session.process_commands(&mut harness.client, Millis(0));
    }
    assert!(harness.session.unsent.len() <= 10, "{}", harness.session.unsent.len());
    assert!(kept.is_awaited() && harness.session.unsent.iter().any(|(state, _)| Arc::ptr_eq(state, &kept)));
}

#[test]
fn input_of_a_task_waits_for_the_next_connection() {
    let mut settings = ClientSettings::new("test".into(), "1".into());
    (settings.connect, settings.capabilities) = (Connect::Stateless, ClientCapabilities::ROOTS);
    settings.tasks = Some(TaskLimits::DEFAULT);
    let responders = Arc::new(Mutex::new(Vec::new()));
    let handler: ServerRequestHandler = Arc::new({
        let responders = Arc::clone(&responders);
        move |_, responder| responders.lock().unwrap().push(responder)
    });
    let mut harness = Harness::new(settings, Some(handler));
    harness.session.set_reconnect(Some(Reconnect { attempts: 1, pause: Duration::ZERO }));
    let discover = harness.exchange("");
    harness.respond(&discover, DISCOVERED);
    let call = harness.call();
    let sent = harness.exchange("");
    harness.respond(&sent, &format!(r#""resultType":"task","status":"working",{TASK}"#));
    harness.now = Millis::seconds(60);
    let poll = harness.exchange("");
    assert!(poll.contains("tasks/get"), "{poll}");
    let inputs = r#""inputRequests":{"r":{"method":"roots/list"}}"#;
    harness.respond(&poll, &format!(r#""resultType":"complete","status":"input_required",{inputs},{TASK}"#));

    // The loss of the connection ends another call, so the client has an event.
    let lost = harness.call();
    harness.exchange("");
    harness.end_input();
    let responder = responders.lock().unwrap().pop().unwrap();
    responder.respond(InputResponse::roots([("file:///a", "a")]));
    harness.exchange("");
    assert!(!lost.is_awaited() && call.is_awaited(), "the task continues on the next connection");

    harness.session.begin_attempt(harness.now, Arc::new(|| {})).unwrap();
    harness.client.reconnect();
    harness.session.connection_opened(Arc::new(|| {}));
    let discover = harness.exchange("");
    let update = harness.respond(&discover, DISCOVERED);
    assert!(update.contains("tasks/update") && update.contains("file:///a"), "{update}");
}

#[test]
fn resumed_task_has_the_time_of_a_call_that_becomes_a_task() {
    const HOUR: u32 = 3600;
    for (options, seconds) in
        [(CallOptions::new(), HOUR), (CallOptions::new().maximum(Duration::from_secs(120)), 120)]
    {
        for resumes in [true, false] {
            let settings = ClientSettings { tasks: Some(TaskLimits::DEFAULT), ..stateless_settings() };
            let mut harness = Harness::new(settings, None);
            let discover = harness.exchange("");
            harness.respond(&discover, DISCOVERED);
            let request = match resumes {
                true => Request::Task("t".into()),
                false => Request::Call { tool: "add".into(), arguments: "{}".into() },
            };
            let state = RequestState::new(request, options);
            harness.shared.start(Arc::clone(&state)).unwrap();
            let mut kind = if resumes { "complete" } else { "task" };
            let limit = if resumes { seconds } else { HOUR };
            for now in (0..limit).step_by(60) {
                harness.now = Millis::seconds(now);
                let sent = harness.exchange("");
                harness.respond(&sent, &format!(r#""resultType":"{kind}","status":"working",{TASK}"#));
                kind = "complete";
                assert!(state.is_awaited(), "{now} of {limit}");
            }
            harness.now = Millis::seconds(limit);
            harness.exchange("");
            assert!(!state.is_awaited(), "{limit}");
        }
    }
}

#[test]
fn requests_queued_before_close_are_sent() {
    let mut settings = ClientSettings::new("test".into(), "1".into());
    (settings.connect, settings.requests, settings.waiting) = (Connect::Stateless, 2, 1);
    let mut harness = Harness::new(settings, None);
    let discover = harness.exchange("");
    harness.respond(&discover, DISCOVERED);
    let calls = [harness.call(), harness.call(), harness.call()];
    harness.shared.close(None);
    let sent = harness.exchange("");
    assert_eq!(sent.matches("tools/call").count(), 2, "the third call exceeds the limit: {sent}");
    drop(harness.session);
    assert!(calls.iter().all(|call| !call.is_awaited()), "calls without a response have ended");
}

#[test]
fn end_before_the_future_is_polled_keeps_acknowledgment_and_error() {
    let mut harness = Harness::new(stateless_settings(), None);
    let (mut pending, id) = harness.subscribe();
    let canceller = pending.canceller();
    harness.exchange(&acknowledgment(&id));
    assert_eq!(canceller.failure(), None);
    drop(harness.session);
    let result = pin!(&mut pending).poll(&mut Context::from_waker(Waker::noop()));
    assert!(matches!(result, Poll::Ready(Ok(_))), "{result:?}");
    assert_eq!(canceller.failure(), Some(CallError::Closed));
    // A later cancellation changes nothing.
    canceller.cancel("");
    assert_eq!(canceller.failure(), Some(CallError::Closed));
}

/// A waker that stores the failure of a request.
struct FailureRecorder {
    canceller: Canceller,
    failure: Mutex<Option<CallError>>,
}

impl Wake for FailureRecorder {
    fn wake(self: Arc<Self>) {
        *self.failure.lock().unwrap() = self.canceller.failure();
    }
}

#[test]
fn failure_is_known_when_the_notifications_end() {
    let mut harness = Harness::new(stateless_settings(), None);
    let (pending, id) = harness.subscribe();
    harness.exchange(&acknowledgment(&id));
    let state = pending.state();
    let recorder = Arc::new(FailureRecorder { canceller: pending.canceller(), failure: Mutex::default() });
    let waker = Waker::from(Arc::clone(&recorder));
    let mut next = pin!(state.queue.as_ref().unwrap().next());
    assert!(next.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    drop(harness.session);
    assert_eq!(*recorder.failure.lock().unwrap(), Some(CallError::Closed));
}

#[test]
fn subscription_that_the_server_has_ended_has_no_failure() {
    for is_acknowledged in [true, false] {
        let mut harness = Harness::new(stateless_settings(), None);
        let (mut pending, id) = harness.subscribe();
        let canceller = pending.canceller();
        if is_acknowledged {
            harness.exchange(&acknowledgment(&id));
        }
        harness.exchange(&format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{{\"requestId\":{id}}}}}\n"
        ));
        assert_eq!(canceller.failure(), None);
        let expected = match is_acknowledged {
            true => Ok(()),
            false => Err(CallError::Invalid(RequestFailure::Ended.to_string())),
        };
        let result = pin!(&mut pending).poll(&mut Context::from_waker(Waker::noop()));
        assert_eq!(result, Poll::Ready(expected));
    }
}
