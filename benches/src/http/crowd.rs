//! Benchmark of servers over HTTP with many clients: memory, and the time that a call of one more client takes.

use std::io::{ErrorKind, Write};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use socket2::SockRef;
use workloads::dialect::Dialect;
use workloads::inputs;

use super::client::{Client, begin_session, session_fields};
use super::connection::Connection;
use super::server::Server;
use crate::interleave::report;
use crate::process::Processors;

const STREAMS: usize = 1000;
const SLOW_CLIENTS: usize = 1000;
/// Number of clients that do not read, and the length of the text of their calls.
const DEAF_CLIENTS: (usize, usize) = (200, 1 << 16);
/// The number of bytes after which a client that does not read stops sending.
const SENT_BY_DEAF: usize = 16 << 20;
const ABANDONED: usize = 100_000;
const CALLS: usize = 5000;

/// Measures each server with each kind of crowd.
pub fn measure(commands: &[String], processors: Processors) {
    let (_, limit) = getrlimit(Resource::RLIMIT_NOFILE).expect("a limit of open files");
    setrlimit(Resource::RLIMIT_NOFILE, limit, limit).expect("the permitted limit");
    for command in commands {
        alone(&Server::start(command, processors));
        idle_sessions(&Server::start(command, processors));
        abandoned_sessions(&Server::start(command, processors));
        streams(&Server::start(command, processors));
        slow_clients(&Server::start(command, processors));
        deaf_clients(&Server::start(command, processors));
    }
}

fn alone(server: &Server) {
    time_calls(server, "no others", || ());
}

/// Returns the number of sessions to open, fewer than a server keeps: `tower` keeps 65,534, and `std` keeps
/// 16,384. A session of `rmcp` is a whole task and therefore large, so 5000 sessions suffice to measure its size.
fn session_count(server: &Server) -> usize {
    match server.name() {
        "tower" => 65_000,
        "std" => 16_000,
        _ => 5000,
    }
}

fn idle_sessions(server: &Server) {
    let mut connection = Connection::open(&server.address);
    begin(server, &mut connection, 10);
    let (count, before) = (session_count(server), memory(server));
    begin(server, &mut connection, count);
    let each = (memory(server) - before) * 1024.0 / count as f64;
    report("http-crowd", "idle sessions", server.name(), "count", vec![count as f64]);
    report("http-crowd", "idle sessions", server.name(), "B each", vec![each]);
    time_calls(server, "idle sessions", || ());
}

/// Measures a server after opening more sessions than the server keeps. Skips `rmcp`, where this takes too long.
fn abandoned_sessions(server: &Server) {
    if session_count(server) * 10 < ABANDONED {
        return;
    }
    let mut connection = Connection::open(&server.address);
    begin(server, &mut connection, 10);
    let before = memory(server);
    begin(server, &mut connection, ABANDONED);
    report("http-crowd", "abandoned sessions", server.name(), "count", vec![ABANDONED as f64]);
    report("http-crowd", "abandoned sessions", server.name(), "KiB", vec![memory(server) - before]);
    time_calls(server, "abandoned sessions", || ());
}

fn begin(server: &Server, connection: &mut Connection, count: usize) {
    for _ in 0..count {
        begin_session(server, connection).expect("a session");
    }
}

/// Measures a server with open event streams, each in a session of 2025-11-25.
fn streams(server: &Server) {
    let mut open = Vec::new();
    let mut before = 0.0;
    // The first streams allocate the memory that does not depend on the number of streams.
    for number in 0..STREAMS + 10 {
        if number == 10 {
            before = memory(server);
        }
        let mut connection = Connection::open(&server.address);
        let session = begin_session(server, &mut connection).expect("a session");
        let fields = session_fields(Some(&session));
        let head = format!("GET /mcp HTTP/1.1\r\nHost: {}\r\nAccept: text/event-stream\r\n", server.address);
        connection.send(format!("{head}{fields}\r\n").as_bytes());
        assert_eq!(connection.receive_head().status, 200, "{}", server.name());
        open.push(connection);
    }
    let each = (memory(server) - before) * 1024.0 / STREAMS as f64;
    report("http-crowd", "event streams", server.name(), "count", vec![STREAMS as f64]);
    report("http-crowd", "event streams", server.name(), "B each", vec![each]);
    time_calls(server, "event streams", || ());
}

/// Measures a server while clients send a head byte by byte, and never finish the head.
fn slow_clients(server: &Server) {
    let mut measured = Client::open(server, Dialect::Stateless);
    let before = memory(server);
    let mut slow: Vec<_> = (0..SLOW_CLIENTS).map(|_| Connection::open(&server.address)).collect();
    for connection in &mut slow {
        connection.send(b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ");
    }
    let mut turn = 0;
    time(&mut measured, server, "slow heads", || {
        // The server may have closed the connection.
        let _ = slow[turn % SLOW_CLIENTS].stream.write(b"x");
        turn += 1;
    });
    report("http-crowd", "slow heads", server.name(), "count", vec![SLOW_CLIENTS as f64]);
    report("http-crowd", "slow heads", server.name(), "KiB", vec![memory(server) - before]);
}

/// Measures a server while clients send calls, and never read the responses.
fn deaf_clients(server: &Server) {
    let mut measured = Client::open(server, Dialect::Stateless);
    let before = memory(server);
    let (count, text) = (DEAF_CLIENTS.0, inputs::prose(DEAF_CLIENTS.1));
    let mut deaf = Vec::new();
    for _ in 0..count {
        let mut client = Client::open(server, Dialect::Stateless);
        let request = client.request(&text);
        SockRef::from(&client.connection.stream).set_recv_buffer_size(1 << 12).expect("a socket");
        client.connection.stream.set_nonblocking(true).expect("a socket");
        deaf.push((client, request, 0));
    }
    // Send until four passes in a row over all clients send no bytes.
    let mut idle_passes = 0;
    while idle_passes < 4 {
        let mut is_idle = true;
        for (client, request, sent) in &mut deaf {
            while *sent < SENT_BY_DEAF {
                match client.connection.stream.write(&request[*sent % request.len()..]) {
                    Ok(n) => (*sent, is_idle) = (*sent + n, false),
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(error) => panic!("{}: {error}", server.name()),
                }
            }
        }
        sleep(Duration::from_millis(50));
        idle_passes = if is_idle { idle_passes + 1 } else { 0 };
    }
    time(&mut measured, server, "deaf clients", || ());
    report("http-crowd", "deaf clients", server.name(), "count", vec![count as f64]);
    report("http-crowd", "deaf clients", server.name(), "KiB", vec![memory(server) - before]);
}

/// Times the calls of a new client.
fn time_calls(server: &Server, case: &str, between: impl FnMut()) {
    time(&mut Client::open(server, Dialect::Stateless), server, case, between);
}

/// Reports the median, the percentile 99 and the maximum of the times of calls. Runs `between` before each call.
fn time(client: &mut Client, server: &Server, case: &str, mut between: impl FnMut()) {
    let text = inputs::prose(16);
    let mut times = Vec::new();
    for _ in 0..CALLS {
        between();
        let start = Instant::now();
        client.send(&text);
        client.receive(&text);
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    for (unit, at) in [("ms p50", CALLS / 2), ("ms p99", CALLS * 99 / 100), ("ms maximum", CALLS - 1)] {
        report("http-crowd", case, server.name(), unit, vec![times[at]]);
    }
}

fn memory(server: &Server) -> f64 {
    server.process.anonymous()
}
