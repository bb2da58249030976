//! Peers that are slow, stop reading, or close within a message; for both roles.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Read, Write, pipe};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use crate::peer::{Peer, call, initialize};
use crate::time_limit::{TEST_TIMEOUT, within};
use mcp_proto::client::Connect;
use mcp_proto::json::Json;
use mcp_proto::server::{Event, Limits, ServerConfig, Tool, Tools};
use mcp_proto::{Millis, Revision};
use mcp_proto_std::{CallError, CallOptions, ClientHandle, ConnectError, Connector, Serve, ServerHandle};

static TOOLS: Tools =
    Tools::new(&[Tool::new("echo", "{}"), Tool::new("steps", "{}"), Tool::new("wait", "{}")]);
static CONFIG: ServerConfig = ServerConfig::new("test", "1").features(&[&TOOLS]);

fn handler(event: Event<'_>, server: &ServerHandle) {
    let Event::Call(call) = event else { return };
    match call.name() {
        "echo" => {
            let arguments = call.raw_arguments().to_string();
            call.text(arguments);
        }
        "steps" => server.run(call, |answer| {
            (1..=20u32).for_each(|step| answer.progress(step, None, "step"));
            answer.text("done");
        }),
        _ => server.run(call, |answer| _ = answer.sleep_unless_cancelled(TEST_TIMEOUT)),
    }
}

/// A stream that moves at most this number of bytes at a time, and pauses for this time before each transfer.
struct Trickle<S>(S, usize, Duration);

impl<S: Read> Read for Trickle<S> {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        thread::sleep(self.2);
        let most = bytes.len().min(self.1);
        self.0.read(&mut bytes[..most])
    }
}

impl<S: Write> Write for Trickle<S> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        thread::sleep(self.2);
        self.0.write(&bytes[..bytes.len().min(self.1)])
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

/// Connects a client and a server with [`Trickle`] streams.
fn pair(era: Connect, bytes: usize, rest: Duration) -> ClientHandle {
    let (input, requests) = pipe().unwrap();
    let (answers, output) = pipe().unwrap();
    thread::spawn(move || {
        Serve::new(&CONFIG).streams(Trickle(input, bytes, rest), Trickle(output, bytes, rest), handler)
    });
    let connector = Connector::new("test", "1").connect(era);
    connector.streams(Trickle(answers, bytes, rest), Trickle(requests, bytes, rest)).unwrap()
}

fn assert_works(client: &ClientHandle) {
    let arguments = r#"{"text":"ü\n"}"#;
    assert_eq!(client.call_json("echo", arguments).unwrap().text().as_deref(), Some(arguments));
    let mut steps = 0;
    let options = CallOptions::new().with_progress();
    let done = client.begin_json("steps", "{}", options).unwrap().wait_with(|_| steps += 1).unwrap();
    assert_eq!((steps, done.text().as_deref()), (20, Some("done")));
    client.ping().unwrap();
}

#[test]
fn byte_wise_streams_work_for_both_roles() {
    within(TEST_TIMEOUT, || {
        for era in [Connect::Handshake, Connect::Automatic] {
            let client = pair(era, 1, Duration::ZERO);
            assert_works(&client);
            client.close();
        }
    });
}

#[test]
fn slow_peer_works_and_timeouts_apply() {
    within(TEST_TIMEOUT, || {
        let client = pair(Connect::Automatic, 64, Duration::from_millis(2));
        assert_works(&client);
        // A request without a response does not delay other requests. The slot of the request is free after the
        // timeout.
        let short = CallOptions::new().timeout(Duration::from_millis(100));
        let pending = client.begin_json("wait", "{}", short).unwrap();
        assert_works(&client);
        assert_eq!(pending.wait(), Err(CallError::TimedOut));
        client.close();
    });
}

/// Sends `text` to a server, ends the server's input, and returns the server's output.
fn server_output(text: &str) -> String {
    let (here, there) = UnixStream::pair().unwrap();
    let server = thread::spawn(move || Serve::new(&CONFIG).stream(there, handler));
    (&here).write_all(text.as_bytes()).unwrap();
    here.shutdown(Shutdown::Write).unwrap();
    let mut output = String::new();
    BufReader::new(&here).read_to_string(&mut output).unwrap();
    server.join().unwrap().unwrap();
    output
}

