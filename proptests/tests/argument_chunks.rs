//! Streamed arguments against `serde_json`: random texts, orders of members, buffer sizes and pieces.

use mcp_proto::server::{Event, Server, ServerConfig, Tool, Tools};
use mcp_proto::{Action, Millis};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::Value;

const SCHEMA: &str = r#"{"type":"object","properties":{"data":{"type":"string"}}}"#;
static TOOLS: Tools = Tools::new(&[Tool::new("write", SCHEMA).streamed("data")]);
static CONFIG: ServerConfig<'static> = ServerConfig::new("s", "1").features(&[&TOOLS]);

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;

/// An event that the application receives. The chunks of a call are part of its event.
#[derive(Debug, PartialEq)]
enum Received {
    /// A call: the text of its streamed argument (the chunks and then the rest), and the other arguments.
    Call(String, Value),
    Aborted,
    Error(String),
}

/// Returns a text as a JSON string. `spellings` select the spelling of each character.
fn spelled(text: &str, spellings: &[u8]) -> String {
    let mut json = String::from("\"");
    for (character, spelling) in text.chars().zip(spellings.iter().cycle()) {
        let short = match character {
            '"' => "\\\"",
            '\\' => "\\\\",
            '\n' => "\\n",
            '/' if *spelling == 2 => "\\/",
            _ => "",
        };
        if *spelling == 1 || (character < ' ' && short.is_empty()) {
            let mut units = [0; 2];
            for unit in character.encode_utf16(&mut units) {
                json += &format!("\\u{unit:04x}");
            }
        } else if short.is_empty() {
            json.push(character);
        } else {
            json += short;
        }
    }
    json + "\""
}

/// A line with a call, and the offset of the text of its streamed argument.
#[derive(Debug, Clone)]
struct Line {
    json: String,
    data: usize,
    /// The length of the line without the text.
    rest: usize,
}

fn object(members: Vec<(&str, String)>, space: &str) -> String {
    let members: Vec<String> =
        members.into_iter().map(|(name, value)| format!("\"{name}\"{space}:{space}{value}{space}")).collect();
    format!("{{{space}{}}}", members.join(","))
}

fn other_value() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("7".to_owned()),
        Just("null".to_owned()),
        Just(r#"{"data":"n","name":["}"]}"#.to_owned()),
        Just(r#"["\"data\":\"",-1.5e3,[]]"#.to_owned()),
        "[a-z]{0,60}".prop_map(|text| format!("\"{text}\"")),
    ]
}

fn line() -> impl Strategy<Value = Line> {
    let character = prop_oneof![
        4 => proptest::char::range('a', 'z'),
        1 => prop::sample::select(vec!['"', '\\', '\n', '\u{1}', '/', '+', '=', 'é', '€', '𝄞', '}', ']', ' ']),
    ];
    let text = prop::collection::vec(character, 0..700).prop_map(|text| text.into_iter().collect::<String>());
    let spellings = prop::collection::vec(0u8..4, 1..9);
    let shuffled = |names: Vec<&'static str>| Just(names).prop_shuffle();
    (
        (text, spellings, prop::sample::select(vec!["", " ", "\t \r"])),
        shuffled(vec!["data", "at", "x", "y"]),
        shuffled(vec!["name", "arguments", "_meta", "z"]),
        shuffled(vec!["jsonrpc", "method", "params", "id"]),
        prop::collection::vec(other_value(), 4),
    )
        .prop_map(|((text, spellings, space), arguments, params, outer, others)| {
            const MARK: &str = "\u{7f}";
            let data = spelled(&text, &spellings);
            let [at, x, y, z] = others.try_into().unwrap();
            let arguments = arguments.into_iter().map(|name| {
                let value = match name {
                    "data" => MARK.to_owned(),
                    "at" => at.clone(),
                    "x" => x.clone(),
                    _ => y.clone(),
                };
                (name, value)
            });
            let arguments = object(arguments.collect(), space);
            let params = params.into_iter().map(|name| {
                let value = match name {
                    "name" => "\"write\"".to_owned(),
                    "arguments" => arguments.clone(),
                    "_meta" => r#"{"m":[1]}"#.to_owned(),
                    _ => z.clone(),
                };
                (name, value)
            });
            let params = object(params.collect(), space);
            let outer = outer.into_iter().map(|name| {
                let value = match name {
                    "jsonrpc" => "\"2.0\"".to_owned(),
                    "method" => "\"tools/call\"".to_owned(),
                    "params" => params.clone(),
                    _ => "1".to_owned(),
                };
                (name, value)
            });
            let json = object(outer.collect(), space);
            let at = json.find(MARK).unwrap();
            Line { data: at + 1, rest: json.len() + 1, json: json.replace(MARK, &data) }
        })
}

