//! Server requests and required input, in both eras.
use std::cell::RefCell;
use std::rc::Rc;

use crate::support::pair::scenario::{Both, EVERYTHING, FORM, MODEL, PAGE};
use mcp_proto::client::{InputRequest, Options, ServerRequest};
use mcp_proto::input::ListRoots;
use mcp_proto::server::RequestOptions;
use mcp_proto::{ClientCapabilities, Millis, Revision, Revisions, SendError, Ticket};

const DEFAULT: Options = Options::DEFAULT;

/// Replies to every kind of server request.
fn answer(asked: ServerRequest<'_>) {
    match asked.input() {
        InputRequest::Roots => asked.roots(|roots| roots.add("file:///a", "A")),
        InputRequest::Elicit(form) => {
            assert_eq!(form.properties().count(), 2);
            asked.accept(|content| content.field_string("name", "octocat"));
        }
        InputRequest::Sample(_) => asked.sampled("m", "endTurn", |content| content.text("it")),
        _ => asked.accept(|_| {}),
    }
}

/// Sends every server request of the revision. Returns names and responses.
fn ask_for_everything(both: &mut Both, ask: RequestOptions) -> Vec<(&'static str, Ticket, &'static str)> {
    let mut asked = vec![
        (
            "roots",
            both.request("roots", |server| server.request(&ListRoots, ask)),
            r#"roots: result {"roots":[{"uri":"file:///a","name":"A"}]}"#,
        ),
        (
            "model",
            both.request("model", |server| server.request(&MODEL, ask)),
            r#"model: result {"role":"assistant","model":"m","stopReason":"endTurn","content":{"type":"text","text":"it"}}"#,
        ),
    ];
    let since = |revision| both.revision >= revision;
    let (forms, pages) = (since(Revision::V2025_06_18), since(Revision::V2025_11_25));
    if forms {
        let ticket = both.request("form", |server| server.request(&FORM, ask));
        asked.push(("form", ticket, r#"form: result {"action":"accept","content":{"name":"octocat"}}"#));
    }
    if pages {
        let ticket = both.request("page", |server| server.request(&PAGE, ask));
        asked.push(("page", ticket, r#"page: result {"action":"accept"}"#));
    }
    asked
}

#[test]
fn server_request_is_answered_at_once() {
    Both::run(Revisions::HANDSHAKE, EVERYTHING, |both| {
        both.answers(answer);
        let asked = ask_for_everything(both, RequestOptions::DEFAULT);
        both.settle();
        let told: Vec<&str> = asked.iter().map(|it| it.2).collect();
        both.told(&told);
        let all = ["asked roots", "asked sample 9", "asked form Who?", "asked url https://example.com/"];
        both.heard(&all[..asked.len()]);
        let complete = both.server.elicitation_complete("e1");
        assert_eq!(complete.is_ok(), both.revision == Revision::V2025_11_25);
        let heard: &[&str] = &[r#"notified notifications/elicitation/complete {"elicitationId":"e1"}"#];
        both.settle().heard(if complete.is_ok() { heard } else { &[] });
    });
}

#[test]
fn undeclared_capability_cannot_be_requested() {
    Both::run(Revisions::HANDSHAKE, ClientCapabilities::NONE, |both| {
        assert_eq!(both.server.request(&ListRoots, RequestOptions::DEFAULT), Err(SendError::Unsupported));
        assert_eq!(both.server.request(&MODEL, RequestOptions::DEFAULT), Err(SendError::Unsupported));
        assert_eq!(both.server.request(&FORM, RequestOptions::DEFAULT), Err(SendError::Unsupported));
        assert_eq!(both.server.request(&PAGE, RequestOptions::DEFAULT), Err(SendError::Unsupported));
        // A server that sends it anyway gets an error.
        both.request("raw", |server| server.ask_raw("roots/list", RequestOptions::DEFAULT, |_| {}));
        both.settle().heard(&["fault UnknownMethod"]).told(&["raw: error Method not found (-32601)"]);
        both.request("ping", |server| server.ping(RequestOptions::DEFAULT));
        both.settle().told(&["ping: result {}"]);
    });
    Both::run(Revisions::STATELESS, EVERYTHING, |both| {
        assert_eq!(both.server.request(&ListRoots, RequestOptions::DEFAULT), Err(SendError::NotConnected));
    });
}

/// Defers each server request and records its ticket.
fn defers(both: &mut Both, time: Option<Millis>) -> Rc<RefCell<Vec<Ticket>>> {
    let tickets = Rc::new(RefCell::new(Vec::new()));
    let kept = tickets.clone();
    both.answers(move |mut asked| {
        let _ = asked.progress(1u32, None, "");
        let ticket = asked.defer(time).unwrap();
        kept.borrow_mut().push(ticket);
    });
    tickets
}

#[test]
fn server_requests_are_answered_later_in_any_order() {
    Both::run(Revisions::HANDSHAKE, EVERYTHING, |both| {
        let tickets = defers(both, None);
        let asked = ask_for_everything(both, RequestOptions::DEFAULT.with_progress());
        let progress: Vec<String> = asked.iter().map(|it| format!("{}: 1", it.0)).collect();
        let progress: Vec<&str> = progress.iter().map(String::as_str).collect();
        both.settle().told(&progress);
        assert_eq!(both.heard_now().len(), asked.len());
        for ticket in tickets.borrow().iter().rev() {
            let mut reply = both.client.reply(*ticket).unwrap();
            reply.progress(2u32, None, "").unwrap();
            reply.decline();
            assert_eq!(both.client.reply(*ticket).err(), Some(SendError::Gone));
            both.settle();
        }
        let told: Vec<String> = asked
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
        both.told(&told.iter().map(String::as_str).collect::<Vec<_>>());
    });
}

#[test]
fn server_request_is_cancelled_or_times_out_on_either_side() {
    Both::run(Revisions::HANDSHAKE, EVERYTHING, |both| {
        // Cancelled by the server.
        let tickets = defers(both, Some(Millis(500)));
        let asked = both.request("roots", |server| server.request(&ListRoots, RequestOptions::DEFAULT));
        both.settle().heard(&["asked roots"]);
        both.server.cancel(asked, "enough").unwrap();
        assert_eq!(both.server.cancel(asked, ""), Err(SendError::Gone));
        both.settle().heard(&["cancelled enough"]).told(&[]);
        assert_eq!(both.client.reply(tickets.borrow()[0]).err(), Some(SendError::Gone));
        // The timeout of the server.
        both.request("roots", |server| {
            server.request(&ListRoots, RequestOptions::DEFAULT.timeout(Millis(100)))
        });
        both.settle().heard(&["asked roots"]);
        both.at(both.now + 100).told(&["roots: Failed(TimedOut)"]);
        let heard = both.heard_now();
        assert!(heard.len() == 1 && heard[0].starts_with("cancelled"), "{heard:?}");
        // The timeout of the client.
        both.request("roots", |server| {
            server.request(&ListRoots, RequestOptions::DEFAULT.timeout(Millis(90_000)))
        });
        both.settle().heard(&["asked roots"]);
        both.at(both.now + 500).heard(&["expired"]);
        both.told(&["roots: error Internal error: the request was not finished in time (-32603)"]);
        assert_eq!(both.client.pending(), 0);
    });
}

#[test]
fn call_sends_a_request_while_others_continue() {
    Both::run(Revisions::HANDSHAKE, EVERYTHING, |both| {
        both.answers(answer);
        both.call("later", "{}", DEFAULT);
        both.settle();
        let call = both.deferred.pop().unwrap();
        both.request("roots", |server| server.request(&ListRoots, RequestOptions::DEFAULT.during(call)));
        both.call("echo", r#"{"a":1}"#, DEFAULT);
        both.settle().told(&[r#"roots: result {"roots":[{"uri":"file:///a","name":"A"}]}"#]);
        let mut heard = both.heard_now();
        heard.sort();
        assert_eq!(heard, ["asked roots", r#"echo: {"a":1}"#]);
        both.server.reply(call).unwrap().text("there");
        both.settle().heard(&["later: there"]);
        assert_eq!(
            both.server.request(&ListRoots, RequestOptions::DEFAULT.during(call)),
            Err(SendError::Gone)
        );
    });
}

#[test]
fn roots_change_reaches_a_server_that_requested_roots() {
    Both::run(Revisions::HANDSHAKE, EVERYTHING, |both| {
        both.answers(answer);
        both.request("roots", |server| server.request(&ListRoots, RequestOptions::DEFAULT));
        both.settle().heard_now();
        both.told_now();
        both.client.roots_changed().unwrap();
        both.client.roots_changed().unwrap();
        both.settle().told(&["roots changed"]);
    });
}

#[test]
fn request_is_retried_as_often_as_needed() {
    Both::run(Revisions::STATELESS, EVERYTHING, |both| {
        let ticket = both.call("asks", "{}", DEFAULT.with_progress());
        both.settle().heard(&["asks: needs [who=form Who?, where=roots] and a state"]);
        assert_eq!(both.client.resume_call_json(ticket, "asks", "{}", |_| {}), Err(SendError::Unwritable));
        both.client
            .resume_call_json(ticket, "asks", "{}", |answers| {
                answers.accept("who", |content| content.field_string("name", "octocat"));
                answers.roots("where", |roots| roots.add("file:///a", ""));
            })
            .unwrap();
        both.settle().heard(&["asks: needs [] and a state"]);
        // Other requests continue between two retries.
        both.call("echo", "{}", DEFAULT);
        both.settle().heard(&["echo: {}"]);
        both.client.resume_call_json(ticket, "asks", "{}", |_| {}).unwrap();
        both.settle().heard(&["asks: needs [page=url https://example.com/, model=sample 9]"]);
        both.client
            .resume_call_json(ticket, "asks", "{}", |answers| {
                answers.agree("page");
                answers.sampled("model", "m", "", |content| content.text("it"));
            })
            .unwrap();
        both.settle().heard(&[
            r#"asks: {"action":"accept"} {"role":"assistant","model":"m","content":{"type":"text","text":"it"}}"#,
        ]);
    });
}

#[test]
fn endless_input_requests_reach_a_limit() {
    Both::run(Revisions::STATELESS, EVERYTHING, |both| {
        let ticket = both.call("forever", "{}", DEFAULT);
        for _ in 0..6 {
            both.settle().heard(&["forever: needs [] and a state"]);
            both.client.resume_call_json(ticket, "forever", "{}", |_| {}).unwrap();
        }
        both.settle().heard(&["forever: lost TooManyRounds"]);
        // Cancelled between two retries: no message is sent.
        let ticket = both.call("forever", "{}", DEFAULT);
        both.settle().heard(&["forever: needs [] and a state"]);
        both.cancel(ticket);
        both.settle().told(&[]);
        assert_eq!(both.client.pending(), 0);
    });
}

#[test]
fn missing_client_capability_is_named_in_the_error() {
    Both::run(Revisions::STATELESS, ClientCapabilities::ELICITATION_FORM, |both| {
        both.call("roots", "{}", DEFAULT);
        both.settle().heard(&[
            r#"roots: error Missing required client capability (-32021) {"requiredCapabilities":{"roots":{}}}"#,
        ]);
    });
    // In a session, requiring input is an error of the tool.
    Both::run(Revisions::HANDSHAKE, EVERYTHING, |both| {
        both.call("roots", "{}", DEFAULT);
        let heard = both.settle().heard_now();
        assert!(heard.len() == 1 && heard[0].starts_with("roots: error"), "{heard:?}");
        both.told(&["fault NoRoundTrip"]);
    });
}
