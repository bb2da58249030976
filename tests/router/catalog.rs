//! Prompts, resources and completions as functions, through a server in both eras.

use super::{OPEN, request, serve};
use mcp_proto::server::{
    Complete, Failure, GetPrompt, IntoPromptResult, IntoResourceResult, IntoToolResult, PromptMessages,
    ReadResource, Router, ServerConfig, Structured, WrittenJson,
};
use mcp_proto::{Decimal, Role, ToolArguments, complete, prompt, resource, router, tool};
use serde_json::{Value, json};

struct Notes {
    notes: Vec<&'static str>,
    reads: u32,
}

/// The type's description.
#[derive(ToolArguments)]
struct Review<'a> {
    /// Which note.
    note: &'a str,
    #[tool(range = 1..=9, default = 3)]
    findings: u8,
    style: Option<Style>,
    loud: Option<bool>,
    weight: Option<Decimal>,
}

#[derive(ToolArguments, Debug)]
#[serde(rename_all = "lowercase")]
enum Style {
    Short,
    Thorough,
}

#[derive(serde::Serialize)]
struct Summary {
    count: usize,
    first: &'static str,
}

#[tool]
fn clear(notes: &mut Notes) {
    notes.notes.clear();
}

/// Reviews
/// a note.
#[prompt(title = "Review", values(findings = ["1", "3", "9"]))]
fn review(Review { note, findings, style, loud, weight }: Review<'_>) -> String {
    format!("{note} {findings} {style:?} {loud:?} {:?}", weight.map(|weight| weight.to_string()))
}

#[prompt]
fn described(_: Review<'_>) -> &'static str {
    ""
}

impl Notes {
    #[prompt(name = "list", description = "Lists all notes")]
    fn all(&self) -> Vec<(Role, &'static str)> {
        self.notes.iter().map(|note| (Role::Assistant, *note)).collect()
    }

    #[prompt]
    fn either(&self, Review { note, .. }: Review<'_>) -> Result<[(Role, String); 1], Failure> {
        Ok([(Role::User, note.parse::<u8>()?.to_string())])
    }

    #[resource("note://count")]
    fn count(&mut self) -> u32 {
        self.reads += 1;
        self.reads
    }

    /// All notes.
    #[resource("note://summary", title = "Summary")]
    fn summary(&self) -> Option<Structured<Summary>> {
        let first = self.notes.first()?;
        Some(Structured(Summary { count: self.notes.len(), first }))
    }

    #[resource("note:///{id}/{part}", mime = "text/markdown")]
    fn part(&self, part: Style, id: usize) -> Result<String, &'static str> {
        let note = self.notes.get(id).ok_or("out of range")?;
        Ok(format!("{part:?} {note}"))
    }

    #[complete(resource = "note:///{id}/{part}", argument = "id")]
    fn ids(&self) -> std::ops::Range<usize> {
        0..self.notes.len()
    }

    #[complete(prompt = "review", argument = "note")]
    fn names<'s>(&'s self, typed: &'s str) -> impl Iterator<Item = &'static str> + 's {
        self.notes.iter().copied().filter(move |note| note.contains(typed))
    }
}

#[prompt]
fn picture() -> impl IntoPromptResult {
    PromptMessages::new(|messages| {
        messages.description("A picture");
        messages.user().image(b"a", "image/gif");
    })
}

#[prompt]
fn own(request: GetPrompt<'_>) {
    request.error(7, "own");
}

#[resource("note://bytes")]
fn bytes() -> [u8; 3] {
    *b"abc"
}

#[resource("note://pins", name = "all pins", mime = "application/pins+json")]
fn pins() -> impl IntoResourceResult {
    WrittenJson::new(|out| {
        out.begin_array();
        out.string("a\"b");
        out.end_array();
    })
}

#[resource("echo:{+text}")]
fn echo(request: ReadResource<'_>, text: &str) {
    request.text(("echo ", text));
}

#[resource("secret:{_key}")]
fn unread(_: &Notes) -> Option<&'static str> {
    None
}

#[complete(resource = "echo:{+text}", argument = "text")]
fn own_completion(request: Complete<'_>) {
    request.values_of(9, ["x"]);
}

static ROUTER: Router<Notes> = router![
    Notes::count,
    review,
    Notes::part,
    clear,
    described,
    Notes::all,
    Notes::either,
    Notes::summary,
    picture,
    own,
    bytes,
    pins,
    echo,
    unread,
    Notes::ids,
    Notes::names,
    own_completion,
];
static CONFIG: ServerConfig = ServerConfig::new("notes", "1").features(ROUTER.features());

