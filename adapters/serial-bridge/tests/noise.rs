//! Resets, noise and unplugged boards. The client's session continues, and each call gets a result or an error.

use std::collections::BTreeSet;
use std::thread;
use std::time::Duration;

use crate::board::{Board, Random};
use crate::client::{BridgeClient, Era};

/// Reads lines until each of the calls has its response. Returns how many have a result.
pub(crate) fn responses(client: &mut BridgeClient, mut calls: BTreeSet<u32>) -> usize {
    let mut results = 0;
    while !calls.is_empty() {
        let line = client.next_line();
        let message: serde_json::Value =
            serde_json::from_str(&line).unwrap_or_else(|why| panic!("{why}: {line}"));
        if message.get("method").is_some() {
            continue;
        }
        let id = message["id"].as_u64().unwrap_or_else(|| panic!("no id: {line}")) as u32;
        assert!(calls.remove(&id), "{id} was answered before, or is not in flight: {line}");
        assert!(message.get("result").is_some() != message.get("error").is_some(), "{line}");
        results += usize::from(message.get("result").is_some());
    }
    results
}

/// Calls a tool that must succeed.
fn works(client: &mut BridgeClient, era: Era, id: u32) {
    client.call(era, id, "hello");
    assert_eq!(responses(client, [id].into()), 1);
}

/// Calls a tool twice. The second call must succeed. The first call may fail because of a reset, or of the rest of a
/// damaged line.
fn recovers(client: &mut BridgeClient, era: Era, id: u32) {
    client.call(era, id, "hello");
    responses(client, [id].into());
    works(client, era, id + 1);
}

fn resets_at_random_moments(era: Era) {
    let board = Board::start();
    let mut client = BridgeClient::new(&[&board.path]);
    client.connect(era);
    let (mut random, mut results) = (Random(17), 0);
    for round in 0..25 {
        let calls: BTreeSet<u32> = (1..=4).map(|call| round * 10 + call).collect();
        for id in &calls {
            client.call(era, *id, ["hello", "slow", "big", "in_flight"][random.below(4) as usize]);
        }
        thread::sleep(Duration::from_millis(random.below(60).into()));
        board.reset();
        results += responses(&mut client, calls);
        recovers(&mut client, era, round * 10 + 5);
    }
    assert!(results < 100, "no call was interrupted");
    assert!(client.kill().matches("the board has restarted").count() >= 20);
}

#[test]
fn handshake_session_survives_resets_at_random_moments() {
    resets_at_random_moments(Era::Handshake);
}

#[test]
fn stateless_session_survives_resets_at_random_moments() {
    resets_at_random_moments(Era::Stateless);
}

#[test]
fn lost_mark_is_detected_by_the_refusal_of_a_request() {
    let board = Board::start();
    let mut client = BridgeClient::new(&[&board.path]);
    client.connect(Era::Handshake);
    for id in 1..5 {
        board.reset_without_a_mark();
        thread::sleep(Duration::from_millis(50));
        works(&mut client, Era::Handshake, id);
    }
    assert!(client.kill().contains("the board has restarted"));
}

/// Runs a session four times at once, because a session mostly waits. Returns the sum of the results.
pub(crate) fn concurrently(session: impl Fn(u64) -> usize + Sync) -> usize {
    let session = &session;
    thread::scope(|scope| {
        let sessions: Vec<_> = (0..4).map(|noise| scope.spawn(move || session(noise))).collect();
        sessions.into_iter().map(|session| session.join().unwrap()).sum()
    })
}

/// Makes 52 calls, four at a time. Returns how many have a result.
pub(crate) fn calls(client: &mut BridgeClient, era: Era) -> usize {
    let round = |round: u32| {
        let calls: BTreeSet<u32> = (1..=4).map(|call| round * 4 + call).collect();
        calls.iter().for_each(|id| client.call(era, *id, if id % 9 == 0 { "slow" } else { "hello" }));
        responses(client, calls)
    };
    (0..13).map(round).sum()
}

fn every_call_ends_despite_noise(era: Era) {
    let results = concurrently(|noise| {
        let board = Board::with_noise_of(noise);
        let mut client = BridgeClient::new(&[&board.path]);
        client.connect(era);
        board.make_noise(10);
        let results = calls(&mut client, era);
        board.make_noise(0);
        recovers(&mut client, era, 1000);
        assert_eq!(board.marks(), 1, "noise makes no mark");
        results
    });
    assert!((1..208).contains(&results), "{results} of 208 calls have a result");
}

#[test]
fn every_call_of_a_handshake_session_ends_despite_noise() {
    every_call_ends_despite_noise(Era::Handshake);
}

#[test]
fn every_call_of_a_stateless_session_ends_despite_noise() {
    every_call_ends_despite_noise(Era::Stateless);
}

fn session_can_begin_despite_noise(era: Era) {
    let board = Board::start();
    board.make_noise(2);
    for _ in 0..5 {
        let mut client = BridgeClient::new(&[&board.path, "--settle", "20000"]);
        client.send_first(era);
        responses(&mut client, [0].into());
    }
}

#[test]
fn first_request_ends_despite_noise() {
    session_can_begin_despite_noise(Era::Handshake);
    session_can_begin_despite_noise(Era::Stateless);
}

#[test]
fn killed_clients_with_noise_and_resets_leave_nothing_behind() {
    let board = Board::start();
    let mut random = Random(3);
    for round in 0..12 {
        let era = if round % 2 == 0 { Era::Handshake } else { Era::Stateless };
        let mut client = BridgeClient::new(&[&board.path]);
        client.connect(era);
        client.call(era, 1, "in_flight");
        client.expect_line(r#""content":[{"type":"text","text":"0"}]"#);
        board.make_noise(10);
        (2..6).for_each(|id| client.call(era, id, if id == 2 { "slow" } else { "big" }));
        if round % 3 == 0 {
            board.reset();
        }
        responses(&mut client, (2..6).collect());
        client.call(era, 6, "slow");
        client.write(br#"{"jsonrpc":"2.0","id":7,"method":"tools/ca"#);
        thread::sleep(Duration::from_millis(random.below(100).into()));
        client.kill();
        board.make_noise(0);
    }
}

#[test]
fn board_that_is_plugged_in_again_continues_the_session() {
    let mut board = Board::start();
    let mut client = BridgeClient::new(&[&board.path]);
    client.connect(Era::Handshake);
    for id in [1, 11] {
        client.call(Era::Handshake, id, "slow");
        client.expect_line(r#""progress":0"#);
        board.unplug();
        assert_eq!(responses(&mut client, [id].into()), 0);
        client.call(Era::Handshake, id + 1, "hello");
        thread::sleep(Duration::from_millis(300));
        board.plug_in();
        assert_eq!(responses(&mut client, [id + 1].into()), 1, "it waits for the board");
    }
    board.unplug();
    client.call(Era::Handshake, 21, "hello");
    client.close_stdin();
    assert_eq!(client.wait_for_exit().0.code(), Some(0), "a client that leaves ends the wait");
}
