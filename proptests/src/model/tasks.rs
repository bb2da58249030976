//! Model of a server's tasks: their status, their owners, and the requests about them.
//!
//! A task has at most one end and one result. Until a task is removed, only its owner can access it, and only in the
//! revision that created it. The table never contains more tasks than it has slots.

use std::collections::{BTreeMap, BTreeSet};

use mcp_proto::server::{TaskInput, TaskTicket};
use mcp_proto::{Millis, Revision, Ticket};
use serde_json::Value;

use super::check;

/// Configuration of the tasks of a modeled server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Setup {
    /// Number of slots, modulo 4.
    pub slots: u8,
    /// Whether deferred calls become tasks after `AFTER`.
    pub automatic: bool,
    /// Whether the table keeps the tasks on a new connection.
    pub keeps: bool,
    /// Whether the server notifies sessions of changed tasks.
    pub notifies: bool,
}

/// The time to live of a task for which the client requests none.
pub(crate) const TTL: Millis = Millis(3_000);

/// The time after which a deferred call becomes a task.
pub(crate) const AFTER: Millis = Millis(40);

/// The path of the related task in the parameters of a message.
pub(crate) const RELATED_TASK: &str = "/_meta/io.modelcontextprotocol~1related-task";

/// The ticket with which the application names a task: the ticket of the task, or of the call that became the
/// task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Handle {
    Task(TaskTicket),
    Call(Ticket),
}

#[derive(Debug)]
struct Known {
    /// The number of the call.
    n: Option<u64>,
    handle: Handle,
    id: Option<String>,
    revision: Revision,
    owner: u64,
    /// The values of `status` since the creation of the task. The last one is the current status.
    statuses: Vec<&'static str>,
    is_removed: bool,
    /// Whether the application keeps the result.
    is_kept: bool,
    /// The keys of open input requests.
    keys: BTreeSet<String>,
    /// The result or error that a client has read.
    payload: Option<Value>,
    /// The time at which the call was deferred or became the task.
    created: Millis,
    /// The time to live that the client has read.
    ttl: Option<Millis>,
    /// The time at which the client read the time to live. `None` before that, or if the client was blocked then.
    read: Option<Millis>,
}

impl Known {
    fn status(&self) -> &'static str {
        self.statuses.last().copied().unwrap_or("working")
    }

    fn is_open(&self) -> bool {
        !self.is_removed && matches!(self.status(), "working" | "input_required")
    }

    /// Returns whether the task was a deferred call and has ended. The server removes such a task without an event.
    fn is_ended_call(&self) -> bool {
        matches!(self.handle, Handle::Call(_)) && !self.is_open()
    }

    /// Returns whether the server may have removed the task without an event.
    fn may_be_gone(&self, now: Millis) -> bool {
        self.is_ended_call() && self.ttl.is_some_and(|ttl| self.created.plus(ttl) <= now)
    }

    /// Updates the status of an open task according to its input requests.
    fn count_input(&mut self) {
        let status = if self.keys.is_empty() { "working" } else { "input_required" };
        if self.is_open() && self.status() != status {
            self.statuses.push(status);
        }
    }
}

/// A request about a task. The client has not read the response yet.
#[derive(Debug)]
struct Request {
    id: String,
    method: String,
    /// The index of the task in `TaskModel::known`, if the client may access the task.
    task: Option<usize>,
    /// The index of the status that the task had when the client sent the request.
    since: usize,
    /// Whether the next response with the id belongs to the request. Also `false` if the request names a task that is
    /// in `TaskModel::ids`, but not in `TaskModel::known`.
    is_certain: bool,
}

/// The tasks of a server.
#[derive(Debug, Default)]
pub(crate) struct TaskModel {
    /// The number of slots. `None` if the server has no tasks.
    pub(crate) slots: Option<usize>,
    pub(crate) is_automatic: bool,
    pub(crate) keeps: bool,
    pub(crate) now: Millis,
    pub(crate) owner: u64,
    /// Whether the client does not read, so that a removed task may still have its slot.
    pub(crate) is_blocked: bool,
    known: Vec<Known>,
    /// Deferred calls that may become tasks.
    candidates: BTreeMap<Ticket, Known>,
    requests: Vec<Request>,
    /// Calls that may have become tasks without the knowledge of the model.
    uncertain: BTreeSet<Ticket>,
    /// The ids of all tasks that the client has read.
    pub(crate) ids: Vec<String>,
}

