//! Tests of input requests and their results.

use super::*;
use crate::buffer::BufferMut;
use crate::json::{Decimal, Json};
use crate::server::Tool;
use crate::{IncludeContext, Role, ToolChoice};
use ClientCapabilities as C;
use Revision::*;
use std::string::{String, ToString};
use std::vec::Vec;

/// Returns the written parameters. Returns `None` if the parameters are not valid.
fn written(input: &dyn Input, revision: Revision, client: C) -> Option<String> {
    let mut text = [0; 4096];
    let mut out = Writer::new(BufferMut::Lent(&mut text), 0, 4096);
    out.begin_object();
    let valid = input.write(To { revision, client }, &mut out);
    out.end_object();
    valid.then(|| Json::parse(out.written()).unwrap().to_string())
}

fn json(text: &str) -> Json<'_> {
    Json::parse(text.as_bytes()).unwrap()
}

#[track_caller]
fn check(input: &dyn Input, revision: Revision, expected: &str) {
    assert_eq!(written(input, revision, C::NONE).as_deref(), Some(expected), "{revision}");
}

#[test]
fn input_requests_declare_capability_and_revision() {
    let form = Form::new("", &[]);
    let tool = [Tool::new("t", "{}")];
    let plain = CreateMessage::new(&[], 1);
    let with_tools = plain.tools(&tool);
    let sampling = C::SAMPLING.with(C::SAMPLING_TOOLS);
    let page = OpenUrl::new("", "", "");
    let cases: [(&dyn Input, &str, C, Revision); 5] = [
        (&ListRoots, "roots/list", C::ROOTS, V2024_11_05),
        (&form, "elicitation/create", C::ELICITATION_FORM, V2025_06_18),
        (&page, "elicitation/create", C::ELICITATION_URL, V2025_11_25),
        (&plain, "sampling/createMessage", C::SAMPLING, V2024_11_05),
        (&with_tools, "sampling/createMessage", sampling, V2025_11_25),
    ];
    for (input, method, needs, since) in cases {
        assert_eq!(
            (input.method(), input.needs(), input.revisions()),
            (method, needs, Revisions::since(since))
        );
        for revision in Revision::ALL {
            assert_eq!(input.fits(revision, needs), revision >= since);
            assert!(!input.fits(revision, C::NONE));
        }
    }
    let result = [Block::tool_result("1", &[])];
    let result = [SampleMessage::new(Role::User, &result)];
    assert_eq!(CreateMessage::new(&result, 1).needs(), sampling);
    assert_eq!(plain.tool_choice(ToolChoice::None).needs(), sampling);
}

#[cfg(feature = "alloc")]
#[test]
fn encoded_input_fits_only_its_revision() {
    let form = Form::new("", &[]);
    let encoded = EncodedInput::new(&form, V2026_07_28, C::ELICITATION_FORM).unwrap();
    for revision in Revision::ALL {
        assert_eq!(encoded.fits(revision, C::ELICITATION_FORM), revision == V2026_07_28, "{revision}");
    }
}

#[test]
fn form_schema_depends_on_revision() {
    let sizes = [Choice::new("s").title("Small"), Choice::new("l")];
    let (two, one) = ([Choice::new("a"), Choice::new("b")], [Choice::new("a")]);
    let fields = [
        Field::text("name").title("Name").length(Some(1), Some(9)).default_text("x").required(),
        Field::email("mail").description("where to"),
        Field::integer("count").range(Some(Decimal::ZERO), None).default_number(Decimal::new(5, 0)),
        Field::boolean("sure").default_boolean(true).required(),
        Field::choice("size", &sizes).default_text("s"),
        Field::choice("plain", &two),
        Field::choices("many", &sizes).length(Some(1), None).default_choices(&["l"]),
        Field::choices("some", &one),
    ];
    let form = Form::new("Who?", &fields);
    let old = r#"{"message":"Who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string","title":"Name","minLength":1,"maxLength":9},"mail":{"type":"string","description":"where to","format":"email"},"count":{"type":"integer","minimum":0},"sure":{"type":"boolean","default":true},"size":{"type":"string","enum":["s","l"],"enumNames":["Small","l"]},"plain":{"type":"string","enum":["a","b"]},"many":{"type":"string","enum":["s","l"],"enumNames":["Small","l"]},"some":{"type":"string","enum":["a"]}},"required":["name","sure"]}}"#;
    let new = r#"{"mode":"form","message":"Who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string","title":"Name","minLength":1,"maxLength":9,"default":"x"},"mail":{"type":"string","description":"where to","format":"email"},"count":{"type":"integer","minimum":0,"default":5},"sure":{"type":"boolean","default":true},"size":{"type":"string","oneOf":[{"const":"s","title":"Small"},{"const":"l","title":"l"}],"default":"s"},"plain":{"type":"string","enum":["a","b"]},"many":{"type":"array","minItems":1,"items":{"anyOf":[{"const":"s","title":"Small"},{"const":"l","title":"l"}]},"default":["l"]},"some":{"type":"array","items":{"type":"string","enum":["a"]}}},"required":["name","sure"]}}"#;
    check(&form, V2025_06_18, old);
    check(&form, V2025_11_25, new);
    check(&form, V2026_07_28, new);
    let twice = [Field::text("a"), Field::text("b"), Field::boolean("a")];
    assert_eq!(written(&Form::new("", &twice), V2025_06_18, C::NONE), None);
    // A field ignores limits and defaults that its kind does not have.
    let odd = Field::boolean("b").length(Some(1), None).range(None, Some(Decimal::ZERO)).default_text("x");
    let odd = [odd.default_number(Decimal::ZERO).default_choices(&["x"])];
    let expected = r#"{"mode":"form","message":"","requestedSchema":{"type":"object","properties":{"b":{"type":"boolean"}}}}"#;
    check(&Form::new("", &odd), V2026_07_28, expected);
}

