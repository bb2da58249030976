//! Concurrent chunked responses over HTTP, also while a client does not read.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use crate::chunks::{CONFIG, LINES, handler, line};
use crate::peer::call;
use mcp_proto_std::http::{HttpAccess, HttpConfig, SessionMode};
use mcp_proto_std::{CallOptions, Connector, HttpEndpoint, Serve, Stop};

#[test]
fn chunked_responses_over_http_are_concurrent() {
    static HTTP: HttpConfig = HttpConfig::new().path("/mcp").sessions(SessionMode::Sessions);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, stop) = (listener.local_addr().unwrap(), Stop::new());
    let server = Serve::new(&CONFIG).workers(8).stopped_by(&stop);
    let server = std::thread::spawn(move || server.http(listener, HttpAccess::new(&HTTP), handler).unwrap());
    let body = call(
        1,
        "lines",
        r#"{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#,
    );
    // This client sends a call, and reads nothing.
    let mut silent = TcpStream::connect(address).unwrap();
    write!(
        silent,
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: lines\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let endpoint = HttpEndpoint::new(format!("http://{address}/mcp"));
    let client = Connector::new("c", "1").http(endpoint).unwrap();
    let begin = |tool| client.begin_json(tool, "{}", CallOptions::new()).unwrap();
    let (large, quick) = ([begin("lines"), begin("lines"), begin("lines")], begin("quick"));
    let text: String = (0..LINES).map(line).collect();
    assert_eq!(quick.wait().unwrap().text().as_deref(), Some("quick"));
    for call in large {
        assert!(call.wait().unwrap().text().as_deref() == Some(&text));
    }
    client.close();
    drop(silent);
    stop.within(Duration::ZERO);
    server.join().unwrap();
}
