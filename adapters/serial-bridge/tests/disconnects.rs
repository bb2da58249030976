//! Large messages, lost links, silent boards, and ports that cannot be opened.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{OFlags, fcntl_setfl};
use serial2::SerialPort;

use crate::board::{Board, Wire};
use crate::client::{BridgeClient, Era, bridge};

/// Options that switch off the bridge's own messages.
const PLAIN: [&str; 3] = ["--no-mark", "--settle", "0"];

fn plain(path: &str) -> Vec<&str> {
    [&[path], &PLAIN[..]].concat()
}

/// Returns a notification with this text.
fn notification(text: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"notifications/message","params":"{text}"}}"#)
}

/// Reads at least `n` bytes from the board's end, in any pieces. Returns fewer bytes if no more arrive in time.
fn read(port: &SerialPort, n: usize) -> Vec<u8> {
    let (mut read, mut bytes) = (Vec::new(), [0; 512]);
    for _ in 0..20_000 {
        if read.len() >= n {
            break;
        }
        if let Ok(n) = port.read(&mut bytes) {
            read.extend_from_slice(&bytes[..n]);
        }
    }
    read
}

/// The session mark before the ping.
const MARK: &str = "\n\x04\x04\x04\x04\n";

/// Reads `before` and the next ping. Returns the id of the ping.
fn pinged(wire: &Wire, before: &str) -> String {
    let ping = before.len() + r#"{"jsonrpc":"2.0","id":"b01234567-1","method":"ping"}"#.len() + 1;
    let text = String::from_utf8(read(&wire.board, ping)).unwrap();
    let id = text.split('"').nth(7).unwrap().to_owned();
    assert_eq!(text, format!("{before}{{\"jsonrpc\":\"2.0\",\"id\":\"{id}\",\"method\":\"ping\"}}\n"));
    id
}

fn answer(id: &str) -> String {
    format!("{{\"jsonrpc\": \"2.0\", \"id\": \"{id}\", \"result\": {{}}}}\r\n")
}

/// Writes all bytes as fast as the other end accepts them.
fn write(port: &SerialPort, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        match port.write(bytes) {
            Ok(n) => bytes = &bytes[n..],
            Err(_) => thread::sleep(Duration::from_millis(1)),
        }
    }
}

#[test]
fn no_byte_is_lost_or_changed_in_either_direction() {
    let wire = Wire::new();
    let mut client = BridgeClient::new(&plain(&wire.path));
    assert_eq!(read(&wire.board, 1), b"\n");
    let text: String = (0..50_000).map(|n| format!("{n} päivää \u{7f}\u{2028} ")).collect();
    let line = notification(&text) + "\n";
    let mut input = client.input();
    let sent = line.clone();
    let writer = thread::spawn(move || input.write_all(sent.as_bytes()).map(|()| input).unwrap());
    // Wait until all buffers are full, so that writes are partial.
    thread::sleep(Duration::from_millis(300));
    assert!(read(&wire.board, line.len()) == line.as_bytes());
    thread::scope(|scope| {
        scope.spawn(|| write(&wire.board, line.as_bytes()));
        assert!(client.next_line() == line.trim_end());
    });
    drop(writer.join().unwrap());
    assert_eq!(client.wait_for_exit().0.code(), Some(0));
}

#[test]
fn board_that_does_not_read_can_still_write() {
    let wire = Wire::new();
    let mut client = BridgeClient::new(&plain(&wire.path));
    assert_eq!(read(&wire.board, 1), b"\n");
    let mut input = client.input();
    // The thread repeats this line until the bridge ends, so that all buffers are full.
    let line = notification(&"x".repeat(4096)) + "\n";
    thread::spawn(move || while input.write_all(line.as_bytes()).is_ok() {});
    thread::sleep(Duration::from_millis(100));
    for n in 0..100 {
        let line = notification(&n.to_string());
        write(&wire.board, format!("{line}\n").as_bytes());
        client.expect_line(&line);
    }
}

#[test]
fn bridge_exits_after_the_client_although_the_board_does_not_read() {
    let wire = Wire::new();
    let mut client = BridgeClient::new(&plain(&wire.path));
    assert_eq!(read(&wire.board, 1), b"\n");
    let mut input = client.input();
    fcntl_setfl(&input, OFlags::NONBLOCK).unwrap();
    // More bytes than all buffers hold.
    let bytes = (notification(&"x".repeat(4096)) + "\n").repeat(1000).into_bytes();
    let (mut written, mut refused) = (0, 0);
    while refused < 50 {
        match input.write(&bytes[written..]) {
            Ok(n) => (written, refused) = (written + n, 0),
            Err(_) => {
                refused += 1;
                thread::sleep(Duration::from_millis(10));
            }
        }
    }
    assert!(written < bytes.len());
    drop(input);
    assert_eq!(client.wait_for_exit().0.code(), Some(0));
}

