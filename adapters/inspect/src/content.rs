//! Prints the content of tool results, resources and prompts.

use mcp_proto::client::{ContentView, ResourceContentsView, ToolResultView};
use mcp_proto::json::{Json, Str};
use mcp_proto_std::{PromptResult, ReadResult};

use crate::table::wrapped;

// Each function prints its lines with one `say!`, so that the log messages of other threads do not come between them.

/// Prints the result of a tool.
pub(crate) fn result(result: &ToolResultView<'_>) {
    let mut lines =
        vec![String::from(if result.is_error() { "the tool failed with:" } else { "result of the tool:" })];
    lines.extend(result.content().filter_map(|content| piece(&content)));
    lines.extend(result.structured().map(|structured| format!("  structured: {structured}")));
    say!("{}", lines.join("\n"));
}

/// Prints the contents of a resource.
pub(crate) fn read(read: &ReadResult) {
    let parts = read
        .view()
        .contents()
        .map(|part| format!("{}, {}\n{}", text(part.uri()), text(part.mime()), contents(&part)));
    say!("{}", parts.collect::<Vec<_>>().join("\n"));
}

/// Prints the messages of a prompt.
pub(crate) fn prompt(prompt: &PromptResult) {
    let mut lines = vec![String::from("messages of the prompt:")];
    for message in prompt.view().messages() {
        lines.push(format!("  {}:", message.role().map_or("?", |role| role.as_str())));
        lines.extend(piece(&message.content()));
    }
    say!("{}", lines.join("\n"));
}

fn piece(content: &ContentView<'_>) -> Option<String> {
    Some(match content {
        ContentView::Text(text) => format!("  {}", wrapped(&text.to_string(), 2, 118)),
        ContentView::Image { data, mime } | ContentView::Audio { data, mime } => {
            format!("  [{}, {} bytes]", text(*mime), data.decoded_len())
        }
        ContentView::Resource(resource) => contents(resource),
        ContentView::Link(resource) => format!("  [{}]", text(resource.uri())),
        ContentView::Other(block) => {
            let kind = block.get("type").and_then(Json::string);
            format!("  [{}, {} bytes]", text(kind), block.bytes().len())
        }
        _ => return None,
    })
}

fn contents(part: &ResourceContentsView<'_>) -> String {
    match (part.text(), part.blob()) {
        (Some(text), _) => format!("  {}", wrapped(&text.to_string(), 2, 118)),
        (None, blob) => {
            format!("  [{}, {} bytes]", text(part.uri()), blob.map_or(0, |blob| blob.decoded_len()))
        }
    }
}

fn text(text: Option<Str<'_>>) -> String {
    text.map_or("?".into(), |text| text.to_string())
}
