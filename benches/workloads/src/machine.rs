//! The echo server of the workloads in memory.

use std::hint::black_box;

use mcp_proto::server::{Call, Event, Feature, ServerConfig, Tool, Tools};
use mcp_proto::{Action, Buffer, Direction, Io, Millis, Next, Observer, ProtocolError, Server};
use serde::Deserialize;

use crate::dialect::Dialect;

const SCHEMA: &str = r#"{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}"#;
static TOOLS: Tools<'static> =
    Tools::new(&[Tool::new("echo", SCHEMA), Tool::new("again", SCHEMA), Tool::new("hold", "{}")]);
static FEATURES: [&dyn Feature; 1] = [&TOOLS];
/// The configuration of a server with three tools. `again` does the same as `echo`. Only
/// [`crate::pair::Pair`] calls `hold`, and defers these calls.
pub static CONFIG: ServerConfig<'static> = ServerConfig::new("echo", "1").features(&FEATURES);

/// The client's messages of the handshake.
pub const HANDSHAKE: &[u8] = concat!(
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","#,
    r#""capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    "\n",
)
.as_bytes();

#[derive(Deserialize)]
struct Echo<'a> {
    text: &'a str,
}

/// An observer that does nothing with a message, so that only the cost of observing is measured.
pub struct IdleObserver;

impl Observer for IdleObserver {
    fn line(&mut self, direction: Direction, line: &[u8], outcome: Result<(), ProtocolError>) {
        black_box((direction, line, &outcome));
    }
}

/// Responds to a call of `echo` or `again`.
pub fn echo(mut call: Call<'_>) {
    match call.arguments() {
        Ok(Echo { text }) => call.text(text),
        Err(error) => call.invalid(error),
    }
}

/// Returns a server with an open connection, and buffers that grow up to `longest` bytes.
///
/// # Panics
/// If the buffers are too small for the opening messages.
#[must_use]
pub fn connected(
    config: &'static ServerConfig<'static>,
    dialect: Dialect,
    longest: usize,
) -> Server<'static> {
    let mut server = Server::new(config, Buffer::grown(longest), Buffer::grown(longest)).expect("a server");
    feed(&mut server, &dialect.opening(), usize::MAX);
    server
}

/// Passes the input to an echo server in pieces of at most `piece` bytes. Returns the number of bytes that the
/// server sends.
///
/// # Panics
/// If the server has an event that is no call and does not belong to the opening, or if the server ends.
pub fn feed(server: &mut Server<'_>, input: &[u8], piece: usize) -> usize {
    feed_with(server, input, piece, &mut echo)
}

/// Passes the input to the server like [`feed`], but responds to calls with `respond`.
///
/// # Panics
/// If the server has an event that is no call and does not belong to the opening, or if the server ends.
pub fn feed_with(
    server: &mut Server<'_>,
    mut input: &[u8],
    piece: usize,
    respond: &mut dyn FnMut(Call<'_>),
) -> usize {
    let mut sent = 0;
    loop {
        match server.poll(Millis(0)) {
            Action::Io(io) => {
                if !step(io, &mut input, piece, |out| sent += out.len()) {
                    return sent;
                }
            }
            Action::Event => match server.event() {
                Some(Event::Call(call)) => respond(call),
                Some(Event::Connected(_) | Event::Ready) => {}
                other => panic!("{other:?}"),
            },
            Action::Closed => panic!("the server has ended"),
        }
    }
}

/// Passes output to `send`, or else at most `piece` bytes of the input to the machine. Returns whether bytes were
/// moved.
pub fn step(io: Io<'_>, input: &mut &[u8], piece: usize, send: impl FnOnce(&[u8])) -> bool {
    match io.next() {
        Next::Write(out) => {
            send(out.bytes());
            let n = out.bytes().len();
            out.sent(n);
            true
        }
        Next::Read(mut space) if !input.is_empty() => {
            let free = space.space();
            let n = free.len().min(input.len()).min(piece);
            free[..n].copy_from_slice(&input[..n]);
            space.filled(n);
            *input = &input[n..];
            true
        }
        _ => false,
    }
}
