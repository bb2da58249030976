//! Client requests and their responses: results, errors, limits, late responses.
use crate::support::FailureContext;
use crate::support::client::{ClientHarness, META, Setup};
use crate::support::transport::give_input;
use mcp_proto::client::{ContentView, Event, Options};
use mcp_proto::{Action, Millis, SendError};

/// Calls the tool `add`, responds with `answer`, and expects these events.
fn answered(answer: &str, expected: &[&str]) {
    let _context = FailureContext(answer.to_owned());
    Setup::automatic().connected(|harness| {
        let ticket = harness.call("add", Options::DEFAULT).unwrap();
        let other = harness.call("other", Options::DEFAULT).unwrap();
        harness.discard().server_sends(answer).events(expected).sent(&[]);
        let ends = expected.iter().any(|event| event.starts_with("add: "));
        assert_eq!(harness.client.is_pending(ticket), !ends);
        // Other requests are unaffected.
        assert!(harness.client.is_pending(other));
        harness.server_sends(r#"{"id":@other,"result":{}}"#).events(&["other: result {}"]);
        assert_eq!(harness.client.pending(), usize::from(!ends));
    });
}

#[test]
fn request_ends_with_its_response() {
    let cases: &[(&str, &[&str])] = &[
        (r#"{"id":@add,"result":{"content":[]}}"#, &[r#"add: result {"content":[]}"#]),
        (r#"{"result":{"content":[]},"id":@add}"#, &[r#"add: result {"content":[]}"#]),
        (r#"{"id":@add,"result":{"resultType":"complete"}}"#, &[r#"add: result {"resultType":"complete"}"#]),
        (r#"{"id":@add,"result":{"resultType":null}}"#, &[r#"add: result {"resultType":null}"#]),
        (
            r#"{"id":@add,"result":{"content":null,"isError":true}}"#,
            &[r#"add: result {"content":null,"isError":true}"#],
        ),
        // Some servers send the number as a string.
        (r#"{"id":"@add","result":{}}"#, &["add: result {}"]),
        (
            r#"{"id":@add,"error":{"code":-32602,"message":"Unknown tool"}}"#,
            &["add: error Unknown tool (-32602)"],
        ),
        (
            r#"{"id":@add,"error":{"code":-32042,"message":"e","data":{"x":[1]}}}"#,
            &[r#"add: error e (-32042) {"x":[1]}"#],
        ),
        (r#"{"id":@add,"error":{"code":7,"message":""},"result":null}"#, &["add: lost Invalid"]),
        (r#"{"id":@add,"error":{}}"#, &["add: error error 0"]),
        (r#"{"id":@add,"error":"no"}"#, &["add: lost Invalid"]),
        (r#"{"id":@add,"error":null}"#, &["add: lost Invalid"]),
        (r#"{"id":@add,"result":{},"error":{"code":1,"message":"x"}}"#, &["add: lost Invalid"]),
        (r#"{"id":@add,"result":null}"#, &["add: lost Invalid"]),
        (r#"{"id":@add,"result":[]}"#, &["add: lost Invalid"]),
        (r#"{"id":@add,"result":"ok"}"#, &["add: lost Invalid"]),
        (r#"{"id":@add,"result":{"content":"ok"}}"#, &["add: lost Invalid"]),
        (r#"{"id":@add,"result":{"content":{"type":"text"}}}"#, &["add: lost Invalid"]),
        // The response has neither a result nor an error.
        (r#"{"id":@add}"#, &["add: lost Invalid"]),
        (r#"{"id":@add,"method":7}"#, &["fault InvalidMethod"]),
        (r#"{"id":99999}"#, &["fault InvalidMethod"]),
        (r#"{"id":99999,"result":{}}"#, &["fault UnknownResponse"]),
        (r#"{"id":-1,"result":{}}"#, &["fault UnknownResponse"]),
        (r#"{"id":0,"error":{"code":1,"message":"x"}}"#, &["fault UnknownResponse"]),
        (r#"{"id":"add","result":{}}"#, &["fault UnknownResponse"]),
        (r#"{"id":"+@add","result":{}}"#, &["fault UnknownResponse"]),
        // The number is equal, but the bytes of the id differ.
        (r#"{"id":"0@add","result":{}}"#, &["fault UnknownResponse"]),
        // Ids without a request, invalid ids, and no id.
        (r#"{"id":"","result":{}}"#, &["fault UnknownResponse"]),
        (r#"{"id":99999999999999999999999999,"result":{}}"#, &["fault UnknownResponse"]),
        (r#"{"id":@add.0,"result":{}}"#, &["fault InvalidId"]),
        (r#"{"id":null,"result":{}}"#, &["fault InvalidId"]),
        (r#"{"result":{}}"#, &["fault InvalidId"]),
        (r#"{"id":null,"error":{"code":-32700,"message":"x"}}"#, &["fault ErrorWithoutId"]),
        (r#"[{"id":@add,"result":{}}]"#, &["fault Batch"]),
    ];
    for (answer, expected) in cases {
        answered(answer, expected);
    }
}

#[test]
fn incomplete_result_type_is_invalid_in_the_stateless_era() {
    for kind in ["input_required", "task", "else"] {
        Setup::automatic().connected(|harness| {
            harness.call("add", Options::DEFAULT).unwrap();
            let result = format!(r#"{{"resultType":"{kind}"}}"#);
            harness.discard().server_sends(&format!(r#"{{"id":@add,"result":{result}}}"#));
            let taken = format!("add: result {result}");
            harness.events(&[if harness.is_handshake() { &taken } else { "add: lost Invalid" }]);
        });
    }
}

#[test]
fn requests_have_exactly_these_bytes() {
    Setup::automatic().connected(|harness| {
        let stateless = !harness.is_handshake();
        let meta = |more: &str| match (stateless, more) {
            (true, "") => r#""_meta":{..}"#.to_owned(),
            (true, more) => format!(r#""_meta":{{..,{more}}}"#),
            (false, "") => String::new(),
            (false, more) => format!(r#""_meta":{{{more}}}"#),
        };
        let params = |own: &str, more: &str| match (own, meta(more).as_str()) {
            ("", "") => String::new(),
            ("", meta) => format!(r#","params":{{{meta}}}"#),
            (own, "") => format!(r#","params":{{{own}}}"#),
            (own, meta) => format!(r#","params":{{{own},{meta}}}"#),
        };
        let line = |method: &str, own: &str, more: &str| {
            format!(r#"{{"id":@,"method":"{method}"{}}}"#, params(own, more))
        };
        let progress = r#""progressToken":@"#;
        let client = &mut harness.client;
        client.call_json("t", r#" {"a": [1, 2]} "#, Options::DEFAULT).unwrap();
        client
            .call_with("q\"\n", Options::DEFAULT.with_progress(), |out| {
                out.begin_object();
                out.field_integer("x", -1);
                out.end_object();
            })
            .unwrap();
        client
            .call(
                "u",
                &[("k", true)].into_iter().collect::<std::collections::BTreeMap<_, _>>(),
                Options::DEFAULT,
            )
            .unwrap();
        client.list_tools(Options::DEFAULT.with_progress()).unwrap();
        harness.pump();
        harness.sent(&[
            &line("tools/call", r#""name":"t","arguments":{"a": [1, 2]}"#, ""),
            &line("tools/call", r#""name":"q\"\n","arguments":{"x":-1}"#, progress),
            &line("tools/call", r#""name":"u","arguments":{"k":true}"#, ""),
            &line("tools/list", "", progress),
        ]);
        harness.client.reset();
        harness.pump();
        harness.connect();
        harness.client.ping(Options::DEFAULT).unwrap();
        harness.client.request("a/b", Options::DEFAULT, |_| {}).unwrap();
        harness
            .client
            .request("c/d", Options::DEFAULT.with_progress(), |out| {
                out.field_string("uri", "u");
                out.key("n");
                out.null();
            })
            .unwrap();
        harness.pump();
        harness.sent(&[
            &line(if stateless { "server/discover" } else { "ping" }, "", ""),
            &line("a/b", "", ""),
            &line("c/d", r#""uri":"u","n":null"#, progress),
        ]);
    });
}

/// One complete line as in the specification.
#[test]
fn call_has_exactly_these_bytes() {
    Setup::automatic().run(|harness| {
        harness.connect();
        harness.call("t", Options::DEFAULT).unwrap();
        assert_eq!(
            harness.take_sent_lines(),
            [format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"t","arguments":{{}},"_meta":{META}}}}}}}"#)]
        );
    });
}

#[test]
fn invalid_request_is_refused_and_not_sent() {
    Setup { slots: 2, ..Setup::automatic() }.connected(|harness| {
        for arguments in
            ["", "[]", "1", "\"{}\"", "null", "{", "{}{}", "{\"a\":1,}", "{'a':1}", "}", "{\"a\":\"\n\"}"]
        {
            let _context = FailureContext(arguments.to_owned());
            let called = harness.client.call_json("t", arguments, Options::DEFAULT);
            assert_eq!(called, Err(SendError::Invalid));
            let called = harness.client.call_with("t", Options::DEFAULT, |out| {
                if out.raw(arguments).is_err() {
                    out.key("a");
                }
            });
            assert_eq!(called, Err(SendError::Invalid));
        }
        assert_eq!(harness.client.call("t", "text", Options::DEFAULT), Err(SendError::Invalid));
        assert_eq!(harness.client.call("t", &[1, 2], Options::DEFAULT), Err(SendError::Invalid));
        let unbalanced = harness.client.request("x", Options::DEFAULT, |out| out.begin_object());
        assert_eq!(unbalanced, Err(SendError::Invalid));
        let unbalanced = harness.client.request("x", Options::DEFAULT, |out| out.end_object());
        assert_eq!(unbalanced, Err(SendError::Invalid));
        harness.pump();
        harness.sent(&[]).events(&[]);
        assert_eq!(harness.client.pending(), 0);
        harness.call("t", Options::DEFAULT).unwrap();
        harness.discard().server_sends(r#"{"id":@t,"result":{}}"#).events(&["t: result {}"]);
    });
}

#[test]
fn arguments_may_fill_the_buffer_exactly() {
    Setup { tx: 1000, ..Setup::automatic() }.connected(|harness| {
        let call = |harness: &mut ClientHarness, length: usize| {
            let arguments = format!(r#"{{"a":"{}"}}"#, "x".repeat(length));
            harness.client.call_json("t", &arguments, Options::DEFAULT)
        };
        let most = (0..1000).rev().find(|length| {
            let called = call(harness, *length);
            assert!(matches!(called, Ok(_) | Err(SendError::Unwritable)), "{called:?}");
            called.is_ok()
        });
        harness.pump();
        let sent = harness.take_sent_lines();
        assert_eq!(sent.len(), 1);
        let overhead = if harness.pace().messages { 14 } else { 1 };
        // Only the space reserved for responses stays free. The stateless era reserves none.
        let kept = if harness.is_handshake() { 232 } else { 0 };
        assert_eq!(sent[0].len() + overhead, 1000 - kept, "{most:?}");
    });
}

#[test]
fn requests_beyond_the_slots_are_full() {
    Setup { slots: 3, ..Setup::automatic() }.connected(|harness| {
        for tool in ["a", "b", "c"] {
            harness.call(tool, Options::DEFAULT).unwrap();
        }
        harness.discard();
        assert_eq!(harness.call("d", Options::DEFAULT), Err(SendError::Full));
        assert_eq!(harness.client.ping(Options::DEFAULT), Err(SendError::Full));
        harness.at(1).sent(&[]);
        // The client accepts responses in any order.
        harness.server_sends(r#"{"id":@b,"result":{}}"#).events(&["b: result {}"]);
        harness.call("d", Options::DEFAULT).unwrap();
        harness.server_sends_all(&[
            r#"{"id":@d,"result":{}}"#,
            r#"{"id":@c,"result":{}}"#,
            r#"{"id":@a,"result":{}}"#,
        ]);
        harness.events(&["d: result {}", "c: result {}", "a: result {}"]).discard();
        assert_eq!(harness.client.pending(), 0);
    });
    Setup { slots: 0, text: 0, ..Setup::automatic() }.connected(|harness| {
        assert_eq!(harness.call("a", Options::DEFAULT), Err(SendError::Full));
    });
}

#[test]
fn busy_request_can_be_sent_after_writable() {
    Setup { tx: 1000, rx: 1024, ..Setup::automatic() }.connected(|harness| {
        harness.peer_reads(false);
        let arguments = format!(r#"{{"a":"{}"}}"#, "x".repeat(300));
        let mut sent = 0;
        let refused = loop {
            match harness.client.call_json("t", &arguments, Options::DEFAULT) {
                Ok(_) => sent += 1,
                Err(error) => break error,
            }
        };
        assert!(sent >= 1);
        assert_eq!(refused, SendError::Busy);
        harness.at(1).events(&[]);
        harness.peer_reads(true);
        harness.pump();
        harness.events(&["room"]);
        assert_eq!(harness.take_sent_lines().len(), sent);
        harness.client.call_json("t", &arguments, Options::DEFAULT).unwrap();
        harness.pump();
        harness.events(&[]).discard();
    });
}

#[test]
fn late_responses_are_ignored() {
    Setup::automatic().connected(|harness| {
        let cancelled = harness.call("cancelled", Options::DEFAULT).unwrap();
        harness.call("slow", Options::DEFAULT.timeout(Millis(10))).unwrap();
        harness.call("done", Options::DEFAULT).unwrap();
        harness.cancel(cancelled, "");
        harness.server_sends(r#"{"id":@done,"result":{}}"#).at(10);
        harness.events(&["done: result {}", "slow: lost TimedOut"]).discard();
        for name in ["cancelled", "slow", "done"] {
            harness.server_sends(&format!(r#"{{"id":@{name},"result":{{}}}}"#)).events(&[]);
            harness
                .server_sends(&format!(r#"{{"id":@{name},"error":{{"code":1,"message":"x"}}}}"#))
                .events(&[]);
            harness.server_sends(&format!(r#"{{"id":@{name},"error":1,"result":1}}"#)).events(&[]);
        }
        // Late responses do not match the request that now uses the slot.
        for name in ["e", "f", "g"] {
            harness.call(name, Options::DEFAULT).unwrap();
        }
        for name in ["cancelled", "slow", "done"] {
            harness.server_sends(&format!(r#"{{"id":@{name},"result":{{}}}}"#)).events(&[]);
        }
        assert_eq!(harness.client.pending(), 3);
        harness.discard();
    });
}

#[test]
fn client_ping_ends_like_any_request() {
    for answer in [r#""result":{}"#, r#""result":null"#, r#""result":{"supportedVersions":[]}"#] {
        Setup::automatic().connected(|harness| {
            let ticket = harness.client.ping(Options::DEFAULT).unwrap();
            harness.name(ticket, "alive");
            let id = if harness.is_handshake() { "@ping" } else { "@discover" };
            harness.discard().server_sends(&format!(r#"{{"id":{id},{answer}}}"#));
            // Some servers send `null` for an empty result.
            let result = answer.strip_prefix(r#""result":"#).unwrap().replace("null", "{}");
            harness.events(&[&format!("alive: result {result}")]);
        });
    }
}

#[test]
fn tool_result_view_shows_its_content() {
    Setup::automatic().connected(|harness| {
        let ticket = harness.client.call_json("t", "{}", Options::DEFAULT).unwrap();
        harness.name(ticket, "t");
        harness.discard();
        let line = harness.message(
            r#"{"id":@t,"result":{"isError":true,"structuredContent":{"n":1},"content":[{"type":"image","data":"","mimeType":"x/y"},{"text":"a\u00e9\n","type":"text"},{"type":"text","text":"b"},{"type":"text"}]}}"#,
        );
        let messages = harness.pace().messages;
        loop {
            match harness.client.poll(Millis(0)) {
                Action::Io(io) => {
                    let input = io.split().1;
                    if messages {
                        input.message(line.as_bytes(), mcp_proto::StreamId::NONE).unwrap();
                    } else {
                        let line = format!("{line}\n");
                        give_input(input, usize::MAX, &mut line.as_bytes());
                    }
                }
                Action::Event => break,
                Action::Closed => panic!(),
            }
        }
        let Some(Event::Response(end)) = harness.client.event() else { panic!() };
        assert_eq!(end.ticket(), ticket);
        let result = end.tool_result().unwrap();
        assert!(result.is_error());
        assert!(result.text().unwrap() == "aé\n");
        assert_eq!(result.structured().unwrap().raw(), r#"{"n":1}"#);
        let kinds: Vec<String> = result
            .content()
            .map(|content| match content {
                ContentView::Text(text) => text.to_string(),
                ContentView::Other(other) => other.get("type").unwrap().string().unwrap().to_string(),
                ContentView::Image { data, mime: Some(mime) } if data.decoded_len() == 0 => mime.to_string(),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(kinds, ["x/y", "aé\n", "b", "text"]);
    });
}

#[test]
fn reset_forgets_requests_and_reuses_no_id() {
    Setup::automatic().connected(|harness| {
        let old = harness.call("old", Options::DEFAULT.timeout(Millis(50))).unwrap();
        let stale = harness.message(r#"{"id":@old,"result":{}}"#);
        harness.discard().bytes(b"{\"half a line");
        harness.reset();
        assert_eq!(harness.client.pending(), 0);
        assert_eq!(harness.client.cancel(old, ""), Err(SendError::Gone));
        // The harness checks that no id repeats.
        harness.connect();
        let new = harness.call("new", Options::DEFAULT).unwrap();
        assert_ne!(old, new);
        harness.discard().raw(stale.as_bytes()).events(&[]);
        assert_eq!(harness.client.cancel(old, ""), Err(SendError::Gone));
        harness.at(60).events(&[]).server_sends(r#"{"id":@new,"result":{}}"#).events(&["new: result {}"]);
        // After the end of a connection, a reset also allows a new connection.
        harness.call("lost", Options::DEFAULT).unwrap();
        harness.eof().events(&["lost: lost Closed", "closed"]).discard();
        harness.reset().connect();
        harness.call("again", Options::DEFAULT).unwrap();
        harness.server_sends(r#"{"id":@again,"result":{}}"#).events(&["again: result {}"]).discard();
    });
}

#[test]
fn request_is_at_most_as_long_as_the_limit_of_the_buffer() {
    for grown in [false, true] {
        let _context = FailureContext(format!("grown {grown}"));
        Setup { tx: 700, grown, ..Setup::automatic() }.connected(|harness| {
            let send = |harness: &mut ClientHarness, length: usize| {
                let arguments = format!(r#"{{"a":"{}"}}"#, "x".repeat(length));
                let ticket = harness.client.call_json("t", &arguments, Options::DEFAULT)?;
                harness.pump();
                let line = harness.take_sent_lines().remove(0);
                assert!(line.len() < 700, "{} bytes", line.len());
                harness.cancel(ticket, "");
                harness.discard();
                Ok(())
            };
            assert_eq!(send(harness, 200), Ok(()));
            for length in [700, 60_000, 70_000] {
                assert_eq!(send(harness, length), Err(SendError::Unwritable), "{length}");
                let long = "x".repeat(length);
                if harness.is_handshake() {
                    let sent = harness.client.notify("n", |out| out.field_string("a", &long));
                    assert_eq!(sent, Err(SendError::Unwritable));
                }
            }
            assert_eq!(send(harness, 200), Ok(()));
        });
    }
}

#[test]
fn longest_request_has_exactly_the_limit_of_the_buffer() {
    // A lent buffer keeps space for a response to the server. A growing buffer has additional space for responses.
    for (grown, reserve) in [(false, 232), (true, 0)] {
        let _context = FailureContext(format!("grown {grown}"));
        Setup { tx: 700, grown, ..Setup::handshake() }.lines_only().run(|harness| {
            harness.connect();
            let call = |harness: &mut ClientHarness, length: usize| {
                let arguments = format!(r#"{{"a":"{}"}}"#, "x".repeat(length));
                harness.client.call_json("t", &arguments, Options::DEFAULT)
            };
            let ticket = (0..700).rev().find_map(|length| call(harness, length).ok()).unwrap();
            harness.pump();
            assert_eq!(harness.take_sent_lines().remove(0).len() + 1, 700 - reserve);
            harness.cancel(ticket, "");
            harness.discard();
        });
    }
}