fn notes() -> Notes {
    Notes { notes: vec!["one", "two\n\"2\"", "twelve"], reads: 0 }
}

/// Sends a request in both eras. Returns the result or the error, which are equal except for members that only one era
/// has.
fn outcome(method: &str, params: &Value) -> Value {
    let answer = |lines: Vec<Value>| {
        let line = lines.last().unwrap();
        line.get("result").or(line.get("error")).unwrap().clone()
    };
    let first = answer(serve(&CONFIG, &ROUTER, &mut notes(), &(OPEN.to_owned() + &request(method, params))));
    let mut stateless = params.clone();
    stateless["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let mut second = answer(serve(&CONFIG, &ROUTER, &mut notes(), &request(method, &stateless)));
    if let Some(members) = second.as_object_mut() {
        members.retain(|name, _| !["resultType", "_meta", "ttlMs", "cacheScope"].contains(&name.as_str()));
    }
    if first["code"] == -32002 {
        // The stateless era has no separate code for unknown resources.
        assert_eq!(second["code"], -32602);
        second["code"] = json!(-32002);
    }
    assert_eq!(first, second, "{method} {params}");
    first
}

fn names<'v>(list: &'v Value, key: &str, name: &str) -> Vec<&'v str> {
    list[key].as_array().unwrap().iter().map(|entry| entry[name].as_str().unwrap()).collect()
}

#[test]
fn router_declares_the_features_that_it_has() {
    static TOOL: Router<Notes> = router![clear];
    static PROMPT: Router<Notes> = router![Notes::all];
    static VALUES: Router<Notes> = router![described];
    static TEMPLATE: Router<Notes> = router![unread];
    static FIXED: Router<Notes> = router![bytes];
    static NONE: Router<Notes> = router![];
    for (router, expected) in [
        (&ROUTER, json!({ "tools": {}, "prompts": {}, "resources": {}, "completions": {} })),
        (&TOOL, json!({ "tools": {} })),
        (&PROMPT, json!({ "prompts": {} })),
        (&VALUES, json!({ "prompts": {}, "completions": {} })),
        (&TEMPLATE, json!({ "resources": {} })),
        (&FIXED, json!({ "resources": {} })),
        (&NONE, json!({})),
    ] {
        let config = ServerConfig::new("s", "1").features(router.features());
        let lines = serve(&config, router, &mut notes(), OPEN);
        assert_eq!(lines[0]["result"]["capabilities"], expected);
    }
}

#[test]
fn prompts_are_listed_with_typed_arguments() {
    let list = outcome("prompts/list", &json!({}));
    assert_eq!(names(&list, "prompts", "name"), ["review", "described", "list", "either", "picture", "own"]);
    assert_eq!(
        list["prompts"][0],
        json!({
            "name": "review",
            "title": "Review",
            "description": "Reviews a note.",
            "arguments": [
                { "name": "note", "description": "Which note.", "required": true },
                { "name": "findings", "required": false },
                { "name": "style", "required": false },
                { "name": "loud", "required": false },
                { "name": "weight", "required": false },
            ],
        })
    );
    assert_eq!(list["prompts"][1]["description"], "The type's description.");
    assert_eq!(list["prompts"][2]["description"], "Lists all notes");
    assert_eq!(list["prompts"][2].get("arguments"), None);
}

