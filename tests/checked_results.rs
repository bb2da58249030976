//! Results that do not match the output schema, and the check itself.

use mcp_proto::json::Json;
use mcp_proto::schema::check;
use mcp_proto::server::{Event, Router, ServerConfig, Structured, Tool, Tools};
use mcp_proto::{Action, Millis, Next, Schema, Server, router, tool};
use serde::Serialize;

use crate::support::transport::{give_input, take_output};

#[test]
fn check_names_the_first_violation() {
    const SCHEMA: &str = r##"{
        "$defs": {"a/b": {"type": "string", "minLength": 2, "maxLength": 3}, "none": false},
        "type": "object",
        "properties": {
            "kind": {"type": ["string", "null"]},
            "count": {"type": "integer", "minimum": -1, "exclusiveMaximum": 5},
            "ratio": {"exclusiveMinimum": 0.5, "maximum": 1.5},
            "same": {"const": {"a": [1, "b"]}},
            "one": {"enum": ["x", 1.0, null]},
            "name": {"$ref": "#/$defs/a~1b"},
            "pair": {"prefixItems": [{"type": "number"}], "items": {"$ref": "#/properties/kind"}, "minItems": 1},
            "list": {"type": "array", "maxItems": 1},
            "tree": {"$ref": "#"},
            "either": {"oneOf": [{"type": "number"}, {"type": "object", "properties": {"deep": {"type": "boolean"}}}]},
            "all": {"allOf": [{"required": ["a"]}, {"minProperties": 2}]},
            "map": {"additionalProperties": {"type": "boolean"}, "propertyNames": {"maxLength": 2}, "maxProperties": 2},
            "never": {"$ref": "#/$defs/none"},
            "free": true,
            "patterns": {"patternProperties": {"^x": {}}, "additionalProperties": false},
            "elsewhere": {"$ref": "other.json"},
            "anchored": {"$ref": "#kind"},
            "escaped": {"$ref": "#/%24defs/none"},
            "ignored": {"type": "string", "pattern": "^a$", "format": "date"}
        },
        "required": ["kind"],
        "additionalProperties": false
    }"##;
    let schema = Json::parse(SCHEMA.as_bytes()).unwrap();
    for (members, violation) in [
        ("", ""),
        (r#","count":4.0,"ratio":1.5,"same":{"a":[1.0,"\u0062"]},"one":1,"name":"äö""#, ""),
        (
            r#","pair":[1,null,"a"],"list":[{}],"tree":{"kind":""},"either":{"deep":true},"all":{"a":1,"b":2}"#,
            "",
        ),
        (r#","map":{"ab":true},"free":[],"patterns":{"x":1},"elsewhere":1,"ignored":"b""#, ""),
        (r#","anchored":1,"escaped":1"#, ""),
        (r#","count":1.5"#, r#"`count`: expected the type "integer", found 1.5"#),
        (r#","count":15e-1"#, r#"`count`: expected the type "integer", found 15e-1"#),
        (r#","count":-2"#, "`count`: expected a number of at least -1, found -2"),
        (r#","count":5"#, "`count`: expected a number below 5, found 5"),
        (r#","ratio":0.5"#, "`ratio`: expected a number above 0.5, found 0.5"),
        (r#","same":{"a":[1]}"#, r#"`same`: expected {"a": [1, "b"]}, found {"a":[1]}"#),
        (r#","one":"y""#, r#"`one`: expected one of ["x", 1.0, null], found "y""#),
        (r#","name":"a""#, r#"`name`: expected a string of at least 2 characters, found "a""#),
        (r#","name":"abcd""#, r#"`name`: expected a string of at most 3 characters, found "abcd""#),
        (r#","pair":[]"#, "`pair`: expected an array of at least 1 elements, found []"),
        (r#","pair":[1,2]"#, r#"`pair[1]`: expected the type ["string", "null"], found 2"#),
        (r#","list":[1,2]"#, "`list`: expected an array of at most 1 elements, found [1,2]"),
        (r#","tree":{"tree":{}}"#, "`tree`: missing member `kind`"),
        (
            r#","tree":{"kind":null,"tree":{"kind":1}}"#,
            r#"`tree.tree.kind`: expected the type ["string", "null"], found 1"#,
        ),
        (r#","either":{"deep":1}"#, r#"`either.deep`: expected the type "boolean", found 1"#),
        (r#","all":{"a":1}"#, r#"`all`: expected an object of at least 2 members, found {"a":1}"#),
        (r#","map":{"a":1}"#, r#"`map.a`: expected the type "boolean", found 1"#),
        (r#","map":{"abc":true}"#, r#"`map.abc`: expected a string of at most 2 characters, found "abc""#),
        (r#","never":1"#, "`never`: no value is allowed here"),
        (r#","other":1"#, "`other`: no value is allowed here"),
        (
            r#","list":"0123456789012345678901234567890123456789""#,
            r#"`list`: expected the type "array", found "012345678901234567890123456789012345678…"#,
        ),
    ] {
        let text = format!(r#"{{"kind":"a"{members}}}"#);
        let result = check(schema, Json::parse(text.as_bytes()).unwrap());
        assert_eq!(
            result.map_or_else(|violation| violation.to_string(), |()| String::new()),
            violation,
            "{text}"
        );
    }
    let violation = check(schema, Json::NULL).unwrap_err();
    assert_eq!((violation.path(), violation.reason()), ("", r#"expected the type "object", found null"#));
}

#[test]
fn check_of_a_schema_that_contains_itself_ends() {
    let endless = Json::parse(br##"{"allOf":[{"$ref":"#"}]}"##).unwrap();
    assert_eq!(check(endless, Json::NULL), Ok(()));
}

/// Without a limit, the check would apply 2^30 schemas, and would not end within a minute.
#[test]
fn check_of_a_schema_with_doubled_references_ends() {
    let mut schema = String::from(r##"{"$ref":"#/$defs/0","$defs":{"##);
    for level in 0..30 {
        let next = format!(r##"{{"$ref":"#/$defs/{}"}}"##, level + 1);
        schema += &format!(r#""{level}":{{"allOf":[{next},{next}]}},"#);
    }
    schema += r#""30":{"type":"integer"}}}"#;
    let schema = Json::parse(schema.as_bytes()).unwrap();
    assert_eq!(check(schema, Json::parse(b"1").unwrap()), Ok(()));
    let violation = check(schema, Json::parse(b"true").unwrap()).unwrap_err();
    assert_eq!(violation.to_string(), r#"expected the type "integer", found true"#);
}

#[derive(Schema, Serialize)]
struct Reading {
    #[tool(range = 0..=100)]
    percent: u8,
    labels: Vec<Label>,
}

#[derive(Schema, Serialize)]
struct Label(#[tool(max_length = 3)] &'static str);

#[tool]
fn good() -> Structured<Reading> {
    Structured(Reading { percent: 100, labels: vec![Label("abc")] })
}

#[tool]
fn bad() -> Structured<Reading> {
    Structured(Reading { percent: 1, labels: vec![Label("abc"), Label("abcd")] })
}

static ROUTER: Router<()> = router![good, bad];
static BY_HAND: Tools = Tools::new(&[Tool::new("by_hand", "{}")
    .output_schema(r#"{"type":"object","properties":{"x":{"type":"integer"}},"required":["x"]}"#)]);
static CONFIG: ServerConfig = ServerConfig::new("test", "1").features(&[ROUTER.tools(), &BY_HAND]);

/// Calls a tool, and returns the result as JSON text.
fn call(name: &str, arguments: &str) -> String {
    let input = format!(
        "{}\n{}\n",
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
        format_args!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{name}","arguments":{arguments}}}}}"#
        ),
    );
    let (mut input, mut output) = (input.as_bytes(), Vec::new());
    let (mut rx, mut tx) = ([0; 1024], [0; 2048]);
    let mut server = Server::new(&CONFIG, &mut rx, &mut tx).unwrap();
    loop {
        match server.poll(Millis(0)) {
            Action::Io(io) => match io.next() {
                Next::Write(out) => _ = take_output(out, usize::MAX, &mut output),
                Next::Read(receive) if input.is_empty() => receive.eof(),
                Next::Read(receive) => _ = give_input(receive, usize::MAX, &mut input),
                Next::Wait => {}
            },
            Action::Event => match server.event() {
                Some(Event::Call(call)) if call.name() == "by_hand" => {
                    let value: serde_json::Value = serde_json::from_str(call.raw_arguments().raw()).unwrap();
                    call.structured(&value);
                }
                Some(Event::Call(call)) => ROUTER.call(&mut (), call),
                _ => {}
            },
            Action::Closed => break,
        }
    }
    let line = String::from_utf8(output).unwrap().lines().nth(1).unwrap().to_owned();
    line[r#"{"jsonrpc":"2.0","id":1,"result":"#.len()..line.len() - 1].to_owned()
}

#[test]
fn invalid_structured_result_becomes_a_failure_in_debug_builds() {
    let good = r#""structuredContent":{"percent":100,"labels":["abc"]}"#;
    assert!(call("good", "{}").contains(good), "{}", call("good", "{}"));
    assert!(call("by_hand", r#"{"x":1}"#).contains(r#""structuredContent":{"x":1}"#));
    let failure = |path: &str| {
        let text =
            format!("the structured content does not match the output schema: {path}").replace('"', "\\\"");
        format!(r#"{{"content":[{{"type":"text","text":"{text}"}}],"isError":true}}"#)
    };
    for (name, arguments, path) in [
        ("bad", "{}", r#"`labels[1]`: expected a string of at most 3 characters, found "abcd""#),
        ("by_hand", "{}", "missing member `x`"),
        ("by_hand", r#"{"x":"1"}"#, r#"`x`: expected the type "integer", found "1""#),
    ] {
        if cfg!(debug_assertions) {
            assert_eq!(call(name, arguments), failure(path));
        } else {
            assert!(call(name, arguments).contains("structuredContent"));
        }
    }
}
