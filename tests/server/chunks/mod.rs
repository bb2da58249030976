//! Chunked responses: content of any size through a small buffer, and a complete message in every case.

mod content;
mod early_ends;
mod message_mode;
mod observer;
mod order;

use crate::support::server::hello;
use crate::support::transport::{exchange, take_output};
use mcp_proto::server::{
    ChunkedContent, Chunks, Event, Feature, Limits, Logging, ReadResource, Resource, Resources, Server,
    ServerConfig, Slot, Tool, Tools,
};
use mcp_proto::{Action, Buffer, Millis, Revision, Ticket};
use serde_json::Value;

static TOOLS: Tools = Tools::new(&[Tool::new("t", "{}")]).always_structured_content().list_changed();
static RESOURCES: Resources = Resources::new(&[Resource::new("x:r", "r").mime_type("text/x")]);
static FEATURES: [&dyn Feature; 3] = [&TOOLS, &RESOURCES, &Logging];
static CONFIG: ServerConfig = ServerConfig::new("s", "1")
    .features(&FEATURES)
    .limits(Limits::DEFAULT.with_deferred_timeout(Millis(100)));

/// The size of a transmit buffer that holds the members around the content, and a few chunks of the content.
const SMALL: usize = 640;

/// A request and the content of its response.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Content {
    Tool(ChunkedContent<'static>),
    ReadText,
    ReadBlob,
}

const CONTENTS: [Content; 7] = [
    Content::Tool(ChunkedContent::Text),
    Content::Tool(ChunkedContent::Image { mime_type: "image/\"png" }),
    Content::Tool(ChunkedContent::Audio { mime_type: "audio/wav" }),
    Content::Tool(ChunkedContent::ResourceText { uri: "x:\n", mime_type: None }),
    Content::Tool(ChunkedContent::ResourceBlob { uri: "x:1", mime_type: Some("a/b") }),
    Content::ReadText,
    Content::ReadBlob,
];

impl Content {
    fn is_text(self) -> bool {
        use ChunkedContent::{ResourceText, Text};
        matches!(self, Content::Tool(Text | ResourceText { .. }) | Content::ReadText)
    }

    fn is_tool(self) -> bool {
        matches!(self, Content::Tool(_))
    }

    /// Returns whether a revision has the content.
    fn exists_in(self, revision: Revision) -> bool {
        self != CONTENTS[2] || revision != Revision::V2024_11_05
    }

    /// Returns the line of the request.
    fn request(self, revision: Revision) -> String {
        let (method, params) = match self {
            Content::Tool(_) => ("tools/call", r#""name":"t""#),
            _ => ("resources/read", r#""uri":"x:r""#),
        };
        request(revision, 7, method, params)
    }

    /// Returns the string that contains the content in a response.
    fn string_of(self, response: &Value) -> &str {
        let result = &response["result"];
        let (content, member) = (&result["content"][0], if self.is_text() { "text" } else { "blob" });
        let string = match self {
            Content::Tool(ChunkedContent::Text) => &content["text"],
            Content::Tool(ChunkedContent::Image { .. } | ChunkedContent::Audio { .. }) => &content["data"],
            Content::Tool(_) => &content["resource"][member],
            _ => &result["contents"][0][member],
        };
        string.as_str().unwrap_or_else(|| panic!("{self:?}: {response}"))
    }

    fn respond_at_once(self, event: Event<'_>, data: &[u8]) {
        let text = || str::from_utf8(data).unwrap();
        match (self, event) {
            (Content::Tool(content), Event::Call(call)) => call.content(|result| match content {
                ChunkedContent::Text => result.text(text()),
                ChunkedContent::Image { mime_type } => result.image(data, mime_type),
                ChunkedContent::Audio { mime_type } => result.audio(data, mime_type),
                ChunkedContent::ResourceText { uri, mime_type } => {
                    result.resource_text(uri, mime_type, text())
                }
                ChunkedContent::ResourceBlob { uri, mime_type } => result.resource_blob(uri, mime_type, data),
                _ => unreachable!(),
            }),
            (Content::ReadText, Event::ReadResource(read)) => read.text(text()),
            (Content::ReadBlob, Event::ReadResource(read)) => read.blob(data),
            (_, event) => panic!("{event:?}"),
        }
    }

    /// Opens the response. If the server refuses, responds with a busy error, and returns `None`.
    fn open(self, event: Event<'_>) -> Option<Ticket> {
        let opened = match (self, event) {
            (Content::Tool(content), Event::Call(call)) => call.chunked(content).map_err(|call| call.busy()),
            (Content::ReadText, Event::ReadResource(read)) => read.chunked_text().map_err(ReadResource::busy),
            (Content::ReadBlob, Event::ReadResource(read)) => read.chunked_blob().map_err(ReadResource::busy),
            (_, event) => panic!("{event:?}"),
        };
        opened.ok()
    }

    fn write(self, chunks: &mut Chunks<'_>, data: &[u8], most: usize) -> usize {
        if !self.is_text() {
            return chunks.blob(&data[..data.len().min(most)]);
        }
        let text = str::from_utf8(data).unwrap();
        let length = (0..=data.len().min(most.max(4))).rev().find(|at| text.is_char_boundary(*at)).unwrap();
        chunks.text(&text[..length])
    }
}

fn request(revision: Revision, id: u32, method: &str, params: &str) -> String {
    let meta = match revision {
        Revision::V2026_07_28 => {
            r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#
        }
        _ => r#""_meta":{}"#,
    };
    let comma = if params.is_empty() { "" } else { "," };
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{{{meta}{comma}{params}}}}}\n"
    )
}

