//! Benchmark of servers with many connections: memory, file descriptors, CPU time of calls, and idle loops.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{ChildStdin, ChildStdout};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use workloads::dialect::Dialect;
use workloads::inputs;

use crate::interleave::{Effort, report};
use crate::process::{Process, Processors, pin};
use crate::stdio::{check, numbered};

const PART: &str = "connections";
const COUNT: usize = 1000;
/// Number of connections to the server with one loop, unless the process may open fewer file descriptors.
const MANY: usize = 10_000;
/// The number of file descriptors that are reserved for other uses than connections.
const OTHER_DESCRIPTORS: usize = 100;
/// Calls in flight on each connection.
const WINDOW: usize = 16;
/// The first id, which is so large that all ids have the same length.
const FIRST_ID: usize = 1_000_000;
/// The idle time after which memory is measured: grown buffers have shrunk by then.
const IDLE_TIME: Duration = Duration::from_secs(6);
/// The time for which a loop of 60 Hz is measured.
const FRAMES_TIME: Duration = Duration::from_secs(5);
const TIMEOUT: Duration = Duration::from_secs(120);

/// A running server, and the connections to it.
struct Crowd {
    process: Process,
    path: PathBuf,
    streams: Vec<UnixStream>,
    text: String,
    next_id: usize,
    received: Vec<u8>,
    _pipes: (ChildStdin, BufReader<ChildStdout>),
}

impl Crowd {
    /// Starts a server from `NAME=COMMAND` on a processor of its own. The path of a socket and `arguments` are appended
    /// to the command.
    fn start(named: &str, arguments: &str, processors: Processors) -> Crowd {
        let path = std::env::temp_dir().join(format!("mcp-proto-crowd-{}.sock", std::process::id()));
        let _ = std::fs::remove_file(&path);
        pin(processors.other);
        let (process, input, output) =
            Process::start(format!("{named} {} {arguments}", path.display()).trim());
        pin(processors.own);
        let (mut output, mut line) = (BufReader::new(output), String::new());
        output.read_line(&mut line).expect("a line");
        assert_eq!(line.trim(), "listening");
        Crowd {
            process,
            path,
            streams: Vec::new(),
            text: inputs::prose(16),
            next_id: FIRST_ID,
            received: Vec::new(),
            _pipes: (input, output),
        }
    }