impl TaskModel {
    /// Records a request of the client. `revision` is the revision of the request. `is_certain` means that the server
    /// reads the whole line, and that no other request has the same id.
    pub(crate) fn record_request(&mut self, value: &Value, revision: Option<Revision>, is_certain: bool) {
        let id = value["id"].to_string();
        self.requests.iter_mut().filter(|it| it.id == id).for_each(|it| it.is_certain = false);
        let Some(method) = value["method"].as_str().filter(|method| method.starts_with("tasks/")) else {
            return;
        };
        let named = value.pointer("/params/taskId").and_then(Value::as_str);
        let may_access = |it: &&Known| {
            it.id.as_deref() == named && named.is_some() && !it.is_removed && it.owner == self.owner
        };
        let task = self.known.iter().position(|it| may_access(&it) && Some(it.revision) == revision);
        let since = task.map_or(0, |task| self.known[task].statuses.len() - 1);
        let is_foreign = named.is_some_and(|named| self.ids.iter().any(|id| id == named))
            && !self.known.iter().any(|it| it.id.as_deref() == named);
        let is_certain = is_certain && !is_foreign;
        self.requests.push(Request { id, method: method.into(), task, since, is_certain });
    }

    /// Records a new task.
    pub(crate) fn create(
        &mut self,
        handle: Handle,
        n: Option<u64>,
        revision: Revision,
    ) -> Result<(), String> {
        let is_new = !self.known.iter().any(|it| it.handle == handle);
        check(is_new, || format!("{handle:?} was used twice"))?;
        self.known.push(self.new_task(handle, n, revision));
        self.check_slots()
    }

    fn new_task(&self, handle: Handle, n: Option<u64>, revision: Revision) -> Known {
        Known {
            n,
            handle,
            id: None,
            revision,
            owner: self.owner,
            statuses: vec!["working"],
            is_removed: false,
            is_kept: false,
            keys: BTreeSet::new(),
            payload: None,
            created: self.now,
            ttl: None,
            read: None,
        }
    }

    /// Records a deferred call. If the server creates tasks automatically, the call may become a task.
    pub(crate) fn defer(&mut self, call: Ticket, n: Option<u64>, revision: Revision) {
        if self.is_automatic {
            let task = self.new_task(Handle::Call(call), n, revision);
            self.candidates.insert(call, task);
        }
    }

    /// Returns whether a deferred call may have become a task that the client has not read.
    pub(crate) fn may_be_unread(&self) -> bool {
        self.is_automatic && (self.is_blocked || !self.candidates.is_empty())
    }

    fn check_slots(&self) -> Result<(), String> {
        let (live, slots) = (self.live(), self.slots.unwrap_or(0));
        check(live <= slots, || format!("{live} tasks are in {slots} slots"))
    }

    fn live(&self) -> usize {
        self.known.iter().filter(|it| !it.is_removed && !it.may_be_gone(self.now)).count()
    }

    /// Checks that the server may refuse to turn a call into a task, because the table of tasks may be full.
    pub(crate) fn refuse(&self) -> Result<(), String> {
        // A deferred call reserves a slot. A removed task has its slot until the client reads.
        let (live, slots) = (self.live(), self.slots.unwrap_or(0));
        check(live >= slots || self.is_automatic || self.is_blocked, || {
            format!("the table is full with {live} tasks in {slots} slots")
        })
    }

    /// Returns whether there may be a task whose id the client has not read.
    fn has_unread(&self) -> bool {
        !self.uncertain.is_empty() || self.known.iter().any(|it| it.id.is_none())
    }

    fn find(&mut self, handle: Handle) -> Option<&mut Known> {
        self.known.iter_mut().find(|it| it.handle == handle)
    }

