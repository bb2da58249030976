//! The schema checker against the official examples and invalid lines.

use std::fs;

use mcp_proto_proptests::schema::{REVISIONS, Schemas, spec_dir};
use serde_json::Value;

/// Returns the definition and the value of each official example.
fn examples() -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for folder in fs::read_dir(spec_dir().join("examples-2026-07-28")).unwrap() {
        let folder = folder.unwrap();
        for file in fs::read_dir(folder.path()).unwrap() {
            let text = fs::read_to_string(file.unwrap().path()).unwrap();
            found.push((folder.file_name().into_string().unwrap(), serde_json::from_str(&text).unwrap()));
        }
    }
    assert!(found.len() >= 129, "only {} examples", found.len());
    found
}

#[test]
fn official_examples_match_their_definitions() {
    let Some(schemas) = Schemas::load_or_say() else { return };
    for (definition, value) in examples() {
        schemas
            .check("2026-07-28", &definition, &value)
            .unwrap_or_else(|error| panic!("{error}\nin {value}"));
    }
}

const RESULTS: &[(&str, &str)] = &[
    ("CallToolResultResponse", "tools/call"),
    ("CompleteResultResponse", "completion/complete"),
    ("DiscoverResultResponse", "server/discover"),
    ("GetPromptResultResponse", "prompts/get"),
    ("ListPromptsResultResponse", "prompts/list"),
    ("ListResourceTemplatesResultResponse", "resources/templates/list"),
    ("ListResourcesResultResponse", "resources/list"),
    ("ListToolsResultResponse", "tools/list"),
    ("ReadResourceResultResponse", "resources/read"),
    ("SubscriptionsListenResultResponse", "subscriptions/listen"),
];

/// The id of an example that contradicts its own schema: `ReadResourceResult` requires `ttlMs` and `cacheScope`, which
/// this example lacks. The example passes the definition of its folder only because that definition also admits an
/// `InputRequiredResult`. The line check selects the definition by the `resultType`, and rejects the example.
const AT_ODDS: &str = "read-resource-example";

/// Each example that is a whole message passes the line check, except the example with the id `AT_ODDS`.
#[test]
fn official_messages_pass_as_lines() {
    let Some(schemas) = Schemas::load_or_say() else { return };
    let (mut requests, mut notifications, mut results, mut errors) = (0, 0, 0, 0);
    for (definition, value) in examples().iter().filter(|(_, value)| value.get("jsonrpc").is_some()) {
        let line = format!("{value}\n");
        let checked = if value.get("error").is_some() {
            errors += 1;
            schemas.check_server_line("2026-07-28", None, &line)
        } else if value.get("result").is_some() {
            results += 1;
            let (_, method) = RESULTS.iter().find(|(name, _)| name == definition).expect(definition);
            let checked = schemas.check_server_line("2026-07-28", Some(method), &line);
            if value.get("id") == Some(&Value::from(AT_ODDS)) {
                checked.map_or(Ok(()), |()| Err("fits now".into()))
            } else {
                checked
            }
        } else if value.get("id").is_some() {
            requests += 1;
            schemas.check_client_line("2026-07-28", None, &line)
        } else {
            notifications += 1;
            schemas.check_server_line("2026-07-28", None, &line)
        };
        checked.unwrap_or_else(|error| panic!("{definition}: {error}"));
    }
    let counts = [requests, notifications, results, errors];
    assert!(counts.iter().all(|count| *count >= 3), "too few examples: {counts:?}");
}

