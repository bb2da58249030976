//! Schemas of tuples and addresses, and of types of the standard library.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet, VecDeque};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use mcp_proto::json::decode_in_place;
use mcp_proto::schema::Schema;
use mcp_proto::{ToolArguments, json};
use serde::Deserialize;

/// Decodes a leaked copy of the text, so that the value may borrow from the copy.
fn decode<T: Deserialize<'static>>(text: &str) -> Result<T, String> {
    decode_in_place(text.to_owned().into_bytes().leak()).map_err(|error| error.to_string())
}

#[test]
fn types_of_the_standard_library_have_schemas() {
    const STRING: &str = r#"{"type":"string"}"#;
    let set = r#"{"type":"array","items":{"type":"boolean"},"uniqueItems":true}"#;
    let list = r#"{"type":"array","items":{"type":"boolean"}}"#;
    for (schema, expected) in [
        (PathBuf::JSON_SCHEMA, STRING),
        (<&Path>::JSON_SCHEMA, STRING),
        (<Cow<'_, str>>::JSON_SCHEMA, STRING),
        (<Cow<'_, [bool]>>::JSON_SCHEMA, list),
        (<Arc<str>>::JSON_SCHEMA, STRING),
        (<Rc<[bool]>>::JSON_SCHEMA, list),
        (<Arc<bool>>::JSON_SCHEMA, r#"{"type":"boolean"}"#),
        (<VecDeque<bool>>::JSON_SCHEMA, list),
        (<BTreeSet<bool>>::JSON_SCHEMA, set),
        (<HashSet<bool>>::JSON_SCHEMA, set),
        (IpAddr::JSON_SCHEMA, STRING),
        (SocketAddr::JSON_SCHEMA, STRING),
        (Ipv4Addr::JSON_SCHEMA, r#"{"type":"string","format":"ipv4"}"#),
        (Ipv6Addr::JSON_SCHEMA, r#"{"type":"string","format":"ipv6"}"#),
        (
            <(char, bool)>::JSON_SCHEMA,
            concat!(
                r#"{"type":"array","prefixItems":[{"type":"string","minLength":1,"maxLength":1},"#,
                r#"{"type":"boolean"}],"items":{},"minItems":2,"maxItems":2}"#,
            ),
        ),
    ] {
        assert_eq!(schema, expected);
    }
}

#[derive(Debug, PartialEq, ToolArguments)]
struct Export {
    #[tool(min_items = 1, max_items = 2)]
    tags: BTreeSet<String>,
    next: Option<(u8, Box<Export>)>,
    printer: Option<IpAddr>,
}

#[test]
fn sets_and_tuples_are_decoded_as_arrays() {
    assert!(Export::INPUT_SCHEMA.contains(r#""minItems":1,"maxItems":2,"uniqueItems":true}"#));
    assert!(Export::INPUT_SCHEMA.contains(r##""type":["array","null"],"prefixItems":[{"##));
    assert!(Export::INPUT_SCHEMA.contains(r##"{"$ref":"#"}],"items":{}"##));
    let text = r#"{"tags":["a","b","a"],"next":[1.0,{"tags":["c"]}],"printer":"::1"}"#;
    let export = decode::<Export>(text).unwrap();
    let inner = Export { tags: BTreeSet::from(["c".into()]), next: None, printer: None };
    let printer = Some(IpAddr::V6(Ipv6Addr::LOCALHOST));
    let tags = BTreeSet::from(["a".into(), "b".into()]);
    assert_eq!(export, Export { tags, next: Some((1, Box::new(inner))), printer });
    for (text, expected) in [
        (r#"{"tags":[]}"#, "`tags`: expected an array of 1 to 2 elements"),
        (r#"{"tags":["a"],"next":[1]}"#, "`next`: invalid length 1, expected a tuple of size 2"),
        (r#"{"tags":["a"],"next":[256,1]}"#, "`next[0]`: expected an integer from 0 to 255, found 256"),
        (r#"{"tags":["a"],"printer":"localhost"}"#, "`printer`: invalid IP address syntax"),
    ] {
        assert_eq!(decode::<Export>(text).unwrap_err(), expected);
    }
}

#[test]
fn values_of_the_standard_library_are_written_as_their_schema_says() {
    let path = PathBuf::from("a/b");
    assert_eq!(
        json::to_string(&(path, Cow::Borrowed("c"), Ipv4Addr::LOCALHOST)).unwrap(),
        r#"["a/b","c","127.0.0.1"]"#
    );
}
