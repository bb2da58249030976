use super::*;
use crate::buffer::Room;
use crate::client::{ClientConfig, Connect, Event, Options, Slot};
use crate::json::Json;
use crate::protocol::level::Level;
use crate::time::Millis;
use std::string::{String, ToString};
use std::vec::Vec;
use std::{boxed::Box, format, vec};

static HANDSHAKE: ClientConfig<'static> = ClientConfig::new("c", "1").connect(Connect::Handshake);
static STATELESS: ClientConfig<'static> = ClientConfig::new("c", "1").connect(Connect::Stateless);

const INITIALIZED: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}"#;
const DISCOVERED: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}"#;

/// A client that takes only the ways for everything, or the straight ones, too.
struct Driven {
    client: Client<'static>,
    straight: bool,
    written: Vec<u8>,
    heard: Vec<String>,
    deadlines: Vec<Option<Millis>>,
}

impl Driven {
    fn new(straight: bool, info: &'static ClientConfig<'static>, tx: usize, slots: usize) -> Driven {
        let lend = |bytes: usize| Box::leak(vec![0u8; bytes].into_boxed_slice());
        let slots = Box::leak(vec![Slot::EMPTY; slots].into_boxed_slice());
        let client = Client::new(info, lend(1024), lend(tx)).unwrap().in_flight(slots, lend(256));
        let mut driven =
            Driven { client, straight, written: Vec::new(), heard: Vec::new(), deadlines: Vec::new() };
        driven.run(Millis(5), "");
        let stateless = core::ptr::eq(info, &raw const STATELESS);
        driven.run(Millis(6), if stateless { DISCOVERED } else { INITIALIZED });
        assert!(driven.client.core.is_connected());
        driven
    }

    /// Polls until nothing moves, with this line as the input.
    fn run(&mut self, now: Millis, line: &str) {
        let line = if line.is_empty() { String::new() } else { format!("{line}\n") };
        let mut rest = line.as_bytes();
        loop {
            let Driven { client, straight, written, heard, deadlines } = self;
            let action = if *straight {
                client.poll(now)
            } else {
                client.begin_poll(now);
                client.poll_any()
            };
            match action {
                Action::Io(io) => {
                    deadlines.push(io.deadline());
                    let (out, mut input) = io.split();
                    let sent = out.bytes().len();
                    written.extend_from_slice(out.bytes());
                    out.sent(sent);
                    let space = input.space();
                    let taken = rest.len().min(space.len());
                    space[..taken].copy_from_slice(&rest[..taken]);
                    rest = &rest[taken..];
                    input.filled(taken);
                    if sent == 0 && taken == 0 {
                        return;
                    }
                }
                Action::Event => heard.push(match client.event() {
                    Some(Event::Response(end)) => {
                        let result = end.tool_result();
                        let text = result.and_then(|it| it.text()).map(|it| it.raw().to_string());
                        let blocks = result.map(|it| it.content().count());
                        format!("{end:?} {text:?} {blocks:?} {:?}", result.map(|it| it.is_error()))
                    }
                    event => format!("{event:?}"),
                }),
                Action::Closed => return,
            }
        }
    }

    fn call(&mut self, tool: &str, options: Options<'_>, arguments: &str) -> Result<Ticket, SendError> {
        let mut write =
            |out: &mut Writer<'_>| out.raw(arguments).is_ok() && (out.overflowed() || out.ends_with(b'}'));
        if self.straight {
            self.client.call_dyn(tool, options, &mut write)
        } else {
            self.client.call_any(tool, options, &mut write)
        }
    }

    /// The last that there is to be seen of it, and how much there is.
    fn state(&self) -> String {
        let Driven { client, written, heard, deadlines, .. } = self;
        let written = core::str::from_utf8(written).unwrap();
        let last = written.lines().last();
        let counts = (client.pending(), written.len(), heard.len(), deadlines.len());
        format!("{last:?} {:?} {:?} {counts:?}", heard.last(), deadlines.last())
    }
}

