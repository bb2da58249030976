//! Every state that a server and a client can come to with a few requests in flight: nothing is lost in any of them, and
//! none is a dead end.

mod client;
mod lines;
mod server;

use std::collections::BTreeSet;

use mcp_proto_proptests::explore::{Explored, diagram};

/// Changes of state, as they were seen.
type Changes = BTreeSet<(String, String)>;

/// Whether one poll may come from one state to the other: by one step of the diagram, or by two.
fn is_a_way(diagram: &Changes, from: &str, to: &str) -> bool {
    let direct = |from: &str, to: &str| diagram.contains(&(from.to_owned(), to.to_owned()));
    direct(from, to) || diagram.iter().any(|(first, middle)| first == from && direct(middle, to))
}

/// Each step of the diagram that goes to another state was seen, and nothing else was.
fn assert_all_seen(name: &str, seen: &Changes) {
    let diagram = diagram(name);
    let inner = diagram.iter().filter(|(from, to)| from != to && from != "[*]" && to != "[*]");
    let missing: Vec<_> =
        inner.filter(|step| !seen.contains(step)).map(|(from, to)| [from.as_str(), to]).collect();
    assert!(missing.is_empty(), "steps that were never seen: {missing:?}");
    for (from, to) in seen {
        assert!(is_a_way(&diagram, from, to), "{from} to {to} is no step of the table");
    }
}

/// There are as many states as ever, and the last one is as far away.
#[track_caller]
fn assert_counted(role: &str, explored: &Explored, slots: usize, steps: usize, expected: [usize; 2]) {
    let Explored { states, depth } = *explored;
    println!("{states} states of a {role}, at most {depth} steps away, with {slots} slots and {steps} steps");
    let why = "it is another machine: look at what has become possible, or impossible";
    assert_eq!([states, depth], expected, "{why}");
}
