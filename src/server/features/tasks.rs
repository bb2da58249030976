//! Feature `Tasks`: `tasks/get` and `tasks/cancel`; `tasks/update` (`2026-07-28`); `tasks/result` and `tasks/list`
//! (`2025-11-25`).
//!
//! Specification: 2025-11-25, *Tasks*; the extension *Tasks* of `2026-07-28`.

use crate::error::{ConfigError, ProtocolError};
use crate::json::{Json, Kind, Span, Writer};
use crate::peer::slots::Ticket;
use crate::peer::tasks::options::AutomaticTasks;
use crate::peer::tasks::payload::{slot_of, write_longest};
use crate::peer::tasks::table::{LONGEST_MESSAGE, TaskData, TaskState, TaskTable, TaskTicket};
use crate::protocol::methods::{self, Method};
use crate::protocol::objects::task::EXTENSION;
use crate::protocol::pagination::TAIL;
use crate::protocol::revision::{Revision, WireFeature};
use crate::rpc::code;
use crate::server::config::ServerConfig;
use crate::server::feature::{Feature, OwnResults, Received, Request, Sealed};
use crate::server::features::catalog::{Catalog, Found};
use crate::server::features::extension_request::{extension_in, write_extension};
use crate::server::features::extensions::{Extensions, write_extensions};
use crate::server::features::pagination;
use crate::server::pending_event::{PendingEvent, RequestKind, TaskEvent};
use crate::server::reply::Pending;
use crate::server::server_state::Shape;
use crate::server::tasks::TaskOptions;
use crate::server::tasks::input::accept;
use crate::server::tasks::result::{TaskResult, respond_stored};
use crate::server::write_message::write_error_message;
use crate::time::Millis;

/// The feature *tasks* (since `2025-11-25`): tool calls whose result the client fetches later.
///
/// The application turns a call into a [task](crate::server::Task) with
/// [`Call::into_task`](crate::server::Call::into_task). The feature needs a table: see
/// [`Server::tasks`](crate::Server::tasks). In `2026-07-28`, clients subscribe to tasks with the feature
/// [`Subscriptions`](crate::server::Subscriptions) or
/// [`AuthorizedSubscriptions`](crate::server::AuthorizedSubscriptions).
///
/// Tasks differ between the revisions:
///
/// - `2025-11-25`: the client requests a task, and the response must then be a task. If a tool of a static catalog does
///   not [support](crate::server::Tool::task_support) tasks, the server refuses calls that request a task.
/// - `2026-07-28`: the client declares the extension, and the server decides which calls become tasks.
///
/// A client of one revision cannot access the tasks of the other revision.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tasks {
    list: bool,
    automatic: Option<AutomaticTasks>,
}

impl Tasks {
    /// Creates the feature without `tasks/list`.
    #[must_use]
    pub const fn new() -> Tasks {
        Tasks { list: false, automatic: None }
    }

    /// Turns a [deferred](crate::server::Call::defer) call into a task if its response takes longer than `after`.
    /// Default: off.
    ///
    /// The application responds through the ticket of the deferred call, as without this setting. The response ends the
    /// task, and the task's slot in the table stores the result. A result that the slot cannot store becomes an error
    /// (-32603), which the next event reports. If the client cancels the task, or the time to live
    /// expires, the server emits the same event as for a call: [`Event::Cancelled`](crate::server::Event::Cancelled) or
    /// [`Event::Expired`](crate::server::Event::Expired). When the call becomes a task, the timeout of deferred
    /// requests no longer applies. `options` must return options with new random bits for each task.
    ///
    /// A call of a tool in a static catalog becomes a task only if the tool
    /// [supports](crate::server::Tool::task_support) tasks. A function with the attribute `tool` supports tasks with
    /// the item `task_support = optional`. If the function runs outside of the event loop, the adapter defers its
    /// calls.
    ///
    /// - `2026-07-28`: a call of a client that declares the extension becomes a task, if the table has a free slot when
    ///   the application defers the call. While the connection ends, no call becomes a task, unless the table
    ///   [keeps](crate::server::TaskTable::keep_on_reset) tasks.
    /// - `2025-11-25`: a call becomes a task if the client requests a task, whatever `after` is. A deferred call
    ///   becomes a task immediately. If the application responds with a result without deferral, the server responds
    ///   with a task, and ends the task with this result immediately. If the application responds with a JSON-RPC error
    ///   without deferral, the server creates no task, and sends the error as the response to the call. If the table
    ///   has no free slot, the server removes the automatic task that ended first, preferably of the same user. If the
    ///   server can remove no task, the application gets no `Call`: the server refuses the call, and reports
    ///   [`TooManyInFlight`](crate::ProtocolError::TooManyInFlight).
    ///
    /// As a task, a call sends no progress, no log messages and no requests to the client, and has no
    /// [chunked](crate::server::Call::chunked) response. A request with the option
    /// [`during`](crate::server::RequestOptions::during) for the call fails with
    /// [`Unsupported`](crate::SendError::Unsupported). If a call needs input, use
    /// [`into_task`](crate::server::Call::into_task), or request the input before the call becomes a task.
    ///
    /// ```
    /// use mcp_proto::Millis;
    /// use mcp_proto::server::{ServerConfig, TaskOptions, Tasks};
    /// # fn random() -> [u8; 16] { [7; 16] }
    ///
    /// static TASKS: Tasks = Tasks::new().automatic(Millis::seconds(5), || TaskOptions::new(random()));
    /// static CONFIG: ServerConfig = ServerConfig::new("example", "1.0.0").features(&[&TASKS]);
    /// ```
    #[must_use]
    pub const fn automatic(mut self, after: Millis, options: fn() -> TaskOptions) -> Tasks {
        self.automatic = Some(AutomaticTasks { after, options });
        self
    }

