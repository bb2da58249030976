//! The relay between a client that writes lines and a server at a URL.

use std::io::{BufRead, BufReader, PipeWriter, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use crate::http::{ACCEPTED, LIMIT, NOT_ALLOWED, NOT_FOUND, STREAM, json, start, write};
use crate::time_limit::{TEST_TIMEOUT, within};
use mcp_proto_std::HttpEndpoint;
use mcp_proto_std::http::relay;

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// Starts a relay to a server at this URL. Returns the input of the relay, and the lines of its output.
fn start_relay(url: String) -> (PipeWriter, impl Iterator<Item = String>) {
    let ((input, to_relay), (from_relay, output)) = (std::io::pipe().unwrap(), std::io::pipe().unwrap());
    thread::spawn(move || relay(HttpEndpoint::new(url), input, output));
    (to_relay, BufReader::new(from_relay).lines().map(Result::unwrap))
}

#[cfg(unix)]
#[test]
fn relay_waits_for_nonblocking_streams() {
    use std::net::Shutdown;
    use std::os::unix::net::UnixStream;

    const LINES: usize = 20_000;
    within(TEST_TIMEOUT, || {
        let (mut here, there) = UnixStream::pair().unwrap();
        there.set_nonblocking(true).unwrap();
        let (input, output) = (there.try_clone().unwrap(), there);
        let relay = thread::spawn(|| relay(HttpEndpoint::new("http://127.0.0.1:1/mcp"), input, output));
        thread::sleep(Duration::from_millis(50));
        here.write_all(&b"x\n".repeat(LINES)).unwrap();
        here.shutdown(Shutdown::Write).unwrap();
        // Wait until the output of the relay is full.
        thread::sleep(Duration::from_millis(200));
        let errors = BufReader::new(here).lines().map(Result::unwrap).filter(|line| line.contains("-32700"));
        assert_eq!(errors.count(), LINES);
        relay.join().unwrap().unwrap();
    });
}

#[test]
fn relay_reads_all_lines_that_arrive_at_once() {
    within(TEST_TIMEOUT, || {
        let (mut to_relay, lines) = start_relay("http://127.0.0.1:1/mcp".to_owned());
        to_relay.write_all(&b"x\n".repeat(1000)).unwrap();
        drop(to_relay);
        assert_eq!(lines.filter(|line| line.contains("-32700")).count(), 1000);
    });
}

#[test]
fn relay_repeats_the_handshake_once_if_each_session_is_lost() {
    let (sender, seen) = channel();
    let url = start(move |request, stream| {
        let is_initialize = request.has(r#""initialize""#);
        let _ = is_initialize.then(|| sender.send(()));
        let response = match is_initialize {
            true => request.result("{}").replacen("\r\n", "\r\nMcp-Session-Id: s-1\r\n", 1),
            false => NOT_FOUND.into(),
        };
        write(stream, &response);
    });
    let (mut to_relay, mut lines) = start_relay(url);
    writeln!(to_relay, "{INITIALIZE}").unwrap();
    assert!(lines.next().unwrap().contains(r#""result""#));
    writeln!(to_relay, "{INITIALIZED}").unwrap();
    assert!((0..2).all(|_| seen.recv_timeout(LIMIT).is_ok()));
    thread::sleep(Duration::from_secs(1));
    assert!(seen.try_recv().is_err());
    // At the next request, the relay repeats the handshake, but the new session is lost, too.
    writeln!(to_relay, r#"{{"jsonrpc":"2.0","id":2,"method":"ping"}}"#).unwrap();
    assert!(lines.next().unwrap().contains(r#""id":2,"error""#));
    assert_eq!(seen.try_iter().count(), 1);
}

/// Starts a server that loses its session at the request with id 2, and a relay with a session. `refused` is the number
/// of the `initialize` that the server refuses after a pause, counted from 0. The receiver gets a message for each
/// `initialize`.
fn start_losing_session(refused: Option<usize>) -> (Receiver<()>, PipeWriter, impl Iterator<Item = String>) {
    const REFUSED: &str = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"busy"}}"#;
    let (sender, seen) = channel();
    let count = Arc::new(AtomicUsize::new(0));
    let url = start(move |request, stream| {
        let response = if request.has(r#""initialize""#) {
            sender.send(()).unwrap();
            if Some(count.fetch_add(1, Ordering::Relaxed)) == refused {
                thread::sleep(Duration::from_millis(200));
                json(REFUSED)
            } else {
                request.result("{}").replacen("\r\n", "\r\nMcp-Session-Id: s-1\r\n", 1)
            }
        } else if request.has("initialized") {
            ACCEPTED.into()
        } else if request.has(r#""id":2"#) {
            NOT_FOUND.into()
        } else {
            request.result("{}")
        };
        write(stream, &response);
    });
    let (mut to_relay, mut lines) = start_relay(url);
    writeln!(to_relay, "{INITIALIZE}").unwrap();
    assert!(lines.next().unwrap().contains(r#""result""#));
    writeln!(to_relay, "{INITIALIZED}").unwrap();
    (seen, to_relay, lines)
}

#[test]
fn relay_repeats_the_handshake_once_after_a_lost_session() {
    // The server refuses no `initialize`, or the first repeated one. While a handshake is repeated, the next request of
    // the client waits.
    for refused in [None, Some(1)] {
        let (seen, mut to_relay, mut lines) = start_losing_session(refused);
        for (id, member) in [(2, "error"), (3, "result"), (4, "result"), (5, "result")] {
            writeln!(to_relay, r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#).unwrap();
            let line = lines.next().unwrap();
            assert!(line.contains(&format!(r#""id":{id},"{member}""#)), "{line}");
            if id == 2 {
                assert!((0..2).all(|_| seen.recv_timeout(LIMIT).is_ok()));
            }
        }
        assert_eq!(seen.try_iter().count(), refused.into_iter().count());
    }
}

#[test]
fn relay_ends_although_a_repeated_handshake_gets_no_response() {
    let (sender, seen) = channel();
    let count = Arc::new(AtomicUsize::new(0));
    let url = start(move |request, stream| {
        let response = match request.has(r#""initialize""#) {
            true => {
                sender.send(()).unwrap();
                if count.fetch_add(1, Ordering::Relaxed) > 0 {
                    return;
                }
                request.result("{}").replacen("\r\n", "\r\nMcp-Session-Id: s-1\r\n", 1)
            }
            false if request.has("initialized") => ACCEPTED.into(),
            false => NOT_FOUND.into(),
        };
        write(stream, &response);
    });
    within(TEST_TIMEOUT, move || {
        let (mut to_relay, mut lines) = start_relay(url);
        writeln!(to_relay, "{INITIALIZE}").unwrap();
        assert!(lines.next().unwrap().contains(r#""result""#));
        writeln!(to_relay, "{INITIALIZED}").unwrap();
        writeln!(to_relay, r#"{{"jsonrpc":"2.0","id":2,"method":"ping"}}"#).unwrap();
        assert!(lines.next().unwrap().contains(r#""id":2,"error""#));
        assert!((0..2).all(|_| seen.recv_timeout(LIMIT).is_ok()));
        // The relay does not accept this line, because it waits for the session.
        writeln!(to_relay, r#"{{"jsonrpc":"2.0","id":3,"method":"ping"}}"#).unwrap();
        drop(to_relay);
        assert_eq!(lines.next(), None);
    });
}

#[test]
fn relay_ends_although_many_lines_wait_for_the_server() {
    let url = start(|request, stream| {
        let response = if request.has(r#""initialize""#) {
            request.result("{}").replacen("\r\n", "\r\nMcp-Session-Id: s-1\r\n", 1)
        } else if request.line.starts_with("DELETE") {
            ACCEPTED.into()
        } else {
            // Send no response to `notifications/initialized`. Requests wait for this response.
            return;
        };
        write(stream, &response);
    });
    within(LIMIT, move || {
        let (mut to_relay, mut lines) = start_relay(url);
        writeln!(to_relay, "{INITIALIZE}").unwrap();
        assert!(lines.next().unwrap().contains(r#""result""#));
        writeln!(to_relay, "{INITIALIZED}").unwrap();
        for id in 2..1000 {
            writeln!(to_relay, r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#).unwrap();
        }
        drop(to_relay);
        assert_eq!(lines.next(), None);
    });
}

#[test]
fn relay_repeats_the_handshake_once_if_each_stream_of_http_sse_ends() {
    let (sender, seen) = channel();
    let url = start(move |request, stream| {
        if request.line.starts_with("POST") {
            let _ = sender.send(());
            return write(stream, NOT_ALLOWED);
        }
        write(stream, STREAM);
        write(stream, "event: endpoint\ndata: /messages\n\n");
        let _ = stream.shutdown(std::net::Shutdown::Both);
    });
    let (mut to_relay, mut lines) = start_relay(url);
    writeln!(to_relay, "{INITIALIZE}").unwrap();
    assert!(lines.next().unwrap().contains(r#""id":1,"error""#));
    thread::sleep(Duration::from_secs(1));
    assert!(seen.try_iter().count() <= 4, "at most one message to each endpoint");
    // The relay still reads the client.
    writeln!(to_relay, "[]").unwrap();
    assert!(lines.next().unwrap().contains("-32600"));
}

#[test]
fn relay_closes_the_connections_of_a_lost_session() {
    let ((opened, is_open), (closed, is_closed)) = (channel::<()>(), channel::<()>());
    let url = start(move |request, stream| {
        if request.line.starts_with("GET") {
            write(stream, STREAM);
            write(stream, ": open\n\n");
            opened.send(()).unwrap();
            let _ = stream.read_to_end(&mut Vec::new());
            let _ = closed.send(());
            return;
        }
        let response = if request.has(r#""initialize""#) {
            request.result("{}").replacen("\r\n", "\r\nMcp-Session-Id: s-1\r\n", 1)
        } else if request.has("initialized") {
            ACCEPTED.into()
        } else {
            NOT_FOUND.into()
        };
        write(stream, &response);
    });
    let (mut to_relay, mut lines) = start_relay(url);
    writeln!(to_relay, "{INITIALIZE}").unwrap();
    assert!(lines.next().unwrap().contains(r#""result""#));
    writeln!(to_relay, "{INITIALIZED}").unwrap();
    is_open.recv_timeout(LIMIT).expect("the stream of the session opens");
    writeln!(to_relay, r#"{{"jsonrpc":"2.0","id":2,"method":"ping"}}"#).unwrap();
    assert!(lines.next().unwrap().contains(r#""id":2,"error""#));
    is_closed.recv_timeout(LIMIT).expect("the stream of the session closes");
}

#[test]
fn relay_answers_once_if_the_response_is_in_a_batch() {
    const BATCH: &str = r#"[{"jsonrpc":"2.0","method":"notifications/tools/list_changed"},{"jsonrpc":"2.0","id":2,"result":{}}]"#;
    let url = start(|request, stream| {
        let response = if request.has(r#""initialize""#) {
            request.result(r#"{"protocolVersion":"2025-03-26"}"#)
        } else if request.has(r#""id":2"#) {
            format!("{STREAM}data: {BATCH}\n\n")
        } else {
            request.result("{}")
        };
        write(stream, &response);
        let _ = stream.shutdown(std::net::Shutdown::Both);
    });
    let (mut to_relay, mut lines) = start_relay(url);
    writeln!(to_relay, "{INITIALIZE}").unwrap();
    assert!(lines.next().unwrap().contains(r#""id":1"#));
    writeln!(to_relay, r#"{{"jsonrpc":"2.0","id":2,"method":"ping"}}"#).unwrap();
    assert!(lines.next().unwrap().contains("list_changed"));
    assert!(lines.next().unwrap().contains(r#""id":2,"result""#));
    thread::sleep(Duration::from_millis(300));
    writeln!(to_relay, r#"{{"jsonrpc":"2.0","id":3,"method":"ping"}}"#).unwrap();
    let rest: Vec<_> = lines.take_while(|line| !line.contains(r#""id":3"#)).collect();
    assert!(rest.is_empty(), "{rest:?}");
}

#[test]
fn error_of_the_relay_omits_an_unknown_id_from_2025_11_25_on() {
    let url = start(|request, stream| {
        let revision = if request.has("2025-06-18") { "2025-06-18" } else { "2025-11-25" };
        write(stream, &request.result(&format!(r#"{{"protocolVersion":"{revision}"}}"#)));
    });
    let old = INITIALIZE.replace("2025-11-25", "2025-06-18");
    let discover = r#"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    for (request, has_id) in [("", true), (&old, true), (INITIALIZE, false), (discover, false)] {
        let (mut to_relay, mut lines) = start_relay(url.clone());
        if !request.is_empty() {
            writeln!(to_relay, "{request}").unwrap();
            assert!(lines.next().unwrap().contains(r#""id":1,"result""#));
        }
        for line in ["x", "[]", r#"{"jsonrpc":"2.0","id":{},"method":"m"}"#] {
            writeln!(to_relay, "{line}").unwrap();
            let error = lines.next().unwrap();
            assert_eq!(error.contains(r#""id":null,"error""#), has_id, "{request}: {error}");
            assert_eq!(error.contains(r#""jsonrpc":"2.0","error""#), !has_id, "{request}: {error}");
        }
    }
}
