//! Random server requests and input requests of every revision against the official schemas.

use crate::matching;
use mcp_proto::input::{
    Block, Choice, CreateMessage, Field, Form, Input, ListRoots, ModelPreferences, OpenUrl, SampleMessage,
};
use mcp_proto::server::{
    Call, Event, Experimental, Extensions, Feature, Limits, RequestOptions, Server, ServerConfig, Tool, Tools,
};
use mcp_proto::{
    Action, Buffer, ClientCapabilities, Decimal, IncludeContext, Millis, Revision, Revisions, Role,
    ToolChoice,
};
use mcp_proto_proptests::schema::Schemas;
use mcp_proto_proptests::written::Written;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

static TOOLS: Tools = Tools::new(&[Tool::new("ask", "{}")]);
static EXTENSIONS: Extensions = Extensions::new(&[("com.example/a", r#"{"x":1}"#)]);
static EXPERIMENTAL: Experimental = Experimental::new(&[("odd", "{}")]);
static FEATURES: [&dyn Feature; 3] = [&TOOLS, &EXTENSIONS, &EXPERIMENTAL];

/// A random form field.
#[derive(Debug, Clone)]
struct AnyField {
    kind: u8,
    name: String,
    title: Option<String>,
    required: bool,
    default: bool,
    bounds: [Option<u32>; 2],
    options: Vec<(String, Option<String>)>,
}

fn any_field() -> impl Strategy<Value = AnyField> {
    let options = prop::collection::vec((matching(".{0,4}"), prop::option::of(matching(".{0,4}"))), 1..4);
    let bounds = prop::array::uniform2(prop::option::of(0u32..9));
    (
        0u8..10,
        matching(".{0,6}"),
        prop::option::of(matching(".{0,6}")),
        any::<bool>(),
        any::<bool>(),
        bounds,
        options,
    )
        .prop_map(|(kind, name, title, required, default, bounds, options)| AnyField {
            kind,
            name,
            title,
            required,
            default,
            bounds,
            options,
        })
}

/// A message for a model: its role and its content.
type AnyMessage = (bool, Vec<(u8, String)>);

#[derive(Debug, Clone)]
enum AnyInput {
    Roots,
    Form(String, Vec<AnyField>),
    Page(String),
    Model { messages: Vec<AnyMessage>, tools: u8, details: u8, number: Decimal },
}

fn any_input() -> impl Strategy<Value = AnyInput> {
    let messages = prop::collection::vec(
        (any::<bool>(), prop::collection::vec((0u8..4, matching(".{0,8}")), 0..4)),
        0..4,
    );
    let decimal = (-50i64..150, -3i16..2).prop_map(|(mantissa, exponent)| Decimal::new(mantissa, exponent));
    prop_oneof![
        Just(AnyInput::Roots),
        (matching(".{0,9}"), prop::collection::vec(any_field(), 0..6))
            .prop_map(|(message, fields)| AnyInput::Form(message, fields)),
        matching(".{0,9}").prop_map(AnyInput::Page),
        (messages, 0u8..4, any::<u8>(), decimal).prop_map(|(messages, tools, details, number)| {
            AnyInput::Model { messages, tools, details, number }
        }),
    ]
}

/// Builds the input and passes it to `then`, because the input borrows from local values.
fn with_input(any: &AnyInput, then: &mut dyn FnMut(&dyn Input)) {
    match any {
        AnyInput::Roots => then(&ListRoots),
        AnyInput::Page(message) => then(&OpenUrl::new(message, "https://example.com/", message)),
        AnyInput::Form(message, fields) => {
            // Field names must be unique.
            let mut fields = fields.clone();
            fields.iter_mut().enumerate().for_each(|(at, field)| field.name += &at.to_string());
            let options: Vec<Vec<Choice<'_>>> = fields.iter().map(choices).collect();
            let values: Vec<Vec<&str>> =
                fields.iter().map(|field| field.options.iter().map(|option| &*option.0).collect()).collect();
            let fields: Vec<Field<'_>> = fields
                .iter()
                .zip(options.iter().zip(&values))
                .map(|(field, (options, values))| build(field, options, values))
                .collect();
            then(&Form::new(message, &fields));
        }
        AnyInput::Model { messages, tools, details, number } => {
            let blocks: Vec<(bool, Vec<Block<'_>>)> = messages
                .iter()
                .map(|(assistant, pieces)| (*assistant, pieces.iter().map(block).collect()))
                .collect();
            let value = [r#"{"a":1}"#, "[1]", "7"][usize::from(details % 3)];
            let inner = [Block::text("done"), Block::image(b"x", "image/png")];
            let (call, result) = (
                [Block::tool_use("1", "t", "{}")],
                [Block::tool_result("1", &inner).structured(value).failed()],
            );
            let role = |assistant| if assistant { Role::Assistant } else { Role::User };
            let mut made: Vec<SampleMessage<'_>> = blocks
                .iter()
                .map(|(assistant, blocks)| SampleMessage::new(role(*assistant), blocks))
                .collect();
            if tools & 2 != 0 {
                made.extend([
                    SampleMessage::new(Role::Assistant, &call),
                    SampleMessage::new(Role::User, &result),
                ]);
            }
            let list = [Tool::new("t", "{}").title("T").description("d").read_only(true)];
            let mut request = CreateMessage::new(&made, 100);
            if tools & 1 != 0 {
                request = request.tools(&list).tool_choice(ToolChoice::Auto);
            }
            let has = |bit: u8| details & (1 << bit) != 0;
            if has(0) {
                let preferences = ModelPreferences::new(if has(1) { &["sonnet", "\""] } else { &[] });
                let preferences = preferences.cost(*number).speed(*number).intelligence(*number);
                request = request.preferences(if has(2) { preferences } else { ModelPreferences::new(&[]) });
            }
            if has(3) {
                request = request.include_context(IncludeContext::ThisServer).system_prompt("\n");
            }
            if has(4) {
                request = request.temperature(*number).stop_sequences(&["a", ""]).metadata(r#"{"a":[1]}"#);
            }
            then(&request);
        }
    }
}

fn choices(field: &AnyField) -> Vec<Choice<'_>> {
    field
        .options
        .iter()
        .map(|(value, title)| match title {
            Some(title) => Choice::new(value).title(title),
            None => Choice::new(value),
        })
        .collect()
}

fn block(piece: &(u8, String)) -> Block<'_> {
    match piece.0 {
        0 => Block::image(piece.1.as_bytes(), "image/png"),
        1 => Block::audio(piece.1.as_bytes(), "audio/wav"),
        _ => Block::text(&piece.1),
    }
}

fn build<'a>(field: &'a AnyField, options: &'a [Choice<'a>], values: &'a [&'a str]) -> Field<'a> {
    let made = match field.kind {
        0 => Field::email(&field.name),
        1 => Field::uri(&field.name),
        2 => Field::date(&field.name),
        3 => Field::date_time(&field.name),
        4 => Field::number(&field.name),
        5 => Field::integer(&field.name),
        6 => Field::boolean(&field.name),
        7 => Field::choice(&field.name, options),
        8 => Field::choices(&field.name, options),
        _ => Field::text(&field.name),
    };
    let number = field.bounds[0].map(Decimal::from);
    let mut made = made.length(field.bounds[0], field.bounds[1]).range(number, None);
    if let Some(title) = &field.title {
        made = made.title(title).description(title);
    }
    if field.default {
        made = made.default_text(values[0]).default_boolean(true).default_choices(values);
        made = made.default_number(Decimal::new(5, 0));
    }
    if field.required { made.required() } else { made }
}

