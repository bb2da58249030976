//! Slow, idle and endless HTTP clients, and a handler that panics.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use mcp_proto::Millis;
use mcp_proto::server::{Event, ServerConfig, Tool, Tools};
use mcp_proto_std::http::{HttpAccess, HttpConfig};
use mcp_proto_std::{Serve, Stop};

static TOOLS: Tools =
    Tools::new(&[Tool::new("echo", "{}"), Tool::new("panic", "{}"), Tool::new("wait", "{}")]);
static CONFIG: ServerConfig = ServerConfig::new("test", "1").features(&[&TOOLS]);
static HTTP: HttpConfig = {
    let config = HttpConfig::new().path("/mcp");
    let mut times = config.get_times();
    times.body = Millis(300);
    config.times(times)
};

/// The time limit of each wait.
const LIMIT: Duration = Duration::from_secs(10);

struct TestServer {
    address: SocketAddr,
    stop: Stop,
    /// Receives a message for each call of `wait` that has begun.
    waiting: Receiver<()>,
    /// Receives a message for each call of `wait` that was cancelled.
    cancelled: Receiver<()>,
    thread: Option<JoinHandle<()>>,
}

impl TestServer {
    fn start(connections: usize) -> TestServer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let stop = Stop::new();
        let server = Serve::new(&CONFIG).connections(connections).stopped_by(&stop);
        let (sender, waiting) = channel();
        let (cancel_sender, cancelled) = channel();
        let thread = thread::spawn(move || {
            let served = server.http(listener, HttpAccess::new(&HTTP), |event, server| match event {
                Event::Call(call) if call.name() == "panic" => panic!("a panic for the test"),
                Event::Call(call) if call.name() == "wait" => {
                    let _ = sender.send(());
                    let cancel_sender = cancel_sender.clone();
                    server.run(call, move |responder| {
                        if responder.sleep_unless_cancelled(LIMIT).is_err() {
                            let _ = cancel_sender.send(());
                        }
                    });
                }
                Event::Call(call) => call.text("7"),
                _ => {}
            });
            served.unwrap();
        });
        TestServer { address, stop, waiting, cancelled, thread: Some(thread) }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        stream
    }

    /// Stops the server. Returns the time until the server has ended.
    fn stop(&mut self) -> Duration {
        let start = Instant::now();
        self.stop.within(Duration::ZERO);
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(ended.is_ok() || thread::panicking());
        }
        start.elapsed()
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Returns the HTTP request of a call of `tool`.
fn call(tool: &str) -> String {
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}","arguments":{{}},"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{{"name":"c","version":"1"}},"io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
    );
    let length = body.len();
    let fields =
        format!("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {tool}\r\n");
    format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{fields}Content-Length: {length}\r\n\r\n{body}"
    )
}

/// Bytes of the next request precede the end of the input.
#[test]
fn disconnect_after_bytes_of_the_next_request_cancels_the_call() {
    let server = TestServer::start(2);
    let mut stream = server.connect();
    stream.write_all(call("wait").replace("Host:", "Accept: application/json\r\nHost:").as_bytes()).unwrap();
    server.waiting.recv_timeout(LIMIT).unwrap();
    stream.write_all(b"POST").unwrap();
    drop(stream);
    server.cancelled.recv_timeout(LIMIT / 2).expect("the call is cancelled");
}

/// Calls `echo`. Returns `true` if the connection served the call.
fn is_served(stream: &mut TcpStream) -> bool {
    let mut response = Vec::new();
    let mut bytes = [0; 1024];
    if stream.write_all(call("echo").as_bytes()).is_err() {
        return false;
    }
    while !String::from_utf8_lossy(&response).contains(r#""text":"7""#) {
        match stream.read(&mut bytes) {
            Ok(0) | Err(_) => return false,
            Ok(n) => response.extend_from_slice(&bytes[..n]),
        }
    }
    true
}

/// Waits until the server closes the connection. Returns `false` if the server sends a byte, or if the timeout expires.
fn is_closed(stream: &mut TcpStream) -> bool {
    match stream.read(&mut [0]) {
        Ok(length) => length == 0,
        Err(error) => !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
    }
}

