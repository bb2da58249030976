//! Fuzz target `scan`: the JSON scanner, compared with `serde_json`.

use std::ops::Range;

use arbitrary::Arbitrary;
use mcp_proto::json::{DEPTH_LIMIT, Json, Kind, Member, OpenSpan, ScanError, ScanErrorKind, Scanner};
use serde_json::Value;

use super::moves::Moves;
use super::shown;
use crate::differences::Difference;

#[derive(Debug, Arbitrary)]
struct Input<'b> {
    limit: u8,
    moves: Moves,
    text: &'b [u8],
}

/// Checks the invariants for one input.
pub fn check(bytes: &[u8]) {
    let Some(Input { limit, moves, text }) = super::input(bytes) else { return };
    let seen = cut_in_all_ways(DEPTH_LIMIT, moves, text);
    against_serde_json(text, &seen);
    let bounded = cut_in_all_ways(limit % DEPTH_LIMIT, moves, text);
    depth_limit_changes_only_deeper_parts(limit % DEPTH_LIMIT, &seen, &bounded);
}

const MEMBERS: [(Member, &str); 6] = [
    (Member::Jsonrpc, "jsonrpc"),
    (Member::Id, "id"),
    (Member::Method, "method"),
    (Member::Params, "params"),
    (Member::Result, "result"),
    (Member::Error, "error"),
];

/// The complete output of a scanner for one text.
#[derive(Debug, PartialEq)]
struct Seen {
    result: Result<(), ScanError>,
    members: [Option<OpenSpan>; 6],
    position: usize,
}

fn scan<'t>(limit: u8, pieces: impl Iterator<Item = &'t [u8]>) -> Seen {
    let mut scanner = Scanner::new(limit);
    pieces.for_each(|piece| scanner.feed(piece));
    let result = scanner.finish();
    Seen { result, members: MEMBERS.map(|(member, _)| scanner.member(member)), position: scanner.position() }
}

fn cut_in_all_ways(limit: u8, moves: Moves, text: &[u8]) -> Seen {
    let whole = scan(limit, Moves::WHOLE.pieces(text));
    for moves in [Moves::SINGLE, moves] {
        assert_eq!(scan(limit, moves.pieces(text)), whole, "cut differently: {}", shown(text));
    }
    if let Err(error) = whole.result {
        assert!(error.at <= text.len(), "{error:?} is past the end of the text");
        assert_ne!(error.kind, ScanErrorKind::Gap, "Gap applies only to lines");
        let is_end = matches!(error.kind, ScanErrorKind::Empty | ScanErrorKind::Incomplete);
        assert_eq!(is_end, error.at == text.len(), "{error:?} of {}", shown(text));
    }
    whole
}

fn against_serde_json(text: &[u8], seen: &Seen) {
    let ours = seen.result;
    let theirs = serde_json::from_slice::<Value>(text);
    let differ = Difference::of_text(text);
    let (Ok(()), Ok(value), None) = (ours, &theirs, differ) else {
        let is_fine = ours.is_ok() == theirs.is_ok() || (ours.is_ok() && differ.is_some());
        assert!(is_fine, "{}\nours: {ours:?}\ntheirs: {theirs:?}", shown(text));
        return;
    };
    for (span, (_, name)) in seen.members.iter().zip(MEMBERS) {
        let found: Option<Value> =
            span.map(|span| serde_json::from_slice(&text[range(span)]).expect("a value"));
        assert_eq!(found.as_ref(), value.get(name), "{name} in {}", shown(text));
    }
    same(Json::parse(text).expect("it was valid"), value);
}

fn range(span: OpenSpan) -> Range<usize> {
    span.start..span.end.expect("the value is complete")
}

/// Checks that `json` equals `value`, recursively.
fn same(json: Json<'_>, value: &Value) {
    match value {
        Value::Null => assert!(json.is_null()),
        Value::Bool(value) => assert_eq!(json.boolean(), Some(*value)),
        Value::Number(_) => {
            assert_eq!(json.number(), Some(json.raw()));
            assert_eq!(&serde_json::from_str::<Value>(json.raw()).expect("a number"), value);
        }
        Value::String(text) => {
            let string = json.string().expect("a string");
            assert!(string == text.as_str());
            assert_eq!(string.to_string(), *text);
            assert_eq!(string.len(), text.len());
        }
        Value::Array(items) => {
            assert_eq!(json.kind(), Kind::Array);
            assert_eq!(json.elements().count(), items.len());
            json.elements().zip(items).for_each(|(json, value)| same(json, value));
        }
        Value::Object(map) => {
            assert_eq!(json.kind(), Kind::Object);
            map.iter().for_each(|(name, value)| same(json.get(name).expect("a member"), value));
            assert!(json.members().all(|(name, _)| map.contains_key(&name.to_string())));
        }
    }
}

/// Checks that a lower depth limit affects only texts that exceed the limit.
///
/// With any limit of at least 1, the scanner must find the same members in a valid text. The errors must be the same up
/// to the position at which the text exceeds the limit.
fn depth_limit_changes_only_deeper_parts(limit: u8, whole: &Seen, bounded: &Seen) {
    match (whole.result, bounded.result) {
        (whole, bounded) if whole == bounded => {}
        (_, Err(ScanError { kind: ScanErrorKind::TooDeep, .. })) => {}
        // After the bracket that exceeds the limit, the scanner does not match brackets, so it may find another error.
        (Err(_), Err(_)) if bounded.position >= usize::from(limit) => {}
        (whole, bounded) => panic!("{limit} levels: {whole:?} becomes {bounded:?}"),
    }
    if whole.result.is_ok() && limit > 0 {
        assert_eq!(whole.members, bounded.members, "{limit} levels");
    }
}