/// A server with its output. The test plays the client.
struct Session {
    server: Server<'static>,
    written: Written,
}

impl Session {
    fn new(revision: Revision) -> Session {
        let info = ServerConfig::new("server", "1.0")
            .features(&FEATURES)
            .revisions(Revisions::only(revision))
            .limits(Limits::DEFAULT.with_request_timeout(Millis(10)));
        let info: &'static ServerConfig<'static> = Box::leak(Box::new(info));
        let written = Written::default();
        let server = Server::new(info, Buffer::grown(100_000), Buffer::grown(100_000)).unwrap();
        let server = server.in_flight_grown(8).unwrap().observe(Box::leak(Box::new(written.clone())));
        Session { server, written }
    }

    fn line(&mut self, line: &Value) {
        let Action::Io(io) = self.server.poll(Millis(0)) else { panic!("an event is pending") };
        let text = format!("{line}\n");
        let mut input = io.split().1;
        let mut rest = text.as_bytes();
        let space = input.space();
        let length = rest.len().min(space.len());
        space[..length].copy_from_slice(&rest[..length]);
        rest = &rest[length..];
        input.filled(length);
        assert!(rest.is_empty(), "the line fits");
    }

    /// Runs until no bytes move. `answer` responds to calls.
    fn run(&mut self, now: u64, answer: &mut dyn FnMut(Call<'_>)) {
        loop {
            match self.server.poll(Millis(now)) {
                Action::Io(io) => {
                    let out = io.split().0;
                    let length = out.bytes().len();
                    out.sent(length);
                    if length == 0 {
                        return;
                    }
                }
                Action::Event => {
                    if let Some(Event::Call(call)) = self.server.event() {
                        answer(call);
                    }
                }
                Action::Closed => return,
            }
        }
    }
}

const ALL: &str = r#"{"roots":{"listChanged":true},"sampling":{"tools":{},"context":{}},"elicitation":{"form":{},"url":{}}}"#;

fn capabilities(bits: u8) -> Value {
    let all: Value = serde_json::from_str(ALL).unwrap();
    let mut some = json!({});
    for (bit, name) in ["roots", "sampling", "elicitation"].iter().enumerate() {
        if bits & (1 << bit) != 0 {
            some[*name] = all[*name].clone();
        }
    }
    some
}

fn handshake(revision: Revision, inputs: &[AnyInput], bits: u8, schemas: &Schemas) -> usize {
    let mut session = Session::new(revision);
    let hello = json!({"protocolVersion": revision.as_str(), "capabilities": capabilities(bits), "clientInfo": {"name": "c", "version": "1"}});
    session.line(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}));
    session.run(0, &mut |_| {});
    session.line(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    session.run(0, &mut |_| {});
    let _ = session.server.elicitation_complete("e1");
    for (at, any) in inputs.iter().enumerate() {
        with_input(any, &mut |input| {
            let ask =
                if at % 2 == 0 { RequestOptions::DEFAULT } else { RequestOptions::DEFAULT.with_progress() };
            let fits = session.server.request(input, ask).is_ok();
            let declared = input.revisions().contains(revision) && has(bits, input.needs());
            assert_eq!(fits, declared, "{revision} {any:?}");
        });
    }
    session.server.ping(RequestOptions::DEFAULT).unwrap();
    session.run(0, &mut |_| {});
    // All requests time out, and the server cancels them.
    session.run(10, &mut |_| {});
    // Cause two errors that have data.
    for id in [1, 2] {
        session.line(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "ask"}}));
        session.run(10, &mut |call| match id {
            1 => call.require_urls(&[OpenUrl::new("m", "https://example.com/", "e")]),
            _ => call.require_capability(ClientCapabilities::ROOTS.with(ClientCapabilities::SAMPLING_TOOLS)),
        });
    }
    check(&session, schemas, revision)
}