#[test]
fn client_closing_mid_message_gets_earlier_responses() {
    within(TEST_TIMEOUT, || {
        let whole = initialize("2025-11-25", "{}") + &call(1, "echo", "{}");
        let half = call(2, "echo", "{}");
        for end in [0, 1, half.len() / 2, half.len() - 2] {
            let output = server_output(&format!("{whole}{}", &half[..end]));
            assert!(output.ends_with('\n') && output.contains(r#""id":1,"result""#), "{output}");
            assert!(!output.contains(r#""id":2"#), "{output}");
        }
        // The last line needs no newline.
        assert!(server_output(&format!("{whole}{}", half.trim_end())).contains(r#""id":2,"result""#));
    });
}

#[test]
fn client_disconnect_ends_all_workers() {
    within(TEST_TIMEOUT, || {
        let (mut peer, server) = Peer::connect(&CONFIG, 4, ("2025-11-25", "{}"), handler);
        // Three workers report progress and one waits.
        (1..=4).for_each(|id| peer.send(&call(id, if id == 4 { "wait" } else { "steps" }, "{}")));
        let start = Instant::now();
        peer.stream.shutdown(Shutdown::Both).unwrap();
        server.join().unwrap();
        assert!(start.elapsed() < TEST_TIMEOUT / 4, "{:?}", start.elapsed());
    });
}

#[test]
fn progress_waits_if_client_does_not_read_and_ends_at_stop() {
    within(TEST_TIMEOUT, || {
        static CHATTY: Tools = Tools::new(&[Tool::new("chat", "{}")]);
        static CONFIG: ServerConfig = ServerConfig::new("test", "1")
            .features(&[&CHATTY])
            .limits(Limits::DEFAULT.with_grace(Millis(300)));
        let stop = mcp_proto_std::Stop::new();
        let (ended, end) = channel();
        let serve = Serve::new(&CONFIG).longest_answer(64 << 10).stopped_by(&stop);
        let (mut peer, server) = Peer::with_server(serve, ("2025-11-25", "{}"), move |event, server| {
            let Event::Call(call) = event else { return };
            let ended = ended.clone();
            server.run(call, move |answer| {
                let message = "x".repeat(1000);
                let reports = (1u32..).take_while(|_| !answer.is_cancelled());
                let last = reports.inspect(|step| answer.progress(*step, None, &message)).last();
                ended.send(last.unwrap_or(0)).unwrap();
            });
        });
        (1..=3).for_each(|id| peer.send(&call(id, "chat", "{}")));
        assert!(end.recv_timeout(Duration::from_millis(200)).is_err());
        stop.within(Duration::from_millis(100));
        for last in end.iter().take(3) {
            assert!(last < 10_000, "the worker did not wait: {last}");
        }
        server.join().unwrap();
    });
}

/// Connects a client to a hand-written server that responds to the handshake byte by byte, then runs `then`.
fn connect_to_script(then: impl FnOnce(BufReader<UnixStream>, UnixStream) + Send + 'static) -> ClientHandle {
    let (here, there) = UnixStream::pair().unwrap();
    thread::spawn(move || {
        let mut lines = BufReader::new(there.try_clone().unwrap());
        lines.read_line(&mut String::new()).unwrap();
        write_bytewise(
            &there,
            r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}"#,
        );
        write_bytewise(&there, "\n");
        then(lines, there);
    });
    let client = Connector::new("test", "1").connect(Connect::Handshake).stream(here).unwrap();
    assert_eq!(client.server().revision, Revision::V2025_11_25);
    client
}

fn write_bytewise(mut stream: &UnixStream, text: &str) {
    text.bytes().for_each(|byte| stream.write_all(&[byte]).unwrap());
}

#[test]
fn server_closing_mid_message_ends_every_call() {
    within(TEST_TIMEOUT, || {
        for whole in [true, false] {
            let client = connect_to_script(move |mut lines, there| {
                let mut line = String::new();
                while !line.contains("tools/call") {
                    line.clear();
                    lines.read_line(&mut line).unwrap();
                }
                let id = Json::parse(line.as_bytes()).unwrap().get("id").unwrap();
                let half = format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"half"#
                );
                write_bytewise(&there, &half);
                if whole {
                    write_bytewise(&there, " no more\"}]}}\n");
                }
                there.shutdown(Shutdown::Both).unwrap();
            });
            let pending: Vec<_> = (0..3).map(|_| client.begin_json("t", "{}", CallOptions::new())).collect();
            let ends: Vec<_> = pending.into_iter().map(|call| call.and_then(|call| call.wait())).collect();
            let closed = ends.iter().filter(|end| **end == Err(CallError::Closed)).count();
            assert_eq!(closed, if whole { 2 } else { 3 }, "{ends:?}");
            client.close();
        }
    });
}

#[test]
fn server_closing_during_handshake_is_an_error() {
    within(TEST_TIMEOUT, || {
        for output in ["", "{\"jsonrpc\":\"2.0\",\"id\":1,\"res", "no JSON at all\n"] {
            let (here, there) = UnixStream::pair().unwrap();
            let server = thread::spawn(move || {
                BufReader::new(&there).read_line(&mut String::new()).unwrap();
                write_bytewise(&there, output);
            });
            let outcome = Connector::new("test", "1").connect(Connect::Handshake).stream(here);
            let cause = match outcome {
                Err(ConnectError::InvalidOutput { line, error }) if line == output.trim() => *error,
                Err(error) if output != "no JSON at all\n" => error,
                other => panic!("{other:?}"),
            };
            assert!(matches!(cause, ConnectError::Closed(None)), "{cause:?}");
            server.join().unwrap();
        }
    });
}

#[test]
fn client_recovers_when_server_reads_again() {
    within(TEST_TIMEOUT, || {
        let (go, wait) = channel::<()>();
        let client = connect_to_script(move |lines, there| {
            wait.recv().unwrap();
            for line in lines.lines().map_while(Result::ok) {
                if let Some(id) =
                    line.strip_prefix(r#"{"jsonrpc":"2.0","id":"#).filter(|line| line.contains("ping"))
                {
                    let id = id.split(',').next().unwrap();
                    write_bytewise(&there, &format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}\n"));
                }
            }
        });
        let large = format!(r#"{{"x":"{}"}}"#, "x".repeat(1 << 20));
        let short = CallOptions::new().timeout(Duration::from_millis(200));
        let calls: Vec<_> = (0..3).map(|_| client.begin_json("t", &large, short).unwrap()).collect();
        let cancelled = client.begin_json("t", &large, CallOptions::new()).unwrap();
        cancelled.cancel("enough");
        assert_eq!(cancelled.wait(), Err(CallError::Cancelled));
        for call in calls {
            assert_eq!(call.wait(), Err(CallError::TimedOut));
        }
        go.send(()).unwrap();
        client.ping().unwrap();
        client.close_within(Duration::from_secs(1));
    });
}

/// A reader that returns one message of the server per read.
struct ServerOutput(std::sync::mpsc::Receiver<String>);

impl Read for ServerOutput {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        let text = self.0.recv().unwrap_or_default();
        bytes[..text.len()].copy_from_slice(text.as_bytes());
        Ok(text.len())
    }
}

/// The output of a client whose server closes its input at the second call, and then responds to the first call.
struct StopsReading {
    responses: Option<std::sync::mpsc::Sender<String>>,
    /// The id of the first call.
    first: Option<String>,
    received: std::sync::mpsc::Sender<()>,
}

impl Write for StopsReading {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let sender = self.responses.as_ref().unwrap();
        let text = String::from_utf8_lossy(bytes);
        let id = |line: &str| Json::parse(line.as_bytes()).unwrap().get("id").unwrap().to_string();
        let call = text.lines().find(|line| line.contains("tools/call")).map(id);
        if let (Some(first), Some(_)) = (&self.first, &call) {
            let (sender, first) = (self.responses.take().unwrap(), first.clone());
            thread::spawn(move || {
                thread::sleep(Duration::from_millis(50));
                sender
                    .send(format!("{{\"jsonrpc\":\"2.0\",\"id\":{first},\"result\":{{\"content\":[]}}}}\n"))
                    .unwrap();
            });
            return Err(std::io::ErrorKind::BrokenPipe.into());
        }
        if call.is_some() {
            self.first = call;
            self.received.send(()).unwrap();
        }
        if text.contains("\"initialize\"") {
            let result = r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}"#;
            sender.send(format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{result}}}\n")).unwrap();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn response_after_failed_write_is_still_received() {
    within(TEST_TIMEOUT, || {
        let (sender, messages) = channel();
        let connector = Connector::new("test", "1").connect(Connect::Handshake);
        let (received, is_received) = channel();
        let output = StopsReading { responses: Some(sender), first: None, received };
        let client = connector.streams(ServerOutput(messages), output).unwrap();
        let first = client.begin_json("t", "{}", CallOptions::new()).unwrap();
        is_received.recv().unwrap();
        assert_eq!(client.call_json("t", "{}"), Err(CallError::Closed));
        assert!(first.wait().is_ok(), "the response was sent before the end");
    });
}

#[test]
fn idle_stream_with_a_read_timeout_stays_open() {
    within(TEST_TIMEOUT, || {
        let (mut here, there) = UnixStream::pair().unwrap();
        there.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        // The wrapper hides the socket, so a thread of the pump reads.
        let wrap = |stream| Trickle(stream, 4096, Duration::ZERO);
        let (input, output) = (wrap(there.try_clone().unwrap()), wrap(there));
        let server = thread::spawn(move || Serve::new(&CONFIG).streams(input, output, handler));
        thread::sleep(Duration::from_millis(200));
        here.write_all(initialize("2025-11-25", "{}").as_bytes()).unwrap();
        let mut line = String::new();
        BufReader::new(&here).read_line(&mut line).unwrap();
        assert!(line.contains("protocolVersion"), "{line}");
        here.shutdown(Shutdown::Write).unwrap();
        server.join().unwrap().unwrap();
    });
}

#[test]
fn long_response_to_nonblocking_stream_is_complete() {
    within(TEST_TIMEOUT, || {
        for write_timeout in [None, Some(Duration::from_millis(10))] {
            let (mut here, there) = UnixStream::pair().unwrap();
            there.set_nonblocking(write_timeout.is_none()).unwrap();
            there.set_write_timeout(write_timeout).unwrap();
            // The wrapper hides the socket, so threads of the pump read and write.
            let wrap = |stream| Trickle(stream, 1 << 20, Duration::ZERO);
            let (input, output) = (wrap(there.try_clone().unwrap()), wrap(there));
            let server = thread::spawn(move || Serve::new(&CONFIG).streams(input, output, handler));
            let arguments = format!(r#"{{"text":"{}"}}"#, "x".repeat(2_000_000));
            let requests = initialize("2025-11-25", "{}") + &call(1, "echo", &arguments);
            here.write_all(requests.as_bytes()).unwrap();
            // Wait until the output of the server is full.
            thread::sleep(Duration::from_millis(200));
            here.shutdown(Shutdown::Write).unwrap();
            let mut output = String::new();
            here.read_to_string(&mut output).unwrap();
            assert!(output.ends_with('\n') && output.len() > 2_000_000, "{} bytes", output.len());
            server.join().unwrap().unwrap();
        }
    });
}

#[test]
fn socket_closes_before_the_wait_for_workers() {
    static HASTY: ServerConfig =
        ServerConfig::new("test", "1").features(&[&TOOLS]).limits(Limits::DEFAULT.with_grace(Millis(10)));
    within(TEST_TIMEOUT, || {
        let (mut here, there) = UnixStream::pair().unwrap();
        let server = thread::spawn(move || {
            // The worker ignores its cancellation, so the server waits for one second.
            let handler = |event: Event<'_>, server: &ServerHandle| {
                if let Event::Call(call) = event {
                    server.run(call, |_| thread::sleep(Duration::from_secs(5)));
                }
            };
            Serve::new(&HASTY).stream(there, handler).unwrap();
            Instant::now()
        });
        here.write_all((initialize("2025-11-25", "{}") + &call(1, "wait", "{}")).as_bytes()).unwrap();
        here.shutdown(Shutdown::Write).unwrap();
        here.read_to_string(&mut String::new()).unwrap();
        let closed = Instant::now();
        assert!(server.join().unwrap() > closed);
    });
}
