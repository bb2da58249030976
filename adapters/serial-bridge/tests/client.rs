//! A desktop client that runs the bridge as its server.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The longest time to wait for a line, for the end of stdout, or for the exit of the process.
const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) fn bridge() -> Command {
    Command::new(env!("CARGO_BIN_EXE_mcp-serial-bridge"))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    Handshake,
    Stateless,
}

pub(crate) struct BridgeClient {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    errors: Option<JoinHandle<String>>,
}

impl BridgeClient {
    pub(crate) fn new(arguments: &[&str]) -> BridgeClient {
        let mut command = bridge();
        let command =
            command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut stderr = child.stderr.take().unwrap();
        let (line, lines) = channel();
        thread::spawn(move || {
            // The thread ends when the test has dropped the receiver. The end of the thread closes the pipe.
            output
                .split(b'\n')
                .map_while(Result::ok)
                .try_for_each(|bytes| line.send(String::from_utf8_lossy(&bytes).into_owned()))
        });
        let errors = thread::spawn(move || {
            let mut text = Vec::new();
            stderr.read_to_end(&mut text).unwrap();
            String::from_utf8_lossy(&text).into_owned()
        });
        BridgeClient { input: child.stdin.take(), lines, errors: Some(errors), child }
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.input.as_mut().unwrap().write_all(bytes).unwrap();
    }

    pub(crate) fn input(&mut self) -> ChildStdin {
        self.input.take().unwrap()
    }

    pub(crate) fn send(&mut self, message: &str) {
        self.write(format!("{{\"jsonrpc\":\"2.0\",{message}}}\n").as_bytes());
    }

    /// Returns the next line.
    pub(crate) fn next_line(&mut self) -> String {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => panic!("nothing comes; stderr: {}", self.kill()),
            Err(RecvTimeoutError::Disconnected) => panic!("stdout has ended; stderr: {}", self.kill()),
        }
    }

    /// Expects the next line to contain this text.
    pub(crate) fn expect_line(&mut self, part: &str) {
        let line = self.next_line();
        assert!(line.contains(part), "expected {part}, got {line}; stderr: {}", self.kill());
    }

    /// Returns all lines until stdout ends.
    pub(crate) fn rest(&mut self) -> Vec<String> {
        let until = Instant::now() + PATIENCE;
        let next = || self.lines.recv_timeout(until.saturating_duration_since(Instant::now()));
        let mut lines = Vec::new();
        loop {
            match next() {
                Ok(line) => lines.push(line),
                Err(RecvTimeoutError::Disconnected) => return lines,
                Err(RecvTimeoutError::Timeout) => panic!("stdout does not end: {lines:?}"),
            }
        }
    }

    /// Calls a tool in this era, with a progress token.
    pub(crate) fn call(&mut self, era: Era, id: u32, tool: &str) {
        let meta = match era {
            Era::Handshake => "",
            Era::Stateless => META,
        };
        self.send(&format!(
            r#""id":{id},"method":"tools/call","params":{{"name":"{tool}","_meta":{{"progressToken":{id}{meta}}}}}"#
        ));
    }

    /// Sends the first request of an era, with the id 0.
    pub(crate) fn send_first(&mut self, era: Era) {
        let request = match era {
            Era::Handshake => r#""id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}"#.to_owned(),
            Era::Stateless => {
                let meta = META.trim_start_matches(',');
                format!(r#""id":0,"method":"server/discover","params":{{"_meta":{{{meta}}}}}"#)
            }
        };
        self.send(&request);
    }

    /// Opens a session. Expects the response to the first request.
    pub(crate) fn connect(&mut self, era: Era) {
        self.send_first(era);
        match era {
            Era::Handshake => {
                self.expect_line(r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25""#);
                self.send(r#""method":"notifications/initialized""#);
            }
            Era::Stateless => self.expect_line(r#"{"jsonrpc":"2.0","id":0,"result":{"#),
        }
    }

    /// Kills the process. Returns its stderr, or an empty text if an earlier call has returned the stderr.
    pub(crate) fn kill(&mut self) -> String {
        let _ = self.child.kill();
        self.child.wait().unwrap();
        self.errors.take().map(|thread| thread.join().unwrap()).unwrap_or_default()
    }

    /// Closes the stdin of the process.
    pub(crate) fn close_stdin(&mut self) {
        drop(self.input.take());
    }

    /// Waits for the end of the process. Returns its exit status and its stderr.
    pub(crate) fn wait_for_exit(&mut self) -> (ExitStatus, String) {
        let until = Instant::now() + PATIENCE;
        let status = loop {
            match self.child.try_wait().unwrap() {
                Some(status) => break status,
                None if Instant::now() > until => {
                    panic!("the process does not exit; stderr: {}", self.kill())
                }
                None => thread::sleep(Duration::from_millis(2)),
            }
        };
        (status, self.kill())
    }
}

impl Drop for BridgeClient {
    fn drop(&mut self) {
        self.kill();
    }
}

const META: &str = r#","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}"#;
