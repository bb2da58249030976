//! Application of the modeled server: handles requests by their names.

use mcp_proto::input::{Field, Form, Input, ListRoots, OpenUrl};
use mcp_proto::json::Json;
use mcp_proto::server::{Change, Event, Prompt, Reply, Resource, ResourceTemplate, Tool};
use mcp_proto::{ClientCapabilities, Level, Millis, SendError, Ticket};

use super::operation::{Behaviour, Changed};
use super::owed::Owed;
use super::text::BEHAVIOURS;

/// What the host keeps.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    pub(crate) owed: Owed,
    pub(crate) events: Vec<String>,
    /// Deferred requests with their numbers, subscriptions, and questions: all that there ever were.
    pub(crate) later: Vec<(Ticket, Option<u64>)>,
    pub(crate) listening: Vec<Ticket>,
    pub(crate) asked: Vec<Ticket>,
}

pub(crate) static FORM: Form<'static> = Form::new("Who?", &[Field::text("name").required()]);
pub(crate) static PAGE: OpenUrl<'static> = OpenUrl::new("Log in", "https://example.com/", "e1");
const ROOTS: ListRoots = ListRoots;
const INPUTS: [(&str, &dyn Input); 2] = [("who", &FORM), ("where", &ROOTS)];

fn behaviour(name: &str) -> Behaviour {
    BEHAVIOURS.iter().find(|(known, _)| *known == name).map_or(Behaviour::Answer, |(_, behaviour)| *behaviour)
}

pub(crate) fn change(what: Changed) -> Change<'static> {
    match what {
        Changed::Tools => Change::Tools,
        Changed::Resources => Change::Resources,
        Changed::Prompts => Change::Prompts,
        Changed::Resource => Change::Resource("m:log"),
    }
}

/// What it says to a request: nobody else says that.
fn words(n: Option<u64>) -> String {
    n.map_or("answer".into(), |n| format!("answer of {n}."))
}

/// So many bytes: more than is promised to an answer, but perhaps not more than are free.
fn large(n: Option<u64>) -> usize {
    [20_000, 1_300, 1_600, 2_000, 3_500][(n.unwrap_or(0) % 5) as usize]
}

fn not_now(what: &str, told: Result<(), SendError>, notes: &mut Notes) {
    if let Err(why) = told {
        notes.events.push(format!("! {what}: not now {why:?}"));
    }
}

/// Deals with one request: `$answer` says something, `$needs` that input is needed, where that can be said.
macro_rules! deal {
    ($request:ident: $Type:ident, $name:expr, $time:expr, $notes:ident, |$token:ident, $text:ident| $answer:expr, $needs:expr, $lacks:expr) => {{
        let n = $request.meta().get("n").and_then(Json::integer).and_then(|n| u64::try_from(n).ok());
        let (name, time): (String, Option<Millis>) = ($name, $time);
        $notes.events.push(format!("! {} {name} {n:?} in {}", stringify!($request), $request.revision()));
        $notes.owed.heard(n)?;
        let answer = |$token: mcp_proto::server::$Type<'_>, $notes: &mut Notes| {
            let $text = words(n);
            $notes.owed.said(n, $text.clone());
            $answer
        };
        match behaviour(&name) {
            Behaviour::Answer => answer($request, $notes),
            Behaviour::Error => {
                $notes.owed.said(n, words(n));
                $request.error(7, words(n));
            }
            Behaviour::Drop => drop($request),
            Behaviour::Busy => $request.busy(),
            Behaviour::Defer(_) => match $request.defer(time) {
                Ok(ticket) => {
                    $notes.later.push((ticket, n));
                    $notes.owed.deferred(ticket, n)?;
                }
                Err(request) => request.busy(),
            },
            Behaviour::Progress => {
                not_now("progress", $request.progress(1, None, "a"), $notes);
                not_now("progress", $request.progress(1, None, "b"), $notes);
                answer($request, $notes);
            }
            Behaviour::Log => {
                not_now("log", $request.log(Level::Warning, None, "something"), $notes);
                answer($request, $notes);
            }
            Behaviour::Change => {
                $request.changed(Change::Tools);
                $request.changed(Change::Resource("m:log"));
                answer($request, $notes);
            }
            Behaviour::Needs => $needs($request),
            Behaviour::Lacks => $lacks($request),
            Behaviour::Large => $request.error(7, "x".repeat(large(n))),
            Behaviour::Unbalanced => $request.error_with(7, "no", |out| out.begin_object()),
        }
    }};
}

