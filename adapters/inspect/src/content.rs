//! Prints the content of tool results, resources and prompts.

use mcp_proto::client::{ContentView, ResourceContentsView, ToolResultView};
use mcp_proto::json::{Json, Str};
use mcp_proto_std::{PromptResult, ReadResult};

use crate::table::wrapped;

/// Prints the result of a tool.
pub(crate) fn result(result: &ToolResultView<'_>) {
    say!("{}", if result.is_error() { "the tool failed with:" } else { "result of the tool:" });
    result.content().for_each(|content| piece(&content));
    if let Some(structured) = result.structured() {
        say!("  structured: {structured}");
    }
}

/// Prints the contents of a resource.
pub(crate) fn read(read: &ReadResult) {
    for part in read.view().contents() {
        say!("{}, {}", text(part.uri()), text(part.mime()));
        contents(&part);
    }
}

/// Prints the messages of a prompt.
pub(crate) fn prompt(prompt: &PromptResult) {
    say!("messages of the prompt:");
    for message in prompt.view().messages() {
        say!("  {}:", message.role().map_or("?", |role| role.as_str()));
        piece(&message.content());
    }
}

fn piece(content: &ContentView<'_>) {
    match content {
        ContentView::Text(text) => say!("  {}", wrapped(&text.to_string(), 2, 118)),
        ContentView::Image { data, mime } | ContentView::Audio { data, mime } => {
            say!("  [{}, {} bytes]", text(*mime), data.decoded_len());
        }
        ContentView::Resource(resource) => contents(resource),
        ContentView::Link(resource) => say!("  [{}]", text(resource.uri())),
        ContentView::Other(block) => {
            let kind = block.get("type").and_then(Json::string);
            say!("  [{}, {} bytes]", text(kind), block.bytes().len());
        }
        _ => {}
    }
}

fn contents(part: &ResourceContentsView<'_>) {
    match (part.text(), part.blob()) {
        (Some(text), _) => say!("  {}", wrapped(&text.to_string(), 2, 118)),
        (None, blob) => {
            say!("  [{}, {} bytes]", text(part.uri()), blob.map_or(0, |blob| blob.decoded_len()));
        }
    }
}

fn text(text: Option<Str<'_>>) -> String {
    text.map_or("?".into(), |text| text.to_string())
}
