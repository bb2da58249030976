//! Tests of the views of protocol objects, and of the schemas in a list of tools.

use crate::buffer::BufferMut;
use crate::client::*;
use crate::json::{Json, Writer};
use crate::protocol::objects::annotations::Role;
use crate::protocol::objects::view::duration;
use crate::protocol::revision::Revision;
use crate::protocol::sampling::options::{IncludeContext, ToolChoice};
use crate::rpc::Object;
use std::string::{String, ToString};
use std::vec::Vec;

fn json(text: &str) -> Json<'_> {
    Json::parse(text.as_bytes()).unwrap()
}

fn block(text: &str) -> String {
    std::format!("{:?}", BlockView::from_json(json(text)).content())
}

/// Checks the types of blocks. A block becomes `Other` if its type is unknown, or if a required member is missing or
/// invalid.
#[test]
fn block_without_required_members_is_other() {
    let cases: &[(&str, &str)] = &[
        (r#"{"type":"text","text":"a"}"#, "Text"),
        (r#"{"type":"te\u0078t","text":""}"#, "Text"),
        (r#"{"type":"text"}"#, "Other"),
        (r#"{"type":"text","text":1}"#, "Other"),
        (r#"{"text":"a"}"#, "Other"),
        (r#""a""#, "Other"),
        (r#"{"type":"image","data":"","mimeType":"image/png"}"#, "Image"),
        (r#"{"type":"image","data":""}"#, "Image"),
        (r#"{"type":"image","mimeType":"image/png"}"#, "Other"),
        (r#"{"type":"audio","data":"","mimeType":"audio/wav"}"#, "Audio"),
        (r#"{"type":"audio","text":""}"#, "Other"),
        (r#"{"type":"resource","resource":{"uri":"u","text":""}}"#, "Resource"),
        (r#"{"type":"resource","resource":{"uri":"u","blob":""}}"#, "Resource"),
        (r#"{"type":"resource","resource":{"text":""}}"#, "Resource"),
        // An embedded resource without contents is a link.
        (r#"{"type":"resource","resource":{"uri":"u","name":"n"}}"#, "Link"),
        (r#"{"type":"resource","uri":"u","name":"n","mimeType":"m"}"#, "Link"),
        (r#"{"type":"resource","uri":"u","text":"t"}"#, "Resource"),
        (r#"{"type":"resource","resource":{}}"#, "Other"),
        (r#"{"type":"resource_link","uri":"u","name":"n"}"#, "Link"),
        (r#"{"type":"resource_link","name":"n"}"#, "Other"),
        (r#"{"type":"tool_use","id":"1","name":"n","input":{}}"#, "ToolUse"),
        (r#"{"type":"tool_use","id":"1","name":"n"}"#, "ToolUse"),
        (r#"{"type":"tool_use","id":"1"}"#, "Other"),
        (r#"{"type":"tool_result","toolUseId":"1","content":[]}"#, "ToolResult"),
        (r#"{"type":"tool_result","content":[]}"#, "Other"),
        (r#"{"type":"thought","text":""}"#, "Other"),
    ];
    for (text, expected) in cases {
        assert!(block(text).starts_with(expected), "{text} is {}", block(text));
    }
    let ContentView::Link(link) = BlockView::from_json(json(cases[14].0)).content() else { panic!() };
    assert!(link.uri().unwrap() == "u" && link.name().unwrap() == "n");
}

#[test]
fn text_is_found_in_any_member_order() {
    for length in 0..10 {
        for special in ["", "\\\"", "\\\\", "}", "]", "{\\\"", "\u{e9}", "\\u0000"] {
            let text = std::format!("{}{special}{}", "x".repeat(length), "y".repeat(length % 9));
            let forms = [
                (std::format!(r#"{{"type":"text","text":"{text}"}}"#), true),
                (std::format!(r#"{{"text":"{text}","type":"text"}}"#), true),
                (std::format!(r#"{{"type": "text","text":"{text}"}}"#), true),
                (std::format!(r#"{{"type":"text","text":"{text}" }}"#), true),
                (std::format!(r#"{{"type":"text","text": "{text}"}}"#), true),
                (std::format!(r#"{{"type":"text","text":"{text}","annotations":{{}}}}"#), true),
                (std::format!(r#"{{"type":"text","text":"no","text":"{text}"}}"#), true),
                (std::format!(r#"{{"type":"text","text":"{text}","text":7}}"#), false),
                (std::format!(r#"{{"type":"text","text":"{text}","type":"else"}}"#), false),
                (std::format!(r#"{{"type":"texts","text":"{text}"}}"#), false),
                (std::format!(r#"{{"type":"text","text":["{text}"]}}"#), false),
            ];
            for (form, is_text) in forms {
                let content = BlockView::from_json(json(&form)).content();
                let found = match content {
                    ContentView::Text(text) => Some(text.raw()),
                    _ => None,
                };
                assert_eq!(found, is_text.then_some(&*text), "{form}");
                for list in
                    [std::format!("[{form}]"), std::format!("[{form},{form}]"), std::format!("[ {form} ]")]
                {
                    let result = std::format!(r#"{{"content":{list}}}"#);
                    let members = Object::from_json(json(&result));
                    let seen = ToolResultView::with(members, members.get("content")).text();
                    assert_eq!(seen.map(|text| text.raw()), is_text.then_some(&*text), "{result}");
                }
            }
        }
    }
}

#[test]
fn block_has_annotations_and_meta() {
    let block = BlockView::from_json(json(
        r#"{"type":"text","text":"a","annotations":{"audience":["user","robot"],"priority":0.50},"_meta":{"k":1}}"#,
    ));
    let about = block.annotations();
    assert_eq!(about.audience().collect::<Vec<_>>(), [Role::User]);
    assert!(about.is_for(Role::User) && !about.is_for(Role::Assistant));
    assert_eq!(about.priority().unwrap().to_string(), "0.5");
    assert!(about.last_modified().is_none());
    assert_eq!(block.meta().unwrap().raw(), r#"{"k":1}"#);
    for text in ["{}", r#"{"annotations":null,"_meta":7}"#, "[]", "null"] {
        let block = BlockView::from_json(json(text));
        assert!(block.annotations().is_for(Role::Assistant) && block.meta().is_none(), "{text}");
    }
}

#[test]
fn result_without_content_is_empty() {
    for text in ["{}", r#"{"content":null}"#, r#"{"content":[]}"#] {
        let result = ToolResultView::from_json(json(text));
        assert!(result.content().next().is_none() && result.text().is_none() && !result.is_error());
    }
}

#[test]
fn display_name_is_first_nonempty_title_or_name() {
    let cases = [
        (r#"{"name":"n","title":"t","annotations":{"title":"a"}}"#, "t", "t"),
        (r#"{"name":"n","annotations":{"title":"a"}}"#, "a", "n"),
        (r#"{"name":"n","title":"","annotations":{"title":""}}"#, "n", "n"),
        (r#"{"name":"n","title":null}"#, "n", "n"),
    ];
    for (text, tool, others) in cases {
        let json = json(text);
        assert!(ToolView::from_json(json).display_name().unwrap() == tool, "{text}");
        let names = [
            ResourceView::from_json(json).display_name(),
            ResourceTemplateView::from_json(json).display_name(),
            PromptView::from_json(json).display_name(),
            PromptArgumentView::from_json(json).display_name(),
            ImplementationView::from_json(json).display_name(),
        ];
        assert!(names.into_iter().all(|name| name.unwrap() == others), "{text}");
    }
    assert!(ToolView::from_json(json("{}")).display_name().is_none());
}

#[test]
fn argument_without_required_is_optional() {
    for (text, required) in [
        (r#"{"name":"a"}"#, false),
        (r#"{"name":"a","required":null}"#, false),
        (r#"{"name":"a","required":"true"}"#, false),
        (r#"{"name":"a","required":false}"#, false),
        (r#"{"name":"a","required":true}"#, true),
    ] {
        assert_eq!(PromptArgumentView::from_json(json(text)).is_required(), required, "{text}");
    }
}

#[test]
fn missing_sampling_options_have_defaults() {
    for text in
        ["{}", r#"{"includeContext":null,"toolChoice":null}"#, r#"{"includeContext":"x","toolChoice":{}}"#]
    {
        let sample = CreateMessageView::from_json(json(text));
        assert_eq!(
            (sample.include_context(), sample.tool_choice()),
            (IncludeContext::None, ToolChoice::Auto)
        );
        assert!(sample.model_preferences().is_none_or(|it| it.cost().is_none()), "{text}");
    }
    let sample =
        CreateMessageView::from_json(json(r#"{"includeContext":"allServers","toolChoice":{"mode":"none"}}"#));
    assert_eq!(
        (sample.include_context(), sample.tool_choice()),
        (IncludeContext::AllServers, ToolChoice::None)
    );
}

#[test]
fn schema_of_a_tool_has_the_type_that_the_revision_requires() {
    use crate::protocol::objects::base_metadata::ListedObject;
    use crate::protocol::objects::tool::Tool;
    let both = [Revision::V2025_11_25, Revision::V2026_07_28];
    let object = r#"{"type":"object"}"#;
    // Each row: a schema, its text in a list of 2025-11-25, and its text as the output schema in 2026-07-28. `None`
    // means that the list omits the output schema.
    for (schema, old, new) in [
        ("{}", Some(object), "{}"),
        (" { } ", Some(object), "{ }"),
        (object, Some(object), object),
        (r#"{"properties":{}}"#, Some(r#"{"properties":{},"type":"object"}"#), r#"{"properties":{}}"#),
        (r#"{"type":"array"}"#, None, r#"{"type":"array"}"#),
    ] {
        for revision in both {
            let is_old = revision == Revision::V2025_11_25;
            let tool = Tool::new("t", if old.is_some() { schema } else { object }).output_schema(schema);
            let output = if is_old { old } else { Some(new) };
            let output = output.map(|text| std::format!(r#","outputSchema":{text}"#)).unwrap_or_default();
            let input = old.unwrap_or(object);
            let expected = std::format!(r#"{{"name":"t","inputSchema":{input}{output}}}"#);
            let mut room = [0; 256];
            let mut out = Writer::new(BufferMut::Lent(&mut room), 0, 256);
            tool.write(revision, &mut out);
            assert_eq!(str::from_utf8(out.written()).unwrap(), expected);
            assert!(tool.size() > expected.len());
        }
    }
}

#[test]
fn tool_without_hints_has_worst_case_defaults() {
    for text in ["{}", r#"{"inputSchema":{},"annotations":{}}"#, r#"{"inputSchema":null,"annotations":null}"#]
    {
        let tool = ToolView::from_json(json(text));
        let hints = tool.hints();
        let values = [hints.read_only(), hints.destructive(), hints.idempotent(), hints.open_world()];
        assert_eq!(values, [false, true, false, true], "{text}");
        assert_eq!(tool.input_schema().raw(), r#"{"type":"object"}"#);
        assert!(tool.output_schema().is_none());
    }
    let tool = ToolView::from_json(json(
        r#"{"inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}}"#,
    ));
    let hints = tool.hints();
    let values = [hints.read_only(), hints.destructive(), hints.idempotent(), hints.open_world()];
    assert_eq!(values, [true, false, true, false]);
}

#[test]
fn duration_is_a_json_integer_of_at_least_zero() {
    const MAX: Option<u64> = Some(u64::MAX);
    for (text, expected) in [
        ("0", Some(0)),
        ("60000", Some(60_000)),
        ("60000.0", Some(60_000)),
        ("60000.000", Some(60_000)),
        ("6e4", Some(60_000)),
        ("6E+4", Some(60_000)),
        ("0.06e006", Some(60_000)),
        ("1.5e1", Some(15)),
        ("600000e-1", Some(60_000)),
        ("0.0", Some(0)),
        ("0e99999999999999999999", Some(0)),
        ("0e-99999999999999999999", Some(0)),
        ("1.8446744073709551615e19", MAX),
        ("1.8446744073709551614e19", Some(u64::MAX - 1)),
        ("18446744073709551616", MAX),
        ("18446744073709551616.0", MAX),
        ("1e20", MAX),
        ("1e99999999999999999999", MAX),
        ("0.00000000000000000000001e99", MAX),
        ("1.5", None),
        ("15e-1", None),
        ("1e-99999999999999999999", None),
        ("18446744073709551616.5", None),
        ("-1", None),
        ("-1.0", None),
        ("null", None),
        ("true", None),
        ("\"5\"", None),
        ("[5]", None),
    ] {
        assert_eq!(duration(json(text)), expected.map(crate::Millis), "{text}");
    }
}

#[test]
fn result_without_freshness_is_not_fresh() {
    use crate::Millis;
    let cases = [
        ("{}", 0, false),
        (r#"{"ttlMs":-5,"cacheScope":"private"}"#, 0, false),
        (r#"{"ttlMs":"5","cacheScope":"PUBLIC"}"#, 0, false),
        (r#"{"ttlMs":5,"cacheScope":"public"}"#, 5, true),
        (r#"{"ttlMs":5.0}"#, 5, false),
        (r#"{"ttlMs":5.5}"#, 0, false),
        (r#"{"ttlMs":99999999999999999999999,"cacheScope":7}"#, u64::MAX, false),
        (r#"{"ttlMs":-99999999999999999999999}"#, 0, false),
    ];
    for (text, fresh_for, shared) in cases {
        assert_eq!(
            Freshness::from_json(json(text)),
            Freshness { fresh_for: Millis(fresh_for), shared },
            "{text}"
        );
    }
    let fresh = Freshness { fresh_for: Millis(5), shared: false };
    assert!(fresh.is_fresh(Millis(10), Millis(14)) && !fresh.is_fresh(Millis(10), Millis(15)));
    assert!(!Freshness::default().is_fresh(Millis(10), Millis(10)));
}

/// Checks views of objects with invalid members. Views skip invalid entries, and treat members of the wrong type as
/// missing.
#[test]
fn views_of_invalid_json_have_no_members() {
    for text in ["null", "[]", "7", r#"{"name":1,"uri":[],"icons":{},"arguments":[1],"size":-1,"values":3}"#]
    {
        let json = json(text);
        let resource = ResourceView::from_json(json);
        assert!(resource.uri().is_none() && resource.name().is_none() && resource.size().is_none());
        assert!(resource.icons().next().is_none());
        assert!(PromptView::from_json(json).arguments().next().is_none());
        assert!(PromptResultView::from_json(json).messages().next().is_none());
        assert!(ReadResultView::from_json(json).contents().next().is_none());
        let completion = CompletionView::from_json(json);
        assert!(
            completion.values().next().is_none() && completion.total().is_none() && !completion.has_more()
        );
        assert_eq!(resource.raw().raw(), json.raw());
    }
}
