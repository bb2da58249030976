//! Server requests of the handshake era: events, replies, refusals, views.
use crate::support::FailureContext;
use crate::support::client::Setup;
use crate::support::transport::{exchange, give_input, take, take_output};
use mcp_proto::client::{
    ClientConfig, Connect, ContentView, FieldView, InputRequest, Options, ServerRequest, Slot,
};
use mcp_proto::{
    Action, Client, ClientCapabilities as C, IncludeContext, Millis, Revision, Role, ToolChoice,
};

const ALL: C = C::ROOTS_LIST_CHANGED
    .with(C::ROOTS)
    .with(C::SAMPLING)
    .with(C::SAMPLING_TOOLS)
    .with(C::ELICITATION_FORM)
    .with(C::ELICITATION_URL);

const ROOTS: &str = r#"{"id":1,"method":"roots/list"}"#;
const FORM: &str = r#"{"id":1,"method":"elicitation/create","params":{"message":"Name?","requestedSchema":{"type":"object","properties":{}}}}"#;
const URL: &str = r#"{"id":1,"method":"elicitation/create","params":{"mode":"url","message":"m","url":"https://a/","elicitationId":"e"}}"#;
const SAMPLE: &str = r#"{"id":1,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":9}}"#;

fn setup() -> Setup {
    Setup::handshake().declares(ALL)
}

