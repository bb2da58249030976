//! `ClientTaskHooks`: the interface between the tasks of a client and the rest of the client.

use core::fmt;

use crate::client::client_state::ClientState;
use crate::client::client_tasks::{config, create, deliver, requests};
use crate::client::server_requests::input_request::InputKind;
use crate::client::server_requests::{Context, Pending, RequestTask};
use crate::error::ProtocolError;
use crate::framing::outbound_message::StreamId;
use crate::json::{Json, Kind, Str, Writer};
use crate::peer::slots::Ticket;
use crate::peer::tasks::options::requested_ttl;
use crate::peer::tasks::payload::write_longest;
use crate::peer::tasks::storage::with_taken;
use crate::peer::tasks::table::TaskTable;
use crate::protocol::capabilities::ClientCapabilities;
use crate::protocol::pagination::TAIL;
use crate::protocol::revision::{Revisions, WireFeature};
use crate::time::Millis;

/// Hooks of the tasks that a client runs. Only the configuration refers to the implementation.
pub(crate) trait ClientTaskHooks: Sync {
    /// Writes the capability `tasks`.
    fn write_capability(&self, declared: ClientCapabilities, out: &mut Writer<'_>);

    /// Returns the maximum size of a response about a task in these revisions, in bytes, without the id of the
    /// request. Returns 0 if no revision has tasks.
    fn max_response_size(&self, revisions: Revisions) -> usize;

    /// Returns the time to live that a request names for its task, or 0 if the request names no time. Returns `None` if
    /// the request does not become a task, and an error if the member `task` is neither an object nor null.
    fn requested(&self, context: Context, params: Json<'_>) -> Result<Option<u64>, ProtocolError>;

    /// Returns whether the client accepts requests about tasks with this method in its session.
    fn accepts(&self, state: &ClientState<'_>, method: Str<'_>) -> bool;

    /// Handles a request about a task, and returns the error that the client has sent, if any. The response to
    /// `tasks/result` waits for the end of the task. The caller has reserved space for a response.
    fn on_request(
        &self,
        state: &mut ClientState<'_>,
        id: Json<'_>,
        method: Str<'_>,
        params: Json<'_>,
        stream: StreamId,
    ) -> Result<(), ProtocolError>;

    /// Turns a deferred request into a task. Returns `false` if the table is full, or the response does not fit.
    fn on_deferred(&self, state: &mut ClientState<'_>, request: Ticket, context: Context, ttl: u64) -> bool;

    /// Handles the application's response to a request that becomes, or has become, a task. If `error` contains a code,
    /// `body` writes the members of the error. Otherwise, `body` writes the members of the result.
    fn respond(
        &self,
        state: &mut ClientState<'_>,
        pending: &Pending<'_>,
        task: RequestTask,
        error: Option<i32>,
        body: &mut dyn FnMut(&mut Writer<'_>) -> bool,
    );

    /// Finds the open task of a deferred request. Returns the ticket of the task, and the context of the response.
    /// Returns `None` if there is no such task.
    fn find(&self, state: &ClientState<'_>, request: Ticket) -> Option<(Ticket, Context)>;

    /// Returns the earliest expiry of a task, or `None` if no task expires.
    fn next_deadline(&self, state: &ClientState<'_>) -> Option<Millis>;

    /// Expires a task, or sends pending messages about tasks. Emits the event of a request whose task has expired or
    /// was removed at the end of the connection.
    fn advance(&self, state: &mut ClientState<'_>);

    /// Removes all tasks at the end of a connection, unless the table keeps them. If `is_reported`, the next polls
    /// report the end of the requests that became these tasks.
    fn end_connection(&self, state: &mut ClientState<'_>, is_reported: bool);
}

impl fmt::Debug for dyn ClientTaskHooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClientTaskHooks")
    }
}

struct Hooks;

pub(super) static HOOKS: &dyn ClientTaskHooks = &Hooks;

impl ClientTaskHooks for Hooks {
    fn write_capability(&self, declared: ClientCapabilities, out: &mut Writer<'_>) {
        config::write_capability(declared, out);
    }

    fn max_response_size(&self, revisions: Revisions) -> usize {
        let with_tasks = revisions.newest_first().find(|revision| revision.has(WireFeature::Tasks));
        let Some(revision) = with_tasks else { return 0 };
        let mut out = Writer::measure();
        out.token(r#"{"jsonrpc":"2.0","id":,"result":{"tasks":[{"#);
        write_longest(0, revision, &mut out);
        out.token("}");
        out.token(TAIL);
        out.len()
    }

    fn requested(&self, context: Context, params: Json<'_>) -> Result<Option<u64>, ProtocolError> {
        let may = matches!(context.kind, InputKind::Sample | InputKind::Form | InputKind::Url);
        let may = may && context.revision.has(WireFeature::Tasks);
        match params.get("task").filter(|task| may && !task.is_null()) {
            None => Ok(None),
            Some(task) if task.kind() == Kind::Object => Ok(requested_ttl(task)),
            Some(_) => Err(ProtocolError::InvalidParams),
        }
    }

    fn accepts(&self, state: &ClientState<'_>, method: Str<'_>) -> bool {
        state.has(WireFeature::Tasks)
            && config::may_run(state.declared())
            && requests::TaskMethod::from_name(method).is_some()
    }

    fn on_request(
        &self,
        state: &mut ClientState<'_>,
        id: Json<'_>,
        method: Str<'_>,
        params: Json<'_>,
        stream: StreamId,
    ) -> Result<(), ProtocolError> {
        state.handle_task_request(id, method, params, stream)
    }

    fn on_deferred(&self, state: &mut ClientState<'_>, request: Ticket, context: Context, ttl: u64) -> bool {
        let options = state.config.client_tasks.map(|tasks| (tasks.options)());
        let deferred = state.with_client_tasks(|state, table| {
            options.is_some_and(|options| create::defer(state, table, request, context, options, ttl))
        });
        deferred.unwrap_or(false)
    }

    fn respond(
        &self,
        state: &mut ClientState<'_>,
        pending: &Pending<'_>,
        task: RequestTask,
        error: Option<i32>,
        body: &mut dyn FnMut(&mut Writer<'_>) -> bool,
    ) {
        match task {
            RequestTask::Created(ticket) => {
                state.with_client_tasks(|state, table| create::end(state, table, ticket, error, body));
            }
            // The client sends an error directly, without a task.
            RequestTask::Requested { .. } if error.is_some() => state.respond_directly(pending, error, body),
            RequestTask::Requested { ttl } => create::respond_at_once(state, pending, ttl, body),
        }
    }

    fn find(&self, state: &ClientState<'_>, request: Ticket) -> Option<(Ticket, Context)> {
        create::find(state.client_tasks.as_ref()?, request)
    }

    fn next_deadline(&self, state: &ClientState<'_>) -> Option<Millis> {
        state.client_tasks.as_ref()?.slots.next_deadline()
    }

    fn advance(&self, state: &mut ClientState<'_>) {
        state.with_client_tasks(deliver::advance);
    }

    fn end_connection(&self, state: &mut ClientState<'_>, is_reported: bool) {
        let Some(table) = state.client_tasks.as_mut().filter(|table| !table.keeps_on_reset) else { return };
        match is_reported {
            true => deliver::remove_all(table),
            false => table.slots.clear(),
        }
    }
}

impl ClientState<'_> {
    /// Returns the hooks of tasks, if the client runs tasks.
    pub(crate) fn client_task_hooks(&self) -> Option<&'static dyn ClientTaskHooks> {
        self.client_tasks.as_ref()?;
        self.config.client_tasks.map(|tasks| tasks.hooks)
    }

    /// Finds the open task of a deferred request. Returns the ticket of the task, and the context of the response.
    /// Returns `None` if there is no such task.
    pub(crate) fn task_of(&self, request: Ticket) -> Option<(Ticket, Context)> {
        self.client_task_hooks()?.find(self, request)
    }

    /// Ends the tasks of a connection: see [`ClientTaskHooks::end_connection`].
    pub(crate) fn end_client_tasks(&mut self, is_reported: bool) {
        if let Some(hooks) = self.client_task_hooks() {
            hooks.end_connection(self, is_reported);
        }
    }

    /// Calls `act` with the state and the table. Returns `None` if there is no table.
    pub(super) fn with_client_tasks<R>(
        &mut self,
        act: impl FnOnce(&mut ClientState<'_>, &mut TaskTable<'_>) -> R,
    ) -> Option<R> {
        with_taken(self, |state| &mut state.client_tasks, |state, table| act(state, table))
    }
}
