//! The server over HTTP on the PC, with a network in memory.
#![cfg(feature = "http-device")]

use std::panic::{AssertUnwindSafe, catch_unwind};

use embedded_io::ErrorKind;
use mcp_proto::Millis;
use mcp_proto_firmware::http::{CONNECTIONS, Memory, Network, Place, serve};

/// A network whose clients follow a script.
struct Script {
    now: Millis,
    /// The time in milliseconds, the connection and the bytes of each input.
    input: Vec<(u64, usize, String)>,
    output: [String; CONNECTIONS],
    /// The largest piece in either direction.
    piece: usize,
    is_full: [bool; CONNECTIONS],
    /// The end of the run.
    end: Millis,
}

struct Done;

impl Network for Script {
    fn now(&mut self) -> Millis {
        self.now
    }

    fn receive(&mut self, connection: usize, space: &mut [u8]) -> Result<Option<usize>, ErrorKind> {
        let next = self
            .input
            .iter_mut()
            .find(|(at, to, text)| *at <= self.now.0 && *to == connection && !text.is_empty());
        let Some((_, _, text)) = next else { return Ok(None) };
        let n = text.len().min(space.len()).min(self.piece);
        space[..n].copy_from_slice(&text.as_bytes()[..n]);
        text.drain(..n);
        Ok(Some(n))
    }

    fn transmit(&mut self, connection: usize, bytes: &[u8]) -> Result<usize, ErrorKind> {
        // After one piece, the transmitter is full until the next wait.
        if std::mem::replace(&mut self.is_full[connection], true) {
            return Ok(0);
        }
        let bytes = &bytes[..bytes.len().min(self.piece)];
        self.output[connection] += std::str::from_utf8(bytes).unwrap();
        Ok(bytes.len())
    }

    fn end(&mut self, _: usize) {}

    fn close(&mut self, _: usize) {}

    fn wait(&mut self, _: Millis) {
        self.is_full = [false; CONNECTIONS];
        self.now = self.now.plus(Millis(1));
        if self.now >= self.end {
            std::panic::panic_any(Done);
        }
    }
}

/// Runs the server for some milliseconds. Returns the output of each connection.
fn run(input: Vec<(u64, usize, String)>, piece: usize, time: u64) -> [String; CONNECTIONS] {
    let output = std::array::from_fn(|_| String::new());
    let mut script =
        Script { now: Millis::ZERO, input, output, piece, is_full: [false; CONNECTIONS], end: Millis(time) };
    let result = catch_unwind(AssertUnwindSafe(|| {
        serve(&mut script, Box::leak(Box::new(Memory::new())), Box::leak(Box::new(Place::new())))
    }));
    assert!(result.is_err_and(|panic| panic.is::<Done>()), "the server runs until the end");
    script.output
}

fn call(tool: &str, arguments: &str) -> String {
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{{"name":"{tool}","arguments":{arguments},"_meta":{{"progressToken":1,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
    );
    format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {tool}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

#[test]
fn two_connections_are_served_at_once() {
    let test = call("self_test", "{}");
    for piece in [16, 64, 1000] {
        let input = vec![
            (0, 0, test.clone()),
            (150, 1, call("led_set", r#"{"on":true}"#)),
            (250, 1, test.clone()),
            (1000, 1, test.clone()),
        ];
        let [first, second] = run(input, piece, 3000);
        assert!(first.contains(r#""progress":9"#) && first.ends_with("\r\n0\r\n\r\n"), "{piece}: {first}");
        let parts: Vec<&str> = second.split("HTTP/1.1 200 OK").collect();
        assert!(parts[1].contains(r#""text":"ok""#), "{piece}: {second}");
        assert!(parts[2].contains("a test is running") && parts[2].contains("isError"), "{piece}: {second}");
        assert!(parts[3].contains("test passed"), "{piece}: {second}");
    }
}
