//! The checks in each server state, and the number of states.

use mcp_proto_proptests::explore::{Check, explore};

use super::super::{assert_all_seen, assert_counted};
use super::*;

/// If the client can still send a ping, checks that the ping gets a response: a result, or an error while the server is
/// draining.
fn ping_gets_response(scene: &mut Scene) {
    if scene.lines.ended || scene.lines.closed || scene.lines.broken {
        return;
    }
    if scene.lines.blocked {
        assert!(scene.step("reads again"));
    }
    if scene.lines.closed {
        return;
    }
    assert!(scene.step("> ping"));
    let last = scene.lines.dialogue.lines().rev().find(|line| line.starts_with('<')).unwrap_or_default();
    let result = last.contains(r#""id":"p","result":"#);
    assert!(result || scene.server.state() == State::Draining, "{last}");
}

/// Closes the client. Checks that the server closes, and that no response is missing if the client reads. Also checks
/// that the server can be reset and used again.
fn closes_with_peer(scene: &mut Scene) {
    if !scene.lines.ended && !scene.lines.closed {
        assert!(scene.step("eof"));
    }
    for _ in 0..8 {
        if scene.lines.closed {
            break;
        }
        assert!(scene.step("time"), "the server has no deadline, but is not closed");
    }
    assert!(scene.lines.closed, "the server does not close");
    if !scene.lines.blocked && !scene.lines.broken {
        for (id, count) in &scene.counts {
            assert_eq!(count.sent, count.answered + count.excused, "{id}: {count:?}");
        }
    }
    assert!(scene.step("reset"));
    assert!(scene.step("> ping"));
    assert_eq!(scene.counts["\"p\""].answered, 1);
}

/// Shuts the server down. Checks that the server closes.
fn shuts_down(scene: &mut Scene) {
    if scene.lines.closed {
        return;
    }
    assert!(scene.step("shut down"));
    for _ in 0..8 {
        if scene.lines.closed {
            return;
        }
        assert!(scene.step("time"), "the server has no deadline, but is not closed");
    }
    panic!("the server does not close");
}

const CHECKS: [Check<Scene>; 3] = [ping_gets_response, closes_with_peer, shuts_down];

/// Explores all states, and checks their number and the largest distance from the first state.
#[track_caller]
fn run(
    info: &'static ServerConfig<'static>,
    slots: usize,
    steps: &[&'static str],
    changes: &Rc<RefCell<Changes>>,
    expected: [usize; 2],
) {
    let explored = explore(|| Scene::new(info, slots, changes), steps, &CHECKS, 5_000);
    assert_counted("server", &explored, slots, steps.len(), expected);
}

#[test]
fn server_session_has_no_lost_request_or_dead_end() {
    let changes = Rc::default();
    let steps = [
        "> initialize",
        "> initialized",
        "> ping",
        "> later 1",
        "> later 2",
        "> quick 1",
        "> cancel 1",
        "> shutdown",
        "> exit",
        "> unknown",
        "> result",
        "> error",
        "> progress",
        "> result for unknown id",
        "> noise",
        "> too long",
        "> given up",
        "answer",
        "forget",
        "ask",
        "cancel server request",
        "changed",
        "shut down",
        "time",
        "eof",
        "gone",
        "reset",
    ];
    run(&REFUSES, 2, &steps, &changes, [392, 15]);
    let steps = [
        "> initialize",
        "> initialized",
        "> later 1",
        "> cancel 1",
        "> result",
        "ask",
        "answer",
        "time",
        "shut down",
        "eof",
        "gone",
        "reset",
    ];
    run(&RESTARTS, 2, &steps, &changes, [74, 13]);
    assert_all_seen("server states", &changes.borrow());
}

#[test]
fn server_of_both_eras_has_no_lost_request_or_dead_end() {
    let steps = [
        "> initialize",
        "> initialized",
        "> later 2",
        "> stateless later 1",
        "> stateless quick 2",
        "> listen 3",
        "> cancel 1",
        "> cancel 3",
        "answer",
        "end",
        "ask",
        "changed",
        "time",
        "shut down",
        "eof",
        "gone",
        "reset",
    ];
    run(&REFUSES, 2, &steps, &Rc::default(), [261, 15]);
}

#[test]
fn blocked_server_has_no_lost_request_or_dead_end() {
    let steps = [
        "> initialize",
        "> initialized",
        "> later 1",
        "> cancel 1",
        "> result",
        "answer",
        "ask",
        "cancel server request",
        "changed",
        "time",
        "shut down",
        "eof",
        "stops reading",
        "reads again",
    ];
    run(&REFUSES, 1, &steps, &Rc::default(), [910, 9]);
    let steps = [
        "> stateless later 1",
        "> cancel 1",
        "> listen 3",
        "> cancel 3",
        "> noise",
        "answer",
        "end",
        "changed",
        "time",
        "shut down",
        "eof",
        "stops reading",
        "reads again",
    ];
    run(&REFUSES, 1, &steps, &Rc::default(), [1004, 8]);
}
