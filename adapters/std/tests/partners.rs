//! Partners that are slow, stop reading, close in the middle, or send one byte at a time; for both roles.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Read, Write, pipe};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use crate::hard::{HARD, within};
use crate::peer::{Peer, call, initialize};
use mcp_proto::Revision;
use mcp_proto::client::Connect;
use mcp_proto::json::Json;
use mcp_proto::server::{Event, ServerConfig, Tool, Tools};
use mcp_proto_std::{CallError, CallOptions, ClientHandle, ConnectError, Connector, Serve, ServerHandle};

static TOOLS: Tools =
    Tools::new(&[Tool::new("echo", "{}"), Tool::new("steps", "{}"), Tool::new("wait", "{}")]);
static INFO: ServerConfig = ServerConfig::new("test", "1").features(&[&TOOLS]);

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
        _ => server.run(call, |answer| _ = answer.sleep_unless_cancelled(HARD)),
    }
}

/// A stream that takes and gives a few bytes at a time, and rests between.
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

/// A client and a server, each with streams of this kind.
fn pair(era: Connect, bytes: usize, rest: Duration) -> ClientHandle {
    let (input, requests) = pipe().unwrap();
    let (answers, output) = pipe().unwrap();
    thread::spawn(move || {
        Serve::new(&INFO).streams(Trickle(input, bytes, rest), Trickle(output, bytes, rest), handler)
    });
    let connector = Connector::new("test", "1").connect(era);
    connector.streams(Trickle(answers, bytes, rest), Trickle(requests, bytes, rest)).unwrap()
}

fn works(client: &ClientHandle) {
    let arguments = r#"{"text":"ü\n"}"#;
    assert_eq!(client.call_json("echo", arguments).unwrap().text().as_deref(), Some(arguments));
    let mut steps = 0;
    let options = CallOptions::new().with_progress();
    let done = client.begin_json("steps", "{}", options).unwrap().wait_with(|_| steps += 1).unwrap();
    assert_eq!((steps, done.text().as_deref()), (20, Some("done")));
    client.ping().unwrap();
}

#[test]
fn one_byte_at_a_time_is_as_good_as_many_for_both_roles() {
    within(HARD, || {
        for era in [Connect::Handshake, Connect::Automatic] {
            let client = pair(era, 1, Duration::ZERO);
            works(&client);
            client.close();
        }
    });
}

#[test]
fn a_slow_partner_is_waited_for() {
    within(HARD, || {
        let client = pair(Connect::Automatic, 64, Duration::from_millis(2));
        works(&client);
        // Others are not held up by one that nobody answers, and whoever gives it up is free at once.
        let hasty = CallOptions::new().timeout(Duration::from_millis(100));
        let pending = client.begin_json("wait", "{}", hasty).unwrap();
        works(&client);
        assert_eq!(pending.wait(), Err(CallError::TimedOut));
        client.close();
    });
}

/// Sends this to a server, and closes. What it says comes back.
fn server_hears(text: &str) -> String {
    let (here, there) = UnixStream::pair().unwrap();
    let server = thread::spawn(move || Serve::new(&INFO).stream(there, handler));
    (&here).write_all(text.as_bytes()).unwrap();
    here.shutdown(Shutdown::Write).unwrap();
    let mut said = String::new();
    BufReader::new(&here).read_to_string(&mut said).unwrap();
    server.join().unwrap().unwrap();
    said
}

