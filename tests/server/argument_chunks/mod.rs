//! Streamed arguments: calls of any size through a small receive buffer, for input split anywhere.

mod early_ends;
mod message_mode;

use crate::support::Random;
use crate::support::transport::{give_input, take_output};
use mcp_proto::server::{Event, Server, ServerConfig, Tool, Tools};
use mcp_proto::{Action, Buffer, ConfigError, Direction, Millis, Observer, ProtocolError};
use serde_json::{Value, json};

const SCHEMA: &str = r#"{"type":"object","properties":{"at":{"type":"integer"},"data":{"type":"string"}},"required":["data"]}"#;
static TOOLS: Tools<'static> = Tools::new(&[
    Tool::new("plain", "{}"),
    Tool::new("write", SCHEMA).streamed("data"),
    Tool::new("other", SCHEMA).streamed("data"),
]);
static CONFIG: ServerConfig<'static> = ServerConfig::new("s", "1").features(&[&TOOLS]);

/// The least size of the receive buffer in these tests.
const RX: usize = 256;

/// The events that the application receives, and the output of the server.
#[derive(Debug, Default, PartialEq, Clone)]
struct Received {
    /// The chunks of all calls, each call as `[name text rest]`, and other events by name.
    log: String,
    output: String,
    chunks: usize,
    /// The number of chunks that end within a group of four base64 characters.
    partial_groups: usize,
}

