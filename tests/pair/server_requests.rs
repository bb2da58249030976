//! Server requests and required input, in both eras.
use std::cell::RefCell;
use std::rc::Rc;

use crate::support::pair::scenario::{EVERYTHING, FORM, MODEL, PAGE, Scenario};
use mcp_proto::client::{InputRequest, Options, ServerRequest};
use mcp_proto::input::{ListRoots, OtherRequest};
use mcp_proto::server::RequestOptions;
use mcp_proto::{ClientCapabilities, Millis, Revision, Revisions, SendError, Ticket};

const DEFAULT: Options = Options::DEFAULT;

/// Replies to every kind of server request.
fn answer(asked: ServerRequest<'_>) {
    match asked.input() {
        InputRequest::Roots => asked.roots(|roots| roots.add("file:///a", "A")),
        InputRequest::Elicit(form) => {
            assert_eq!(form.fields().count(), 2);
            asked.accept(|content| content.field_string("name", "octocat"));
        }
        InputRequest::Sample(_) => asked.sampled("m", "endTurn", |content| content.text("it")),
        _ => asked.accept(|_| {}),
    }
}

/// Sends every server request of the revision. Returns the name, the ticket and the expected event of each.
fn ask_for_everything(pair: &mut Scenario, ask: RequestOptions) -> Vec<(&'static str, Ticket, &'static str)> {
    let mut asked = vec![
        (
            "roots",
            pair.request("roots", |server| server.request(&ListRoots, ask)),
            r#"roots: result {"roots":[{"uri":"file:///a","name":"A"}]}"#,
        ),
        (
            "model",
            pair.request("model", |server| server.request(&MODEL, ask)),
            r#"model: result {"role":"assistant","model":"m","stopReason":"endTurn","content":{"type":"text","text":"it"}}"#,
        ),
    ];
    let since = |revision| pair.revision >= revision;
    let (forms, pages) = (since(Revision::V2025_06_18), since(Revision::V2025_11_25));
    if forms {
        let ticket = pair.request("form", |server| server.request(&FORM, ask));
        asked.push(("form", ticket, r#"form: result {"action":"accept","content":{"name":"octocat"}}"#));
    }
    if pages {
        let ticket = pair.request("page", |server| server.request(&PAGE, ask));
        asked.push(("page", ticket, r#"page: result {"action":"accept"}"#));
    }
    asked
}

#[test]
fn server_request_gets_an_immediate_response() {
    Scenario::run(Revisions::HANDSHAKE, EVERYTHING, |pair| {
        pair.on_server_request(answer);
        let asked = ask_for_everything(pair, RequestOptions::DEFAULT);
        pair.run_until_idle();
        let server_events: Vec<&str> = asked.iter().map(|it| it.2).collect();
        pair.expect_server_events(&server_events);
        let all = ["asked roots", "asked sample 9", "asked form Who?", "asked url https://example.com/"];
        pair.expect_client_events(&all[..asked.len()]);
        let complete = pair.server.elicitation_complete("e1");
        assert_eq!(complete.is_ok(), pair.revision == Revision::V2025_11_25);
        let client_events: &[&str] =
            &[r#"notified notifications/elicitation/complete {"elicitationId":"e1"}"#];
        pair.run_until_idle().expect_client_events(if complete.is_ok() { client_events } else { &[] });
    });
}

#[test]
fn undeclared_capability_cannot_be_requested() {
    Scenario::run(Revisions::HANDSHAKE, ClientCapabilities::NONE, |pair| {
        assert_eq!(pair.server.request(&ListRoots, RequestOptions::DEFAULT), Err(SendError::Unsupported));
        assert_eq!(pair.server.request(&MODEL, RequestOptions::DEFAULT), Err(SendError::Unsupported));
        assert_eq!(pair.server.request(&FORM, RequestOptions::DEFAULT), Err(SendError::Unsupported));
        assert_eq!(pair.server.request(&PAGE, RequestOptions::DEFAULT), Err(SendError::Unsupported));
        // A client without the capability responds with an error.
        pair.request("raw", |server| {
            server.request(&OtherRequest::new("roots/list", &|_| {}), RequestOptions::DEFAULT)
        });
        pair.run_until_idle()
            .expect_client_events(&["fault UnknownMethod"])
            .expect_server_events(&["raw: error Method not found (-32601)"]);
        pair.request("ping", |server| server.ping(RequestOptions::DEFAULT));
        pair.run_until_idle().expect_server_events(&["ping: result {}"]);
    });
    Scenario::run(Revisions::STATELESS, EVERYTHING, |pair| {
        assert_eq!(pair.server.request(&ListRoots, RequestOptions::DEFAULT), Err(SendError::NotConnected));
    });
}

/// Defers each server request and records its ticket.
fn defers(pair: &mut Scenario, time: Option<Millis>) -> Rc<RefCell<Vec<Ticket>>> {
    let tickets = Rc::new(RefCell::new(Vec::new()));
    let kept = tickets.clone();
    pair.on_server_request(move |mut asked| {
        let _ = asked.progress(1u32, None, "");
        let ticket = asked.defer(time).unwrap();
        kept.borrow_mut().push(ticket);
    });
    tickets
}

#[test]
fn server_requests_are_answered_later_in_any_order() {
    Scenario::run(Revisions::HANDSHAKE, EVERYTHING, |pair| {
        let tickets = defers(pair, None);
        let asked = ask_for_everything(pair, RequestOptions::DEFAULT.with_progress());
        let progress: Vec<String> = asked.iter().map(|it| format!("{}: 1", it.0)).collect();
        let progress: Vec<&str> = progress.iter().map(String::as_str).collect();
        pair.run_until_idle().expect_server_events(&progress);
        assert_eq!(pair.take_client_events().len(), asked.len());
        for ticket in tickets.borrow().iter().rev() {
            let mut reply = pair.client.reply(*ticket).unwrap();
            reply.progress(2u32, None, "").unwrap();
            reply.decline();
            assert_eq!(pair.client.reply(*ticket).err(), Some(SendError::Gone));
            pair.run_until_idle();
        }
        let server_events: Vec<String> = asked
            .iter()
            .rev()
            .flat_map(|(name, ..)| {
                let said = match *name {
                    "roots" | "model" => "error The user said no (-1)",
                    _ => r#"result {"action":"decline"}"#,
                };
                [format!("{name}: 2"), format!("{name}: {said}")]
            })
            .collect();
        pair.expect_server_events(&server_events.iter().map(String::as_str).collect::<Vec<_>>());
    });
}

#[test]
fn server_request_is_cancelled_or_times_out_on_either_side() {
    Scenario::run(Revisions::HANDSHAKE, EVERYTHING, |pair| {
        // The server cancels the request.
        let tickets = defers(pair, Some(Millis(500)));
        let asked = pair.request("roots", |server| server.request(&ListRoots, RequestOptions::DEFAULT));
        pair.run_until_idle().expect_client_events(&["asked roots"]);
        pair.server.cancel(asked, "enough").unwrap();
        assert_eq!(pair.server.cancel(asked, ""), Err(SendError::Gone));
        pair.run_until_idle().expect_client_events(&["cancelled enough"]).expect_server_events(&[]);
        assert_eq!(pair.client.reply(tickets.borrow()[0]).err(), Some(SendError::Gone));
        // The timeout of the server expires.
        pair.request("roots", |server| {
            server.request(&ListRoots, RequestOptions::DEFAULT.timeout(Millis(100)))
        });
        pair.run_until_idle().expect_client_events(&["asked roots"]);
        pair.at(pair.now + 100).expect_server_events(&["roots: Failed(TimedOut)"]);
        let client_events = pair.take_client_events();
        assert!(client_events.len() == 1 && client_events[0].starts_with("cancelled"), "{client_events:?}");
        // The timeout of the client expires.
        pair.request("roots", |server| {
            server.request(&ListRoots, RequestOptions::DEFAULT.timeout(Millis(90_000)))
        });
        pair.run_until_idle().expect_client_events(&["asked roots"]);
        pair.at(pair.now + 500).expect_client_events(&["expired"]);
        pair.expect_server_events(&["roots: error Internal error: the request timed out (-32603)"]);
        assert_eq!(pair.client.pending(), 0);
    });
}

#[test]
fn call_sends_a_request_while_others_continue() {
    Scenario::run(Revisions::HANDSHAKE, EVERYTHING, |pair| {
        pair.on_server_request(answer);
        pair.call("later", "{}", DEFAULT);
        pair.run_until_idle();
        let call = pair.deferred.pop().unwrap();
        pair.request("roots", |server| server.request(&ListRoots, RequestOptions::DEFAULT.during(call)));
        pair.call("echo", r#"{"a":1}"#, DEFAULT);
        pair.run_until_idle()
            .expect_server_events(&[r#"roots: result {"roots":[{"uri":"file:///a","name":"A"}]}"#]);
        let mut client_events = pair.take_client_events();
        client_events.sort();
        assert_eq!(client_events, ["asked roots", r#"echo: {"a":1}"#]);
        pair.server.reply(call).unwrap().text("there");
        pair.run_until_idle().expect_client_events(&["later: there"]);
        assert_eq!(
            pair.server.request(&ListRoots, RequestOptions::DEFAULT.during(call)),
            Err(SendError::Gone)
        );
    });
}

#[test]
fn roots_change_reaches_a_server_that_requested_roots() {
    Scenario::run(Revisions::HANDSHAKE, EVERYTHING, |pair| {
        pair.on_server_request(answer);
        pair.request("roots", |server| server.request(&ListRoots, RequestOptions::DEFAULT));
        pair.run_until_idle().take_client_events();
        pair.take_server_events();
        pair.client.roots_changed().unwrap();
        pair.client.roots_changed().unwrap();
        pair.run_until_idle().expect_server_events(&["roots changed"]);
    });
}

#[test]
fn request_is_retried_as_often_as_needed() {
    Scenario::run(Revisions::STATELESS, EVERYTHING, |pair| {
        let ticket = pair.call("asks", "{}", DEFAULT.with_progress());
        pair.run_until_idle().expect_client_events(&["asks: needs [who=form Who?, where=roots] and a state"]);
        assert_eq!(pair.client.resume_call_json(ticket, "asks", "{}", |_| {}), Err(SendError::Invalid));
        pair.client
            .resume_call_json(ticket, "asks", "{}", |answers| {
                answers.accept("who", |content| content.field_string("name", "octocat"));
                answers.roots("where", |roots| roots.add("file:///a", ""));
            })
            .unwrap();
        pair.run_until_idle().expect_client_events(&["asks: needs [] and a state"]);
        // Other requests continue between two retries.
        pair.call("echo", "{}", DEFAULT);
        pair.run_until_idle().expect_client_events(&["echo: {}"]);
        pair.client.resume_call_json(ticket, "asks", "{}", |_| {}).unwrap();
        pair.run_until_idle()
            .expect_client_events(&["asks: needs [page=url https://example.com/, model=sample 9]"]);
        pair.client
            .resume_call_json(ticket, "asks", "{}", |answers| {
                answers.agree("page");
                answers.sampled("model", "m", "", |content| content.text("it"));
            })
            .unwrap();
        pair.run_until_idle().expect_client_events(&[
            r#"asks: {"action":"accept"} {"role":"assistant","model":"m","content":{"type":"text","text":"it"}}"#,
        ]);
    });
}

#[test]
fn endless_input_requests_reach_a_limit() {
    Scenario::run(Revisions::STATELESS, EVERYTHING, |pair| {
        let ticket = pair.call("forever", "{}", DEFAULT);
        for _ in 0..6 {
            pair.run_until_idle().expect_client_events(&["forever: needs [] and a state"]);
            pair.client.resume_call_json(ticket, "forever", "{}", |_| {}).unwrap();
        }
        pair.run_until_idle().expect_client_events(&["forever: lost TooManyInputRequests"]);
        // A request cancelled between two retries sends no message.
        let ticket = pair.call("forever", "{}", DEFAULT);
        pair.run_until_idle().expect_client_events(&["forever: needs [] and a state"]);
        pair.cancel(ticket);
        pair.run_until_idle().expect_server_events(&[]);
        assert_eq!(pair.client.pending(), 0);
    });
}

#[test]
fn missing_client_capability_is_named_in_the_error() {
    Scenario::run(Revisions::STATELESS, ClientCapabilities::ELICITATION_FORM, |pair| {
        pair.call("roots", "{}", DEFAULT);
        pair.run_until_idle().expect_client_events(&[
            r#"roots: error Missing required client capability (-32021) {"requiredCapabilities":{"roots":{}}}"#,
        ]);
    });
    // In a session, a tool that requires input causes an error.
    Scenario::run(Revisions::HANDSHAKE, EVERYTHING, |pair| {
        pair.call("roots", "{}", DEFAULT);
        let client_events = pair.run_until_idle().take_client_events();
        assert!(
            client_events.len() == 1 && client_events[0].starts_with("roots: error"),
            "{client_events:?}"
        );
        pair.expect_server_events(&["fault InvalidInputRequest"]);
    });
}
