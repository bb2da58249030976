//! Benchmark of servers behind pipes, by their CPU time.

use std::collections::HashSet;
use std::io::{Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use nix::time::{ClockId, clock_getcpuclockid, clock_gettime};
use nix::unistd::Pid;
use serde::Deserialize;
use workloads::{inputs, machine::OPEN};

use crate::race::{Effort, report};

/// A running server process.
pub struct Server {
    who: String,
    child: Child,
    clock: ClockId,
    input: ChildStdin,
    output: ChildStdout,
    /// Output after the last complete line.
    said: Vec<u8>,
    next_id: usize,
}

#[derive(Deserialize)]
struct Answer<'a> {
    id: usize,
    #[serde(borrow)]
    result: Result<'a>,
}

#[derive(Deserialize)]
struct Result<'a> {
    #[serde(borrow)]
    content: [Content<'a>; 1],
}

#[derive(Deserialize)]
struct Content<'a> {
    #[serde(borrow)]
    text: std::borrow::Cow<'a, str>,
}

impl Server {
    /// Starts a server from `NAME=COMMAND`.
    ///
    /// # Panics
    /// If the command does not start.
    #[must_use]
    pub fn start(named: &str) -> Server {
        let (who, command) = named.split_once('=').expect("NAME=COMMAND");
        let mut words = command.split(' ');
        let mut child = Command::new(words.next().expect("a command"))
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let clock = clock_getcpuclockid(Pid::from_raw(child.id().cast_signed())).expect("its clock");
        let (input, output) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
        Server { who: who.into(), child, clock, input, output, said: Vec::new(), next_id: 1 }
    }

    /// Performs the handshake.
    ///
    /// # Panics
    /// If the server does not answer.
    pub fn connect(&mut self) {
        self.input.write_all(OPEN).expect("it listens");
        while !self.said.contains(&b'\n') {
            self.read();
        }
        assert!(self.said.starts_with(br#"{"jsonrpc":"2.0","id":0,"result":"#), "{}", self.who);
        self.said.clear();
    }

    /// The CPU time of the server, on all its threads.
    ///
    /// # Panics
    /// If the server has exited.
    #[must_use]
    pub fn worked(&self) -> Duration {
        clock_gettime(self.clock).expect("it runs").into()
    }

    /// The peak memory of the server, in KiB.
    ///
    /// # Panics
    /// If the server has exited.
    #[must_use]
    pub fn peak(&self) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("it runs");
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("its memory");
        line.trim().trim_end_matches(" kB").parse().expect("a number")
    }

    fn read(&mut self) {
        let from = self.said.len();
        self.said.resize(from + (1 << 16), 0);
        let n = self.output.read(&mut self.said[from..]).expect("its output");
        assert!(n > 0, "{} has ended", self.who);
        self.said.truncate(from + n);
    }

    /// Calls `echo` `count` times, with `window` calls in flight, and checks each id and text.
    ///
    /// # Panics
    /// If an answer has another id or text.
    pub fn echo(&mut self, text: &str, count: usize, window: usize) {
        let (mut sent, mut done) = (0, 0);
        let (mut open, mut lines, mut looked) = (HashSet::new(), Vec::new(), 0);
        while done < count {
            while sent < count && open.len() < window {
                lines.extend(inputs::call(self.next_id, &numbered(self.next_id, text)));
                lines.push(b'\n');
                open.insert(self.next_id);
                self.next_id += 1;
                sent += 1;
            }
            if !lines.is_empty() {
                self.input.write_all(&lines).expect("it listens");
                lines.clear();
            }
            self.read();
            let mut from = 0;
            while let Some(end) = self.said[looked..].iter().position(|byte| *byte == b'\n') {
                let answer: Answer<'_> =
                    serde_json::from_slice(&self.said[from..looked + end]).expect("an answer");
                assert!(open.remove(&answer.id), "{}: id {}", self.who, answer.id);
                assert!(
                    answer.result.content[0].text == numbered(answer.id, text),
                    "{}: another text",
                    self.who
                );
                (from, looked) = (looked + end + 1, looked + end + 1);
                done += 1;
            }
            self.said.drain(..from);
            looked = self.said.len();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The text with the id at its beginning, so that each call has another text.
fn numbered(id: usize, text: &str) -> String {
    format!("{id:08}{}", text.get(8..).unwrap_or_default())
}

/// Measures microseconds of CPU time for each request; the servers take turns.
pub fn measure(effort: Effort, commands: &[String]) {
    let mut servers: Vec<Server> = commands.iter().map(|it| Server::start(it)).collect();
    servers.iter_mut().for_each(Server::connect);
    for (case, length, window) in [
        ("16 B, window 1", 16, 1),
        ("16 B, window 64", 16, 64),
        ("1 KiB, window 64", 1 << 10, 64),
        ("64 KiB, window 1", 1 << 16, 1),
        ("1 MiB, window 1", 1 << 20, 1),
    ] {
        let text = inputs::prose(length);
        let mut times = Vec::new();
        for server in &mut servers {
            // Find the number of requests for one turn.
            let (began, mut count) = (server.worked(), 0_usize);
            while server.worked() - began < effort.turn / 8 {
                server.echo(&text, window, window);
                count += window;
            }
            times.push(((count * 8).next_multiple_of(window), Vec::new()));
        }
        for _ in 0..effort.rounds {
            for (server, (count, times)) in servers.iter_mut().zip(&mut times) {
                let began = server.worked();
                server.echo(&text, *count, window);
                times.push((server.worked() - began).as_nanos() as f64 / 1000.0 / *count as f64);
            }
        }
        for (server, (_, times)) in servers.iter().zip(times) {
            report("stdio", case, &server.who, "µs", times);
            report("stdio", case, &server.who, "peak KiB", vec![server.peak()]);
        }
    }
}
