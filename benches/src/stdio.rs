//! Benchmark of servers behind pipes, by their CPU time.

use std::collections::HashSet;
use std::io::{Read, Write};
use std::process::{ChildStdin, ChildStdout};
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;
use workloads::dialect::Dialect;
use workloads::inputs;

use crate::interleave::{Effort, report};
use crate::process::Process;

/// A running server behind pipes.
pub struct Server {
    process: Process,
    dialect: Dialect,
    input: ChildStdin,
    output: ChildStdout,
    /// Output after the last complete line.
    received: Vec<u8>,
    next_id: usize,
}

#[derive(Deserialize)]
struct Response<'a> {
    #[serde(borrow)]
    id: &'a RawValue,
    #[serde(borrow)]
    result: Result<'a>,
}

impl Response<'_> {
    /// Returns the number in the id. A string id ends with the number.
    fn number(&self) -> usize {
        let id = self.id.get().trim_matches('"');
        id.rsplit('-').next().and_then(|it| it.parse().ok()).expect("the id of a call")
    }
}

#[derive(Deserialize)]
struct Result<'a> {
    #[serde(borrow)]
    content: [Content<'a>; 1],
    #[serde(rename = "resultType")]
    result_type: Option<&'a str>,
}

#[derive(Deserialize)]
struct Content<'a> {
    #[serde(borrow)]
    text: std::borrow::Cow<'a, str>,
}

impl Server {
    /// Starts a server from `NAME=COMMAND`, to be called in this dialect.
    ///
    /// # Panics
    /// If the command does not start.
    #[must_use]
    pub fn start(named: &str, dialect: Dialect) -> Server {
        let (process, input, output) = Process::start(named);
        Server { process, dialect, input, output, received: Vec::new(), next_id: 1 }
    }

    /// Opens the connection: sends `initialize` or `server/discover`, and waits for the response.
    ///
    /// # Panics
    /// If the server ends, or its response is not a result.
    pub fn connect(&mut self) {
        self.input.write_all(&self.dialect.opening()).expect("the server reads");
        while !self.received.contains(&b'\n') {
            self.read();
        }
        assert!(self.received.starts_with(br#"{"jsonrpc":"2.0","id":0,"result":"#), "{}", self.process.name);
        self.received.clear();
    }

    /// Returns the CPU time of the server, on all its threads.
    #[must_use]
    pub fn cpu_time(&self) -> Duration {
        self.process.cpu_time()
    }

    fn read(&mut self) {
        let from = self.received.len();
        self.received.resize(from + (1 << 16), 0);
        let n = self.output.read(&mut self.received[from..]).expect("its output");
        assert!(n > 0, "{} has ended", self.process.name);
        self.received.truncate(from + n);
    }

    /// Calls `echo` `count` times, with `window` calls in flight, and checks each id, text and revision.
    ///
    /// # Panics
    /// If the server ends, or a response has the wrong id, text or revision.
    pub fn echo(&mut self, text: &str, count: usize, window: usize) {
        let (mut sent, mut done) = (0, 0);
        let (mut in_flight, mut lines, mut searched) = (HashSet::new(), Vec::new(), 0);
        while done < count {
            while sent < count && in_flight.len() < window {
                lines.extend(self.dialect.call(self.next_id, &numbered(self.next_id, text)));
                lines.push(b'\n');
                in_flight.insert(self.next_id);
                self.next_id += 1;
                sent += 1;
            }
            if !lines.is_empty() {
                self.input.write_all(&lines).expect("the server reads");
                lines.clear();
            }
            self.read();
            let mut from = 0;
            while let Some(end) = self.received[searched..].iter().position(|byte| *byte == b'\n') {
                let id = check(&self.received[from..searched + end], &self.process.name, self.dialect, text);
                assert!(in_flight.remove(&id), "{}: id {id}", self.process.name);
                (from, searched) = (searched + end + 1, searched + end + 1);
                done += 1;
            }
            self.received.drain(..from);
            searched = self.received.len();
        }
    }
}

/// Checks the text and the revision of a response to `echo`, and returns the number in its id.
pub(crate) fn check(response: &[u8], server: &str, dialect: Dialect, text: &str) -> usize {
    let response: Response<'_> = serde_json::from_slice(response).expect("a response");
    let (id, result) = (response.number(), &response.result);
    assert!(result.content[0].text == numbered(id, text), "{server}: another text");
    // Results have a type only in 2026-07-28.
    assert_eq!(result.result_type.is_some(), dialect.is_stateless(), "{server}");
    id
}

/// Replaces the first eight bytes of the text by the id, so that each call has a different text.
pub(crate) fn numbered(id: usize, text: &str) -> String {
    format!("{id:08}{}", text.get(8..).unwrap_or_default())
}

/// Measures microseconds of CPU time for each request in this dialect, and the peak of the memory of each server. The
/// servers take turns. `name` is the name of the dialect, or `observer`.
pub fn measure(effort: Effort, commands: &[String], name: &str) {
    // `observer` is not a dialect: its commands start servers with an observer, which are called in the handshake era.
    let dialect =
        if name == "observer" { Dialect::Handshake } else { Dialect::from_name(name).expect("a dialect") };
    let mut servers: Vec<Server> = commands.iter().map(|it| Server::start(it, dialect)).collect();
    servers.iter_mut().for_each(Server::connect);
    for (case, length, window) in [
        ("16 B, window 1", 16, 1),
        ("16 B, window 64", 16, 64),
        ("1 KiB, window 64", 1 << 10, 64),
        ("64 KiB, window 1", 1 << 16, 1),
        ("1 MiB, window 1", 1 << 20, 1),
    ] {
        let text = inputs::prose(length);
        let case = match name {
            "handshake" => case.to_owned(),
            _ if length == 16 => format!("{case}, {name}"),
            _ => continue,
        };
        // The length of a request with an id of five digits.
        let bytes = dialect.call(10_000, &text).len();
        println!("{}", serde_json::json!({"part": "stdio", "case": case, "bytes": bytes}));
        interleave(&case, effort, &mut servers, &text, window);
    }
}

fn interleave(case: &str, effort: Effort, servers: &mut [Server], text: &str, window: usize) {
    let mut times = Vec::new();
    for server in &mut *servers {
        // Find the number of requests for one turn.
        let (start, mut count) = (server.cpu_time(), 0_usize);
        while server.cpu_time() - start < effort.turn / 8 {
            server.echo(text, window, window);
            count += window;
        }
        times.push(((count * 8).next_multiple_of(window), Vec::new()));
    }
    for _ in 0..effort.rounds {
        for (server, (count, times)) in servers.iter_mut().zip(&mut times) {
            let start = server.cpu_time();
            server.echo(text, *count, window);
            times.push((server.cpu_time() - start).as_nanos() as f64 / 1000.0 / *count as f64);
        }
    }
    for (server, (_, times)) in servers.iter().zip(times) {
        report("stdio", case, &server.process.name, "µs", times);
        report("stdio", case, &server.process.name, "peak KiB", vec![server.process.peak()]);
    }
}
