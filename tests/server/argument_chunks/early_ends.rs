//! Streamed calls that are aborted: by the end of their line, of the connection, or of the server.

use super::{CONFIG, DONE, INITIALIZE, RX, python, run, with_server};
use crate::support::server::hello;
use crate::support::transport::{give_input, take_output};
use mcp_proto::server::{Event, SecondInitialize, Server, Slot};
use mcp_proto::{Action, KeepAlive, Millis};

#[test]
fn invalid_end_of_a_line_aborts_its_chunks() {
    let data = "x".repeat(2000);
    let begin = format!(r#"{{"method":"tools/call","params":{{"name":"write","arguments":{{"data":"{data}"#);
    let long = "z".repeat(300);
    // The end of the line, the event after the abort, and the code of the error response. The codes 0, 1 and 2
    // stand for no result, the result of the call, and an empty result.
    let table = [
        ("\u{1}\"}},\"jsonrpc\":\"2.0\",\"id\":1}".to_owned(), "NotJson", -32700),
        ("\\x\"}},\"jsonrpc\":\"2.0\",\"id\":1}".to_owned(), "NotJson", -32700),
        ("".to_owned(), "NotJson", -32700),
        ("\"}},\"jsonrpc\":\"2.0\",\"id\":1".to_owned(), "NotJson", -32700),
        (format!("\"}},\"_meta\":\"{long}\"}},\"jsonrpc\":\"2.0\",\"id\":1}}"), "LineTooLong", -32600),
        ("\"}},\"jsonrpc\":\"1.0\",\"id\":1}".to_owned(), "WrongJsonRpcVersion", -32600),
        ("\"}},\"jsonrpc\":\"2.0\",\"id\":[1]}".to_owned(), "InvalidId", -32600),
        ("\"},\"arguments\":[]},\"jsonrpc\":\"2.0\",\"id\":1}".to_owned(), "InvalidParams", -32602),
        ("\"},\"name\":\"none\"},\"jsonrpc\":\"2.0\",\"id\":1}".to_owned(), "UnknownTool", -32602),
        ("\"}},\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"none\"}".to_owned(), "UnknownMethod", -32601),
        ("\"}},\"jsonrpc\":\"2.0\"}".to_owned(), "UnknownNotification", 0),
        ("\"},\"name\":\"other\"},\"jsonrpc\":\"2.0\",\"id\":1}".to_owned(), "other", 1),
        ("\"}},\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}".to_owned(), "", 2),
        (
            "\"}},\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}".to_owned(),
            "UnknownNotification",
            0,
        ),
        ("\u{18}".to_owned(), "NotJson", 0),
        // The last of several members with the same name counts, as in a line without chunks.
        ("\",\"data\":\"last\"}},\"jsonrpc\":\"2.0\",\"id\":1}".to_owned(), "[write last -]", 1),
        (
            "\"},\"arguments\":{\"data\":\"last\"}},\"jsonrpc\":\"2.0\",\"id\":1}".to_owned(),
            "[write last -]",
            1,
        ),
        (
            "\"}},\"params\":{\"name\":\"write\",\"arguments\":{\"data\":\"last\"}},\"jsonrpc\":\"2.0\",\"id\":1}"
                .to_owned(),
            "[write last -]",
            1,
        ),
        (
            format!(
                "\"}}}},\"params\":{{\"name\":\"write\",\"arguments\":{{\"data\":\"{long}\"}}}},\"jsonrpc\":\"2.0\",\"id\":1}}"
            ),
            "LineTooLong",
            -32600,
        ),
    ];
    for (end, event, code) in table {
        for size in [1, 9, usize::MAX] {
            let mut memory = [0; RX];
            with_server((&mut memory).into(), |server| {
                let received = run(server, format!("{begin}{end}\n").as_bytes(), || size);
                let (chunks, after) = received.log.split_once(" aborted]").expect("the chunks are aborted");
                assert!(chunks.starts_with("[write xxx"), "{chunks}");
                assert!(after.contains(event) && after.is_empty() == event.is_empty(), "{end} {after}");
                let output = received.output;
                match code {
                    0 => assert!(!output.contains("result"), "{end} {output}"),
                    1 => assert!(output.contains(DONE), "{end} {output}"),
                    2 => assert!(output.contains(r#""id":1,"result":{}"#), "{end} {output}"),
                    _ => assert!(output.contains(&format!("\"code\":{code}")), "{end} {output}"),
                }
                let [first, second] = ["first", "second"].map(|text| python(2, text));
                let next = run(server, format!("{first}{second}").as_bytes(), || size);
                assert_eq!(next.log, "[write first 7][write second 7]", "{end}");
            });
        }
    }
}

#[test]
fn end_of_the_connection_aborts_chunks() {
    let line = python(1, &"x".repeat(2000));
    for cut in [1000, 2040, line.len() - 1] {
        let mut memory = [0; RX];
        with_server((&mut memory).into(), |server| {
            let received = run(server, &line.as_bytes()[..cut], || 50);
            assert!(received.chunks > 0);
            let Action::Io(io) = server.poll(Millis(0)) else { panic!("no event is pending") };
            io.split().1.eof();
            let mut events = Vec::new();
            for _ in 0..10 {
                match server.poll(Millis(0)) {
                    Action::Event => match server.event().unwrap() {
                        Event::Call(call) => {
                            events.push("call".to_owned());
                            call.text("done");
                        }
                        event => events.push(format!("{event:?}")),
                    },
                    Action::Io(io) => {
                        take_output(io.split().0, usize::MAX, &mut Vec::new());
                    }
                    Action::Closed => break,
                }
            }
            let is_whole = cut == line.len() - 1;
            let expected: &[&str] =
                if is_whole { &["call"] } else { &["ArgumentsAborted", "ProtocolError(Truncated)"] };
            assert_eq!(events, expected, "{cut}");
        });
    }
}

#[test]
fn chunks_end_with_their_connection() {
    let line = python(1, &"x".repeat(2000));
    for is_broken in [false, true] {
        let mut memory = [0; RX];
        with_server((&mut memory).into(), |server| {
            assert!(run(server, &line.as_bytes()[..1000], || 50).chunks > 0);
            if is_broken {
                let Action::Io(io) = server.poll(Millis(0)) else { panic!("no event is pending") };
                io.split().0.broken();
            } else {
                server.shutdown(Millis(0));
            }
            assert!(matches!(server.poll(Millis(0)), Action::Closed));
            server.reset();
            let again = run(server, format!("{INITIALIZE}\n{line}").as_bytes(), || 50);
            assert!(again.log.ends_with("x 7]") && !again.log.contains("aborted"), "{}", again.log);
        });
    }
}

#[test]
fn call_that_arrives_during_shutdown_is_aborted() {
    let line = python(2, &"x".repeat(2000));
    let (mut slots, mut text) = ([Slot::EMPTY; 1], [0; 32]);
    let (mut memory, mut tx) = ([0; RX], [0; 1024]);
    let server = Server::new(&CONFIG, &mut memory, &mut tx).unwrap();
    let mut server = server.in_flight(&mut slots, &mut text).unwrap();
    let plain = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"plain"}}"#;
    let mut input = format!("{INITIALIZE}\n{plain}\n").into_bytes();
    let (begin, end) = line.as_bytes().split_at(1000);
    input.extend(begin);
    let (mut input, mut ticket) = (&input[..], None);
    while ticket.is_none() || !input.is_empty() {
        match server.poll(Millis(0)) {
            Action::Event => match server.event().unwrap() {
                Event::Call(call) => ticket = Some(call.defer(None).unwrap()),
                event => assert!(matches!(event, Event::Connected(_) | Event::ArgumentChunk(_))),
            },
            Action::Io(io) => {
                let (out, space) = io.split();
                take_output(out, usize::MAX, &mut Vec::new());
                give_input(space, 50, &mut input);
            }
            Action::Closed => panic!("the input continues"),
        }
    }
    server.shutdown(Millis(0));
    let (mut input, mut events) = (end, String::new());
    loop {
        match server.poll(Millis(0)) {
            Action::Event => events += &format!("{:?} ", server.event().unwrap()),
            Action::Io(io) if input.is_empty() => {
                assert!(!io.split().0.bytes().is_empty(), "the line is answered");
                break;
            }
            Action::Io(io) => _ = give_input(io.split().1, 50, &mut input),
            Action::Closed => panic!("a call is in flight"),
        }
    }
    // Chunks may be pending when the shutdown begins.
    assert!(events.ends_with("ArgumentsAborted ProtocolError(LineTooLong { limit: 256 }) "), "{events}");
}

/// If the last of several `method` members turns the call into another message, the event of that message follows the
/// event of the abort.
#[test]
fn event_of_another_message_follows_the_abort() {
    // With this length, the other members follow the last chunk.
    let data = "x".repeat(2030);
    let hello = hello("2025-11-25");
    let plain = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"plain"}}"#;
    for (end, expected) in [
        (
            r#""method":"notifications/cancelled","params":{"requestId":7,"reason":"why"}}"#.to_owned(),
            &["ArgumentsAborted", "Cancelled"][..],
        ),
        (
            format!(r#""id":1,"method":"initialize","params":{hello}}}"#),
            &["ArgumentsAborted", "Restarted", "Connected"],
        ),
    ] {
        let config = CONFIG.second_initialize(SecondInitialize::Restart);
        let (mut slots, mut text) = ([Slot::EMPTY; 2], [0; 64]);
        let (mut memory, mut tx) = ([0; RX], [0; 1024]);
        let server = Server::new(&config, &mut memory, &mut tx).unwrap();
        let mut server = server.in_flight(&mut slots, &mut text).unwrap();
        let call =
            format!(r#""method":"tools/call","params":{{"name":"write","arguments":{{"data":"{data}"}}}}"#);
        let input = format!("{INITIALIZE}\n{plain}\n{{\"jsonrpc\":\"2.0\",{call},{end}\n");
        let (mut input, mut events) = (input.as_bytes(), Vec::new());
        loop {
            match server.poll(Millis(0)) {
                Action::Event => {
                    let event = server.event().unwrap();
                    let name = format!("{event:?}").split([' ', '(', '{']).next().unwrap().to_owned();
                    events.push(name);
                    match event {
                        Event::Call(call) => _ = call.defer(None).unwrap(),
                        Event::Cancelled { reason, .. } => assert!(reason.unwrap() == "why"),
                        _ => {}
                    }
                }
                Action::Io(io) => {
                    let (out, space) = io.split();
                    if take_output(out, usize::MAX, &mut Vec::new()) + give_input(space, 50, &mut input) == 0
                    {
                        break;
                    }
                }
                Action::Closed => panic!("the input continues"),
            }
        }
        let (before, after) = events.split_at(events.len() - expected.len());
        assert_eq!(after, expected, "{events:?}");
        assert_eq!(before.last().map(String::as_str), Some("ArgumentChunk"), "{events:?}");
    }
}

#[test]
fn every_chunk_proves_that_the_client_is_alive() {
    // The time of the first chunk: before the first ping, and while the ping awaits its response.
    for start in [0, 100] {
        let mut rx = [0; RX];
        with_server((&mut rx).into(), |server| {
            server.set_keep_alive(KeepAlive { interval: Millis(100), timeout: Millis(40), close: true });
            let mut receive_chunk = |now: u64, mut input: &[u8]| loop {
                match server.poll(Millis(now)) {
                    Action::Event => return matches!(server.event(), Some(Event::ArgumentChunk(_))),
                    Action::Io(io) => {
                        let (out, space) = io.split();
                        let sent = take_output(out, usize::MAX, &mut Vec::new());
                        if input.is_empty() {
                            return sent > 0;
                        }
                        give_input(space, usize::MAX, &mut input);
                    }
                    Action::Closed => panic!("closed"),
                }
            };
            let begin = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"write","arguments":{"data":""#;
            receive_chunk(0, begin.as_bytes());
            let has_ping = receive_chunk(start, b"");
            assert_eq!(has_ping, start == 100);
            let mut now = start;
            for _ in 0..50 {
                now += 30;
                assert!(receive_chunk(now, &[b'x'; RX]));
            }
            if !has_ping {
                now += 100;
                assert!(receive_chunk(now, b""), "the ping of an idle client");
            }
            assert!(!receive_chunk(now + 39, b""));
            assert!(matches!(server.poll(Millis(now + 40)), Action::Event));
            assert!(matches!(server.event(), Some(Event::PeerUnresponsive)));
        });
    }
}
