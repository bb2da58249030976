//! Frames between the bridge and the board.
//!
//! Noise makes no call fail. Resets and killed clients are handled as without frames.

use std::time::Duration;

use crate::board::{Board, Random, Wire};
use crate::client::{BridgeClient, Era};
use crate::noise::{calls, concurrently, responses};

/// Makes 208 calls, while 1 % of the bytes are damaged in both directions.
fn all_calls_succeed_despite_noise(era: Era) {
    let results = concurrently(|noise| {
        let board = Board::framed_with_noise_of(noise);
        board.make_noise(10);
        let mut client = BridgeClient::new(&[&board.path, "--framed", "--settle", "20000"]);
        client.connect(era);
        let results = calls(&mut client, era);
        let log = client.kill();
        assert!(!log.contains("restarted") && !log.contains("mcp-serial-bridge"), "{log}");
        results
    });
    assert_eq!(results, 208);
}

#[test]
fn all_calls_of_a_handshake_session_succeed_despite_noise() {
    all_calls_succeed_despite_noise(Era::Handshake);
}

#[test]
fn all_calls_of_a_stateless_session_succeed_despite_noise() {
    all_calls_succeed_despite_noise(Era::Stateless);
}

#[test]
fn large_results_pass_in_frames() {
    let board = Board::start_framed();
    let mut client = BridgeClient::new(&[&board.path, "--framed"]);
    client.connect(Era::Handshake);
    for id in 1..4 {
        client.call(Era::Handshake, id, "big");
        let line = client.next_line();
        assert!(line.contains(&"0123456789".repeat(800)), "{line}");
    }
}

#[test]
fn text_between_frames_is_shown() {
    let board = Board::start_framed();
    let mut client = BridgeClient::new(&[&board.path, "--framed"]);
    client.connect(Era::Handshake);
    client.call(Era::Handshake, 1, "log");
    client.expect_line("printed");
    // An incomplete line of text is shown at the end of the session at the latest.
    client.close_stdin();
    let (_, log) = client.wait_for_exit();
    let shown = "booting...\n[00:00.000] <inf> päivää\n{\"jsonrpc\":\"2.0\",\"id\":1}\nno end\n";
    assert!(log.contains(shown), "{log}");
}

#[test]
fn requests_to_a_board_that_is_off_fail_at_the_time_limit() {
    let wire = Wire::new();
    let mut client = BridgeClient::new(&[&wire.path, "--framed", "--settle", "100", "--timeout", "400"]);
    client.send_first(Era::Handshake);
    client.call(Era::Handshake, 1, "hello");
    let why = "the board did not respond in time";
    client.expect_line(&format!(r#""id":0,"error":{{"code":-32603,"message":"{why}. Is it switched on?"}}"#));
    client.expect_line(&format!(r#""id":1,"error":{{"code":-32603,"message":"{why}"}}"#));
}

/// Runs six clients one after the other. Returns how many of the calls with the ids 2 to 5 have a result.
fn killed_clients(noise: u64) -> usize {
    let board = Board::framed_with_noise_of(noise);
    board.make_noise(10);
    let (mut random, mut results) = (Random(5 + noise), 0);
    for round in 0..6 {
        let era = if round % 2 == 0 { Era::Handshake } else { Era::Stateless };
        let mut client = BridgeClient::new(&[&board.path, "--framed", "--settle", "20000"]);
        client.connect(era);
        client.call(era, 1, "in_flight");
        client.expect_line(r#""content":[{"type":"text","text":"0"}]"#);
        (2..6).for_each(|id| client.call(era, id, if id == 2 { "slow" } else { "hello" }));
        if round % 3 != 0 {
            std::thread::sleep(Duration::from_millis(random.below(200).into()));
            board.reset();
        }
        let finished = responses(&mut client, (2..6).collect());
        assert!(round % 3 != 0 || finished == 4, "{finished}");
        // The session continues.
        client.call(era, 6, "hello");
        client.call(era, 7, "hello");
        assert!(responses(&mut client, [6, 7].into()) >= 1);
        client.call(era, 8, "slow");
        client.write(br#"{"jsonrpc":"2.0","id":9,"method":"tools/ca"#);
        std::thread::sleep(Duration::from_millis(random.below(100).into()));
        client.kill();
        results += finished;
    }
    results
}

#[test]
fn noise_resets_and_killed_clients_leave_nothing_behind() {
    let results = concurrently(killed_clients);
    assert!(results > 32, "{results}: no call has a result in a round with a reset");
}