#[test]
fn prompt_arguments_are_decoded_from_texts() {
    for (arguments, expected) in [
        (json!({ "note": "a" }), "a 3 None None None"),
        (json!({ "note": "" }), " 3 None None None"),
        (json!({ "note": "12" }), "12 3 None None None"),
        (json!({ "note": "a\n\"é\"" }), "a\n\"é\" 3 None None None"),
        (
            json!({ "note": "a", "findings": "9", "style": "thorough", "loud": "true", "weight": "-1.50" }),
            "a 9 Some(Thorough) Some(true) Some(\"-1.5\")",
        ),
        (json!({ "note": "a", "style": null }), "a 3 None None None"),
    ] {
        let result = outcome("prompts/get", &json!({ "name": "review", "arguments": arguments }));
        let text = json!({ "type": "text", "text": expected });
        assert_eq!(result, json!({ "messages": [{ "role": "user", "content": text }] }), "{arguments}");
    }
    for (arguments, expected) in [
        (json!({ "note": "a", "findings": "0" }), "`findings`: expected an integer from 1 to 9"),
        (
            json!({ "note": "a", "findings": "x" }),
            "`findings`: expected an integer from 0 to 255, found \"x\"",
        ),
        (json!({ "note": "a", "findings": "" }), "`findings`: expected an integer from 0 to 255, found \"\""),
        (
            json!({ "note": "a", "findings": "3,\"loud\":true" }),
            "`findings`: expected an integer from 0 to 255, found \"3,\\\"loud\\\":true\"",
        ),
        (json!({ "note": "a", "loud": "yes" }), "`loud`: expected a boolean, found \"yes\""),
        (
            json!({ "note": "a", "style": "long" }),
            "`style`: unknown value `long`, expected one of `short`, `thorough`",
        ),
        (
            json!({ "note": "a", "more": "1" }),
            "unknown field `more`, expected one of `note`, `findings`, `style`, `loud`, `weight`",
        ),
    ] {
        let error = outcome("prompts/get", &json!({ "name": "review", "arguments": arguments }));
        assert_eq!(error["code"], -32602, "{error}");
        let message = error["message"].as_str().unwrap();
        assert!(message.ends_with(expected), "{message}\n{expected}");
    }
}

#[test]
fn prompts_return_texts_and_messages() {
    let message = |role: &str, content: Value| json!({ "role": role, "content": content });
    let text = |text: &str| json!({ "type": "text", "text": text });
    for (name, expected) in [
        (
            "list",
            json!({ "messages": [
                message("assistant", text("one")),
                message("assistant", text("two\n\"2\"")),
                message("assistant", text("twelve")),
            ] }),
        ),
        (
            "picture",
            json!({
                "description": "A picture",
                "messages": [message("user", json!({ "type": "image", "data": "YQ==", "mimeType": "image/gif" }))],
            }),
        ),
        ("own", json!({ "code": 7, "message": "own" })),
    ] {
        assert_eq!(outcome("prompts/get", &json!({ "name": name })), expected);
    }
    for (note, expected) in [
        ("7", json!({ "messages": [message("user", text("7"))] })),
        ("x", json!({ "code": -32603, "message": "invalid digit found in string" })),
    ] {
        assert_eq!(
            outcome("prompts/get", &json!({ "name": "either", "arguments": { "note": note } })),
            expected
        );
    }
}

#[test]
fn resources_and_templates_are_listed_separately() {
    let list = outcome("resources/list", &json!({}));
    assert_eq!(
        names(&list, "resources", "uri"),
        ["note://count", "note://summary", "note://bytes", "note://pins"]
    );
    assert_eq!(
        list["resources"][1],
        json!({
            "uri": "note://summary",
            "name": "summary",
            "title": "Summary",
            "description": "All notes.",
            "mimeType": "application/json",
        })
    );
    assert_eq!(list["resources"][3]["name"], "all pins");
    let list = outcome("resources/templates/list", &json!({}));
    assert_eq!(
        names(&list, "resourceTemplates", "uriTemplate"),
        ["note:///{id}/{part}", "echo:{+text}", "secret:{_key}"]
    );
    assert_eq!(list["resourceTemplates"][0]["mimeType"], "text/markdown");
}

#[test]
fn resources_are_read_with_typed_variables() {
    for (uri, mime, key, expected) in [
        ("note://count", "text/plain", "text", "1"),
        ("note://summary", "application/json", "text", r#"{"count":3,"first":"one"}"#),
        ("note://bytes", "application/octet-stream", "blob", "YWJj"),
        ("note://pins", "application/pins+json", "text", r#"["a\"b"]"#),
        ("note:///0/short", "text/markdown", "text", "Short one"),
        ("note:///%31/thoroug%68", "text/markdown", "text", "Thorough two\n\"2\""),
        ("echo:", "text/plain", "text", "echo "),
        ("echo:a/b%20%C3%A9%22%0A", "text/plain", "text", "echo a/b é\"\n"),
        ("echo:%EF%BF%BD", "text/plain", "text", "echo \u{FFFD}"),
    ] {
        let contents = json!({ "uri": uri, "mimeType": mime, key: expected });
        assert_eq!(outcome("resources/read", &json!({ "uri": uri })), json!({ "contents": [contents] }));
    }
    assert_eq!(
        outcome("resources/read", &json!({ "uri": "note:///7/short" })),
        json!({ "code": -32603, "message": "out of range" })
    );
}

#[resource("note://array")]
fn array() -> &'static [u8; 3] {
    b"abc"
}

#[resource("note://slice")]
fn slice() -> &'static [u8] {
    b"abc"
}

