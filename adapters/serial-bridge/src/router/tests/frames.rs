//! Time limits of requests to a board that exchanges frames.

use mcp_proto::Millis;
use mcp_proto_framed_link::FramedLink;

use super::*;
use crate::board_line::BoardLine;

/// The error after the time limit.
fn late(id: &str) -> String {
    error(id, -32603, "the board did not respond in time")
}

/// Creates a router for a board that confirms output with frames.
fn framed() -> Bench {
    let mut bench = Bench::new();
    bench.router.settings.framed = true;
    bench
}

/// Advances the time in steps of a second.
fn advance_seconds(bench: &mut Bench, seconds: u32) {
    (0..seconds).for_each(|_| bench.advance(1000));
}

#[test]
fn unsent_request_fails_and_is_not_sent_later() {
    let mut bench = framed();
    bench.client(&call("1"));
    advance_seconds(&mut bench, 30);
    bench.client(&call("2"));
    advance_seconds(&mut bench, 29);
    assert_eq!(bench.client_output(), [""; 0]);
    advance_seconds(&mut bench, 1);
    assert_eq!(bench.client_output(), [late("1")]);
    assert_eq!(bench.board_output(), [call("2")]);
}

#[test]
fn partly_sent_request_fails_and_is_cancelled() {
    let mut bench = framed();
    bench.client(&call("1"));
    bench.router.to_board.drain(..10);
    advance_seconds(&mut bench, 60);
    assert_eq!(bench.client_output(), [late("1")]);
    let output = bench.board_output();
    assert_eq!(output.len(), 2, "the rest of the request, and the cancellation: {output:?}");
    assert!(output[0] == call("1")[10..] && output[1].contains("notifications/cancelled"), "{output:?}");
}

#[test]
fn unsent_handshake_fails_at_the_time_limit() {
    let mut bench = framed();
    bench.client(INITIALIZE);
    advance_seconds(&mut bench, 59);
    assert_eq!(bench.client_output(), [""; 0]);
    advance_seconds(&mut bench, 1);
    let failure = error("0", -32603, "the board did not respond in time. Is it switched on?");
    assert_eq!((bench.client_output(), bench.board_output()), (vec![failure], vec![]));
}

#[test]
fn time_does_not_run_while_the_board_confirms_frames() {
    let mut bench = framed();
    let (mut line, mut board) = (BoardLine::new(Some(7), bench.now), FramedLink::new(9));
    let start = bench.now;
    // Moves at most one frame in each direction.
    let mut exchange = |bench: &mut Bench| {
        let now = Millis(bench.now.duration_since(start).as_millis() as u64);
        let bytes = line.output(4096, &mut bench.router, bench.now);
        board.input(&bytes, now, |_| {});
        board.consume(board.received().len());
        let answer = board.output(now).to_vec();
        board.written(answer.len(), now);
        line.input(&answer, &mut bench.router, bench.now);
    };
    (0..4).for_each(|_| exchange(&mut bench));
    bench.client(&call(&format!("\"{}\"", "x".repeat(640))));
    for _ in 0..10 {
        exchange(&mut bench);
        bench.advance(14_000);
        assert_eq!(bench.client_output(), [""; 0]);
    }
    assert!(!bench.router.to_board.is_empty());
    // The board is switched off.
    let mut seconds = 0;
    while bench.client_output().is_empty() {
        seconds += 1;
        bench.advance(1000);
    }
    assert!((46..76).contains(&seconds), "{seconds}");
}
