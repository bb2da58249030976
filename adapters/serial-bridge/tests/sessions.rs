//! Successive clients: no client finds traces of the previous client.

use std::time::Instant;

use crate::board::{Board, SHOWN_LOG};
use crate::client::{BridgeClient, Era};

/// Kills a client at a moment that depends on the round.
fn kill_in_the_middle(client: &mut BridgeClient, era: Era, round: u32) {
    match round % 4 {
        0 => {
            client.call(era, 2, "slow");
            client.expect_line(r#""progress":0"#);
        }
        1 => client.write(br#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"na"#),
        // The response has 8000 characters, and the board sends at most 32 characters in a millisecond.
        2 => client.call(era, 2, "big"),
        _ => {
            client.call(era, 2, "slow");
            client.expect_line(r#""progress":0"#);
            client.write(br#"{"jsonrpc":"2.0","method":"notifications/canc"#);
        }
    }
    std::thread::sleep(std::time::Duration::from_millis(u64::from(round) * 3));
    client.kill();
}

fn twenty_clients(era: Era) {
    let board = Board::start();
    for round in 0..20 {
        let mut client = BridgeClient::new(&[&board.path]);
        client.connect(era);
        client.call(era, 1, "in_flight");
        client.expect_line(r#""content":[{"type":"text","text":"0"}]"#);
        kill_in_the_middle(&mut client, era, round);
    }
    // Each client began with a session mark. The test killed each client before a second mark was sent.
    assert_eq!(board.marks(), 20);
}

#[test]
fn killed_clients_leave_nothing_behind_with_handshakes() {
    twenty_clients(Era::Handshake);
}

#[test]
fn killed_clients_leave_nothing_behind_without_handshakes() {
    twenty_clients(Era::Stateless);
}

#[test]
fn old_session_remains_without_the_session_mark() {
    let board = Board::start();
    let mut client = BridgeClient::new(&[&board.path]);
    client.connect(Era::Stateless);
    client.call(Era::Stateless, 2, "slow");
    client.expect_line(r#""progress":0"#);
    client.kill();
    let mut client = BridgeClient::new(&[&board.path, "--no-mark", "--settle", "1"]);
    client.call(Era::Stateless, 2, "hello");
    // The old call with this id still runs: skip its progress, and take the error for the new call.
    let refused =
        std::iter::from_fn(|| Some(client.next_line())).find(|line| line.contains(r#""id":2"#)).unwrap();
    assert!(refused.contains("still in flight"), "{refused}");
    assert_eq!(board.marks(), 1);
}

#[test]
fn empty_line_ends_an_incomplete_line_without_the_mark() {
    let board = Board::start();
    let mut client = BridgeClient::new(&[&board.path, "--no-mark"]);
    client.connect(Era::Handshake);
    client.write(br#"{"jsonrpc":"2.0","id":7,"method":"tools/ca"#);
    std::thread::sleep(std::time::Duration::from_millis(100));
    client.kill();
    let mut client = BridgeClient::new(&[&board.path, "--no-mark"]);
    client.call(Era::Stateless, 1, "hello");
    client.expect_line(r#""id":1,"result""#);
    assert_eq!(board.marks(), 0);
}

#[test]
fn lines_that_are_no_messages_go_to_stderr() {
    let board = Board::start();
    let mut client = BridgeClient::new(&[&board.path]);
    client.connect(Era::Handshake);
    client.call(Era::Handshake, 1, "log");
    client.expect_line(r#""id":1,"result""#);
    client.call(Era::Handshake, 2, "hello");
    client.expect_line(r#""id":2,"result""#);
    client.close_stdin();
    assert_eq!(client.rest(), Vec::<String>::new());
    let (status, errors) = client.wait_for_exit();
    assert!(status.success());
    assert_eq!(errors, SHOWN_LOG);
}

#[test]
fn requests_in_flight_are_answered_after_the_client_leaves() {
    let board = Board::start();
    let mut client = BridgeClient::new(&[&board.path, "--grace", "15000"]);
    client.connect(Era::Handshake);
    client.call(Era::Handshake, 1, "slow");
    client.call(Era::Handshake, 2, "slow");
    client.send(r#""method":"notifications/cancelled","params":{"requestId":2}"#);
    client.close_stdin();
    let left = Instant::now();
    let lines = client.rest();
    assert!(
        lines.last().unwrap().contains(r#""id":1,"result":{"content":[{"type":"text","text":"done"}]"#),
        "{lines:?}"
    );
    assert_eq!(client.wait_for_exit().0.code(), Some(0));
    assert!(left.elapsed().as_secs() < 10, "a cancelled request is not waited for");
    // The bridge also sends a mark at the end of the session, so that the board keeps no state.
    while board.marks() < 2 {
        assert!(left.elapsed().as_secs() < 20);
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

#[test]
fn slow_request_does_not_outlast_the_grace_period() {
    let board = Board::start();
    let mut client = BridgeClient::new(&[&board.path, "--grace", "50"]);
    client.connect(Era::Stateless);
    client.call(Era::Stateless, 1, "slow");
    client.expect_line(r#""progress":0"#);
    client.close_stdin();
    let (status, errors) = client.wait_for_exit();
    assert_eq!(status.code(), Some(0));
    assert!(errors.contains("1 of its requests got no response in time"), "{errors}");
}

#[test]
fn idle_client_leaves_without_waiting() {
    let board = Board::start();
    let mut client = BridgeClient::new(&[&board.path, "--grace", "15000"]);
    client.connect(Era::Handshake);
    client.close_stdin();
    let left = Instant::now();
    assert_eq!(client.wait_for_exit().0.code(), Some(0));
    assert!(left.elapsed().as_secs() < 10);
}

#[test]
fn second_bridge_waits_for_the_port_of_the_first() {
    let board = Board::start();
    let mut first = BridgeClient::new(&[&board.path]);
    first.connect(Era::Handshake);
    first.call(Era::Handshake, 1, "slow");
    first.expect_line(r#""progress":0"#);
    first.close_stdin();
    let mut second = BridgeClient::new(&[&board.path]);
    second.connect(Era::Stateless);
    let lines = first.rest();
    assert!(lines.last().unwrap().contains("done"), "{lines:?}");
    assert_eq!(first.wait_for_exit().0.code(), Some(0));
}

#[test]
fn readme_entry_for_desktop_clients_starts_a_bridge() {
    let readme = include_str!("../../../README.md");
    let (_, section) = readme.split_once("### A board in a desktop client\n").unwrap();
    let (_, entry) = section.split_once("```json\n").unwrap();
    let entry: serde_json::Value = serde_json::from_str(entry.split_once("```").unwrap().0).unwrap();
    let server = &entry["mcpServers"]["board"];
    assert_eq!(server["command"], "mcp-serial-bridge");
    let mut arguments: Vec<&str> =
        server["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    let board = Board::start();
    assert_eq!(arguments[0], "/dev/ttyACM0");
    arguments[0] = &board.path;
    let mut client = BridgeClient::new(&arguments);
    client.connect(Era::Handshake);
    assert_eq!(board.marks(), 1);
}
