//! Memory: no allocation per message, and none for oversized lines.

use crate::support::transport::{exchange, give_input};
use allocation_counter::measure;
use mcp_proto::server::{Event, Feature, Server, ServerConfig, Slot, Tool, Tools};
use mcp_proto::{Action, Buffer, Millis, Ticket};

static TOOLS: Tools<'static> =
    Tools::new(&[Tool::new("echo", "{}"), Tool::new("defer", "{}"), Tool::new("large", "{}")]).list_changed();
static FEATURES: [&dyn Feature; 1] = [&TOOLS];
static CONFIG: ServerConfig<'static> = ServerConfig::new("s", "1").features(&FEATURES);

const OPEN: &str = concat!(
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","#,
    r#""capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    "\n",
);

/// Passes `input` in pieces. Returns the number of output lines and bytes. Allocates nothing itself.
fn pump(server: &mut Server<'_>, mut input: &[u8], piece: usize) -> (usize, usize) {
    let (mut lines, mut bytes, mut deferred) = (0, 0, None::<Ticket>);
    loop {
        match server.poll(Millis(0)) {
            Action::Io(io) => {
                let (out, into) = io.split();
                if !out.bytes().is_empty() {
                    lines += out.bytes().iter().filter(|byte| **byte == b'\n').count();
                    bytes += out.bytes().len();
                    let n = out.bytes().len();
                    out.sent(n);
                } else if into.is_ready() && !input.is_empty() {
                    give_input(into, piece, &mut input);
                } else if let Some(ticket) = deferred.take() {
                    server.reply(ticket).expect("the buffer has space").text("later");
                } else {
                    return (lines, bytes);
                }
            }
            Action::Event => match server.event() {
                Some(Event::Call(call)) if call.name() == "defer" => deferred = call.defer(None).ok(),
                Some(Event::Call(call)) if call.name() == "large" => call.text(format_args!("{:60000}", 7)),
                Some(Event::Call(mut call)) => {
                    let _ = call.progress(1, None, "");
                    match call.arguments::<Arguments<'_>>() {
                        Ok(arguments) => call.structured(&arguments),
                        Err(error) => call.invalid(error),
                    }
                }
                _ => {}
            },
            Action::Closed => return (lines, bytes),
        }
    }
}

#[derive(serde::Deserialize, serde::Serialize)]
struct Arguments<'a> {
    text: &'a str,
    numbers: [u32; 3],
}

/// The traffic of a server in its steady state.
const TRAFFIC: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":"two","method":"tools/list"}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":{"text":"caf\u00e9","#,
    r#""numbers":[1,2,3]},"_meta":{"progressToken":"p"}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"echo","arguments":{"text":7}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"nobody"}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
    "\n",
    "nonsense\n",
    r#"{"jsonrpc":"2.0","id":"six","method":"tools/call","params":{"name":"defer"}}"#,
    "\n",
);
/// The number of output lines: responses, one progress notification, one error without an id.
const ANSWERS: usize = 8;

#[test]
fn lent_buffers_never_allocate() {
    let (mut rx, mut tx) = ([0; 512], [0; 1024]);
    let (mut slots, mut text) = ([Slot::EMPTY; 2], [0; 64]);
    for piece in [1, 7, 512] {
        let info = measure(|| {
            let server = Server::new(&CONFIG, &mut rx, &mut tx).unwrap();
            let mut server = server.in_flight(&mut slots, &mut text).unwrap();
            assert_eq!(pump(&mut server, OPEN.as_bytes(), piece).0, 1);
            for _ in 0..100 {
                assert_eq!(pump(&mut server, TRAFFIC.as_bytes(), piece).0, ANSWERS);
            }
        });
        assert_eq!(info.count_total, 0, "in pieces of {piece}");
    }
}

