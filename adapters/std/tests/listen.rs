//! Servers with many connections over TCP and Unix sockets.
#![cfg(unix)]

use std::collections::HashSet;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::peer::stateless_call;
use crate::time_limit::{TEST_TIMEOUT, within};
use mcp_proto::client::Connect;
use mcp_proto::server::{Event, Limits, ServerConfig, Tool, Tools};
use mcp_proto::{Direction, Millis, Observer, ProtocolError, Revision};
use mcp_proto_std::{CallError, CallOptions, ClientHandle, Connector, Serve, ServeError, ServerHandle, Stop};

static TOOLS: Tools = Tools::new(&[
    Tool::new("who", "{}"),
    Tool::new("wait", "{}"),
    Tool::new("panic", "{}"),
    Tool::new("stubborn", "{}"),
    Tool::new("large", "{}"),
]);
static CONFIG: ServerConfig =
    ServerConfig::new("test", "1").features(&[&TOOLS]).limits(Limits::DEFAULT.with_grace(Millis(500)));

fn handler(event: Event<'_>, server: &ServerHandle) {
    let Event::Call(call) = event else { return };
    match call.name() {
        // Each connection has a separate thread.
        "who" => call.text(format_args!("{:?}", thread::current().id())),
        "wait" => {
            server.run(call, |answer| match answer.sleep_unless_cancelled(Duration::from_millis(300)) {
                Ok(()) => answer.text("waited"),
                Err(error) => answer.fail(error),
            })
        }
        "stubborn" => server.run(call, |_answer| thread::sleep(TEST_TIMEOUT)),
        "large" => call.text("x".repeat(1 << 20)),
        _ => panic!("expected panic"),
    }
}

type Running = JoinHandle<Result<(), ServeError>>;

/// Starts a server on a free port. Returns a connect function, the stop switch and the thread.
fn tcp(serve: Serve<'static>) -> (impl Fn() -> TcpStream, Stop, Running) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let stop = Stop::new();
    let serve = serve.stopped_by(&stop);
    let server = thread::spawn(move || serve.listen(listener, handler));
    (move || TcpStream::connect(address).unwrap(), stop, server)
}

fn client(stream: TcpStream, era: Connect) -> ClientHandle {
    Connector::new("test", "1").connect(era).stream(stream).unwrap()
}

fn who(client: &ClientHandle) -> String {
    client.call_json("who", "{}").unwrap().text().unwrap()
}

#[test]
fn connections_are_independent_and_concurrent() {
    within(TEST_TIMEOUT, || {
        let (connect, stop, server) = tcp(Serve::new(&CONFIG));
        let old = client(connect(), Connect::Handshake);
        let new = client(connect(), Connect::Automatic);
        assert_eq!(old.server().revision, Revision::V2025_11_25);
        assert_eq!(new.server().revision, Revision::V2026_07_28);
        assert_ne!(who(&old), who(&new));
        thread::scope(|scope| {
            for client in [&old, &new, &old, &new] {
                scope.spawn(move || (0..50).for_each(|_| drop(who(client))));
            }
        });
        // The end of one connection does not affect another.
        old.close();
        for _ in 0..5 {
            let next = client(connect(), Connect::Handshake);
            who(&next);
            next.close();
        }
        who(&new);
        stop.within(Duration::from_secs(5));
        server.join().unwrap().unwrap();
        assert_eq!(new.ping(), Err(CallError::Closed));
    });
}

#[test]
fn unix_socket_connections_are_served() {
    within(TEST_TIMEOUT, || {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{}.sock", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let (listener, stop) = (UnixListener::bind(&path).unwrap(), Stop::new());
        let serve = Serve::new(&CONFIG).stopped_by(&stop);
        let server = thread::spawn(move || serve.listen(listener, handler));
        let clients: Vec<_> = (0..3)
            .map(|_| Connector::new("test", "1").stream(UnixStream::connect(&path).unwrap()).unwrap())
            .collect();
        let threads: HashSet<String> = clients.iter().map(who).collect();
        assert_eq!(threads.len(), 3);
        stop.within(Duration::ZERO);
        server.join().unwrap().unwrap();
        let refused = UnixStream::connect(&path).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ConnectionRefused, "the listener is closed");
        std::fs::remove_file(&path).unwrap();
    });
}

#[test]
fn connection_beyond_limit_waits_until_another_closes() {
    within(TEST_TIMEOUT, || {
        let (connect, stop, server) = tcp(Serve::new(&CONFIG).connections(2));
        let clients = [client(connect(), Connect::Handshake), client(connect(), Connect::Handshake)];
        let third = connect();
        let (connected, is_connected) = channel();
        let waiter = thread::spawn(move || {
            let client = client(third, Connect::Handshake);
            connected.send(()).unwrap();
            who(&client)
        });
        assert!(is_connected.recv_timeout(Duration::from_millis(300)).is_err());
        clients[0].close();
        waiter.join().unwrap();
        stop.within(Duration::ZERO);
        server.join().unwrap().unwrap();
    });
}