fn has(bits: u8, needs: ClientCapabilities) -> bool {
    let groups = [
        ClientCapabilities::ROOTS,
        ClientCapabilities::SAMPLING.with(ClientCapabilities::SAMPLING_TOOLS),
        ClientCapabilities::ELICITATION_FORM.with(ClientCapabilities::ELICITATION_URL),
    ];
    let declared = groups.into_iter().enumerate().filter(|(bit, _)| bits & (1 << bit) != 0);
    declared.fold(ClientCapabilities::NONE, |sum, (_, group)| sum.with(group)).has(needs)
}

/// Runs a call that requires the input, a call that requires URLs, and a call that requires capabilities. `bits` are
/// the capabilities of the client. Returns the number of lines.
fn stateless(any: &AnyInput, state: Option<&str>, bits: u8, schemas: &Schemas) -> usize {
    let mut session = Session::new(Revision::V2026_07_28);
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": capabilities(bits)});
    let request = |session: &mut Session, id, method: &str, then: &mut dyn FnMut(Call<'_>)| {
        let params = json!({"name": "ask", "_meta": meta});
        session.line(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        session.run(0, then);
    };
    request(&mut session, 1, "server/discover", &mut |_| {});
    request(&mut session, 2, "tools/call", &mut |call| {
        let mut call = Some(call);
        with_input(any, &mut |input| {
            let call = call.take().expect("the handler runs once");
            match state {
                Some("") => call.require_input(&[], state),
                _ => call.require_input(&[("one", input), ("two\n", &ListRoots)], state),
            }
        });
    });
    request(&mut session, 3, "tools/call", &mut |call| {
        call.require_urls(&[OpenUrl::new("m", "https://example.com/", "e")]);
    });
    request(&mut session, 4, "tools/call", &mut |call| {
        let all = [ClientCapabilities::ELICITATION_FORM, ClientCapabilities::SAMPLING_CONTEXT];
        call.require_capability(all[0].with(all[1]));
    });
    check(&session, schemas, Revision::V2026_07_28)
}

/// Checks all output. Returns the number of lines.
fn check(session: &Session, schemas: &Schemas, revision: Revision) -> usize {
    let lines = std::mem::take(&mut *session.written.0.lock().unwrap());
    for line in &lines {
        let value: Value = serde_json::from_str(line).unwrap();
        let discovered = value.pointer("/result/supportedVersions").is_some();
        let method = match (value.get("result"), discovered) {
            (None, _) => None,
            (_, true) => Some("server/discover"),
            (Some(result), _) if result.get("protocolVersion").is_some() => Some("initialize"),
            _ => Some("tools/call"),
        };
        schemas.check_server_line(revision.as_str(), method, line).unwrap_or_else(|error| panic!("{error}"));
        for (_, request) in
            value.pointer("/result/inputRequests").and_then(Value::as_object).into_iter().flatten()
        {
            schemas
                .check(revision.as_str(), "InputRequest", request)
                .unwrap_or_else(|error| panic!("{error}\nin {line}"));
        }
    }
    lines.len()
}

#[test]
fn random_server_requests_match_the_schema() {
    let Some(schemas) = Schemas::load_or_say() else { return };
    let cases = (prop::collection::vec(any_input(), 1..6), prop::option::of(matching(".{0,5}")), 0u8..8);
    let mut runner = TestRunner::new(Config { cases: 150, ..Config::default() });
    let outcome = runner.run(&cases, |(inputs, state, bits)| {
        for revision in Revisions::HANDSHAKE.newest_first() {
            let lines = handshake(revision, &inputs, bits, &schemas);
            prop_assert!(lines >= 5, "{lines} lines");
        }
        for any in &inputs {
            prop_assert_eq!(stateless(any, state.as_deref(), bits, &schemas), 4);
        }
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}