    /// Declares `tasks/list` (`2025-11-25`). A client lists the tasks of its user or, without users, of its session.
    #[must_use]
    pub const fn list(mut self) -> Tasks {
        self.list = true;
        self
    }
}

// Indices in `METHODS`.
const GET: usize = 0;
const CANCEL: usize = 1;
const UPDATE: usize = 2;
const RESULT: usize = 3;

const METHODS: &[Method] = &[
    methods::TASKS_GET.including_extension(),
    methods::TASKS_CANCEL.including_extension(),
    methods::TASKS_UPDATE.including_extension(),
    methods::TASKS_RESULT,
    methods::TASKS_LIST,
];

static DECLARED: Extensions<'static> = Extensions::new(&[(EXTENSION, "{}")]);

impl Feature for Tasks {}

impl Sealed for Tasks {
    fn write_capability(&self, config: &ServerConfig<'_>, revision: Revision, out: &mut Writer<'_>) {
        if revision.has(WireFeature::Tasks) {
            out.key("tasks");
            out.token(if self.list { r#"{"list":{},"# } else { "{" });
            out.token(r#""cancel":{},"requests":{"tools":{"call":{}}}}"#);
        }
        write_extensions(&DECLARED, config, revision, out);
    }

    #[cfg(feature = "alloc")]
    fn grown_tasks(&self, limit: usize, text: usize) -> Option<crate::server::tasks::TaskTable<'static>> {
        Some(crate::server::tasks::TaskTable::grown(limit, text))
    }

    fn find(&self, catalog: Catalog, _: &dyn Fn(&str) -> bool) -> Found<'_> {
        match catalog {
            Catalog::Extensions => Found::Extensions(&DECLARED),
            Catalog::AutomaticTasks => self.automatic.map_or(Found::Absent, Found::AutomaticTasks),
            _ => Found::Absent,
        }
    }

    fn methods(&self) -> &'static [Method] {
        METHODS
    }

    fn handle<'b>(&'b self, method: usize, request: &mut Request<'_, 'b>) -> Received {
        let is_extension = request.pending.context.revision().has(WireFeature::TasksExtension);
        if is_extension && !is_declared(request.view(request.spans.meta)) {
            return refuse_undeclared(request);
        }
        if method > RESULT {
            return match self.list {
                true => list(request),
                false => request.refuse_text(ProtocolError::UnknownMethod, "the server does not list tasks"),
            };
        }
        let Some(id) = request.param("taskId").string() else {
            return request.invalid_params("`taskId` must be a string");
        };
        let (context, session) = (request.pending.context, request.state.session_key);
        let found =
            request.state.tasks.as_ref().and_then(|table| table.find(id, context.revision(), session));
        let Some(ticket) = found else {
            return request.invalid_params("unknown task");
        };
        match method {
            GET => get(request, ticket),
            CANCEL => cancel(request, ticket),
            UPDATE => update(request, ticket),
            _ => result(request, ticket),
        }
    }

    fn check(&self, results: &mut OwnResults<'_>) -> Result<(), ConfigError> {
        let revision = results.revision;
        if revision.has(WireFeature::Tasks) || revision.has(WireFeature::TasksExtension) {
            results.measure(Shape::List, &mut |out: &mut Writer<'_>| {
                out.token(r#""tasks":[{"#);
                write_longest(LONGEST_MESSAGE, revision, out);
                out.token("}");
                out.token(TAIL);
            });
        }
        Ok(())
    }
}

/// Returns whether this `_meta` of a request declares the extension (`2026-07-28`).
pub(crate) fn is_declared(meta: Json<'_>) -> bool {
    extension_in(meta, EXTENSION).is_some_and(|settings| settings.kind() == Kind::Object)
}

/// Refuses a request that needs the extension but whose `_meta` does not declare the extension.
pub(crate) fn refuse_undeclared(request: &mut Request<'_, '_>) -> Received {
    let error = ProtocolError::MissingClientCapability;
    request.refuse_with(error, code::MISSING_CLIENT_CAPABILITY, &mut |out: &mut Writer<'_>| {
        write_error_message(out, &error.message());
        out.token(r#","data":{"requiredCapabilities":"#);
        write_extension(EXTENSION, out);
        out.token("}");
    })
}