#[test]
fn stop_finishes_running_requests_then_returns() {
    within(TEST_TIMEOUT, || {
        let (connect, stop, server) = tcp(Serve::new(&CONFIG));
        let clients = [client(connect(), Connect::Handshake), client(connect(), Connect::Automatic)];
        // A client that never sends anything.
        let mut silent = connect();
        let waits =
            clients.each_ref().map(|client| client.begin_json("wait", "{}", CallOptions::new()).unwrap());
        clients.iter().for_each(|client| client.ping().unwrap());
        let start = Instant::now();
        stop.within(TEST_TIMEOUT);
        for wait in waits {
            assert_eq!(wait.wait().unwrap().text().as_deref(), Some("waited"));
        }
        server.join().unwrap().unwrap();
        assert!(start.elapsed() < TEST_TIMEOUT / 4, "{:?}", start.elapsed());
        assert_eq!(silent.read(&mut [0]).unwrap(), 0);
        assert!(stop.is_used());
        // A server with a used stop switch returns immediately.
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        Serve::new(&CONFIG).stopped_by(&stop).listen(listener, handler).unwrap();
    });
}

#[test]
fn stop_deadline_holds_with_hanging_workers() {
    within(TEST_TIMEOUT, || {
        let (connect, stop, server) = tcp(Serve::new(&CONFIG));
        let hangs = client(connect(), Connect::Automatic);
        let stubborn = hangs.begin_json("stubborn", "{}", CallOptions::new()).unwrap();
        hangs.ping().unwrap();
        // A second client requests megabytes of responses, and does not read.
        let mut not_reading = connect();
        for id in 0..32 {
            not_reading.write_all(stateless_call(id, "large", "{}").as_bytes()).unwrap();
        }
        thread::sleep(Duration::from_millis(100));
        let start = Instant::now();
        stop.within(Duration::from_millis(200));
        assert!(matches!(stubborn.wait(), Err(CallError::Server(error)) if error.code == -32603));
        server.join().unwrap().unwrap();
        let took = start.elapsed();
        // The upper limit includes the time for the last responses, one second for the workers, and slack for a busy
        // test machine.
        assert!(took >= Duration::from_millis(200) && took < Duration::from_secs(12), "{took:?}");
        drop(not_reading);
    });
}

#[test]
fn handler_panic_ends_only_its_connection() {
    within(TEST_TIMEOUT, || {
        let (connect, stop, server) = tcp(Serve::new(&CONFIG).connections(2));
        let good = client(connect(), Connect::Automatic);
        for _ in 0..3 {
            let bad = client(connect(), Connect::Automatic);
            assert_eq!(bad.call_json("panic", "{}"), Err(CallError::Closed));
            who(&good);
        }
        stop.within(Duration::ZERO);
        server.join().unwrap().unwrap();
    });
}

#[test]
fn panic_of_new_handler_ends_the_server_at_once() {
    within(TEST_TIMEOUT, || {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let mut is_first = true;
        let new_handler = move |_| {
            assert!(std::mem::take(&mut is_first), "expected panic");
            handler
        };
        let server = thread::spawn(move || Serve::new(&CONFIG).listen_with(listener, new_handler));
        let open = client(TcpStream::connect(address).unwrap(), Connect::Automatic);
        let mut refused = TcpStream::connect(address).unwrap();
        assert!(server.join().is_err());
        assert_eq!(open.ping(), Err(CallError::Closed));
        assert_eq!(refused.read(&mut [0]).unwrap(), 0);
    });
}

#[test]
fn observer_receives_messages_of_all_connections() {
    struct Count(usize);
    impl Observer for Count {
        fn line(&mut self, direction: Direction, line: &[u8], _: Result<(), ProtocolError>) {
            let is_call = String::from_utf8_lossy(line).contains("tools/call");
            self.0 += usize::from(direction == Direction::In && is_call);
        }
    }
    within(TEST_TIMEOUT, || {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (mut count, stop) = (Count(0), Stop::new());
        thread::scope(|scope| {
            let serve = Serve::new(&CONFIG).observe(&mut count).stopped_by(&stop);
            scope.spawn(|| serve.listen(listener, handler).unwrap());
            for _ in 0..3 {
                who(&client(TcpStream::connect(address).unwrap(), Connect::Automatic));
            }
            stop.within(Duration::ZERO);
        });
        assert_eq!(count.0, 3);
    });
}

#[test]
fn invalid_configuration_fails_before_listening() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let outcome = Serve::new(&CONFIG).longest_line(1).listen(listener, handler);
    assert!(matches!(outcome, Err(ServeError::Setup(_))), "{outcome:?}");
}