fn both(info: &'static ClientConfig<'static>, tx: usize, slots: usize) -> [Driven; 2] {
    [true, false].map(|straight| Driven::new(straight, info, tx, slots))
}

fn same(pair: &[Driven; 2], about: &str) {
    let [left, right] = pair;
    assert_eq!(left.state(), right.state(), "{about}");
    assert!(left.written == right.written && left.heard == right.heard, "{about}");
    assert!(left.deadlines == right.deadlines, "{about}");
}

#[test]
fn calls_are_written_as_on_the_way_for_everything() {
    let long = "x".repeat(40);
    let tools = ["", "a", "echo", "set_light", "with \"quotes\"", "two\nlines", "aäöü", &long];
    let options = [
        Options::DEFAULT,
        Options::DEFAULT.timeout(Millis(7)),
        Options::DEFAULT.timeout(Millis(u64::MAX)).maximum(Millis(9)),
        Options::DEFAULT.with_progress(),
        Options::DEFAULT.with_progress().ignore_progress(),
        Options::DEFAULT.log_level(Level::Info),
        Options::DEFAULT.meta(r#"{"a":1}"#),
        Options::DEFAULT.meta("{"),
    ];
    let large = format!(r#"{{"text":"{}"}}"#, "y".repeat(300));
    for info in [&HANDSHAKE, &STATELESS] {
        for (at, tool) in tools.into_iter().enumerate() {
            let mut pair = both(info, 900, 3);
            for (now, options) in (10..).step_by(3).zip(options) {
                for arguments in ["{}", r#"{"n":[1,2]}"#, &large, "[]", "{", "1"] {
                    let [left, right] = pair.each_mut().map(|it| it.call(tool, options, arguments));
                    assert_eq!(left, right, "{at} {options:?} {arguments}");
                    same(&pair, tool);
                    if at % 2 == 0 {
                        pair.iter_mut().for_each(|it| it.run(Millis(now), ""));
                        same(&pair, tool);
                    }
                    if let Ok(ticket) = left {
                        assert!(pair.iter().all(|it| it.client.is_pending(ticket)));
                        if at % 3 == 0 {
                            pair.iter_mut().for_each(|it| it.client.cancel(ticket, "").unwrap());
                        }
                    }
                }
            }
            // All of them come to their end in time.
            for now in [40, 1_000, 60_500, 1 << 40] {
                pair.iter_mut().for_each(|it| it.run(Millis(now), ""));
                same(&pair, tool);
            }
        }
    }
}

#[test]
fn calls_into_any_room() {
    let [mut left, mut right] = both(&HANDSHAKE, 900, 40);
    let mut refused = 0;
    for length in 0..400 {
        let arguments = format!(r#"{{"text":"{}"}}"#, "y".repeat(length));
        let results = [&mut left, &mut right].map(|it| it.call("echo", Options::DEFAULT, &arguments));
        assert_eq!(results[0], results[1], "{length}");
        refused += usize::from(results[0].is_err());
        // Nothing is sent for a while, so that there is little room.
        if length % 5 == 0 {
            let now = Millis(10 + length as u64);
            left.run(now, "");
            right.run(now, "");
        }
        assert_eq!(left.state(), right.state(), "{length}");
        if let (0, Ok(ticket)) = (length % 2, results[0]) {
            left.client.cancel(ticket, "enough").unwrap();
            right.client.cancel(ticket, "enough").unwrap();
        }
    }
    assert!(refused > 20, "{refused}");
}

#[test]
fn a_call_that_cannot_be_sent_yet_is_refused() {
    for straight in [true, false] {
        let mut driven = Driven::new(straight, &HANDSHAKE, 900, 1);
        driven.call("a", Options::DEFAULT, "{}").unwrap();
        assert_eq!(driven.call("a", Options::DEFAULT, "{}"), Err(SendError::Full));
        driven.client.shutdown(Millis(20));
        assert_eq!(driven.call("a", Options::DEFAULT, "{}"), Err(SendError::NotConnected));
        driven.client.reset();
        assert_eq!(driven.call("a", Options::DEFAULT, "{}"), Err(SendError::NotConnected));
    }
}

#[test]
fn what_is_due_is_over_and_so_is_all_at_the_end() {
    let mut pair = both(&HANDSHAKE, 900, 3);
    for driven in &mut pair {
        driven.call("a", Options::DEFAULT.timeout(Millis(7)), "{}").unwrap();
        for (now, pending) in [(10, 1), (16, 1), (17, 0)] {
            driven.run(Millis(now), "");
            assert_eq!(driven.client.pending(), pending, "{now}");
        }
        driven.call("a", Options::DEFAULT, "{}").unwrap();
        driven.run(Millis(20), "");
        if let Action::Io(io) = driven.client.poll(Millis(20)) {
            io.split().1.eof();
        }
        driven.run(Millis(20), "");
        assert_eq!(driven.client.state(), crate::State::Closed);
    }
    same(&pair, "");
}

#[test]
fn results_are_heard_as_on_the_way_for_everything() {
    let bodies = [
        r#""result":{"content":[{"type":"text","text":"hi"}]}"#,
        r#""result":{"content":[{"type":"text","text":"h\"i\\"}]}"#,
        r#""result":{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}"#,
        r#""result":{"content":[ {"type":"text","text":"hi"} ],"isError":true}"#,
        r#""result":{"isError":false,"content":[]}"#,
        r#""result":{"content":[{"type":"image","data":"","mimeType":"a/b"}],"content":[{"text":"2","type":"text"}]}"#,
        r#""result":{"\u0063ontent":[{"type":"text","text":"hi"}]}"#,
        r#""result":{"content":null}"#,
        r#""result":{"content":{}}"#,
        r#""result":{"content":"[]"}"#,
        r#""result":{}"#,
        r#""result":null"#,
        r#""result":[]"#,
        r#""result":{"resultType":"complete","content":[{"type":"text","text":"hi"}]}"#,
        r#""result":{"content":[],"resultType":"complete"}"#,
        r#""result":{"content":[],"resultType":"c\u006fmplete"}"#,
        r#""result":{"content":[],"resultType":"other"}"#,
        r#""result":{"content":[],"resultType":null}"#,
        r#""result":{"content":[],"resultType":"complete","resultType":1}"#,
        r#""result":{"content":[],"resultType":"input_required"}"#,
        r#""result":{"resultType":"input_required","requestState":"s","content":[]}"#,
        r#""result":{"content":[]},"result":{}"#,
        r#""result":{},"result":{"content":[]}"#,
        r#""result":{"content":[]},"error":{"code":1,"message":"no"}"#,
        r#""error":{"code":1,"message":"no"}"#,
        r#""result":{"content":[]},"method":"ping""#,
        r#""result":{"content":[]},"params":{}"#,
        r#""result":{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"content":[]}"#,
        r#""result":{"content":[]"#,
    ];
    let heads = [
        r#"{"jsonrpc":"2.0","id":@,#}"#,
        r#"{ "jsonrpc" : "2.0" , "id" : @ , # }"#,
        r#"{"id":@,#,"jsonrpc":"2.0"}"#,
        r##"{"jsonrpc":"2.0",#,"id":@}"##,
        r#"{"jsonrpc":"2.0","id":"@",#}"#,
        r#"{"jsonrpc":"2.0","id":@.0,#}"#,
        r#"{"jsonrpc":"2.0","id":9@,#}"#,
        r#"{"jsonrpc":"2.0","id":-@,#}"#,
        r#"{"jsonrpc":"2.0","id":null,#}"#,
        r##"{"jsonrpc":"2.0",#}"##,
        r#"{"jsonrpc":"2.1","id":@,#}"#,
        r#"{"id":@,#}"#,
        r#"[{"jsonrpc":"2.0","id":@,#}]"#,
    ];
    for info in [&HANDSHAKE, &STATELESS] {
        let mut pair = both(info, 900, 3);
        let mut now = 10;
        for head in heads {
            for body in bodies {
                now += 1;
                // Each is the answer to the second of two; what is left over comes to its end.
                let calls = pair.each_mut().map(|it| {
                    let first = it.call("t", Options::DEFAULT, "{}").unwrap();
                    it.call("t", Options::DEFAULT.timeout(Millis(50)).maximum(Millis(60)), "{}").unwrap();
                    it.run(Millis(now), "");
                    first
                });
                let id = pair[0].last_id();
                let line = head.replace('#', body).replace('@', &id);
                for driven in &mut pair {
                    driven.run(Millis(now), &line);
                    // Once more: now nobody waits for it.
                    driven.run(Millis(now + 1), &line);
                    driven.client.cancel(calls[0], "").unwrap();
                }
                same(&pair, &line);
                now += 100;
                pair.iter_mut().for_each(|it| it.run(Millis(now), ""));
                same(&pair, &line);
                assert_eq!(pair[0].client.pending(), 0, "{line}");
            }
        }
        let finished = |it: &&String| it.starts_with("Response") && it.contains("Result(");
        assert!(pair[0].heard.iter().filter(finished).count() > 40, "there are results among them");
    }
}

impl Driven {
    /// The id of the last request that was written.
    fn last_id(&self) -> String {
        let text = core::str::from_utf8(&self.written).unwrap();
        let last = text.lines().rfind(|line| line.contains("tools/call")).unwrap();
        Json::parse(last.as_bytes()).unwrap().get("id").unwrap().raw().to_string()
    }
}

#[test]
fn heads_of_calls_in_any_room() {
    let long = "x".repeat(33);
    for tool in ["", "a", "echo", "set_light", "\"", "é\\", "a_name_of_some_words", &long] {
        for id in [0, 1, 9, 10, 4_711, 99_999_999, 100_000_000, u64::MAX] {
            let name = serde_json::to_string(tool).unwrap();
            let expected = format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":{name},"arguments":"#
            );
            for room in 0..expected.len() + 9 {
                let mut bytes = vec![0xEE; room];
                let mut out = Writer::new(Room::Lent(&mut bytes), 0, room);
                let fast = put_call(&mut out, id, tool).is_some();
                assert!(!fast || room >= expected.len());
                if !fast {
                    write_call(&mut out, id, tool);
                }
                assert_eq!(out.overflowed(), room < expected.len(), "{expected} in {room}");
                assert!(out.overflowed() || out.written() == expected.as_bytes() && out.ends_with(b':'));
            }
        }
    }
}

#[test]
fn digits_are_their_number() {
    for behind in ["", ",", ",\"result\":{}}", "0000000000", "\u{ff}\u{ff}\u{ff}\u{ff}"] {
        for length in 0..18usize {
            for digit in '0'..='9' {
                for (at, other) in (0..=length).zip("0123456789/: .-e\"\u{7f}\0".chars().cycle().skip(length))
                {
                    let mut text: String = core::iter::repeat_n(digit, length).collect();
                    if at < length {
                        text.replace_range(at..=at, &other.to_string());
                    }
                    let whole = format!("ab{text}{behind}");
                    let found = number_at(whole.as_bytes(), Span { start: 2, end: 2 + text.len() });
                    let there = whole.len() >= 10 && (1..=16).contains(&text.len());
                    let expected =
                        text.bytes().all(|it| it.is_ascii_digit()).then(|| text.parse().ok()).flatten();
                    assert_eq!(found, expected.filter(|_| there), "{whole:?}");
                }
            }
        }
    }
    let short = (0..100_000_000u64).step_by(7_919);
    let long = (100_000_000..9_999_999_999_999_999).step_by(987_654_321_987);
    for value in short.chain(long).chain([99_999_999, 100_000_000, 1_234_567_890_123_456]) {
        let text = format!("{value},.......");
        let end = text.find(',').unwrap();
        assert_eq!(number_at(text.as_bytes(), Span { start: 0, end }), Some(value));
    }
    assert_eq!(number_at(b"1234567890", Span { start: 3, end: 2 }), None);
}
