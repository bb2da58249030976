//! The modules of the bridge that need no port.

#[path = "../../examples/serial_bridge/answer.rs"]
mod answer;
#[path = "../../examples/serial_bridge/flight.rs"]
mod flight;
#[path = "../../examples/serial_bridge/lines.rs"]
mod lines;
#[path = "../../examples/serial_bridge/options.rs"]
mod options;
#[path = "../../examples/serial_bridge/sort.rs"]
mod sort;

use std::time::Duration;

use answer::Answer;
use flight::Flight;
use lines::Lines;
use options::{Address, Options, Wanted};
use sort::{Kind, Sort};

/// Separates messages from other output.
fn sorted(mut sort: Sort, text: &str, cut: usize) -> (String, String) {
    let (mut messages, mut others) = (Vec::new(), Vec::new());
    for piece in text.as_bytes().chunks(cut) {
        let taken: Result<(), ()> = sort.pieces(piece, |kind, bytes| {
            if kind == Kind::Message { &mut messages } else { &mut others }.extend_from_slice(bytes);
            Ok(())
        });
        taken.unwrap();
    }
    (String::from_utf8(messages).unwrap(), String::from_utf8(others).unwrap())
}

#[test]
fn message_is_a_line_that_starts_with_a_brace() {
    let cases = [
        ("{\"id\":1}\n", "{\"id\":1}\n", ""),
        ("boot\n{}\nmore {}\n", "{}\n", "boot\nmore {}\n"),
        ("[{},{}]\n", "[{},{}]\n", ""),
        ("[INFO] {}\n[]\n[[{}]]\n", "", "[INFO] {}\n[]\n[[{}]]\n"),
        // Line breaks in the order that some boards use, and noise of an idle line.
        ("up\n\r{}\n\r{}\r\n", "{}\n{}\r\n", "up\n\r\r"),
        ("\0\0 \t{}\n", "{}\n", "\0\0 \t"),
        ("\n\n{}\n", "{}\n", "\n\n"),
        ("✓ {}\n", "", "✓ {}\n"),
        ("{\"text\":\"päivää\",\n\"a\":1}\n", "{\"text\":\"päivää\",\n", "\"a\":1}\n"),
    ];
    for (text, messages, others) in cases {
        for cut in 1..=text.len() {
            assert_eq!(sorted(Sort::new(), text, cut), (messages.into(), others.into()), "{text:?} by {cut}");
        }
    }
    assert_eq!(sorted(Sort::in_a_line(), "{}\n{}\n", 1), ("{}\n".into(), "{}\n".into()));
}

#[test]
fn line_is_passed_on_whole_or_not_at_all() {
    let mut found = Vec::new();
    let mut lines = Lines::default();
    for piece in ["a", "b\nc\n", "", "d"] {
        lines.feed(piece.as_bytes(), |line| found.push(line.to_vec()));
    }
    lines.feed(&vec![b'x'; 1 << 20], |line| found.push(line.to_vec()));
    lines.feed(b"x\ne\n", |line| found.push(line.to_vec()));
    assert_eq!(found, [b"ab\n", &b"c\n"[..], b"e\n"]);
    lines.feed(&[&vec![b'y'; (1 << 20) - 1][..], b"\n"].concat(), |line| found.push(line.to_vec()));
    assert_eq!(found.last().map(Vec::len), Some(1 << 20));
}

#[test]
fn response_is_found_after_an_incomplete_line() {
    let text = "{\"id\":\"b17\n{\"id\":7,\"resu{\"id\":\"b1b17a\",\"result\":{}}\nlog";
    for cut in 1..=text.len() {
        let mut answer = Answer::to("b17a".into());
        let mut pieces = text.as_bytes().chunks(cut);
        let behind = pieces.find_map(|piece| answer.behind(piece)).unwrap();
        assert_eq!([&[behind], &*pieces.collect::<Vec<_>>()].concat().concat(), b"log", "{cut}");
    }
    let mut answer = Answer::to("b17a".into());
    assert_eq!(answer.behind(b"b17\n b17a"), None);
    assert_eq!(answer.behind(b"\n"), Some(&b""[..]));
}

#[test]
fn request_is_in_flight_until_answered_or_cancelled() {
    let mut flight = Flight::default();
    for (line, left) in [
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#, 1),
        (r#"{"jsonrpc":"2.0","id":"1","method":"tools/list"}"#, 2),
        (r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, 2),
        (r#"{"jsonrpc":"2.0","id":8,"result":{}}"#, 2),
        (r#"{"jsonrpc":"2.0","id":9,"method":"subscriptions/listen"}"#, 2),
        (r#"{"jsonrpc":"2.0","id":2,"method":"#, 2),
        (r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"1"}}"#, 1),
    ] {
        flight.sent(format!("{line}\n").as_bytes());
        assert_eq!(flight.len(), left, "requests in flight after the client's line {line}");
    }
    for (line, left) in [
        (r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#, 1),
        (r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"m"}}"#, 1),
        (r#"{"jsonrpc":"2.0","id":2,"result":{}}"#, 1),
        (r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}"#, 0),
    ] {
        flight.received(format!("{line}\n").as_bytes());
        assert_eq!(flight.len(), left, "requests in flight after the board's line {line}");
    }
}

fn parse(words: &str) -> Result<Wanted, String> {
    Options::parse(words.split_whitespace().map(str::to_owned))
}

#[test]
fn missing_options_have_defaults() {
    let usual = Options {
        address: Address::Serial("/dev/ttyACM0".into()),
        baud: 115_200,
        settle: Duration::from_millis(5000),
        sends_break: true,
        mark: true,
        grace: Duration::from_millis(1500),
    };
    assert_eq!(parse("/dev/ttyACM0"), Ok(Wanted::Bridge(usual)));
    let all = Options {
        address: Address::Tcp("[::1]:4000".into()),
        baud: 9600,
        settle: Duration::from_secs(2),
        sends_break: false,
        mark: false,
        grace: Duration::ZERO,
    };
    let words = "--baud 9600 --settle 2000 tcp:[::1]:4000 --no-break --no-mark --grace 0";
    assert_eq!(parse(words), Ok(Wanted::Bridge(all)));
    assert_eq!(parse("a --help"), Ok(Wanted::Help));
    for (words, why) in [
        ("", "which port?"),
        ("a b", "b is a second port, but only one is possible"),
        ("a --baud", "--baud needs a number"),
        ("a --settle -1", "--settle needs a number, not -1"),
        ("a --quiet", "--quiet is not an option"),
        ("tcp:board", "tcp:board has no port number: tcp:HOST:PORT is expected"),
    ] {
        assert_eq!(parse(words), Err(why.into()), "{words}");
    }
    // The help text names every option.
    for option in ["--baud", "--settle", "--no-break", "--no-mark", "--grace", "--help", "tcp:HOST:PORT"] {
        assert!(options::USAGE.contains(option), "{option}");
    }
}