#[resource("note://vector")]
fn vector() -> Vec<u8> {
    b"abc".to_vec()
}

#[tool]
fn written() -> impl IntoToolResult {
    WrittenJson::new(|out| {
        out.begin_object();
        out.field_integer("n", 1);
        out.end_object();
    })
}

#[test]
fn bytes_of_every_type_are_a_blob_and_written_json_is_a_result() {
    static BYTES: Router<Notes> = router![array, slice, vector, written];
    let config = ServerConfig::new("s", "1").features(BYTES.features());
    let last = |method, params: Value| {
        let input = OPEN.to_owned() + &request(method, &params);
        serve(&config, &BYTES, &mut notes(), &input).pop().unwrap()
    };
    for uri in ["note://array", "note://slice", "note://vector"] {
        let line = last("resources/read", json!({ "uri": uri }));
        assert_eq!(line["result"]["contents"][0]["blob"], "YWJj", "{line}");
    }
    let line = last("tools/call", json!({ "name": "written" }));
    assert_eq!(line["result"]["structuredContent"], json!({ "n": 1 }), "{line}");
}

#[test]
fn wrong_variables_are_unknown_resources() {
    for uri in [
        "note:///x/short",
        "note:///-1/short",
        "note:////short",
        "note:///0/long",
        "note:///0,1/short",
        "note:///0%2C1/short",
        "echo:%ff",
        "echo:%EF%BF%BD%EF%BF",
        "secret:1",
        "note://other",
    ] {
        let error = outcome("resources/read", &json!({ "uri": uri }));
        assert_eq!(error["code"], -32002, "{uri}: {error}");
        assert_eq!(error["data"], json!({ "uri": uri }));
    }
}

#[test]
fn arguments_and_variables_are_completed() {
    let (prompt, note) = (
        json!({ "type": "ref/prompt", "name": "review" }),
        json!({ "type": "ref/resource", "uri": "note:///{id}/{part}" }),
    );
    let echo = json!({ "type": "ref/resource", "uri": "echo:{+text}" });
    for (reference, argument, typed, expected) in [
        (&prompt, "note", "", json!({ "values": ["one", "two\n\"2\"", "twelve"] })),
        (&prompt, "note", "e", json!({ "values": ["one", "twelve"] })),
        (&prompt, "note", "\n\"", json!({ "values": ["two\n\"2\""] })),
        (&prompt, "style", "t", json!({ "values": ["thorough"], "total": 1, "hasMore": false })),
        (&prompt, "findings", "", json!({ "values": ["1", "3", "9"], "total": 3, "hasMore": false })),
        (&note, "id", "", json!({ "values": ["0", "1", "2"] })),
        (&note, "id", "2", json!({ "values": ["2"] })),
        (&note, "id", "22", json!({ "values": [] })),
        // No function completes these two arguments, and no declaration of a prompt lists their values.
        (&note, "part", "t", json!({ "values": [] })),
        (&json!({ "type": "ref/prompt", "name": "described" }), "note", "", json!({ "values": [] })),
        (&echo, "text", "", json!({ "values": ["x"], "total": 9, "hasMore": true })),
    ] {
        let params = json!({ "ref": reference, "argument": { "name": argument, "value": typed } });
        assert_eq!(outcome("completion/complete", &params), json!({ "completion": expected }), "{params}");
    }
}

#[test]
fn requests_for_other_catalogs_are_returned() {
    static OTHER: Router<Notes> = router![Notes::count];
    for (method, params) in [
        ("tools/call", json!({ "name": "clear" })),
        ("prompts/get", json!({ "name": "own" })),
        ("resources/read", json!({ "uri": "note://bytes" })),
        (
            "completion/complete",
            json!({
                "ref": { "type": "ref/prompt", "name": "review" },
                "argument": { "name": "note", "value": "" },
            }),
        ),
    ] {
        // The server has the entry, but this router does not.
        let lines = serve(&CONFIG, &OTHER, &mut notes(), &(OPEN.to_owned() + &request(method, &params)));
        assert_eq!(lines[1]["error"]["code"], -32603, "{method}");
    }
}
