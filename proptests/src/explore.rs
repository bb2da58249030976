//! Breadth-first search over all reachable states of a machine.
//!
//! The search works for any `World` that contains a machine. A machine cannot be copied. So the search stores the path
//! to a state, and repeats the path to create the state again. Two states are equal if their keys are equal. A key that
//! is too coarse makes the search smaller, but causes no false failures. Shorter paths come first, so the first failing
//! check shows the shortest session.

use std::collections::{BTreeSet, HashSet, VecDeque};

/// A machine with its application and its peer.
pub trait World {
    /// Performs a step and checks the result. Returns `false` if the step is impossible in this state.
    fn step(&mut self, step: &'static str) -> bool;

    /// Returns the key of this state. The key contains times relative to the current time, and no counters that only
    /// grow.
    fn key(&self) -> String;

    /// Returns the messages, events and operations so far, one per line.
    fn dialogue(&self) -> &str;
}

/// A check for every state.
pub type Check<W> = fn(&mut W);

/// The result of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explored {
    /// The number of states.
    pub states: usize,
    /// The largest distance of a state from the start, in steps.
    pub depth: usize,
}

/// A world that prints its dialogue if a panic drops the world.
struct Shown<W: World>(W);

impl<W: World> Drop for Shown<W> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("shortest path to this state:\n{}", self.0.dialogue());
        }
    }
}

/// Visits every reachable state. In each state, runs each of the `checks` on a new world.
///
/// # Panics
/// Panics if a step or a check panics, a repeated path diverges, the number of states exceeds `most`, or one of the
/// `steps` is possible in no state.
pub fn explore<W: World>(
    begin: impl Fn() -> W,
    steps: &[&'static str],
    checks: &[Check<W>],
    most: usize,
) -> Explored {
    let at = |path: &[&'static str]| {
        let mut world = Shown(begin());
        for step in path {
            assert!(world.0.step(step), "the same path leads to a different state");
        }
        world
    };
    let (mut seen, mut waiting) = (HashSet::new(), VecDeque::new());
    let mut explored = Explored { states: 0, depth: 0 };
    let mut useful = BTreeSet::new();
    seen.insert(at(&[]).0.key());
    waiting.push_back(Vec::new());
    while let Some(path) = waiting.pop_front() {
        explored = Explored { states: explored.states + 1, depth: path.len() };
        assert!(
            explored.states <= most,
            "more than {most} states; the key is too fine, for example\n{}",
            at(&path).0.dialogue()
        );
        for check in checks {
            check(&mut at(&path).0);
        }
        for step in steps {
            let mut world = at(&path);
            if !world.0.step(step) {
                continue;
            }
            useful.insert(step);
            if seen.insert(world.0.key()) {
                waiting.push_back([&path[..], &[*step]].concat());
            }
        }
    }
    let useless: Vec<_> = steps.iter().filter(|step| !useful.contains(step)).collect();
    assert!(useless.is_empty(), "steps that are never possible: {useless:?}");
    explored
}

/// Returns the transitions of the state diagram with this name in ARCHITECTURE.md, each as two states. Omits arrows
/// without a trigger.
///
/// # Panics
/// Panics if ARCHITECTURE.md lacks the diagram.
#[must_use]
pub fn diagram(name: &str) -> BTreeSet<(String, String)> {
    let text = include_str!("../../ARCHITECTURE.md");
    let (_, text) = text.split_once(&format!("<!-- {name} -->")).expect("the diagram is there");
    let (text, _) = text.split_once("<!-- end -->").expect("it ends");
    let arrows = text.lines().filter_map(|line| line.trim().split_once(" --> "));
    let named =
        arrows.filter_map(|(from, rest)| Some((from.to_owned(), rest.split_once(": ")?.0.to_owned())));
    named.collect()
}
