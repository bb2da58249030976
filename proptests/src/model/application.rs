//! Application of the modeled server: handles requests by their names.

use mcp_proto::input::{Field, Form, Input, ListRoots, OpenUrl};
use mcp_proto::json::Json;
use mcp_proto::server::{
    Call, Change, Event, Prompt, Reply, Resource, ResourceTemplate, Server, TaskOptions, TaskOutcome,
    TaskTicket, Tool,
};
use mcp_proto::{ClientCapabilities, Level, Millis, SendError, Ticket};

use super::encode::BEHAVIORS;
use super::obligations::Obligations;
use super::operation::{Behavior, Changed, TaskAction};
use super::tasks::{Handle, TTL, TaskModel};

/// State of the application.
#[derive(Debug, Default)]
pub(crate) struct AppState {
    pub(crate) obligations: Obligations,
    pub(crate) tasks: TaskModel,
    pub(crate) events: Vec<String>,
    /// All deferred requests of the run, with their request numbers.
    pub(crate) later: Vec<(Ticket, Option<u64>)>,
    /// All subscriptions of the run.
    pub(crate) listening: Vec<Ticket>,
    /// All requests of the server in the run.
    pub(crate) asked: Vec<Ticket>,
    /// The number of actions on open tasks, without removals.
    steps: u32,
}

pub(crate) static FORM: Form<'static> = Form::new("Who?", &[Field::text("name").required()]);
pub(crate) static PAGE: OpenUrl<'static> = OpenUrl::new("Log in", "https://example.com/", "e1");
const ROOTS: ListRoots = ListRoots;
const INPUTS: [(&str, &dyn Input); 2] = [("who", &FORM), ("where", &ROOTS)];

fn behavior(name: &str) -> Behavior {
    BEHAVIORS.iter().find(|(known, _)| *known == name).map_or(Behavior::Answer, |(_, behavior)| *behavior)
}

pub(crate) fn change(what: Changed) -> Change<'static> {
    match what {
        Changed::Tools => Change::Tools,
        Changed::Resources => Change::Resources,
        Changed::Prompts => Change::Prompts,
        Changed::Resource => Change::Resource("m:log"),
    }
}

/// Returns the response text of request `n`. No other request with a number has this text.
fn response_text(n: Option<u64>) -> String {
    n.map_or("answer".into(), |n| format!("answer of {n}."))
}

/// Returns a size that usually exceeds the guaranteed response space. The transmit buffer may still have that much
/// space.
fn large(n: Option<u64>) -> usize {
    [20_000, 1_300, 1_600, 2_000, 3_500][(n.unwrap_or(0) % 5) as usize]
}

fn record_result(what: &str, sent: Result<(), SendError>, app: &mut AppState) {
    if let Err(why) = sent {
        app.events.push(format!("! {what}: refused: {why:?}"));
    }
}

/// Handles one request as its `Behavior` requires. `$answer` responds, `$needs` requires input, and `$lacks` refuses
/// the request. `$needs` and `$lacks` drop a request of a kind that supports neither.
macro_rules! handle_request {
    ($request:ident: $Type:ident, $name:expr, $time:expr, $app:ident, |$token:ident, $text:ident| $answer:expr, $needs:expr, $lacks:expr) => {{
        let n = $request.meta().get("n").and_then(Json::integer).and_then(|n| u64::try_from(n).ok());
        let (name, time): (String, Option<Millis>) = ($name, $time);
        $app.events.push(format!("! {} {name} {n:?} in {}", stringify!($request), $request.revision()));
        $app.obligations.record_event_of(n, $app.tasks.may_be_unread())?;
        let revision = $request.revision();
        let answer = |$token: mcp_proto::server::$Type<'_>, $app: &mut AppState| {
            let $text = response_text(n);
            $app.obligations.expect_text(n, $text.clone());
            $answer
        };
        match behavior(&name) {
            Behavior::Answer | Behavior::Task => answer($request, $app),
            Behavior::Error => {
                $app.obligations.expect_text(n, response_text(n));
                $request.error(7, response_text(n));
            }
            Behavior::Drop => drop($request),
            Behavior::Busy => $request.busy(),
            Behavior::Defer(_) => match $request.defer(time) {
                Ok(ticket) => {
                    $app.later.push((ticket, n));
                    $app.obligations.deferred(ticket, n)?;
                    $app.tasks.defer(ticket, n, revision);
                }
                Err(request) => request.busy(),
            },
            Behavior::Progress => {
                record_result("progress", $request.progress(1, None, "a"), $app);
                record_result("progress", $request.progress(1, None, "b"), $app);
                answer($request, $app);
            }
            Behavior::Log => {
                record_result("log", $request.log(Level::Warning, None, "something"), $app);
                answer($request, $app);
            }
            Behavior::Change => {
                $request.changed(Change::Tools);
                $request.changed(Change::Resource("m:log"));
                answer($request, $app);
            }
            Behavior::Needs => $needs($request),
            Behavior::Lacks => $lacks($request),
            Behavior::Large => $request.error(7, "x".repeat(large(n))),
            Behavior::Unbalanced => $request.error_with(7, "no", |out| out.begin_object()),
        }
    }};
}