/// Passes input to the server in pieces. Returns the events of the application, and the number of responses.
fn run(server: &mut Server<'_>, mut input: &[u8], pieces: &[usize]) -> (Vec<Received>, usize) {
    let (mut received, mut chunks, mut output) = (Vec::new(), None::<String>, Vec::new());
    let mut pieces = pieces.iter().cycle();
    loop {
        match server.poll(Millis(0)) {
            Action::Event => match server.event().unwrap() {
                Event::ArgumentChunk(chunk) => {
                    assert_eq!(chunk.is_first(), chunks.is_none());
                    assert!(!chunk.text().is_empty());
                    chunks.get_or_insert_default().push_str(chunk.text());
                }
                Event::Call(call) => {
                    let mut arguments: Value = serde_json::from_str(call.raw_arguments().raw()).unwrap();
                    let mut text = chunks.take().unwrap_or_default();
                    if let Some(Value::String(rest)) = arguments.get("data") {
                        text += rest;
                        arguments["data"] = Value::Null;
                    }
                    received.push(Received::Call(text, arguments));
                    call.text("done");
                }
                Event::ArgumentsAborted => {
                    assert!(chunks.take().is_some());
                    received.push(Received::Aborted);
                }
                Event::ProtocolError(error) => received.push(Received::Error(error.to_string())),
                _ => {}
            },
            Action::Io(io) => {
                let (out, mut space) = io.split();
                let length = out.bytes().len();
                output.extend_from_slice(out.bytes());
                out.sent(length);
                if length > 0 {
                    continue;
                }
                if input.is_empty() {
                    break;
                }
                let given = input.len().min(*pieces.next().unwrap()).min(space.space().len());
                assert!(given > 0, "a server that waits for input has space");
                space.space()[..given].copy_from_slice(&input[..given]);
                space.filled(given);
                input = &input[given..];
            }
            Action::Closed => panic!("the input continues"),
        }
    }
    assert!(chunks.is_none(), "an end follows the chunks");
    (received, output.iter().filter(|byte| **byte == b'\n').count())
}

/// Predicts the events that the application receives for a line.
fn expected(line: &Line, rx: usize) -> Vec<Received> {
    let value: Value = serde_json::from_str(&line.json).unwrap();
    let fits = line.json.len() < rx;
    let position = |text: &str| line.json.find(text).unwrap();
    // To stream, the server must know the method before the buffer is full, and the tool before its arguments.
    let method = "\"tools/call\"";
    let is_ordered =
        position(method) + method.len() <= rx && position("\"write\"") < position("\"arguments\"");
    let can_stream = is_ordered && line.data <= rx - rx / 8;
    if fits || can_stream && line.rest < rx {
        let mut arguments = value["params"]["arguments"].clone();
        let text = arguments["data"].as_str().unwrap().to_owned();
        arguments["data"] = Value::Null;
        return vec![Received::Call(text, arguments)];
    }
    let error = Received::Error(mcp_proto::ProtocolError::LineTooLong { limit: rx }.to_string());
    // A server that can stream has emitted chunks of the text, unless the text is empty, before it finds that the line
    // is too long.
    let has_chunks = can_stream && line.data + 1 < line.json.len() && line.json.as_bytes()[line.data] != b'"';
    if has_chunks { vec![Received::Aborted, error] } else { vec![error] }
}

proptest! {
    #![proptest_config(crate::config(300))]

    #[test]
    fn argument_of_any_size_arrives_as_serde_reads_it(
        lines in prop::collection::vec(line(), 1..4),
        rx in 160usize..600,
        pieces in prop::collection::vec(1usize..300, 1..20),
    ) {
        let (mut memory, mut tx) = (vec![0; rx], [0; 1024]);
        let mut server = Server::new(&CONFIG, &mut memory[..], &mut tx).unwrap();
        run(&mut server, format!("{INITIALIZE}\n").as_bytes(), &pieces);
        let input: String = lines.iter().map(|line| line.json.clone() + "\n").collect();
        let (received, responses) = run(&mut server, input.as_bytes(), &pieces);
        prop_assert_eq!(responses, lines.len());
        let expected: Vec<_> = lines.iter().flat_map(|line| expected(line, rx)).collect();
        prop_assert_eq!(received, expected);
    }

    #[test]
    fn damaged_line_leaves_no_chunks_for_the_next_call(
        line in line(),
        damage in prop::collection::vec((any::<Index>(), any::<u8>()), 1..4),
        is_cut in any::<bool>(),
        rx in 160usize..600,
        pieces in prop::collection::vec(1usize..300, 1..20),
    ) {
        let (mut memory, mut tx) = (vec![0; rx], [0; 1024]);
        let mut server = Server::new(&CONFIG, &mut memory[..], &mut tx).unwrap();
        run(&mut server, format!("{INITIALIZE}\n").as_bytes(), &pieces);
        let mut bytes = line.json.into_bytes();
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            if is_cut {
                bytes.truncate(at.max(1));
            } else {
                bytes[at] = byte;
            }
        }
        bytes.push(b'\n');
        // The assertions of `run` check the order of the events.
        run(&mut server, &bytes, &pieces);
        let next = r#"{"method":"tools/call","params":{"name":"write","arguments":{"data":"next"}},"jsonrpc":"2.0","id":2}"#;
        let (received, responses) = run(&mut server, format!("{next}\n").as_bytes(), &pieces);
        prop_assert_eq!(received, vec![Received::Call("next".into(), serde_json::json!({"data":null}))]);
        prop_assert_eq!(responses, 1);
    }
}
