//! Rebuilds JSON from the getters of views.
//!
//! Only values without a fixed shape are copied: `_meta`, schemas, structured content, inputs of tools, extensions, and
//! the data of logs and errors.

use mcp_proto::client::{
    AnnotationsView, Base64, BlockView, ContentView, Event, Freshness, IconView, ImplementationView,
    PromptView, ResourceContentsView, ResourceTemplateView, ResourceView, ToolView,
};
use mcp_proto::json::{Json, Str};
use mcp_proto::{Outcome, ServerCapabilities};
use serde_json::{Map, Value, json};

pub(crate) fn string(text: Str<'_>) -> Value {
    Value::String(text.to_string())
}

pub(crate) fn open(json: Json<'_>) -> Value {
    serde_json::from_str(json.raw()).unwrap()
}

pub(crate) fn number(number: mcp_proto::Decimal) -> Value {
    serde_json::from_str(&number.to_string()).unwrap()
}

/// Returns an array, or `None` if there are no values.
pub(crate) fn some(values: impl Iterator<Item = Value>) -> Option<Value> {
    let values: Vec<Value> = values.collect();
    (!values.is_empty()).then_some(Value::Array(values))
}

pub(crate) fn object<const N: usize>(members: [(&str, Option<Value>); N]) -> Value {
    let there = members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Object(there.collect::<Map<_, _>>())
}

/// Adds the cache members if they differ from the default.
fn fresh(mut value: Value, freshness: Freshness) -> Value {
    if freshness != Freshness::default() {
        value["ttlMs"] = freshness.fresh_for.0.into();
        value["cacheScope"] = if freshness.shared { "public" } else { "private" }.into();
    }
    value
}

/// The `resultType` of the results that this module rebuilds: all are complete results.
const COMPLETE: &str = "complete";

fn icon(icon: IconView<'_>) -> Value {
    object([
        ("src", icon.source().map(string)),
        ("mimeType", icon.mime().map(string)),
        ("sizes", some(icon.sizes().map(string))),
        ("theme", icon.theme().map(string)),
    ])
}

fn annotations(about: AnnotationsView<'_>) -> Option<Value> {
    let value = object([
        ("audience", some(about.audience().map(|role| role.as_str().into()))),
        ("priority", about.priority().map(number)),
        ("lastModified", about.last_modified().map(string)),
    ]);
    (value != json!({})).then_some(value)
}

/// Returns the base64 text, and checks that the text decodes to the announced length.
fn base64(data: Base64<'_>) -> Value {
    let mut bytes = vec![0; data.decoded_len()];
    let length = bytes.len();
    assert_eq!(data.decode(&mut bytes).map(|bytes| bytes.len()), Ok(length));
    string(data.text())
}

pub(crate) fn contents(contents: ResourceContentsView<'_>) -> Value {
    object([
        ("uri", contents.uri().map(string)),
        ("mimeType", contents.mime().map(string)),
        ("text", contents.text().map(string)),
        ("blob", contents.blob().map(base64)),
        ("_meta", contents.meta().map(open)),
    ])
}

pub(crate) fn block(block: BlockView<'_>) -> Value {
    let mut value = match block.content() {
        ContentView::Text(text) => json!({"type": "text", "text": string(text)}),
        ContentView::Image { data, mime } => object([
            ("type", Some("image".into())),
            ("data", Some(base64(data))),
            ("mimeType", mime.map(string)),
        ]),
        ContentView::Audio { data, mime } => object([
            ("type", Some("audio".into())),
            ("data", Some(base64(data))),
            ("mimeType", mime.map(string)),
        ]),
        ContentView::Resource(resource) => json!({"type": "resource", "resource": contents(resource)}),
        ContentView::Link(link) => {
            let mut value = resource(link);
            value["type"] = "resource_link".into();
            value
        }
        ContentView::ToolUse { id, name, input } => {
            json!({"type": "tool_use", "id": string(id), "name": string(name), "input": open(input)})
        }
        ContentView::ToolResult { tool_use_id, result } => object([
            ("type", Some("tool_result".into())),
            ("toolUseId", Some(string(tool_use_id))),
            ("content", Some(result.blocks().map(self::block).collect())),
            ("structuredContent", result.structured().map(open)),
            ("isError", result.is_error().then_some(true.into())),
        ]),
        other => panic!("{other:?}"),
    };
    if let Some(annotations) = annotations(block.annotations()) {
        value["annotations"] = annotations;
    }
    if let Some(meta) = block.meta() {
        value["_meta"] = open(meta);
    }
    value
}