/// Responds with the members that `body` writes. The caller must have checked that the table exists.
fn respond(request: &mut Request<'_, '_>, body: impl Fn(&TaskTable<'_>, &mut Writer<'_>)) -> Received {
    let pending = request.pending;
    let responded = request.state.with_tasks(|state, table| {
        state.respond(&pending, Shape::Result, &mut |out: &mut Writer<'_>| body(table, out))
    });
    responded.unwrap_or(Received::Done)
}

fn get(request: &mut Request<'_, '_>, ticket: Ticket) -> Received {
    if !request.pending.context.revision().has(WireFeature::TasksExtension) {
        return respond(request, |table, out| table.write_members(ticket, out));
    }
    match request.state.task_data(ticket).is_some_and(TaskData::is_kept_by_application) {
        true => request_result(request, ticket),
        false => respond(request, |table, out| table.write_detailed(ticket, out)),
    }
}

/// Emits the event that requests the result from the application.
fn request_result(request: &mut Request<'_, '_>, ticket: Ticket) -> Received {
    let kind = RequestKind::TaskResult { task: slot_of(ticket), is_requested: true };
    request.set_parts(Span::MISSING, Span::MISSING);
    request.emit_request(kind, TaskResult::event)
}

/// Handles `tasks/result`. The response waits until the task has ended.
fn result(request: &mut Request<'_, '_>, ticket: Ticket) -> Received {
    let data = request.state.task_data(ticket);
    if data.is_some_and(TaskData::is_open) {
        return wait_for_result(request, ticket);
    }
    if data.is_some_and(TaskData::is_kept_by_application) {
        return request_result(request, ticket);
    }
    let pending = request.pending;
    request.state.with_tasks(|state, table| respond_stored(state, table, &pending, Some(ticket)));
    Received::Done
}

fn wait_for_result(request: &mut Request<'_, '_>, ticket: Ticket) -> Received {
    let Pending { source, stream, context } = request.pending;
    let kind = RequestKind::TaskResult { task: slot_of(ticket), is_requested: false };
    // The request has no timeout. The request still needs a deadline (the maximum), because at the end of the grace
    // period the server ends only requests that have a deadline.
    let deadline = Some(Millis(u64::MAX));
    if request.state.peer.defer(&source, stream, context.with_kind(kind), deadline).is_some() {
        return Received::Done;
    }
    request.refuse_full()
}

/// Handles `tasks/cancel`. Cancels a task that has not ended, and then responds. If the task has ended, refuses a
/// request of `2025-11-25`, and accepts a request of the extension.
fn cancel(request: &mut Request<'_, '_>, ticket: Ticket) -> Received {
    let is_extension = request.pending.context.revision().has(WireFeature::TasksExtension);
    let is_open = request.state.task_data(ticket).is_some_and(TaskData::is_open);
    if !is_open && !is_extension {
        return request.invalid_params("the task has ended");
    }
    if is_open {
        request.state.with_tasks(|state, table| state.end_task(table, ticket, TaskState::Cancelled));
    }
    let received = match is_extension {
        true => request.result(&mut |_: &mut Writer<'_>| {}),
        false => respond(request, |table, out| table.write_members(ticket, out)),
    };
    if is_open {
        request.state.emit(PendingEvent::Task(TaskEvent::Cancelled(TaskTicket(ticket))))
    } else {
        received
    }
}

/// Handles `tasks/update`: closes the input requests that have responses, and passes the responses to the application.
fn update(request: &mut Request<'_, '_>, ticket: Ticket) -> Received {
    let responses = request.spans.responses;
    if request.kind(responses) != Kind::Object {
        return request.invalid_params("`inputResponses` must be an object");
    }
    let members = request.view(responses);
    let received = request.result(&mut |_: &mut Writer<'_>| {});
    let accepted =
        request.state.with_tasks(|state, table| accept(state, table, ticket, members)).unwrap_or(0);
    if accepted == 0 {
        return received;
    }
    request.spans.arguments = responses;
    let event = TaskEvent::Responses { ticket: TaskTicket(ticket), accepted };
    request.state.emit(PendingEvent::Task(event))
}

/// Handles `tasks/list`. A cursor contains the index of the slot at which its page begins.
fn list(request: &mut Request<'_, '_>) -> Received {
    if request.state.tasks.is_none() {
        return request.respond(Shape::Result, &mut |out: &mut Writer<'_>| out.members(r#""tasks":[]"#));
    }
    let first = match pagination::first_index(request) {
        Ok(first) => first,
        Err(refused) => return refused,
    };
    let slots = request.state.tasks.as_ref().map_or(0, |table| table.slots());
    if first > 0 && first >= slots {
        return request.refuse_text(ProtocolError::BadCursor, "not a cursor of this list");
    }
    let (context, session) = (request.pending.context, request.state.session_key);
    respond(request, |table, out| {
        table.write_page(first, context.revision(), session, out);
    })
}