#[test]
fn starting_board_is_pinged_again() {
    let wire = Wire::new();
    let mut client = BridgeClient::new(&[&wire.path]);
    let missed = pinged(&wire, MARK);
    write(&wire.board, b"rst:0x1 (POWERON)\n");
    // The bridge repeats the mark, because the board may also have lost the mark.
    let heard = pinged(&wire, MARK);
    assert_ne!(missed, heard);
    // The board answers both pings. The bridge passes on messages from the first response on.
    let [old, new, newer] = ["old", "new", "newer"].map(notification);
    write(&wire.board, format!("{old}\n{}{new}\n{}{newer}\n", answer(&missed), answer(&heard)).as_bytes());
    client.expect_line(&new);
    client.expect_line(&newer);
}

#[test]
fn silent_board_does_not_block_the_client() {
    let wire = Wire::new();
    let whole = notification("whole");
    let mut client = BridgeClient::new(&[&wire.path, "--settle", "300"]);
    pinged(&wire, MARK);
    thread::scope(|scope| {
        let chatter = scope.spawn(|| {
            // The board writes no complete line while the bridge waits. The bytes of the board look like a message.
            for _ in 0..100 {
                write(&wire.board, b"{ half ");
                thread::sleep(Duration::from_millis(20));
            }
            write(&wire.board, format!("{{ rest\n{whole}\n").as_bytes());
        });
        client.expect_line(&whole);
        chatter.join().unwrap();
    });
    assert!(client.kill().contains("the board does not respond"));
}