#[test]
fn grown_buffers_allocate_nothing_in_steady_state() {
    let large = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{{\"name\":\"large\",\"arguments\":{{\"x\":\"{}\"}}}}}}\n",
        "x".repeat(100_000)
    );
    let medium = large.replace(&"x".repeat(100_000), &"x".repeat(3000));
    // If the buffer shrank at each small message, the next large message would grow the buffer again.
    let mixed = format!("{large}{TRAFFIC}");
    for (traffic, answers) in [(TRAFFIC, ANSWERS), (&medium, 1), (&large, 1), (&mixed, 1 + ANSWERS)] {
        for piece in [97, 1000, 100_000] {
            let server = Server::new(&CONFIG, Buffer::grown(1 << 20), Buffer::grown(1 << 20)).unwrap();
            let mut server = server.in_flight_grown(100).unwrap();
            pump(&mut server, OPEN.as_bytes(), piece);
            // A buffer shrinks after fewer small messages than this loop sends.
            let mut round = || {
                for _ in 0..40 {
                    assert_eq!(pump(&mut server, traffic.as_bytes(), piece).0, answers);
                }
            };
            round();
            assert_eq!(measure(round).count_total, 0, "in pieces of {piece}");
        }
    }
}

#[test]
fn grown_buffer_shrinks_after_a_large_message() {
    let mut server = Server::new(&CONFIG, Buffer::grown(8 << 20), Buffer::grown(8 << 20)).unwrap();
    pump(&mut server, OPEN.as_bytes(), 4096);
    let large = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{{\"name\":\"large\",\"arguments\":{{\"x\":\"{}\"}}}}}}\n",
        "x".repeat(1_000_000)
    );
    let info = measure(|| {
        pump(&mut server, large.as_bytes(), 65536);
        for _ in 0..100 {
            pump(&mut server, TRAFFIC.as_bytes(), 65536);
        }
    });
    assert!(info.bytes_max > 1_000_000, "{info:?}");
    assert!(info.bytes_current < 64 * 1024, "{info:?}");
}

#[test]
fn grown_buffer_of_an_idle_connection_shrinks_by_a_deadline() {
    let mut server = Server::new(&CONFIG, Buffer::grown(8 << 20), Buffer::grown(8 << 20)).unwrap();
    pump(&mut server, OPEN.as_bytes(), 4096);
    let text = "x".repeat(2_000_000);
    let large = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{{\"name\":\"large\",\"arguments\":{{\"x\":\"{text}\"}}}}}}\n",
    );
    let idle = |server: &mut Server<'_>, now| match server.poll(now) {
        Action::Io(io) => io.deadline(),
        other => panic!("{other:?}"),
    };
    let info = measure(|| {
        pump(&mut server, large.as_bytes(), 65536);
        let at = idle(&mut server, Millis(0)).expect("a deadline of the buffers");
        assert_eq!(at, Millis::seconds(5));
        assert_eq!(idle(&mut server, Millis(at.0 - 1)), Some(at));
        assert_eq!(idle(&mut server, at), None);
    });
    assert!(info.bytes_max > 2_000_000, "{info:?}");
    assert!(info.bytes_current < 16 * 1024, "{info:?}");
    // The buffers work as before.
    assert_eq!(pump(&mut server, TRAFFIC.as_bytes(), 97).0, ANSWERS);
}

#[test]
fn trim_frees_all_unused_memory() {
    let mut server = Server::new(&CONFIG, Buffer::grown(8 << 20), Buffer::grown(8 << 20)).unwrap();
    let info = measure(|| {
        pump(&mut server, OPEN.as_bytes(), 4096);
        let line = "x".repeat(1_000_000);
        pump(&mut server, format!("{line}\n").as_bytes(), 65536);
        drop(line);
        server.trim();
    });
    assert!(info.bytes_current < 128, "{info:?}");
    assert!(pump(&mut server, TRAFFIC.as_bytes(), 65536).0 > 0);
}

#[test]
fn line_of_64_mib_uses_no_memory_and_is_answered() {
    const PIECE: usize = 64 * 1024;
    let filler = vec![b'x'; PIECE];
    let cases: [(&str, &str, Option<&str>); 3] = [
        (r#"{"jsonrpc":"2.0","id":"first","method":"m","params":{"x":""#, r#""}}"#, Some(r#""first""#)),
        (r#"{"jsonrpc":"2.0","method":"m","params":{"x":""#, r#""},"id":"last"}"#, Some(r#""last""#)),
        (r#"{"jsonrpc":"2.0","method":"m","params":{"id":1,"x":""#, r#""}}"#, None),
    ];
    for (head, tail, id) in cases {
        let (mut rx, mut tx) = ([0; 512], [0; 1024]);
        let mut server = Server::new(&CONFIG, &mut rx, &mut tx).unwrap();
        let info = measure(|| {
            pump(&mut server, head.as_bytes(), PIECE);
            for _ in 0..1024 {
                assert_eq!(pump(&mut server, &filler, PIECE), (0, 0));
            }
            assert_eq!(pump(&mut server, tail.as_bytes(), PIECE), (0, 0), "the line has not ended");
        });
        assert_eq!(info.count_total, 0);
        let answer = say(&mut server, b"\n");
        match id {
            Some(id) => {
                assert!(
                    answer.starts_with(&format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32600"#)),
                    "{answer}"
                );
            }
            None => assert_eq!(answer, ""),
        }
        assert!(
            say(&mut server, b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n")
                .ends_with("\"result\":{}}\n")
        );
    }
}

/// Passes the input. Returns the output.
fn say(server: &mut Server<'_>, input: &[u8]) -> String {
    let (mut input, mut output) = (input, Vec::new());
    loop {
        match server.poll(Millis(0)) {
            Action::Io(io) => {
                if !exchange(io, &mut input, &mut output) {
                    return String::from_utf8(output).unwrap();
                }
            }
            Action::Event => drop(server.event()),
            Action::Closed => return String::from_utf8(output).unwrap(),
        }
    }
}
