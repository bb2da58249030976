//! The server of transcripts, and its application.

use mcp_proto::input::{
    CreateMessage, ElicitResultView, Field, Form, Input, ListRoots, OpenUrl, SampleMessage,
};
use mcp_proto::server::{
    Call, Change, Completion, Event, Feature, Logging, Prompt, PromptArgument, Prompts, RequestOptions,
    Resource, ResourceTemplate, Resources, ServerConfig, Subscriptions, Tool, Tools,
};
use mcp_proto::{ClientCapabilities, Decimal, Level, Millis, Outcome, SendError, Server, Ticket};

/// Tools whose names state their behavior.
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
static PROMPTS: Prompts = Prompts::new(&[Prompt::new("greet")
    .arguments(&[PromptArgument::new("who").required(), PromptArgument::new("how").values(&HOW)])])
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

const BARE: ServerConfig = ServerConfig::new("demo", "1");
pub(crate) static NOTHING: ServerConfig = BARE;
pub(crate) const EVERYTHING: ServerConfig = BARE.features(&FEATURES);
pub(crate) const ONLY_TOOLS: ServerConfig = BARE.features(&ONE_FEATURE);
pub(crate) const STRUCTURED: ServerConfig = BARE.features(&ALWAYS_FEATURES);

static INPUTS: [(&str, &(dyn Input + Sync)); 5] = [
    ("roots", &ListRoots),
    ("form", &Form::new("Who?", &[Field::text("name").required()])),
    ("url", &OpenUrl::new("Log in", "https://example.com/", "e1")),
    ("model", &CreateMessage::new(&[SampleMessage::user("?")], 9)),
    ("model-with-tools", &CreateMessage::new(&[SampleMessage::user("?")], 9).tools(&[Tool::new("t", "{}")])),
];

fn input(name: &str) -> &'static dyn Input {
    INPUTS.iter().find(|(known, _)| *known == name).unwrap_or_else(|| panic!("unknown name {name}")).1
}

/// A server and its application.
pub(crate) struct Application<'b> {
    pub(crate) server: Server<'b>,
    /// Tickets of deferred requests and of subscriptions, in order of arrival.
    kept: Vec<Ticket>,
    asked: Vec<Ticket>,
}