#[test]
fn slow_body_gets_408_before_it_is_complete() {
    let server = TestServer::start(4);
    for start in [&b"{"[..], b""] {
        let mut stream = server.connect();
        let request = call("echo");
        let (head, _) = request.split_once("\r\n\r\n").unwrap();
        let sent = Instant::now();
        stream.write_all(&[head.as_bytes(), b"\r\n\r\n", start].concat()).unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        assert!(
            response.starts_with("HTTP/1.1 408 ") && response.contains("Connection: close"),
            "{response}"
        );
        // The time limit is 300 ms. The clock of the server has whole milliseconds.
        assert!(sent.elapsed() >= Duration::from_millis(299), "{:?}", sent.elapsed());
    }
    assert!(is_served(&mut server.connect()));
}

#[test]
fn refused_head_needs_no_body() {
    let server = TestServer::start(4);
    let mut stream = server.connect();
    stream.write_all(b"POST /other HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n").unwrap();
    let mut response = [0; 12];
    stream.read_exact(&mut response).unwrap();
    // 404 shows that the server does not wait for the body: without a body in time, it would respond with 408.
    assert_eq!(&response, b"HTTP/1.1 404");
}

#[test]
fn new_connection_closes_the_longest_idle_one() {
    let server = TestServer::start(3);
    let mut idle: Vec<TcpStream> = (0..3).map(|_| server.connect()).collect();
    // The first connection is used last.
    for index in [1, 2, 0] {
        assert!(is_served(&mut idle[index]));
        // The client can have the response before the server records that the connection is idle.
        thread::sleep(Duration::from_millis(300));
    }
    let mut other = server.connect();
    assert!(is_served(&mut other));
    assert!(is_closed(&mut idle[1]));
    let mut another = server.connect();
    assert!(is_served(&mut another));
    assert!(is_closed(&mut idle[2]));
    assert!([&mut idle[0], &mut other, &mut another].into_iter().all(is_served));
}

/// The client has its response, and does not close the connection.
#[test]
fn connection_after_its_last_response_delays_no_other_and_no_end() {
    const SHORT: Duration = Duration::from_secs(1);
    let mut server = TestServer::start(1);
    let answered = |server: &TestServer| {
        let mut stream = server.connect();
        let request = call("echo").replacen("\r\n", "\r\nConnection: close\r\n", 1);
        stream.write_all(request.as_bytes()).unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        assert!(response.starts_with("HTTP/1.1 200 "), "{response}");
        stream
    };
    let open = answered(&server);
    let start = Instant::now();
    assert!(is_served(&mut server.connect()));
    assert!(start.elapsed() < SHORT, "{:?}", start.elapsed());
    let also_open = answered(&server);
    let time = server.stop();
    assert!(time < SHORT, "{time:?}");
    drop((open, also_open));
}

#[test]
fn slow_head_and_body_are_closed_at_limit_but_calls_are_not() {
    let server = TestServer::start(3);
    let mut busy = server.connect();
    busy.write_all(call("wait").as_bytes()).unwrap();
    server.waiting.recv_timeout(LIMIT).unwrap();
    let mut slow_head = server.connect();
    slow_head.write_all(b"POST /mcp HTTP/1.1\r\nHost").unwrap();
    let mut slow_body = server.connect();
    slow_body.write_all(call("echo").strip_suffix('}').unwrap().as_bytes()).unwrap();
    let mut others = [server.connect(), server.connect()];
    assert!(others.iter_mut().all(is_served));
    assert!(is_closed(&mut slow_head) && is_closed(&mut slow_body));
    busy.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    assert!(
        busy.read(&mut [0])
            .is_err_and(|error| matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut))
    );
}

#[test]
fn handler_panic_does_not_delay_the_end_of_the_server() {
    // The server waits two seconds for a call that has not ended. A busy computer may delay some of the attempts.
    let times: Vec<Duration> = (0..4)
        .map(|_| {
            let mut server = TestServer::start(4);
            let mut stream = server.connect();
            stream.write_all(call("panic").as_bytes()).unwrap();
            assert!(is_served(&mut stream), "the connection stays open");
            server.stop()
        })
        .collect();
    assert!(times.iter().any(|time| *time < Duration::from_secs(2)), "{times:?}");
}