    /// Returns whether a call has become a task, or may have become a task.
    pub(crate) fn has_call(&self, call: Ticket) -> bool {
        self.uncertain.contains(&call) || self.known.iter().any(|it| it.handle == Handle::Call(call))
    }

    /// Returns whether the server must accept actions of the application on a task.
    pub(crate) fn is_open(&self, handle: Handle) -> bool {
        self.known.iter().any(|it| it.handle == handle && it.is_open())
    }

    /// Returns the tickets of all tasks that the application created, with the numbers of their calls.
    pub(crate) fn tickets(&self) -> Vec<(TaskTicket, Option<u64>)> {
        let ticket = |it: &Known| match it.handle {
            Handle::Task(ticket) => Some((ticket, it.n)),
            Handle::Call(_) => None,
        };
        self.known.iter().filter_map(ticket).collect()
    }

    /// Records the end of a task.
    pub(crate) fn end(&mut self, handle: Handle, status: &'static str) -> Result<(), String> {
        if matches!(handle, Handle::Call(call) if self.uncertain.remove(&call)) {
            return Ok(());
        }
        let task = self.find(handle).filter(|it| it.is_open());
        let task = task.ok_or_else(|| format!("{handle:?} has ended before, and is now {status}"))?;
        task.statuses.push(status);
        task.keys.clear();
        Ok(())
    }

    /// Records that the application ended a task and keeps the result.
    pub(crate) fn keep(&mut self, ticket: TaskTicket) -> Result<(), String> {
        self.end(Handle::Task(ticket), "completed")?;
        self.find(Handle::Task(ticket)).into_iter().for_each(|it| it.is_kept = true);
        Ok(())
    }

    /// Records that a task is removed. `has_expired` means that its time to live must be over.
    pub(crate) fn remove(&mut self, handle: Handle, has_expired: bool) -> Result<(), String> {
        if matches!(handle, Handle::Call(call) if self.uncertain.remove(&call)) {
            return Ok(());
        }
        let now = self.now;
        let task = self.find(handle).filter(|it| !it.is_removed && !it.is_ended_call());
        let task = task.ok_or_else(|| format!("{handle:?} is removed twice, or after its end"))?;
        task.is_removed = true;
        let is_early = has_expired && task.ttl.is_some_and(|ttl| task.created.plus(ttl) > now);
        check(!is_early, || format!("{task:?} expires too early"))
    }

    /// Records a new input request.
    pub(crate) fn require_input(&mut self, ticket: TaskTicket, key: &str) {
        let Some(task) = self.find(Handle::Task(ticket)) else { return };
        task.keys.insert(key.into());
        task.count_input();
    }

    /// Records that the input requests of a task are removed, because the result of the task did not fit.
    pub(crate) fn drop_input(&mut self, ticket: TaskTicket) {
        let Some(task) = self.find(Handle::Task(ticket)) else { return };
        task.keys.clear();
        task.count_input();
    }

    /// Records responses to input requests.
    pub(crate) fn record_input(&mut self, input: &TaskInput<'_>) -> Result<(), String> {
        let handle = Handle::Task(input.task());
        let task = self.find(handle).filter(|it| it.is_open());
        let task = task.ok_or_else(|| format!("input for {handle:?}, which has ended"))?;
        for (key, _) in input.responses() {
            let is_open = task.keys.remove(&key.to_string());
            check(is_open, || format!("a response without an input request: {}", key.raw()))?;
        }
        task.count_input();
        Ok(())
    }

    /// Checks that the application keeps the result that an event requests. Returns the number of the call.
    pub(crate) fn requested(&mut self, ticket: TaskTicket) -> Result<Option<u64>, String> {
        let task = self.find(Handle::Task(ticket)).filter(|it| it.is_kept && !it.is_removed);
        task.map(|it| it.n).ok_or_else(|| format!("{ticket:?} has no result of the application"))
    }

