//! JSON-RPC errors of functions of each kind.

use super::{OPEN, request, serve};
use mcp_proto::server::{Failure, Router, ServerConfig};
use mcp_proto::{ClientCapabilities, ToolArguments, complete, prompt, resource, router, tool};
use serde_json::json;

/// Returns a JSON-RPC error with these data.
fn broken(data: u32) -> Failure {
    Failure::error_with(7, format_args!("broken {data}"), &[data])
}

#[tool]
fn broken_tool() -> Result<(), Failure> {
    Err(broken(1))
}

#[prompt]
fn broken_prompt(Topic { first, second, third }: Topic) -> Result<String, Failure> {
    if first.is_empty() { Err(broken(2)) } else { Ok(second + &third) }
}

#[resource("broken://resource")]
fn broken_resource() -> Result<Option<&'static str>, Failure> {
    Err(broken(3))
}

#[resource("broken://optional")]
fn broken_option() -> Option<Result<&'static str, Failure>> {
    Some(Err(broken(4)))
}

#[derive(ToolArguments)]
struct Topic {
    first: String,
    second: String,
    third: String,
}

#[complete(prompt = "broken_prompt", argument = "first")]
fn broken_completion() -> Result<[&'static str; 1], Failure> {
    Err(broken(5))
}

#[complete(prompt = "broken_prompt", argument = "second")]
fn broken_text(typed: &str) -> Result<Vec<String>, String> {
    Err(format!("no {typed}"))
}

#[complete(prompt = "broken_prompt", argument = "third")]
fn sound_completion() -> Result<impl Iterator<Item = &'static str>, Failure> {
    Ok(["a", "b"].into_iter())
}

static BROKEN: Router<()> = router![
    broken_tool,
    broken_prompt,
    broken_resource,
    broken_option,
    broken_completion,
    broken_text,
    sound_completion,
];

#[test]
fn handler_of_each_kind_returns_json_rpc_errors() {
    let config = ServerConfig::new("s", "1").features(BROKEN.features());
    let error =
        |data: u32| json!({ "error": { "code": 7, "message": format!("broken {data}"), "data": [data] } });
    let complete = |argument: &str| {
        let reference = json!({ "type": "ref/prompt", "name": "broken_prompt" });
        ("completion/complete", json!({ "ref": reference, "argument": { "name": argument, "value": "a" } }))
    };
    let arguments = json!({ "first": "", "second": "", "third": "" });
    for ((method, params), expected) in [
        (("tools/call", json!({ "name": "broken_tool" })), error(1)),
        (("prompts/get", json!({ "name": "broken_prompt", "arguments": arguments })), error(2)),
        (("resources/read", json!({ "uri": "broken://resource" })), error(3)),
        (("resources/read", json!({ "uri": "broken://optional" })), error(4)),
        (complete("first"), error(5)),
        (complete("second"), json!({ "error": { "code": -32603, "message": "no a" } })),
        (complete("third"), json!({ "result": { "completion": { "values": ["a"] } } })),
    ] {
        let lines = serve(&config, &BROKEN, &mut (), &(OPEN.to_owned() + &request(method, &params)));
        let mut line = lines.last().unwrap().clone();
        line.as_object_mut().unwrap().retain(|name, _| name == "result" || name == "error");
        assert_eq!(line, expected, "{method} {params}");
    }
}

#[tool]
fn needs_a_model() -> Result<(), Failure> {
    Err(Failure::missing_capability(ClientCapabilities::SAMPLING, "needs a model"))
}

#[test]
fn missing_capability_is_an_error_in_revisions_that_have_the_code() {
    static ROUTER: Router<()> = router![needs_a_model];
    let config = ServerConfig::new("s", "1").features(ROUTER.features());
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let stateless = request("tools/call", &json!({ "name": "needs_a_model", "_meta": meta }));
    let lines = serve(&config, &ROUTER, &mut (), &stateless);
    let data = json!({ "requiredCapabilities": { "sampling": {} } });
    assert_eq!(lines[0]["error"], json!({ "code": -32021, "message": "needs a model", "data": data }));
    let call = OPEN.to_owned() + &request("tools/call", &json!({ "name": "needs_a_model" }));
    let result = &serve(&config, &ROUTER, &mut (), &call)[1]["result"];
    assert_eq!((&result["isError"], &result["content"][0]["text"]), (&json!(true), &json!("needs a model")));
}
