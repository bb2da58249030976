//! A connection to a server process. A monitor checks the messages of both sides.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use mcp_proto::json::{Json, Kind};
use mcp_proto::monitor::{Monitor, Sender, Violation};
use mcp_proto::{Clock, Revision};

use crate::options::Arguments;
use crate::quoted;

/// Maximum length of a line of the server, in bytes. The connection drops the beginning of a longer line. The rest is
/// not valid JSON, so it has no effect.
const LINE_LIMIT: usize = 64 << 20;

/// A running server, and the monitor of the dialogue.
pub(crate) struct Connection {
    child: Child,
    stdin: Option<ChildStdin>,
    output: Receiver<Vec<u8>>,
    partial: Vec<u8>,
    /// Number of bytes at the front of `partial` that were searched for a newline.
    searched: usize,
    responses: BTreeMap<String, String>,
    /// The ids of the batch's requests that have no response yet.
    awaited: BTreeSet<String>,
    monitor: Monitor,
    clock: Clock,
    violations: Vec<Violation>,
    /// The last method that was sent.
    last_method: String,
    /// How the server has ended. `None` until the connection has noticed the end of stdout.
    exit: Option<String>,
    pub(super) revision: Revision,
    next_id: u32,
    /// The time to wait for a response.
    pub(super) timeout: Duration,
    is_traced: bool,
}

impl Connection {
    /// Starts the server.
    pub(crate) fn start(arguments: &Arguments, revision: Revision) -> Result<Connection, String> {
        let [program, words @ ..] = &arguments.command[..] else { return Err("no command".into()) };
        let stderr = if arguments.trace { Stdio::inherit() } else { Stdio::null() };
        let mut child = Command::new(program)
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(stderr)
            .spawn()
            .map_err(|error| format!("cannot start {program}: {error}"))?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let (sender, output) = channel();
        thread::spawn(move || {
            let Some(mut stdout) = stdout else { return };
            let mut buffer = [0; 8192];
            while let Ok(length @ 1..) = stdout.read(&mut buffer) {
                if sender.send(buffer[..length].to_vec()).is_err() {
                    break;
                }
            }
        });
        Ok(Connection {
            child,
            stdin,
            output,
            partial: Vec::new(),
            searched: 0,
            responses: BTreeMap::new(),
            awaited: BTreeSet::new(),
            monitor: Monitor::new().line_limit(LINE_LIMIT),
            clock: Clock::start(),
            violations: Vec::new(),
            last_method: String::new(),
            exit: None,
            revision,
            next_id: 0,
            timeout: arguments.timeout,
            is_traced: arguments.trace,
        })
    }

    /// Sends a line, unless the server has ended. Ignores a failed write, because the missing responses show that the
    /// server has exited.
    pub(crate) fn send(&mut self, line: &str) {
        if self.exit.is_some() {
            return;
        }
        let found = self.monitor.line(Sender::Client, line.as_bytes(), self.clock.now());
        self.violations.extend(found);
        if self.is_traced {
            note!("> {line}");
        }
        if let Some(stdin) = &mut self.stdin {
            let _ = stdin.write_all(format!("{line}\n").as_bytes()).and_then(|()| stdin.flush());
        }
    }