#[test]
fn raw_schema_must_be_an_object() {
    let expected = r#"{"message":"m","requestedSchema":{"type": "object","properties":{}}}"#;
    check(&Form::raw("m", r#"{"type": "object","properties":{}}"#), V2025_06_18, expected);
    for wrong in ["[]", "{", "7", ""] {
        assert_eq!(written(&Form::raw("m", wrong), V2025_06_18, C::NONE), None, "{wrong}");
        assert_eq!(written(&CreateMessage::new(&[], 1).metadata(wrong), V2025_06_18, C::NONE), None);
    }
}

#[test]
fn raw_schema_is_written_verbatim() {
    let schema = r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","required":["b"],"properties":{"b":{"type":"string","enum":["x"],"enumNames":["X"],"default":"x"},"a":{"x-own":[1.0,null]}},"type":"object","$defs":{}}"#;
    for revision in [V2025_06_18, V2025_11_25, V2026_07_28] {
        let text = written(&Form::raw("m", schema), revision, C::NONE).unwrap();
        assert!(text.ends_with(&std::format!(r#""message":"m","requestedSchema":{schema}}}"#)), "{text}");
    }
    // A newline in the schema must not end the message.
    let lines = written(&Form::raw("m", "{\n \"type\":\r\"object\"}"), V2026_07_28, C::NONE).unwrap();
    assert!(lines.ends_with(r#"{  "type": "object"}}"#), "{lines}");
}

#[test]
fn elicitation_id_is_written_before_2026_07_28() {
    let page = OpenUrl::new("Log in", "https://example.com/", "e1");
    check(
        &page,
        V2025_11_25,
        r#"{"mode":"url","message":"Log in","url":"https://example.com/","elicitationId":"e1"}"#,
    );
    check(&page, V2026_07_28, r#"{"mode":"url","message":"Log in","url":"https://example.com/"}"#);
    assert_eq!((page.message(), page.url(), page.id()), ("Log in", "https://example.com/", "e1"));
}

#[test]
fn blocks_become_messages_before_2025_11_25() {
    let pieces = [Block::text("hear"), Block::audio(b"foo", "audio/wav"), Block::image(b"f", "image/png")];
    let messages =
        [SampleMessage::new(Role::User, &pieces), SampleMessage::assistant("yes"), SampleMessage::user("no")];
    let request = CreateMessage::new(&messages, 7);
    let rest = r#"{"role":"assistant","content":{"type":"text","text":"yes"}},{"role":"user","content":{"type":"text","text":"no"}}],"maxTokens":7}"#;
    let (text, picture) =
        (r#"{"type":"text","text":"hear"}"#, r#"{"type":"image","data":"Zg==","mimeType":"image/png"}"#);
    let (sound, note) = (
        r#"{"type":"audio","data":"Zm9v","mimeType":"audio/wav"}"#,
        r#"{"type":"text","text":"[audio: audio/wav, 3 bytes]"}"#,
    );
    let user = |content: &str| std::format!(r#"{{"role":"user","content":{content}}}"#);
    for (revision, second) in [(V2024_11_05, note), (V2025_03_26, sound), (V2025_06_18, sound)] {
        let expected =
            std::format!(r#"{{"messages":[{},{},{},{rest}"#, user(text), user(second), user(picture));
        check(&request, revision, &expected);
    }
    let expected =
        std::format!(r#"{{"messages":[{},{rest}"#, user(&std::format!("[{text},{sound},{picture}]")));
    check(&request, V2025_11_25, &expected);
    check(&request, V2026_07_28, &expected);
}

#[test]
fn sampling_request_writes_all_options() {
    let preferences = ModelPreferences::new(&["sonnet"])
        .cost(Decimal::new(5, -1))
        .speed(Decimal::new(2, 0))
        .intelligence(Decimal::new(-1, 0));
    let request = CreateMessage::new(&[], 7)
        .preferences(preferences)
        .system_prompt("be kind")
        .include_context(IncludeContext::AllServers)
        .temperature(Decimal::new(7, -1))
        .stop_sequences(&["\n"])
        .metadata(r#"{"a":1}"#);
    let expected = |context: &str| {
        std::format!(
            r#"{{"messages":[],"maxTokens":7,"modelPreferences":{{"hints":[{{"name":"sonnet"}}],"costPriority":0.5,"speedPriority":1,"intelligencePriority":0}},"systemPrompt":"be kind",{context}"temperature":0.7,"stopSequences":["\n"],"metadata":{{"a":1}}}}"#
        )
    };
    check(&request, V2025_06_18, &expected(r#""includeContext":"allServers","#));
    check(&request, V2025_11_25, &expected(""));
    let with_context = written(&request, V2026_07_28, C::SAMPLING_CONTEXT);
    assert_eq!(with_context.unwrap(), expected(r#""includeContext":"allServers","#));
    let nothing = request.include_context(IncludeContext::None);
    check(&nothing, V2025_11_25, &expected(r#""includeContext":"none","#));
    let tools = [Tool::new("t", "{}").title("T")];
    let with_tools = CreateMessage::new(&[], 1).tools(&tools).tool_choice(ToolChoice::Required);
    check(
        &with_tools,
        V2025_11_25,
        r#"{"messages":[],"maxTokens":1,"tools":[{"name":"t","title":"T","inputSchema":{"type":"object"}}],"toolChoice":{"mode":"required"}}"#,
    );
}

#[test]
fn tool_use_requires_result_in_next_message() {
    let call = |id| Block::tool_use(id, "t", r#"{"n":1}"#);
    let text = [Block::text("done")];
    let result = |id| Block::tool_result(id, &text);
    let (calls, both) =
        ([Block::text("let me see"), call("1"), call("2")], [result("2"), result("1").failed()]);
    let one = [result("1")];
    let (mixed, strange) =
        ([result("1"), result("2"), Block::text("x")], [result("1"), result("2"), result("3")]);
    let request = SampleMessage::new(Role::Assistant, &calls);
    let user = |blocks| SampleMessage::new(Role::User, blocks);
    let good = [SampleMessage::user("?"), request, user(&both), SampleMessage::assistant("!")];
    check(
        &CreateMessage::new(&good[1..3], 1),
        V2025_11_25,
        r#"{"messages":[{"role":"assistant","content":[{"type":"text","text":"let me see"},{"type":"tool_use","id":"1","name":"t","input":{"n":1}},{"type":"tool_use","id":"2","name":"t","input":{"n":1}}]},{"role":"user","content":[{"type":"tool_result","toolUseId":"2","content":[{"type":"text","text":"done"}]},{"type":"tool_result","toolUseId":"1","content":[{"type":"text","text":"done"}],"isError":true}]}],"maxTokens":1}"#,
    );
    let nested = [Block::tool_result("1", &one)];
    let no_object = [Block::tool_use("1", "t", "[]")];
    let bad: &[&[SampleMessage<'_>]] = &[
        &good[..2],
        &[request, user(&one)],
        &[request, user(&mixed)],
        &[request, user(&strange)],
        &[request, SampleMessage::user("?"), user(&both)],
        &[request, SampleMessage::new(Role::Assistant, &both)],
        &[user(&both)],
        &[user(&calls), user(&both)],
        &[SampleMessage::new(Role::Assistant, &calls[1..2]), user(&nested)],
        &[SampleMessage::new(Role::Assistant, &no_object), user(&one)],
    ];
    for messages in bad {
        assert_eq!(written(&CreateMessage::new(messages, 1), V2025_11_25, C::NONE), None, "{messages:?}");
    }
    assert!(written(&CreateMessage::new(&good, 1), V2026_07_28, C::NONE).is_some());
}

#[test]
fn tool_result_writes_structured_value() {
    let calls = [Block::tool_use("1", "t", "{}")];
    let written = |value: &str, revision| {
        let results = [Block::tool_result("1", &[]).structured(value)];
        let messages =
            [SampleMessage::new(Role::Assistant, &calls), SampleMessage::new(Role::User, &results)];
        written(&CreateMessage::new(&messages, 1), revision, C::NONE)
    };
    let structured = |value| std::format!(r#""content":[],"structuredContent":{value}}}"#);
    for (value, revision, stays) in [
        (r#"{"a":1}"#, V2025_11_25, true),
        ("[1]", V2025_11_25, false),
        ("null", V2025_11_25, false),
        (r#"{"a":1}"#, V2026_07_28, true),
        ("[1]", V2026_07_28, true),
        ("null", V2026_07_28, true),
    ] {
        let text = written(value, revision).unwrap();
        assert_eq!(text.contains(&structured(value)), stays, "{value} in {revision}: {text}");
        assert!(stays || !text.contains("structured"), "{text}");
    }
    assert_eq!(written("{", V2025_11_25), None);
    assert_eq!(written("1 2", V2026_07_28), None);
    // A block that is not a tool result has no structured value.
    let blocks = [Block::text("?").structured("7")];
    let text = [SampleMessage::new(Role::User, &blocks)];
    assert!(!self::written(&CreateMessage::new(&text, 1), V2026_07_28, C::NONE).unwrap().contains('7'));
}

#[test]
fn elicit_result_reads_three_actions() {
    let texts = |answer: ElicitResultView<'_>| {
        let choices: Vec<String> = answer.choices("c").map(|text| text.to_string()).collect();
        (answer.action(), answer.content().raw().to_string(), choices.join("+"))
    };
    let cases = [
        (
            r#"{"action":"accept","content":{"c":["a","b"]}}"#,
            ElicitAction::Accept,
            r#"{"c":["a","b"]}"#,
            "a+b",
        ),
        (r#"{"action":"accept","content":{"c":"a"}}"#, ElicitAction::Accept, r#"{"c":"a"}"#, "a"),
        (r#"{"action":"accept"}"#, ElicitAction::Accept, "{}", ""),
        (r#"{"action":"accept","content":[]}"#, ElicitAction::Accept, "{}", ""),
        (r#"{"action":"decline","content":{"c":"a"}}"#, ElicitAction::Decline, "{}", ""),
        (r#"{"action":"c\u0061ncel"}"#, ElicitAction::Cancel, "{}", ""),
    ];
    for (text, action, content, choices) in cases {
        let answer = ElicitResultView::from_json(json(text)).unwrap();
        assert_eq!(texts(answer), (action, content.into(), choices.into()), "{text}");
    }
    for text in ["{}", r#"{"action":"agree"}"#, r#"{"action":1}"#, "[]"] {
        assert!(ElicitResultView::from_json(json(text)).is_none(), "{text}");
    }
}

#[test]
fn sampled_reads_one_block_or_several() {
    let one =
        r#"{"role":"assistant","content":{"type":"text","text":"hi"},"model":"m","stopReason":"endTurn"}"#;
    let answer = SampledView::from_json(json(one)).unwrap();
    assert_eq!((answer.role(), answer.content().count()), (Role::Assistant, 1));
    assert!(answer.text().unwrap() == "hi" && answer.model() == "m");
    assert!(answer.stop_reason().unwrap() == "endTurn");
    let many = r#"{"role":"user","content":[{"type":"image"},{"type":"text","text":"hi"},7],"model":""}"#;
    let answer = SampledView::from_json(json(many)).unwrap();
    assert_eq!((answer.role(), answer.content().count()), (Role::User, 2));
    assert!(answer.text().unwrap() == "hi" && answer.stop_reason().is_none());
    let odd = r#"{"role":"assistant","content":{},"model":"m","stopReason":"stop_sequence"}"#;
    assert!(SampledView::from_json(json(odd)).unwrap().stop_reason().unwrap() == "stop_sequence");
    for wrong in [
        "{}",
        r#"{"role":"system","content":{},"model":"m"}"#,
        r#"{"role":"user","content":"text","model":"m"}"#,
        r#"{"role":"user","content":{}}"#,
    ] {
        assert!(SampledView::from_json(json(wrong)).is_none(), "{wrong}");
    }
}

#[test]
fn roots_report_file_uris() {
    let text = r#"{"roots":[{"uri":"file:///a","name":"A"},{"uri":"FILE:///b"},7,{"name":"none"},{"uri":"https://x/"},{"uri":"file:"}]}"#;
    let roots: Vec<RootView<'_>> = RootsView::from_json(json(text)).unwrap().collect();
    let seen: Vec<(String, bool)> =
        roots.iter().map(|root| (root.uri().to_string(), root.is_file())).collect();
    let expected = [("file:///a", true), ("FILE:///b", true), ("https://x/", false), ("file:", false)];
    assert_eq!(seen, expected.map(|(uri, file)| (uri.to_string(), file)));
    assert!(roots[0].name().unwrap() == "A" && roots[1].name().is_none());
    assert!(
        RootsView::from_json(json("{}")).is_none() && RootsView::from_json(json(r#"{"roots":{}}"#)).is_none()
    );
}
