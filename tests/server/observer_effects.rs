//! Output and events are the same with and without an observer.

use crate::support::server::tools::CONFIG;
use crate::support::server::{ServerHarness, hello};
use crate::support::transport::Pace;
use mcp_proto::server::{Feature, Limits, SecondInitialize, Server, ServerConfig, Slot, Tool, Tools};
use mcp_proto::{Direction, Observer, ProtocolError};

/// The two member orders that clients use.
const LINES: [&str; 2] = [
    r#"{"jsonrpc":"2.0","id":#,"method":"tools/call","params":{"name":"echo","arguments":@}}"#,
    r#"{"method":"tools/call","params":{"name":"echo","arguments":@},"jsonrpc":"2.0","id":#}"#,
];

struct Nothing;

impl Observer for Nothing {
    fn line(&mut self, _: Direction, _: &[u8], _: Result<(), ProtocolError>) {}
}

fn line(pattern: &str, id: &str, arguments: &str) -> String {
    format!("{}\n", pattern.replace('#', id).replace('@', arguments))
}

/// Runs a session with `input` after the handshake. Returns output and events.
fn session(info: &ServerConfig<'_>, input: &[u8], pace: Pace, observed: bool) -> (String, Vec<String>) {
    let (mut rx, mut tx, mut observer) = ([0; 4096], [0; 64 * 1024], Nothing);
    let (mut slots, mut text) = ([Slot::EMPTY; 2], [0; 64]);
    let server = Server::new(info, &mut rx, &mut tx).unwrap().in_flight(&mut slots, &mut text).unwrap();
    let server = server.max_reply_size(1024).unwrap();
    let server = if observed { server.observe(&mut observer) } else { server };
    let mut harness = ServerHarness::new(server, pace);
    let hello = hello("2025-11-25");
    let initialize = format!(r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{hello}}}"#);
    for line in [&*initialize, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#] {
        harness.transport.write_line(line.as_bytes());
    }
    harness.transport.write(input);
    harness.run();
    (String::from_utf8_lossy(&harness.transport.output).into_owned(), harness.record.events.clone())
}

