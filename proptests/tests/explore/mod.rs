//! Explores all states of a server, a client and a table of tasks, with few requests in flight.
//!
//! The checks show that no request is lost, and that no state is a dead end.

mod client;
mod lines;
mod server;
mod tasks;

use std::collections::BTreeSet;

use mcp_proto_proptests::explore::{Explored, diagram};

/// State changes: pairs of the old and the new state.
type Changes = BTreeSet<(String, String)>;

/// Returns whether one poll may lead from one state to the other: by one or two transitions of the diagram.
fn is_allowed(diagram: &Changes, from: &str, to: &str) -> bool {
    let direct = |from: &str, to: &str| diagram.contains(&(from.to_owned(), to.to_owned()));
    direct(from, to) || diagram.iter().any(|(first, middle)| first == from && direct(middle, to))
}

/// Asserts that all transitions of the diagram were observed, except self-transitions and those of `[*]`, and that the
/// diagram allows all observed changes.
fn assert_all_seen(name: &str, seen: &Changes) {
    let diagram = diagram(name);
    let inner = diagram.iter().filter(|(from, to)| from != to && from != "[*]" && to != "[*]");
    let missing: Vec<_> =
        inner.filter(|step| !seen.contains(step)).map(|(from, to)| [from.as_str(), to]).collect();
    assert!(missing.is_empty(), "transitions that were never observed: {missing:?}");
    for (from, to) in seen {
        assert!(is_allowed(&diagram, from, to), "{from} to {to} is not in the diagram");
    }
}

/// Asserts the number of states, and the largest number of steps from the first state.
#[track_caller]
fn assert_counted(role: &str, explored: &Explored, slots: usize, steps: usize, expected: [usize; 2]) {
    let Explored { states, depth } = *explored;
    println!("{states} states of a {role}, at most {depth} steps away, with {slots} slots and {steps} steps");
    let why = "the machine has changed: review the states, then update these numbers";
    assert_eq!([states, depth], expected, "{why}");
}
