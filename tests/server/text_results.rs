//! Text results equal results with one content block, also if they do not fit the transmit buffer.

use crate::support::transport::{give_input, take_output};
use mcp_proto::server::{Event, Server, ServerConfig, Tool, Tools};
use mcp_proto::{Action, Buffer, Millis, Next, ProtocolError};

static TOOLS: Tools<'static> = Tools::new(&[Tool::new("t", "{}")]);
static PADDING: Tools<'static> = Tools::new(&[Tool::new("t", "{}")]).always_structured_content();
static PLAIN: ServerConfig<'static> = ServerConfig::new("s", "1").features(&[&TOOLS]);
static PADDED: ServerConfig<'static> = ServerConfig::new("s", "1").features(&[&PADDING]);

/// The form of the response to a call.
#[derive(Clone, Copy)]
struct Answer {
    /// Whether to send a content block instead of a text.
    piece: bool,
    failed: bool,
    later: bool,
}

/// Responds to a call or a deferred call.
macro_rules! answer {
    ($reply:expr, $answer:expr, $text:expr) => {
        match ($answer.piece, $answer.failed) {
            (false, false) => {
                // Write the text in three parts.
                let third = $text.chars().count() / 3;
                let (before, after) = $text.split_at($text.char_indices().nth(third).map_or(0, |(at, _)| at));
                $reply.text((before, "", after));
            }
            (false, true) => $reply.fail($text),
            (true, failed) => $reply.content(|result| {
                result.text($text);
                if failed {
                    result.failed();
                }
            }),
        }
    };
}

/// Returns the output and the protocol errors of a server for these lines.
fn said(server: Server<'_>, lines: &str, text: &str, answer: Answer) -> (String, Vec<ProtocolError>) {
    let (mut server, mut input) = (server, lines.as_bytes());
    let (mut output, mut faults, mut kept) = (Vec::new(), Vec::new(), Vec::new());
    loop {
        match server.poll(Millis(0)) {
            Action::Io(io) => match io.next() {
                Next::Write(out) => {
                    take_output(out, usize::MAX, &mut output);
                }
                Next::Read(receive) if !input.is_empty() => {
                    give_input(receive, usize::MAX, &mut input);
                }
                _ => {
                    let Some(ticket) = kept.pop() else { break };
                    if let Ok(reply) = server.reply(ticket) {
                        answer!(reply, answer, text);
                    }
                }
            },
            Action::Event => match server.event() {
                Some(Event::Call(call)) if answer.later => kept.push(call.defer(None).expect("a slot")),
                Some(Event::Call(call)) => answer!(call, answer, text),
                Some(Event::ProtocolError(fault)) => faults.push(fault),
                _ => {}
            },
            Action::Closed => break,
        }
    }
    (String::from_utf8(output).expect("text"), faults)
}

/// Expects equal output and equal errors for text and content, with a transmit buffer of `room` bytes. Returns the
/// output.
fn alike(info: &'static ServerConfig<'static>, lines: &str, text: &str, room: usize) -> String {
    let mut all = String::new();
    for (failed, later, grown) in [(false, false, false), (true, false, true), (false, true, false)] {
        let [as_text, as_piece] = [false, true].map(|piece| {
            let (mut rx, mut tx, mut batch) = ([0; 1024], vec![0; room], [0; 2000]);
            let tx: Buffer<'_> = if grown { Buffer::grown(room) } else { (&mut tx[..]).into() };
            let server = Server::new(info, &mut rx, tx).expect("room").in_flight_grown(4).expect("slots");
            said(server.batch_buffer(&mut batch), lines, text, Answer { piece, failed, later })
        });
        assert_eq!(as_text, as_piece, "{lines}{text}");
        all += &as_text.0;
    }
    all
}

fn hello(revision: &str) -> String {
    format!(
        concat!(
            r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{}","#,
            r#""capabilities":{{}},"clientInfo":{{"name":"c","version":"1"}}}}}}"#,
            "\n",
            r#"{{"jsonrpc":"2.0","method":"notifications/initialized"}}"#,
            "\n",
        ),
        revision
    )
}

fn call(id: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"t\"}}}}\n")
}

const ROOM: usize = 700;

#[test]
fn text_result_equals_content_result_for_any_id() {
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        for info in [&PLAIN, &PADDED] {
            for id in
                ["7", "-12", "1234", "12345678", "123456789", r#""""#, r#""é\n""#, r#""d0b2-11ee-a2c1""#]
            {
                for text in ["", "a", "ab", "a\"b", "0123456789abcdef", "é\n\u{1}\\", &"long ".repeat(20)] {
                    let lines = hello(revision) + &call(id) + &call("1");
                    let said = alike(info, &lines, text, ROOM);
                    assert!(said.contains(&format!(r#""id":{id},"result":{{"content":[{{"type":"text""#)));
                }
            }
        }
    }
    let batch = format!("[{},{}]\n", call("1").trim(), call("2").trim());
    assert!(alike(&PLAIN, &(hello("2025-03-26") + &batch), "in a batch", ROOM).contains("},{"));
    let stateless = concat!(
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","_meta":{"#,
        r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#,
        "\n"
    );
    assert!(alike(&PLAIN, stateless, "alone", ROOM).contains("resultType"));
}

#[test]
fn oversized_text_result_fails_like_oversized_content() {
    let lines = hello("2025-11-25") + &call("\"a\"") + &call("2");
    let (mut fitted, mut refused) = (0, 0);
    for length in ROOM - 120..=ROOM {
        for (unit, bytes) in [("x", 1), ("\"", 2), ("ü", 2), ("\u{1}", 6)] {
            let text = unit.repeat(length / bytes);
            let said = alike(&PLAIN, &lines, &text, ROOM);
            let large = said.matches("too large").count();
            refused += large;
            fitted += 6 - large;
        }
    }
    assert!(fitted > 500 && refused > 500, "{fitted} {refused}");
}