impl<'b> Application<'b> {
    pub(crate) fn new(server: Server<'b>) -> Application<'b> {
        Application { server, kept: Vec::new(), asked: Vec::new() }
    }

    /// Handles an event and returns its text. Responds to, defers or drops requests. Returns `None` without an event,
    /// and for `Writable`.
    pub(crate) fn event(&mut self) -> Option<String> {
        let Application { server, kept, asked } = self;
        let number = |all: &[Ticket], ticket| all.iter().position(|it| *it == ticket).map_or(99, |at| at);
        Some(match server.event()? {
            Event::Connected(client) => {
                let name = client.client_info().get("name").and_then(|name| name.string());
                let name = name.map(|name| name.to_string()).unwrap_or_default();
                format!("connected {} {name} {}", client.revision(), client.capabilities().raw())
            }
            Event::Ready => "ready".into(),
            Event::Restarted => "restarted".into(),
            Event::RootsChanged => "roots changed".into(),
            Event::Writable => return None,
            Event::PeerUnresponsive => "silent".into(),
            Event::ProtocolError(fault) => {
                let fault = format!("{fault:?}");
                format!("fault {}", fault.split([' ', '(', '{']).next().unwrap_or_default())
            }
            Event::Call(call) => {
                let text = format!("call {} {}", call.name(), call.raw_arguments().raw());
                kept.extend(answer(call));
                text
            }
            Event::ReadResource(read) => {
                let text = format!("read {}", read.uri());
                match read.uri() {
                    "note:one" => read.text("1"),
                    "note:bytes" => read.blob(&[0, 255]),
                    "note:later" => match read.defer(None) {
                        Ok(ticket) => kept.push(ticket),
                        Err(read) => read.busy(),
                    },
                    "note:ask" if read.input("k").is_none() => {
                        read.require_input(&[("k", input("roots"))], None)
                    }
                    "note:ask" => read.text("asked"),
                    _ => read.not_found(),
                }
                text
            }
            Event::GetPrompt(prompt) => {
                let who = prompt.argument("who").map(|who| who.to_string()).unwrap_or_default();
                let text = format!("get {} {who}", prompt.name());
                prompt.messages(|out| out.user().text(format_args!("Greet {who}")));
                text
            }
            Event::Complete(complete) => {
                let text = format!("complete {} {}", complete.argument(), complete.value());
                let many = complete.value().raw().parse().unwrap_or(2);
                complete.values((0..many).map(|at| format!("v{at}")));
                text
            }
            Event::Listening(listening) => {
                kept.push(listening.ticket());
                format!("listening {}", kept.len() - 1)
            }
            Event::Subscribed(uri) => format!("subscribed {uri}"),
            Event::Unsubscribed(uri) => format!("unsubscribed {uri}"),
            Event::Cancelled { ticket, reason: Some(reason) } => {
                format!("cancelled {} {reason}", number(kept, ticket))
            }
            Event::Cancelled { ticket, reason: None } => format!("cancelled {}", number(kept, ticket)),
            Event::Expired(ticket) => format!("expired {}", number(kept, ticket)),
            Event::Progress(told) => format!("progress {} {}", number(asked, told.ticket()), told.progress()),
            Event::Response(answered) => {
                let number = number(asked, answered.ticket());
                match answered.outcome() {
                    Outcome::Result(result) => match ElicitResultView::from_json(result) {
                        Some(answer) => {
                            format!("answered {number} {:?} {}", answer.action(), answer.content())
                        }
                        None => format!("answered {number} {result}"),
                    },
                    Outcome::Error(error) => format!("answered {number} error {error}"),
                    Outcome::Failed(lost) => format!("answered {number} lost {lost:?}"),
                    other => format!("answered {number} {other:?}"),
                }
            }
            other => format!("{other:?}"),
        })
    }

    /// Runs a command.
    pub(crate) fn command(&mut self, text: &str) -> Result<(), SendError> {
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        let (first, last) = rest.split_once(' ').unwrap_or((rest, ""));
        let Application { server, kept, asked } = self;
        // A mutated transcript may refer to a request that does not exist.
        let ticket = |all: &[Ticket]| {
            let number = first.parse::<usize>().unwrap_or_else(|_| panic!("invalid number in {text}"));
            all.get(number).copied().ok_or(SendError::Gone)
        };
        match word {
            "answer" => server.reply(ticket(kept)?)?.text(last),
            "error" => server.reply(ticket(kept)?)?.error(7, last),
            "forget" => drop(server.reply(ticket(kept)?)?),
            "progress" => {
                let progress = Decimal::parse(last).expect("a number");
                return server.reply(ticket(kept)?)?.progress(progress, None, "");
            }
            "log-for" => return server.reply(ticket(kept)?)?.log(Level::Error, None, last),
            "end" => return server.end_subscription(ticket(kept)?),
            "ask" => {
                let mut ask = RequestOptions::DEFAULT;
                if let Some(time) = last.strip_suffix(" ms") {
                    ask = ask.timeout(Millis(time.parse().expect("a time")));
                } else if last == "progress" {
                    ask = ask.with_progress();
                }
                let ticket = match first {
                    "ping" => server.ping(ask)?,
                    name => server.request(input(name), ask)?,
                };
                asked.push(ticket);
            }
            "take-back" => return server.cancel(ticket(asked)?, last),
            "changed" => server.changed(match rest {
                "tools" => Change::Tools,
                "prompts" => Change::Prompts,
                "resources" => Change::Resources,
                uri => Change::Resource(uri),
            }),
            "log" => {
                let level = Level::ALL.into_iter().find(|level| level.as_str() == first).expect("a level");
                return server.log(level, None, last);
            }
            "opened" => return server.elicitation_complete(rest),
            "shutdown" => server.shutdown(Millis::ZERO),
            _ => panic!("unknown command {text:?}"),
        }
        Ok(())
    }
}

#[derive(serde::Deserialize)]
struct Add {
    a: i64,
    b: i64,
}

/// Responds to, drops or defers a call. Returns the ticket of a deferred call.
fn answer(mut call: Call<'_>) -> Option<Ticket> {
    let number = |call: &Call<'_>, name| call.raw_arguments().get(name).and_then(|value| value.integer());
    match call.name() {
        "echo" => {
            let text = call.raw_arguments().raw().to_string();
            call.text(text);
        }
        "add" => match call.arguments::<Add>() {
            Ok(Add { a, b }) => match a.checked_add(b) {
                Some(sum) => call.content(|result| {
                    result.structured(&std::collections::BTreeMap::from([("sum", sum)]));
                    result.text(sum);
                }),
                None => call.fail("the sum is too large"),
            },
            Err(error) => call.invalid(error),
        },
        "fail" => call.fail("it broke"),
        "later" => {
            let time = number(&call, "ms").map(|ms| Millis(ms as u64));
            match call.defer(time) {
                Ok(ticket) => return Some(ticket),
                Err(call) => call.busy(),
            }
        }
        "log" => {
            for level in [Level::Debug, Level::Warning] {
                let _ = call.log(level, Some("l"), level.as_str());
            }
            call.text("logged");
        }
        "work" => {
            for progress in ["0.5", "0.5", "0.25", "1"] {
                let done = Decimal::parse(progress).expect("a number");
                let _ = call.progress(done, Decimal::parse("1"), "working");
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
        name => panic!("no handler for {name:?}"),
    }
    None
}

/// Requires what the argument `for` names: an input, a visit to a URL (`page`) or a capability (`everything`). The
/// argument `state` is the request state of the required input. Responds to a retry with its input response and state.
fn ask(call: Call<'_>) {
    let arguments = call.raw_arguments().raw().to_string();
    let arguments = mcp_proto::json::Json::parse(arguments.as_bytes()).expect("arguments");
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
        (None, None, Some(name)) if INPUTS.iter().all(|(known, _)| *known != name) => {
            call.fail("what is that?")
        }
        (None, None, Some(name)) => call.require_input(&[("k", input(name))], text("state").as_deref()),
        (None, None, None) => call.require_input(&[], text("state").as_deref()),
    }
}
