//! Requests for resources, prompts, completion and logs, and their results.
use crate::support::FailureContext;
use crate::support::client::{ClientHarness, META, Setup};
use crate::support::transport::exchange;
use mcp_proto::client::{Event, Options, Reference, Response};
use mcp_proto::{Action, Client, Level, Millis, Outcome, Revision, SendError, ServerCapabilities, Ticket};

const DEFAULT: Options<'static> = Options::DEFAULT;
const EVERYTHING: &str =
    r#"{"tools":{},"resources":{"subscribe":true},"prompts":{},"completions":{},"logging":{}}"#;

/// Runs a script with a connected client. The server has this revision and these capabilities.
fn connected(revision: Revision, capabilities: &str, dialogue: impl Fn(&mut ClientHarness)) {
    let stateless = revision == Revision::V2026_07_28;
    let setup = if stateless { Setup::automatic() } else { Setup::handshake() };
    let _context = FailureContext(format!("{revision} {capabilities}"));
    setup.run(|harness| {
        harness.pump();
        let answer = if stateless {
            format!(
                r#"{{"id":@discover,"result":{{"supportedVersions":["{revision}"],"capabilities":{capabilities}}}}}"#
            )
        } else {
            format!(
                r#"{{"id":@initialize,"result":{{"protocolVersion":"{revision}","capabilities":{capabilities},"serverInfo":{{"name":"s","version":"1"}}}}}}"#
            )
        };
        harness.server_sends(&answer).events(&[&format!("connected {revision}")]).discard();
        dialogue(harness);
    });
}

fn everywhere(dialogue: impl Fn(Revision, &mut ClientHarness)) {
    for revision in Revision::ALL {
        connected(revision, EVERYTHING, |harness| dialogue(revision, harness));
    }
}

