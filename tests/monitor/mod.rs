//! Dialogues that violate each rule, and the reports of a monitor.
//!
//! `dialogues.txt` explains its format.

use mcp_proto::Millis;
use mcp_proto::monitor::{Monitor, Requirement, Rule, Sender, Violation};

const DIALOGUES: &str = include_str!("dialogues.txt");

/// Replaces the abbreviations of the dialogues.
fn expand(text: &str) -> String {
    let meta = concat!(
        r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
        r#""io.modelcontextprotocol/clientCapabilities":{}}"#
    );
    text.replace("$rpc", r#""jsonrpc":"2.0""#)
        .replace("$meta", meta)
        .replace("$io", "io.modelcontextprotocol")
}

/// Replaces the escape `\n`, and escapes such as `\xff` for any byte.
fn unescape(text: &str) -> Vec<u8> {
    let mut parts = text.split('\\');
    let mut bytes = parts.next().unwrap().as_bytes().to_vec();
    for part in parts {
        let rest = match part.strip_prefix('x') {
            Some(hex) => {
                bytes.push(u8::from_str_radix(&hex[..2], 16).unwrap());
                &hex[2..]
            }
            None => {
                bytes.push(b'\n');
                &part[1..]
            }
        };
        bytes.extend_from_slice(rest.as_bytes());
    }
    bytes
}

/// A dialogue in progress.
struct Dialogue {
    monitor: Monitor,
    now: Millis,
    found: Vec<String>,
}

impl Dialogue {
    fn new() -> Dialogue {
        Dialogue { monitor: Monitor::new(), now: Millis(0), found: Vec::new() }
    }

    /// Opens a session of this revision with the capabilities of the client and the server.
    fn open(&mut self, words: &str) {
        let mut words = words.split_whitespace();
        let mut next = |default: &'static str| words.next().unwrap_or(default);
        let (revision, client, server) = (next("2025-06-18"), next("{}"), next("{}"));
        let side = r#"{"name":"n","version":"1"}"#;
        self.send(
            Sender::Client,
            &format!(
                r#"{{$rpc,"id":0,"method":"initialize","params":{{"protocolVersion":"{revision}","capabilities":{client},"clientInfo":{side}}}}}"#
            ),
        );
        self.send(
            Sender::Server,
            &format!(
                r#"{{$rpc,"id":0,"result":{{"protocolVersion":"{revision}","capabilities":{server},"serverInfo":{side}}}}}"#
            ),
        );
        self.send(Sender::Client, r#"{$rpc,"method":"notifications/initialized"}"#);
    }

    fn send(&mut self, sender: Sender, text: &str) {
        let violations = match text {
            "end" => self.monitor.end(sender, self.now),
            _ => match text.strip_prefix("raw ") {
                Some(text) => self.monitor.bytes(sender, &unescape(text), self.now),
                None => self.monitor.line(sender, expand(text).as_bytes(), self.now),
            },
        };
        self.found.extend(violations.iter().map(shown));
    }
}

fn shown(violation: &Violation) -> String {
    format!("{} {}", format!("{:?}", violation.sender).to_lowercase(), violation.rule)
}

#[test]
fn each_dialogue_gives_the_expected_violations() {
    let mut seen = Vec::new();
    for block in DIALOGUES.split("\n== ").skip(1) {
        let mut dialogue = Dialogue::new();
        let mut expected = Vec::new();
        let (title, lines) = block.split_once('\n').unwrap();
        for line in lines.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let (sign, rest) = line.split_once(' ').unwrap_or_else(|| panic!("{title}: {line}"));
            if sign != "!" {
                assert_eq!(dialogue.found, expected, "{title}, before {line}");
            }
            match sign {
                ">" => dialogue.send(Sender::Client, rest),
                "<" => dialogue.send(Sender::Server, rest),
                "session" => dialogue.open(rest),
                "~" => dialogue.now = dialogue.now.plus(Millis(rest.parse().unwrap())),
                "!" => {
                    expected.push(rest.to_owned());
                    seen.push(rest.split_once(' ').unwrap().1.to_owned());
                }
                _ => panic!("{title}: {line}"),
            }
        }
        assert_eq!(dialogue.found, expected, "{title}");
    }
    let missing: Vec<_> =
        Rule::ALL.iter().filter(|rule| !seen.iter().any(|name| name == rule.name())).collect();
    assert!(missing.is_empty(), "no dialogue breaks {missing:?}");
}

#[test]
fn names_of_rules_are_unique() {
    for (index, rule) in Rule::ALL.iter().enumerate() {
        assert!(!Rule::ALL[..index].iter().any(|earlier| earlier.name() == rule.name()), "{rule}");
        assert!(!rule.section().is_empty());
        let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        assert!(rule.name().bytes().all(is_plain), "{rule}");
    }
}

#[test]
fn violation_of_a_recommended_rule_is_marked_in_its_text() {
    let mut monitor = Monitor::new();
    let violations =
        monitor.line(Sender::Client, br#"{"jsonrpc":"2.0","method":"notifications/other"}"#, Millis(3));
    let [violation] = &violations[..] else { panic!("{violations:?}") };
    assert_eq!((violation.rule.requirement(), violation.at), (Requirement::Should, Millis(3)));
    assert!(violation.to_string().contains("[method-unknown, recommended; "), "{violation}");
}

#[test]
fn pieces_of_any_size_give_the_same_violations() {
    let text = expand(concat!(
        r#"{$rpc,"id":1,"method":"tools/list"}"#,
        "\nnonsense\n\n",
        r#"{$rpc,"id":1,"method":"ping"}"#,
        "\n{"
    ));
    let read = |size: usize| -> Vec<Violation> {
        let mut monitor = Monitor::new();
        let pieces = text.as_bytes().chunks(size);
        let mut found: Vec<_> =
            pieces.flat_map(|piece| monitor.bytes(Sender::Client, piece, Millis(0))).collect();
        found.extend(monitor.end(Sender::Client, Millis(0)));
        found
    };
    let whole = read(text.len());
    assert_eq!(whole.len(), 5, "{whole:?}");
    for size in 1..text.len() {
        assert_eq!(read(size), whole, "{size}");
    }
}

#[test]
fn oversized_line_is_ignored_and_the_next_is_checked() {
    let mut monitor = Monitor::new().line_limit(10);
    assert_eq!(monitor.bytes(Sender::Server, b"nonsense nonsense\n", Millis(0)), []);
    assert_eq!(monitor.bytes(Sender::Server, b"nonsense\n", Millis(0)).len(), 1);
}

/// The monitor reads neither deep messages nor oversized lines, but the other side may.
#[test]
fn messages_about_an_unread_message_are_no_violations() {
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let long = format!(r#""{}""#, "x".repeat(2000));
    for value in [deep, long] {
        let mut dialogue = Dialogue::new();
        dialogue.monitor = Monitor::new().line_limit(1000);
        dialogue.open(r#"2025-06-18 {} {"logging":{},"tools":{"listChanged":true}}"#);
        let mut send = |sender, text: &str| {
            let line = format!("{}\n", expand(text));
            assert_eq!(dialogue.monitor.bytes(sender, line.as_bytes(), Millis(0)), [], "{text}");
        };
        let call = r#"{$rpc,"id":1,"method":"tools/call","params":{"name":"a","_meta":{"progressToken":1},"arguments":{"x":VALUE}}}"#;
        send(Sender::Client, &call.replace("VALUE", &value));
        send(
            Sender::Server,
            r#"{$rpc,"method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#,
        );
        send(Sender::Client, r#"{$rpc,"method":"notifications/cancelled","params":{"requestId":1}}"#);
        send(Sender::Server, r#"{$rpc,"id":1,"result":{"content":[]}}"#);
        send(Sender::Client, r#"{$rpc,"id":2,"method":"tools/list"}"#);
        let page = r#"{$rpc,"id":2,"result":{"tools":[],"nextCursor":"c","_meta":{"x":VALUE}}}"#;
        send(Sender::Server, &page.replace("VALUE", &value));
        send(Sender::Client, r#"{$rpc,"id":3,"method":"tools/list","params":{"cursor":"c"}}"#);
        send(Sender::Server, r#"{$rpc,"id":3,"result":{"tools":[]}}"#);
        let level =
            r#"{$rpc,"id":ID,"method":"logging/setLevel","params":{"level":"LEVEL","_meta":{"x":VALUE}}}"#;
        for (id, name, value) in [("4", "error", "1"), ("5", "debug", &*value)] {
            send(Sender::Client, &level.replace("ID", id).replace("LEVEL", name).replace("VALUE", value));
            send(Sender::Server, &format!(r#"{{$rpc,"id":{id},"result":{{}}}}"#));
        }
        send(Sender::Server, r#"{$rpc,"method":"notifications/message","params":{"level":"info","data":1}}"#);
        send(Sender::Client, r#"{$rpc,"id":6,"method":"tools/list"}"#);
        send(Sender::Server, r#"{$rpc,"id":6,"result":{"tools":[]}}"#);
        let changed = r#"{$rpc,"method":"notifications/tools/list_changed","params":{"_meta":{"x":VALUE}}}"#;
        send(Sender::Server, &changed.replace("VALUE", &value));
        send(Sender::Client, r#"{$rpc,"id":7,"method":"tools/call","params":{"name":"new"}}"#);
        send(Sender::Server, r#"{$rpc,"id":7,"result":{"content":[]}}"#);
        dialogue.send(Sender::Server, "end");
        assert_eq!(dialogue.found, [""; 0]);
    }
}

/// The session of an unread handshake is unknown.
#[test]
fn session_of_an_unread_handshake_is_not_judged() {
    let mut monitor = Monitor::new().line_limit(100);
    let mut send = |sender, text: &str| {
        let line = format!("{}\n", expand(text));
        assert_eq!(monitor.bytes(sender, line.as_bytes(), Millis(0)), [], "{text}");
    };
    send(Sender::Client, &format!(r#"{{$rpc,"id":1,"method":"initialize","params":{}}}"#, "1".repeat(100)));
    send(Sender::Server, &format!(r#"{{$rpc,"id":1,"result":{}}}"#, "1".repeat(100)));
    send(Sender::Client, r#"{$rpc,"method":"notifications/initialized"}"#);
    send(Sender::Client, r#"{$rpc,"id":2,"method":"tools/list"}"#);
    send(Sender::Server, r#"{$rpc,"id":1,"method":"roots/list"}"#);
}

#[test]
fn error_without_id_answers_an_oversized_last_line() {
    let mut monitor = Monitor::new().line_limit(10);
    assert_eq!(monitor.bytes(Sender::Client, b"nonsense nonsense", Millis(0)), []);
    assert_eq!(monitor.end(Sender::Client, Millis(0)), []);
    let error = br#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}"#;
    assert_eq!(monitor.line(Sender::Server, error, Millis(0)), []);
}

#[test]
fn unanswered_request_is_reported_with_its_id_as_json() {
    for id in ["7", r#""a\"b""#] {
        let mut monitor = Monitor::new();
        let ping = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        monitor.line(Sender::Client, ping.as_bytes(), Millis(0));
        let violations = monitor.end(Sender::Server, Millis(0));
        let ids: Vec<_> = violations.iter().map(|it| it.id.as_deref()).collect();
        assert_eq!(ids, [Some(id)]);
    }
}

#[test]
fn cursor_is_not_judged_if_the_server_has_issued_too_many() {
    for (pages, violations) in [(9_999, 1), (10_000, 0)] {
        let mut dialogue = Dialogue::new();
        dialogue.open(r#"2025-06-18 {} {"tools":{}}"#);
        for page in 0..pages {
            let id = page + 1;
            dialogue.send(Sender::Client, &format!(r#"{{$rpc,"id":{id},"method":"tools/list"}}"#));
            dialogue.send(
                Sender::Server,
                &format!(r#"{{$rpc,"id":{id},"result":{{"tools":[],"nextCursor":"{page}"}}}}"#),
            );
        }
        dialogue.send(Sender::Client, r#"{$rpc,"id":"a","method":"tools/list","params":{"cursor":"x"}}"#);
        assert_eq!(dialogue.found.len(), violations, "{pages}");
    }
}

#[test]
fn invalid_line_is_shown_in_the_violation() {
    let text = |line: &[u8]| Monitor::new().line(Sender::Server, line, Millis(0)).remove(0).text;
    assert_eq!(
        text(b"Starting \"server\"\x1b[0m"),
        r#"the line is not JSON: unexpected character at byte 0: "Starting \"server\"\u{1b}[0m""#
    );
    let long = text("x".repeat(100).as_bytes());
    assert!(long.ends_with(&format!(r#": "{}"…"#, "x".repeat(80))), "{long}");
    assert!(text(b"{\"a\":\"\xff\"}").ends_with(": \"{\\\"a\\\":\\\"\u{fffd}\\\"}\""));
}

#[test]
fn output_schemas_beyond_the_limit_are_not_judged() {
    for (length, violations) in [(1 << 19, 1), (1 << 20, 0)] {
        let mut dialogue = Dialogue::new();
        dialogue.open(r#"2025-11-25 {} {"tools":{"listChanged":true}}"#);
        dialogue.send(Sender::Client, r#"{$rpc,"id":1,"method":"tools/list"}"#);
        let schema = format!(r#"{{"type":"object","required":["n"],"title":"{}"}}"#, "x".repeat(length));
        let tool = format!(r#"{{"name":"s","inputSchema":{{"type":"object"}},"outputSchema":{schema}}}"#);
        dialogue.send(Sender::Server, &format!(r#"{{$rpc,"id":1,"result":{{"tools":[{tool}]}}}}"#));
        dialogue.send(Sender::Client, r#"{$rpc,"id":2,"method":"tools/call","params":{"name":"s"}}"#);
        dialogue.send(Sender::Server, r#"{$rpc,"id":2,"result":{"content":[],"structuredContent":{}}}"#);
        assert_eq!(dialogue.found.len(), violations, "{length}");
    }
}

#[test]
fn number_with_a_fraction_is_not_an_integer() {
    let whole = ["1", "1.0", "1e3", "-2.0", "1e400", "9007199254740993.0", "-0", "10e-1", "0e-1"];
    let fractions =
        ["0.5", "-0.5", "1e-400", "9007199254740993.5", "-9007199254740993.5", "18446744073709551616.5"];
    let cases = whole.map(|size| (size, 0)).into_iter().chain(fractions.map(|size| (size, 1)));
    for (size, violations) in cases {
        let mut dialogue = Dialogue::new();
        dialogue.open(r#"2025-06-18 {} {"resources":{}}"#);
        dialogue.send(Sender::Client, r#"{$rpc,"id":1,"method":"resources/list"}"#);
        dialogue.send(
            Sender::Server,
            &format!(
                r#"{{$rpc,"id":1,"result":{{"resources":[{{"uri":"a:b","name":"n","size":{size}}}]}}}}"#
            ),
        );
        assert_eq!(dialogue.found.len(), violations, "{size}");
    }
}
