//! Results in chunks: content of any size through a small receive buffer, for input split anywhere.

use crate::support::Random;
use crate::support::transport::{feed, give_input, take, take_output};
use mcp_proto::client::{ChunkData, ClientConfig, Connect, Event, Options, Slot, Timeouts};
use mcp_proto::{Action, Buffer, Client, KeepAlive, Millis, RequestFailure, SendError, Ticket};
use serde_json::{Value, json};

static CONFIG: ClientConfig<'static> =
    ClientConfig::new("c", "1").connect(Connect::Handshake).timeouts(Timeouts::DEFAULT);

/// The events that the application receives for one call.
#[derive(Debug, Default, PartialEq)]
struct Received {
    /// The content of each block.
    blocks: Vec<Vec<u8>>,
    /// The result or the reason of the failure, and the texts of protocol errors.
    end: String,
    events: usize,
}

fn with_client(rx: Buffer<'_>, test: impl FnOnce(&mut Client<'_>)) {
    with_keep_alive(rx, None, test);
}

fn with_keep_alive(rx: Buffer<'_>, pings: Option<KeepAlive>, test: impl FnOnce(&mut Client<'_>)) {
    let (mut tx, mut slots) = ([0; 1024], [Slot::EMPTY; 2]);
    let mut client = Client::new(&CONFIG, rx, &mut tx).unwrap().in_flight(&mut slots, &mut []);
    if let Some(pings) = pings {
        client = client.keep_alive(pings);
    }
    take(&mut client, Millis(0), usize::MAX);
    feed(
        &mut client,
        Millis(0),
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{},\"resources\":{}},\"serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}}\n",
    );
    assert!(matches!(client.poll(Millis(0)), Action::Event));
    assert!(matches!(client.event(), Some(Event::Connected(_))));
    test(&mut client);
}

/// Sends a call, and returns its ticket and its id.
fn call(client: &mut Client<'_>) -> (Ticket, Value) {
    take(client, Millis(0), usize::MAX);
    let ticket = client.call_json("t", "{}", Options::DEFAULT).unwrap();
    let line = take(client, Millis(0), usize::MAX);
    let line: Value = serde_json::from_slice(line.split(|byte| *byte == b'\n').next().unwrap()).unwrap();
    (ticket, line["id"].clone())
}

/// Passes lines in pieces, and returns what the application receives of the call.
fn receive(
    client: &mut Client<'_>,
    ticket: Ticket,
    lines: &[u8],
    mut piece: impl FnMut() -> usize,
) -> Received {
    let (mut input, mut received) = (lines, Received::default());
    for _ in 0..10_000_000 {
        let io = match client.poll(Millis(0)) {
            Action::Event => {
                received.events += 1;
                match client.event().unwrap() {
                    Event::Chunk { ticket: of, block, data } => {
                        assert!(of == ticket && received.end.is_empty());
                        let block = usize::from(block);
                        assert!(block + 1 >= received.blocks.len(), "blocks arrive in order");
                        received.blocks.resize(block + 1, Vec::new());
                        let bytes = match data {
                            ChunkData::Text(text) => text.as_bytes(),
                            ChunkData::Blob(bytes) => bytes,
                        };
                        assert!(!bytes.is_empty());
                        received.blocks[block].extend(bytes);
                    }
                    Event::Response(response) => {
                        assert!(response.ticket() == ticket);
                        received.end += &match response.outcome() {
                            mcp_proto::Outcome::Result(result) => result.raw().to_string(),
                            outcome => format!("{outcome:?}"),
                        };
                    }
                    Event::ProtocolError(error) => received.end += &error.to_string(),
                    Event::Notification { .. } => {}
                    event => panic!("{event:?}"),
                }
                continue;
            }
            Action::Io(io) => io,
            Action::Closed => return received,
        };
        let (out, space) = io.split();
        take_output(out, usize::MAX, &mut Vec::new());
        if input.is_empty() {
            return received;
        }
        assert!(give_input(space, piece().max(1), &mut input) > 0, "the client accepts no input");
    }
    panic!("no progress");
}

