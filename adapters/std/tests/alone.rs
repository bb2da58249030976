//! What one thread does that reads and writes by itself: it never waits for one of the two while the other is needed.
#![cfg(unix)]

use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Read, Write, pipe};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::hard::{HARD, within};
use crate::peer::{call, initialize};
use mcp_proto::server::{Change, Event, ServerConfig, Tool, Tools};
use mcp_proto_std::{Serve, ServeError, ServerHandle, Stop};

static TOOLS: Tools =
    Tools::new(&[Tool::new("echo", "{}"), Tool::new("later", "{}"), Tool::new("panic", "{}")]).list_changed();
static INFO: ServerConfig = ServerConfig::new("test", "1").features(&[&TOOLS]);

fn handler(event: Event<'_>, server: &ServerHandle) {
    let Event::Call(call) = event else { return };
    match call.name() {
        "later" => server.run(call, |answer| {
            thread::sleep(Duration::from_millis(100));
            answer.text("later");
        }),
        "panic" => panic!("as it should"),
        _ => {
            let text = call.raw_arguments().to_string();
            call.text(text);
        }
    }
}

type Served = JoinHandle<Result<(), ServeError>>;

/// A server between two pipes, as every server on stdin and stdout is.
fn piped(
    serve: Serve<'static>,
    handler: impl FnMut(Event<'_>, &ServerHandle) + Send + 'static,
) -> (PipeWriter, BufReader<PipeReader>, Served) {
    let (input, requests) = pipe().unwrap();
    let (answers, output) = pipe().unwrap();
    let server = thread::spawn(move || serve.streams(input, output, handler));
    (requests, BufReader::new(answers), server)
}

fn line(lines: &mut impl BufRead) -> String {
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    line
}

/// Writes some megabytes of requests, and reads nothing before all are written.
fn says_all_first(mut requests: impl Write, mut answers: impl BufRead) {
    requests.write_all(initialize("2025-11-25", "{}").as_bytes()).unwrap();
    let filler = format!(r#"{{"a":"{}"}}"#, "x".repeat(2000));
    for id in 1..=2000 {
        requests.write_all(call(id, "echo", &filler).as_bytes()).unwrap();
    }
    drop(requests);
    assert!(line(&mut answers).contains("protocolVersion"));
    for id in 1..=2000 {
        let line = line(&mut answers);
        assert!(
            line.starts_with(&format!(r#"{{"jsonrpc":"2.0","id":{id},"#)) && line.ends_with("}\n"),
            "{line}"
        );
    }
    assert_eq!(line(&mut answers), "");
}

#[test]
fn a_client_may_say_all_before_it_reads_the_first_answer() {
    within(HARD, || {
        let (requests, answers, server) = piped(Serve::new(&INFO), handler);
        says_all_first(requests, answers);
        server.join().unwrap().unwrap();
        let (here, there) = UnixStream::pair().unwrap();
        let server = thread::spawn(move || Serve::new(&INFO).stream(there, handler));
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
        says_all_first(Half(here.try_clone().unwrap()), BufReader::new(here));
        server.join().unwrap().unwrap();
    });
}

#[test]
fn a_handle_that_is_given_away_is_heard_and_one_that_is_gone_has_been() {
    within(HARD, || {
        let (hand_over, handles) = channel();
        let mut hand_over: Option<Sender<ServerHandle>> = Some(hand_over);
        let (mut requests, mut answers, server) = piped(Serve::new(&INFO), move |event, server| {
            if let Event::Ready = event {
                hand_over.take().unwrap().send(server.clone()).unwrap();
            }
            handler(event, server);
        });
        requests.write_all(initialize("2025-11-25", "{}").as_bytes()).unwrap();
        assert!(line(&mut answers).contains("protocolVersion"));
        let handle = handles.recv().unwrap();
        // Nothing comes in from now on.
        thread::sleep(Duration::from_millis(50));
        handle.changed(Change::Tools);
        assert!(line(&mut answers).contains("list_changed"));
        // What was said with the last handle just before it was gone is heard, too, however the two race.
        handle.changed(Change::Tools);
        drop(handle);
        assert!(line(&mut answers).contains("list_changed"));
        for id in 1..=50 {
            requests.write_all(call(id, "echo", "{}").as_bytes()).unwrap();
            assert!(line(&mut answers).contains(&format!(r#""id":{id},"result""#)));
        }
        // And a worker that is about while nothing else is.
        requests.write_all(call(100, "later", "{}").as_bytes()).unwrap();
        assert!(line(&mut answers).contains(r#""id":100,"result""#));
        requests.write_all(call(101, "echo", "{}").as_bytes()).unwrap();
        assert!(line(&mut answers).contains(r#""id":101,"result""#));
        drop(requests);
        server.join().unwrap().unwrap();
    });
}

#[test]
fn a_handle_that_is_used_and_dropped_at_once_is_never_missed() {
    within(HARD, || {
        let (mut requests, mut answers, server) = piped(Serve::new(&INFO), |event, server| {
            if let Event::Call(call) = event {
                call.text("");
                let server = server.clone();
                thread::spawn(move || server.changed(Change::Tools));
            }
        });
        requests.write_all(initialize("2025-11-25", "{}").as_bytes()).unwrap();
        assert!(line(&mut answers).contains("protocolVersion"));
        for id in 1..=2000 {
            requests.write_all(call(id, "echo", "{}").as_bytes()).unwrap();
            let both = [line(&mut answers), line(&mut answers)].concat();
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
fn a_server_is_stopped_while_nothing_else_is_about() {
    within(HARD, || {
        let stop = Stop::new();
        let (mut requests, mut answers, server) = piped(Serve::new(&INFO).stopped_by(&stop), handler);
        requests.write_all(initialize("2025-11-25", "{}").as_bytes()).unwrap();
        assert!(line(&mut answers).contains("protocolVersion"));
        thread::sleep(Duration::from_millis(50));
        stop.within(Duration::from_millis(10));
        server.join().unwrap().unwrap();
        assert_eq!(line(&mut answers), "");
    });
}

#[test]
fn a_client_that_never_reads_cannot_keep_a_server_that_was_stopped() {
    within(HARD, || {
        let stop = Stop::new();
        let (mut requests, answers, server) = piped(Serve::new(&INFO).stopped_by(&stop), handler);
        requests.write_all(initialize("2025-11-25", "{}").as_bytes()).unwrap();
        let filler = format!(r#"{{"a":"{}"}}"#, "x".repeat(100_000));
        (1..=10).for_each(|id| requests.write_all(call(id, "echo", &filler).as_bytes()).unwrap());
        let start = Instant::now();
        stop.within(Duration::ZERO);
        server.join().unwrap().unwrap();
        assert!(start.elapsed() < Duration::from_secs(10));
        drop(answers);
    });
}

#[test]
fn a_handler_that_panics_ends_both_streams_and_goes_on() {
    within(HARD, || {
        let (mut requests, mut answers, server) = piped(Serve::new(&INFO), handler);
        requests.write_all(initialize("2025-11-25", "{}").as_bytes()).unwrap();
        assert!(line(&mut answers).contains("protocolVersion"));
        requests.write_all(call(1, "panic", "{}").as_bytes()).unwrap();
        assert!(server.join().is_err());
        assert_eq!(line(&mut answers), "");
    });
}

#[test]
fn a_stream_that_panics_is_as_good_as_closed() {
    struct Panics;
    impl Read for Panics {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            panic!("as it should, in a read")
        }
    }
    impl Write for Panics {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            panic!("as it should, in a write")
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    within(HARD, || {
        let (_, output) = pipe().unwrap();
        Serve::new(&INFO).streams(Panics, output, handler).unwrap();
        let (input, mut requests) = pipe().unwrap();
        requests.write_all(initialize("2025-11-25", "{}").as_bytes()).unwrap();
        // It ends though its input does not.
        Serve::new(&INFO).streams(input, Panics, handler).unwrap();
        drop(requests);
    });
}

#[test]
fn streams_that_somebody_has_made_non_blocking_work_as_well() {
    within(HARD, || {
        let (mut here, there) = UnixStream::pair().unwrap();
        there.set_nonblocking(true).unwrap();
        let server = thread::spawn(move || Serve::new(&INFO).stream(there, handler));
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
fn what_a_client_says_before_it_is_gone_is_heard_though_it_does_not_read() {
    within(HARD, || {
        let (heard, calls) = channel();
        let (mut requests, answers, server) = piped(Serve::new(&INFO), move |event, server| {
            if let Event::Call(call) = &event {
                heard.send(call.name().to_owned()).unwrap();
            }
            handler(event, server);
        });
        drop(answers);
        requests.write_all(initialize("2025-11-25", "{}").as_bytes()).unwrap();
        // A write has noticed it by now.
        thread::sleep(Duration::from_millis(50));
        requests.write_all(call(1, "echo", "{}").as_bytes()).unwrap();
        assert_eq!(calls.recv().unwrap(), "echo");
        // It ends though its input does not.
        server.join().unwrap().unwrap();
        drop(requests);
    });
}

#[test]
fn a_file_is_as_good_as_a_pipe() {
    let directory = std::env::temp_dir().join(format!("mcp-proto-std-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let (input, output) = (directory.join("input"), directory.join("output"));
    let requests: String =
        (1..=5000).map(|id| call(id, "echo", r#"{"text":"something to fill the file with"}"#)).collect();
    std::fs::write(&input, initialize("2025-11-25", "{}") + &requests).unwrap();
    let (read, write) = (std::fs::File::open(&input).unwrap(), std::fs::File::create(&output).unwrap());
    within(HARD, move || Serve::new(&INFO).streams(read, write, handler).unwrap());
    let answers = std::fs::read_to_string(&output).unwrap();
    assert_eq!(answers.lines().count(), 5001);
    assert!(answers.lines().last().unwrap().contains(r#""id":5000,"result""#));
    std::fs::remove_dir_all(directory).unwrap();
}