fn with_server(rx: Buffer<'_>, test: impl FnOnce(&mut Server<'_>)) {
    let mut tx = [0; 1024];
    let mut server = Server::new(&CONFIG, rx, &mut tx).unwrap();
    let hello = format!("{INITIALIZE}\n{}\n", r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    assert!(run(&mut server, hello.as_bytes(), || usize::MAX).output.contains("\"result\""));
    test(&mut server);
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;

/// Passes input in pieces, until the server has handled all of it.
fn run(server: &mut Server<'_>, mut input: &[u8], mut piece: impl FnMut() -> usize) -> Received {
    let (mut received, mut output, mut is_open) = (Received::default(), Vec::new(), false);
    for _ in 0..10_000_000 {
        let io = match server.poll(Millis(0)) {
            Action::Event => {
                match server.event().unwrap() {
                    Event::ArgumentChunk(chunk) => {
                        assert_eq!(chunk.is_first(), !is_open, "{received:?}");
                        assert!(!chunk.text().is_empty());
                        if chunk.is_first() {
                            received.log += &format!("[{} ", chunk.tool().name());
                        }
                        assert!(received.log.contains(&format!("[{} ", chunk.tool().name())));
                        is_open = true;
                        received.log += chunk.text();
                        received.chunks += 1;
                        received.partial_groups += usize::from(chunk.text().len() % 4 != 0);
                    }
                    Event::Call(call) => {
                        if !is_open {
                            received.log += &format!("[{} ", call.name());
                        }
                        is_open = false;
                        let arguments = call.raw_arguments();
                        let rest = arguments.get("data").and_then(|data| data.string());
                        received.log.extend(rest.iter().flat_map(|rest| rest.chars()));
                        let at = arguments.get("at").map_or("-", |at| at.raw());
                        received.log += &format!(" {at}]");
                        call.text("done");
                    }
                    Event::ArgumentsAborted => {
                        assert!(is_open, "{received:?}");
                        is_open = false;
                        received.log += " aborted]";
                    }
                    event => received.log += &format!("({event:?})"),
                }
                continue;
            }
            Action::Io(io) => io,
            Action::Closed => {
                received.log += "closed";
                break;
            }
        };
        let (out, space) = io.split();
        if take_output(out, usize::MAX, &mut output) > 0 {
            continue;
        }
        if input.is_empty() {
            break;
        }
        assert!(give_input(space, piece().max(1), &mut input) > 0, "the server accepts no input");
    }
    assert!(input.is_empty(), "no progress");
    received.output = String::from_utf8(output).unwrap();
    received
}

/// Returns the line of a call, as official clients write it.
fn python(id: u32, text: &str) -> String {
    let arguments = json!({"at":7,"data":text});
    let meta = json!({"progressToken":id});
    format!(
        r#"{{"method":"tools/call","params":{{"name":"write","arguments":{arguments},"_meta":{meta}}},"jsonrpc":"2.0","id":{id}}}"#
    ) + "\n"
}

const DONE: &str = r#""result":{"content":[{"type":"text","text":"done"}]}}"#;

#[test]
fn every_cut_gives_the_same_text() {
    let text = "aé€𝄞\"\\\n\u{1}/ ABCDEFG".repeat(40);
    // The third text has escaped surrogate pairs.
    let escaped =
        python(3, &text).replace('𝄞', "\\ud834\\udd1e").replace('é', "\\u00e9").replace('A', "\\u0041");
    for (line, id) in [(python(1, &text), 1), (python(2, "short"), 2), (escaped, 3)] {
        let expected = format!("[write {} 7]", if id == 2 { "short" } else { &text });
        let sizes = [1, 2, 3, 5, 7, 11, 16, 31, 64, 100, 255, usize::MAX];
        for rx in RX..RX + 40 {
            for size in sizes.into_iter().skip(rx % 3).step_by(if rx < RX + 16 { 1 } else { 3 }) {
                let mut memory = vec![0; rx];
                with_server((&mut memory[..]).into(), |server| {
                    let received = run(server, line.as_bytes(), || size);
                    assert_eq!(received.log, expected, "{id} {rx} {size}");
                    assert_eq!(received.output, format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},{DONE}\n"));
                    assert_eq!(received.chunks > 0, id != 2);
                });
            }
        }
    }
}

#[test]
fn chunks_of_base64_are_whole_groups() {
    let text = "QUJDRA==".replace("==", "QQ").repeat(300);
    for rx in RX..RX + 30 {
        let mut memory = vec![0; rx];
        with_server((&mut memory[..]).into(), |server| {
            let received = run(server, python(1, &text).as_bytes(), || 37);
            assert_eq!((received.partial_groups, received.log), (0, format!("[write {text} 7]")), "{rx}");
        });
    }
}

#[test]
fn order_of_members_decides_whether_a_long_call_fits() {
    let data = "x".repeat(2000);
    let (head, tail) = ("y".repeat(100), "z".repeat(120));
    let whole = format!("[write {data} 7]");
    // Each line, and whether the server accepts its call.
    let table = [
        (python(1, &data), true),
        (
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"write","arguments":{{"data":"{data}","at":7}}}}}}"#
            ),
            true,
        ),
        (
            format!(
                r#"{{"method":"tools/call","params":{{"name":"write","arguments":{{"data":"{data}","at":7}}}},"jsonrpc":"2.0","id":1}}"#
            ),
            true,
        ),
        (
            format!(
                r#" {{ "id" : 1 , "method" : "tools\/call" , "params" : {{ "name" : "\u0077rite" , "arguments" : {{ "at" : 7 , "\u0064ata" : "{data}" }} }} , "jsonrpc" : "2.0" }}"#
            ),
            true,
        ),
        (
            format!(
                r#"{{"method":"tools/call","params":{{"_meta":{{"m":["{head}"]}},"name":"write","arguments":{{"at":7,"data":"{data}"}}}},"jsonrpc":"2.0","id":1}}"#
            ),
            true,
        ),
        (
            format!(
                r#"{{"method":"tools/call","params":{{"name":"write","arguments":{{"at":7,"data":"{data}"}},"_meta":{{"m":"{tail}"}}}},"jsonrpc":"2.0","id":1}}"#
            ),
            true,
        ),
        (
            format!(
                r#"{{"method":"tools/call","params":{{"name":"write","arguments":{{"x":{{"data":"n"}},"data":"{data}","at":7}}}},"jsonrpc":"2.0","id":1}}"#
            ),
            true,
        ),
        // The name or the method follows the text, another member is too long, or the text is no streamed
        // argument.
        (
            format!(
                r#"{{"method":"tools/call","params":{{"arguments":{{"at":7,"data":"{data}"}},"name":"write"}},"jsonrpc":"2.0","id":1}}"#
            ),
            false,
        ),
        (
            format!(
                r#"{{"id":1,"params":{{"name":"write","arguments":{{"at":7,"data":"{data}"}}}},"jsonrpc":"2.0","method":"tools/call"}}"#
            ),
            false,
        ),
        (
            format!(
                r#"{{"id":1,"method":"tools/call","params":{{"name":"write","arguments":{{"at":"{data}","data":"x"}}}},"jsonrpc":"2.0"}}"#
            ),
            false,
        ),
        (
            format!(
                r#"{{"id":1,"method":"tools/call","params":{{"_meta":"{head}{head}","name":"write","arguments":{{"data":"{data}"}}}},"jsonrpc":"2.0"}}"#
            ),
            false,
        ),
        (
            format!(
                r#"{{"id":1,"method":"tools/call","params":{{"name":"plain","arguments":{{"data":"{data}"}}}},"jsonrpc":"2.0"}}"#
            ),
            false,
        ),
        (
            format!(
                r#"{{"id":1,"method":"tools/call","params":{{"name":"none","arguments":{{"data":"{data}"}}}},"jsonrpc":"2.0"}}"#
            ),
            false,
        ),
        (
            format!(
                r#"{{"id":1,"method":"ping","params":{{"name":"write","arguments":{{"data":"{data}"}}}},"jsonrpc":"2.0"}}"#
            ),
            false,
        ),
        (
            format!(
                r#"{{"id":1,"method":"tools/call","params":{{"name":"write","arguments":["{data}"]}},"jsonrpc":"2.0"}}"#
            ),
            false,
        ),
        (
            format!(
                r#"{{"id":1,"method":"tools/call","params":{{"name":"write","arguments":{{"data":["{data}"]}}}},"jsonrpc":"2.0"}}"#
            ),
            false,
        ),
        (format!(r#"{{"id":1,"method":"tools/call","params":["{data}"],"jsonrpc":"2.0"}}"#), false),
    ];
    for (line, is_received) in table {
        for size in [1, 10, usize::MAX] {
            let mut memory = [0; RX];
            with_server((&mut memory).into(), |server| {
                let received = run(server, format!("{}\n", line.trim_end()).as_bytes(), || size);
                if is_received {
                    assert_eq!(received.log, whole, "{line}");
                    assert!(received.output.contains(DONE));
                } else {
                    assert_eq!(received.log, "(ProtocolError(LineTooLong { limit: 256 }))", "{line}");
                    let error = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"#;
                    assert!(received.output.starts_with(error), "{}", received.output);
                }
                assert_eq!(run(server, python(2, "next").as_bytes(), || size).log, "[write next 7]");
            });
        }
    }
}

