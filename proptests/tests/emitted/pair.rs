//! A connected client and server, and all their messages.

use std::collections::HashMap;

use mcp_proto::client::{ClientConfig, Connect};
use mcp_proto::monitor::{Monitor, Sender, Violation};
use mcp_proto::server::{self, ServerConfig};
use mcp_proto::{Action, Buffer, Client, KeepAlive, Millis, Revision, Revisions, Server, Ticket};
use mcp_proto_proptests::schema::Schemas;
use mcp_proto_proptests::written::Written;
use serde_json::Value;

use super::tools::handle;

fn leak<T>(value: T) -> &'static mut T {
    Box::leak(Box::new(value))
}

/// A connected client and server. After each `run`, no bytes are in transit.
pub(crate) struct Pair {
    pub(crate) client: Client<'static>,
    pub(crate) server: Server<'static>,
    pub(crate) by_client: Written,
    pub(crate) by_server: Written,
    pub(crate) up: Vec<u8>,
    pub(crate) down: Vec<u8>,
    pub(crate) now: Millis,
    pub(crate) deferred: Vec<Ticket>,
    pub(crate) heard: Vec<String>,
    monitor: Monitor,
    violations: Vec<Violation>,
    /// The side in whose name the test sent its last line, if any. Violations of this side are intended.
    raw: Option<Sender>,
}

impl Pair {
    pub(crate) fn new(revision: Revision, server_info: ServerConfig<'static>) -> Pair {
        let connect =
            if Revisions::STATELESS.contains(revision) { Connect::Stateless } else { Connect::Handshake };
        let info = ClientConfig::new("client", "1").title("Client").connect(connect);
        let info = leak(info.revisions(Revisions::only(revision)));
        let (by_client, by_server) = (Written::default(), Written::default());
        let pings = KeepAlive { interval: Millis(10_000), timeout: Millis(1000), close: false };
        let client = Client::new(info, Buffer::grown(100_000), Buffer::grown(100_000))
            .unwrap()
            .in_flight_grown(100)
            .keep_alive(pings)
            .observe(leak(by_client.clone()));
        // The transmit buffer is so small that a list has several pages, and one response does not fit.
        let server = Server::new(leak(server_info), Buffer::grown(3000), leak([0; 2000]))
            .unwrap()
            .in_flight_grown(10)
            .unwrap()
            .subscription_buffer(Buffer::grown(1000))
            .batch_buffer(Buffer::grown(4000))
            .keep_alive(pings)
            .observe(leak(by_server.clone()));
        let (up, down) = (Vec::new(), Vec::new());
        let (deferred, heard) = (Vec::new(), Vec::new());
        let (monitor, violations) = (Monitor::new(), Vec::new());
        let now = Millis(0);
        Pair {
            client,
            server,
            by_client,
            by_server,
            up,
            down,
            now,
            deferred,
            heard,
            monitor,
            violations,
            raw: None,
        }
    }

    /// Sends a line to the server, as another client might send it, and runs both sides.
    pub(crate) fn raw(&mut self, line: &str) {
        self.up.extend(line.as_bytes());
        self.up.push(b'\n');
        self.raw = Some(Sender::Client);
        self.violations.extend(self.monitor.line(Sender::Client, line.as_bytes(), self.now));
        self.run();
    }

    /// Adds a line to the output of the server, as another server might send it.
    pub(crate) fn raw_server(&mut self, line: &str) {
        self.down.extend(line.as_bytes());
        self.down.push(b'\n');
        self.raw = Some(Sender::Server);
        self.violations.extend(self.monitor.line(Sender::Server, line.as_bytes(), self.now));
    }

    pub(crate) fn run(&mut self) {
        let mut quiet = 0;
        while quiet < 2 {
            let moved = self.step_client() | self.step_server();
            quiet = if moved { 0 } else { quiet + 1 };
        }
    }

