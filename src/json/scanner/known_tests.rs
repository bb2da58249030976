//! Tests of `feed_with`: a known value has no effect on the results.

use super::{Member, MemberIndex, Scanner};
use std::format;
use std::string::String;
use std::vec::Vec;

/// Returns all results of a scan.
fn outcome(known: &str, pieces: &[&[u8]]) -> String {
    let mut scanner = Scanner::new(8);
    for piece in pieces {
        scanner.feed_with(known.as_bytes(), piece);
    }
    let text = pieces.concat();
    let index = [Member::Params, Member::Result].map(|member| {
        scanner.inner(member).map(|index| index.members(&text).map(|(_, span)| span).collect::<Vec<_>>())
    });
    let position = scanner.position();
    let is_integer = scanner.has_integer_id();
    format!("{:?} {position} {index:?} {:?} {is_integer}", scanner.finish(), scanner.position())
}

#[test]
fn known_value_does_not_change_the_results() {
    let known = r#"{"a/b":"c","d":{"e":[1,"é"]}}"#;
    let texts = [
        format!(r#"{{"id":1,"params":{{"name":"x","_meta":{known}}},"method":"m"}}"#),
        format!(r#"{{"id":1,"params":{{"_meta":{known},"name":"x"}}}}"#),
        format!(r#"{{"result":{{"_meta": {known} ,"x":{known}}},"id":1}}"#),
        format!(r#"{{"params":{{"a":{{"_meta":{known}}}}},"x":{known},"id":{known}}}"#),
        format!(r#"{{"params":[{known},{known}],"id":1.5}}"#),
        format!(r#"[{{"params":{{"_meta":{known}}}}},{known}]"#),
        format!(r#"{{"params":{{"_meta":{known}}}}}}}"#),
        format!(r#"{{"params":{{"_meta":{known}"x":1}}}}"#),
        format!(r#"{{"params":{{"_meta":{}"#, known.replace('c', "f")),
        format!(r#"{{"params":{{{known}:1}}}}"#),
        String::from(known),
    ];
    for text in texts {
        for at in 0..=text.len() {
            let (before, behind) = text.as_bytes().split_at(at);
            let pieces = [before, behind];
            assert_eq!(outcome(known, &pieces), outcome("", &pieces), "{text} cut at {at}");
        }
    }
}

#[test]
fn known_value_is_not_scanned_again() {
    // The scanner does not read the known bytes, so an invalid value is accepted.
    let text = r#"{"params":{"_meta":{x}}}"#;
    let mut scanner = Scanner::new(8);
    scanner.feed_with(b"{x}", text.as_bytes());
    assert_eq!(scanner.finish().is_ok(), MemberIndex::IS_KEPT);
}
