//! A model of the lifecycles of a client and its server, on a connection and on a second one after it. stateright
//! checks the model, and the test compares it with the machines.
//!
//! The model has the states, requests and messages of a client and a server, and nothing else. The properties of the
//! model hold in each state: each request has one end, no response follows a cancellation, and each connection can end.
//! The test repeats each transition of the model with a real client and a real server: states, requests and messages in
//! transit must be equal.

mod machines;
mod model;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use mcp_proto_proptests::explore::diagram;
use stateright::{Checker, Model, Path};

use machines::Machines;
use model::{Lifecycles, Move, Pair, Setup};

/// The state changes of one side.
type Changes = BTreeSet<(String, String)>;

/// Shows the path if a machine panics.
struct Shown(Vec<Move>);

impl Drop for Shown {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("after {:?}", self.0);
        }
    }
}

/// Repeats the path with real machines, and then each transition from the last state of the path.
fn repeat(model: &Lifecycles, path: Path<Pair, Move>, changes: &mut [Changes; 2]) {
    let mut pair = path.last_state().clone();
    let moves = path.into_actions();
    let repeated = |step: Option<Move>| {
        let shown = Shown(moves.iter().copied().chain(step).collect());
        let mut machines = Machines::new(model.setup);
        shown.0.iter().for_each(|step| machines.apply(*step));
        machines.pair()
    };
    let mut steps = Vec::new();
    model.actions(&pair, &mut steps);
    for step in steps {
        let after = model.next_state(&pair, step).unwrap_or_else(|| pair.clone());
        let real = repeated(Some(step));
        assert!(real == after, "{moves:?}, then {step:?}:\nreal:  {real:?}\nmodel: {after:?}");
        let passed = model.step(&pair, step).map(|pair| [pair.client.changes, pair.server.changes]);
        for (changes, passed) in changes.iter_mut().zip(passed.into_iter().flatten()) {
            let passed = passed.iter().filter(|(from, to)| from != to);
            changes.extend(passed.map(|(from, to)| (format!("{from:?}"), format!("{to:?}"))));
        }
    }
    pair.client.changes.clear();
    assert_eq!(repeated(None), pair, "the machines differ from the model after {moves:?}");
}

/// Checks the model, and compares it with the machines. Returns the changes of the client and the server.
fn check(model: Lifecycles, states: usize) -> [Changes; 2] {
    let changes = Arc::new(Mutex::new(<[Changes; 2]>::default()));
    let seen = Arc::clone(&changes);
    let visit = move |path: Path<Pair, Move>| repeat(&model, path, &mut seen.lock().unwrap());
    let checker = model.checker().visitor(visit).spawn_bfs().join();
    checker.assert_properties();
    let why = "review the states, then update this number";
    assert_eq!(checker.unique_state_count(), states, "{model:?}: {why}");
    let changes = changes.lock().unwrap();
    changes.clone()
}

/// The transitions of a server that this client never causes, but other clients do. The test `explore` checks these
/// transitions.
const OTHER_CLIENTS: [(&str, &str); 6] = [
    // Requests before `notifications/initialized`.
    ("Negotiated", "Serving"),
    ("Serving", "Ready"),
    ("Serving", "Negotiated"),
    ("Serving", "Draining"),
    ("Serving", "Closed"),
    // A second `initialize` on an open session.
    ("Ready", "Negotiated"),
];

/// The transitions that need a broken connection, or a stateless server that refuses `initialize` after a probe that
/// timed out. The test `explore` checks these transitions.
const OTHER_CONNECTIONS: [(&str, &str); 4] =
    [("Waiting", "Closed"), ("Negotiated", "Closed"), ("Ready", "Closed"), ("Initializing", "Probing")];

#[test]
fn model_and_diagrams_have_the_same_transitions() {
    let mut models = vec![(Setup::Handshake, 1, 381), (Setup::Stateless, 2, 354), (Setup::Fallback, 1, 403)];
    if crate::config(1).cases > 1 {
        models.push((Setup::Handshake, 2, 4714));
    }
    let mut seen = <[Changes; 2]>::default();
    for (setup, calls, states) in models {
        for (all, changes) in seen.iter_mut().zip(check(Lifecycles { setup, calls }, states)) {
            all.extend(changes);
        }
    }
    for (name, seen) in ["client states", "server states"].into_iter().zip(&seen) {
        let is_elsewhere = |change: &(String, String)| {
            let change = (change.0.as_str(), change.1.as_str());
            OTHER_CLIENTS.contains(&change) || OTHER_CONNECTIONS.contains(&change)
        };
        let table = diagram(name).into_iter().filter(|(from, to)| from != to && from != "[*]" && to != "[*]");
        let (elsewhere, table): (Changes, Changes) = table.partition(is_elsewhere);
        println!("{name}: {elsewhere:?}");
        assert_eq!(*seen, table, "{name}");
    }
}
