//! `ClientTaskHooks`: the interface between the tasks of a client and the rest of the client.

use crate::client::client_state::ClientState;
use crate::client::client_tasks::{config, create, deliver, requests};
use crate::client::server_requests::input_request::InputKind;
use crate::client::server_requests::{Context, Pending, RequestTask};
use crate::error::ProtocolError;
use crate::framing::outbound_message::StreamId;
use crate::json::{Json, Kind, Str, WriteBody, Writer};
use crate::peer::slots::Ticket;
use crate::peer::tasks::options::requested_ttl;
use crate::peer::tasks::payload::write_longest;
use crate::peer::tasks::storage::with_taken;
use crate::peer::tasks::table::TaskTable;
use crate::protocol::capabilities::ClientCapabilities;
use crate::protocol::pagination::TAIL;
use crate::protocol::revision::{Revisions, WireFeature};
use crate::time::Millis;

/// Code of the tasks that a client runs. Only the configuration refers to this code.
#[derive(Debug)]
pub(crate) struct ClientTaskHooks {
    /// Writes the capability `tasks`.
    pub(crate) write_capability: fn(ClientCapabilities, &mut Writer<'_>),
    /// Returns the maximum size of a response that describes one task in these revisions, in bytes, without the id of
    /// the request. Returns 0 if no revision has tasks.
    pub(crate) max_response_size: fn(Revisions) -> usize,
    /// Returns the time to live that a request names for its task, or 0 if the request names no time. Returns
    /// `Ok(None)` if the request does not become a task. Returns an error if the request could become a task, but its
    /// member `task` is neither an object nor `null`.
    pub(crate) requested: fn(Context, Json<'_>) -> Result<Option<u64>, ProtocolError>,
    /// Returns whether this is a method about tasks that the client accepts in the current session.
    pub(crate) accepts: fn(&ClientState<'_>, Str<'_>) -> bool,
    /// Handles a request about a task. The arguments are the id, the method, the parameters and the stream of the
    /// request. Returns the error that the client has sent, if any. The response to `tasks/result` waits for the end of
    /// the task. The caller must have reserved space for a response.
    pub(crate) on_request:
        fn(&mut ClientState<'_>, Json<'_>, Str<'_>, Json<'_>, StreamId) -> Result<(), ProtocolError>,
    /// Turns a deferred request into a task with this time to live. Returns `false` if the table cannot store the
    /// task, or the response does not fit.
    pub(crate) on_deferred: fn(&mut ClientState<'_>, Ticket, Context, u64) -> bool,
    /// Handles the application's response to a request that becomes, or has become, a task. If there is an error code,
    /// the last argument writes the members of the error, and otherwise the members of the result.
    pub(crate) respond:
        fn(&mut ClientState<'_>, &Pending<'_>, RequestTask, Option<i32>, &mut WriteMembers<'_>),
    /// Finds the open task of a deferred request. Returns the ticket of the task, and the context of the response.
    /// Returns `None` if there is no such task.
    pub(crate) find: fn(&TaskTable<'_>, Ticket) -> Option<(Ticket, Context)>,
    /// Expires due tasks, and stops at the first task whose expiry causes an event. If there is no event, sends pending
    /// messages: see `deliver::advance`.
    pub(crate) advance: fn(&mut ClientState<'_>),
    /// Returns the earliest expiry of a task, or `None` if no task expires.
    pub(crate) next_deadline: fn(&TaskTable<'_>) -> Option<Millis>,
    /// Removes all tasks at the end of a connection, unless the table keeps them. If the flag is `true`, the next polls
    /// report the end of each request whose task was open.
    pub(crate) end_connection: fn(&mut TaskTable<'_>, bool),
}

/// Writes the members of a result or an error. Returns whether the members are valid.
type WriteMembers<'b> = dyn WriteBody + 'b;

impl ClientTaskHooks {
    pub(super) const CODE: ClientTaskHooks = ClientTaskHooks {
        write_capability: config::write_capability,
        max_response_size,
        requested,
        accepts: |state, method| {
            state.has(WireFeature::Tasks)
                && config::may_run(state.declared())
                && requests::TaskMethod::from_name(method).is_some()
        },
        on_request: |state, id, method, params, stream| state.handle_task_request(id, method, params, stream),
        on_deferred: create::defer,
        respond,
        find: create::find,
        advance: |state| _ = state.with_client_tasks(deliver::advance),
        next_deadline: |table| table.slots.next_deadline(),
        end_connection: |table, is_reported| match is_reported {
            _ if table.keeps_on_reset => {}
            true => deliver::remove_all(table),
            false => table.slots.clear(),
        },
    };
}

fn max_response_size(revisions: Revisions) -> usize {
    let with_tasks = revisions.newest_first().find(|revision| revision.has(WireFeature::Tasks));
    let Some(revision) = with_tasks else { return 0 };
    let mut out = Writer::measure();
    out.token(r#"{"jsonrpc":"2.0","id":,"result":{"tasks":[{"#);
    write_longest(0, revision, &mut out);
    out.token("}");
    out.token(TAIL);
    out.len()
}

fn requested(context: Context, params: Json<'_>) -> Result<Option<u64>, ProtocolError> {
    let may = matches!(context.kind, InputKind::Sample | InputKind::Form | InputKind::Url);
    let may = may && context.revision.has(WireFeature::Tasks);
    match params.get("task").filter(|task| may && !task.is_null()) {
        None => Ok(None),
        Some(task) if task.kind() == Kind::Object => Ok(requested_ttl(task)),
        Some(_) => Err(ProtocolError::InvalidParams),
    }
}

fn respond(
    state: &mut ClientState<'_>,
    pending: &Pending<'_>,
    task: RequestTask,
    error: Option<i32>,
    body: &mut WriteMembers<'_>,
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

impl ClientState<'_> {
    /// Returns the hooks of tasks, if the client has a table and its configuration enables tasks.
    pub(crate) fn client_task_hooks(&self) -> Option<&'static ClientTaskHooks> {
        self.client_tasks.as_ref()?;
        self.config.client_tasks.map(|tasks| tasks.hooks)
    }

    /// Finds the open task of a deferred request: see [`ClientTaskHooks::find`].
    pub(crate) fn task_of(&self, request: Ticket) -> Option<(Ticket, Context)> {
        let hooks = self.client_task_hooks()?;
        (hooks.find)(self.client_tasks.as_ref()?, request)
    }

    /// Ends the tasks of a connection: see [`ClientTaskHooks::end_connection`].
    pub(crate) fn end_client_tasks(&mut self, is_reported: bool) {
        if let Some((hooks, table)) = self.client_task_hooks().zip(self.client_tasks.as_mut()) {
            (hooks.end_connection)(table, is_reported);
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