    /// Checks a response of the server. `calls` are the numbers of the requests with the id of the response. `convert`
    /// records that a deferred call has become a task, and returns whether the call was open.
    pub(crate) fn check_response(
        &mut self,
        value: &Value,
        calls: &[u64],
        convert: &mut dyn FnMut(Ticket) -> bool,
    ) -> Result<(), String> {
        let id = value["id"].to_string();
        if let Some(at) = self.requests.iter().position(|it| it.id == id && it.is_certain) {
            let request = self.requests.remove(at);
            return self.check_request(&request, value);
        }
        let result = &value["result"];
        let task = if result["resultType"] == "task" { result } else { &result["task"] };
        // Only a result that creates a task has this member.
        let Some(id) = task["taskId"].as_str() else { return Ok(()) };
        check(!self.ids.iter().any(|known| known == id), || format!("the id {id} was used before"))?;
        self.ids.push(id.into());
        let now = self.now;
        let is_new = |it: &&mut Known| it.id.is_none() && it.n.is_some_and(|n| calls.contains(&n));
        if !self.known.iter_mut().any(|mut it| is_new(&mut it)) {
            let is_own = |it: &Known| it.n.is_some_and(|n| calls.contains(&n));
            let own: Vec<Ticket> =
                self.candidates.iter().filter(|(_, it)| is_own(it)).map(|(call, _)| *call).collect();
            check(!own.is_empty(), || format!("the application did not create the task {id}"))?;
            let Some(call) = own.iter().find(|call| convert(**call)) else {
                // The call or its task ended before the client read this response.
                self.uncertain.extend(own);
                return Ok(());
            };
            self.known.extend(self.candidates.remove(call));
            self.check_slots()?;
        }
        let Some(known) = self.known.iter_mut().find(is_new) else { return Ok(()) };
        known.id = Some(id.into());
        let ttl = task.get("ttlMs").or(task.get("ttl")).and_then(Value::as_u64);
        known.ttl = ttl.map(Millis);
        known.read = Some(now).filter(|_| !self.is_blocked);
        Ok(())
    }

    fn check_request(&mut self, request: &Request, value: &Value) -> Result<(), String> {
        let (error, result, now) = (&value["error"], &value["result"], self.now);
        if !request.is_certain {
            return Ok(());
        }
        let Some(task) = request.task.and_then(|task| self.known.get_mut(task)) else {
            // A request that names no task of this client can have a result only if it is `tasks/list`.
            let is_list = request.method == "tasks/list";
            let named = |it: &Value| it["taskId"].as_str().map(str::to_owned);
            let listed = result["tasks"].as_array().map(|tasks| tasks.iter().filter_map(named).collect());
            let listed: Vec<String> = listed.unwrap_or_default();
            let is_foreign = |id: &String| {
                let known = self.known.iter().find(|it| it.id.as_ref() == Some(id));
                known.map_or(!self.has_unread(), |it| it.owner != self.owner)
            };
            let foreign = listed.iter().find(|id| is_foreign(id));
            check(foreign.is_none() || self.is_blocked, || format!("{foreign:?} has another owner"))?;
            return check(is_list || !error.is_null(), || {
                format!("{} of a task that the client may not access has a result", request.method)
            });
        };
        let message = error["message"].as_str().unwrap_or_default();
        check(task.is_removed || task.may_be_gone(now) || !message.contains("unknown task"), || {
            format!("{} does not find {task:?}", request.method)
        })?;
        let statuses = &task.statuses[request.since..];
        match request.method.as_str() {
            "tasks/get" => {
                if let Some(status) = result["status"].as_str() {
                    check(statuses.contains(&status), || format!("{status} of {task:?}"))?;
                }
                let payload = result.get("result").or(result.get("error"));
                payload.map_or(Ok(()), |payload| check_payload(task, payload))
            }
            "tasks/result" => {
                let is_over = message.contains("expired") || message.contains("cancelled");
                let has_payload = !result.is_null() || error["code"] == 7;
                let may_be_over = task.is_removed || task.may_be_gone(now) || task.status() == "cancelled";
                check(!is_over || may_be_over, || format!("{message}, but it is {task:?}"))?;
                let payload = if result.is_null() { error } else { result };
                if has_payload { check_payload(task, payload) } else { Ok(()) }
            }
            "tasks/cancel" if error.is_null() => {
                let is_stateless = task.revision == Revision::V2026_07_28;
                let status = result["status"].as_str();
                check(is_stateless || status == Some("cancelled"), || {
                    format!("{status:?} of a cancelled task")
                })
            }
            "tasks/cancel" => check(!message.contains("has ended") || !task.is_open(), || {
                format!("the server does not cancel {task:?}")
            }),
            _ => Ok(()),
        }
    }

