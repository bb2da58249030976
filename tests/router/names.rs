//! Handlers whose names, variables and arguments are keywords, and handlers that are deprecated.

#![deny(warnings)]

use super::{OPEN, request, serve};
use mcp_proto::server::{Router, ServerConfig};
use mcp_proto::{ToolArguments, complete, prompt, resource, router, tool};
use serde_json::{Value, json};

#[derive(ToolArguments)]
struct Kind {
    r#type: String,
}

#[tool]
fn r#move(Kind { r#type }: Kind) -> String {
    r#type
}

#[prompt(values(r#type = ["slow", "fast"]))]
fn r#try(Kind { r#type }: Kind) -> String {
    r#type
}

#[resource("device://ref")]
fn r#ref() -> &'static str {
    "fixed"
}

#[resource("device:///{type}")]
fn r#use(r#type: &str) -> String {
    r#type.to_owned()
}

#[complete(resource = "device:///{type}", argument = "type")]
fn r#match() -> [&'static str; 1] {
    ["x"]
}

/// Arguments without a caller in new code.
#[deprecated]
#[derive(ToolArguments)]
struct Level {
    level: u8,
}

#[deprecated]
#[tool]
#[allow(deprecated)]
fn set(Level { level }: Level) -> u8 {
    level
}

#[deprecated]
#[resource("device://old")]
fn old() -> &'static str {
    "old"
}

static ROUTER: Router<()> = router![r#move, r#try, r#ref, r#use, r#match];

fn outcome(router: &Router<'_, ()>, method: &str, params: &Value) -> Value {
    let config = ServerConfig::new("s", "1").features(router.features());
    let lines = serve(&config, router, &mut (), &(OPEN.to_owned() + &request(method, params)));
    lines[1]["result"].clone()
}

#[test]
fn handlers_have_keywords_as_names() {
    for (method, params, pointer, expected) in [
        ("tools/list", json!({}), "/tools/0/name", "move"),
        ("prompts/list", json!({}), "/prompts/0/name", "try"),
        ("resources/list", json!({}), "/resources/0/name", "ref"),
        ("resources/templates/list", json!({}), "/resourceTemplates/0/name", "use"),
        ("tools/call", json!({ "name": "move", "arguments": { "type": "a" } }), "/content/0/text", "a"),
        (
            "prompts/get",
            json!({ "name": "try", "arguments": { "type": "b" } }),
            "/messages/0/content/text",
            "b",
        ),
        ("resources/read", json!({ "uri": "device://ref" }), "/contents/0/text", "fixed"),
        ("resources/read", json!({ "uri": "device:///x" }), "/contents/0/text", "x"),
    ] {
        let result = outcome(&ROUTER, method, &params);
        assert_eq!(result.pointer(pointer), Some(&json!(expected)), "{method} {result}");
    }
}

#[test]
fn arguments_and_variables_with_keywords_are_completed() {
    for (reference, expected) in [
        (json!({ "type": "ref/prompt", "name": "try" }), json!(["slow", "fast"])),
        (json!({ "type": "ref/resource", "uri": "device:///{type}" }), json!(["x"])),
    ] {
        let params = json!({ "ref": reference, "argument": { "name": "type", "value": "" } });
        assert_eq!(outcome(&ROUTER, "completion/complete", &params)["completion"]["values"], expected);
    }
}

#[test]
fn deprecated_handlers_compile_without_warnings() {
    static OLD: Router<()> = router![set, old];
    let call = json!({ "name": "set", "arguments": { "level": 3 } });
    assert_eq!(outcome(&OLD, "tools/call", &call)["content"][0]["text"], "3");
    assert_eq!(
        outcome(&OLD, "resources/read", &json!({ "uri": "device://old" }))["contents"][0]["text"],
        "old"
    );
}
