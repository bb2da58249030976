//! Requests of 2026-07-28 that require input: retries, states, limits, cancellation.
use crate::support::ShownOnFailure;
use crate::support::client::{Setup, Wire};
use mcp_proto::client::{ClientConfig, InputResponses, Options};
use mcp_proto::json::Writer;
use mcp_proto::{ClientCapabilities as C, Millis, SendError, Ticket};

const ALL: C =
    C::ROOTS.with(C::SAMPLING).with(C::SAMPLING_TOOLS).with(C::ELICITATION_FORM).with(C::ELICITATION_URL);
const DEFAULT: Options = Options::DEFAULT;

fn setup() -> Setup {
    Setup::automatic().declares(ALL).rx(2048)
}

fn run(setup: Setup, dialogue: impl Fn(&mut Wire)) {
    setup.run(|wire| {
        wire.connect();
        dialogue(wire);
    });
}

/// The server requires input. `more` are further members of the result.
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
    wire: &mut Wire,
    ticket: Ticket,
    answers: impl FnOnce(&mut InputResponses<'_, '_>),
) -> Result<(), SendError> {
    let resumed = wire.client.resume_call_json(ticket, "add", r#"{"a":1}"#, answers);
    wire.pump();
    resumed
}

#[test]
fn call_is_answered_after_input_was_given() {
    run(setup(), |wire| {
        let ticket = wire.call("add", DEFAULT).unwrap();
        wire.forget();
        let questions = format!(
            r#","inputRequests":{{"f":{FORM},"u\u0031":{URL},"r":{ROOTS},"s":{SAMPLE}}},"requestState":"st\u0061te\"""#
        );
        wire.server(&asks("add", &questions))
            .heard(&["add: needs [f=form Name?, u1=url https://a/, r=roots, s=sample 9] and a state"]);
        wire.sent(&[]);
        assert!(wire.client.is_pending(ticket));
        resume(wire, ticket, |answers| {
            answers.accept("f", |content| content.field_string("name", "octocat"));
            answers.agree("u1");
            answers.roots("r", |roots| roots.add("file:///a", "A"));
            answers.sampled("s", "m", "endTurn", |content| content.text("hi"));
        })
        .unwrap();
        // A new id, the same request, and the unchanged state.
        wire.sent(&[concat!(
            r#"{"id":@,"method":"tools/call","params":{"name":"add","arguments":{"a":1},"#,
            r#""inputResponses":{"f":{"action":"accept","content":{"name":"octocat"}},"u1":{"action":"accept"},"#,
            r#""r":{"roots":[{"uri":"file:///a","name":"A"}]},"#,
            r#""s":{"role":"assistant","model":"m","stopReason":"endTurn","content":{"type":"text","text":"hi"}}},"#,
            r#""requestState":"st\u0061te\"","_meta":{..}}}"#
        )]);
        assert_eq!(resume(wire, ticket, |_| {}), Err(SendError::Gone), "it is under way");
        wire.server(r#"{"id":@add,"result":{}}"#).heard(&["add: result {}"]);
        assert_eq!(resume(wire, ticket, |_| {}), Err(SendError::Gone));
        assert_eq!((wire.client.pending(), wire.deadline), (0, None));
    });
}

#[test]
fn each_retry_has_its_own_responses_and_state() {
    run(setup(), |wire| {
        let ticket = wire.call("add", DEFAULT).unwrap();
        let first = wire.message("@add");
        wire.server(&asks("add", &format!(r#","inputRequests":{{"a":{FORM}}},"requestState":"1""#)));
        resume(wire, ticket, |answers| answers.decline("a")).unwrap();
        // Later messages for the first id are ignored.
        wire.forget().server(&format!(r#"{{"id":{first},"result":{{}}}}"#)).heard(&[]);
        wire.server(&asks("add", &format!(r#","inputRequests":{{"b":{URL}}}"#)))
            .heard(&["add: needs [b=url https://a/]"]);
        wire.server(r#"{"id":@add,"result":{}}"#).heard(&[]);
        resume(wire, ticket, |answers| answers.cancel("b")).unwrap();
        wire.sent(&[concat!(
            r#"{"id":@,"method":"tools/call","params":{"name":"add","arguments":{"a":1},"#,
            r#""inputResponses":{"b":{"action":"cancel"}},"_meta":{..}}}"#
        )]);
        // With only a state, the request is sent again.
        wire.server(&asks("add", r#","requestState":"3""#)).heard(&["add: needs [] and a state"]);
        resume(wire, ticket, |_| {}).unwrap();
        wire.sent(&[
            r#"{"id":@,"method":"tools/call","params":{"name":"add","arguments":{"a":1},"requestState":"3","_meta":{..}}}"#,
        ]);
        wire.server(r#"{"id":@add,"error":{"code":-1,"message":"no"}}"#).heard(&["add: error no (-1)"]);
    });
}

/// A message with a used id: here longer than a line may be.
#[test]
fn oversized_response_with_a_used_id_is_ignored() {
    run(setup().rx(400), |wire| {
        let ticket = wire.call("add", DEFAULT).unwrap();
        wire.server(&asks("add", r#","requestState":"s""#)).forget();
        let long = "x".repeat(400);
        wire.server(&format!(r#"{{"id":@add,"result":{{"x":"{long}"}}}}"#)).heard(&["fault LineTooLong"]);
        resume(wire, ticket, |_| {}).unwrap();
        wire.forget().server(r#"{"id":@add,"result":{}}"#).heard(&["add: result {}"]);
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
        run(setup(), |wire| {
            let params = |out: &mut Writer<'_>| out.field_string(member, "x");
            let ticket = wire.client.request(method, DEFAULT, params).unwrap();
            wire.name(ticket, "it");
            let last = method.rsplit('/').next().unwrap();
            // The harness names requests by their `name` param.
            let name = if member == "name" { "x" } else { last };
            wire.forget().server(&asks(name, r#","requestState":"s""#));
            if !may {
                wire.heard(&["it: lost Invalid"]);
                return;
            }
            wire.heard(&["it: needs [] and a state"]);
            let refused = wire.client.resume_call_json(ticket, "x", "{}", |_| {});
            assert_eq!(refused, Err(SendError::Unwritable), "it is no call");
            wire.client.resume(ticket, params, |_| {}).unwrap();
            wire.pump();
            wire.sent(&[&format!(
                r#"{{"id":@,"method":"{method}","params":{{"{member}":"x","requestState":"s","_meta":{{..}}}}}}"#
            )]);
            wire.client.cancel(ticket, "").unwrap();
            wire.pump();
            wire.forget();
        });
    }
    run(setup(), |wire| {
        wire.list();
        wire.forget().server(&asks("list", r#","requestState":"s""#)).heard(&["list: lost Invalid"]);
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
        let _shown = ShownOnFailure(format!("{declared:?} {more}"));
        run(Setup { info: setup().info.capabilities(*declared), ..setup() }, |wire| {
            wire.call("add", DEFAULT).unwrap();
            wire.forget().server(&asks("add", more)).heard(&["add: lost Invalid"]).sent(&[]);
        });
    }
    run(setup(), |wire| {
        wire.call("add", DEFAULT).unwrap();
        wire.forget().server(r#"{"id":@add,"result":{"resultType":"task"}}"#).heard(&["add: lost Invalid"]);
    });
    // The handshake era ignores a member of that name.
    Setup::handshake().declares(ALL).run(|wire| {
        wire.connect();
        wire.call("add", DEFAULT).unwrap();
        wire.forget().server(r#"{"id":@add,"result":{"resultType":"input_required"}}"#);
        wire.heard(&[r#"add: result {"resultType":"input_required"}"#]);
    });
}

#[test]
fn custom_meta_is_sent_with_each_retry_if_it_fits() {
    let options = DEFAULT.meta(r#"{"traceparent":"00-1-2-01"}"#);
    let asks = |state: &str| asks("add", &format!(r#","requestState":"{state}""#));
    run(Setup { slots: 2, text: 80, ..setup() }, |wire| {
        let ticket = wire.call("add", options).unwrap();
        for state in ["1", "12345678901"] {
            wire.forget().server(&asks(state)).heard(&["add: needs [] and a state"]);
            resume(wire, ticket, |_| {}).unwrap();
            let line = wire.sent_lines().remove(0);
            assert!(line.contains(&format!(r#""requestState":"{state}""#)), "{line}");
            assert!(line.contains(r#""traceparent":"00-1-2-01""#), "{line}");
        }
        wire.forget().server(&asks("123456789012")).heard(&["add: lost StateTooLong"]);
    });
    run(Setup { slots: 2, text: 52, ..setup() }, |wire| {
        // The error occurs only when the server requires input.
        wire.call("add", options).unwrap();
        wire.forget().server(r#"{"id":@add,"result":{}}"#).heard(&["add: result {}"]);
        wire.call("sub", options).unwrap();
        let question = asks("").replace("@add", "@sub");
        wire.forget().server(&question).heard(&["sub: lost StateTooLong"]);
    });
}

#[test]
fn oversized_state_or_too_many_retries_end_the_request() {
    run(Setup { slots: 2, text: 20, ..setup() }, |wire| {
        // With its quotes, the state fills the text of a slot.
        let ticket = wire.call("add", DEFAULT).unwrap();
        wire.forget()
            .server(&asks("add", r#","requestState":"12345678""#))
            .heard(&["add: needs [] and a state"]);
        resume(wire, ticket, |_| {}).unwrap();
        wire.forget()
            .server(&asks("add", r#","requestState":"123456789""#))
            .heard(&["add: lost StateTooLong"]);
    });
    let info: ClientConfig<'static> = setup().info.rounds(2);
    run(Setup { info, ..setup() }, |wire| {
        let ticket = wire.call("add", DEFAULT).unwrap();
        for _ in 0..2 {
            wire.forget()
                .server(&asks("add", r#","requestState":"s""#))
                .heard(&["add: needs [] and a state"]);
            resume(wire, ticket, |_| {}).unwrap();
        }
        wire.forget().server(&asks("add", r#","requestState":"s""#)).heard(&["add: lost TooManyRounds"]);
        assert_eq!(wire.client.pending(), 0);
    });
}

#[test]
fn incomplete_input_responses_can_be_corrected() {
    run(setup(), |wire| {
        let ticket = wire.call("add", DEFAULT).unwrap();
        let more = format!(r#","inputRequests":{{"a":{FORM},"b":{ROOTS}}}"#);
        wire.forget().server(&asks("add", &more)).forget();
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
            assert_eq!(resume(wire, ticket, answers), Err(SendError::Unwritable));
        }
        let wrong = wire.client.resume_call_json(ticket, "add", "[]", |_| {});
        assert_eq!(wrong, Err(SendError::Unwritable));
        wire.sent(&[]);
        resume(wire, ticket, |answers| {
            answers.decline("a");
            answers.roots("b", |_| {});
        })
        .unwrap();
        assert_eq!(wire.sent_lines().len(), 1);
        wire.server(r#"{"id":@add,"result":{}}"#).heard(&["add: result {}"]);
    });
}

#[test]
fn busy_retry_succeeds_later() {
    run(setup(), |wire| {
        let ticket = wire.call("add", DEFAULT).unwrap();
        wire.forget().server(&asks("add", r#","requestState":"s""#)).forget();
        wire.peer_reads(false);
        while wire.call("fill", DEFAULT).is_ok() {}
        let large = format!(r#"{{"a":"{}"}}"#, "x".repeat(3500));
        assert_eq!(wire.client.resume_call_json(ticket, "add", &large, |_| {}), Err(SendError::Busy));
        wire.peer_reads(true);
        wire.pump();
        wire.heard(&["room"]).forget();
        wire.client.resume_call_json(ticket, "add", &large, |_| {}).unwrap();
        wire.pump();
        wire.forget().server(r#"{"id":@add,"result":{}}"#).heard(&["add: result {}"]);
    });
}

#[test]
fn cancel_between_retries_sends_nothing() {
    run(setup(), |wire| {
        let ticket = wire.call("add", DEFAULT).unwrap();
        wire.forget().server(&asks("add", r#","requestState":"s""#)).heard(&["add: needs [] and a state"]);
        wire.cancel(ticket, "no");
        wire.sent(&[]);
        assert_eq!((wire.client.pending(), wire.deadline), (0, None));
        wire.server(r#"{"id":@add,"result":{}}"#).heard(&[]);
    });
    // While the request is in flight, a cancellation is sent.
    run(setup(), |wire| {
        let ticket = wire.call("add", DEFAULT).unwrap();
        wire.server(&asks("add", r#","requestState":"s""#)).forget();
        resume(wire, ticket, |_| {}).unwrap();
        wire.forget().cancel(ticket, "");
        wire.sent(&[r#"{"method":"notifications/cancelled","params":{"requestId":@add}}"#]);
    });
}

/// The timeout is one second for each retry and five in total.
#[test]
fn maximum_timeout_covers_all_retries() {
    run(setup(), |wire| {
        let ticket = wire.call("add", DEFAULT).unwrap();
        wire.at(900).server(&asks("add", r#","requestState":"s""#)).forget();
        assert_eq!(wire.deadline, Some(5000), "the host has until the maximum");
        wire.at(4500);
        resume(wire, ticket, |_| {}).unwrap();
        assert_eq!(wire.deadline, Some(5000));
        wire.forget().at(5000).heard(&["add: lost TimedOut"]);
        assert_eq!(wire.sent_lines().len(), 1, "the cancellation");
    });
    run(setup(), |wire| {
        wire.call("add", DEFAULT).unwrap();
        wire.server(&asks("add", r#","requestState":"s""#)).forget();
        wire.at(4999).heard(&[]).at(5000).heard(&["add: lost TimedOut"]).sent(&[]);
    });
    run(setup(), |wire| {
        let ticket = wire.call("add", DEFAULT.timeout(Millis(700))).unwrap();
        wire.server(&asks("add", r#","requestState":"s""#)).forget();
        wire.at(1000);
        resume(wire, ticket, |_| {}).unwrap();
        assert_eq!(wire.deadline, Some(1700), "each round has the time of a request");
        wire.forget().eof().heard(&["add: lost Closed", "closed"]);
    });
}

#[test]
fn progress_continues_under_the_new_id() {
    run(setup(), |wire| {
        let ticket = wire.call("add", DEFAULT.with_progress()).unwrap();
        let progress = r#"{"method":"notifications/progress","params":{"progressToken":@add,"progress":1}}"#;
        wire.forget().server(progress).heard(&["add: 1"]);
        wire.server(&asks("add", r#","requestState":"s""#)).forget();
        wire.server(progress).heard(&["fault UnknownProgress"]);
        resume(wire, ticket, |_| {}).unwrap();
        let sent = wire.sent_short();
        assert!(sent[0].ends_with(r#""requestState":"s","_meta":{..,"progressToken":@}}}"#), "{sent:?}");
        wire.server(progress).heard(&["add: 1"]);
        wire.cancel(ticket, "");
        wire.forget();
    });
}
