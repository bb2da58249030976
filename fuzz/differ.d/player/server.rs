//! The application of a server: its tools, event handlers and commands.
//!
//! The application has the tools and commands of the transcripts, and some more.

use proto::input::{CreateMessage, Field, Form, Input, ListRoots, OpenUrl, OtherRequest, SampleMessage};
use proto::json::Json;
use proto::server::{
    PromptArgument, RequestOptions, Call, Change, Completion, Event, Feature, Logging, Prompt, Prompts, ReferenceView, Reply,
    Resource, Resources, ServerConfig, Subscriptions, ResourceTemplate, Tool, Tools,
};
use proto::{ClientCapabilities, Decimal, Level, Millis, SendError, Server, StreamId, Ticket};

use crate::words;

static TOOLS: Tools = Tools::new(&[
    Tool::new("echo", "{}"),
    Tool::new("add", r#"{"type":"object"}"#).output_schema(r#"{"type":"object"}"#),
    Tool::new("fail", "{}"),
    Tool::new("later", "{}"),
    Tool::new("log", "{}"),
    Tool::new("work", "{}"),
    Tool::new("change", "{}"),
    Tool::new("ask", "{}"),
    Tool::new("large", "{}"),
    Tool::new("mixed", "{}"),
    Tool::new("forget", "{}"),
])
.list_changed();
static RESOURCES: Resources = Resources::new(&[Resource::new("note:one", "one")])
    .templates(&[ResourceTemplate::new("note:{name}", "any")])
    .list_changed()
    .subscribe();
static PROMPTS: Prompts = Prompts::new(&[
    Prompt::new("greet").arguments(&[PromptArgument::new("who").required(), PromptArgument::new("how").values(&HOW)])
])
.list_changed();
static HOW: [&str; 3] = ["kindly", "kindlier", "loudly"];
static FEATURES: [&dyn Feature; 6] = [&TOOLS, &RESOURCES, &PROMPTS, &Completion, &Logging, &Subscriptions];

static FEW: Tools = Tools::new(&[Tool::new("echo", "{}")]);
static ONE_FEATURE: [&dyn Feature; 1] = [&FEW];
static ALWAYS: Tools = Tools::new(&[
    Tool::new("echo", "{}"),
    Tool::new("add", "{}").output_schema(r#"{"type":"object"}"#),
    Tool::new("mixed", "{\"type\":\n\"object\",\r\n\"$defs\":{\"b\":1,\"a\":1.50}}"),
])
.always_structured_content();
static ALWAYS_FEATURES: [&dyn Feature; 1] = [&ALWAYS];
static LISTED_TOOLS: Tools = Tools::dynamic_list();
static LISTED_RESOURCES: Resources = Resources::dynamic_list().subscribe();
static LISTED_PROMPTS: Prompts = Prompts::dynamic_list();
static LISTED_FEATURES: [&dyn Feature; 6] =
    [&LISTED_TOOLS, &LISTED_RESOURCES, &LISTED_PROMPTS, &Completion, &Logging, &Subscriptions];

const BARE: ServerConfig = ServerConfig::new("demo", "1");

/// Returns the configuration of a server with these features.
pub fn info(offers: &str) -> ServerConfig<'static> {
    match offers {
        "tools" => BARE.features(&ONE_FEATURE),
        "structured" => BARE.features(&ALWAYS_FEATURES),
        "listed" => BARE.features(&LISTED_FEATURES),
        "nothing" => BARE,
        _ => BARE.features(&FEATURES),
    }
}

static INPUTS: [(&str, &(dyn Input + Sync)); 5] = [
    ("roots", &ListRoots),
    ("form", &Form::new("Who?", &[Field::text("name").required()])),
    ("url", &OpenUrl::new("Log in", "https://example.com/", "e1")),
    ("model", &CreateMessage::new(&[SampleMessage::user("?")], 9)),
    ("model-with-tools", &CreateMessage::new(&[SampleMessage::user("?")], 9).tools(&[Tool::new("t", "{}")])),
];

fn input(name: &str) -> Option<&'static dyn Input> {
    INPUTS.iter().find(|(known, _)| *known == name).map(|(_, input)| *input as &dyn Input)
}

/// A server with its application.
pub struct App<'b> {
    pub server: Server<'b>,
    /// Tickets of deferred requests and of subscriptions, in order of arrival.
    deferred: Vec<Ticket>,
    asked: Vec<Ticket>,
}

/// Formats the parts that events of all requests have: revision, stream, client capabilities and `_meta`.
macro_rules! context {
    ($it:expr) => {{
        let (revision, StreamId(stream)) = ($it.revision(), $it.stream());
        let (meta, client) = ($it.meta().raw().to_owned(), words::capabilities($it.client()));
        format!("revision {revision}, stream {stream}, client {client}, meta {meta}")
    }};
}