/// Returns a text with every kind of escape and of character.
fn text(length: usize) -> String {
    "plain \"quoted\" \\ \n\t\r\u{1}\u{1f} é € 𝄞 ".chars().cycle().take(length).collect()
}

/// A server, its time, and its output.
struct Session<'b> {
    server: Server<'b>,
    now: Millis,
    output: Vec<u8>,
}

/// Runs `test` with a server that has a session of this revision and `tx` bytes to transmit.
fn with_session<T>(revision: Revision, tx: Buffer<'_>, test: impl FnOnce(Session<'_>) -> T) -> T {
    with_config(&CONFIG, revision, tx, test)
}

fn with_config<T>(
    config: &ServerConfig<'static>,
    revision: Revision,
    tx: Buffer<'_>,
    test: impl FnOnce(Session<'_>) -> T,
) -> T {
    let (mut rx, mut slots, mut text) = ([0; 1024], [Slot::EMPTY; 2], [0; 128]);
    let server = Server::new(config, &mut rx, tx).unwrap().in_flight(&mut slots, &mut text).unwrap();
    let mut session = Session { server, now: Millis(0), output: Vec::new() };
    session.connect(revision);
    test(session)
}

impl Session<'_> {
    fn connect(&mut self, revision: Revision) {
        if revision == Revision::V2026_07_28 {
            return;
        }
        let hello = hello(revision.as_str());
        self.send(&format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{hello}}}\n"
        ));
        self.send("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
        self.output.clear();
    }

    /// Sends a line, and moves bytes until nothing moves. Drops all events.
    fn send(&mut self, line: &str) {
        let mut input = line.as_bytes();
        loop {
            match self.server.poll(self.now) {
                Action::Event => drop(self.server.event()),
                Action::Io(io) => {
                    if !exchange(io, &mut input, &mut self.output) {
                        return assert!(input.is_empty());
                    }
                }
                Action::Closed => return,
            }
        }
    }

    /// Passes a line to the server. Takes no output.
    fn feed(&mut self, line: &str) {
        crate::support::transport::feed(&mut self.server, self.now, line.as_bytes());
    }

    /// Polls for an event, and takes at most `most` bytes of output.
    fn poll(&mut self, most: usize) -> Option<Event<'_>> {
        let is_event = match self.server.poll(self.now) {
            Action::Event => true,
            Action::Io(io) => {
                take_output(io.split().0, most, &mut self.output);
                false
            }
            Action::Closed => false,
        };
        if is_event { self.server.event() } else { None }
    }

    fn open(&mut self, content: Content, revision: Revision) -> Option<Ticket> {
        self.feed(&content.request(revision));
        content.open(self.poll(0).expect("a request"))
    }

    fn chunks(&mut self, ticket: Ticket) -> Chunks<'_> {
        self.server.chunks(ticket).expect("an open response")
    }

    /// Takes all output and returns its lines as JSON.
    fn lines(&mut self) -> Vec<Value> {
        while !matches!(self.server.poll(self.now), Action::Closed) {
            let before = self.output.len();
            assert!(self.poll(usize::MAX).is_none(), "an unexpected event");
            if before == self.output.len() {
                break;
            }
        }
        let output = String::from_utf8(std::mem::take(&mut self.output)).unwrap();
        assert!(output.is_empty() || output.ends_with('\n'), "half a line: {output}");
        output
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|why| panic!("{why}: {line}")))
            .collect()
    }

    /// Writes all of `data` in chunks of at most `most` bytes, and ends the response. The client takes `pace` bytes per
    /// step.
    fn write_all(&mut self, content: Content, ticket: Ticket, data: &[u8], most: usize, pace: usize) {
        let (mut sent, mut waits) = (0, false);
        while sent < data.len() {
            if !waits {
                let part = &data[sent..];
                let length = part.len().min(if content.is_text() { most.max(4) } else { most });
                let taken = content.write(&mut self.chunks(ticket), part, most);
                waits = taken == 0 || taken + 4 <= length;
                sent += taken;
            }
            match self.poll(pace) {
                Some(Event::Writable) => waits = false,
                Some(event) => panic!("{event:?}"),
                None => {}
            }
        }
        self.chunks(ticket).end();
    }
}

/// Returns the response without chunks, from a buffer that is large enough.
fn expected(content: Content, revision: Revision, data: &[u8]) -> Value {
    let mut tx = vec![0; 64 * 1024];
    with_session(revision, (&mut tx[..]).into(), |mut session| {
        session.feed(&content.request(revision));
        content.respond_at_once(session.poll(0).expect("a request"), data);
        session.lines().remove(0)
    })
}

fn data_of(content: Content, length: usize) -> Vec<u8> {
    match content.is_text() {
        true => text(length).into_bytes(),
        false => (0..length).map(|at| (at * 7) as u8).collect(),
    }
}
