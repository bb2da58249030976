//! Tool result views do not depend on where reads split the line.

use crate::support::transport::{feed, take};
use mcp_proto::client::{ClientConfig, Connect, Event, Options, Slot, ToolResultView};
use mcp_proto::json::Json;
use mcp_proto::{Action, Client, Millis};

static CONFIG: ClientConfig<'static> = ClientConfig::new("c", "1").connect(Connect::Handshake);

/// Takes all output, and passes these bytes.
fn exchange(client: &mut Client<'_>, bytes: &[u8]) {
    take(client, Millis(0), usize::MAX);
    feed(client, Millis(0), bytes);
}

/// Returns all parts of a result as text.
fn told(result: ToolResultView<'_>) -> String {
    let blocks: Vec<_> = result.blocks().map(|block| (block.content(), block.raw())).collect();
    let (text, structured, meta) = (result.text(), result.structured(), result.meta());
    format!("{} {text:?} {structured:?} {meta:?} {blocks:?} {:?}", result.is_error(), result.raw())
}

/// Passes the response of a call in two parts. Returns the text of its result.
fn events(message: &str, cut: usize) -> String {
    let (mut rx, mut tx, mut slots) = ([0; 2048], [0; 2048], [Slot::EMPTY; 2]);
    let mut client = Client::new(&CONFIG, &mut rx, &mut tx).unwrap().in_flight(&mut slots, &mut []);
    let accepted = br#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}"#;
    exchange(&mut client, b"");
    exchange(&mut client, &[&accepted[..], b"\n"].concat());
    assert!(matches!(client.poll(Millis(0)), Action::Event));
    assert!(matches!(client.event(), Some(Event::Connected(_))));
    client.call_json("t", "{}", Options::DEFAULT).unwrap();
    // The id in `message` is that of the first call, in the first slot.
    let line = [message.as_bytes(), b"\n"].concat();
    let (head, tail) = line.split_at(cut);
    exchange(&mut client, head);
    if !tail.is_empty() {
        exchange(&mut client, tail);
    }
    assert!(matches!(client.poll(Millis(0)), Action::Event), "{message}");
    match client.event() {
        Some(Event::Response(end)) => told(end.tool_result().expect("a result")),
        other => panic!("{message}: {other:?}"),
    }
}

fn message(result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":5,"result":{result}}}"#)
}

const RESULTS: &[&str] = &[
    "{}",
    r#"{"content":null}"#,
    r#"{"content":[]}"#,
    r#"{"content":[{"type":"text","text":""}]}"#,
    r#"{"content":[{"type":"text","text":"0123456789abcdef"}]}"#,
    r#"{"content":[{"type":"text","text":"a\"}]}"},{"type":"text","text":"b"}],"isError":false}"#,
    r#"{ "content" : [ {"type":"text","text":"a"} ] , "isError" : true }"#,
    r#"{"isError":true,"structuredContent":{"a":[1,{"b":2}]},"_meta":{"k":1},"content":[]}"#,
    r#"{"content":[{"type":"image","data":"AAAA","mimeType":"m"},{"type":"text","text":"behind it"}]}"#,
    // The last duplicate counts at every level.
    r#"{"content":[],"isError":true,"content":[{"type":"text","text":"a","text":"b"}],"isError":false}"#,
    r#"{"content":[{"type":"text","text":"a","type":"else"},{"type":"text","text":"c"}]}"#,
    // The view compares names after decoding.
    r#"{"content":[],"c\u006fntent":[{"type":"text","text":"a"}],"is\u0045rror":true}"#,
    r#"{"content":[{"type":"text","te\u0078t":"a"}],"isError":1,"_meta":[],"structuredContent":null}"#,
    // More members than the index holds.
    r#"{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":9,"content":[{"type":"text","text":"late"}],"isError":true}"#,
    r#"{"content":[{"type":"text","text":"early"}],"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"isError":true}"#,
    r#"{"deep":{"content":[{"type":"text","text":"not this"}],"isError":true},"content":[],"list":[{"isError":true}]}"#,
];

#[test]
fn tool_result_view_does_not_depend_on_cuts() {
    for result in RESULTS {
        let expected = told(ToolResultView::from_json(Json::parse(result.as_bytes()).unwrap()));
        let message = message(result);
        for cut in 0..=message.len() + 1 {
            assert_eq!(events(&message, cut), expected, "{result} at {cut}");
        }
    }
}

/// A response may have two members `result`. The view of the second must not use the index of the first.
#[test]
fn last_of_two_result_members_counts() {
    let first = r#"{"content":[{"type":"text","text":"first"}],"isError":true}"#;
    for second in RESULTS {
        let expected = told(ToolResultView::from_json(Json::parse(second.as_bytes()).unwrap()));
        let twice = message(first)
            .replace(r#","result""#, &format!(r#","result":{first},"params":{first},"result""#));
        let twice = twice.replacen(&format!(r#""result":{first}}}"#), &format!(r#""result":{second}}}"#), 1);
        for cut in [0, 40, 100, twice.len()] {
            assert_eq!(events(&twice, cut), expected, "{second} at {cut}");
        }
    }
}