/// Asserts that an observer has no effect. Asserts that the last request gets a response. Returns the output.
#[track_caller]
fn same(info: &ServerConfig<'_>, pattern: &str, probe: &[u8], pace: Pace) -> String {
    let mut input = Vec::new();
    for id in ["1", "2", "3"] {
        input.extend_from_slice(line(pattern, id, r#"{"a":1}"#).as_bytes());
    }
    input.extend_from_slice(probe);
    input.extend_from_slice(line(pattern, "77", "{}").as_bytes());
    input.extend_from_slice(line(pattern, "78", r#"{"b":[2]}"#).as_bytes());
    let (plain, observed) = (session(info, &input, pace, false), session(info, &input, pace, true));
    assert_eq!(plain, observed, "{}", String::from_utf8_lossy(probe));
    assert!(plain.0.contains(r#""id":78,"#), "{}\n{}", String::from_utf8_lossy(probe), plain.0);
    plain.0
}

#[test]
fn damaged_requests_are_handled_alike() {
    for pattern in LINES {
        let request = line(pattern, "45", r#"{"text":"a, b","n":[-1,{}]}"#).into_bytes();
        assert!(same(&CONFIG, pattern, &request, Pace::FAST).contains(r#""id":45,"result""#));
        for at in 0..request.len() {
            for byte in *b"\"{,\\0\n\x80" {
                let mut other = request.clone();
                other[at] = byte;
                same(&CONFIG, pattern, &other, Pace::FAST);
                other.insert(at + 1, request[at]);
                same(&CONFIG, pattern, &other, Pace::FAST);
            }
            let mut shorter = request.clone();
            shorter.remove(at);
            same(&CONFIG, pattern, &shorter, Pace::FAST);
        }
    }
}

#[test]
fn ids_and_arguments_of_all_kinds_are_handled_alike() {
    let nested = |depth: usize| format!("{}{}", r#"{"a":"#.repeat(depth), "1") + &"}".repeat(depth);
    let deep: Vec<String> = (1..12).map(nested).collect();
    let texts: Vec<String> = (0..40).map(|length| format!(r#"{{"t":"{}"}}"#, "x".repeat(length))).collect();
    let ids = [
        "0",
        "-0",
        "-1",
        "01",
        "00",
        "7",
        "1234567",
        "12345678",
        "123456789",
        "1234567890123456",
        "12345678901234567",
        "1234567890123456789012",
        "1.5",
        "1e3",
        "12345678.5",
        "null",
        "true",
        "[]",
        "{}",
        "\"\"",
        "\"7\"",
        "\"\\u0037\"",
        "",
        " 7",
        "7 ",
    ];
    let arguments = [
        "{}",
        "{ }",
        "null",
        "[]",
        "1",
        "\"{\"",
        "",
        r#"{"a":1},"b":{}"#,
        r#"{"a":1},"name":"who""#,
        "{}}",
        r#"{"id":9,"method":"x","jsonrpc":"1.0"}"#,
        r#"{"params":{"name":"who","arguments":{}}}"#,
        "{\"a\"}",
        r#"{"t":"\u00e9\ud83d\ude00"}"#,
        r#"{"t":"é"}"#,
        r#"{"t":"\ud800"}"#,
        r#"{"t":1e5,"u":true,"v":null}"#,
        r#"{"a":1},"_meta":{"progressToken":4}"#,
        r#"{"result":{},"error":{}}"#,
    ];
    let info = CONFIG.limits(Limits::DEFAULT.with_depth(8));
    for pattern in LINES {
        for id in ids {
            same(&info, pattern, line(pattern, id, r#"{"a":1}"#).as_bytes(), Pace::FAST);
        }
        let more = deep.iter().chain(&texts).map(String::as_str);
        for arguments in arguments.into_iter().chain(more) {
            same(&info, pattern, line(pattern, "45", arguments).as_bytes(), Pace::FAST);
        }
    }
}

#[test]
fn output_does_not_depend_on_how_input_is_split() {
    for pattern in LINES {
        let probe = line(pattern, "45", r#"{"text":"a, b","n":[-1,{}]}"#);
        let expected = same(&CONFIG, pattern, probe.as_bytes(), Pace::FAST);
        for read in 1..200 {
            let pace = Pace { read, ..Pace::FAST };
            assert_eq!(same(&CONFIG, pattern, probe.as_bytes(), pace), expected, "{pace:?}");
        }
    }
}

static PADDED: Tools<'static> =
    Tools::new(&[Tool::new("echo", "{}"), Tool::new("who", "{}").output_schema("{}")])
        .always_structured_content();
static PADDING: [&dyn Feature; 1] = [&PADDED];

#[test]
fn restarted_session_answers_in_its_own_revision() {
    let info = ServerConfig::new("s", "1").features(&PADDING).second_initialize(SecondInitialize::Restart);
    for pattern in LINES {
        let call = |id| line(pattern, id, r#"{"a":1}"#);
        let (older, newer) = (hello("2024-11-05"), hello("2025-11-25"));
        let again = |hello| {
            format!("{{\"jsonrpc\":\"2.0\",\"id\":50,\"method\":\"initialize\",\"params\":{hello}}}\n")
        };
        let probe = [again(older), call("51"), call("52"), again(newer), call("53"), call("54")].concat();
        let said = same(&info, pattern, probe.as_bytes(), Pace::FAST);
        let padded = |line: &&str| line.contains("structuredContent");
        let ids: Vec<_> = said.lines().filter(padded).map(|line| &line[22..24]).collect();
        assert_eq!(ids, ["1,", "2,", "3,", "53", "54", "77", "78"], "{said}");
    }
}

#[test]
fn calls_go_to_the_tool_that_they_name() {
    let info = ServerConfig::new("s", "1").features(&PADDING);
    let names = ["who", "echo", "ech", "echoes", "", "\\u0065cho", "é", "ec\\\"ho", "echo\",\"name\":\"who"];
    for (pattern, name) in LINES.into_iter().flat_map(|pattern| names.map(|name| (pattern, name))) {
        for info in [&info, &CONFIG] {
            let probe = line(&pattern.replace("echo", name), "45", r#"{"a":1}"#);
            same(info, pattern, &[probe.as_bytes(), probe.as_bytes()].concat(), Pace::FAST);
            same(info, &pattern.replace("echo", "who"), probe.as_bytes(), Pace::FAST);
        }
    }
    for pattern in LINES {
        let probe = line(&pattern.replace("echo", "who"), "45", r#"{"a":1}"#);
        let said = same(&info, pattern, probe.as_bytes(), Pace::FAST);
        assert_eq!(said.matches("structuredContent").count(), 5, "results with structured content: {said}");
    }
}

#[test]
fn ids_longer_than_the_limit_are_refused() {
    for limit in [5, 8, 12, 15, 16, 17] {
        let info = CONFIG.limits(Limits::DEFAULT.with_id(limit));
        for pattern in LINES {
            for id in (1..20).map(|length| "1234567890123456789"[..length].to_string()) {
                let said = same(&info, pattern, line(pattern, &id, r#"{"a":1}"#).as_bytes(), Pace::FAST);
                let answer = format!(r#""id":{id},"result""#);
                assert_eq!(said.contains(&answer), id.len() <= limit, "{id}, {limit}: {said}");
            }
        }
    }
}

#[test]
fn id_of_a_deferred_request_is_refused() {
    for pattern in LINES {
        let defer = line(&pattern.replace("echo", "defer"), "45", "{}");
        let probe = [defer, line(pattern, "46", "{}"), line(pattern, "45", "{}")].concat();
        assert!(same(&CONFIG, pattern, probe.as_bytes(), Pace::FAST).contains(r#""id":45,"error""#));
    }
}

#[test]
fn each_request_with_a_token_gets_its_progress() {
    for pattern in LINES {
        let asks = pattern.replace("\"echo\",", r#""progress","_meta":{"progressToken":5},"#);
        let said = same(&CONFIG, &asks, line(&asks, "45", "{}").as_bytes(), Pace::FAST);
        assert_eq!(said.matches(r#""progressToken":5"#).count(), 6 * 3, "each of six: {said}");
    }
}
