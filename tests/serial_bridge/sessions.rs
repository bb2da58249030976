//! Successive clients: each finds a board without traces of the previous one.

use std::time::Instant;

use super::board::{Board, LOG};
use super::client::{Era, ServerShared};

/// Kills a client at a moment that depends on the round.
fn dies_in_the_middle(desk: &mut ServerShared, era: Era, round: u32) {
    match round % 4 {
        0 => {
            desk.calls(era, 2, "slow");
            desk.expects(r#""progress":0"#);
        }
        1 => desk.writes(br#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"na"#),
        // The response has 8000 characters, and at most 32 are sent in a millisecond.
        2 => desk.calls(era, 2, "big"),
        _ => {
            desk.calls(era, 2, "slow");
            desk.expects(r#""progress":0"#);
            desk.writes(br#"{"jsonrpc":"2.0","method":"notifications/canc"#);
        }
    }
    std::thread::sleep(std::time::Duration::from_millis(u64::from(round) * 3));
    desk.killed();
}

fn twenty_clients(era: Era) {
    let board = Board::start();
    for round in 0..20 {
        let mut desk = ServerShared::new(&[&board.path]);
        desk.connects(era);
        desk.calls(era, 1, "in_flight");
        desk.expects(r#""content":[{"type":"text","text":"0"}]"#);
        dies_in_the_middle(&mut desk, era, round);
    }
    // Each client began with a mark, and was killed before it could send another.
    assert_eq!(board.resets(), 20);
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
    let mut desk = ServerShared::new(&[&board.path]);
    desk.connects(Era::Stateless);
    desk.calls(Era::Stateless, 2, "slow");
    desk.expects(r#""progress":0"#);
    desk.killed();
    let mut desk = ServerShared::new(&[&board.path, "--no-mark", "--settle", "1"]);
    desk.calls(Era::Stateless, 2, "hello");
    // The board still sends progress of the old call, and confuses the new one with it.
    let refused = std::iter::from_fn(|| Some(desk.hears())).find(|line| line.contains(r#""id":2"#)).unwrap();
    assert!(refused.contains("still in flight"), "{refused}");
    assert_eq!(board.resets(), 1);
}

#[test]
fn empty_line_ends_half_a_line_without_the_session_mark() {
    let board = Board::start();
    let mut desk = ServerShared::new(&[&board.path, "--no-mark"]);
    desk.connects(Era::Handshake);
    desk.writes(br#"{"jsonrpc":"2.0","id":7,"method":"tools/ca"#);
    std::thread::sleep(std::time::Duration::from_millis(100));
    desk.killed();
    let mut desk = ServerShared::new(&[&board.path, "--no-mark"]);
    desk.calls(Era::Stateless, 1, "hello");
    desk.expects(r#""id":1,"result""#);
    assert_eq!(board.resets(), 0);
}

#[test]
fn lines_that_are_no_messages_go_to_stderr() {
    let board = Board::start();
    let mut desk = ServerShared::new(&[&board.path]);
    desk.connects(Era::Handshake);
    desk.calls(Era::Handshake, 1, "log");
    desk.expects(r#""id":1,"result""#);
    desk.calls(Era::Handshake, 2, "hello");
    desk.expects(r#""id":2,"result""#);
    desk.leaves();
    assert_eq!(desk.rest(), Vec::<String>::new());
    let (status, errors) = desk.ended();
    assert!(status.success());
    assert!(errors.ends_with(LOG), "{errors:?}");
}

#[test]
fn requests_in_flight_are_answered_after_the_client_leaves() {
    let board = Board::start();
    let mut desk = ServerShared::new(&[&board.path, "--grace", "15000"]);
    desk.connects(Era::Handshake);
    desk.calls(Era::Handshake, 1, "slow");
    desk.calls(Era::Handshake, 2, "slow");
    desk.says(r#""method":"notifications/cancelled","params":{"requestId":2}"#);
    desk.leaves();
    let left = Instant::now();
    let lines = desk.rest();
    assert!(
        lines.last().unwrap().contains(r#""id":1,"result":{"content":[{"type":"text","text":"done"}]"#),
        "{lines:?}"
    );
    assert_eq!(desk.ended().0.code(), Some(0));
    assert!(left.elapsed().as_secs() < 10, "a cancelled request is not waited for");
    // The session ends with a mark, too, and so leaves nothing on the board.
    while board.resets() < 2 {
        assert!(left.elapsed().as_secs() < 20);
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

#[test]
fn slow_request_does_not_outlast_the_grace_period() {
    let board = Board::start();
    let mut desk = ServerShared::new(&[&board.path, "--grace", "50"]);
    desk.connects(Era::Stateless);
    desk.calls(Era::Stateless, 1, "slow");
    desk.expects(r#""progress":0"#);
    desk.leaves();
    let (status, errors) = desk.ended();
    assert_eq!(status.code(), Some(0));
    assert!(errors.contains("1 of its requests were not answered in time"), "{errors}");
}

#[test]
fn idle_client_leaves_without_waiting() {
    let board = Board::start();
    let mut desk = ServerShared::new(&[&board.path, "--grace", "15000"]);
    desk.connects(Era::Handshake);
    desk.leaves();
    let left = Instant::now();
    assert_eq!(desk.ended().0.code(), Some(0));
    assert!(left.elapsed().as_secs() < 5);
}

#[test]
fn second_bridge_waits_for_the_port_of_the_first() {
    let board = Board::start();
    let mut first = ServerShared::new(&[&board.path]);
    first.connects(Era::Handshake);
    first.calls(Era::Handshake, 1, "slow");
    first.expects(r#""progress":0"#);
    first.leaves();
    let mut second = ServerShared::new(&[&board.path]);
    second.connects(Era::Stateless);
    let lines = first.rest();
    assert!(lines.last().unwrap().contains("done"), "{lines:?}");
    assert_eq!(first.ended().0.code(), Some(0));
}

#[test]
fn readme_entry_for_desktop_clients_starts_a_bridge() {
    let readme = include_str!("../../README.md");
    let (_, section) = readme.split_once("### A board in a desktop client\n").unwrap();
    let (_, entry) = section.split_once("```json\n").unwrap();
    let entry: serde_json::Value = serde_json::from_str(entry.split_once("```").unwrap().0).unwrap();
    let server = &entry["mcpServers"]["board"];
    assert!(server["command"].as_str().unwrap().ends_with("/target/release/examples/serial_bridge"));
    let mut arguments: Vec<&str> =
        server["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    let board = Board::start();
    assert_eq!(arguments[0], "/dev/ttyACM0");
    arguments[0] = &board.path;
    let mut desk = ServerShared::new(&arguments);
    desk.connects(Era::Handshake);
    assert_eq!(board.resets(), 1);
}