/// Handles an event.
pub(crate) fn handle_event(event: Event<'_>, app: &mut AppState) -> Result<(), String> {
    match &event {
        // This call has become a task, or may have become one, so the model of tasks records the event.
        Event::Cancelled { ticket, .. } if app.tasks.has_call(*ticket) => {
            app.tasks.end(Handle::Call(*ticket), "cancelled")?;
        }
        Event::Expired(ticket) if app.tasks.has_call(*ticket) => {
            app.tasks.remove(Handle::Call(*ticket), true)?;
        }
        event => app.obligations.event(event)?,
    }
    match event {
        Event::Call(call) if behavior(call.name()) == Behavior::Task && call.can_become_task() => {
            create_task(call, app)?;
        }
        Event::Restarted => {
            app.tasks.restart();
            app.events.push(shown(&event));
        }
        Event::TaskResult(result) => {
            let n = app.tasks.requested(result.task())?;
            app.events.push(format!("! result of {n:?}"));
            result.text(response_text(n));
        }
        Event::TaskInput(input) => {
            app.tasks.record_input(&input)?;
            app.events.push(format!("! input {}", input.responses().count()));
        }
        Event::TaskCancelled(ticket) => {
            app.tasks.end(Handle::Task(ticket), "cancelled")?;
            app.events.push("! task cancelled".into());
        }
        Event::TaskExpired(ticket) => {
            app.tasks.remove(Handle::Task(ticket), true)?;
            app.events.push("! task expired".into());
        }
        Event::Request(mut request) => {
            let name = request.params().get("name").and_then(Json::string);
            let name = name.map(|name| name.to_string()).unwrap_or_default();
            handle_request!(request: ExtensionRequest, name, None, app,
                |request, text| request.result_with(|out| out.field_string("text", &text)), drop, drop);
        }
        Event::Call(mut call) => {
            let time = call.raw_arguments().get("ms").and_then(Json::integer);
            let time = time.filter(|time| *time > 0).map(|time| Millis(time as u64));
            handle_request!(call: Call, call.name().into(), time, app, |call, text| call.text(text),
                |call: mcp_proto::server::Call<'_>| call.require_input(&INPUTS, Some("s")),
                |call: mcp_proto::server::Call<'_>| call.require_capability(ClientCapabilities::SAMPLING_TOOLS));
        }
        Event::ReadResource(mut read) => {
            let name = read.uri().trim_start_matches("m:").into();
            handle_request!(read: ReadResource, name, None, app, |read, text| read.text(text),
                |read: mcp_proto::server::ReadResource<'_>| read.require_urls(&[PAGE]),
                mcp_proto::server::ReadResource::not_found);
        }
        Event::GetPrompt(mut prompt) => {
            handle_request!(prompt: GetPrompt, prompt.name().into(), None, app,
                |prompt, text| prompt.messages(|messages| messages.user().text(text)),
                |prompt: mcp_proto::server::GetPrompt<'_>| prompt.require_input(&INPUTS, None),
                mcp_proto::server::GetPrompt::unknown_prompt);
        }
        Event::Complete(mut complete) => {
            handle_request!(complete: Complete, complete.value().to_string(), None, app, |complete, text| complete.values([text]), drop, drop);
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
            app.listening.push(listening.ticket());
            app.events.push(format!("! listening {:?}", listening.uris().collect::<Vec<_>>()));
        }
        other => app.events.push(shown(&other)),
    }
    Ok(())
}

/// Responds to a call with a task, or with a text if no task is possible.
fn create_task(call: Call<'_>, app: &mut AppState) -> Result<(), String> {
    let n = call.meta().get("n").and_then(Json::integer).and_then(|n| u64::try_from(n).ok());
    let revision = call.revision();
    app.obligations.record_event_of(n, app.tasks.may_be_unread())?;
    let random = [n.unwrap_or(0) as u8; 16];
    match call.into_task(TaskOptions::new(random).ttl(TTL).poll_interval(Millis(50))) {
        Ok(ticket) => {
            app.events.push(format!("! task {n:?}"));
            app.tasks.create(Handle::Task(ticket), n, revision)
        }
        Err(call) => {
            app.events.push(format!("! no task {n:?}"));
            app.obligations.expect_text(n, response_text(n));
            call.text(response_text(n));
            app.tasks.refuse()
        }
    }
}

/// Applies an action to a task. The inner result is the result of the server's method.
///
/// # Errors
/// The server violates the model.
pub(crate) fn act_on_task(
    server: &mut Server<'_>,
    (ticket, n): (TaskTicket, Option<u64>),
    action: TaskAction,
    app: &mut AppState,
) -> Result<Result<(), SendError>, String> {
    let AppState { tasks, steps, .. } = app;
    if action == TaskAction::Remove {
        server.remove_task(ticket);
        // If the task was already removed, the model returns an error, and the server does nothing.
        let _ = tasks.remove(Handle::Task(ticket), false);
        return Ok(Ok(()));
    }
    let is_open = tasks.is_open(Handle::Task(ticket));
    let mut task = match server.task(ticket) {
        Ok(_) if !is_open => return Err(format!("{ticket:?} has ended, but task() accepts it")),
        Ok(task) => task,
        Err(SendError::Gone) if is_open => return Err(format!("{ticket:?} is open, but task() is Gone")),
        Err(why) => return Ok(Err(why)),
    };
    *steps += 1;
    let text = response_text(n);
    let outcome = match action {
        TaskAction::Complete => task.complete(|result| result.text(text)),
        TaskAction::Large => task.complete(|result| result.text(text.repeat(100))),
        TaskAction::Fail => task.fail(7, text),
        TaskAction::Keep => {
            task.finish(TaskOutcome::Completed);
            return tasks.keep(ticket).map(Ok);
        }
        TaskAction::Input => {
            let key = format!("k{}", *steps % 4);
            let outcome = task.require_input(&key, &FORM);
            if outcome.is_ok() {
                tasks.require_input(ticket, &key);
            }
            return Ok(outcome);
        }
        TaskAction::Message => return Ok(task.set_message("some of them")),
        TaskAction::Progress => return Ok(task.progress(i64::from(*steps), None, "some")),
        TaskAction::Remove => return Ok(Ok(())),
    };
    match outcome {
        Ok(()) if action == TaskAction::Fail => tasks.end(Handle::Task(ticket), "failed")?,
        Ok(()) => tasks.end(Handle::Task(ticket), "completed")?,
        Err(_) => tasks.drop_input(ticket),
    }
    Ok(outcome)
}

/// Describes an event. Omits details that depend on byte positions.
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

/// Applies a behavior to a deferred request.
pub(crate) fn reply_to_deferred(
    mut reply: Reply<'_>,
    (ticket, n): (Ticket, Option<u64>),
    what: Behavior,
    app: &mut AppState,
) -> Result<(), SendError> {
    let is_task = app.tasks.has_call(ticket);
    match what {
        Behavior::Progress => return reply.progress(1, None, "later"),
        Behavior::Log => return reply.log(Level::Error, None, "later"),
        Behavior::Change => {
            reply.changed(Change::Prompts);
            return Ok(());
        }
        // The kind of the deferred request is unknown. An error is a valid response to every kind.
        Behavior::Answer | Behavior::Error | Behavior::Defer(_) | Behavior::Task => {
            if !is_task {
                app.obligations.expect_text(n, response_text(n));
            }
            reply.error(7, response_text(n));
        }
        // The request stays deferred.
        Behavior::Drop => return Ok(()),
        Behavior::Busy => reply.busy(),
        Behavior::Needs => reply.require_input(&INPUTS, None),
        Behavior::Lacks => reply.require_capability(ClientCapabilities::ROOTS),
        Behavior::Large => reply.error(7, "x".repeat(large(n))),
        Behavior::Unbalanced => reply.error_with(7, "no", |out| out.begin_object()),
    }
    if is_task {
        let _ = app.tasks.end(Handle::Call(ticket), "failed");
    } else {
        let _ = app.obligations.close(ticket, true);
    }
    Ok(())
}