pub(crate) fn resource(resource: ResourceView<'_>) -> Value {
    object([
        ("uri", resource.uri().map(string)),
        ("name", resource.name().map(string)),
        ("title", resource.title().map(string)),
        ("description", resource.description().map(string)),
        ("mimeType", resource.mime().map(string)),
        ("size", resource.size().map(Value::from)),
        ("annotations", annotations(resource.annotations())),
        ("icons", some(resource.icons().map(icon))),
        ("_meta", resource.meta().map(open)),
    ])
}

fn template(template: ResourceTemplateView<'_>) -> Value {
    object([
        ("uriTemplate", template.uri_template().map(string)),
        ("name", template.name().map(string)),
        ("title", template.title().map(string)),
        ("description", template.description().map(string)),
        ("mimeType", template.mime().map(string)),
        ("annotations", annotations(template.annotations())),
        ("icons", some(template.icons().map(icon))),
        ("_meta", template.meta().map(open)),
    ])
}

fn prompt(prompt: PromptView<'_>) -> Value {
    let arguments = prompt.arguments().map(|argument| {
        object([
            ("name", argument.name().map(string)),
            ("title", argument.title().map(string)),
            ("description", argument.description().map(string)),
            ("required", argument.is_required().then_some(true.into())),
        ])
    });
    object([
        ("name", prompt.name().map(string)),
        ("title", prompt.title().map(string)),
        ("description", prompt.description().map(string)),
        ("arguments", some(arguments)),
        ("icons", some(prompt.icons().map(icon))),
        ("_meta", prompt.meta().map(open)),
    ])
}

pub(crate) fn tool(tool: ToolView<'_>) -> Value {
    let hints = tool.hints();
    let defaults = [hints.read_only(), hints.destructive(), hints.idempotent(), hints.open_world()];
    assert_eq!(defaults, [false, true, false, true], "every example has these values");
    object([
        ("name", tool.name().map(string)),
        ("title", tool.title().map(string)),
        ("description", tool.description().map(string)),
        ("inputSchema", Some(open(tool.input_schema()))),
        ("outputSchema", tool.output_schema().map(open)),
        ("icons", some(tool.icons().map(icon))),
        ("_meta", tool.meta().map(open)),
    ])
}

pub(crate) fn page(event: &Event<'_>) -> Value {
    let (name, entries, freshness, meta): (_, Vec<Value>, _, _) = match event {
        Event::Tools(page) => ("tools", page.tools().map(tool).collect(), page.freshness(), page.meta()),
        Event::Resources(page) => {
            ("resources", page.resources().map(resource).collect(), page.freshness(), page.meta())
        }
        Event::Templates(page) => {
            ("resourceTemplates", page.templates().map(template).collect(), page.freshness(), page.meta())
        }
        Event::Prompts(page) => {
            ("prompts", page.prompts().map(prompt).collect(), page.freshness(), page.meta())
        }
        other => panic!("{other:?}"),
    };
    let complete = ("resultType", Some(COMPLETE.into()));
    fresh(object([complete, (name, Some(entries.into())), ("_meta", meta.map(open))]), freshness)
}

pub(crate) fn tool_result(event: &Event<'_>) -> Value {
    let Event::Response(end) = event else { panic!("{event:?}") };
    let result = end.tool_result().unwrap();
    object([
        ("resultType", Some(COMPLETE.into())),
        ("content", Some(result.blocks().map(block).collect())),
        ("isError", result.is_error().then_some(true.into())),
        ("structuredContent", result.structured().map(open)),
        ("_meta", result.meta().map(open)),
    ])
}

pub(crate) fn read_result(event: &Event<'_>) -> Value {
    let Event::Response(end) = event else { panic!("{event:?}") };
    let result = end.resource().unwrap();
    let value = object([
        ("resultType", Some(COMPLETE.into())),
        ("contents", Some(result.contents().map(contents).collect())),
        ("_meta", result.meta().map(open)),
    ]);
    fresh(value, result.freshness())
}

