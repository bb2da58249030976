//! Servers on one thread: reading and writing never block each other.
#![cfg(unix)]

use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Read, Write, pipe};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::peer::{call, initialize};
use crate::time_limit::{TEST_TIMEOUT, within};
use mcp_proto::Millis;
use mcp_proto::server::{Change, Event, Limits, ServerConfig, Tool, Tools};
use mcp_proto_std::{Serve, ServeError, ServerHandle, Stop};

static TOOLS: Tools =
    Tools::new(&[Tool::new("echo", "{}"), Tool::new("later", "{}"), Tool::new("panic", "{}")]).list_changed();
static CONFIG: ServerConfig =
    ServerConfig::new("test", "1").features(&[&TOOLS]).limits(Limits::DEFAULT.with_grace(Millis(500)));

fn handler(event: Event<'_>, server: &ServerHandle) {
    let Event::Call(call) = event else { return };
    match call.name() {
        "later" => server.run(call, |answer| {
            thread::sleep(Duration::from_millis(100));
            answer.text("later");
        }),
        "panic" => panic!("expected panic"),
        _ => {
            let text = call.raw_arguments().to_string();
            call.text(text);
        }
    }
}

type Served = JoinHandle<Result<(), ServeError>>;

/// Starts a server between two pipes, like a server on stdin and stdout.
fn start_piped(
    serve: Serve<'static>,
    handler: impl FnMut(Event<'_>, &ServerHandle) + Send + 'static,
) -> (PipeWriter, BufReader<PipeReader>, Served) {
    let (input, requests) = pipe().unwrap();
    let (responses, output) = pipe().unwrap();
    let server = thread::spawn(move || serve.streams(input, output, handler));
    (requests, BufReader::new(responses), server)
}

fn line(lines: &mut impl BufRead) -> String {
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    line
}

/// Writes megabytes of requests, and then reads the responses.
fn write_all_then_read(mut requests: impl Write, mut responses: impl BufRead) {
    requests.write_all(initialize("2025-11-25", "{}").as_bytes()).unwrap();
    let filler = format!(r#"{{"a":"{}"}}"#, "x".repeat(2000));
    for id in 1..=2000 {
        requests.write_all(call(id, "echo", &filler).as_bytes()).unwrap();
    }
    drop(requests);
    assert!(line(&mut responses).contains("protocolVersion"));
    for id in 1..=2000 {
        let line = line(&mut responses);
        assert!(
            line.starts_with(&format!(r#"{{"jsonrpc":"2.0","id":{id},"#)) && line.ends_with("}\n"),
            "{line}"
        );
    }
    assert_eq!(line(&mut responses), "");
}

#[test]
fn client_may_write_all_requests_before_reading() {
    within(TEST_TIMEOUT, || {
        let (requests, responses, server) = start_piped(Serve::new(&CONFIG), handler);
        write_all_then_read(requests, responses);
        server.join().unwrap().unwrap();
        let (here, there) = UnixStream::pair().unwrap();
        let server = thread::spawn(move || Serve::new(&CONFIG).stream(there, handler));
        struct Half(UnixStream);
        impl Write for Half {
            fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
                self.0.write(bytes)
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        impl Drop for Half {
            fn drop(&mut self) {
                self.0.shutdown(std::net::Shutdown::Write).unwrap();
            }
        }
        write_all_then_read(Half(here.try_clone().unwrap()), BufReader::new(here));
        server.join().unwrap().unwrap();
    });
}

#[test]
fn commands_of_cloned_and_dropped_handles_arrive() {
    within(TEST_TIMEOUT, || {
        let (hand_over, handles) = channel();
        let mut hand_over: Option<Sender<ServerHandle>> = Some(hand_over);
        let (mut requests, mut responses, server) = start_piped(Serve::new(&CONFIG), move |event, server| {
            if let Event::Ready = event {
                hand_over.take().unwrap().send(server.clone()).unwrap();
            }
            handler(event, server);
        });
        requests.write_all(initialize("2025-11-25", "{}").as_bytes()).unwrap();
        assert!(line(&mut responses).contains("protocolVersion"));
        let handle = handles.recv().unwrap();
        // The client sends nothing from here on.
        thread::sleep(Duration::from_millis(50));
        handle.changed(Change::Tools);
        assert!(line(&mut responses).contains("list_changed"));
        // A command of the last handle arrives, even if the handle is dropped immediately afterwards.
        handle.changed(Change::Tools);
        drop(handle);
        assert!(line(&mut responses).contains("list_changed"));
        for id in 1..=50 {
            requests.write_all(call(id, "echo", "{}").as_bytes()).unwrap();
            assert!(line(&mut responses).contains(&format!(r#""id":{id},"result""#)));
        }
        // A worker runs while nothing else happens.
        requests.write_all(call(100, "later", "{}").as_bytes()).unwrap();
        assert!(line(&mut responses).contains(r#""id":100,"result""#));
        requests.write_all(call(101, "echo", "{}").as_bytes()).unwrap();
        assert!(line(&mut responses).contains(r#""id":101,"result""#));
        drop(requests);
        server.join().unwrap().unwrap();
    });
}

#[test]
fn command_before_handle_drop_is_never_lost() {
    within(TEST_TIMEOUT, || {
        let (mut requests, mut responses, server) = start_piped(Serve::new(&CONFIG), |event, server| {
            if let Event::Call(call) = event {
                call.text("");
                let server = server.clone();
                thread::spawn(move || server.changed(Change::Tools));
            }
        });
        requests.write_all(initialize("2025-11-25", "{}").as_bytes()).unwrap();
        assert!(line(&mut responses).contains("protocolVersion"));
        for id in 1..=2000 {
            requests.write_all(call(id, "echo", "{}").as_bytes()).unwrap();
            let both = [line(&mut responses), line(&mut responses)].concat();
            assert!(
                both.contains("list_changed") && both.contains(&format!(r#""id":{id},"result""#)),
                "{both}"
            );
        }
        drop(requests);
        server.join().unwrap().unwrap();
    });
}

#[test]
fn idle_server_is_stopped() {
    within(TEST_TIMEOUT, || {
        let stop = Stop::new();
        let (mut requests, mut responses, server) =
            start_piped(Serve::new(&CONFIG).stopped_by(&stop), handler);
        requests.write_all(initialize("2025-11-25", "{}").as_bytes()).unwrap();
        assert!(line(&mut responses).contains("protocolVersion"));
        thread::sleep(Duration::from_millis(50));
        stop.within(Duration::from_millis(10));
        server.join().unwrap().unwrap();
        assert_eq!(line(&mut responses), "");
    });
}

#[test]
fn stop_works_when_client_never_reads() {
    within(TEST_TIMEOUT, || {
        let stop = Stop::new();
        let (mut requests, responses, server) = start_piped(Serve::new(&CONFIG).stopped_by(&stop), handler);
        requests.write_all(initialize("2025-11-25", "{}").as_bytes()).unwrap();
        let filler = format!(r#"{{"a":"{}"}}"#, "x".repeat(100_000));
        (1..=10).for_each(|id| requests.write_all(call(id, "echo", &filler).as_bytes()).unwrap());
        let start = Instant::now();
        stop.within(Duration::ZERO);
        server.join().unwrap().unwrap();
        assert!(start.elapsed() < Duration::from_secs(10));
        drop(responses);
    });
}

#[test]
fn handler_panic_closes_streams_and_propagates() {
    within(TEST_TIMEOUT, || {
        let (mut requests, mut responses, server) = start_piped(Serve::new(&CONFIG), handler);
        requests.write_all(initialize("2025-11-25", "{}").as_bytes()).unwrap();
        assert!(line(&mut responses).contains("protocolVersion"));
        requests.write_all(call(1, "panic", "{}").as_bytes()).unwrap();
        assert!(server.join().is_err());
        assert_eq!(line(&mut responses), "");
    });
}

#[test]
fn panicking_stream_counts_as_closed() {
    struct Panics;
    impl Read for Panics {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            panic!("expected panic, in a read")
        }
    }
    impl Write for Panics {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            panic!("expected panic, in a write")
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    within(TEST_TIMEOUT, || {
        let (_, output) = pipe().unwrap();
        Serve::new(&CONFIG).streams(Panics, output, handler).unwrap();
        let (input, mut requests) = pipe().unwrap();
        requests.write_all(initialize("2025-11-25", "{}").as_bytes()).unwrap();
        // The server ends while its input is open.
        Serve::new(&CONFIG).streams(input, Panics, handler).unwrap();
        drop(requests);
    });
}

#[test]
fn nonblocking_streams_work() {
    within(TEST_TIMEOUT, || {
        let (mut here, there) = UnixStream::pair().unwrap();
        there.set_nonblocking(true).unwrap();
        let server = thread::spawn(move || Serve::new(&CONFIG).stream(there, handler));
        here.write_all(initialize("2025-11-25", "{}").as_bytes()).unwrap();
        let mut lines = BufReader::new(here.try_clone().unwrap());
        assert!(line(&mut lines).contains("protocolVersion"));
        for id in 1..=10 {
            thread::sleep(Duration::from_millis(2));
            here.write_all(call(id, "echo", "{}").as_bytes()).unwrap();
            assert!(line(&mut lines).contains(r#""result""#));
        }
        drop((here, lines));
        server.join().unwrap().unwrap();
    });
}

#[test]
fn requests_are_read_after_client_stops_reading() {
    within(TEST_TIMEOUT, || {
        let (sender, calls) = channel();
        let (mut requests, responses, server) = start_piped(Serve::new(&CONFIG), move |event, server| {
            if let Event::Call(call) = &event {
                sender.send(call.name().to_owned()).unwrap();
            }
            handler(event, server);
        });
        drop(responses);
        requests.write_all(initialize("2025-11-25", "{}").as_bytes()).unwrap();
        // Wait until a write of the server has failed.
        thread::sleep(Duration::from_millis(50));
        requests.write_all(call(1, "echo", "{}").as_bytes()).unwrap();
        assert_eq!(calls.recv().unwrap(), "echo");
        // The server ends while its input is open.
        server.join().unwrap().unwrap();
        drop(requests);
    });
}

#[test]
fn files_work_like_pipes() {
    let directory = std::env::temp_dir().join(format!("mcp-proto-std-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let (input, output) = (directory.join("input"), directory.join("output"));
    let requests: String =
        (1..=5000).map(|id| call(id, "echo", r#"{"text":"something to fill the file with"}"#)).collect();
    std::fs::write(&input, initialize("2025-11-25", "{}") + &requests).unwrap();
    let (read, write) = (std::fs::File::open(&input).unwrap(), std::fs::File::create(&output).unwrap());
    within(TEST_TIMEOUT, move || Serve::new(&CONFIG).streams(read, write, handler).unwrap());
    let responses = std::fs::read_to_string(&output).unwrap();
    assert_eq!(responses.lines().count(), 5001);
    assert!(responses.lines().last().unwrap().contains(r#""id":5000,"result""#));
    std::fs::remove_dir_all(directory).unwrap();
}
