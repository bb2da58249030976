//! Tests of `feed_with`: a known object has no effect on the results.

use super::{KnownObject, Member, MemberIndex, Scanner, Span};
use std::format;
use std::string::String;
use std::vec::Vec;

/// Returns a known object. The value `variable` in `text`, if any, may differ in a repetition.
fn known_object(text: &str, variable: &str) -> KnownObject {
    let span = match text.rfind(variable) {
        Some(start) if !variable.is_empty() => Span { start, end: start + variable.len() },
        _ => Span::MISSING,
    };
    let mut known = KnownObject::EMPTY;
    known.set(text.as_bytes(), span);
    known
}

/// Asserts that the results with and without the known object are the same, for each split into two pieces.
fn check(known: &KnownObject, text: &str) {
    for at in 0..=text.len() {
        let (before, behind) = text.as_bytes().split_at(at);
        let pieces = [before, behind];
        assert_eq!(outcome(Some(known), &pieces), outcome(None, &pieces), "{text} cut at {at}");
    }
}

/// Returns all results of a scan.
fn outcome(known: Option<&KnownObject>, pieces: &[&[u8]]) -> String {
    let mut scanner = Scanner::new(8);
    for piece in pieces {
        scanner.feed_with(known, piece);
    }
    let text = pieces.concat();
    let index = [Member::Params, Member::Result].map(|member| {
        scanner.inner(member).map(|index| index.members(&text).map(|(_, span)| span).collect::<Vec<_>>())
    });
    let position = scanner.position();
    let is_integer = scanner.has_integer_id();
    let result = scanner.finish();
    let (end, members) = (scanner.position(), scanner.table());
    format!("{result:?} {position} {index:?} {end} {is_integer} {:?} {members:?}", scanner.shape())
}

#[test]
fn known_object_does_not_change_the_results() {
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
    let known = known_object(known, "");
    for text in texts {
        check(&known, &text);
    }
}

#[test]
fn repetition_may_differ_in_one_value() {
    let objects = [
        (r#"{"p":7,"a":{"b":"c"}}"#, "7"),
        (r#"{"a":"b","p" : "7" , "c":[1]}"#, r#""7""#),
        (r#"{"a":{"b":7},"p":7}"#, "7"),
        (r#"{"a":1,"p":7 }"#, "7"),
        (r#"{"p":{"x":[]}}"#, r#"{"x":[]}"#),
    ];
    let values = [
        "0",
        "10",
        "00",
        "01",
        "-1",
        "1.5",
        "1e3",
        "1e",
        "-",
        "",
        "null",
        "tru",
        "{}",
        "[1]",
        r#""""#,
        r#""a b""#,
        r#""a token that is longer than a block of the search, which has sixteen bytes""#,
        r#""\n""#,
        r#""é""#,
        r#""\q""#,
        "\"\t\"",
        r#"1,"p":2"#,
        r#"1,"p""#,
        r#"1}"#,
    ];
    for (object, variable) in objects {
        let known = known_object(object, variable);
        let (head, tail) = object.rsplit_once(variable).unwrap();
        for value in values {
            let repetition = format!("{head}{value}{tail}");
            let is_simple = matches!(value, "0" | "10" | r#""""#) || value.starts_with(r#""a "#);
            let rest = known.after(repetition.as_bytes());
            assert_eq!(rest == Some(&[]), is_simple, "{repetition}");
            check(&known, &format!(r#"{{"params":{{"_meta":{repetition},"x":1}},"id":1}}"#));
            check(&known, &format!(r#"{{"params":{{"_meta":{repetition}}}}}"#));
        }
    }
}

#[test]
fn known_object_is_not_scanned_again() {
    // A scanner with an index does not read the known bytes, and therefore accepts an invalid value.
    for (object, variable, repetition) in
        [("{x}", "", "{x}"), ("{x:7}", "7", "{x:12}"), ("{x:7}", "7", r#"{x:"a"}"#)]
    {
        let mut scanner = Scanner::new(8);
        let text = format!(r#"{{"params":{{"_meta":{repetition}}}}}"#);
        scanner.feed_with(Some(&known_object(object, variable)), text.as_bytes());
        assert_eq!(scanner.finish().is_ok(), MemberIndex::IS_KEPT, "{text}");
    }
}
