//! The loop of the example `event_loop`, with a nonblocking socket that may reject output.

#[rustfmt::skip]
#[path = "../examples/event_loop/serve.rs"]
mod serve;

use std::io::{self, ErrorKind::WouldBlock, Read, Write};

use mcp_proto::server::{ServerConfig, Slot, Tool, Tools};
use mcp_proto::{Millis, Server};

static TOOLS: Tools = Tools::new(&[Tool::new("slow", "{}")]);
static CONFIG: ServerConfig = ServerConfig::new("s", "1").features(&[&TOOLS]);

/// A socket with readable `input`. The socket accepts writes unless `full`.
struct Socket {
    input: &'static [u8],
    full: bool,
}

impl Read for &mut Socket {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        if self.input.is_empty() { Err(WouldBlock.into()) } else { self.input.read(space) }
    }
}

impl Write for &mut Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.full { Err(WouldBlock.into()) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn step_waiting_for_output_space_does_not_wake_the_loop() {
    let (mut rx, mut tx) = ([0; 1024], [0; 1024]);
    let (mut slots, mut text) = ([Slot::EMPTY; 1], [0; 64]);
    let server = Server::new(&CONFIG, &mut rx, &mut tx).unwrap();
    let mut server = server.in_flight(&mut slots, &mut text).unwrap();
    let mut slow = Vec::new();
    let mut socket = Socket {
        input: br#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}
{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}
"#,
        full: false,
    };
    assert_eq!(serve::turn(&mut server, &mut socket, Millis(0), &mut slow), Some(Millis(50)));
    socket = Socket { input: b"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\n", full: true };
    let wakes = serve::turn(&mut server, &mut socket, Millis(20), &mut slow);
    assert_eq!(wakes, Some(Millis(50)), "the time of the next step");
    let wakes = serve::turn(&mut server, &mut socket, Millis(60), &mut slow);
    assert_eq!(wakes, Some(Millis(60_000)), "the step waits for output space");
}
