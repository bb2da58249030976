//! What is shown of a server: as text that a person reads.

use mcp_proto::client::{Connected, Content, Progress, Tool, ToolResult};
use mcp_proto::json::{Json, Kind, Str};

/// Who the server is and what it can do.
pub(crate) fn server(server: &Connected<'_>) {
    let info = server.server_info().unwrap_or(Json::EMPTY_OBJECT);
    let text = |name: &str| info.get(name).and_then(Json::string).map(|text| text.to_string());
    let title = text("title").map(|title| format!(" ({title})")).unwrap_or_default();
    let (name, version) = (text("name").unwrap_or("?".into()), text("version").unwrap_or_default());
    println!("server         {name} {version}{title}");
    let era = if server.revision().as_str() >= "2026" { "no handshake" } else { "handshake" };
    println!("revision       {}, {era}", server.revision());
    let capabilities: Vec<_> = server.raw_capabilities().members().map(capability).collect();
    println!(
        "capabilities   {}",
        if capabilities.is_empty() { "none".into() } else { capabilities.join(", ") }
    );
    if let Some(instructions) = server.instructions() {
        println!("instructions   {}", wrapped(&instructions.to_string(), 15, 100));
    }
    println!();
}

/// `tools (listChanged)`
fn capability((name, value): (Str<'_>, Json<'_>)) -> String {
    let declared = |value: &Json<'_>| value.kind() == Kind::Object || value.boolean() == Some(true);
    let flags: Vec<_> =
        value.members().filter(|(_, value)| declared(value)).map(|(flag, _)| flag.to_string()).collect();
    if flags.is_empty() { name.to_string() } else { format!("{name} ({})", flags.join(", ")) }
}

/// The row of a tool: its name, its arguments, and what it does.
pub(crate) fn tool(tool: &Tool<'_>) -> [String; 3] {
    let schema = tool.input_schema();
    let required: Vec<_> =
        schema.get("required").unwrap_or(Json::NULL).elements().filter_map(Json::string).collect();
    let arguments: Vec<_> = schema
        .get("properties")
        .unwrap_or(Json::NULL)
        .members()
        .map(|(name, property)| {
            let kind =
                property.get("type").and_then(Json::string).map_or("any".into(), |kind| kind.to_string());
            let optional = if required.contains(&name) { "" } else { "?" };
            format!("{name}{optional}: {kind}")
        })
        .collect();
    let name = tool.name().map_or("?".into(), |name| name.to_string());
    let description =
        tool.description().or(tool.display_name()).map_or(String::new(), |text| text.to_string());
    [name, arguments.join("\n"), description]
}

/// What a tool has answered.
pub(crate) fn result(result: &ToolResult<'_>) {
    println!("{}", if result.is_error() { "the tool says that it failed:" } else { "the tool answers:" });
    for content in result.content() {
        match content {
            Content::Text(text) => println!("  {}", wrapped(&text.to_string(), 2, 118)),
            Content::Image { data, mime } | Content::Audio { data, mime } => {
                let mime = mime.map_or("?".into(), |mime| mime.to_string());
                println!("  [{mime}, {} bytes]", data.decoded_len());
            }
            Content::Resource(contents) => match (contents.text(), contents.blob()) {
                (Some(text), _) => println!("  {}", wrapped(&text.to_string(), 2, 118)),
                (None, blob) => {
                    println!("  [{}, {} bytes]", uri(contents.uri()), blob.map_or(0, |it| it.decoded_len()))
                }
            },
            Content::Link(resource) => println!("  [{}]", uri(resource.uri())),
            Content::Other(block) => {
                let kind =
                    block.get("type").and_then(Json::string).map_or("?".into(), |kind| kind.to_string());
                println!("  [{kind}, {} bytes]", block.bytes().len());
            }
            _ => {}
        }
    }
    if let Some(structured) = result.structured() {
        println!("  structured: {structured}");
    }
}

fn uri(uri: Option<Str<'_>>) -> String {
    uri.map_or("?".into(), |uri| uri.to_string())
}

/// `[#####     ] 5 of 10, working`
pub(crate) fn progress(step: &Progress<'_>) {
    let total = step.total().map(|total| format!(" of {total}")).unwrap_or_default();
    let message = step.message().map(|text| format!(", {text}")).unwrap_or_default();
    println!("progress {}{total}{message}", step.progress());
}

/// A text broken into lines of at most `width` characters, all but the first one indented.
fn wrapped(text: &str, indent: usize, width: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    for paragraph in text.lines() {
        let text = paragraph.trim_start();
        let mut line = paragraph[..paragraph.len() - text.len()].to_string();
        for word in text.split(' ') {
            if !line.trim().is_empty() {
                if line.chars().count() + word.chars().count() >= width - indent {
                    lines.push(std::mem::take(&mut line));
                } else {
                    line.push(' ');
                }
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines.join(&format!("\n{}", " ".repeat(indent)))
}

/// A table whose cells may have several lines.
pub(crate) struct Table<const N: usize> {
    rows: Vec<[String; N]>,
}

/// The widest column.
const WIDTH: usize = 60;

impl<const N: usize> Table<N> {
    pub(crate) fn new(head: [&str; N]) -> Table<N> {
        Table { rows: vec![head.map(String::from)] }
    }

    pub(crate) fn row(&mut self, cells: [String; N]) {
        self.rows.push(cells.map(|cell| wrapped(&cell, 0, WIDTH)));
    }

    pub(crate) fn print(&self) {
        let widths: [usize; N] = std::array::from_fn(|column| {
            let lines = self.rows.iter().flat_map(|row| row[column].lines());
            lines.map(|line| line.chars().count()).max().unwrap_or(0)
        });
        for row in &self.rows {
            let height = row.iter().map(|cell| cell.lines().count()).max().unwrap_or(1).max(1);
            for line in 0..height {
                let cells = row.iter().zip(widths).map(|(cell, width)| {
                    let text = cell.lines().nth(line).unwrap_or("");
                    format!("{text}{}", " ".repeat(width - text.chars().count()))
                });
                println!("{}", cells.collect::<Vec<_>>().join("   ").trim_end());
            }
        }
        println!();
    }
}