/// Returns the JSON of a request with the `_meta` of its revision.
fn request(revision: Revision, method: &str, params: &str) -> String {
    let meta = if revision == Revision::V2026_07_28 { format!(r#""_meta":{META}}}"#) } else { String::new() };
    let params = [params, &meta].into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join(",");
    let params = if params.is_empty() { String::new() } else { format!(r#","params":{{{params}}}"#) };
    format!(r#"{{"id":@,"method":"{method}"{params}}}"#).replace(META, "{..")
}

type Ask = fn(&mut Client<'_>, Options<'_>) -> Result<Ticket, SendError>;

/// Request, method, params, required capability, and whether 2026-07-28 has the method.
const ASKED: &[(Ask, &str, &str, &str, bool)] = &[
    (|client, options| client.list_resources(options), "resources/list", "", "resources", true),
    (|client, options| client.list_templates(options), "resources/templates/list", "", "resources", true),
    (|client, options| client.list_prompts(options), "prompts/list", "", "prompts", true),
    (
        |client, options| client.read_resource("file:///\"a\"", options),
        "resources/read",
        r#""uri":"file:///\"a\"""#,
        "resources",
        true,
    ),
    (
        |client, options| client.subscribe("a:b", options),
        "resources/subscribe",
        r#""uri":"a:b""#,
        r#"resources":{"subscribe":true},"x"#,
        false,
    ),
    (
        |client, options| client.unsubscribe("a:b", options),
        "resources/unsubscribe",
        r#""uri":"a:b""#,
        r#"resources":{"subscribe":true},"x"#,
        false,
    ),
    (
        |client, options| client.get_prompt("review", &[("code", "a\nb"), ("style", "")], options),
        "prompts/get",
        r#""name":"review","arguments":{"code":"a\nb","style":""}"#,
        "prompts",
        true,
    ),
    (
        |client, options| client.get_prompt("review", &[], options),
        "prompts/get",
        r#""name":"review""#,
        "prompts",
        true,
    ),
    (
        |client, options| client.complete(Reference::Prompt("review"), "style", "te", &[], options),
        "completion/complete",
        r#""ref":{"type":"ref/prompt","name":"review"},"argument":{"name":"style","value":"te"}"#,
        "completions",
        true,
    ),
    (
        |client, options| client.set_log_level(Level::Warning, options),
        "logging/setLevel",
        r#""level":"warning""#,
        "logging",
        false,
    ),
];

#[test]
fn requests_have_the_documented_params() {
    for (ask, method, params, _, last) in ASKED {
        everywhere(|revision, harness| {
            let asked = ask(&mut harness.client, DEFAULT);
            if revision == Revision::V2026_07_28 && !last {
                assert_eq!(asked, Err(SendError::Unsupported), "{method}");
                return;
            }
            let expected = request(revision, method, params);
            harness.name(asked.unwrap(), "it");
            harness.sent(&[&expected]);
        });
    }
}

#[test]
fn undeclared_feature_is_never_requested() {
    for (ask, method, _, needed, last) in ASKED {
        for revision in Revision::ALL {
            let free = *method == "completion/complete" && revision == Revision::V2024_11_05;
            for lacking in ["{}", r#"{"tools":{},"x":{}}"#, r#"{"resources":{},"x":{}}"#] {
                let enough = free || lacking.contains(&format!("{{\"{needed}\""));
                connected(revision, lacking, |harness| {
                    let asked = ask(&mut harness.client, DEFAULT);
                    assert_eq!(asked.err(), (!enough).then_some(SendError::Unsupported), "{method}");
                    harness.pump();
                    harness.discard();
                });
            }
            connected(revision, &format!(r#"{{"{needed}":{{}}}}"#), |harness| {
                let asked = ask(&mut harness.client, DEFAULT);
                let has_it = *last || revision != Revision::V2026_07_28;
                assert_eq!(asked.err(), (!has_it).then_some(SendError::Unsupported), "{method}");
                harness.pump();
                harness.discard();
            });
        }
        Setup::automatic().run(|harness| {
            assert_eq!(ask(&mut harness.client, DEFAULT), Err(SendError::NotConnected));
        });
    }
    // The capability `resources` alone does not include subscriptions.
    assert!(!ServerCapabilities::RESOURCES.has(ServerCapabilities::RESOURCES_SUBSCRIBE));
}

#[test]
fn completion_context_is_sent_where_the_revision_has_it() {
    everywhere(|revision, harness| {
        let reference = Reference::Resource("file:///{path}");
        let chosen = [("user", "a\"b"), ("host", "h")];
        let ticket = harness.client.complete(reference, "path", "sr", &chosen, DEFAULT).unwrap();
        harness.name(ticket, "it");
        let context = match revision >= Revision::V2025_06_18 {
            true => r#","context":{"arguments":{"user":"a\"b","host":"h"}}"#,
            false => "",
        };
        let params = format!(
            r#""ref":{{"type":"ref/resource","uri":"file:///{{path}}"}},"argument":{{"name":"path","value":"sr"}}{context}"#
        );
        let expected = request(revision, "completion/complete", &params);
        harness.sent(&[&expected]);
    });
}

/// A result with its required members reaches the application. Any other result is an invalid response.
#[test]
fn result_without_its_required_members_is_invalid() {
    let lists = [(0, "resources", "uri"), (1, "resourceTemplates", "uriTemplate"), (2, "prompts", "name")];
    let mut cases: Vec<(usize, String, String)> = Vec::new();
    for (ask, member, key) in lists {
        let page = format!(r#"{{"{member}":[{{"{key}":"a"}},7,{{}}]}}"#);
        cases.push((ask, page, "it: a, ?.".to_owned()));
        for wrong in ["{}", r#"{"tools":[]}"#, "null", "[]"] {
            cases.push((ask, wrong.to_owned(), "it: lost Invalid".to_owned()));
        }
        cases.push((ask, format!(r#"{{"{member}":{{}}}}"#), "it: lost Invalid".to_owned()));
    }
    let others: [(usize, &[&str], &[&str]); 5] = [
        (3, &[r#"{"contents":[]}"#], &["{}", r#"{"contents":{"uri":"u"}}"#, r#"{"contents":null}"#, "null"]),
        (4, &["{}", "null", r#"{"_meta":{}}"#], &["[]", "true"]),
        (6, &[r#"{"messages":[]}"#], &["{}", r#"{"messages":{}}"#, r#"{"messages":null}"#]),
        (
            8,
            &[r#"{"completion":{"values":[]}}"#],
            &["{}", r#"{"completion":{}}"#, r#"{"completion":[]}"#, r#"{"completion":{"values":"a"}}"#],
        ),
        (9, &["{}", "null"], &["7"]),
    ];
    for (ask, right, wrong) in others {
        for result in right {
            // The view shows `null` as an empty object.
            let shown = if *result == "null" { "{}" } else { result };
            cases.push((ask, (*result).to_owned(), format!("it: result {shown}")));
        }
        for result in wrong {
            cases.push((ask, (*result).to_owned(), "it: lost Invalid".to_owned()));
        }
    }
    for (ask, result, events) in &cases {
        let _context = FailureContext(format!("{} {result}", ASKED[*ask].1));
        connected(Revision::V2025_11_25, EVERYTHING, |harness| {
            let (ask, method, ..) = ASKED[*ask];
            let ticket = ask(&mut harness.client, DEFAULT).unwrap();
            harness.name(ticket, "it");
            let name = match method {
                "prompts/get" => "review",
                method => method.rsplit('/').next().unwrap(),
            };
            harness
                .discard()
                .server_sends(&format!(r#"{{"id":@{name},"result":{result}}}"#))
                .events(&[events])
                .sent(&[]);
            assert_eq!(harness.client.pending(), 0);
        });
    }
}

/// Sends a request, responds to it, and passes the response to `look`.
fn ended(ask: usize, answer: &str, look: impl FnOnce(Response<'_>)) {
    let mut harness = ClientHarness::new(Setup::handshake(), crate::support::transport::Pace::FAST);
    harness.pump();
    harness.server_sends(&format!(
        r#"{{"id":@initialize,"result":{{"protocolVersion":"2025-11-25","capabilities":{EVERYTHING},"serverInfo":{{"name":"s","version":"1"}}}}}}"#
    ));
    ASKED[ask].0(&mut harness.client, DEFAULT).unwrap();
    harness.pump();
    let (_, method, ..) = ASKED[ask];
    let name = if method == "prompts/get" { "review" } else { method.rsplit('/').next().unwrap() };
    let line = harness.message(&answer.replace("@it", &format!("@{name}"))) + "\n";
    loop {
        match harness.client.poll(Millis(0)) {
            Action::Io(io) => {
                assert!(exchange(io, &mut line.as_bytes(), &mut Vec::new()));
            }
            Action::Event => match harness.client.event() {
                Some(Event::Response(end)) => return look(end),
                other => panic!("{other:?}"),
            },
            Action::Closed => panic!(),
        }
    }
}

#[test]
fn response_view_exists_only_for_its_method() {
    ended(
        3,
        r#"{"id":@it,"result":{"contents":[{"uri":"a","blob":"aGk="},{"uri":"b","text":"t"}]}}"#,
        |end| {
            let result = end.resource().unwrap();
            assert!(result.text().unwrap() == "t");
            let mut bytes = [0; 2];
            assert_eq!(result.contents().next().unwrap().blob().unwrap().decode(&mut bytes), Ok(&b"hi"[..]));
            assert!(end.prompt().is_none() && end.completion().is_none() && end.tool_result().is_none());
        },
    );
    ended(
        6,
        r#"{"id":@it,"result":{"messages":[{"role":"user","content":{"type":"text","text":"t"}}]}}"#,
        |end| {
            assert_eq!(end.prompt().unwrap().messages().count(), 1);
            assert!(end.resource().is_none() && end.completion().is_none() && end.tool_result().is_none());
        },
    );
    ended(
        8,
        r#"{"id":@it,"result":{"completion":{"values":["a",1,"b"],"total":7,"hasMore":true}}}"#,
        |end| {
            let completion = end.completion().unwrap();
            let values: Vec<String> = completion.values().map(|value| value.to_string()).collect();
            assert_eq!(
                (values.join(" ").as_str(), completion.total(), completion.has_more()),
                ("a b", Some(7), true)
            );
            assert!(end.prompt().is_none() && end.resource().is_none() && end.tool_result().is_none());
        },
    );
    ended(3, r#"{"id":@it,"error":{"code":1,"message":""}}"#, |end| assert!(end.resource().is_none()));
}

#[test]
fn missing_resource_is_distinguished_from_other_errors() {
    let cases = [
        (r#"{"code":-32002,"message":"no"}"#, true),
        (r#"{"code":-32602,"message":"no","data":{"uri":"a"}}"#, true),
        (r#"{"code":-32602,"message":"no","data":{"uri":null}}"#, false),
        (r#"{"code":-32602,"message":"no","data":"uri"}"#, false),
        (r#"{"code":-32602,"message":"no"}"#, false),
        (r#"{"code":-32603,"message":"no","data":{"uri":"a"}}"#, false),
    ];
    for (error, expected) in cases {
        ended(3, &format!(r#"{{"id":@it,"error":{error}}}"#), |end| {
            let Outcome::Error(found) = end.outcome() else { panic!() };
            assert_eq!(found.is_resource_not_found(), expected, "{error}");
        });
    }
}

#[test]
fn each_list_is_paged_with_its_own_method() {
    for (ask, method, _, _, _) in &ASKED[..3] {
        let member = match *method {
            "resources/templates/list" => "resourceTemplates",
            method => method.split('/').next().unwrap(),
        };
        everywhere(|revision, harness| {
            let ticket = ask(&mut harness.client, DEFAULT).unwrap();
            harness.name(ticket, "it");
            let page = |cursor: &str| format!(r#"{{"id":@list,"result":{{"{member}":[]{cursor}}}}}"#);
            harness.discard().server_sends(&page(r#","nextCursor":"2""#)).events(&["it: , .."]);
            let expected = request(revision, method, r#""cursor":"2""#);
            harness.sent(&[&expected]).server_sends(&page("")).events(&["it: ."]);
        });
    }
}

/// The `_meta` of the options is sent with a request, and with the request for each page.
#[test]
fn custom_meta_is_sent_with_requests_and_pages() {
    let trace = r#"{ "traceparent": "00-1-2-01" , "ba\u0067gage":{"a":[1]}}"#;
    let traced = r#""traceparent":"00-1-2-01","ba\u0067gage":{"a":[1]}"#;
    let options = DEFAULT.meta(trace).log_level(Level::Notice).with_progress();
    everywhere(|revision, harness| {
        let meta = match revision {
            Revision::V2026_07_28 => format!(
                r#""_meta":{{..,"progressToken":@,"io.modelcontextprotocol/logLevel":"notice",{traced}}}"#
            ),
            _ => format!(r#""_meta":{{"progressToken":@,{traced}}}"#),
        };
        let expected = |method: &str, params: &str| {
            format!(r#"{{"id":@,"method":"{method}","params":{{{params}{meta}}}}}"#)
        };
        let ticket = harness.client.read_resource("a", options).unwrap();
        harness.name(ticket, "read");
        harness.sent(&[&expected("resources/read", r#""uri":"a","#)]);
        let ticket = harness.client.list_prompts(options).unwrap();
        harness.name(ticket, "list");
        harness.sent(&[&expected("prompts/list", "")]);
        for cursor in ["\"2\"", "\"a longer one\"", "\"3\""] {
            harness
                .server_sends(&format!(r#"{{"id":@list,"result":{{"prompts":[],"nextCursor":{cursor}}}}}"#));
            harness.events(&["list: , .."]);
            harness.sent(&[&expected("prompts/list", &format!(r#""cursor":{cursor},"#))]);
        }
        // The client still detects a repeated cursor.
        harness.server_sends(r#"{"id":@list,"result":{"prompts":[],"nextCursor":"3"}}"#);
        harness.events(&["list: , ..", "list: lost EndlessList"]);
    });
}

#[test]
fn log_level_is_sent_in_the_stateless_era_without_a_declaration_too() {
    for capabilities in [EVERYTHING, r#"{"resources":{}}"#] {
        connected(Revision::V2026_07_28, capabilities, |harness| {
            let ticket = harness.client.read_resource("a", DEFAULT.log_level(Level::Debug)).unwrap();
            harness.name(ticket, "read");
            assert!(harness.take_sent_lines()[0].contains(r#"/logLevel":"debug""#), "{capabilities}");
        });
    }
    connected(Revision::V2025_11_25, EVERYTHING, |harness| {
        let ticket = harness.client.read_resource("a", DEFAULT.log_level(Level::Debug)).unwrap();
        harness.name(ticket, "read");
        harness.sent(&[r#"{"id":@,"method":"resources/read","params":{"uri":"a"}}"#]);
    });
}

#[test]
fn invalid_meta_is_refused() {
    let long = format!(r#"{{"a":"{}"}}"#, "x".repeat(200));
    everywhere(|_, harness| {
        for wrong in [
            "",
            "{",
            "[]",
            "7",
            r#""a":1"#,
            r#"{"progressToken":1}"#,
            r#"{"progress\u0054oken":1}"#,
            r#"{"io.modelcontextprotocol/protocolVersion":"x"}"#,
            r#"{"io.modelcontextprotocol/clientCapabilities":{}}"#,
            r#"{"io.modelcontextprotocol/clientInfo":{}}"#,
            r#"{"io.modelcontextprotocol/logLevel":"x"}"#,
        ] {
            let refused = harness.client.read_resource("a", DEFAULT.meta(wrong));
            assert_eq!(refused, Err(SendError::Invalid), "{wrong}");
        }
        // A list stores its `_meta` in the slot, which has 128 bytes.
        assert_eq!(harness.client.list_prompts(DEFAULT.meta(&long)), Err(SendError::Unwritable));
        assert_eq!(harness.client.pending(), 0);
        let ticket = harness.client.read_resource("a", DEFAULT.meta(&long)).unwrap();
        harness.name(ticket, "read");
        harness.discard();
    });
}

#[test]
fn empty_cursor_requests_the_next_page_if_configured() {
    for (goes_on, events) in [(true, "list: a, .."), (false, "list: a.")] {
        let info = Setup::handshake().info;
        let info = if goes_on { info.empty_cursors() } else { info };
        Setup { info, ..Setup::handshake() }.run(|harness| {
            harness.connect();
            harness.list();
            harness
                .discard()
                .server_sends(r#"{"id":@list,"result":{"tools":[{"name":"a"}],"nextCursor":""}}"#);
            harness.events(&[events]);
            assert_eq!(harness.take_sent_lines().len(), usize::from(goes_on));
        });
    }
}

/// An application that searches for one entry cancels the list after a match.
#[test]
fn list_cancelled_at_a_page_ends_silently() {
    connected(Revision::V2025_11_25, EVERYTHING, |harness| {
        let ticket = harness.list();
        let page = r#"{"id":@list,"result":{"tools":[{"name":"a"},{"name":"b"}],"nextCursor":"2"}}"#;
        harness.discard().stop_after(1).server_sends(page).events(&["list: a, b, .."]);
        harness.cancel(ticket, "found");
        harness.sent(&[]);
        assert_eq!((harness.client.pending(), harness.deadline), (0, None));
    });
}
