//! Requests of 2026-07-28 that require input: retries, states, limits, cancellation.
use crate::support::FailureContext;
use crate::support::client::{ClientHarness, Setup};
use mcp_proto::client::{ClientConfig, InputResponses, Options};
use mcp_proto::json::Writer;
use mcp_proto::{ClientCapabilities as C, Millis, SendError, Ticket};

const ALL: C =
    C::ROOTS.with(C::SAMPLING).with(C::SAMPLING_TOOLS).with(C::ELICITATION_FORM).with(C::ELICITATION_URL);
const DEFAULT: Options = Options::DEFAULT;

fn setup() -> Setup {
    Setup::automatic().declares(ALL).rx(2048)
}

fn run(setup: Setup, dialogue: impl Fn(&mut ClientHarness)) {
    setup.run(|harness| {
        harness.connect();
        dialogue(harness);
    });
}

/// Returns a result that requires input. `more` are further members of the result.
fn asks(name: &str, more: &str) -> String {
    format!(r#"{{"id":@{name},"result":{{"resultType":"input_required"{more}}}}}"#)
}

const FORM: &str =
    r#"{"method":"elicitation/create","params":{"message":"Name?","requestedSchema":{"type":"object"}}}"#;
const URL: &str =
    r#"{"method":"elicitation/create","params":{"mode":"url","message":"m","url":"https://a/"}}"#;
const ROOTS: &str = r#"{"method":"roots/list"}"#;
const SAMPLE: &str = r#"{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":9}}"#;

fn resume(
    harness: &mut ClientHarness,
    ticket: Ticket,
    answers: impl FnOnce(&mut InputResponses<'_, '_>),
) -> Result<(), SendError> {
    let resumed = harness.client.resume_call_json(ticket, "add", r#"{"a":1}"#, answers);
    harness.pump();
    resumed
}

#[test]
fn call_is_answered_after_input_was_given() {
    run(setup(), |harness| {
        let ticket = harness.call("add", DEFAULT).unwrap();
        harness.discard();
        let questions = format!(
            r#","inputRequests":{{"f":{FORM},"u\u0031":{URL},"r":{ROOTS},"s":{SAMPLE}}},"requestState":"st\u0061te\"""#
        );
        harness
            .server_sends(&asks("add", &questions))
            .events(&["add: needs [f=form Name?, u1=url https://a/, r=roots, s=sample 9] and a state"]);
        harness.sent(&[]);
        assert!(harness.client.is_pending(ticket));
        resume(harness, ticket, |answers| {
            answers.accept("f", |content| content.field_string("name", "octocat"));
            answers.agree("u1");
            answers.roots("r", |roots| roots.add("file:///a", "A"));
            answers.sampled("s", "m", "endTurn", |content| content.text("hi"));
        })
        .unwrap();
        // The retry has a new id, the same request, and the unchanged state.
        harness.sent(&[concat!(
            r#"{"id":@,"method":"tools/call","params":{"name":"add","arguments":{"a":1},"#,
            r#""inputResponses":{"f":{"action":"accept","content":{"name":"octocat"}},"u1":{"action":"accept"},"#,
            r#""r":{"roots":[{"uri":"file:///a","name":"A"}]},"#,
            r#""s":{"role":"assistant","model":"m","stopReason":"endTurn","content":{"type":"text","text":"hi"}}},"#,
            r#""requestState":"st\u0061te\"","_meta":{..}}}"#
        )]);
        assert_eq!(resume(harness, ticket, |_| {}), Err(SendError::Gone), "the retry is in flight");
        harness.server_sends(r#"{"id":@add,"result":{}}"#).events(&["add: result {}"]);
        assert_eq!(resume(harness, ticket, |_| {}), Err(SendError::Gone));
        assert_eq!((harness.client.pending(), harness.deadline), (0, None));
    });
}

#[test]
fn each_retry_has_its_own_responses_and_state() {
    run(setup(), |harness| {
        let ticket = harness.call("add", DEFAULT).unwrap();
        let first = harness.message("@add");
        harness.server_sends(&asks("add", &format!(r#","inputRequests":{{"a":{FORM}}},"requestState":"1""#)));
        resume(harness, ticket, |answers| answers.decline("a")).unwrap();
        // The client ignores later messages for the first id.
        harness.discard().server_sends(&format!(r#"{{"id":{first},"result":{{}}}}"#)).events(&[]);
        harness
            .server_sends(&asks("add", &format!(r#","inputRequests":{{"b":{URL}}}"#)))
            .events(&["add: needs [b=url https://a/]"]);
        harness.server_sends(r#"{"id":@add,"result":{}}"#).events(&[]);
        resume(harness, ticket, |answers| answers.cancel("b")).unwrap();
        harness.sent(&[concat!(
            r#"{"id":@,"method":"tools/call","params":{"name":"add","arguments":{"a":1},"#,
            r#""inputResponses":{"b":{"action":"cancel"}},"_meta":{..}}}"#
        )]);
        // If the server returns only a state, the application resumes the request without input responses.
        harness.server_sends(&asks("add", r#","requestState":"3""#)).events(&["add: needs [] and a state"]);
        resume(harness, ticket, |_| {}).unwrap();
        harness.sent(&[
            r#"{"id":@,"method":"tools/call","params":{"name":"add","arguments":{"a":1},"requestState":"3","_meta":{..}}}"#,
        ]);
        harness
            .server_sends(r#"{"id":@add,"error":{"code":-1,"message":"no"}}"#)
            .events(&["add: error no (-1)"]);
    });
}

/// While the application obtains the input, an oversized response with the old id ends no request.
#[test]
fn oversized_response_with_a_used_id_ends_no_request() {
    run(setup().rx(400), |harness| {
        let ticket = harness.call("add", DEFAULT).unwrap();
        harness.server_sends(&asks("add", r#","requestState":"s""#)).discard();
        let long = "x".repeat(400);
        harness
            .server_sends(&format!(r#"{{"id":@add,"result":{{"x":"{long}"}}}}"#))
            .events(&["fault LineTooLong"]);
        resume(harness, ticket, |_| {}).unwrap();
        harness.discard().server_sends(r#"{"id":@add,"result":{}}"#).events(&["add: result {}"]);
    });
}

#[test]
fn only_calls_prompts_and_resources_may_require_input() {
    let cases = [
        ("prompts/get", "name", true),
        ("resources/read", "uri", true),
        ("completion/complete", "ref", false),
    ];
    for (method, member, may) in cases {
        run(setup(), |harness| {
            let params = |out: &mut Writer<'_>| out.field_string(member, "x");
            let ticket = harness.client.request(method, DEFAULT, params).unwrap();
            harness.name(ticket, "it");
            let last = method.rsplit('/').next().unwrap();
            // The harness names requests by their `name` param.
            let name = if member == "name" { "x" } else { last };
            harness.discard().server_sends(&asks(name, r#","requestState":"s""#));
            if !may {
                harness.events(&["it: lost Invalid"]);
                return;
            }
            harness.events(&["it: needs [] and a state"]);
            let refused = harness.client.resume_call_json(ticket, "x", "{}", |_| {});
            assert_eq!(refused, Err(SendError::Invalid), "the request is not a call");
            if method == "resources/read" {
                harness.client.resume_read(ticket, "x", |_| {}).unwrap();
            } else {
                assert_eq!(harness.client.resume_read(ticket, "x", |_| {}), Err(SendError::Invalid));
                harness.client.resume(ticket, params, |_| {}).unwrap();
            }
            harness.pump();
            harness.sent(&[&format!(
                r#"{{"id":@,"method":"{method}","params":{{"{member}":"x","requestState":"s","_meta":{{..}}}}}}"#
            )]);
            harness.client.cancel(ticket, "").unwrap();
            harness.pump();
            harness.discard();
        });
    }
    run(setup(), |harness| {
        harness.list();
        harness
            .discard()
            .server_sends(&asks("list", r#","requestState":"s""#))
            .events(&["list: lost Invalid"]);
    });
}

#[test]
fn empty_or_undeclared_input_request_is_invalid() {
    let form = format!(r#","inputRequests":{{"a":{FORM}}}"#);
    let sample_with_tools = r#","inputRequests":{"a":{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1,"tools":[]}}}"#;
    let cases: &[(C, &str)] = &[
        (ALL, ""),
        (ALL, r#","inputRequests":{}"#),
        (ALL, r#","inputRequests":null,"requestState":null"#),
        (ALL, r#","inputRequests":[]"#),
        (ALL, r#","inputRequests":{"a":1}"#),
        (ALL, r#","inputRequests":{"a":{}}"#),
        (ALL, r#","inputRequests":{"a":{"method":"ping"}}"#),
        (ALL, r#","inputRequests":{"a":{"method":"elicitation/create"}}"#),
        (ALL, r#","requestState":7"#),
        (C::NONE, &form),
        (C::ELICITATION_URL, &form),
        (C::SAMPLING, sample_with_tools),
    ];
    for (declared, more) in cases {
        let _context = FailureContext(format!("{declared:?} {more}"));
        run(Setup { info: setup().info.capabilities(*declared), ..setup() }, |harness| {
            harness.call("add", DEFAULT).unwrap();
            harness.discard().server_sends(&asks("add", more)).events(&["add: lost Invalid"]).sent(&[]);
        });
    }
    run(setup(), |harness| {
        harness.call("add", DEFAULT).unwrap();
        harness
            .discard()
            .server_sends(r#"{"id":@add,"result":{"resultType":"task"}}"#)
            .events(&["add: lost Invalid"]);
    });
    // A client of the handshake era ignores the member `resultType`.
    Setup::handshake().declares(ALL).run(|harness| {
        harness.connect();
        harness.call("add", DEFAULT).unwrap();
        harness.discard().server_sends(r#"{"id":@add,"result":{"resultType":"input_required"}}"#);
        harness.events(&[r#"add: result {"resultType":"input_required"}"#]);
    });
}

#[test]
fn custom_meta_is_sent_with_each_retry_if_it_fits() {
    let options = DEFAULT.meta(r#"{"traceparent":"00-1-2-01"}"#);
    let asks = |state: &str| asks("add", &format!(r#","requestState":"{state}""#));
    run(Setup { slots: 2, text: 80, ..setup() }, |harness| {
        let ticket = harness.call("add", options).unwrap();
        for state in ["1", "12345678901"] {
            harness.discard().server_sends(&asks(state)).events(&["add: needs [] and a state"]);
            resume(harness, ticket, |_| {}).unwrap();
            let line = harness.take_sent_lines().remove(0);
            assert!(line.contains(&format!(r#""requestState":"{state}""#)), "{line}");
            assert!(line.contains(r#""traceparent":"00-1-2-01""#), "{line}");
        }
        harness.discard().server_sends(&asks("123456789012")).events(&["add: lost StateTooLong"]);
    });
    run(Setup { slots: 2, text: 52, ..setup() }, |harness| {
        // The text of a slot has no space for `_meta` and a state. This is an error only if the server requires input.
        harness.call("add", options).unwrap();
        harness.discard().server_sends(r#"{"id":@add,"result":{}}"#).events(&["add: result {}"]);
        harness.call("sub", options).unwrap();
        let question = asks("").replace("@add", "@sub");
        harness.discard().server_sends(&question).events(&["sub: lost StateTooLong"]);
    });
}

#[test]
fn oversized_state_or_too_many_retries_end_the_request() {
    run(Setup { slots: 2, text: 20, ..setup() }, |harness| {
        // With its quotes, the state fills the text of a slot.
        let ticket = harness.call("add", DEFAULT).unwrap();
        harness
            .discard()
            .server_sends(&asks("add", r#","requestState":"12345678""#))
            .events(&["add: needs [] and a state"]);
        resume(harness, ticket, |_| {}).unwrap();
        harness
            .discard()
            .server_sends(&asks("add", r#","requestState":"123456789""#))
            .events(&["add: lost StateTooLong"]);
    });
    let info: ClientConfig<'static> = setup().info.input_limit(2);
    run(Setup { info, ..setup() }, |harness| {
        let ticket = harness.call("add", DEFAULT).unwrap();
        for _ in 0..2 {
            harness
                .discard()
                .server_sends(&asks("add", r#","requestState":"s""#))
                .events(&["add: needs [] and a state"]);
            resume(harness, ticket, |_| {}).unwrap();
        }
        harness
            .discard()
            .server_sends(&asks("add", r#","requestState":"s""#))
            .events(&["add: lost TooManyInputRequests"]);
        assert_eq!(harness.client.pending(), 0);
    });
}

#[test]
fn incomplete_input_responses_can_be_corrected() {
    run(setup(), |harness| {
        let ticket = harness.call("add", DEFAULT).unwrap();
        let more = format!(r#","inputRequests":{{"a":{FORM},"b":{ROOTS}}}"#);
        harness.discard().server_sends(&asks("add", &more)).discard();
        let cases: [fn(&mut InputResponses<'_, '_>); 5] = [
            |_| {},
            |answers| answers.decline("a"),
            |answers| {
                answers.decline("a");
                answers.decline("b");
                answers.decline("c");
            },
            |answers| {
                answers.decline("a");
                answers.roots("b", |roots| roots.add("https://a/", ""));
            },
            |answers| {
                answers.accept("a", |content| content.begin_object());
                answers.roots("b", |_| {});
            },
        ];
        for answers in cases {
            assert_eq!(resume(harness, ticket, answers), Err(SendError::Invalid));
        }
        let wrong = harness.client.resume_call_json(ticket, "add", "[]", |_| {});
        assert_eq!(wrong, Err(SendError::Invalid));
        harness.sent(&[]);
        resume(harness, ticket, |answers| {
            answers.decline("a");
            answers.roots("b", |_| {});
        })
        .unwrap();
        assert_eq!(harness.take_sent_lines().len(), 1);
        harness.server_sends(r#"{"id":@add,"result":{}}"#).events(&["add: result {}"]);
    });
}

#[test]
fn busy_retry_succeeds_later() {
    run(setup(), |harness| {
        let ticket = harness.call("add", DEFAULT).unwrap();
        harness.discard().server_sends(&asks("add", r#","requestState":"s""#)).discard();
        harness.peer_reads(false);
        while harness.call("fill", DEFAULT).is_ok() {}
        let large = format!(r#"{{"a":"{}"}}"#, "x".repeat(3500));
        assert_eq!(harness.client.resume_call_json(ticket, "add", &large, |_| {}), Err(SendError::Busy));
        harness.peer_reads(true);
        harness.pump();
        harness.events(&["room"]).discard();
        harness.client.resume_call_json(ticket, "add", &large, |_| {}).unwrap();
        harness.pump();
        harness.discard().server_sends(r#"{"id":@add,"result":{}}"#).events(&["add: result {}"]);
    });
}

#[test]
fn cancel_between_retries_sends_nothing() {
    run(setup(), |harness| {
        let ticket = harness.call("add", DEFAULT).unwrap();
        harness
            .discard()
            .server_sends(&asks("add", r#","requestState":"s""#))
            .events(&["add: needs [] and a state"]);
        harness.cancel(ticket, "no");
        harness.sent(&[]);
        assert_eq!((harness.client.pending(), harness.deadline), (0, None));
        harness.server_sends(r#"{"id":@add,"result":{}}"#).events(&[]);
    });
    // If the request is in flight, the client sends a cancellation.
    run(setup(), |harness| {
        let ticket = harness.call("add", DEFAULT).unwrap();
        harness.server_sends(&asks("add", r#","requestState":"s""#)).discard();
        resume(harness, ticket, |_| {}).unwrap();
        harness.discard().cancel(ticket, "");
        harness.sent(&[r#"{"method":"notifications/cancelled","params":{"requestId":@add}}"#]);
    });
}

/// The timeout of the harness is one second for each attempt, and five seconds in total.
#[test]
fn maximum_timeout_covers_all_retries() {
    run(setup(), |harness| {
        let ticket = harness.call("add", DEFAULT).unwrap();
        harness.at(900).server_sends(&asks("add", r#","requestState":"s""#)).discard();
        assert_eq!(harness.deadline, Some(5000), "the application has until the maximum timeout");
        harness.at(4500);
        resume(harness, ticket, |_| {}).unwrap();
        assert_eq!(harness.deadline, Some(5000));
        harness.discard().at(5000).events(&["add: lost TimedOut"]);
        assert_eq!(harness.take_sent_lines().len(), 1, "the cancellation");
    });
    run(setup(), |harness| {
        harness.call("add", DEFAULT).unwrap();
        harness.server_sends(&asks("add", r#","requestState":"s""#)).discard();
        harness.at(4999).events(&[]).at(5000).events(&["add: lost TimedOut"]).sent(&[]);
    });
    run(setup(), |harness| {
        let ticket = harness.call("add", DEFAULT.timeout(Millis(700))).unwrap();
        harness.server_sends(&asks("add", r#","requestState":"s""#)).discard();
        harness.at(1000);
        resume(harness, ticket, |_| {}).unwrap();
        assert_eq!(harness.deadline, Some(1700), "each round has a full timeout");
        harness.discard().eof().events(&["add: lost Closed", "closed"]);
    });
}

#[test]
fn progress_continues_under_the_new_id() {
    run(setup(), |harness| {
        let ticket = harness.call("add", DEFAULT.with_progress()).unwrap();
        let progress = r#"{"method":"notifications/progress","params":{"progressToken":@add,"progress":1}}"#;
        harness.discard().server_sends(progress).events(&["add: 1"]);
        harness.server_sends(&asks("add", r#","requestState":"s""#)).discard();
        harness.server_sends(progress).events(&[]);
        resume(harness, ticket, |_| {}).unwrap();
        let sent = harness.take_sent();
        assert!(sent[0].ends_with(r#""requestState":"s","_meta":{..,"progressToken":@}}}"#), "{sent:?}");
        harness.server_sends(progress).events(&["add: 1"]);
        harness.cancel(ticket, "");
        harness.discard();
    });
}