    fn step_client(&mut self) -> bool {
        match self.client.poll(self.now) {
            Action::Io(io) => {
                let (out, mut input) = io.split();
                let moved = !out.bytes().is_empty() || !self.down.is_empty();
                let n = out.bytes().len();
                self.up.extend(out.bytes());
                self.violations.extend(self.monitor.bytes(Sender::Client, out.bytes(), self.now));
                out.sent(n);
                let n = self.down.len().min(input.space().len());
                input.space()[..n].copy_from_slice(&self.down[..n]);
                self.down.drain(..n);
                input.filled(n);
                moved
            }
            Action::Event => {
                let event = format!("{:?}", self.client.event().unwrap());
                self.heard.push(event);
                true
            }
            Action::Closed => false,
        }
    }

    fn step_server(&mut self) -> bool {
        match self.server.poll(self.now) {
            Action::Io(io) => {
                let (out, mut input) = io.split();
                let moved = !out.bytes().is_empty() || !self.up.is_empty();
                let n = out.bytes().len();
                self.down.extend(out.bytes());
                self.violations.extend(self.monitor.bytes(Sender::Server, out.bytes(), self.now));
                out.sent(n);
                let n = self.up.len().min(input.space().len());
                input.space()[..n].copy_from_slice(&self.up[..n]);
                self.up.drain(..n);
                input.filled(n);
                moved
            }
            Action::Event => {
                if let Some(server::Event::Call(call)) = self.server.event() {
                    self.deferred.extend(handle(call));
                }
                true
            }
            Action::Closed => false,
        }
    }

    /// Checks all messages since the last call, and returns their number.
    pub(crate) fn check(&mut self, schemas: &Schemas, revision: &str) -> usize {
        let own = |violation: &Violation| Some(violation.sender) != self.raw;
        let violations: Vec<_> =
            self.violations.iter().filter(|it| own(it)).map(ToString::to_string).collect();
        assert!(violations.is_empty(), "{revision}: {violations:#?}");
        let by_client = std::mem::take(&mut *self.by_client.0.lock().unwrap());
        let by_server = std::mem::take(&mut *self.by_server.0.lock().unwrap());
        let methods = |lines: &[String]| -> HashMap<String, String> {
            let values = lines.iter().map(|line| serde_json::from_str::<Value>(line).unwrap());
            values
                .filter(|value| value.get("id").is_some())
                .filter_map(|value| {
                    Some((value["id"].to_string(), value.get("method")?.as_str()?.to_owned()))
                })
                .collect()
        };
        let answers = |line: &str, asked: &HashMap<String, String>| {
            let value: Value = serde_json::from_str(line).unwrap();
            asked.get(&value["id"].to_string()).cloned()
        };
        let (asked_by_client, asked_by_server) = (methods(&by_client), methods(&by_server));
        for line in by_client.iter().chain(&by_server) {
            no_null(line);
        }
        for line in &by_client {
            let method = answers(line, &asked_by_server);
            schemas
                .check_client_line(revision, method.as_deref(), line)
                .unwrap_or_else(|error| panic!("{error}"));
        }
        for line in &by_server {
            let method = answers(line, &asked_by_client);
            schemas
                .check_server_line(revision, method.as_deref(), line)
                .unwrap_or_else(|error| panic!("{error}"));
        }
        by_client.len() + by_server.len()
    }
}

/// Checks that absent members are omitted, not `null`. The only exception is the `id` of an error response.
fn no_null(line: &str) {
    fn has(value: &Value) -> bool {
        match value {
            Value::Null => true,
            Value::Array(items) => items.iter().any(has),
            Value::Object(members) => members.values().any(has),
            _ => false,
        }
    }
    let line: Value = serde_json::from_str(line).unwrap();
    let messages = line.as_array().map_or(std::slice::from_ref(&line), Vec::as_slice);
    for message in messages {
        let members = message.as_object().unwrap().iter();
        let null = members.filter(|(name, _)| *name != "id" || message.get("error").is_none());
        assert!(!null.map(|(_, value)| value).any(has), "{line}");
    }
}
