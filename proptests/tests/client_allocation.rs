//! Heap use of a client: none with lent buffers, none per message with grown buffers.

use mcp_proto::client::{ClientConfig, Connect, Event, Options, Slot};
use mcp_proto::{Action, Buffer, Client, Millis};

/// Counts the allocations of `body` on this thread, so other tests do not matter.
fn allocations(body: impl FnOnce()) -> u64 {
    allocation_counter::measure(body).count_total
}

/// Polls until nothing moves or the client is closed. Returns the first numeric id in the output, or 0 if there is
/// none.
fn run(client: &mut Client<'_>, now: u64, input: &[u8]) -> u64 {
    run_in_pieces(client, now, input, usize::MAX)
}

/// Like `run`, with at most `most` bytes per read.
fn run_in_pieces(client: &mut Client<'_>, now: u64, mut input: &[u8], most: usize) -> u64 {
    let mut id = 0;
    loop {
        match client.poll(Millis(now)) {
            Action::Io(io) => {
                let (out, mut room) = io.split();
                let n = out.bytes().len();
                let text = std::str::from_utf8(out.bytes()).unwrap();
                if let Some((_, rest)) = text.split_once("\"id\":")
                    && let Some((digits, _)) = rest.split_once(',')
                    && id == 0
                {
                    id = digits.parse().unwrap_or_default();
                }
                out.sent(n);
                let space = room.space();
                let taken = space.len().min(input.len()).min(most);
                space[..taken].copy_from_slice(&input[..taken]);
                input = &input[taken..];
                room.filled(taken);
                if n + taken == 0 {
                    return id;
                }
            }
            Action::Event => match client.event().unwrap() {
                Event::ProtocolError(fault) => panic!("{fault}"),
                Event::Response(end) => assert!(end.tool_result().is_some()),
                _ => {}
            },
            Action::Closed => return id,
        }
    }
}

fn connect(client: &mut Client<'_>) {
    run(client, 0, b"");
    run(
        client,
        0,
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}}\n",
    );
}

/// Exchanges a call with progress, its response, a log message, a server ping, and a cancelled call.
fn traffic(client: &mut Client<'_>, line: &mut Vec<u8>, now: u64) {
    use std::io::Write;
    let ticket =
        client.call_json("tool", r#"{"a":[1,2,3],"b":"text"}"#, Options::DEFAULT.with_progress()).unwrap();
    let other = client.call_json("other", "{}", Options::DEFAULT).unwrap();
    let id = run(client, now, b"");
    assert!(client.is_pending(ticket) && id > 0);
    line.clear();
    writeln!(line, r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{id},"progress":0.5}}}}"#).unwrap();
    writeln!(
        line,
        r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"level":"info","data":"x"}}}}"#
    )
    .unwrap();
    writeln!(line, r#"{{"jsonrpc":"2.0","id":"p","method":"ping"}}"#).unwrap();
    writeln!(line, r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"ok"}}]}}}}"#)
        .unwrap();
    run_in_pieces(client, now, line, 200);
    assert!(!client.is_pending(ticket));
    client.cancel(other, "not needed").unwrap();
    run(client, now, b"");
    assert_eq!(client.pending(), 0);
}

static CONFIG: ClientConfig = ClientConfig::new("c", "1").connect(Connect::Handshake);

#[test]
fn client_with_lent_buffers_allocates_nothing() {
    let (mut rx, mut tx) = ([0; 1024], [0; 1024]);
    let (mut slots, mut text) = ([Slot::EMPTY; 4], [0; 256]);
    let mut line = Vec::with_capacity(2048);
    let taken = allocations(|| {
        let mut client = Client::new(&CONFIG, &mut rx, &mut tx).unwrap().in_flight(&mut slots, &mut text);
        connect(&mut client);

        for now in 0..100 {
            traffic(&mut client, &mut line, now);
        }
        client.shutdown(Millis(0));
        run(&mut client, 0, b"");
    });
    assert_eq!(taken, 0);
}

#[test]
fn client_with_grown_buffers_allocates_nothing_per_message() {
    let mut client =
        Client::new(&CONFIG, Buffer::grown(1 << 20), Buffer::grown(1 << 20)).unwrap().in_flight_grown(4);
    let mut line = Vec::with_capacity(2048);
    connect(&mut client);

    // Enough messages for an oversized buffer to shrink once.
    for now in 0..100 {
        traffic(&mut client, &mut line, now);
    }
    let taken = allocations(|| {
        for now in 0..500 {
            traffic(&mut client, &mut line, now);
        }
    });
    assert_eq!(taken, 0);
}
