//! Batches from a server of 2025-03-26.
use crate::support::FailureContext;
use crate::support::client::{ClientHarness, Setup};
use mcp_proto::client::Options;

fn connected_in(setup: Setup, revision: &str, dialogue: impl Fn(&mut ClientHarness)) {
    setup.run(|harness| {
        harness.pump();
        harness.server_sends(&format!(
            r#"{{"id":@initialize,"result":{{"protocolVersion":"{revision}","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"s","version":"1"}}}}}}"#
        ));
        harness.events(&[&format!("connected {revision}")]).discard();
        dialogue(harness);
    });
}

fn connected(dialogue: impl Fn(&mut ClientHarness)) {
    connected_in(Setup::handshake(), "2025-03-26", dialogue);
}

/// Returns a batch of messages, with `space` around every bracket and comma of the batch.
fn batch(harness: &ClientHarness, members: &[&str], space: &str) -> String {
    let members: Vec<String> = members.iter().map(|member| harness.message(member)).collect();
    format!("{space}[{space}{}{space}]{space}", members.join(&format!("{space},{space}")))
}

const PONG: &str = r#"{"id":5,"result":{}}"#;

#[test]
fn batch_members_act_as_single_lines() {
    for space in ["", " ", "\t \r"] {
        connected(|harness| {
            harness.call("a", Options::DEFAULT).unwrap();
            harness.call("b", Options::DEFAULT.with_progress()).unwrap();
            harness.list();
            harness.discard();
            let line = batch(
                harness,
                &[
                    r#"{"id":@a,"result":{"content":[{"type":"text","text":"[,]\"\\"}]}}"#,
                    r#"{"method":"notifications/progress","params":{"progressToken":@b,"progress":1}}"#,
                    r#"{"id":5,"method":"ping"}"#,
                    r#"{"method":"notifications/tools/list_changed"}"#,
                    r#"{"id":@b,"error":{"code":1,"message":"no"}}"#,
                    r#"{"id":@list,"result":{"tools":[{"name":"t"}],"nextCursor":"2"}}"#,
                    r#"{"id":"x","method":"roots/list"}"#,
                ],
                space,
            );
            harness.raw(line.as_bytes()).events(&[
                r#"a: result {"content":[{"type":"text","text":"[,]\"\\"}]}"#,
                "b: 1",
                "changed Tools",
                "b: error no (1)",
                "list: t, ..",
                "fault UnknownMethod",
            ]);
            let sent = harness.take_sent_lines();
            assert_eq!(sent.len(), 3, "{sent:?}");
            assert!(sent[0].ends_with(r#""id":5,"result":{}}"#), "{sent:?}");
            assert!(sent.iter().any(|line| line.contains(r#""cursor":"2""#)), "{sent:?}");
            assert!(sent.iter().any(|line| line.contains(r#""id":"x","error":{"code":-32601"#)), "{sent:?}");
            // The next line is a single message.
            harness.server_sends(r#"{"id":5,"method":"ping"}"#).sent(&[PONG]);
        });
    }
}

#[test]
fn invalid_batch_member_is_reported_alone() {
    let cases: &[(&str, &[&str])] = &[
        ("[]", &["fault Batch"]),
        (" [ ] ", &["fault Batch"]),
        ("[1]", &["fault NotAnObject"]),
        (r#"[1,"a",null,true,-2.5e3]"#, &["fault NotAnObject"; 5]),
        ("[{}]", &["fault WrongJsonRpcVersion"]),
        ("[[]]", &["fault Batch"]),
        (r#"[[{"jsonrpc":"2.0","method":"x"}],7]"#, &["fault Batch", "fault NotAnObject"]),
        (r#"[{"jsonrpc":"2.0","id":null,"method":"ping"}]"#, &["fault InvalidId"]),
        (r#"[{"jsonrpc":"2.0","id":777,"result":{}}]"#, &["fault UnknownResponse"]),
        (r#"[{"jsonrpc":"2.0","method":"x"},{"jsonrpc":"2.0","method":"y"}]"#, &["notified x", "notified y"]),
        (r#"[{"jsonrpc":"2.0","method":"x"}"#, &["fault NotJson"]),
        (r#"[{"jsonrpc":"2.0","method":"x"},]"#, &["fault NotJson"]),
    ];
    for (line, events) in cases {
        let _context = FailureContext((*line).to_owned());
        connected(|harness| {
            harness.raw(line.as_bytes()).events(events).sent(&[]);
            harness.server_sends(r#"{"id":5,"method":"ping"}"#).events(&[]).sent(&[PONG]);
        });
    }
}

#[test]
fn batch_outside_its_revision_is_reported() {
    for revision in ["2024-11-05", "2025-06-18", "2025-11-25"] {
        connected_in(Setup::handshake(), revision, |harness| {
            harness.raw(br#"[{"jsonrpc":"2.0","id":5,"method":"ping"}]"#).events(&["fault Batch"]).sent(&[]);
        });
    }
    // Batches are invalid before the revision is negotiated.
    Setup::handshake().run(|harness| {
        harness.pump();
        let answer = r#"{"id":@initialize,"result":{"protocolVersion":"2025-03-26","capabilities":{},"serverInfo":{}}}"#;
        let line = format!("[{}]", harness.message(answer));
        harness.raw(line.as_bytes()).events(&["fault Batch"]).discard();
    });
}

/// The application may read an event late, and send requests before it reads the event.
#[test]
fn batch_pauses_while_an_event_is_unread() {
    connected(|harness| {
        harness.call("a", Options::DEFAULT).unwrap();
        harness.call("b", Options::DEFAULT).unwrap();
        harness.discard();
        let answers = [r#"{"id":@a,"result":{}}"#, r#"{"id":@b,"result":{}}"#, r#"{"id":5,"method":"ping"}"#];
        let line = batch(harness, &answers, "");
        harness.stop_after(1).raw(line.as_bytes()).events(&["a: result {}"]).sent(&[]);
        let ticket = harness.call("c", Options::DEFAULT).unwrap();
        assert!(harness.client.is_pending(ticket));
        harness.events(&["b: result {}"]);
        let sent = harness.take_sent_lines();
        assert!(
            sent.len() == 2 && sent.iter().any(|line| line.ends_with(r#""id":5,"result":{}}"#)),
            "{sent:?}"
        );
        harness.server_sends(r#"{"id":@c,"result":{}}"#).events(&["c: result {}"]);
    });
}

/// Each request in a batch needs space for its response. The client loses no request while the buffer is full.
#[test]
fn batch_pauses_while_the_buffer_is_full() {
    let small = Setup { tx: 700, ..Setup::handshake() };
    connected_in(small, "2025-03-26", |harness| {
        harness.peer_reads(false);
        let pings: Vec<String> =
            (0..9).map(|id| format!(r#"{{"id":"{}{id}","method":"ping"}}"#, "x".repeat(50))).collect();
        let mut members: Vec<&str> = pings.iter().map(String::as_str).collect();
        members.push(r#"{"method":"last"}"#);
        let line = batch(harness, &members, " ");
        harness.raw(line.as_bytes()).events(&[]);
        harness.server_sends(r#"{"method":"after"}"#).events(&[]);
        harness.peer_reads(true);
        harness.pump();
        harness.events(&["notified last", "notified after"]);
        let sent = harness.take_sent_lines();
        let right = |(at, line): (usize, &String)| line.ends_with(&format!(r#"{at}","result":{{}}}}"#));
        assert!(sent.len() == 9 && sent.iter().enumerate().all(right), "{sent:?}");
    });
}

#[test]
fn batch_before_the_end_of_input_is_processed() {
    connected(|harness| {
        harness.call("a", Options::DEFAULT).unwrap();
        harness.discard();
        let line =
            batch(harness, &[r#"{"method":"x"}"#, r#"{"id":@a,"result":{}}"#, r#"{"method":"y"}"#], "");
        harness.raw(line.as_bytes()).eof();
        harness.events(&["notified x", "a: result {}", "notified y", "closed"]).discard();
    });
}

#[test]
fn batch_without_newline_is_processed_at_the_end_of_input() {
    connected_in(Setup::handshake().lines_only(), "2025-03-26", |harness| {
        let line = batch(harness, &[r#"{"method":"x"}"#, r#"{"method":"y"}"#], " ");
        harness.bytes(line.as_bytes()).events(&[]).eof();
        harness.events(&["notified x", "notified y", "closed"]).discard();
    });
}