/// The sender of a line; for a response also the method of its request.
#[derive(Clone, Copy)]
enum By {
    Client,
    Server,
    ClientTo(&'static str),
    ServerTo(&'static str),
}
use By::{Client, ClientTo, Server, ServerTo};

fn check(schemas: &Schemas, revision: &str, by: By, line: &str) -> Result<(), String> {
    match by {
        Client => schemas.check_client_line(revision, None, line),
        Server => schemas.check_server_line(revision, None, line),
        ClientTo(method) => schemas.check_client_line(revision, Some(method), line),
        ServerTo(method) => schemas.check_server_line(revision, Some(method), line),
    }
}

/// Valid lines.
#[rustfmt::skip]
const GOLDEN: &[(&str, By, &str)] = &[
    ("2025-11-25", Client, r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#),
    ("2025-11-25", ServerTo("initialize"), r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}"#),
    ("2025-11-25", Client, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#),
    ("2026-07-28", Client, r#"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#),
    ("2026-07-28", ServerTo("server/discover"), r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}}"#),
    ("2026-07-28", Server, r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2026-07-28"],"requested":"1900-01-01"}}}"#),
    ("2026-07-28", Server, r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32021,"message":"Missing required client capability","data":{"requiredCapabilities":{"sampling":{}}}}}"#),
    ("2026-07-28", ServerTo("tools/call"), r#"{"jsonrpc":"2.0","id":3,"result":{"resultType":"input_required","inputRequests":{"k":{"method":"roots/list"}},"requestState":"opaque"}}"#),
    ("2026-07-28", Client, r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"t","arguments":{},"inputResponses":{"k":{"roots":[]}},"requestState":"opaque","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#),
    ("2026-07-28", Server, r#"{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":5},"notifications":{"toolsListChanged":true}}}"#),
    ("2026-07-28", Server, r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":5}}}"#),
    ("2026-07-28", ServerTo("subscriptions/listen"), r#"{"jsonrpc":"2.0","id":5,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":5}}}"#),
    ("2026-07-28", Client, r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":6,"reason":"timeout"}}"#),
    // Lines of older revisions, and errors without an id.
    ("2024-11-05", ServerTo("ping"), r#"{"jsonrpc":"2.0","id":"a","result":{}}"#),
    ("2024-11-05", Server, r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}"#),
    ("2025-06-18", Server, r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid request"}}"#),
    ("2025-11-25", Server, r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}}"#),
    ("2026-07-28", Server, r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}}"#),
    ("2024-11-05", ServerTo("tools/list"), r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"t","description":"d","inputSchema":{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"],"additionalProperties":false}}],"nextCursor":"n"}}"#),
    ("2024-11-05", Client, r#"{"jsonrpc":"2.0","id":0,"method":"tools/call","params":{"name":"t","arguments":{},"_meta":{"progressToken":0}}}"#),
    ("2025-03-26", Server, r#"[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":0.5,"total":1,"message":"half"}}]"#),
    ("2025-06-18", ServerTo("tools/call"), r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"3"}],"structuredContent":{"sum":3},"isError":false}}"#),
    ("2025-11-25", ServerTo("tools/call"), r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"resource_link","uri":"file:///a","name":"a","size":3},{"type":"image","data":"AAAA","mimeType":"image/png"}]}}"#),
    ("2025-06-18", ClientTo("elicitation/create"), r#"{"jsonrpc":"2.0","id":1,"result":{"action":"decline"}}"#),
    ("2025-06-18", Server, r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#),
    ("2025-11-25", Client, r#"{"jsonrpc":"2.0","id":12345678901234567890,"method":"ping"}"#),
];

/// Lines with one defect: the name of the defect, a part of the error, the revision, the sender, and the line.
#[rustfmt::skip]
const BROKEN: &[(&str, &str, &str, By, &str)] = &[
    ("not JSON", "EOF", "2025-11-25", Server, r#"{"jsonrpc":"2.0","#),
    ("two lines", "a newline inside the line", "2025-11-25", ServerTo("ping"), "{\"jsonrpc\":\"2.0\",\n\"id\":1,\"result\":{}}"),
    ("not an object", "a message is an object", "2025-11-25", Server, r#""hello""#),
    ("a batch elsewhere", "a message is an object", "2025-06-18", Server, r#"[{"jsonrpc":"2.0","id":1,"result":{}}]"#),
    ("an empty batch", "a message is an object", "2025-03-26", Server, "[]"),
    ("no jsonrpc", "JSONRPCResultResponse", "2025-11-25", ServerTo("ping"), r#"{"id":1,"result":{}}"#),
    ("wrong jsonrpc", "/jsonrpc", "2025-11-25", ServerTo("ping"), r#"{"jsonrpc":"1.0","id":1,"result":{}}"#),
    ("a fractional id", "/id", "2025-11-25", ServerTo("ping"), r#"{"jsonrpc":"2.0","id":1.5,"result":{}}"#),
    ("id null on a result", "/id", "2025-06-18", ServerTo("ping"), r#"{"jsonrpc":"2.0","id":null,"result":{}}"#),
    ("no id on an old error", "id", "2025-06-18", Server, r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"x"}}"#),
    ("id null on a new error", "/id", "2025-11-25", Server, r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}"#),
    ("a fractional code", "/error/code", "2025-11-25", Server, r#"{"jsonrpc":"2.0","id":1,"error":{"code":1.5,"message":"x"}}"#),
    ("an error without message", "message", "2025-11-25", Server, r#"{"jsonrpc":"2.0","id":1,"error":{"code":1}}"#),
    ("result and error", "unknown member", "2025-11-25", Server, r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"x"}}"#),
    ("a reserved code", "reserved", "2026-07-28", Server, r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"x"}}"#),
    ("-32022 without data", "UnsupportedProtocolVersionError", "2026-07-28", Server, r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"x"}}"#),
    ("-32021 with a list", "MissingRequiredClientCapabilityError", "2026-07-28", Server, r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32021,"message":"x","data":{"requiredCapabilities":["sampling"]}}}"#),
    ("initialize without serverInfo", "InitializeResult", "2025-11-25", ServerTo("initialize"), r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{}}}"#),
    ("initialize in the stateless era", "no method", "2026-07-28", Client, r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#),
    ("a request without _meta", "DiscoverRequest", "2026-07-28", Client, r#"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{}}"#),
    ("params that are a list", "/params", "2025-11-25", Client, r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}"#),
    ("a response of a stateless client", "no responses", "2026-07-28", Client, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#),
    ("a request of a stateless server", "no method", "2026-07-28", Server, r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#),
    ("a client's method from a server", "no method", "2025-11-25", Server, r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#),
    ("a method of a later revision", "no method", "2025-03-26", Server, r#"{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{}}}}"#),
    ("an answer to no method", "no request", "2025-03-26", ServerTo("no/such"), r#"{"jsonrpc":"2.0","id":1,"result":{}}"#),
    ("no resultType", "resultType", "2026-07-28", ServerTo("tools/call"), r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#),
    ("resultType too early", "resultType", "2024-11-05", ServerTo("tools/list"), r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","tools":[]}}"#),
    ("structuredContent too early", "structuredContent", "2025-03-26", ServerTo("tools/call"), r#"{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":{}}}"#),
    ("a list without cache members", "ttlMs", "2026-07-28", ServerTo("tools/list"), r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","tools":[]}}"#),
    ("input_required where it cannot be", "input_required", "2026-07-28", ServerTo("tools/list"), r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","requestState":"x"}}"#),
    ("outputSchema too early", "outputSchema", "2025-03-26", ServerTo("tools/list"), r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"type":"object"}}]}}"#),
    ("title too early", "title", "2025-03-26", ServerTo("initialize"), r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-03-26","capabilities":{},"serverInfo":{"name":"s","version":"1","title":"S"}}}"#),
    ("a tool's _meta too early", "_meta", "2025-03-26", ServerTo("tools/list"), r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"t","inputSchema":{"type":"object"},"_meta":{}}]}}"#),
    ("an inputSchema that is no object", "inputSchema", "2025-11-25", ServerTo("tools/list"), r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"t","inputSchema":{"type":"string"}}]}}"#),
    ("a text block without text", "content", "2025-11-25", ServerTo("tools/call"), r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text"}]}}"#),
    ("an audio block too early", "content", "2024-11-05", ServerTo("tools/call"), r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"audio","data":"AAAA","mimeType":"audio/wav"}]}}"#),
    ("progress message too early", "message", "2024-11-05", Server, r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1,"message":"m"}}"#),
    ("progress as text", "/params/progress", "2025-11-25", Server, r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":"1"}}"#),
    ("a listening that ends without its id", "SubscriptionsListenResult", "2026-07-28", ServerTo("subscriptions/listen"), r#"{"jsonrpc":"2.0","id":5,"result":{"resultType":"complete"}}"#),
    ("an unknown action", "ElicitResult", "2025-06-18", ClientTo("elicitation/create"), r#"{"jsonrpc":"2.0","id":1,"result":{"action":"maybe"}}"#),
];

#[test]
fn valid_lines_pass() {
    let Some(schemas) = Schemas::load_or_say() else { return };
    for (revision, by, line) in GOLDEN {
        check(&schemas, revision, *by, line).unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn invalid_lines_fail_with_a_reason() {
    let Some(schemas) = Schemas::load_or_say() else { return };
    for (what, word, revision, by, line) in BROKEN {
        match check(&schemas, revision, *by, line) {
            Ok(()) => panic!("passed: {what}: {line}"),
            Err(error) => {
                let (error, _) = error.split_once("\nin ").unwrap_or((&error, ""));
                assert!(error.contains(word), "{what}: the error does not contain {word:?}: {error}");
            }
        }
    }
}

#[test]
fn unknown_definition_is_an_error() {
    let Some(schemas) = Schemas::load_or_say() else { return };
    for revision in REVISIONS {
        assert!(schemas.check(revision, "NoSuchResult", &Value::Null).unwrap_err().contains("no definition"));
    }
    assert!(schemas.check("1999-01-01", "EmptyResult", &Value::Null).is_err());
    assert!(schemas.check_server_line("1999-01-01", None, "{}").is_err());
}
