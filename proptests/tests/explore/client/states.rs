//! The checks in each client state, and the number of states.

use mcp_proto_proptests::explore::{Check, explore};

use super::super::{assert_all_seen, assert_counted};
use super::*;

pub(super) fn is_connecting(method: &str) -> bool {
    matches!(method, "initialize" | "server/discover")
}

/// A ping is answered where the server may send one.
fn answers_a_ping(scene: &mut Scene) {
    if scene.lines.blocked {
        assert!(scene.step("reads again") || scene.lines.closed);
    }
    let is_ready = scene.state == State::Ready;
    if is_ready && scene.step("> ping") && !scene.lines.closed {
        assert!(scene.lines.dialogue.ends_with("< {\"jsonrpc\":\"2.0\",\"id\":\"p\",\"result\":{}}\n"));
    }
}

/// The server closes: every request ends, and the client can reconnect.
fn ends(scene: &mut Scene) {
    if !scene.lines.ended && !scene.lines.closed {
        assert!(scene.step("eof"));
    }
    comes_to_an_end(scene);
    assert!(scene.step("reconnect"));
    assert!(scene.open.iter().all(|it| it.kind == Kind::Subscription));
    if scene.step("> accept") {
        assert!(matches!(scene.state, State::Ready | State::Stateless));
    }
}

fn comes_to_an_end(scene: &mut Scene) {
    for _ in 0..8 {
        if scene.lines.closed {
            return;
        }
        assert!(scene.step("time"), "it waits for nothing, and does not end");
    }
    panic!("it does not end");
}

fn shuts_down(scene: &mut Scene) {
    if !scene.lines.closed {
        assert!(scene.step("shut down"));
        comes_to_an_end(scene);
    }
}

/// Without further input, every request ends by its timeout.
fn times_out(scene: &mut Scene) {
    for _ in 0..20 {
        if !scene.step("time") {
            assert!(scene.open.iter().all(|it| it.kind == Kind::Subscription), "{:?} never ends", scene.open);
            assert!(scene.kept.is_empty());
            return;
        }
    }
    panic!("it never comes to rest");
}

const CHECKS: [Check<Scene>; 4] = [answers_a_ping, ends, shuts_down, times_out];

/// The number of states, and the distance of the last one.
#[track_caller]
fn run(
    info: &'static ClientConfig<'static>,
    slots: usize,
    steps: &[&'static str],
    changes: &Rc<RefCell<Changes>>,
    expected: [usize; 2],
) {
    let explored = explore(|| Scene::new(info, slots, changes), steps, &CHECKS, 5_000);
    assert_counted("client", &explored, slots, steps.len(), expected);
}

#[test]
fn connecting_client_has_no_lost_request_or_dead_end() {
    let changes = Rc::default();
    let steps = [
        "> accept",
        "> refuse",
        "> unsupported",
        "> nothing",
        "> noise",
        "> again",
        "> ping",
        "> result",
        "call",
        "roots changed",
        "shut down",
        "time",
        "eof",
        "gone",
        "reset",
        "reconnect",
    ];
    run(&AUTOMATIC, 1, &steps, &changes, [106, 7]);
    run(&HANDSHAKE, 1, &steps, &changes, [16, 4]);
    assert_all_seen("client states", &changes.borrow());
}

#[test]
fn client_in_a_session_has_no_lost_request_or_dead_end() {
    let steps = [
        "> accept",
        "> result",
        "> error",
        "> more",
        "> too long",
        "> progress",
        "> again",
        "> ping",
        "> ask",
        "> take back",
        "> changed",
        "call",
        "list",
        "cancel",
        "answer",
        "time",
        "shut down",
        "eof",
        "gone",
        "reset",
        "reconnect",
    ];
    run(&HANDSHAKE, 2, &steps, &Rc::default(), [49, 7]);
}

#[test]
fn stateless_client_has_no_lost_request_or_dead_end() {
    let steps = [
        "> accept",
        "> result",
        "> error",
        "> input required",
        "> acknowledged",
        "> again",
        "> changed",
        "call",
        "listen",
        "cancel",
        "resume",
        "time",
        "shut down",
        "eof",
        "gone",
        "reset",
        "reconnect",
    ];
    run(&STATELESS, 2, &steps, &Rc::default(), [135, 9]);
}

#[test]
fn blocked_client_has_no_lost_request_or_dead_end() {
    let steps = [
        "> accept",
        "> result",
        "> again",
        "> ping",
        "> ask",
        "> take back",
        "call",
        "cancel",
        "answer",
        "roots changed",
        "time",
        "shut down",
        "eof",
        "stops reading",
        "reads again",
    ];
    run(&HANDSHAKE, 1, &steps, &Rc::default(), [992, 10]);
}
