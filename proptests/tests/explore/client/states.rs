//! The checks in each client state, and the number of states.

use mcp_proto_proptests::explore::{Check, explore};

use super::super::{assert_all_seen, assert_counted};
use super::*;

pub(super) fn is_connecting(method: &str) -> bool {
    matches!(method, "initialize" | "server/discover")
}

/// In a handshake session, checks that the client responds to a ping, if the server can still send a ping.
fn ping_gets_response(scene: &mut Scene) {
    if scene.lines.blocked {
        assert!(scene.step("reads again") || scene.lines.closed);
    }
    let is_ready = scene.state == State::Ready;
    if is_ready && scene.step("> ping") && !scene.lines.closed {
        assert!(scene.lines.dialogue.ends_with("< {\"jsonrpc\":\"2.0\",\"id\":\"p\",\"result\":{}}\n"));
    }
}

/// Closes the server. Checks that every request except subscriptions ends, and that the client can reconnect.
fn closes_with_peer(scene: &mut Scene) {
    if !scene.lines.ended && !scene.lines.closed {
        assert!(scene.step("eof"));
    }
    assert_closes(scene);
    assert!(scene.step("reconnect"));
    assert!(scene.open.iter().all(|it| it.kind == Kind::Subscription));
    if scene.step("> accept") {
        assert!(matches!(scene.state, State::Ready | State::Stateless));
    }
}

fn assert_closes(scene: &mut Scene) {
    for _ in 0..8 {
        if scene.lines.closed {
            return;
        }
        assert!(scene.step("time"), "the client has no deadline, but is not closed");
    }
    panic!("the client does not close");
}

fn shuts_down(scene: &mut Scene) {
    if !scene.lines.closed {
        assert!(scene.step("shut down"));
        assert_closes(scene);
    }
}

/// Checks that every request except subscriptions ends by its timeout, if no further input arrives.
fn times_out(scene: &mut Scene) {
    for _ in 0..20 {
        if !scene.step("time") {
            assert!(scene.open.iter().all(|it| it.kind == Kind::Subscription), "{:?} never ends", scene.open);
            assert!(scene.deferred.is_empty());
            return;
        }
    }
    panic!("the client is never idle");
}

const CHECKS: [Check<Scene>; 4] = [ping_gets_response, closes_with_peer, shuts_down, times_out];

/// Explores all states, and checks their number and the largest distance from the first state.
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
    run(&AUTOMATIC, 1, &steps, &changes, [144, 7]);
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
        "> cancel server request",
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
        "> cancel server request",
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
