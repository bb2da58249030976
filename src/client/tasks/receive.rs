//! Results and notifications about tasks.

use crate::client::client_state::ClientState;
use crate::client::method_properties::Method;
use crate::client::pending_event::{PendingEvent, PendingOutcome};
use crate::client::receive::{end_request, is_complete};
use crate::client::request_data::NO_SEQUENCE;
use crate::client::tasks::config::TaskLimits;
use crate::client::tasks::record::Record;
use crate::json::{Json, Kind, Span};
use crate::peer::request::{Flags, OutboundState};
use crate::peer::response::RequestFailure;
use crate::peer::slots::Ticket;
use crate::protocol::objects::task::TaskStatus;
use crate::protocol::revision::WireFeature;
use crate::rpc::{self, Object};

impl ClientState<'_> {
    /// Handles the result of a call, or of a request about a task. Returns `false` if the caller must handle the
    /// result, too: the result concerns no task, or ends a subscription to a task.
    pub(super) fn handle_task_result(&mut self, ticket: Ticket, kind: Json<'_>, result: Object<'_>) -> bool {
        match self.method_of(ticket) {
            Method::CallTool => match self.created_task(kind, result) {
                Some(task) => self.start_task(ticket, task, result),
                None => return false,
            },
            Method::TaskGet => self.handle_task(ticket, result),
            Method::TaskUpdate => self.wait_for_task(ticket),
            Method::TaskResult => self.end_task(ticket, result),
            Method::TaskListen => {
                self.handle_unwatched(ticket);
                return false;
            }
            _ => return false,
        }
        true
    }

    /// Returns the task in the result of a call, or `None` if the call has not become a task. `kind` is the
    /// `resultType`.
    fn created_task<'l>(&self, kind: Json<'_>, result: Object<'l>) -> Option<Object<'l>> {
        if self.has(WireFeature::TasksExtension) {
            return kind.string().is_some_and(|kind| kind.is_name("task")).then_some(result);
        }
        let [task, content] = result.spans(&["task", "content"]);
        let is_created = self.has(WireFeature::Tasks)
            && content.is_missing()
            && rpc::kind(result.line(), task) == Kind::Object;
        is_created.then(|| Object::new(result.line(), task, None))
    }

    /// Handles a result that arrived after the end of its request. If the result creates a task, cancels this task,
    /// unless the task has ended or the client follows the task.
    pub(super) fn handle_late_result(&mut self, result: Object<'_>) {
        let kind = result.json().get("resultType").unwrap_or(Json::NULL);
        let Some(task) = self.created_task(kind, result).map(|task| task.json()) else { return };
        let Some(id) = task.get("taskId").filter(|id| id.kind() == Kind::String) else { return };
        let has_ended = status_of(task).is_none_or(TaskStatus::is_terminal);
        // Do not cancel a task that the client follows: the server may have repeated the response to its call.
        if !has_ended && self.find_task(|_, record| id.string().is_some_and(|id| record.has_id(id))).is_none()
        {
            self.cancel_late_task(id);
        }
    }

    /// Turns a call into a task. `result` is the whole result of the call.
    fn start_task(&mut self, ticket: Ticket, task: Object<'_>, result: Object<'_>) {
        let limits = self.task_limits();
        let json = task.json();
        let id = json.get("taskId").filter(|id| id.kind() == Kind::String);
        let (Some(id), Some(status)) = (id, status_of(json)) else {
            return self.fail_task(ticket, RequestFailure::Invalid);
        };
        let now = self.peer.now;
        let Some(outbound) = self.peer.in_flight.outbound_mut(ticket) else { return };
        let sequence = outbound.data.sequence;
        outbound.data.method = Method::TaskGet;
        (outbound.data.partial_results, outbound.data.meta_length) = (0, 0);
        outbound.data.maximum = now.plus(limits.maximum);
        outbound.flags.set_running();
        if !self.store_task(ticket, sequence, limits.interval(json), id.bytes().len(), id.bytes()) {
            if !status.is_terminal() {
                self.cancel_late_task(id);
            }
            return self.fail_task(ticket, RequestFailure::StateTooLong);
        }
        self.update_task(ticket, &limits, json);
        match status {
            TaskStatus::Working => {
                self.wait_for_task(ticket);
                self.watch_task(id);
            }
            // Poll at once, because the result of the call lacks members such as `inputRequests`.
            _ => self.poll_task(ticket),
        }
        self.emit(PendingEvent::Task { ticket, task: result.span() });
    }

    /// Handles the state of a task: the result of `tasks/get`, or the parameters of a notification.
    fn handle_task(&mut self, ticket: Ticket, task: Object<'_>) {
        let limits = self.task_limits();
        let is_extension = self.has(WireFeature::TasksExtension);
        let json = task.json();
        let Some(status) = status_of(json) else {
            return self.fail_task(ticket, RequestFailure::Invalid);
        };
        let is_changed = self.update_task(ticket, &limits, json);
        let [result, error, requests] = task.spans(&["result", "error", "inputRequests"]);
        match status {
            TaskStatus::Working => self.wait_for_task(ticket),
            TaskStatus::Cancelled => return self.fail_task(ticket, RequestFailure::TaskCancelled),
            TaskStatus::InputRequired if is_extension => {
                if self.require_task_input(ticket, task, requests) {
                    return;
                }
                self.wait_for_task(ticket);
            }
            TaskStatus::Completed if is_extension => {
                return self.end_task(ticket, Object::new(task.line(), result, None));
            }
            TaskStatus::Failed if is_extension => {
                if rpc::kind(task.line(), error) != Kind::Object {
                    return self.fail_task(ticket, RequestFailure::Invalid);
                }
                return end_request(self, ticket, PendingOutcome::Error(error));
            }
            // In 2025-11-25, the server sends the input requests of a task on the stream of `tasks/result`.
            TaskStatus::InputRequired | TaskStatus::Completed | TaskStatus::Failed => {
                self.queue_task_request(ticket, Method::TaskResult);
            }
        }
        if is_changed {
            self.emit(PendingEvent::Task { ticket, task: task.span() });
        }
    }

    /// Ends a task with the result of its tool.
    fn end_task(&mut self, ticket: Ticket, result: Object<'_>) {
        let [member, kind] = result.spans(&["content", "resultType"]);
        let kind = if kind.is_missing() { Json::NULL } else { rpc::view(result.line(), kind) };
        let is_valid = result.kind() == Kind::Object
            && Method::CallTool.accepts_result(result, member)
            && is_complete(kind);
        match is_valid {
            true => {
                let outcome = PendingOutcome::Result { result: result.span(), member, is_nested: true };
                end_request(self, ticket, outcome)
            }
            false => self.fail_task(ticket, RequestFailure::Invalid),
        }
    }

    fn fail_task(&mut self, ticket: Ticket, failure: RequestFailure) {
        end_request(self, ticket, PendingOutcome::Failed(failure))
    }

    /// Fails a task that has not ended. Also cancels the task, if the server supports `tasks/cancel`.
    fn abandon_task(&mut self, ticket: Ticket, failure: RequestFailure) {
        let method = self.method_of(ticket);
        self.abandon(ticket, "");
        self.emit_failure(ticket, method, failure);
    }

    /// Emits the input requests of a task. Fails the task if the requests are invalid. Fails and cancels the task if
    /// the requests exceed a limit. Returns `false` if the client has already emitted all these requests.
    fn require_task_input(&mut self, ticket: Ticket, task: Object<'_>, requests: Span) -> bool {
        let requests = if requests.is_missing() { Json::NULL } else { rpc::view(task.line(), requests) };
        let is_object = requests.is_null() || requests.kind() == Kind::Object;
        if !is_object || self.count_requests(requests).is_none() {
            self.fail_task(ticket, RequestFailure::Invalid);
            return true;
        }
        let Some(added) = self.add_keys(ticket, requests) else {
            self.abandon_task(ticket, RequestFailure::StateTooLong);
            return true;
        };
        if added == 0 {
            return false;
        }
        let limit = self.config.input_limit;
        let Some(outbound) = self.peer.in_flight.outbound_mut(ticket) else { return false };
        if outbound.data.partial_results >= limit {
            self.abandon_task(ticket, RequestFailure::TooManyInputRequests);
            return true;
        }
        outbound.data.partial_results = outbound.data.partial_results.saturating_add(1);
        outbound.data.sequence = NO_SEQUENCE.saturating_add(added.into());
        outbound.state = OutboundState::NeedsInput;
        let deadline = outbound.data.maximum;
        self.peer.in_flight.set_deadline(ticket, Some(deadline));
        self.emit(PendingEvent::InputRequired { ticket, result: task.span() });
        true
    }

    /// Handles a notification about a task: see `TaskHooks::on_notification`.
    pub(super) fn handle_task_status(&mut self, task: Object<'_>) -> bool {
        let Some((ticket, status)) = self.task_in_slot(task.json()) else { return false };
        let Some(request) = self.open_request(ticket) else { return false };
        // While the application has to respond to input requests, only the end of the task matters. If a request about
        // the task is queued or in flight, a later response reports the status.
        let is_relevant = request.state == OutboundState::TaskWaiting
            || request.state == OutboundState::NeedsInput && status.is_terminal();
        let has_result = self.has(WireFeature::TasksExtension) && status == TaskStatus::Completed;
        match is_relevant {
            // Poll for the result, because only the response to a poll arrives in chunks.
            true if has_result && request.flags.has(Flags::CHUNKED) => self.poll_task(ticket),
            true => self.handle_task(ticket, task),
            false => {}
        }
        true
    }

    /// Finds the slot of a task, and reads the status of the task. Returns `None` if the client follows no such task,
    /// or if the status is not valid.
    fn task_in_slot(&self, task: Json<'_>) -> Option<(Ticket, TaskStatus)> {
        let id = task.get("taskId").and_then(Json::string)?;
        let status = status_of(task)?;
        Some((self.find_task(|_, record| record.has_id(id))?, status))
    }

    /// Finds the task whose call has this progress token (`2025-11-25`). Returns `None` if there is no such task, if
    /// the client did not request progress for the call, or if the progress is not a number.
    pub(super) fn find_task_progress(&self, params: Json<'_>) -> Option<Ticket> {
        let [token, progress] = params.pick(["progressToken", "progress"]);
        progress.and_then(Json::number)?;
        let number = rpc::issued_number(token?)?;
        let has_token =
            |ticket: Ticket, task: Record<'_>| self.id_of(task.sequence, Some(ticket.slot)) == number;
        let ticket = self.find_task(has_token)?;
        self.open_request(ticket)?.wants_progress().then_some(ticket)
    }

    fn task_limits(&self) -> TaskLimits {
        self.config.tasks.map_or(TaskLimits::DEFAULT, |tasks| tasks.limits)
    }
}

fn status_of(task: Json<'_>) -> Option<TaskStatus> {
    task.get("status").and_then(Json::string).and_then(TaskStatus::from_json)
}
