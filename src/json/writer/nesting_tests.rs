//! Tests of `Nesting`, which recognizes well-formed output by the order of the calls.

use super::*;
use crate::buffer::BufferMut;
use crate::json::scanner::scan;
use crate::json::{Json, Scanner};
use std::vec::Vec;

/// Calls of writer methods.
const ACTS: [fn(&mut Writer<'_>); 8] = [
    |out| out.begin_object(),
    |out| out.end_object(),
    |out| out.begin_array(),
    |out| out.end_array(),
    |out| out.key("a"),
    |out| out.string("b"),
    |out| out.integer(-1),
    |out| out.json(Json::EMPTY_OBJECT),
];

/// Checks every sequence of at most `steps` calls.
fn all(steps: usize, done: &mut Vec<usize>, check: &mut dyn FnMut(&[usize])) {
    check(done);
    if done.len() < steps {
        for act in 0..ACTS.len() {
            done.push(act);
            all(steps, done, check);
            done.pop();
        }
    }
}

/// Returns the output of a sequence of calls. Also returns whether the order of calls proves the output well-formed.
fn run(nesting: Nesting, before: &str, acts: &[usize], is_sure: fn(Nesting, u8) -> bool) -> (Vec<u8>, bool) {
    let mut room = [0; 128];
    let mut out = Writer::new(BufferMut::Lent(&mut room), 0, 128);
    out.token(before);
    out.nesting = nesting;
    for act in acts {
        ACTS[*act](&mut out);
    }
    (out.written().to_vec(), is_sure(out.nesting, out.last))
}

#[test]
fn value_is_known_exactly_if_it_is_json() {
    let mut found = 0;
    all(6, &mut Vec::new(), &mut |acts| {
        let (text, is_sure) = run(Nesting::VALUE, "", acts, Nesting::is_value);
        // Call 7 writes a parsed object, whose nesting depth is unknown.
        let expected = scan(&text).is_ok() && !acts.contains(&7);
        assert_eq!(is_sure, expected, "{acts:?}");
        found += usize::from(expected);
    });
    assert!(found > 50);
}

#[test]
fn members_are_known_exactly_if_they_are_members() {
    for before in ["{", r#"{"x":1"#] {
        let mut found = 0;
        all(5, &mut Vec::new(), &mut |acts| {
            let (mut text, is_sure) = run(Nesting::MEMBERS, before, acts, Nesting::is_members);
            text.push(b'}');
            let mut scanner = Scanner::new(128);
            scanner.feed(&text);
            let expected = scanner.finish().is_ok() && !acts.contains(&7);
            assert_eq!(is_sure, expected, "{acts:?}");
            found += usize::from(expected);
        });
        assert!(found > 20);
    }
}

#[test]
fn value_nested_beyond_the_bits_is_scanned() {
    for depth in [1, 28, 29, 30, 31, 32, 33, 128, 129, 200] {
        for act in [0, 2] {
            let mut room = [0; 1024];
            let mut out = Writer::new(BufferMut::Lent(&mut room), 0, 1024);
            let mut sure = false;
            let result = out.value_checked(&mut |out: &mut Writer<'_>| {
                for _ in 0..depth {
                    ACTS[act](out);
                    if act == 0 {
                        out.key("");
                    }
                }
                out.null();
                (0..depth).for_each(|_| ACTS[act + 1](out));
                sure = out.nesting.is_value(out.last);
            });
            assert_eq!(result.is_ok(), depth <= 128, "{depth}");
            assert_eq!(sure, depth <= 30, "{depth}");
        }
    }
}

#[test]
fn a_value_within_a_value_counts_its_own_levels() {
    for depth in [0, 1, 64, 126, 127, 128] {
        let mut room = [0; 1024];
        let mut out = Writer::new(BufferMut::Lent(&mut room), 0, 1024);
        let result = out.value_checked(&mut |out: &mut Writer<'_>| {
            out.begin_array();
            let inner = out.value_checked(&mut |out: &mut Writer<'_>| {
                (0..depth).for_each(|_| out.begin_array());
                if depth == 0 {
                    out.null();
                }
                (0..depth).for_each(|_| out.end_array());
            });
            assert!(inner.is_ok());
            out.end_array();
        });
        assert_eq!(result.is_ok(), depth < 128, "{depth}");
    }
}

#[test]
fn rolled_back_output_is_validated() {
    let mut room = [0; 64];
    let mut out = Writer::new(BufferMut::Lent(&mut room), 0, 64);
    let checked = out.value_checked(&mut |out: &mut Writer<'_>| {
        out.begin_array();
        let mark = out.mark();
        out.begin_array();
        out.rollback(mark);
        out.end_array();
    });
    assert!(checked.is_ok() && out.written() == b"[]");
    let checked = out.value_checked(&mut |out: &mut Writer<'_>| {
        let mark = out.mark();
        out.begin_array();
        out.end_array();
        out.rollback(mark);
    });
    assert!(checked.is_err());
}
