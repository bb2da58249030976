//! Random catalogs and results of servers against the official schemas, in every revision.

use crate::matching;
use mcp_proto::server::{
    Completion, Contents, Event, Messages, Prompt, PromptArgument, Prompts, Resource, ResourceTemplate,
    Resources, ServerConfig, Subscriptions, Tool, ToolResult, Tools,
};
use mcp_proto::{
    Action, Annotations, ContentBlock, Decimal, Icon, Millis, Revision, Revisions, Role, Server, Theme,
};
use mcp_proto_proptests::schema::Schemas;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;

/// Annotations and `_meta`.
#[derive(Debug, Clone)]
struct Extra {
    audience: &'static [Role],
    priority: Option<(i64, i16)>,
    modified: bool,
    meta: bool,
}

impl Extra {
    fn annotations(&self) -> Annotations<'static> {
        let mut annotations = Annotations::new().audience(self.audience);
        if let Some((mantissa, exponent)) = self.priority {
            annotations = annotations.priority(Decimal::new(mantissa, exponent));
        }
        if self.modified { annotations.last_modified("2026-01-31T12:00:00Z") } else { annotations }
    }
}

fn extra() -> impl Strategy<Value = Extra> {
    let audiences: &[&'static [Role]] = &[&[], &[Role::User], &[Role::Assistant, Role::User]];
    let priority = proptest::option::of((-30i64..30, -3i16..2));
    (select(audiences), priority, any::<bool>(), any::<bool>())
        .prop_map(|(audience, priority, modified, meta)| Extra { audience, priority, modified, meta })
}

#[derive(Debug, Clone)]
enum Piece {
    Text(String),
    Image(Vec<u8>),
    Audio(Vec<u8>),
    ResourceText(Option<String>, String),
    ResourceBlob(Option<String>, Vec<u8>),
    Link(usize),
}

fn piece() -> impl Strategy<Value = Piece> {
    let bytes = || proptest::collection::vec(any::<u8>(), 0..20);
    let mime = || proptest::option::of(matching("[a-z]{1,5}/[a-z]{1,5}"));
    prop_oneof![
        matching(".{0,20}").prop_map(Piece::Text),
        bytes().prop_map(Piece::Image),
        bytes().prop_map(Piece::Audio),
        (mime(), matching(".{0,20}")).prop_map(|(mime, text)| Piece::ResourceText(mime, text)),
        (mime(), bytes()).prop_map(|(mime, bytes)| Piece::ResourceBlob(mime, bytes)),
        (0usize..4).prop_map(Piece::Link),
    ]
}

/// The metadata of a list entry.
#[derive(Debug, Clone)]
struct Entry {
    title: Option<String>,
    description: Option<String>,
    mime: Option<String>,
    size: Option<u64>,
    icons: usize,
    hint: Option<bool>,
    extra: Extra,
}

fn entry() -> impl Strategy<Value = Entry> {
    let text = || proptest::option::of(matching(".{0,12}"));
    // A float represents each of these integers exactly.
    let size = proptest::option::of(0u64..1 << 53);
    (text(), text(), text(), size, 0usize..3, any::<Option<bool>>(), extra()).prop_map(
        |(title, description, mime, size, icons, hint, extra)| Entry {
            title,
            description,
            mime,
            size,
            icons,
            hint,
            extra,
        },
    )
}

static ICONS: [Icon<'static>; 2] = [
    Icon::new("https://example.com/i.png"),
    Icon::new("data:image/png;base64,AA==").mime_type("image/png").sizes(&["1x1", "any"]).theme(Theme::Light),
];

/// Adds the metadata to an entry of any kind.
macro_rules! described {
    ($start:expr, $entry:expr) => {{
        let (mut made, entry) = ($start.icons(&ICONS[..$entry.icons]), $entry);
        if let Some(title) = &entry.title {
            made = made.title(title);
        }
        if let Some(description) = &entry.description {
            made = made.description(description);
        }
        if entry.extra.meta { made.meta(r#"{"example.com/key":[1]}"#) } else { made }
    }};
}

#[derive(Debug, Clone)]
struct World {
    entries: Vec<Entry>,
    pieces: Vec<(Piece, Extra)>,
    /// Whether the structured content comes before the blocks, and whether it is an object. `None` means no structured
    /// content.
    structured: Option<(bool, bool)>,
    meta: bool,
    failed: bool,
    values: Vec<String>,
    total: Option<u64>,
    identify: bool,
    pads: bool,
}

fn world() -> impl Strategy<Value = World> {
    (
        proptest::collection::vec(entry(), 4),
        proptest::collection::vec((piece(), extra()), 0..6),
        any::<Option<(bool, bool)>>(),
        any::<[bool; 4]>(),
        proptest::collection::vec(matching(".{0,4}"), 0..120),
        proptest::option::of(0u64..1000),
    )
        .prop_map(|(entries, pieces, structured, [meta, failed, identify, pads], values, total)| World {
            entries,
            pieces,
            structured,
            meta,
            failed,
            values,
            total,
            identify,
            pads,
        })
}

const NAMES: [&str; 4] = ["n0", "n1", "n2", "n3"];
const URIS: [&str; 4] = ["lib:0", "lib:1", "lib:2", "lib:3"];
const TEMPLATES: [&str; 4] = ["lib:a/{x}", "lib:b/{x}", "lib:c/{+x}", "lib:d/{x}-{y}"];

impl World {
    fn resource(&self, index: usize) -> Resource<'_> {
        let entry = &self.entries[index];
        let mut resource = described!(Resource::new(URIS[index], NAMES[index]), entry)
            .annotations(entry.extra.annotations());
        if let Some(mime) = &entry.mime {
            resource = resource.mime_type(mime);
        }
        entry.size.map_or(resource, |size| resource.size(size))
    }

    fn template(&self, index: usize) -> ResourceTemplate<'_> {
        let entry = &self.entries[index];
        let template = described!(ResourceTemplate::new(TEMPLATES[index], NAMES[index]), entry)
            .annotations(entry.extra.annotations());
        entry.mime.as_ref().map_or(template, |mime| template.mime_type(mime))
    }

    fn tool(&self, index: usize) -> Tool<'_> {
        let entry = &self.entries[index];
        let tool = described!(Tool::new(NAMES[index], "{}"), entry);
        let tool = if entry.extra.modified { tool.output_schema(r#"{"type":"object"}"#) } else { tool };
        entry.hint.map_or(tool, |hint| tool.read_only(hint).open_world(!hint))
    }

    fn write(&self, block: ContentBlock<'_, '_>, piece: &Piece, extra: &Extra) {
        let block = block.annotations(extra.annotations());
        let block = if extra.meta { block.meta(r#"{"example.com/piece":null}"#) } else { block };
        match piece {
            Piece::Text(text) => block.text(text),
            Piece::Image(bytes) => block.image(bytes, "image/png"),
            Piece::Audio(bytes) => block.audio(bytes, "audio/wav"),
            Piece::ResourceText(mime, text) => block.resource_text("lib:t", mime.as_deref(), text),
            Piece::ResourceBlob(mime, bytes) => block.resource_blob("lib:b", mime.as_deref(), bytes),
            Piece::Link(index) => block.link(&self.resource(*index)),
        }
    }

    fn result(&self, result: &mut ToolResult<'_, '_>) {
        let structure = |result: &mut ToolResult<'_, '_>, is_object: bool| {
            result.structured_with(|out| out.raw(if is_object { r#"{"a":1}"# } else { "[1]" }).unwrap());
        };
        if self.meta {
            result.meta(r#"{"example.com/own":true}"#);
        }
        if let Some((true, is_object)) = self.structured {
            structure(result, is_object);
        }
        for (piece, extra) in &self.pieces {
            self.write(result.block(), piece, extra);
        }
        if let Some((false, is_object)) = self.structured {
            structure(result, is_object);
        }
        if self.failed {
            result.failed();
        }
    }

    fn messages(&self, messages: &mut Messages<'_, '_>) {
        if self.meta {
            messages.description("d");
        }
        for (index, (piece, extra)) in self.pieces.iter().enumerate() {
            let role = if index % 2 == 0 { Role::User } else { Role::Assistant };
            self.write(messages.message(role), piece, extra);
        }
    }

    fn contents(&self, contents: &mut Contents<'_, '_>) {
        for (piece, _) in &self.pieces {
            match piece {
                Piece::ResourceText(mime, text) => contents.text("lib:t", mime.as_deref(), text),
                Piece::ResourceBlob(mime, bytes) => contents.blob("lib:b", mime.as_deref(), bytes),
                _ => contents.text("lib:x", None, "x"),
            }
        }
    }

    fn answer(&self, event: Event<'_>) {
        match event {
            Event::Call(call) => call.content(|result| self.result(result)),
            Event::GetPrompt(prompt) => prompt.messages(|messages| self.messages(messages)),
            Event::ReadResource(read) if read.uri() == "lib:0" => read.text("text"),
            Event::ReadResource(read) if read.uri() == "lib:1" => read.blob(b"blob"),
            Event::ReadResource(read) if read.uri() == "lib:2" => read.not_found(),
            Event::ReadResource(read) => read.contents(|contents| self.contents(contents)),
            Event::Complete(complete) => match self.total {
                Some(total) => complete.values_of(total, &self.values),
                None => complete.values(&self.values),
            },
            Event::ProtocolError(_) | Event::Connected(_) | Event::Ready => {}
            other => panic!("{other:?}"),
        }
    }

    /// Runs a server with this catalog. Returns the method of each request id, and the output lines.
    fn run(&self, revision: Revision) -> (Vec<(u64, &'static str)>, Vec<String>) {
        let tools: Vec<Tool<'_>> = (0..4).map(|index| self.tool(index)).collect();
        let resources: Vec<Resource<'_>> = (0..4).map(|index| self.resource(index)).collect();
        let templates: Vec<ResourceTemplate<'_>> = (0..4).map(|index| self.template(index)).collect();
        let values: Vec<&str> = self.values.iter().map(String::as_str).collect();
        let arguments = [
            PromptArgument::new("a").title("A").required(),
            PromptArgument::new("b").description("d").values(&values),
        ];
        let prompts: Vec<Prompt<'_>> = (0..4)
            .map(|index| {
                described!(Prompt::new(NAMES[index]), &self.entries[index])
                    .arguments(&arguments[..index.min(2)])
            })
            .collect();
        let tools = Tools::try_new(&tools).unwrap().list_changed();
        let tools = if self.pads { tools.always_structured_content() } else { tools };
        let resources =
            Resources::try_new(&resources).unwrap().try_templates(&templates).unwrap().subscribe();
        let prompts = Prompts::try_new(&prompts).unwrap();
        let features: [&dyn mcp_proto::server::Feature; 5] =
            [&tools, &resources, &prompts, &Completion, &Subscriptions];
        let info = ServerConfig::new("s", "1")
            .icons(&ICONS)
            .features(&features)
            .revisions(Revisions::only(revision));
        let info = if self.identify { info } else { info.anonymous_results() };
        let (requests, input) = requests(revision);
        let (mut rx, mut tx) = (vec![0; 10_000], vec![0; 10_000]);
        let mut server = Server::new(&info, &mut rx[..], &mut tx[..]).unwrap();
        let (mut input, mut output) = (input.as_bytes(), Vec::new());
        loop {
            match server.poll(Millis(0)) {
                Action::Io(io) => {
                    let (out, mut space) = io.split();
                    output.extend(out.bytes());
                    let sent = out.bytes().len();
                    out.sent(sent);
                    if input.is_empty() {
                        space.eof();
                        continue;
                    }
                    let count = space.space().len().min(input.len());
                    space.space()[..count].copy_from_slice(&input[..count]);
                    space.filled(count);
                    input = &input[count..];
                }
                Action::Event => self.answer(server.event().unwrap()),
                Action::Closed => break,
            }
        }
        let output = String::from_utf8(output).unwrap();
        (requests, output.lines().map(str::to_owned).collect())
    }
}

/// Returns the method of each request id, and the lines of the requests.
fn requests(revision: Revision) -> (Vec<(u64, &'static str)>, String) {
    let stateless = revision == Revision::V2026_07_28;
    let hello = format!(
        r#""protocolVersion":"{revision}","capabilities":{{}},"clientInfo":{{"name":"c","version":"1"}}"#
    );
    let all: &[(&str, &str)] = &[
        if stateless { ("server/discover", "") } else { ("initialize", &hello) },
        ("tools/list", ""),
        ("resources/list", ""),
        ("resources/templates/list", ""),
        ("prompts/list", ""),
        ("tools/call", r#""name":"n0""#),
        ("tools/call", r#""name":"n1","arguments":{"a":1}"#),
        ("resources/read", r#""uri":"lib:0""#),
        ("resources/read", r#""uri":"lib:1""#),
        ("resources/read", r#""uri":"lib:2""#),
        ("resources/read", r#""uri":"lib:b/%20""#),
        ("resources/read", r#""uri":"none:""#),
        ("prompts/get", r#""name":"n0""#),
        ("prompts/get", r#""name":"n2","arguments":{"a":"x"}"#),
        ("prompts/get", r#""name":"n2""#),
        ("prompts/get", r#""name":"none""#),
        (
            "completion/complete",
            r#""ref":{"type":"ref/prompt","name":"n2"},"argument":{"name":"a","value":"x"}"#,
        ),
        (
            "completion/complete",
            r#""ref":{"type":"ref/prompt","name":"n3"},"argument":{"name":"b","value":""}"#,
        ),
        (
            "completion/complete",
            r#""ref":{"type":"ref/resource","uri":"lib:a/{x}"},"argument":{"name":"x","value":""}"#,
        ),
        (
            "completion/complete",
            r#""ref":{"type":"ref/resource","uri":"lib:a"},"argument":{"name":"x","value":""}"#,
        ),
    ];
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let mut input = String::new();
    let mut methods = Vec::new();
    for ((method, params), id) in all.iter().zip(1u64..) {
        let comma = if stateless && !params.is_empty() { "," } else { "" };
        let meta = if stateless { meta } else { "" };
        input += &format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{meta}{comma}{params}}}}}"#
        );
        input.push('\n');
        // The names in `all` are not `'static`, because `hello` is local. `METHODS` has all but `initialize`.
        methods.push((
            id,
            if id == 1 && !stateless {
                "initialize"
            } else {
                METHODS.iter().find(|known| *known == method).unwrap()
            },
        ));
    }
    (methods, input)
}

const METHODS: [&str; 9] = [
    "server/discover",
    "tools/list",
    "resources/list",
    "resources/templates/list",
    "prompts/list",
    "tools/call",
    "resources/read",
    "prompts/get",
    "completion/complete",
];

#[test]
fn random_catalogs_and_results_match_the_schema() {
    let Some(schemas) = Schemas::load_or_say() else { return };
    let mut runner = proptest::test_runner::TestRunner::new(crate::config(128));
    let checked = runner.run(&world(), |world| {
        for revision in Revision::ALL {
            let (requests, lines) = world.run(revision);
            prop_assert_eq!(lines.len(), requests.len());
            let mut refused = 0;
            for ((id, method), line) in requests.iter().zip(&lines) {
                let answer: Value = serde_json::from_str(line).unwrap();
                prop_assert_eq!(answer["id"].as_u64(), Some(*id));
                refused += usize::from(answer.get("error").is_some());
                let outcome = schemas.check_server_line(revision.as_str(), Some(method), line);
                prop_assert!(outcome.is_ok(), "{}", outcome.unwrap_err());
            }
            prop_assert_eq!(refused, 5);
        }
        Ok(())
    });
    checked.unwrap_or_else(|error| panic!("{error}"));
}