/// Handles an event.
pub(crate) fn deal(event: Event<'_>, notes: &mut Notes) -> Result<(), String> {
    notes.owed.event(&event)?;
    match event {
        Event::Call(mut call) => {
            let time = call.raw_arguments().get("ms").and_then(Json::integer);
            let time = time.filter(|time| *time > 0).map(|time| Millis(time as u64));
            deal!(call: Call, call.name().into(), time, notes, |call, text| call.text(text),
                |call: mcp_proto::server::Call<'_>| call.require_input(&INPUTS, Some("s")),
                |call: mcp_proto::server::Call<'_>| call.require_capability(ClientCapabilities::SAMPLING_TOOLS));
        }
        Event::ReadResource(mut read) => {
            let name = read.uri().trim_start_matches("m:").into();
            deal!(read: ReadResource, name, None, notes, |read, text| read.text(text),
                |read: mcp_proto::server::ReadResource<'_>| read.require_urls(&[PAGE]),
                mcp_proto::server::ReadResource::not_found);
        }
        Event::GetPrompt(mut prompt) => {
            deal!(prompt: GetPrompt, prompt.name().into(), None, notes,
                |prompt, text| prompt.messages(|messages| messages.user().text(text)),
                |prompt: mcp_proto::server::GetPrompt<'_>| prompt.require_input(&INPUTS, None),
                mcp_proto::server::GetPrompt::unknown_prompt);
        }
        Event::Complete(mut complete) => {
            deal!(complete: Complete, complete.value().to_string(), None, notes, |complete, text| complete.values([text]), drop, drop);
        }
        Event::ListTools(list) => list.tools(|index| (index < 30).then_some(Tool::new("a", "{}"))),
        Event::ListResources(list) => {
            list.resources(|index| (index < 30).then_some(Resource::new("m:a", "a")))
        }
        Event::ListTemplates(list) => {
            list.templates(|index| (index < 2).then_some(ResourceTemplate::new("m:{a}", "a")))
        }
        Event::ListPrompts(list) => list.prompts(|index| (index < 30).then_some(Prompt::new("a"))),
        Event::Listening(listening) => {
            notes.listening.push(listening.ticket());
            notes.events.push(format!("! listening {:?}", listening.uris().collect::<Vec<_>>()));
        }
        other => notes.events.push(shown(&other)),
    }
    Ok(())
}

/// Of what can be seen of an event, what does not depend on where anything stands.
fn shown(event: &Event<'_>) -> String {
    match event {
        Event::Connected(client) => format!("! connected {} {:?}", client.revision(), client.client()),
        Event::Response(answered) => format!("! answered {:?} {:?}", answered.ticket(), answered.outcome()),
        Event::Progress(progress) => {
            format!("! progress of {:?}: {}", progress.ticket(), progress.progress())
        }
        Event::Cancelled { ticket, reason } => {
            format!("! cancelled {ticket:?} {:?}", reason.map(|reason| reason.to_string()))
        }
        other => format!("! {other:?}"),
    }
}

/// Does something with a deferred request.
pub(crate) fn later(
    mut reply: Reply<'_>,
    (ticket, n): (Ticket, Option<u64>),
    what: Behaviour,
    notes: &mut Notes,
) -> Result<(), SendError> {
    match what {
        Behaviour::Progress => return reply.progress(1, None, "later"),
        Behaviour::Log => return reply.log(Level::Error, None, "later"),
        Behaviour::Change => {
            reply.changed(Change::Prompts);
            return Ok(());
        }
        // Which kind of answer it is the host knows: an error always is one.
        Behaviour::Answer | Behaviour::Error | Behaviour::Defer(_) => {
            notes.owed.said(n, words(n));
            reply.error(7, words(n));
        }
        // It stays open.
        Behaviour::Drop => return Ok(()),
        Behaviour::Busy => reply.busy(),
        Behaviour::Needs => reply.require_input(&INPUTS, None),
        Behaviour::Lacks => reply.require_capability(ClientCapabilities::ROOTS),
        Behaviour::Large => reply.error(7, "x".repeat(large(n))),
        Behaviour::Unbalanced => reply.error_with(7, "no", |out| out.begin_object()),
    }
    let _ = notes.owed.close(ticket, true);
    Ok(())
}