#[test]
fn a_client_that_closes_in_the_middle_has_the_answers_to_what_was_whole() {
    within(HARD, || {
        let whole = initialize("2025-11-25", "{}") + &call(1, "echo", "{}");
        let half = call(2, "echo", "{}");
        for end in [0, 1, half.len() / 2, half.len() - 2] {
            let said = server_hears(&format!("{whole}{}", &half[..end]));
            assert!(said.ends_with('\n') && said.contains(r#""id":1,"result""#), "{said}");
            assert!(!said.contains(r#""id":2"#), "{said}");
        }
        // The last line needs no newline.
        assert!(server_hears(&format!("{whole}{}", half.trim_end())).contains(r#""id":2,"result""#));
    });
}

#[test]
fn a_client_that_is_gone_at_once_takes_nothing_with_it() {
    within(HARD, || {
        let (mut peer, server) = Peer::connect(&INFO, 4, ("2025-11-25", "{}"), handler);
        // Workers that report, and one that waits: all of them end.
        (1..=4).for_each(|id| peer.send(&call(id, if id == 4 { "wait" } else { "steps" }, "{}")));
        let start = Instant::now();
        peer.stream.shutdown(Shutdown::Both).unwrap();
        server.join().unwrap();
        assert!(start.elapsed() < HARD / 4, "{:?}", start.elapsed());
    });
}

#[test]
fn workers_that_report_to_a_client_that_does_not_read_wait_and_can_be_ended() {
    within(HARD, || {
        static CHATTY: Tools = Tools::new(&[Tool::new("chat", "{}")]);
        static INFO: ServerConfig = ServerConfig::new("test", "1").features(&[&CHATTY]);
        let stop = mcp_proto_std::Stop::new();
        let (ended, end) = channel();
        let serve = Serve::new(&INFO).longest_answer(64 << 10).stopped_by(&stop);
        let (mut peer, server) = Peer::from_config(serve, ("2025-11-25", "{}"), move |event, server| {
            let Event::Call(call) = event else { return };
            let ended = ended.clone();
            server.run(call, move |answer| {
                let message = "x".repeat(1000);
                let steps = (1u32..).take_while(|_| !answer.is_cancelled());
                let last = steps.inspect(|step| answer.progress(*step, None, &message)).last();
                ended.send(last.unwrap_or(0)).unwrap();
            });
        });
        (1..=3).for_each(|id| peer.send(&call(id, "chat", "{}")));
        assert!(end.recv_timeout(Duration::from_millis(500)).is_err());
        stop.within(Duration::from_millis(100));
        for last in end.iter().take(3) {
            assert!(last < 10_000, "it was held back: {last}");
        }
        server.join().unwrap();
    });
}

/// A server by hand: it answers the handshake, one byte at a time, and gives its streams away.
fn by_hand(then: impl FnOnce(BufReader<UnixStream>, UnixStream) + Send + 'static) -> ClientHandle {
    let (here, there) = UnixStream::pair().unwrap();
    thread::spawn(move || {
        let mut lines = BufReader::new(there.try_clone().unwrap());
        lines.read_line(&mut String::new()).unwrap();
        slowly(
            &there,
            r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}"#,
        );
        slowly(&there, "\n");
        then(lines, there);
    });
    let client = Connector::new("test", "1").connect(Connect::Handshake).stream(here).unwrap();
    assert_eq!(client.server().revision, Revision::V2025_11_25);
    client
}

fn slowly(mut stream: &UnixStream, text: &str) {
    text.bytes().for_each(|byte| stream.write_all(&[byte]).unwrap());
}

#[test]
fn a_server_that_closes_in_the_middle_ends_every_call() {
    within(HARD, || {
        for whole in [true, false] {
            let client = by_hand(move |mut lines, there| {
                let mut line = String::new();
                while !line.contains("tools/call") {
                    line.clear();
                    lines.read_line(&mut line).unwrap();
                }
                let id = Json::parse(line.as_bytes()).unwrap().get("id").unwrap();
                let half = format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"half"#
                );
                slowly(&there, &half);
                if whole {
                    slowly(&there, " no more\"}]}}\n");
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
fn a_server_that_closes_while_a_client_connects_is_an_error_at_once() {
    within(HARD, || {
        for said in ["", "{\"jsonrpc\":\"2.0\",\"id\":1,\"res", "no JSON at all\n"] {
            let (here, there) = UnixStream::pair().unwrap();
            let server = thread::spawn(move || {
                BufReader::new(&there).read_line(&mut String::new()).unwrap();
                slowly(&there, said);
            });
            let outcome = Connector::new("test", "1").connect(Connect::Handshake).stream(here);
            assert!(matches!(outcome, Err(ConnectError::Closed(None))), "{outcome:?}");
            server.join().unwrap();
        }
    });
}

#[test]
fn a_server_that_stops_reading_lets_calls_be_given_up_and_goes_on_when_it_reads() {
    within(HARD, || {
        let (go, wait) = channel::<()>();
        let client = by_hand(move |lines, there| {
            wait.recv().unwrap();
            for line in lines.lines().map_while(Result::ok) {
                if let Some(id) =
                    line.strip_prefix(r#"{"jsonrpc":"2.0","id":"#).filter(|line| line.contains("ping"))
                {
                    let id = id.split(',').next().unwrap();
                    slowly(&there, &format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}\n"));
                }
            }
        });
        let large = format!(r#"{{"x":"{}"}}"#, "x".repeat(1 << 20));
        let hasty = CallOptions::new().timeout(Duration::from_millis(200));
        let calls: Vec<_> = (0..3).map(|_| client.begin_json("t", &large, hasty).unwrap()).collect();
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

/// What a server says, as it comes.
struct Said(std::sync::mpsc::Receiver<String>);

impl Read for Said {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        let text = self.0.recv().unwrap_or_default();
        bytes[..text.len()].copy_from_slice(text.as_bytes());
        Ok(text.len())
    }
}

/// A server that answers a call late: only after it has stopped to read.
struct StopsReading(Option<std::sync::mpsc::Sender<String>>, Option<String>);

impl Write for StopsReading {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let say = self.0.as_ref().unwrap();
        let text = String::from_utf8_lossy(bytes);
        let id = |line: &str| Json::parse(line.as_bytes()).unwrap().get("id").unwrap().to_string();
        let call = text.lines().find(|line| line.contains("tools/call")).map(id);
        if let (Some(first), Some(_)) = (&self.1, &call) {
            let (say, first) = (self.0.take().unwrap(), first.clone());
            thread::spawn(move || {
                thread::sleep(Duration::from_millis(50));
                say.send(format!("{{\"jsonrpc\":\"2.0\",\"id\":{first},\"result\":{{\"content\":[]}}}}\n"))
                    .unwrap();
            });
            return Err(std::io::ErrorKind::BrokenPipe.into());
        }
        self.1 = self.1.take().or(call);
        if text.contains("\"initialize\"") {
            let result = r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}"#;
            say.send(format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{result}}}\n")).unwrap();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn what_a_server_has_said_before_it_is_gone_counts_even_if_a_write_notices_first() {
    within(HARD, || {
        let (say, said) = channel();
        let connector = Connector::new("test", "1").connect(Connect::Handshake);
        let client = connector.streams(Said(said), StopsReading(Some(say), None)).unwrap();
        let first = client.begin_json("t", "{}", CallOptions::new()).unwrap();
        thread::sleep(Duration::from_millis(50));
        assert_eq!(client.call_json("t", "{}"), Err(CallError::Closed));
        assert!(first.wait().is_ok(), "it was answered");
    });
}