type Handle = fn(ServerRequest<'_>);

/// Sends a server request, which `handle` answers. Expects these events, and this immediate response.
#[track_caller]
fn answered(setup: Setup, request: &str, handle: fn(ServerRequest<'_>), events: &[&str], answer: &str) {
    let _context = FailureContext(format!("{request} -> {answer}"));
    setup.run(|harness| {
        harness.connect();
        harness.on_server_request(move |asked| {
            handle(asked);
            None
        });
        harness.server_sends(request).events(events).sent(&[answer]);
        // The connection continues, and the id is free again.
        harness.server_sends(r#"{"id":1,"method":"ping"}"#).sent(&[r#"{"id":1,"result":{}}"#]);
    });
}

#[test]
fn declared_server_requests_are_answered() {
    let cases: &[(&str, Handle, &str, &str)] = &[
        (ROOTS, |asked| asked.roots(|_| {}), "asked roots", r#"{"id":1,"result":{"roots":[]}}"#),
        (
            ROOTS,
            |asked| {
                asked.roots(|roots| {
                    roots.add("file:///a", "A \"b\"");
                    roots.add("file:///c", "");
                })
            },
            "asked roots",
            r#"{"id":1,"result":{"roots":[{"uri":"file:///a","name":"A \"b\""},{"uri":"file:///c"}]}}"#,
        ),
        (
            ROOTS,
            |asked| asked.decline(),
            "asked roots",
            r#"{"id":1,"error":{"code":-1,"message":"The user said no"}}"#,
        ),
        (
            FORM,
            |asked| {
                asked.accept(|content| {
                    content.field_string("name", "x");
                    content.field_integer("n", 1);
                    content.field_boolean("b", false);
                    content.key("l");
                    content.begin_array();
                    content.string("one");
                    content.end_array();
                })
            },
            "asked form Name?",
            r#"{"id":1,"result":{"action":"accept","content":{"name":"x","n":1,"b":false,"l":["one"]}}}"#,
        ),
        (
            FORM,
            |asked| asked.accept(|_| {}),
            "asked form Name?",
            r#"{"id":1,"result":{"action":"accept","content":{}}}"#,
        ),
        (FORM, |asked| asked.decline(), "asked form Name?", r#"{"id":1,"result":{"action":"decline"}}"#),
        (FORM, |asked| asked.cancel(), "asked form Name?", r#"{"id":1,"result":{"action":"cancel"}}"#),
        (
            URL,
            |asked| asked.accept(|_| panic!("a URL has no fields")),
            "asked url https://a/",
            r#"{"id":1,"result":{"action":"accept"}}"#,
        ),
        (URL, |asked| asked.decline(), "asked url https://a/", r#"{"id":1,"result":{"action":"decline"}}"#),
        (
            SAMPLE,
            |asked| asked.sampled("m", "endTurn", |content| content.text("hi")),
            "asked sample 9",
            r#"{"id":1,"result":{"role":"assistant","model":"m","stopReason":"endTurn","content":{"type":"text","text":"hi"}}}"#,
        ),
        (
            SAMPLE,
            |asked| asked.sampled("m", "", |_| {}),
            "asked sample 9",
            r#"{"id":1,"result":{"role":"assistant","model":"m","content":{"type":"text","text":""}}}"#,
        ),
        (
            SAMPLE,
            |asked| {
                asked.sampled("m", "toolUse", |content| {
                    content.text("wait");
                    content.tool_use("u", "t", |input| input.field_integer("n", 1));
                    content.tool_use("v", "t", |_| {});
                })
            },
            "asked sample 9",
            r#"{"id":1,"result":{"role":"assistant","model":"m","stopReason":"toolUse","content":[{"type":"text","text":"wait"},{"type":"tool_use","id":"u","name":"t","input":{"n":1}},{"type":"tool_use","id":"v","name":"t","input":{}}]}}"#,
        ),
        (
            SAMPLE,
            |asked| {
                asked.sampled("m", "", |content| {
                    content.block(|out| {
                        let _ = out.raw(r#"{"type":"text","text":"a","_meta":{}}"#);
                    })
                })
            },
            "asked sample 9",
            r#"{"id":1,"result":{"role":"assistant","model":"m","content":{"type":"text","text":"a","_meta":{}}}}"#,
        ),
        (
            SAMPLE,
            |asked| asked.sampled("m", "", |content| content.image(&[0], "image/png")),
            "asked sample 9",
            r#"{"id":1,"result":{"role":"assistant","model":"m","content":{"type":"image","data":"AA==","mimeType":"image/png"}}}"#,
        ),
        (
            SAMPLE,
            |asked| {
                asked.sampled("m", "", |content| {
                    content.text("hear");
                    content.audio(b"foob", "audio/wav");
                })
            },
            "asked sample 9",
            r#"{"id":1,"result":{"role":"assistant","model":"m","content":[{"type":"text","text":"hear"},{"type":"audio","data":"Zm9vYg==","mimeType":"audio/wav"}]}}"#,
        ),
        (
            SAMPLE,
            |asked| asked.cancel(),
            "asked sample 9",
            r#"{"id":1,"error":{"code":-1,"message":"The user gave no answer"}}"#,
        ),
        (
            SAMPLE,
            |asked| asked.error(-5, "own"),
            "asked sample 9",
            r#"{"id":1,"error":{"code":-5,"message":"own"}}"#,
        ),
    ];
    for (request, handle, events, answer) in cases {
        answered(setup(), request, *handle, &[events], answer);
    }
}

#[test]
fn unwritable_reply_becomes_an_error_and_an_event() {
    const INVALID: &str =
        r#"{"id":1,"error":{"code":-32603,"message":"Internal error: the response is invalid"}}"#;
    let cases: &[(Revision, &str, Handle)] = &[
        (Revision::V2025_11_25, ROOTS, |asked| asked.accept(|_| {})),
        (Revision::V2025_11_25, FORM, |asked| asked.roots(|_| {})),
        (Revision::V2025_11_25, URL, |asked| asked.sampled("m", "", |_| {})),
        (Revision::V2025_11_25, ROOTS, |asked| asked.roots(|roots| roots.add("https://a/", ""))),
        (Revision::V2025_11_25, ROOTS, |asked| asked.roots(|roots| roots.add("file:///my files", ""))),
        (Revision::V2025_11_25, FORM, |asked| asked.accept(|content| content.key("unfinished"))),
        (Revision::V2025_11_25, FORM, |asked| asked.accept(|content| content.end_object())),
        (Revision::V2025_11_25, FORM, |asked| {
            asked.accept(|content| {
                content.key("a");
                content.null();
            });
        }),
        (Revision::V2025_06_18, FORM, |asked| {
            asked.accept(|content| {
                content.key("a");
                content.begin_array();
                content.end_array();
            });
        }),
        (Revision::V2025_11_25, SAMPLE, |asked| asked.sampled("m", "", |content| content.block(|_| {}))),
        (Revision::V2025_11_25, SAMPLE, |asked| {
            asked.sampled("m", "", |content| content.block(|out| out.string("text")));
        }),
        (Revision::V2025_11_25, SAMPLE, |asked| {
            asked.sampled("m", "", |content| {
                content.block(|out| {
                    let _ = out.raw(r#"{"type":"resource","resource":{}}"#);
                });
            });
        }),
        (Revision::V2025_06_18, SAMPLE, |asked| {
            asked.sampled("m", "", |content| {
                content.text("one");
                content.text("two");
            });
        }),
        (Revision::V2025_06_18, SAMPLE, |asked| {
            asked.sampled("m", "", |content| content.tool_use("u", "t", |_| {}));
        }),
        (Revision::V2024_11_05, SAMPLE, |asked| {
            asked.sampled("m", "", |content| {
                content.block(|out| {
                    let _ = out.raw(r#"{"type":"audio","data":"","mimeType":"audio/wav"}"#);
                });
            });
        }),
    ];
    for (revision, request, handle) in cases {
        setup().revision(*revision).run(|harness| {
            harness.connect();
            let handle = *handle;
            harness.on_server_request(move |asked| {
                handle(asked);
                None
            });
            harness.server_sends(request);
            assert_eq!(harness.take_events()[1], "fault InvalidReply", "{request}");
            harness.sent(&[INVALID]);
        });
    }
}

#[test]
fn undeclared_or_invalid_server_request_is_refused() {
    let unknown = (r#"{"id":1,"error":{"code":-32601,"message":"Method not found"}}"#, "fault UnknownMethod");
    let invalid = (r#"{"id":1,"error":{"code":-32602,"message":"Invalid params"}}"#, "fault InvalidParams");
    let with_tools =
        r#"{"id":1,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1,"tools":[]}}"#;
    let unbalanced = r#"{"id":1,"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"tool_result","toolUseId":"x","content":[]}}],"maxTokens":1}}"#;
    let cases: &[(Revision, C, &str, (&str, &str))] = &[
        (Revision::V2025_11_25, C::NONE, ROOTS, unknown),
        (Revision::V2025_11_25, C::ROOTS, FORM, unknown),
        (Revision::V2025_11_25, C::ELICITATION_URL, FORM, invalid),
        (Revision::V2025_11_25, C::ELICITATION_FORM, URL, invalid),
        (Revision::V2025_11_25, C::SAMPLING, with_tools, invalid),
        (Revision::V2025_11_25, ALL, unbalanced, invalid),
        (Revision::V2025_11_25, ALL, r#"{"id":1,"method":"elicitation/create"}"#, invalid),
        (Revision::V2025_11_25, ALL, r#"{"id":1,"method":"roots/list","params":[]}"#, invalid),
        // The client declares a capability only in revisions that have the capability.
        (Revision::V2025_03_26, ALL, FORM, unknown),
        (Revision::V2025_06_18, C::ELICITATION_URL, FORM, unknown),
        (Revision::V2025_06_18, ALL, URL, invalid),
        (Revision::V2025_06_18, ALL, with_tools, invalid),
    ];
    for (revision, declared, request, (answer, events)) in cases {
        let _context = FailureContext(format!("{revision} {declared:?} {request}"));
        Setup::handshake().declares(*declared).revision(*revision).run(|harness| {
            harness.connect();
            harness.server_sends(request).events(&[events]).sent(&[answer]);
        });
    }
    // The client also refuses requests before it knows the revision, and drops requests in the stateless era.
    setup().run(|harness| {
        harness.pump();
        harness.discard().server_sends(ROOTS).events(&["fault UnknownMethod"]).sent(&[unknown.0]);
    });
    Setup::automatic().declares(ALL).run(|harness| {
        harness.connect();
        harness.server_sends(ROOTS).events(&["fault UnknownMethod"]).sent(&[]);
    });
}

#[test]
fn dropped_server_request_is_answered_with_an_error() {
    setup().run(|harness| {
        harness.connect();
        harness.server_sends(FORM).events(&["asked form Name?", "fault Unanswered"]).sent(&[
            r#"{"id":1,"error":{"code":-32603,"message":"Internal error: the request was dropped without a response"}}"#,
        ]);
    });
}

/// Compares the view of a form as text, with one line for each field.
#[test]
fn elicitation_view_shows_the_form_fields() {
    let schema = r#"{"type":"object","required":["a","n\u0061me"],"properties":{
        "name":{"type":"string","title":"Your name","description":"d","minLength":1,"maxLength":9,"format":"email","default":"x"},
        "a":{"type":"integer","minimum":-1},
        "b":{"type":"number","maximum":2.5},
        "c":{"type":"boolean","default":false},
        "d":{"type":"string","enum":["r","g"],"enumNames":["Red"]},
        "e":{"type":"string","oneOf":[{"const":"r","title":"Red"},{"const":"g"}]},
        "f":{"type":"array","minItems":1,"items":{"type":"string","enum":["r","g"]},"default":["r"]},
        "g":{"type":"array","items":{"anyOf":[{"const":"r","title":"Red"}]}},
        "h":{"type":"object"},
        "i":{}}}"#
        .replace('\n', " ");
    let expected = [
        "name Your name Text required (Some(1), Some(9)) email \"x\" []",
        "a a Integer required (Some(-1), None) - - []",
        "b b Number optional (None, Some(2.5)) - - []",
        "c c Boolean optional (None, None) - false []",
        "d d Choice optional (None, None) - - [r Red, g g]",
        "e e Choice optional (None, None) - - [r Red, g g]",
        "f f Choices optional (Some(1), None) - [\"r\"] [r r, g g]",
        "g g Choices optional (None, None) - - [r Red]",
        "h h Other optional (None, None) - - []",
        "i i Other optional (None, None) - - []",
    ];
    setup().rx(2048).run(|harness| {
        harness.connect();
        harness.on_server_request(move |asked| {
            let InputRequest::Elicit(form) = asked.input() else { panic!("the request is a form") };
            let lines: Vec<String> = form.fields().map(line).collect();
            assert_eq!(lines, expected);
            asked.cancel();
            None
        });
        harness.server_sends(&format!(
            r#"{{"id":1,"method":"elicitation/create","params":{{"message":"m","requestedSchema":{schema}}}}}"#
        ));
        harness.events(&["asked form m"]).discard();
    });
}

fn line(field: FieldView<'_>) -> String {
    let required = if field.is_required() { "required" } else { "optional" };
    let (least, most) = field.limits();
    let limits = (least.map(|it| it.to_string()), most.map(|it| it.to_string()));
    let limits = format!("{limits:?}").replace('"', "");
    let format = field.format().map_or("-".to_owned(), |format| format.to_string());
    let default = field.default().map_or("-".to_owned(), |value| value.to_string());
    let choices: Vec<String> =
        field.choices().map(|choice| format!("{} {}", choice.value, choice.title)).collect();
    let kind = field.kind();
    format!(
        "{} {} {kind:?} {required} {limits} {format} {default} [{}]",
        field.name(),
        field.title(),
        choices.join(", ")
    )
}

#[test]
fn sampling_view_shows_messages_and_options() {
    let params = concat!(
        r#"{"messages":[{"role":"user","content":{"type":"text","text":"a\u0062"}},"#,
        r#"{"role":"assistant","content":[{"type":"tool_use","id":"u","name":"t","input":{"n":1}},{"type":"image","data":"AA==","mimeType":"image/png"}]},"#,
        r#"{"role":"user","content":[{"type":"tool_result","toolUseId":"u","content":[{"type":"text","text":"r"}],"isError":true}]},"#,
        r#"{"role":"user","content":[{"type":"audio","data":"","mimeType":"audio/wav"},{"type":"new"}]}],"#,
        r#""maxTokens":9,"systemPrompt":"s","temperature":0.5,"stopSequences":["x","y"],"includeContext":"thisServer","#,
        r#""modelPreferences":{"hints":[{"name":"h"},{}],"costPriority":0,"speedPriority":0.5,"intelligencePriority":1},"#,
        r#""tools":[{"name":"t","inputSchema":{}}],"toolChoice":{"mode":"required"},"metadata":{"a":1}}"#,
    );
    setup().rx(4096).run(move |harness| {
        harness.connect();
        harness.on_server_request(|asked| {
            let InputRequest::Sample(sample) = asked.input() else { panic!("the request is a sampling request") };
            let said: Vec<String> = sample
                .messages()
                .map(|message| {
                    let blocks: Vec<ContentView<'_>> = message.content().collect();
                    format!("{} {blocks:?}", message.role() == Some(Role::Assistant))
                })
                .collect();
            assert_eq!(
                said,
                [
                    r#"false [Text("a\u0062")]"#,
                    r#"true [ToolUse { id: "u", name: "t", input: {"n":1} }, Image { data: Base64 { text: "AA==" }, mime: Some("image/png") }]"#,
                    r#"false [ToolResult { tool_use_id: "u", result: ToolResult { json: {"type":"tool_result","toolUseId":"u","content":[{"type":"text","text":"r"}],"isError":true} } }]"#,
                    r#"false [Audio { data: Base64 { text: "" }, mime: Some("audio/wav") }, Other({"type":"new"})]"#,
                ]
            );
            assert_eq!((sample.max_tokens(), sample.include_context()), (9, IncludeContext::ThisServer));
            assert!(sample.system_prompt().unwrap() == "s");
            assert_eq!(sample.temperature().unwrap().to_string(), "0.5");
            let stops: Vec<String> = sample.stop_sequences().map(|text| text.to_string()).collect();
            assert_eq!(stops, ["x", "y"]);
            let preferences = sample.model_preferences().unwrap();
            assert_eq!(preferences.hints().map(|hint| hint.to_string()).collect::<Vec<_>>(), ["h"]);
            let priorities = [preferences.cost(), preferences.speed(), preferences.intelligence()];
            assert_eq!(priorities.map(|it| it.unwrap().to_string()), ["0", "0.5", "1"]);
            assert_eq!(sample.tools().filter_map(|tool| tool.name()).count(), 1);
            assert_eq!(sample.tool_choice(), ToolChoice::Required);
            assert_eq!(sample.metadata().unwrap().raw(), r#"{"a":1}"#);
            asked.decline();
            None
        });
        harness.server_sends(&format!(r#"{{"id":1,"method":"sampling/createMessage","params":{params}}}"#));
        harness.events(&["asked sample 9"]).discard();
    });
}

/// The unsent bytes divide the free space of the transmit buffer into two parts. Each part alone is too small for the
/// response.
#[test]
fn refusal_waits_until_its_space_is_contiguous() {
    static CONFIG: ClientConfig<'static> = ClientConfig::new("c", "1").connect(Connect::Handshake);
    for sent_first in 1..300 {
        let (mut rx, mut tx, mut slots) = ([0; 512], [0; 600], [Slot::EMPTY; 2]);
        let mut client = Client::new(&CONFIG, &mut rx, &mut tx).unwrap().in_flight(&mut slots, &mut []);
        let mut connected = &br#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}
{"jsonrpc":"2.0","method":"x"}
"#[..];
        for _ in 0..9 {
            match client.poll(Millis(0)) {
                Action::Io(io) => _ = exchange(io, &mut connected, &mut Vec::new()),
                Action::Event => assert!(client.event().is_some()),
                Action::Closed => panic!("closed"),
            }
        }
        // The first call fills a part of the buffer. The second call fills the rest, except the space reserved for
        // responses.
        let arguments = |length: usize| format!("{{\"a\":\"{}\"}}", "x".repeat(length));
        client.call_json("t", &arguments(180), Options::DEFAULT).unwrap();
        take(&mut client, Millis(0), sent_first);
        let mut lengths = (0..300).rev();
        assert!(lengths.any(|length| client.call_json("t", &arguments(length), Options::DEFAULT).is_ok()));
        let id = "i".repeat(60);
        let request = format!("{{\"jsonrpc\":\"2.0\",\"id\":\"{id}\",\"method\":\"unknown/method\"}}\n");
        let (mut input, mut output) = (request.as_bytes(), Vec::new());
        for _ in 0..1000 {
            match client.poll(Millis(0)) {
                Action::Io(io) => {
                    let (out, receive) = io.split();
                    take_output(out, 1, &mut output);
                    give_input(receive, usize::MAX, &mut input);
                }
                Action::Event => assert!(client.event().is_some()),
                Action::Closed => panic!("closed"),
            }
        }
        let output = String::from_utf8(output).unwrap();
        let responses: Vec<_> = output.lines().filter(|line| line.contains(&id)).collect();
        assert_eq!(responses.len(), 1, "{sent_first}: {output}");
        assert!(responses[0].contains("-32601"), "{}", responses[0]);
    }
}