/// After a connection has closed, the thread for timers, or that of another connection, handles the cancellation.
#[test]
fn handler_panic_at_a_cancellation_leaves_the_server_running() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let stop = Stop::new();
    let server = Serve::new(&CONFIG).stopped_by(&stop);
    let (sender, reports) = channel();
    let thread = thread::spawn(move || {
        server.http(listener, HttpAccess::new(&HTTP), |event, server| match event {
            Event::Call(call) if call.name() == "wait" => {
                let _ = sender.send("waits");
                server.run(call, |responder| _ = responder.sleep_unless_cancelled(LIMIT));
            }
            Event::Call(call) => call.text("7"),
            Event::Cancelled { .. } => {
                let _ = sender.send("cancelled");
                panic!("a panic for the test");
            }
            _ => {}
        })
    });
    let connect = || {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        stream
    };
    for _ in 0..2 {
        let mut stream = connect();
        stream.write_all(call("wait").as_bytes()).unwrap();
        assert_eq!(reports.recv_timeout(LIMIT), Ok("waits"));
        drop(stream);
        assert_eq!(reports.recv_timeout(LIMIT), Ok("cancelled"));
        assert!(is_served(&mut connect()));
    }
    stop.within(Duration::ZERO);
    thread.join().unwrap().unwrap();
}

/// Measures calls on new connections and on an open connection, among 1,000 slow clients. The slow clients send heads
/// byte by byte, and connect again when the server closes their connections.
///
/// `cargo test --release -p mcp-proto-std --features http -- --ignored --nocapture slow_clients`
#[test]
#[ignore = "measures times, which needs a release build and an idle computer"]
fn thousand_slow_clients_delay_no_call() {
    const SLOW: usize = 1_000;
    const CALLS: usize = 1_000;
    let server = TestServer::start(64);
    let (is_over, connected) = (Arc::<AtomicBool>::default(), Arc::<AtomicUsize>::default());
    let (over, count, address) = (Arc::clone(&is_over), Arc::clone(&connected), server.address);
    let attack = thread::spawn(move || {
        let head = call("echo");
        let mut clients: Vec<Option<TcpStream>> = (0..SLOW).map(|_| None).collect();
        for round in 0.. {
            for client in &mut clients {
                if over.load(Ordering::Relaxed) {
                    return;
                }
                let byte = &head.as_bytes()[round % 100..][..1];
                if client.as_mut().is_none_or(|client| client.write_all(byte).is_err()) {
                    *client = TcpStream::connect(address).ok();
                    count.fetch_add(1, Ordering::Relaxed);
                }
            }
            thread::sleep(Duration::from_millis(100));
        }
    });
    while connected.load(Ordering::Relaxed) < SLOW {
        thread::sleep(Duration::from_millis(10));
    }
    let mut lasting = server.connect();
    let (mut times, mut retries) = (Vec::new(), 0);
    for number in 0..CALLS {
        let start = Instant::now();
        if number % 2 == 0 {
            while !is_served(&mut server.connect()) {
                retries += 1;
            }
        } else {
            // A client whose idle connection was closed connects again, as HTTP libraries do.
            while !is_served(&mut lasting) {
                retries += 1;
                lasting = server.connect();
            }
        }
        times.push(start.elapsed());
        thread::sleep(Duration::from_millis(2));
    }
    is_over.store(true, Ordering::Relaxed);
    attack.join().unwrap();
    times.sort();
    let (median, p99, most) = (times[CALLS / 2], times[CALLS * 99 / 100], times[CALLS - 1]);
    let total = connected.load(Ordering::Relaxed);
    println!(
        "median {median:?}, p99 {p99:?}, most {most:?}, {retries} calls again, {total} slow connections"
    );
    assert!(p99 < Duration::from_millis(50), "{p99:?}");
}