#[test]
fn arguments_before_the_chunks_are_readable() {
    let table = [
        (r#""at":4096,"x":{"y":[1]},"#, "at", Some("4096")),
        (r#""at":4096,"x":{"y":[1]},"#, "x", Some(r#"{"y":[1]}"#)),
        (r#""s":"a\"}","#, "s", Some(r#""a\"}""#)),
        (r#""at":4096,"#, "data", None),
        ("", "at", None),
    ];
    for (before, name, expected) in table {
        let line = format!(
            r#"{{"method":"tools/call","params":{{"name":"write","arguments":{{{before}"data":"{}","late":1}}}},"jsonrpc":"2.0","id":1}}"#,
            "x".repeat(300)
        );
        let mut memory = [0; RX];
        with_server((&mut memory).into(), |server| {
            let mut input = line.as_bytes();
            while !matches!(server.poll(Millis(0)), Action::Event) {
                let Action::Io(io) = server.poll(Millis(0)) else { panic!("no event is pending") };
                give_input(io.split().1, usize::MAX, &mut input);
            }
            let Some(Event::ArgumentChunk(chunk)) = server.event() else { panic!("a chunk is pending") };
            assert_eq!(chunk.argument(name).map(|value| value.raw()), expected, "{before}");
            assert!(chunk.argument("late").is_none());
        });
    }
}

#[test]
fn base64_of_any_length_is_decoded() {
    use mcp_proto::server::Base64;
    let bytes: Vec<u8> = (0..3001u32).map(|at| (at * 31 + (at >> 8)) as u8).collect();
    for length in [0, 1, 200, 2998, 2999, 3000, 3001] {
        let expected = &bytes[..length];
        let text = encode(expected);
        let line = python(1, &text);
        let mut memory = [0; RX];
        with_server((&mut memory).into(), |server| {
            let (mut input, mut decoded) = (line.as_bytes(), Vec::new());
            loop {
                match server.poll(Millis(0)) {
                    Action::Event => match server.event().unwrap() {
                        Event::ArgumentChunk(chunk) => {
                            decoded.extend(chunk.base64().bytes().map(Result::unwrap));
                        }
                        Event::Call(call) => {
                            let rest = call.raw_arguments().get("data").and_then(|data| data.string());
                            decoded.extend(Base64::new(rest.unwrap()).bytes().map(Result::unwrap));
                            call.text("done");
                            break;
                        }
                        event => panic!("{event:?}"),
                    },
                    Action::Io(io) => _ = give_input(io.split().1, 100, &mut input),
                    Action::Closed => panic!("the input continues"),
                }
            }
            assert_eq!(decoded, expected);
        });
    }
}

fn encode(bytes: &[u8]) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |group: &[u8]| {
        let bits = group.iter().chain(&[0, 0]).take(3).fold(0, |bits, byte| bits << 8 | usize::from(*byte));
        let digit = move |at: usize| char::from(DIGITS[bits >> (18 - 6 * at) & 63]);
        let length = group.len();
        (0..4).map(move |at| if at <= length { digit(at) } else { '=' })
    };
    bytes.chunks(3).flat_map(group).collect()
}

#[test]
fn large_messages_fit_through_small_buffers() {
    let mut random = Random(1);
    let text: String = (0..1 << 20).map(|_| char::from(b'a' + random.below(26) as u8)).collect();
    let line = python(1, &text);
    for grows in [false, true] {
        let mut memory = [0; 512];
        let buffer = if grows { Buffer::grown(512) } else { (&mut memory).into() };
        with_server(buffer, |server| {
            let received = run(server, line.as_bytes(), || 64);
            assert!(received.log == format!("[write {text} 7]"));
            assert!(received.chunks > 2000);
        });
    }
}

#[test]
fn streamed_argument_must_be_a_string_of_the_schema() {
    for (argument, expected) in [
        ("data", Ok(())),
        ("at", Err(ConfigError::InvalidStreamedArgument { entry: 1 })),
        ("none", Err(ConfigError::InvalidStreamedArgument { entry: 1 })),
    ] {
        let catalog = [Tool::new("a", "{}"), Tool::new("b", SCHEMA).streamed(argument)];
        assert_eq!(Tools::try_new(&catalog).map(drop), expected, "{argument}");
    }
}

#[test]
fn observer_sees_the_call_without_its_chunks() {
    struct Lines(Vec<String>);
    impl Observer for Lines {
        fn line(&mut self, direction: Direction, line: &[u8], _: Result<(), ProtocolError>) {
            if direction == Direction::In {
                self.0.push(String::from_utf8(line.to_vec()).unwrap());
            }
        }
    }
    let mut lines = Lines(Vec::new());
    let (mut rx, mut tx) = ([0; RX], [0; 1024]);
    {
        let mut server = Server::new(&CONFIG, &mut rx, &mut tx).unwrap().observe(&mut lines);
        let data = "x".repeat(2000);
        run(&mut server, format!("{INITIALIZE}\n{}", python(1, &data)).as_bytes(), || 100);
    }
    let seen: Value = serde_json::from_str(&lines.0[1]).unwrap();
    let rest = seen["params"]["arguments"]["data"].as_str().unwrap();
    assert!(rest.len() < RX && rest.bytes().all(|byte| byte == b'x'), "{rest}");
}
