//! Handlers with keywords as names, variables or arguments; deprecated handlers; and handlers whose types come from a
//! macro, are generic, or are `impl Trait`.

#![deny(warnings)]

use super::{OPEN, request, serve};
use mcp_proto::server::{
    Call, Content, IntoResourceResult, IntoToolResult, Router, ServerConfig, WrittenJson,
};
use mcp_proto::{ToolArguments, WriteText, complete, prompt, resource, router, tool};
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

/// Deprecated arguments of a deprecated tool.
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
    outcome_with(router, &mut (), method, params)
}

fn outcome_with<C>(router: &Router<'_, C>, context: &mut C, method: &str, params: &Value) -> Value {
    let config = ServerConfig::new("s", "1").features(router.features());
    let lines = serve(&config, router, context, &(OPEN.to_owned() + &request(method, params)));
    lines[1]["result"].clone()
}

#[derive(ToolArguments)]
struct Offset {
    offset: u8,
}

/// A state with a type parameter.
struct Sensor<T> {
    value: T,
}

/// An error whose type has a constant as its argument.
struct Code<const N: u8>;

impl<const N: u8> WriteText for Code<N> {
    fn pieces(&self, put: &mut dyn FnMut(&str)) {
        put(&format!("error {N}"));
    }
}

#[tool]
fn code(Offset { offset }: Offset) -> Result<impl IntoToolResult + use<>, Code<{ 1 + 1 }>> {
    if offset == 0 { Err(Code) } else { Ok("fine") }
}

impl<T: Copy + Into<u32>> Sensor<T> {
    #[tool]
    fn measure(&self) -> u32 {
        self.value.into()
    }

    #[tool]
    fn calibrate(&mut self, Offset { offset }: Offset) -> Result<impl IntoToolResult, &'static str> {
        if offset == 0 { Err("not zero") } else { Ok(Content::new(move |result| result.text(offset))) }
    }

    #[resource("sensor://value")]
    fn value(&self) -> Option<impl IntoResourceResult + use<T>> {
        let value = self.value.into();
        (value > 0).then_some(WrittenJson::new(move |out| out.unsigned(u64::from(value))))
    }
}

/// Defines handlers whose types are parameters of the macro.
macro_rules! handlers {
    ($state:ty, $arguments:ty, $call:ty, $text:ty) => {
        #[tool]
        pub(super) fn one(_: $state, arguments: $arguments) -> String {
            arguments.r#type
        }

        #[tool]
        pub(super) fn two(call: $call) {
            call.text("two");
        }

        #[resource("a:{x}")]
        pub(super) fn three(_: $state, x: $text) -> String {
            x.to_owned()
        }
    };
}

mod from_macro {
    use super::*;

    handlers!(&Sensor<u8>, Kind, Call<'_>, &str);
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

#[test]
fn state_has_type_parameters() {
    static SENSOR: Router<Sensor<u8>> =
        router![Sensor::<u8>::measure, Sensor::<u8>::calibrate, Sensor::<u8>::value];
    let call = |method, params| outcome_with(&SENSOR, &mut Sensor { value: 7 }, method, &params);
    assert_eq!(call("tools/call", json!({ "name": "measure" }))["content"][0]["text"], "7");
    assert_eq!(call("resources/read", json!({ "uri": "sensor://value" }))["contents"][0]["text"], "7");
}

#[test]
fn result_contains_a_type_without_a_name() {
    static SENSOR: Router<Sensor<u8>> = router![Sensor::<u8>::calibrate];
    for (offset, expected) in [(3, "3"), (0, "not zero")] {
        let params = json!({ "name": "calibrate", "arguments": { "offset": offset } });
        let result = outcome_with(&SENSOR, &mut Sensor { value: 7 }, "tools/call", &params);
        assert_eq!(result["content"][0]["text"], expected);
    }
    static CODE: Router<()> = router![code];
    let result = outcome(&CODE, "tools/call", &json!({ "name": "code", "arguments": { "offset": 0 } }));
    assert_eq!(result["content"][0]["text"], "error 2");
}

#[test]
fn types_of_parameters_come_from_a_macro() {
    static SENSOR: Router<Sensor<u8>> = router![from_macro::one, from_macro::two, from_macro::three];
    for (method, params, pointer, expected) in [
        ("tools/call", json!({ "name": "one", "arguments": { "type": "a" } }), "/content/0/text", "a"),
        ("tools/call", json!({ "name": "two" }), "/content/0/text", "two"),
        ("resources/read", json!({ "uri": "a:b" }), "/contents/0/text", "b"),
    ] {
        let result = outcome_with(&SENSOR, &mut Sensor { value: 7 }, method, &params);
        assert_eq!(result.pointer(pointer), Some(&json!(expected)), "{method} {result}");
    }
}