/// Takes the content of all blocks out of a result. Returns the content in the order of the blocks, without empty
/// content at the end.
fn take_content(result: &mut Value) -> Vec<Vec<u8>> {
    let mut blocks = Vec::new();
    let key = if result.get("contents").is_some() { "contents" } else { "content" };
    for block in result[key].as_array_mut().into_iter().flatten() {
        let block = match block.get("resource") {
            Some(_) => &mut block["resource"],
            None => block,
        };
        let mut content = Vec::new();
        for key in ["text", "data", "blob"] {
            if let Some(Value::String(text)) = block.get_mut(key) {
                let text = std::mem::take(text);
                content = match key {
                    "text" => text.into_bytes(),
                    _ => decode(&text),
                };
            }
        }
        blocks.push(content);
    }
    while blocks.last().is_some_and(Vec::is_empty) {
        blocks.pop();
    }
    blocks
}

fn decode(base64: &str) -> Vec<u8> {
    let json = serde_json::to_string(base64).unwrap();
    let json = mcp_proto::json::Json::parse(json.as_bytes()).unwrap();
    mcp_proto::client::Base64::new(json.string().unwrap()).bytes().collect::<Result<_, _>>().unwrap()
}

fn encode(random: &mut Random, bytes: usize) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    // An incomplete group at the end is constant, because the unused bits of its last digit must be zero.
    let mut text: String = (0..bytes / 3 * 4).map(|_| char::from(DIGITS[random.below(64)])).collect();
    text += ["", "QQ==", "QUI="][bytes % 3];
    text
}

fn text(random: &mut Random, length: usize) -> String {
    let characters = ['a', '"', '\\', '\n', '\u{1}', 'é', '€', '𝄞', '/', '}', ']', ' '];
    (0..length).map(|_| characters[random.below(characters.len())]).collect()
}

/// Returns a random result, and its JSON with random white space and escapes.
fn random_result(random: &mut Random) -> (Value, String) {
    let sizes = [0, 1, 2, 3, 7, 40, 300, 3000];
    let size = |random: &mut Random| sizes[random.below(sizes.len())];
    let blocks: Vec<Value> = (0..random.below(5))
        .map(|_| {
            let length = size(random);
            match random.below(5) {
                0 | 1 => json!({"type":"text","text":text(random, length)}),
                2 => json!({"annotations":{"text":"no content","data":[1]},"type":"image","data":encode(random, length),"mimeType":"image/png"}),
                3 => json!({"type":"resource","resource":{"uri":"x:1","text":text(random, length)}}),
                _ => json!({"type":"resource","resource":{"blob":encode(random, length),"uri":"x:2"}}),
            }
        })
        .collect();
    let mut result = json!({"_meta":{"content":[{"text":"no content"}]},"isError":random.below(2) == 1});
    result[["content", "contents"][random.below(2)]] = Value::Array(blocks);
    let mut json = serde_json::to_string(&result).unwrap();
    if random.below(2) == 0 {
        json = json.replace("\":", "\" : ").replace("},{", "} , {");
    }
    if random.below(2) == 0 {
        json = json
            .replace('/', "\\/")
            .replace('=', "\\u003d")
            .replace('é', "\\u00e9")
            .replace('𝄞', "\\ud834\\udd1e");
    }
    (result, json)
}

#[test]
fn content_of_any_size_arrives_for_any_buffer_and_pieces() {
    let mut streamed = 0;
    for seed in 0..400 {
        let mut random = Random(seed * 7 + 1);
        let (mut result, json) = random_result(&mut random);
        let rx = 700 + random.below(600);
        let (most, grows) = ([1, 3, 50, 5000][random.below(4)], random.below(2) == 0);
        let mut memory = vec![0; rx];
        let buffer = if grows { Buffer::grown(rx) } else { (&mut memory[..]).into() };
        with_client(buffer, |client| {
            for _ in 0..2 {
                let (ticket, id) = call(client);
                client.receive_chunks(ticket).unwrap();
                let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{json}}}\n");
                streamed += u64::from(line.len() > rx);
                let received = receive(client, ticket, line.as_bytes(), || 1 + random.below(most));
                let mut expected = result.clone();
                assert_eq!(received.blocks, take_content(&mut expected), "{seed}");
                let end: Value = serde_json::from_str(&received.end)
                    .unwrap_or_else(|_| panic!("{seed} {rx} {received:?}"));
                assert_eq!(end, expected, "{seed}");
                assert_eq!(client.pending(), 0);
            }
        });
        take_content(&mut result);
    }
    assert!(streamed > 10);
}