#[test]
fn unplugged_board_is_an_error() {
    for reopen in ["0", "300"] {
        let mut board = Board::start();
        let mut client = BridgeClient::new(&[&board.path, "--reopen", reopen]);
        client.connect(Era::Handshake);
        client.call(Era::Handshake, 1, "slow");
        client.expect_line(r#""progress":0"#);
        board.unplug();
        let rest = client.rest();
        assert!(rest.last().unwrap().contains(r#""id":1,"error":{"code":-32603"#), "{rest:?}");
        let (status, errors) = client.wait_for_exit();
        assert_eq!(status.code(), Some(1), "{errors}");
        assert!(errors.contains("the board has disconnected"), "{errors}");
    }
}

#[test]
fn client_that_closes_stdout_ends_the_bridge() {
    use std::process::Stdio;
    let wire = Wire::new();
    let mut command = bridge();
    let mut child = command.arg(&wire.path).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let id = pinged(&wire, MARK);
    write(&wire.board, answer(&id).as_bytes());
    // The bridge's stdin stays open.
    let _kept = child.stdin.take();
    drop(child.stdout.take());
    // A process that another test starts at this moment may hold a copy of the closed end of the pipe. So the bridge's
    // first write to stdout may succeed.
    let until = Instant::now() + Duration::from_secs(20);
    let status = loop {
        write(&wire.board, (notification("lost") + "\n").as_bytes());
        thread::sleep(Duration::from_millis(5));
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None => assert!(Instant::now() < until, "the process does not exit"),
        }
    };
    assert_eq!(status.code(), Some(0));
    assert_eq!(read(&wire.board, MARK.len()), MARK.as_bytes());
}

#[test]
fn client_with_nonblocking_streams_loses_no_byte() {
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;

    let wire = Wire::new();
    let (mut here, there) = UnixStream::pair().unwrap();
    there.set_nonblocking(true).unwrap();
    let mut command = bridge();
    command.args(plain(&wire.path)).stdin(OwnedFd::from(there.try_clone().unwrap()));
    let mut child = command.stdout(OwnedFd::from(there)).spawn().unwrap();
    // Until the command is dropped, it keeps its copies of the streams open.
    drop(command);
    assert_eq!(read(&wire.board, 1), b"\n");
    thread::sleep(Duration::from_millis(50));
    let (line, long) = (notification("x") + "\n", notification(&"x".repeat(1_000_000)) + "\n");
    here.write_all(line.as_bytes()).unwrap();
    assert_eq!(String::from_utf8(read(&wire.board, line.len())).unwrap(), line);
    let sent = long.clone();
    let writer = thread::spawn(move || {
        write(&wire.board, sent.as_bytes());
        wire
    });
    // Wait until the output of the bridge is full.
    thread::sleep(Duration::from_millis(500));
    here.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut received = String::new();
    BufReader::new(&here).read_line(&mut received).unwrap();
    assert!(received == long, "{} bytes", received.len());
    let _wire = writer.join().unwrap();
    drop(here);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// Accepts a TCP connection, as a board that reads lines.
fn accept(listener: &TcpListener) -> BufReader<TcpStream> {
    let (board, _) = listener.accept().unwrap();
    board.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    BufReader::new(board)
}

fn next_line(board: &mut BufReader<TcpStream>) -> String {
    let mut line = String::new();
    board.read_line(&mut line).unwrap();
    line
}

/// Reads the mark and the ping, and answers the ping.
fn answer_ping(board: &mut BufReader<TcpStream>) {
    assert_eq!(next_line(board) + &next_line(board), MARK);
    let ping = next_line(board);
    assert!(ping.ends_with("\"method\":\"ping\"}\n"), "{ping}");
    board.get_mut().write_all(answer(ping.split('"').nth(7).unwrap()).as_bytes()).unwrap();
}

#[test]
fn tcp_connection_works_like_a_serial_port() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("tcp:{}", listener.local_addr().unwrap());
    let mut client = BridgeClient::new(&[&address]);
    let mut board = accept(&listener);
    board.get_mut().write_all(b"sult\":{}}\n{\"id\":0,\"resu").unwrap();
    answer_ping(&mut board);
    client.send(r#""id":1,"method":"ping""#);
    assert!(next_line(&mut board).contains("\"id\":1"));
    client.close_stdin();
    board.get_mut().write_all(b"log\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n").unwrap();
    assert_eq!(client.rest(), [r#"{"jsonrpc":"2.0","id":1,"result":{}}"#]);
    assert_eq!(client.wait_for_exit().0.code(), Some(0));
    let mut left = Vec::new();
    board.read_to_end(&mut left).unwrap();
    assert_eq!(left, MARK.as_bytes());

    let mut client = BridgeClient::new(&[&address, "--reopen", "0"]);
    drop(listener.accept().unwrap());
    let (status, errors) = client.wait_for_exit();
    assert_eq!(status.code(), Some(1));
    assert!(errors.contains("the board has disconnected"), "{errors}");
}

#[test]
fn lost_tcp_connection_is_opened_again() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("tcp:{}", listener.local_addr().unwrap());
    let mut client = BridgeClient::new(&[&address]);
    let mut board = accept(&listener);
    answer_ping(&mut board);
    client.send(r#""id":1,"method":"tools/list""#);
    assert!(next_line(&mut board).contains("\"id\":1"));
    drop(board);
    client.expect_line(r#""id":1,"error":{"code":-32603,"message":"the board has disconnected"}"#);
    client.send(r#""id":2,"method":"tools/list""#);
    let mut board = accept(&listener);
    answer_ping(&mut board);
    assert!(next_line(&mut board).contains("\"id\":2"));
    board.get_mut().write_all(b"{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n").unwrap();
    client.expect_line(r#""id":2,"result""#);
}

#[test]
fn loss_of_a_silent_connection_has_the_whole_time_to_reopen() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("tcp:{}", listener.local_addr().unwrap());
    let client = BridgeClient::new(&[&address, "--reopen", "1500"]);
    drop(accept(&listener));
    let silent = accept(&listener);
    thread::sleep(Duration::from_millis(2500));
    drop(silent);
    listener.set_nonblocking(true).unwrap();
    let until = Instant::now() + Duration::from_secs(10);
    while listener.accept().is_err() {
        assert!(Instant::now() < until, "the bridge does not connect again");
        thread::sleep(Duration::from_millis(20));
    }
    drop(client);
}

#[test]
fn port_that_cannot_be_opened_is_reported_with_advice() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let held = Wire::new();
    let mut holder = BridgeClient::new(&plain(&held.path));
    assert_eq!(read(&held.board, 1), b"\n");
    let refused = format!("tcp:{closed}");
    let cases: [(&[&str], i32, &str); 7] = [
        (&["/dev/ttyNONE"], 1, "cannot open /dev/ttyNONE: No such file or directory (os error 2); "),
        (&["Cargo.toml"], 1, "is this a serial port?"),
        (&[&held.path], 1, "another program uses the port"),
        (&[&refused], 1, "Is the board switched on"),
        (&[], 2, "the serial port is missing"),
        (&["a", "--baud", "fast"], 2, "--baud needs a number, not fast"),
        (&["--help"], 0, ""),
    ];
    for (arguments, code, expected) in cases {
        let output = bridge().args(arguments).output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {errors}");
        assert!(errors.contains(expected), "{arguments:?}: {expected} is missing in {errors}");
    }
    holder.close_stdin();
    assert_eq!(holder.wait_for_exit().0.code(), Some(0));
}