pub(crate) fn prompt_result(event: &Event<'_>) -> Value {
    let Event::Response(end) = event else { panic!("{event:?}") };
    let result = end.prompt().unwrap();
    let messages = result
        .messages()
        .map(|message| json!({"role": message.role().unwrap().as_str(), "content": block(message.block())}));
    object([
        ("resultType", Some(COMPLETE.into())),
        ("description", result.description().map(string)),
        ("messages", Some(messages.collect())),
        ("_meta", result.meta().map(open)),
    ])
}

pub(crate) fn completion(event: &Event<'_>) -> Value {
    let Event::Response(end) = event else { panic!("{event:?}") };
    let result = end.completion().unwrap();
    let completion = object([
        ("values", Some(result.values().map(string).collect())),
        ("total", result.total().map(Value::from)),
        ("hasMore", result.has_more().then_some(true.into())),
    ]);
    object([
        ("resultType", Some(COMPLETE.into())),
        ("completion", Some(completion)),
        ("_meta", result.meta().map(open)),
    ])
}

fn implementation(who: ImplementationView<'_>) -> Value {
    object([
        ("name", who.name().map(string)),
        ("title", who.title().map(string)),
        ("version", who.version().map(string)),
        ("description", who.description().map(string)),
        ("websiteUrl", who.website().map(string)),
        ("icons", some(who.icons().map(icon))),
    ])
}

pub(crate) fn connected(event: &Event<'_>) -> Value {
    let Event::Connected(server) = event else { panic!("{event:?}") };
    let mut value = object([
        ("resultType", Some(COMPLETE.into())),
        ("supportedVersions", Some(server.supported_versions().map(string).collect())),
        ("capabilities", Some(capabilities(event))),
        ("instructions", server.instructions().map(string)),
        ("_meta", server.meta().map(open)),
    ]);
    value["_meta"]["io.modelcontextprotocol/serverInfo"] = implementation(server.server());
    fresh(value, server.freshness())
}

/// Rebuilds capabilities from their bits and the extensions.
pub(crate) fn capabilities(event: &Event<'_>) -> Value {
    use ServerCapabilities as C;
    let Event::Connected(server) = event else { panic!("{event:?}") };
    let bits = server.capabilities();
    let flag = |bit| bits.has(bit).then_some(Value::Bool(true));
    let when = |bit, value| bits.has(bit).then_some(value);
    object([
        ("tools", when(C::TOOLS, object([("listChanged", flag(C::TOOLS_LIST_CHANGED))]))),
        (
            "resources",
            when(
                C::RESOURCES,
                object([
                    ("listChanged", flag(C::RESOURCES_LIST_CHANGED)),
                    ("subscribe", flag(C::RESOURCES_SUBSCRIBE)),
                ]),
            ),
        ),
        ("prompts", when(C::PROMPTS, object([("listChanged", flag(C::PROMPTS_LIST_CHANGED))]))),
        ("completions", when(C::COMPLETIONS, json!({}))),
        ("logging", when(C::LOGGING, json!({}))),
        ("extensions", server.raw_capabilities().get("extensions").map(open)),
    ])
}

pub(crate) fn error(event: &Event<'_>) -> Value {
    let Event::Response(end) = event else { panic!("{event:?}") };
    let Outcome::Error(error) = end.outcome() else { panic!("{end:?}") };
    object([
        ("code", Some(error.code().into())),
        ("message", error.message().map(string)),
        ("data", error.data().map(open)),
    ])
}

pub(crate) fn progress(event: &Event<'_>) -> Value {
    let Event::Progress(step) = event else { panic!("{event:?}") };
    object([
        ("progress", Some(number(step.progress()))),
        ("total", step.total().map(number)),
        ("message", step.message().map(string)),
        ("_meta", step.meta().map(open)),
    ])
}

pub(crate) fn log(event: &Event<'_>) -> Value {
    let Event::Log(log) = event else { panic!("{event:?}") };
    object([
        ("level", log.level().map(|level| level.as_str().into())),
        ("logger", log.logger().map(string)),
        ("data", Some(open(log.data()))),
        ("_meta", log.meta().map(open)),
    ])
}