/// Makes a call with chunks, passes a line to the client, and returns the events of the call. `X` in the line is
/// the id. The receive buffer has 512 bytes.
fn outcome(line: &str, ends: bool) -> Received {
    let mut rx = [0; 512];
    let mut outcome = Received::default();
    with_client((&mut rx).into(), |client| {
        let (ticket, id) = call(client);
        client.receive_chunks(ticket).unwrap();
        let line = line.replace("\"id\":X", &format!("\"id\":{id}"));
        outcome = receive(client, ticket, line.as_bytes(), || usize::MAX);
        if ends {
            crate::support::transport::end_input(client, Millis(0));
            let end = receive(client, ticket, b"", || 1);
            outcome.end += &end.end;
        }
        // Unless the input ends, the connection continues.
        if !ends {
            let (next, id) = call(client);
            let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[]}}}}\n");
            assert_eq!(receive(client, next, line.as_bytes(), || 7).end, r#"{"content":[]}"#);
        }
    });
    outcome
}

#[test]
fn result_that_cannot_be_completed_fails_after_its_chunks() {
    let long = "x".repeat(2000);
    let block = format!(r#"{{"type":"text","text":"{long}"}}"#);
    // The line, whether the input ends after it, the least number of bytes in chunks (`whole`: all, 0: none), and a
    // part of the result or failure.
    let whole = usize::MAX;
    let cases = [
        (
            format!(r#"{{"jsonrpc":"2.0","id":X,"result":{{"content":[{block}],"isError":true}}}}"#),
            false,
            whole,
            r#"{"content":[{"type":"text","text":""}],"isError":true}"#,
        ),
        // Even without its content, the result is too large, because of a member before the content, a member after the
        // content, or many small blocks.
        (
            format!(r#"{{"jsonrpc":"2.0","id":X,"result":{{"_meta":"{long}","content":[{block}]}}}}"#),
            false,
            0,
            "TooLong",
        ),
        (
            format!(
                r#"{{"jsonrpc":"2.0","id":X,"result":{{"content":[{block}],"structuredContent":["{long}"]}}}}"#
            ),
            false,
            whole,
            "TooLong",
        ),
        (
            format!(
                r#"{{"jsonrpc":"2.0","id":X,"result":{{"content":[{}{block}]}}}}"#,
                r#"{"type":"text","text":""},"#.repeat(30)
            ),
            false,
            0,
            "TooLong",
        ),
        // The id follows a result that is larger than the buffer, as in responses of the TypeScript SDK.
        (
            format!(r#"{{"result":{{"content":[{block}]}},"jsonrpc":"2.0","id":X}}"#),
            false,
            whole,
            r#"{"content":[{"type":"text","text":""}]}"#,
        ),
        // An id that is missing, unknown or after an oversized result; an invalid or incomplete line; a short result.
        (format!(r#"{{"result":{{"content":[{block}]}},"jsonrpc":"2.0"}}"#), false, whole, "Invalid"),
        (format!(r#"{{"result":{{"content":[{block}]}},"jsonrpc":"2.0","id":77}}"#), false, 1, "Invalid"),
        (format!(r#"{{"result":{{"content":[{block}]]}},"jsonrpc":"2.0","id":X}}"#), false, 1, "Invalid"),
        (
            format!(r#"{{"result":{{"content":[{block}],"_meta":"{long}"}},"jsonrpc":"2.0","id":X}}"#),
            false,
            1,
            "TooLong",
        ),
        (
            format!(r#"{{"result":{{"content":[{block}]}},"jsonrpc":"2.0","method":"m"}}"#),
            false,
            1,
            "Invalid",
        ),
        (format!(r#"{{"result":{{"content":[{{"text":"{long}"#), true, 1, "Closed"),
        (
            r#"{"jsonrpc":"2.0","result":{"content":[{"type":"text","text":"short"}]},"id":X}"#.into(),
            false,
            5,
            r#""text":"""#,
        ),
        // Errors, and results of other forms, have no content to emit in chunks.
        (r#"{"jsonrpc":"2.0","id":X,"error":{"code":-1,"message":"no"}}"#.into(), false, 0, "Error"),
        (r#"{"jsonrpc":"2.0","id":X,"result":{"content":{"text":"x"}}}"#.into(), false, 0, "Invalid"),
        (
            r#"{"jsonrpc":"2.0","id":X,"result":{"content":[1,"text",{"text":1,"data":[]},null]}}"#.into(),
            false,
            0,
            "null",
        ),
        // Two members with the same name, and a name with an escape.
        (
            r#"{"jsonrpc":"2.0","id":X,"result":{"content":[{"text":"a"}],"content":[{"t\u0065xt":"b"}]}}"#
                .into(),
            false,
            1,
            r#""content":[{"t\u0065xt":"b"}]"#,
        ),
        // A line that is not valid JSON: an error in its middle, and an error at its end.
        (
            format!(r#"{{"jsonrpc":"2.0","id":X,"result":{{"content":[{{"text":"{long}\x"}}]}}}}"#),
            false,
            1,
            "Invalid",
        ),
        (format!(r#"{{"jsonrpc":"2.0","id":X,"result":{{"content":[{block}]]}}"#), false, 1, "Invalid"),
        // Invalid base64 stays in the result, which is then too large if the base64 is long.
        (
            r#"{"jsonrpc":"2.0","id":X,"result":{"content":[{"data":"Zm9v$$$$"},{"text":"a"}]}}"#.into(),
            false,
            1,
            r#""Zm9v$$$$""#,
        ),
        (
            format!(
                r#"{{"jsonrpc":"2.0","id":X,"result":{{"content":[{{"data":"{0}${0}"}}]}}}}"#,
                "AAAA".repeat(300)
            ),
            false,
            1,
            "TooLong",
        ),
        // The end of the input within the line.
        (format!(r#"{{"jsonrpc":"2.0","id":X,"result":{{"content":[{{"text":"{long}"#), true, 1, "Closed"),
    ];
    for (line, ends, least, end) in cases {
        let text = if ends { line.clone() } else { line.clone() + "\n" };
        let received = outcome(&text, ends);
        let length: usize = received.blocks.iter().map(Vec::len).sum();
        match least {
            usize::MAX => assert_eq!(length, long.len(), "{line}"),
            0 => assert_eq!(length, 0, "{line}"),
            least => assert!(length >= least, "{line}"),
        }
        // The result may have spaces in place of the content.
        assert!(received.end.replace(' ', "").contains(end), "{} instead of {end}: {line}", received.end);
    }
}

/// Returns a response with a text of 5000 letters and its id at the end.
fn with_late_id(id: &Value, letter: &str) -> String {
    let text = letter.repeat(5000);
    format!("{{\"result\":{{\"content\":[{{\"text\":\"{text}\"}}]}},\"jsonrpc\":\"2.0\",\"id\":{id}}}\n")
}

#[test]
fn late_id_fails_its_own_request_beside_other_requests() {
    let mut rx = [0; 512];
    with_client((&mut rx).into(), |client| {
        let (first, id) = call(client);
        client.receive_chunks(first).unwrap();
        let (second, other) = call(client);
        let received = receive(client, first, with_late_id(&id, "x").as_bytes(), || usize::MAX);
        assert!(received.blocks.is_empty() && received.end.contains("TooLong"), "{received:?}");
        let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{other},\"result\":{{\"content\":[]}}}}\n");
        assert_eq!(receive(client, second, line.as_bytes(), || usize::MAX).end, r#"{"content":[]}"#);
    });
}

#[test]
fn late_id_of_a_cancelled_request_discards_the_chunks() {
    let mut rx = [0; 512];
    with_client((&mut rx).into(), |client| {
        let (cancelled, old) = call(client);
        client.cancel(cancelled, "").unwrap();
        let (ticket, id) = call(client);
        client.receive_chunks(ticket).unwrap();
        // Until its id arrives, the response to the cancelled request looks like the response to the request in
        // flight.
        let received = receive(client, ticket, with_late_id(&old, "x").as_bytes(), || 100);
        assert!(received.end.contains("Invalid"), "{received:?}");
        let late = receive(client, ticket, with_late_id(&id, "y").as_bytes(), || 100);
        assert!(late.blocks.is_empty(), "{late:?}");
    });
}

#[test]
fn late_response_without_content_does_not_affect_the_chunks() {
    let mut rx = [0; 512];
    with_client((&mut rx).into(), |client| {
        let (cancelled, old) = call(client);
        client.cancel(cancelled, "").unwrap();
        let (ticket, id) = call(client);
        client.receive_chunks(ticket).unwrap();
        let text = "x".repeat(5000);
        let line = format!("{{\"result\":{{\"tools\":[\"{text}\"]}},\"jsonrpc\":\"2.0\",\"id\":{old}}}\n");
        let late = receive(client, ticket, line.as_bytes(), || 100);
        assert!(late.blocks.is_empty() && late.end.contains("too long"), "{late:?}");
        let received = receive(client, ticket, with_late_id(&id, "y").as_bytes(), || 100);
        assert!(received.blocks == [[b'y'; 5000]] && received.end.starts_with('{'), "{received:?}");
    });
}

#[test]
fn cancelled_request_has_no_further_chunks() {
    let mut rx = [0; 512];
    with_client((&mut rx).into(), |client| {
        let (ticket, id) = call(client);
        client.receive_chunks(ticket).unwrap();
        let line = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[{{\"text\":\"{}\"}}]}}}}\n",
            "x".repeat(5000)
        );
        let (head, tail) = line.as_bytes().split_at(1000);
        assert!(receive(client, ticket, head, || usize::MAX).blocks[0].len() > 300);
        client.cancel(ticket, "").unwrap();
        assert_eq!(client.receive_chunks(ticket), Err(SendError::Gone));
        let late = receive(client, ticket, tail, || usize::MAX);
        assert!(late.blocks.is_empty() && late.end.contains("too long"), "{late:?}");
        let (next, id) = call(client);
        let line =
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[{{\"text\":\"x\"}}]}}}}\n");
        let received = receive(client, next, line.as_bytes(), || usize::MAX);
        assert!(received.blocks.is_empty() && received.end.contains("\"x\""), "other results are whole");
    });
}

/// Passes text until the client emits a chunk.
fn receive_chunk(client: &mut Client<'_>, now: u64) {
    loop {
        match client.poll(Millis(now)) {
            Action::Event => return assert!(matches!(client.event(), Some(Event::Chunk { .. }))),
            Action::Io(io) => assert!(give_input(io.split().1, 99, &mut &[b'x'; 99][..]) > 0),
            Action::Closed => panic!("closed"),
        }
    }
}

#[test]
fn every_chunk_restarts_the_timeout() {
    let mut rx = [0; 512];
    with_client((&mut rx).into(), |client| {
        let (ticket, id) = call(client);
        client.receive_chunks(ticket).unwrap();
        let begin = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[{{\"text\":\"");
        feed(client, Millis(0), begin.as_bytes());
        let timeout = Timeouts::DEFAULT.request.0;
        let mut now = 0;
        for _ in 0..3 {
            now += timeout - 1;
            receive_chunk(client, now);
        }
        assert!(matches!(client.poll(Millis(now + timeout - 1)), Action::Io(_)));
        assert!(matches!(client.poll(Millis(now + timeout)), Action::Event));
        let Some(Event::Response(response)) = client.event() else { panic!("the end") };
        assert!(matches!(response.outcome(), mcp_proto::Outcome::Failed(RequestFailure::TimedOut)));
    });
}

#[test]
fn every_chunk_proves_that_the_server_is_alive() {
    let pings = KeepAlive { interval: Millis(100), timeout: Millis(40), close: true };
    // Chunks start 30 ms after this time: before the first ping, and while the ping awaits its response.
    for start in [0, 100] {
        let mut rx = [0; 512];
        with_keep_alive((&mut rx).into(), Some(pings), |client| {
            let (ticket, id) = call(client);
            client.receive_chunks(ticket).unwrap();
            let begin = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[{{\"text\":\"");
            feed(client, Millis(0), begin.as_bytes());
            let has_ping = !take(client, Millis(start), usize::MAX).is_empty();
            assert_eq!(has_ping, start == 100);
            let mut now = start;
            for _ in 0..50 {
                now += 30;
                receive_chunk(client, now);
            }
            if !has_ping {
                now += 100;
                assert!(!take(client, Millis(now), usize::MAX).is_empty(), "the ping of an idle server");
            }
            assert!(matches!(client.poll(Millis(now + 39)), Action::Io(_)));
            assert!(matches!(client.poll(Millis(now + 40)), Action::Event));
            assert!(matches!(client.event(), Some(Event::PeerUnresponsive)));
        });
    }
}
