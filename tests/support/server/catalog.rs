//! Resources, prompts, completion and tools with content, and their application.

use super::tools::{Record, name_of};
use mcp_proto::server::{
    Call, Change, Completion, Event, Feature, Logging, Prompt, PromptArgument, Prompts, Resource,
    ResourceTemplate, Resources, ServerConfig, Subscriptions, Tool, Tools,
};
use mcp_proto::{Annotations, Decimal, Icon, Level, Role};

pub(crate) static ICONS: [Icon<'static>; 1] = [Icon::new("data:,i")];

pub(crate) static FOR_PEOPLE: Annotations<'static> = Annotations::new()
    .audience(&[Role::User, Role::Assistant])
    .priority(Decimal::new(15, -1))
    .last_modified("2026-01-31T12:00:00Z");

pub(crate) static LOG: Resource<'static> = Resource::new("lib:log", "log")
    .title("The log")
    .description("What happened")
    .icons(&ICONS)
    .meta("{\"m\":1}")
    .mime_type("text/markdown")
    .annotations(FOR_PEOPLE)
    .size(12);

pub(crate) static UNWATCHED: Resources<'static> = Resources::new(&[LOG, Resource::new("lib:b/a", "plain")])
    .templates(&[
        ResourceTemplate::new("lib:book/{id}", "book")
            .title("A book")
            .description("By number")
            .icons(&ICONS)
            .meta("{\"m\":2}")
            .mime_type("text/html")
            .annotations(FOR_PEOPLE),
        ResourceTemplate::new("lib:{shelf}/{+rest}", "rest"),
    ])
    .list_changed();
pub(crate) static RESOURCES: Resources<'static> = UNWATCHED.subscribe();

pub(crate) static PROMPTS: Prompts<'static> = Prompts::new(&[
    Prompt::new("review")
        .title("Review")
        .description("Reads a book")
        .icons(&ICONS)
        .meta("{\"m\":3}")
        .arguments(&[
            PromptArgument::new("book").title("Book").description("Which").required(),
            PromptArgument::new("style").values(&["short", "shorter \"still\"", "long"]),
            PromptArgument::new("many").values(&MANY),
        ]),
    Prompt::new("empty"),
    Prompt::new("drop"),
    Prompt::new("between"),
    Prompt::new("twice"),
    Prompt::new("defer"),
    Prompt::new("invalid"),
])
.list_changed();

const MANY: [&str; 130] = ["x"; 130];

pub(crate) static TOOLS: Tools<'static> = Tools::new(&[
    Tool::new("everything", "{}"),
    Tool::new("both", r#"{"type":"object","x":1}"#).output_schema("{\"type\":\"object\"}"),
    Tool::new("after", "{}"),
    Tool::new("between", "{}"),
    Tool::new("twice", "{}"),
    Tool::new("meta", "{}"),
    Tool::new("late_meta", "{}"),
    Tool::new("bad_meta", "{}"),
    Tool::new("bad_block_meta", "{}"),
    Tool::new("only_structured", "{}"),
    Tool::new("plain", "{}"),
    Tool::new("nothing", "{}"),
    Tool::new("schema", r#"{"type":"object","x":1}"#).output_schema("{\"type\":\"object\"}"),
    Tool::new("log_more", "{}"),
    Tool::new("change_more", "{}"),
])
.list_changed();

static FEATURES: [&dyn Feature; 5] = [&TOOLS, &UNWATCHED, &PROMPTS, &Completion, &Logging];

/// A server with tools, resources, prompts, completion and logging, from the tables of this module.
pub(crate) const LIBRARY: ServerConfig<'static> = ServerConfig::new("s", "1").features(&FEATURES);

static ALL_FEATURES: [&dyn Feature; 6] =
    [&super::tools::TOOLS, &RESOURCES, &PROMPTS, &Completion, &Logging, &Subscriptions];

/// A server with the features of [`LIBRARY`] and with subscriptions. Its tools are those of [`tools`](super::tools).
pub(crate) const EVERYTHING: ServerConfig<'static> = ServerConfig::new("s", "1").features(&ALL_FEATURES);

static BY_HOST_RESOURCES: Resources<'static> = Resources::dynamic_list();
static BY_HOST_PROMPTS: Prompts<'static> = Prompts::dynamic_list().stringify();
static BY_HOST_FEATURES: [&dyn Feature; 3] = [&BY_HOST_RESOURCES, &BY_HOST_PROMPTS, &Completion];

/// A server with dynamic lists.
pub(crate) const BY_HOST: ServerConfig<'static> = ServerConfig::new("s", "1").features(&BY_HOST_FEATURES);