macro_rules! rounds {
    ($it:expr) => {{
        let (state, input) = (words::option($it.request_state()), words::raw($it.input("k")));
        let (can, client) = ($it.can_require_input(), $it.client_capabilities().raw().to_owned());
        format!("rounds {can}, state {state:?}, input {input}, capabilities {client}")
    }};
}

macro_rules! later {
    ($it:expr, $deferred:expr, $time:expr) => {
        match $it.defer($time) {
            Ok(ticket) => $deferred.push(ticket),
            Err(it) => it.busy(),
        }
    };
}

impl<'b> App<'b> {
    pub fn new(server: Server<'b>) -> App<'b> {
        App { server, deferred: Vec::new(), asked: Vec::new() }
    }

    /// Handles an event, and returns its text for the transcript.
    pub fn event(&mut self) -> String {
        let App { server, deferred, asked } = self;
        let number = |all: &[Ticket], ticket| words::option(all.iter().rposition(|it| *it == ticket));
        let Some(event) = server.event() else { return "none".into() };
        match event {
            Event::Connected(it) => {
                let (info, raw, has) =
                    (it.client_info().raw(), it.capabilities().raw(), words::capabilities(it.client()));
                format!("connected {} {info} {raw} {has}", it.revision())
            }
            Event::Ready => "ready".into(),
            Event::Restarted => "restarted".into(),
            Event::RootsChanged => "roots changed".into(),
            Event::Writable => "room".into(),
            Event::PeerUnresponsive => "silent".into(),
            Event::ProtocolError(fault) => format!("fault {}", words::fault(fault)),
            Event::Call(call) => {
                let (name, arguments) = (call.name().to_owned(), call.raw_arguments().raw().to_owned());
                let text = format!("call {name} {arguments}; {}; {}", context!(call), rounds!(call));
                text + &answer(call, deferred)
            }
            Event::ReadResource(read) => {
                let uri = read.uri().to_owned();
                let variable = words::option(read.variable("name"));
                let known = (read.resource().is_some(), read.template().is_some());
                let text = format!("read {uri} {variable} {known:?}; {}; {}", context!(read), rounds!(read));
                match uri.as_str() {
                    "note:one" => read.text("1"),
                    "note:bytes" => read.blob(&[0, 255]),
                    "note:later" => later!(read, deferred, None),
                    "note:ask" if read.input("k").is_none() => read.require_input(&[("k", &ListRoots)], None),
                    "note:ask" => read.text("asked"),
                    "note:forget" => drop(read),
                    _ => read.not_found(),
                }
                text
            }
            Event::GetPrompt(prompt) => {
                let who = prompt.argument("who").map(|who| who.to_string()).unwrap_or_default();
                let (name, arguments) = (prompt.name().to_owned(), prompt.raw_arguments().raw().to_owned());
                let text =
                    format!("get {name} {who:?} {arguments}; {}; {}", context!(prompt), rounds!(prompt));
                match who.as_str() {
                    "later" => later!(prompt, deferred, None),
                    "nobody" => prompt.invalid("nobody"),
                    _ => prompt.messages(|out| out.user().text(format_args!("Greet {who}"))),
                }
                text
            }
            Event::Complete(complete) => {
                let reference = match complete.reference() {
                    ReferenceView::Prompt(name) => format!("prompt {name}"),
                    ReferenceView::Resource(uri) => format!("resource {uri}"),
                };
                let (argument, value) = (complete.argument().to_string(), complete.value().to_string());
                let who = words::option(complete.context("who"));
                let text = format!("complete {reference} {argument} {value:?} {who}; {}", context!(complete));
                let many: u32 = complete.value().raw().parse().unwrap_or(2);
                match value.as_str() {
                    "later" => later!(complete, deferred, None),
                    _ => complete.values((0..many.min(200)).map(|at| format!("v{at}"))),
                }
                text
            }
            Event::ListTools(list) => {
                let text = format!("list tools, revision {}", list.revision());
                list.tools(|at| ["echo", "add", "later"].get(at).map(|name| Tool::new(name, "{}")));
                text
            }
            Event::ListResources(list) => {
                let text = format!("list resources, revision {}", list.revision());
                list.resources(|at| ["note:one", "note:two"].get(at).map(|uri| Resource::new(uri, "n")));
                text
            }
            Event::ListTemplates(list) => {
                let text = format!("list templates, revision {}", list.revision());
                list.templates(|at| (at < 40).then(|| ResourceTemplate::new("note:{name}", "any")));
                text
            }
            Event::ListPrompts(list) => {
                let text = format!("list prompts, revision {}", list.revision());
                list.prompts(|at| (at < 1).then(|| Prompt::new("greet")));
                text
            }
            Event::Listening(it) => {
                deferred.push(it.ticket());
                let heard = [Change::Tools, Change::Prompts, Change::Resources, Change::Resource("note:one")];
                let (uris, StreamId(stream)) = (it.uris().collect::<Vec<_>>().join(" "), it.stream());
                format!(
                    "listening {} to [{uris}] {:?} on {stream}",
                    deferred.len() - 1,
                    heard.map(|it_| it.includes(it_))
                )
            }
            Event::Subscribed(uri) => format!("subscribed {uri}"),
            Event::Unsubscribed(uri) => format!("unsubscribed {uri}"),
            Event::Cancelled { ticket, reason } => {
                format!("cancelled {} {:?}", number(deferred, ticket), words::option(reason))
            }
            Event::Expired(ticket) => format!("expired {}", number(deferred, ticket)),
            Event::Progress(it) => {
                let (total, message) = (words::option(it.total()), words::option(it.message()));
                let number = number(asked, it.ticket());
                format!("progress {number} {} of {total} {message:?} {}", it.progress(), it.raw().raw())
            }
            Event::Response(it) => {
                format!("answered {} {}", number(asked, it.ticket()), words::outcome(it.outcome()))
            }
            _ => "other".into(),
        }
    }

    /// Runs a command on the server. Returns `None` for an unknown command.
    pub fn command(&mut self, text: &str, now: Millis) -> Option<Result<(), SendError>> {
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        let (first, last) = rest.split_once(' ').unwrap_or((rest, ""));
        let App { server, deferred, .. } = self;
        let reply: fn(Reply<'_>, &str) -> Option<Result<(), SendError>> = match word {
            "answer" => |reply, text| Some(Ok(reply.text(text))),
            "error" => |reply, text| Some(Ok(reply.error(7, text))),
            "forget" => |reply, _| Some(Ok(drop(reply))),
            "fail" => |reply, text| Some(Ok(reply.fail(text))),
            "busy" => |reply, _| Some(Ok(reply.busy())),
            "invalid" => |reply, text| Some(Ok(reply.invalid(text))),
            "not-found" => |reply, uri| Some(Ok(reply.not_found(uri))),
            "structured" => {
                |reply, text| Some(Ok(reply.structured(&std::collections::BTreeMap::from([("k", text)]))))
            }
            "values" => |reply, _| Some(Ok(reply.values(Some(9), ["a", "b"]))),
            "messages" => |reply, text| Some(Ok(reply.messages(|out| out.user().text(text)))),
            "contents" => |reply, text| Some(Ok(reply.contents(|out| out.text("note:one", None, text)))),
            "needs" => |reply, name| Some(Ok(reply.require_input(&[("k", input(name)?)], Some("s")))),
            "broken" => |reply, text| Some(Ok(reply.structured_with(|out| out.field_string("k", text)))),
            "progress" => |mut reply, number| Some(reply.progress(Decimal::parse(number)?, None, "")),
            "log-for" => |mut reply, text| Some(reply.log(Level::Error, None, text)),
            _ => return self.other_command(word, rest, now),
        };
        let Some(ticket) = deferred.get(first.parse::<usize>().ok()?) else {
            return Some(Err(SendError::Gone));
        };
        match server.reply(*ticket) {
            Ok(it) => reply(it, last),
            Err(why) => Some(Err(why)),
        }
    }

    fn other_command(&mut self, word: &str, rest: &str, now: Millis) -> Option<Result<(), SendError>> {
        let (first, last) = rest.split_once(' ').unwrap_or((rest, ""));
        let App { server, deferred, asked } = self;
        let ticket = |all: &[Ticket]| first.parse::<usize>().ok().map(|at| all.get(at).copied());
        Some(match word {
            "end" => match ticket(deferred)? {
                Some(ticket) => server.end_subscription(ticket),
                None => Err(SendError::Gone),
            },
            "take-back" => match ticket(asked)? {
                Some(ticket) => server.cancel(ticket, last),
                None => Err(SendError::Gone),
            },
            "ask" => {
                let mut ask = RequestOptions::DEFAULT;
                if let Some(time) = last.strip_suffix(" ms") {
                    ask = ask.timeout(Millis(time.parse().ok()?));
                } else if last == "progress" {
                    ask = ask.with_progress();
                } else if let Some(number) = last.strip_prefix("during ") {
                    ask = ask.during(*deferred.get(number.parse::<usize>().ok()?)?);
                }
                let asked_for = match first {
                    "ping" => server.ping(ask),
                    "raw" => server.request(&OtherRequest::new("example/own", &|out| out.field_string("k", "v")), ask),
                    name => server.request(input(name)?, ask),
                };
                asked_for.map(|ticket| asked.push(ticket))
            }
            "changed" => Ok(server.changed(match rest {
                "tools" => Change::Tools,
                "prompts" => Change::Prompts,
                "resources" => Change::Resources,
                uri => Change::Resource(uri),
            })),
            "log" => server.log(words::level_named(first), None, last),
            "opened" => server.elicitation_complete(rest),
            "shutdown" => Ok(match rest.strip_suffix(" ms").and_then(|time| time.parse().ok()) {
                Some(time) => server.shutdown_by(now, now.plus(Millis(time))),
                None => server.shutdown(now),
            }),
            _ => return None,
        })
    }

    /// Returns the state of the idle server as text.
    pub fn status(&self) -> String {
        let App { server, .. } = self;
        let (state, revision) = (words::state(server.state()), words::option(server.revision()));
        let watched = server.is_watched("note:one");
        format!("{state}, revision {revision}, deferred {}, watched {watched}", server.deferred())
    }
}

#[derive(serde::Deserialize)]
struct Add {
    a: i64,
    b: i64,
}

/// Responds to a call, or defers it. Returns the results of sending progress and logs.
fn answer(mut call: Call<'_>, deferred: &mut Vec<Ticket>) -> String {
    let mut said = String::new();
    let mut note =
        |result: Result<(), SendError>| said.push_str(result.map_or_else(words::refused, |()| " ok"));
    let number = |call: &Call<'_>, name| call.raw_arguments().get(name).and_then(Json::integer);
    match call.name() {
        "echo" => {
            let text = call.raw_arguments().raw().to_string();
            call.text(text);
        }
        "add" => match call.arguments::<Add>() {
            Ok(Add { a, b }) => call.content(|result| {
                let sum = a.wrapping_add(b);
                result.structured(&std::collections::BTreeMap::from([("sum", sum)]));
                result.text(sum);
            }),
            Err(error) => call.invalid(error),
        },
        "fail" => call.fail("it broke"),
        "later" => {
            let time = number(&call, "ms").map(|ms| Millis(ms as u64));
            later!(call, deferred, time);
        }
        "log" => {
            for level in [Level::Debug, Level::Warning] {
                note(call.log(level, Some("l"), words::level(level)));
            }
            call.text("logged");
        }
        "work" => {
            for progress in ["0.5", "0.5", "0.25", "1"].into_iter().filter_map(Decimal::parse) {
                note(call.progress(progress, Decimal::parse("1"), "working"));
            }
            call.text("worked");
        }
        "change" => {
            call.changed(Change::Tools);
            call.changed(Change::Tools);
            call.changed(Change::Resource("note:one"));
            call.text("changed");
        }
        "ask" => ask(call),
        "large" => {
            let text = "x".repeat(number(&call, "bytes").unwrap_or(0).clamp(0, 1_000_000) as usize);
            call.text(text);
        }
        "mixed" => call.content(|result| {
            result.text("t");
            result.audio(&[255], "audio/wav");
            result.link(&Resource::new("note:one", "one"));
        }),
        "forget" => drop(call),
        _ => call.unknown_tool(),
    }
    said
}

/// Requires the input that the arguments name. If the call has input responses or a request state, responds with them.
fn ask(call: Call<'_>) {
    let arguments = call.raw_arguments().raw().to_string();
    let Ok(arguments) = Json::parse(arguments.as_bytes()) else { return call.fail("no arguments") };
    let text = |name: &str| Some(arguments.get(name)?.string()?.to_string());
    let answer = call.input("k").map(|answer| answer.to_string());
    let state = call.request_state().map(|state| state.to_string());
    match (answer, state, text("for").as_deref()) {
        (Some(answer), state, _) => call.text(format_args!("{answer} {}", state.unwrap_or_default())),
        (None, Some(state), _) => call.text(state),
        (None, None, Some("everything")) => call.require_capability(ClientCapabilities::SAMPLING),
        (None, None, Some("page")) => {
            call.require_urls(&[OpenUrl::new("Log in", "https://example.com/", "e1")])
        }
        (None, None, Some(name)) => match input(name) {
            Some(input) => call.require_input(&[("k", input)], text("state").as_deref()),
            None => call.fail("what is that?"),
        },
        (None, None, None) => call.require_input(&[], text("state").as_deref()),
    }
}