    /// Opens `count` more connections, each with the handshake and one call.
    fn open(&mut self, count: usize) {
        for _ in 0..count {
            let mut stream = UnixStream::connect(&self.path).expect("a server");
            stream.set_read_timeout(Some(TIMEOUT)).expect("a socket");
            stream.write_all(&Dialect::Handshake.opening()).expect("the server reads");
            self.received.clear();
            read_lines(&mut stream, &mut self.received, 1);
            assert!(
                self.received.starts_with(br#"{"jsonrpc":"2.0","id":0,"result":"#),
                "{}",
                self.process.name
            );
            self.streams.push(stream);
            self.call(self.streams.len() - 1..self.streams.len(), 1);
        }
    }

    /// Makes `window` calls at once on each of these connections, and checks the responses.
    fn call(&mut self, connections: std::ops::Range<usize>, window: usize) {
        let first = self.next_id;
        for stream in &mut self.streams[connections.clone()] {
            let mut lines = Vec::new();
            for _ in 0..window {
                lines.extend(Dialect::Handshake.call(self.next_id, &numbered(self.next_id, &self.text)));
                lines.push(b'\n');
                self.next_id += 1;
            }
            stream.write_all(&lines).expect("the server reads");
        }
        for (at, stream) in self.streams[connections].iter_mut().enumerate() {
            self.received.clear();
            read_lines(stream, &mut self.received, window);
            let (name, from) = (&self.process.name, first + at * window);
            let lines = self.received.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
            // A server may respond in any order.
            let mut ids: Vec<_> =
                lines.map(|line| check(line, name, Dialect::Handshake, &self.text)).collect();
            ids.sort_unstable();
            assert!(ids.into_iter().eq(from..from + window), "{name}: other ids");
        }
    }

    /// Returns the server's CPU time per call in microseconds, for each of `rounds` rounds over all connections.
    fn time_calls(&mut self, rounds: usize) -> Vec<f64> {
        let all = 0..self.streams.len();
        self.call(all.clone(), WINDOW);
        let mut times = Vec::new();
        for _ in 0..rounds {
            let start = self.process.cpu_time();
            self.call(all.clone(), WINDOW);
            let time = self.process.cpu_time() - start;
            times.push(time.as_nanos() as f64 / 1000.0 / (all.len() * WINDOW) as f64);
        }
        times
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Appends input to `received` until `count` lines have arrived.
fn read_lines(stream: &mut UnixStream, received: &mut Vec<u8>, count: usize) {
    let mut lines = 0;
    while lines < count {
        let from = received.len();
        received.resize(from + (1 << 14), 0);
        let n = stream.read(&mut received[from..]).expect("a response in time");
        assert!(n > 0, "the server has closed the connection");
        received.truncate(from + n);
        lines += received[from..].iter().filter(|byte| **byte == b'\n').count();
    }
}

/// Measures each server with a thousand connections. Then measures the server `loop` twice more: with up to ten
/// thousand connections, and with idle connections while its loop runs at 60 Hz.
///
/// # Panics
/// If the limit of open files cannot be set, or a server does not start, exits early, or does not respond correctly in
/// time.
pub fn measure(effort: Effort, commands: &[String], processors: Processors) {
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE).expect("a limit of open files");
    setrlimit(Resource::RLIMIT_NOFILE, most, most).expect("the permitted limit");
    for command in commands {
        measure_crowd(&mut Crowd::start(command, "", processors), COUNT, effort);
    }
    for command in commands.iter().filter(|it| it.starts_with("loop=")) {
        let many = MANY.min(usize::try_from(most).unwrap_or(usize::MAX) - OTHER_DESCRIPTORS);
        measure_crowd(&mut Crowd::start(command, "", processors), many, effort);
        for frames in ["ready", "poll", "read"] {
            measure_frames(command, frames, processors);
        }
    }
}

fn measure_crowd(crowd: &mut Crowd, count: usize, effort: Effort) {
    let name = crowd.process.name.clone();
    let case = format!("{count} connections");
    // The first connections allocate the memory that does not depend on the number of connections.
    crowd.open(10);
    let (memory, descriptors) = (crowd.process.anonymous(), crowd.process.descriptors());
    crowd.open(count);
    let each = |growth: f64| vec![growth / count as f64];
    report(PART, &case, &name, "descriptors", each((crowd.process.descriptors() - descriptors) as f64));
    sleep(IDLE_TIME);
    let kilobytes = (crowd.process.anonymous() - memory) * 1.024;
    report(PART, &case, &name, "kB", each(kilobytes));
    report(PART, &case, &name, "µs", crowd.time_calls(effort.rounds));
    sleep(IDLE_TIME);
    let kilobytes = (crowd.process.anonymous() - memory) * 1.024;
    report(PART, &case, &name, "kB after calls", each(kilobytes));
}

/// Measures the share of a processor that a loop of 60 Hz with idle connections takes.
fn measure_frames(command: &str, frames: &str, processors: Processors) {
    let mut crowd = Crowd::start(command, frames, processors);
    crowd.open(COUNT);
    let (start, cpu) = (Instant::now(), crowd.process.cpu_time());
    sleep(FRAMES_TIME);
    let cpu = crowd.process.cpu_time() - cpu;
    let share = 100.0 * cpu.as_secs_f64() / start.elapsed().as_secs_f64();
    report(PART, &format!("60 Hz, {frames}"), "loop", "%", vec![share]);
}