    /// Checks a notification about a task.
    pub(crate) fn check_notification(&mut self, value: &Value) -> Result<(), String> {
        let params = &value["params"];
        let named = match value["method"].as_str() {
            Some("notifications/tasks" | "notifications/tasks/status") => Some(params),
            Some("notifications/progress") => params.pointer(RELATED_TASK),
            _ => None,
        };
        let Some(named) = named else { return Ok(()) };
        let has_unread = self.has_unread();
        let known = self.known.iter_mut().find(|it| it.id.as_deref() == named["taskId"].as_str());
        let Some(task) = known else {
            return check(has_unread, || format!("the client does not know {params}"));
        };
        if value["method"] == "notifications/progress" {
            return Ok(());
        }
        let status = params["status"].as_str().unwrap_or_default();
        check(task.statuses.contains(&status), || format!("{status} of {task:?}"))?;
        let payload = params.get("result").or(params.get("error"));
        payload.map_or(Ok(()), |payload| check_payload(task, payload))
    }

    /// Returns the number of requests that may wait for the end of a task.
    pub(crate) fn waiting(&self) -> usize {
        let is_open = |it: &&Request| it.task.is_some_and(|task| self.known[task].is_open());
        let waits = |it: &&Request| it.method == "tasks/result" && (is_open(it) || !it.is_certain);
        self.requests.iter().filter(waits).count()
    }

    /// Checks which tasks are open, and that tasks expire in time. `is_open` returns whether the server accepts actions
    /// on a task.
    pub(crate) fn check_idle(&self, is_open: &mut dyn FnMut(TaskTicket) -> bool) -> Result<(), String> {
        for task in &self.known {
            if let Handle::Task(ticket) = task.handle {
                let accepts = is_open(ticket);
                check(accepts == task.is_open(), || format!("open is {accepts} for {task:?}"))?;
            }
            let due = task.read.zip(task.ttl).map(|(read, ttl)| read.plus(ttl));
            let is_late = due.is_some_and(|due| due <= self.now) && !task.is_removed && !task.is_ended_call();
            check(!is_late, || format!("{task:?} has not expired"))?;
        }
        Ok(())
    }

    /// Records the end of a connection. `open` are its deferred requests.
    pub(crate) fn end_connection(&mut self, open: impl Iterator<Item = Ticket>) {
        if self.is_automatic {
            // The client may not have read all output, so a call may have become a task.
            self.uncertain.extend(open);
        }
    }

    /// Records that a new client has restarted the session.
    pub(crate) fn restart(&mut self) {
        for task in &mut self.known {
            task.is_removed |= !self.keeps;
        }
    }

    /// Starts a new connection.
    pub(crate) fn reset(&mut self) {
        self.restart();
        self.owner = 0;
        self.requests.clear();
        self.candidates.clear();
        if !self.keeps {
            self.uncertain.clear();
        }
        for task in &mut self.known {
            if task.revision == Revision::V2025_11_25 {
                task.keys.clear();
                task.count_input();
            }
        }
    }
}

/// Checks that a result belongs to its call, and is equal each time.
fn check_payload(task: &mut Known, payload: &Value) -> Result<(), String> {
    check(matches!(task.status(), "completed" | "failed") || task.is_removed, || {
        format!("a result of {task:?}")
    })?;
    let own = task.n.map(|n| format!("answer of {n}."));
    let text = payload.to_string();
    let is_own = !text.contains("answer of ") || own.is_none_or(|own| text.contains(&own));
    check(is_own, || format!("{text} is the result of another task than {task:?}"))?;
    let first = task.payload.get_or_insert_with(|| payload.clone());
    check(first == payload, || format!("{payload} instead of {first}"))
}