/// Records the event. If it is a request, responds to, defers or drops the request.
pub(crate) fn handle(event: Event<'_>, record: &mut Record) {
    match event {
        Event::ReadResource(read) => {
            let found = (
                read.resource().map(|resource| resource.name()),
                read.template().map(|template| template.name()),
                read.variable("id").or(read.variable("rest")).map(|value| value.to_string()),
            );
            record.events.push(format!("read {} {found:?}", read.uri()));
            match read.uri() {
                "lib:log" => read.text("all \"quiet\""),
                "lib:b/a" => read.text("plain"),
                "lib:book/7" => read.blob(&[0, 0xFF]),
                "lib:book/none" => read.not_found(),
                "lib:book/defer" => match read.defer(None) {
                    Ok(ticket) => record.tickets.push(ticket),
                    Err(read) => read.busy(),
                },
                "lib:book/error" => read.error_with(7, "no", |out| out.integer(1)),
                "lib:book/drop" => drop(read),
                "lib:book/parts" => read.contents(|contents| {
                    contents.text("lib:book/parts/1", None, 1);
                    contents.blob("lib:book/parts/2", None, &[1]);
                    contents.text("lib:book/parts/3", Some("text/x"), "3");
                }),
                "lib:book/nothing" => read.contents(|_| {}),
                _ => {
                    let meta = read.meta().raw().to_string();
                    read.text(format_args!("{found:?} {meta}"));
                }
            }
        }
        Event::GetPrompt(prompt) => {
            let arguments = ["book", "style"].map(|name| prompt.argument(name).map(|text| text.to_string()));
            let entry = prompt.prompt().map(|entry| entry.name());
            record.events.push(format!("get {} {arguments:?} {entry:?}", prompt.name()));
            match prompt.name() {
                "review" => prompt.messages(|messages| {
                    messages.description("About it");
                    messages.user().text(arguments[0].clone().unwrap_or_default());
                    messages.assistant().annotations(FOR_PEOPLE).image(&[1, 2, 3], "image/png");
                    messages.user().resource_text("lib:log", None, "quiet");
                }),
                "empty" => prompt.messages(|_| {}),
                "between" => prompt.messages(|messages| {
                    messages.user().text("1");
                    messages.description("late");
                    messages.user().text("2");
                }),
                "twice" => prompt.messages(|messages| {
                    messages.description("early");
                    messages.user().text("1");
                    messages.description("late");
                }),
                "defer" => match prompt.defer(None) {
                    Ok(ticket) => record.tickets.push(ticket),
                    Err(prompt) => prompt.busy(),
                },
                "invalid" => prompt.invalid("no such book"),
                "drop" => drop(prompt),
                _ => prompt.unknown_prompt(),
            }
        }
        Event::Complete(complete) => {
            let chosen = complete.context("other").map(|text| text.to_string());
            let meta = complete.meta().get("progressToken").is_some();
            record.events.push(format!(
                "complete {:?} {} {} {chosen:?} {meta}",
                complete.reference(),
                complete.argument(),
                complete.value()
            ));
            let value = complete.value().to_string();
            let count = value.parse::<usize>().unwrap_or(0);
            match complete.value().raw() {
                "defer" => record.tickets.push(complete.defer(None).expect("a slot")),
                "total" => complete.values_of(1000, ["a", "b"]),
                "wide" => complete.values((0..50).map(|number| format!("{number:040}"))),
                "wrong" => complete.values_of(1, ["a", "b"]),
                _ => complete.values((0..count).map(|number| format!("v{number}"))),
            }
        }
        Event::ListResources(list) => {
            record.events.push("list resources".into());
            list.resources(|index| (index < 2).then_some(Resource::new("lib:x", "x")));
        }
        Event::ListTemplates(list) => {
            record.events.push("list templates".into());
            list.templates(|index| (index < 1).then_some(ResourceTemplate::new("lib:{x}", "x")));
        }
        Event::ListPrompts(list) => {
            record.events.push("list prompts".into());
            list.prompts(|index| (index < 1).then_some(Prompt::new("x")));
        }
        other => record.events.push(name_of(&format!("{other:?}")).into()),
    }
}

/// Responds to a call of one of the [`TOOLS`].
pub(crate) fn content(mut call: Call<'_>) {
    match call.name() {
        "everything" => call.content(|result| {
            result.text("t\n");
            result.annotated(FOR_PEOPLE).text("for people");
            result.block().meta(r#"{"b":2}"#).image(&[0, 0, 0], "image/png");
            result.image(b"ab", "image/png");
            result.audio(&[0xFF], "audio/wav");
            result.resource_text("lib:1", Some("text/x"), "one");
            result.resource_blob("lib:2", None, b"two");
            result.link(&LOG);
            result.failed();
        }),
        "both" => call.content(|result| {
            result.structured_with(|out| out.raw(r#"{"n":1}"#).unwrap());
            result.text("one");
        }),
        "after" => call.content(|result| {
            result.text("one");
            result.structured(&[1, 2]);
        }),
        "between" => call.content(|result| {
            result.text("one");
            result.structured(&[1, 2]);
            result.text("two");
        }),
        "twice" => call.content(|result| {
            result.structured(&1);
            result.structured(&2);
        }),
        "meta" => call.content(|result| {
            result.meta(r#"{"own":{"x":1}}"#);
            result.structured(&std::collections::BTreeMap::from([("a", 1)]));
            result.text("t");
        }),
        "late_meta" => call.content(|result| {
            result.text("t");
            result.meta("{}");
        }),
        "bad_meta" => call.content(|result| result.meta("[]")),
        "bad_block_meta" => call.content(|result| result.block().meta("{").text("t")),
        "only_structured" => {
            call.content(|result| result.structured(&std::collections::BTreeMap::from([("a", "\"")])))
        }
        "plain" => call.text("t"),
        "nothing" => call.content(|_| {}),
        "schema" => {
            let tool = *call.tool().expect("it is in the catalog");
            call.text(format_args!("{} {:?}", tool.input_schema(), tool.result_schema()));
        }
        "log_more" => {
            let notified = call.log_with(Level::Error, None, |out| out.raw(r#"{"a":[1]}"#).unwrap());
            let bad = call.log_with(Level::Error, None, |out| out.begin_array());
            call.text(format_args!("{notified:?} {bad:?}"));
        }
        "change_more" => {
            call.changed(Change::Resources);
            call.changed(Change::Prompts);
            call.text("changed");
        }
        name => panic!("no handler for {name:?}"),
    }
}
