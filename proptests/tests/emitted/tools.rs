//! A server with a tool for each kind of response.

use mcp_proto::server::{Call, Change, Feature, Limits, Logging, ServerConfig, Subscriptions, Tool, Tools};
use mcp_proto::{Decimal, Level, Millis, Revision, Revisions, Ticket};

const SCHEMA: &str = r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#;

/// The name of a tool selects its response in `handle`.
static TOOLS: Tools = Tools::new(&[
    Tool::new("text", r#"{"type":"object"}"#).description("says \"text\"").title("Text"),
    Tool::new("everything", SCHEMA)
        .description("d")
        .title("t")
        .output_schema(SCHEMA)
        .read_only(true)
        .destructive(false)
        .idempotent(true)
        .open_world(false),
    Tool::new("fail", r#"{ "properties": {} } "#),
    Tool::new("content", " { } "),
    Tool::new("nothing", "{}"),
    Tool::new("structured", "{}").output_schema(SCHEMA),
    Tool::new("scalar", "{}").output_schema(r#"{"type":"integer"}"#),
    Tool::new("error", "{}"),
    Tool::new("invalid", "{}"),
    Tool::new("forgotten", "{}"),
    Tool::new("deferred", "{}"),
    Tool::new("expired", "{}"),
    Tool::new("busy", "{}"),
    Tool::new("large", "{}"),
    Tool::new("slow", "{}"),
    Tool::new("hidden", "{}"),
])
.list_changed();

static FEATURES: [&dyn Feature; 3] = [&TOOLS, &Logging, &Subscriptions];

/// Returns the configuration for one revision.
pub(crate) fn server_info(revision: Revision) -> ServerConfig<'static> {
    ServerConfig::new("server", "1.0")
        .title("The \"server\"")
        .description("A server for tests")
        .website("https://example.com/")
        .instructions("Use it\nwell")
        .features(&FEATURES)
        .revisions(Revisions::only(revision))
        .limits(Limits::DEFAULT.with_depth(16).with_deferred_timeout(Millis(5_000)))
        .cache(Millis(60_000), true)
}

/// Responds to a call and returns `None`, or defers the call and returns its ticket.
pub(crate) fn handle(mut call: Call<'_>) -> Option<Ticket> {
    let _ = call.progress(Decimal::new(5, -1), Some(Decimal::new(15, -1)), "half \"way\"\n");
    let _ = call.progress(1u32, None, "");
    let _ = call.log(Level::Error, Some("part"), "a\u{1F600}\tb");
    let _ = call.log(Level::Debug, None, "quiet");
    call.changed(Change::Tools);
    let name = call.name().to_owned();
    match name.as_str() {
        "text" => call.text("done \u{7f} \u{2028}"),
        "fail" => call.fail("it broke"),
        "content" => call.content(|out| {
            out.text("one");
            out.text("two");
            out.failed();
        }),
        "nothing" => call.content(|_| {}),
        "structured" | "everything" => call.structured_with(|out| {
            out.begin_object();
            out.field_integer("n", 1);
            out.end_object();
        }),
        "scalar" => call.structured_with(|out| out.integer(7)),
        "error" => call.error_with(-5, "own", |out| out.string("data")),
        "invalid" => call.invalid("no"),
        "forgotten" => drop(call),
        "deferred" | "slow" => return Some(call.defer(None).unwrap()),
        "expired" => return Some(call.defer(Some(Millis(100))).unwrap()),
        "busy" => call.busy(),
        "large" => call.text("x".repeat(5000)),
        _ => call.unknown_tool(),
    }
    None
}
