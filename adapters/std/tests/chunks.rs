//! Chunked responses of workers: concurrent requests, and early ends.
#![cfg(unix)]

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::peer::{Peer, call, cancel};
use mcp_proto::server::{ChunkedContent, Event, Logging, Resource, Resources, ServerConfig, Tool, Tools};
use mcp_proto::{Level, SendError, Ticket};
use mcp_proto_std::{Responder, ServerHandle};

static TOOLS: Tools = Tools::new(&[
    Tool::new("lines", "{}"),
    Tool::new("quick", "{}"),
    Tool::new("panic", "{}"),
    Tool::new("drop", "{}"),
    Tool::new("wrong", "{}"),
    Tool::new("refused", "{}"),
    Tool::new("endless", "{}"),
]);
static RESOURCES: Resources = Resources::new(&[Resource::new("a:dump", "dump")]);
pub(crate) static CONFIG: ServerConfig = ServerConfig::new("test", "1").features(&[&TOOLS, &RESOURCES]);
const SESSION: (&str, &str) = ("2025-06-18", "{}");

/// Number of lines of a large text. Each line is a chunk, so commands of other requests can arrive between the chunks.
pub(crate) const LINES: usize = 5000;

pub(crate) fn line(number: usize) -> String {
    format!("{number} {}\n", "\u{20ac}".repeat(60))
}

pub(crate) fn handler(event: Event<'_>, server: &ServerHandle) {
    match event {
        Event::Call(call) => {
            let name = call.name().to_owned();
            server.run(call, move |responder| respond(&name, responder));
        }
        Event::ReadResource(read) => server.run(read, |responder| {
            let blob = ChunkedContent::ResourceBlob { uri: "a:dump", mime_type: None };
            let mut writer = responder.chunked(move |reply| reply.chunked(blob)).expect("a writer");
            for byte in 0..=u8::MAX {
                writer.blob([byte; 1000]).expect("the client reads");
            }
            writer.end();
        }),
        _ => {}
    }
}

static IS_CANCELLED: AtomicBool = AtomicBool::new(false);

fn respond(tool: &str, responder: Responder) {
    if tool == "quick" {
        return responder.text("quick");
    }
    if tool == "refused" {
        let blob = ChunkedContent::ResourceText { uri: "", mime_type: None };
        // The closure sends a complete response, so no chunked response is open.
        let refused = responder.chunked(move |reply| {
            reply.text("whole");
            let _ = blob;
            Ok(Ticket::from_bits(0))
        });
        return assert!(matches!(refused, Err((_, SendError::Gone))));
    }
    let mut writer = responder.chunked(|reply| reply.chunked(ChunkedContent::Text)).expect("a writer");
    match tool {
        "lines" => {
            (0..LINES).for_each(|number| writer.text(line(number)).expect("the client reads"));
            writer.end();
        }
        "panic" => {
            writer.text("before").unwrap();
            panic!("the work of this test panics");
        }
        "drop" => writer.text("dropped").unwrap(),
        "wrong" => {
            writer.text("text").unwrap();
            assert_eq!(writer.blob(*b"bytes"), Err(SendError::Gone));
            writer.end();
        }
        _ => {
            while writer.text("endless ").is_ok() {}
            IS_CANCELLED.store(writer.cancellation().is_cancelled(), Ordering::Relaxed);
            writer.end();
        }
    }
}

fn id_of(line: &str) -> u32 {
    line["{'jsonrpc':'2.0','id':".len()..].split(',').next().unwrap().parse().unwrap()
}

#[test]
fn concurrent_large_responses_are_complete_lines() {
    let (mut peer, server) = Peer::connect(&CONFIG, 4, SESSION, handler);
    peer.send(&(call(1, "lines", "{}") + &call(2, "quick", "{}") + &call(3, "lines", "{}")));
    peer.send(
        "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"resources/read\",\"params\":{\"uri\":\"a:dump\"}}\n",
    );
    let text: String = (0..LINES).map(line).collect::<String>().replace('\n', "\\n");
    let mut ids = Vec::new();
    for _ in 0..4 {
        let line = peer.line();
        let id = id_of(&line);
        ids.push(id);
        match id {
            2 => assert!(line.contains(r#"[{"type":"text","text":"quick"}]"#)),
            4 => assert!(
                line.contains("AAAA") && line.ends_with("/////w==\"}]}}\n"),
                "{}",
                &line[line.len() - 50..]
            ),
            _ => assert!(line.ends_with(&format!("{text}\"}}]}}}}\n")), "{} bytes", line.len()),
        }
    }
    ids.sort_unstable();
    assert_eq!(ids, [1, 2, 3, 4]);
    drop(peer);
    server.join().unwrap();
}

#[test]
fn unfinished_chunked_response_ends_as_a_failure() {
    // As many workers as calls, because the server refuses a call for which no worker is free. The client can receive a
    // failed response before the worker of this response is free.
    let (mut peer, server) = Peer::connect(&CONFIG, 5, SESSION, handler);
    for (tool, text) in [("panic", "before"), ("drop", "dropped"), ("wrong", "text")] {
        peer.send(&call(5, tool, "{}"));
        let line = peer.line();
        assert!(line.contains(&format!("[{{\"type\":\"text\",\"text\":\"{text}\"}}")), "{line}");
        assert!(line.ends_with("],\"isError\":true}}\n"), "{line}");
    }
    peer.send(&call(6, "refused", "{}"));
    assert!(peer.line().contains("whole"));
    peer.send(&call(7, "quick", "{}"));
    assert!(peer.line().contains("quick"), "the server continues");
    drop(peer);
    server.join().unwrap();
}

#[test]
fn cancellation_ends_an_endless_response() {
    let (mut peer, server) = Peer::connect(&CONFIG, 2, SESSION, handler);
    peer.send(&call(5, "endless", "{}"));
    std::thread::sleep(Duration::from_millis(50));
    peer.send(&(cancel(5) + &call(6, "quick", "{}")));
    let line = peer.line();
    assert!(line.contains("endless endless") && line.ends_with("],\"isError\":true}}\n"));
    assert!(peer.line().contains("quick"));
    drop(peer);
    server.join().unwrap();
    assert!(IS_CANCELLED.load(Ordering::Relaxed));
}

#[test]
fn writer_may_send_log_messages_between_its_chunks() {
    static LOGGING_CONFIG: ServerConfig = ServerConfig::new("test", "1").features(&[&TOOLS, &Logging]);
    let handler = |event: Event<'_>, server: &ServerHandle| {
        let Event::Call(call) = event else { return };
        let server = server.clone();
        server.clone().run(call, move |responder| {
            let mut writer =
                responder.chunked(|reply| reply.chunked(ChunkedContent::Text)).expect("a writer");
            for number in 0..100 {
                writer.text("chunk ").expect("the client reads");
                server.log(Level::Error, format_args!("message {number}"));
            }
            writer.end();
        });
    };
    let (mut peer, server) = Peer::connect(&LOGGING_CONFIG, 1, SESSION, handler);
    peer.send(&call(5, "lines", "{}"));
    let line = peer.line();
    assert_eq!(line.matches("chunk ").count(), 100, "{line}");
    for number in 0..100 {
        assert!(peer.line().contains(&format!("\"message {number}\"")));
    }
    drop(peer);
    server.join().unwrap();
}