    /// Sends a request without waiting. `params` is an object, or empty. Returns the id.
    pub(crate) fn begin(&mut self, method: &str, params: &str) -> String {
        self.next_id += 1;
        // Use ids of both types: strings and integers.
        let id = if self.next_id.is_multiple_of(3) {
            format!("\"id-{}\"", self.next_id)
        } else {
            self.next_id.to_string()
        };
        if self.exit.is_none() {
            method.clone_into(&mut self.last_method);
        }
        let params = if params.is_empty() { String::new() } else { format!(",\"params\":{params}") };
        self.send(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":{}{params}}}", quoted(method)));
        id
    }

    /// Sends a request. Returns the response, or `None` if no response arrives in time.
    pub(crate) fn request(&mut self, method: &str, params: &str) -> Option<Response> {
        let id = self.begin(method, params);
        self.wait(&id, self.timeout)
    }

    /// Waits for the response to a request. Returns `None` if no response arrives within `timeout`.
    pub(crate) fn wait(&mut self, id: &str, timeout: Duration) -> Option<Response> {
        self.receive(timeout, |connection| connection.responses.contains_key(id));
        self.responses.remove(id).map(Response)
    }

    /// Sends pings in a batch.
    pub(crate) fn batch(&mut self) {
        let ids = ["\"batch-1\"", "\"batch-2\""];
        let ping = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        self.send(&format!("[{}]", ids.map(ping).join(",")));
        self.awaited.extend(ids.map(String::from));
    }

    /// Waits until the batch has all responses, the server ends, or the time limit expires. Then reads late messages
    /// for another 200 ms.
    pub(crate) fn receive_late_messages(&mut self) {
        self.receive(self.timeout, |connection| connection.awaited.is_empty());
        self.receive(Duration::from_millis(200), |_| false);
    }

    fn receive(&mut self, time: Duration, is_done: impl Fn(&Connection) -> bool) {
        let deadline = Instant::now() + time;
        while !is_done(self) {
            match self.output.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(bytes) => self.read(&bytes),
                Err(RecvTimeoutError::Timeout) => return,
                Err(RecvTimeoutError::Disconnected) => return self.record_exit(),
            }
        }
    }

    /// Records how the server has ended, after its stdout was closed.
    fn record_exit(&mut self) {
        if self.exit.is_some() {
            return;
        }
        let end = match self.wait_for_exit(Duration::from_secs(1)) {
            Some(status) => {
                let status = status.code().map_or(status.to_string(), |code| format!("status {code}"));
                format!("the server exited ({status})")
            }
            None => "the server closed its stdout".into(),
        };
        self.exit = Some(format!("{end} after {}", self.last_method));
    }

    /// Waits up to `time` for the end of the process. Returns `None` if the process still runs.
    fn wait_for_exit(&mut self, time: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + time;
        loop {
            match self.child.try_wait() {
                Ok(None) if Instant::now() < deadline => thread::sleep(Duration::from_millis(10)),
                status => return status.ok().flatten(),
            }
        }
    }

    /// Returns how the server has ended, such as `the server exited (status 7) after tools/list`. Returns `None` if the
    /// connection has not noticed an end.
    pub(crate) fn exit(&self) -> Option<String> {
        self.exit.clone()
    }

    fn read(&mut self, bytes: &[u8]) {
        let found = self.monitor.bytes(Sender::Server, bytes, self.clock.now());
        self.violations.extend(found);
        self.partial.extend_from_slice(bytes);
        while let Some(end) = self.partial[self.searched..].iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.partial.drain(..=self.searched + end).collect();
            self.searched = 0;
            if self.is_traced {
                note!("< {}", String::from_utf8_lossy(&line).trim_end());
            }
            let Ok(json) = Json::parse(&line) else { continue };
            match json.kind() {
                Kind::Array => json.elements().for_each(|message| self.message(message)),
                _ => self.message(json),
            }
        }
        // Drop the beginning of a line that exceeds the limit. The monitor also ignores such a line.
        if self.partial.len() > LINE_LIMIT {
            self.partial.clear();
        }
        self.searched = self.partial.len();
    }

    /// Keeps a response, or answers a request.
    fn message(&mut self, message: Json<'_>) {
        let Some(id) = message.get("id").map(|id| id.to_string()) else { return };
        match message.get("method").and_then(Json::string) {
            Some(method) => {
                let outcome = respond(&method.to_string());
                self.send(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},{outcome}}}"));
            }
            None => {
                self.awaited.remove(&id);
                self.responses.insert(id, message.to_string());
            }
        }
    }

    /// Ends the connection, and kills a server that does not exit within three seconds. Returns the violations.
    pub(crate) fn finish(mut self) -> Vec<Violation> {
        // At the end of the stream, the monitor reports each missing response.
        let found = self.monitor.end(Sender::Server, self.clock.now());
        self.violations.extend(found);
        drop(self.stdin.take());
        self.wait_for_exit(Duration::from_secs(3));
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.violations
    }
}

/// Returns the member `result` or `error` of the client's response, as JSON text.
fn respond(method: &str) -> &'static str {
    match method {
        "ping" => r#""result":{}"#,
        "roots/list" => r#""result":{"roots":[]}"#,
        "elicitation/create" => r#""result":{"action":"decline"}"#,
        "sampling/createMessage" => {
            r#""result":{"role":"assistant","content":{"type":"text","text":"ok"},"model":"none","stopReason":"endTurn"}"#
        }
        _ => r#""error":{"code":-32601,"message":"Method not found"}"#,
    }
}

/// A response of the server.
pub(crate) struct Response(String);

impl Response {
    /// Returns the result, or `None` if the response is an error.
    pub(crate) fn result(&self) -> Option<Json<'_>> {
        Json::parse(self.0.as_bytes()).ok()?.get("result")
    }

    /// Returns the error as JSON, or an empty text if the response has no error.
    pub(crate) fn error(&self) -> String {
        let error = Json::parse(self.0.as_bytes()).ok().and_then(|message| message.get("error"));
        error.map(|error| error.to_string()).unwrap_or_default()
    }
}
