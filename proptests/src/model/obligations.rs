//! Model of a server: its open requests, due responses and permitted messages.
//!
//! The model interprets only a few methods, such as `subscriptions/listen`. The model records the lines that may be
//! requests, and the events and actions of the application. Each request with a readable id must get exactly one
//! response, unless the request is cancelled, its batch is refused, or its session ends. The response must belong to
//! the request, and must not follow the cancellation of the request.

use std::collections::{BTreeMap, VecDeque};

use mcp_proto::server::Event;
use mcp_proto::{ClientCapabilities, Revision, Ticket};
use serde_json::Value;

use super::tasks::RELATED_TASK;
use super::{check, readable};

/// The longest id that every modeled server can store. Ids that are intentionally too long exceed this length by far.
const READABLE: usize = 40;

/// The obligations for one id.
#[derive(Debug, Default)]
struct Account {
    /// Number of responses that the server must send.
    must: usize,
    /// Number of further responses that the server may send.
    may: usize,
    /// Number of responses that the server has sent.
    answers: usize,
    /// Number of deferred requests with this id.
    open: usize,
    /// Number of cancelled requests with this id. Some messages of these requests may still be in transit.
    cancelled: usize,
    /// Whether the id belongs to a subscription. The end of a subscription is its response.
    listens: bool,
    /// Whether a batch has a request with this id. The responses of a batch wait for each other.
    batched: bool,
    /// Whether a request outside of batches has this id.
    alone: bool,
    /// Whether a `tasks/result` request has this id. Such a request may wait for the end of the task.
    waits: bool,
    /// Response texts of the application that the output does not contain yet. `true` means that the output must
    /// contain the text. `false` means that a batch may have no space for the text.
    texts: Vec<(String, bool)>,
}

/// A deferred request.
#[derive(Debug, Clone)]
struct Open {
    id: String,
    batched: bool,
}

/// All obligations of a server.
#[derive(Debug, Default)]
pub(crate) struct Obligations {
    accounts: BTreeMap<String, Account>,
    open: BTreeMap<Ticket, Open>,
    listening: Vec<Ticket>,
    /// Subscriptions that the application has ended. The client may not have read the end yet.
    ending: Vec<Ticket>,
    /// Number of cancelled subscriptions, and of cancelled requests that waited for the end of a task.
    cancelled_subscriptions: usize,
    /// The requests by number: the id of each, and whether a batch contains it. Random bytes may repeat a number.
    requests: BTreeMap<u64, Vec<(String, bool)>>,
    /// The number of events of each request number.
    events_by_number: BTreeMap<u64, usize>,
    /// The readable ids in each batch.
    batches: Vec<Vec<String>>,
    /// Open requests of the server.
    asked: Vec<Ticket>,
    pub(crate) asked_ids: Vec<String>,
    /// Sessions whose `initialize` result the client has not received.
    connected: VecDeque<(Revision, ClientCapabilities)>,
    /// The session that the client knows.
    session: Option<(Revision, ClientCapabilities)>,
    tokens: BTreeMap<String, String>,
    logs: bool,
    /// Number of consecutive lines that are not messages.
    consecutive_bad_lines: usize,
    /// Number of errors without an id that the server may send.
    errors_without_id_allowed: usize,
    /// Number of errors without an id that the server has sent.
    errors_without_id: usize,
    /// Number of lines that are not JSON, without those that have got a response with an id. A server may find an id in
    /// each of these lines, and may respond to this id.
    not_json: usize,
}

impl Obligations {
    /// Records a line sent by the client. `value` is the line as JSON, or `None` if the line is not JSON. `rx` is the
    /// length of the receive buffer.
    pub(crate) fn record_line(&mut self, line: &[u8], value: Option<&Value>, rx: usize) {
        if line.iter().all(|byte| b" \t\r".contains(byte)) {
            return;
        }
        let too_long = line.len() + 1 > rx;
        match value {
            Some(Value::Array(members)) if !members.is_empty() => {
                // The session determines whether the server accepts batches. Either each request of the batch gets a
                // response, or no request does.
                self.batches.push(members.iter().filter_map(|member| readable(member.get("id")?)).collect());
                for member in members {
                    self.record_message(member, true, false);
                }
                self.record_bad_line();
                self.consecutive_bad_lines = if too_long { self.consecutive_bad_lines } else { 0 };
            }
            Some(value) => self.record_message(value, false, too_long),
            None => {
                self.not_json += 1;
                self.record_bad_line();
            }
        }
    }

    fn record_bad_line(&mut self) {
        if self.consecutive_bad_lines < 8 {
            self.errors_without_id_allowed += 1;
            self.consecutive_bad_lines += 1;
        }
    }

    fn record_message(&mut self, value: &Value, batched: bool, too_long: bool) {
        let id = value.get("id");
        let is_method = value.get("method").is_some_and(Value::is_string);
        let responds = value.get("result").is_some() || value.get("error").is_some();
        let named = id.and_then(readable).filter(|id| id.len() <= READABLE);
        let whole = value.get("jsonrpc").is_some_and(|version| version == "2.0") && !too_long;
        match named {
            Some(name) if value.get("method").is_some() => {
                let account = self.accounts.entry(name.clone()).or_default();
                *(if batched { &mut account.may } else { &mut account.must }) += 1;
                account.batched |= batched;
                account.alone |= !batched;
                account.listens |= value["method"] == "subscriptions/listen";
                account.waits |= value["method"] == "tasks/result";
                let meta = value.pointer("/params/_meta");
                if let Some(n) = meta.and_then(|meta| meta["n"].as_u64()) {
                    self.requests.entry(n).or_default().push((name.clone(), batched));
                }
                if let Some(token) = meta.and_then(|meta| meta.get("progressToken")) {
                    self.tokens.insert(token.to_string(), name);
                }
                self.logs |= meta.is_some_and(|meta| meta.get("io.modelcontextprotocol/logLevel").is_some());
            }
            Some(name) if !responds => {
                let account = self.accounts.entry(name).or_default();
                account.may += 1;
                account.alone |= !batched;
            }
            _ => {}
        }
        // A response without a valid id does not prove that the line is a message.
        let responds = responds && !is_method && id.and_then(readable).is_some();
        if whole
            && (responds
                || is_method
                    && (id.is_none() || id.and_then(readable).is_some_and(|id| id.len() <= READABLE)))
        {
            self.consecutive_bad_lines = 0;
        } else {
            self.record_bad_line();
        }
    }

    /// Records the event of request `n`. If `n` is `None`, the request has no number. `has_unread_tasks` means that the
    /// client may not have read that a deferred call became a task. The id of such a call may be in use again.
    pub(crate) fn record_event_of(&mut self, n: Option<u64>, has_unread_tasks: bool) -> Result<(), String> {
        let Some(n) = n else { return Ok(()) };
        let open = self.request(Some(n)).and_then(|(id, _)| self.accounts.get(&id));
        let twice = open.is_some_and(|account| account.open > 0);
        check(!twice || has_unread_tasks, || format!("the id of request {n} is in flight"))?;
        let count = self.events_by_number.entry(n).or_default();
        *count += 1;
        let sent = self.requests.get(&n).map_or(0, Vec::len);
        check(*count <= sent, || format!("request {n} was sent {sent} times, and emitted more often"))
    }

    /// Returns the id of request `n`, and whether this request is in a batch. Returns `None` if no request or different
    /// requests have the number `n`.
    fn request(&self, n: Option<u64>) -> Option<(String, bool)> {
        let requests = n.and_then(|n| self.requests.get(&n))?;
        let first = requests.first()?;
        requests.iter().all(|other| other == first).then(|| first.clone())
    }

    pub(crate) fn expect_text(&mut self, n: Option<u64>, text: String) {
        if let Some((id, batched)) = self.request(n) {
            self.accounts.entry(id).or_default().texts.push((text, !batched));
        }
    }

    pub(crate) fn deferred(&mut self, ticket: Ticket, n: Option<u64>) -> Result<(), String> {
        let (id, batched) = self.request(n).unwrap_or_default();
        self.accounts.entry(id.clone()).or_default().open += 1;
        check(self.open.insert(ticket, Open { id, batched }).is_none(), || {
            format!("{ticket:?} was used twice")
        })
    }

    pub(crate) fn is_open(&self, ticket: Ticket) -> bool {
        self.open.contains_key(&ticket)
    }

    /// Records that a deferred call has become a task. Returns `false` if the call is not open.
    pub(crate) fn convert(&mut self, ticket: Ticket) -> bool {
        let Some(open) = self.open.remove(&ticket) else { return false };
        let account = self.accounts.entry(open.id).or_default();
        account.open = account.open.saturating_sub(1);
        true
    }

    /// Returns the deferred requests.
    pub(crate) fn open(&self) -> impl Iterator<Item = Ticket> + use<'_> {
        self.open.keys().copied()
    }

    /// Returns the numbers of the requests with this id.
    pub(crate) fn numbers(&self, id: &str) -> Vec<u64> {
        let has_id = |requests: &Vec<(String, bool)>| requests.iter().any(|(known, _)| known == id);
        self.requests.iter().filter(|(_, it)| has_id(it)).map(|(n, _)| *n).collect()
    }

    /// Returns whether only one request has this id, and no batch contains the request.
    pub(crate) fn is_unique(&self, id: &str) -> bool {
        self.accounts.get(id).is_some_and(|account| account.must == 1 && account.may == 0)
    }

    /// Returns the revision of the session that the client knows, if any.
    pub(crate) fn revision(&self) -> Option<Revision> {
        self.session.map(|(revision, _)| revision)
    }

    /// Records the end of a deferred request, of a subscription, or of a request that waits for the end of a task.
    /// `is_due` means that the server must still send the response.
    pub(crate) fn close(&mut self, ticket: Ticket, is_due: bool) -> Result<(), String> {
        if let Some(at) = self.listening.iter().position(|it| *it == ticket) {
            self.listening.remove(at);
            self.cancelled_subscriptions += usize::from(!is_due);
            return Ok(());
        }
        if self.ending.contains(&ticket) {
            self.cancelled_subscriptions += usize::from(!is_due);
            return Ok(());
        }
        let Some(open) = self.open.remove(&ticket) else {
            // The application does not know a request that waits for the end of a task.
            let waits = self.accounts.values().any(|account| account.waits);
            self.cancelled_subscriptions += usize::from(!is_due);
            return check(waits, || format!("{ticket:?} is not open"));
        };
        let account = self.accounts.entry(open.id).or_default();
        account.open = account.open.saturating_sub(1);
        if !is_due {
            account.cancelled += 1;
            let count = if open.batched || account.must == 0 { &mut account.may } else { &mut account.must };
            *count = count.saturating_sub(1);
        }
        Ok(())
    }

    pub(crate) fn asked(&mut self, ticket: Ticket) -> Result<(), String> {
        check(!self.asked.contains(&ticket), || format!("{ticket:?} was used twice"))?;
        self.asked.push(ticket);
        Ok(())
    }

    /// Records that a request of the server has ended. Returns `true` if the request was open.
    pub(crate) fn end_asked(&mut self, ticket: Ticket) -> bool {
        let at = self.asked.iter().position(|it| *it == ticket);
        at.map(|at| self.asked.remove(at)).is_some()
    }

    /// Records an event that is not a request.
    pub(crate) fn event(&mut self, event: &Event<'_>) -> Result<(), String> {
        match event {
            Event::Connected(client) => self.connected.push_back((client.revision(), client.client())),
            Event::Restarted => {
                // The server sends no response to open requests anymore, but responses in transit may still arrive.
                self.open.clear();
                self.listening.clear();
                self.batches.clear();
                for account in self.accounts.values_mut() {
                    let due = account.must.saturating_sub(account.answers);
                    (account.must, account.may, account.open) = (account.must - due, account.may + due, 0);
                }
            }
            Event::Listening(listening) => self.listening.push(listening.ticket()),
            Event::Cancelled { ticket, .. } => self.close(*ticket, false)?,
            Event::Expired(ticket) => self.close(*ticket, true)?,
            Event::Response(answered) => {
                let ticket = answered.ticket();
                check(self.end_asked(ticket), || format!("{ticket:?} is no open server request"))?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Checks a line written by the server. `value` is the line as JSON.
    pub(crate) fn check_line(&mut self, line: &str, value: &Value) -> Result<(), String> {
        match value {
            Value::Array(answers) => {
                check(!answers.is_empty(), || "an empty batch".into())?;
                answers.iter().try_for_each(|answer| self.check_response(answer, &answer.to_string(), true))
            }
            _ if value["jsonrpc"] != "2.0" => Err("`jsonrpc` is missing".into()),
            _ if value.get("method").is_none() => self.check_response(value, line, false),
            _ => self.check_sent(value),
        }
    }

    fn check_response(&mut self, value: &Value, line: &str, batched: bool) -> Result<(), String> {
        let is_error = value.get("error").is_some();
        check(is_error != value.get("result").is_some(), || {
            "a response needs either a result or an error".into()
        })?;
        check(!is_error || value["error"]["code"].is_i64() && value["error"]["message"].is_string(), || {
            "a malformed error".into()
        })?;
        let Some(id) = value.get("id").filter(|id| !id.is_null()) else {
            let omits = self.session.is_some_and(|(revision, _)| revision >= Revision::V2025_11_25);
            check(is_error && omits == value.get("id").is_none(), || "a response without an id".into())?;
            self.errors_without_id += 1;
            // In a batch, each member that is not a message may get an error.
            self.errors_without_id_allowed += usize::from(batched);
            let (came, allowed) = (self.errors_without_id, self.errors_without_id_allowed);
            return check(came <= allowed, || {
                format!("{came} errors without an id, at most {allowed} are allowed")
            });
        };
        let id = id.to_string();
        let account = self.accounts.entry(id.clone()).or_default();
        account.answers += 1;
        let apart = !batched && account.batched && !account.alone;
        // A line that is not JSON may contain any id.
        let apart = apart && (!is_error || self.not_json == 0);
        check(!apart, || format!("{id} is a batch request, but its response is not in a batch"))?;
        if let Some(at) = account.texts.iter().position(|(texts, _)| line.contains(texts)) {
            account.texts.remove(at);
        } else if !is_error && !account.waits && !line.contains("\"taskId\"") && line.contains("answer of ") {
            return Err("the application did not send this response, or it is a duplicate".into());
        }
        // This error is the response to a line that is not JSON. A request with the same id also gets its own response.
        if value["error"]["code"] == -32700 && self.not_json > 0 {
            self.not_json -= 1;
            account.may += 1;
        }
        if account.answers > account.must + account.may {
            check(is_error && self.not_json > 0, || format!("{id} has too many responses"))?;
            self.not_json -= 1;
            account.may += 1;
        }
        if let Some(revision) = value.pointer("/result/protocolVersion").and_then(Value::as_str) {
            self.session = self.connected.pop_front();
            let is_known = self.session.is_some_and(|(known, _)| known.as_str() == revision);
            return check(is_known, || format!("no Connected event for revision {revision}"));
        }
        Ok(())
    }

    /// Checks that the server may send this request or notification.
    fn check_sent(&mut self, value: &Value) -> Result<(), String> {
        let (method, params) = (value["method"].as_str().unwrap_or_default(), &value["params"]);
        let awaited = |id: &str| {
            let account = self.accounts.get(id);
            let due = account.map_or(0, |account| account.must + account.may + account.cancelled);
            account.is_some_and(|account| account.answers < due)
        };
        if let Some(id) = value.get("id") {
            let id = id.to_string();
            check(!self.asked_ids.contains(&id), || format!("the id {id} was used before"))?;
            self.asked_ids.push(id);
            let Some((revision, can)) = self.session else {
                return Err("a server request without a session".into());
            };
            let may = match method {
                "roots/list" => can.has(ClientCapabilities::ROOTS),
                "sampling/createMessage" => can.has(ClientCapabilities::SAMPLING),
                "elicitation/create" if params.get("url").is_some() => {
                    can.has(ClientCapabilities::ELICITATION_URL)
                }
                "elicitation/create" => {
                    can.has(ClientCapabilities::ELICITATION_FORM) && revision >= Revision::V2025_06_18
                }
                _ => true,
            };
            return check(may, || format!("the client did not declare {method} in {revision}"));
        }
        if let Some(id) = params.pointer("/_meta/io.modelcontextprotocol~1subscriptionId") {
            let id = id.to_string();
            return check(awaited(&id), || format!("{id} is not an open subscription"));
        }
        match method {
            // `TaskModel` checks the progress of tasks.
            "notifications/progress" if params.pointer(RELATED_TASK).is_some() => Ok(()),
            "notifications/progress" => {
                let id = self.tokens.get(&params["progressToken"].to_string());
                check(id.is_some_and(|id| awaited(id)), || {
                    "progress of a request that is not in flight".into()
                })
            }
            "notifications/message" => check(self.session.is_some() || self.logs, || {
                "a log message without a session or a log level".into()
            }),
            "notifications/cancelled" => {
                let id = params["requestId"].to_string();
                let known = self.asked_ids.contains(&id)
                    || self.accounts.get(&id).is_some_and(|account| account.listens);
                check(known, || format!("{id} is not a known request"))
            }
            _ => check(self.session.is_some(), || format!("{method} without a session")),
        }
    }

    /// Records that the application ends a subscription, possibly again.
    pub(crate) fn end_subscription(&mut self, ticket: Ticket) {
        self.listening.retain(|it| *it != ticket);
        self.ending.push(ticket);
    }

    /// Records that the connection ends all subscriptions. The server need not emit an event for each subscription.
    pub(crate) fn subscriptions_end(&mut self) {
        self.listening.clear();
    }

    /// Checks all obligations when input and output are empty. Only deferred requests, subscriptions, and requests that
    /// wait for the end of a task may be open.
    ///
    /// `deferred` is the number of requests in flight, or `None` if the server has closed. `waiting` is the number of
    /// requests that may wait for the end of a task.
    pub(crate) fn check_idle(&self, deferred: Option<usize>, waiting: usize) -> Result<(), String> {
        let in_batch = self.open.values().any(|open| open.batched);
        // An empty id means that the id of the deferred request is unknown.
        let known = self.open.values().all(|open| !open.id.is_empty());
        let (mut fewest, mut most) = (0, 0);
        for (id, account) in &self.accounts {
            let Account { must, may, answers, open, batched, texts, .. } = account;
            let is_undecided = *batched && in_batch;
            if account.listens || account.waits {
                fewest += if is_undecided { 0 } else { must.saturating_sub(answers + open) };
                most += (must + may).saturating_sub(*answers);
                continue;
            }
            if !known || is_undecided {
                continue;
            }
            check(answers + open >= *must, || {
                format!("{id} has {answers} responses instead of {must}, and {open} deferred requests")
            })?;
            check(texts.iter().all(|(_, surely)| !surely), || format!("{id} lacks the responses {texts:?}"))?;
        }
        let is_clear =
            |account: &&Account| account.batched && !account.alone && account.may == 1 && !account.listens;
        for batch in self.batches.iter().filter(|_| known && !in_batch && self.not_json == 0) {
            let members: Vec<_> =
                batch.iter().filter_map(|id| self.accounts.get(id)).filter(is_clear).collect();
            let answered = members.iter().filter(|account| account.answers == 1).count();
            let whole = answered == 0 || answered == members.len();
            check(whole, || format!("only {answered} requests of the batch {batch:?} have a response"))?;
        }
        let open = self.open.len() + self.listening.len();
        let waits = deferred.map_or(0, |deferred| deferred.saturating_sub(open));
        let due = self.listening.len() + self.cancelled_subscriptions + waits;
        let fits = (fewest..=most).contains(&due);
        check(fits || !known, || {
            format!("{due} subscriptions are open, waiting or cancelled, {fewest} to {most} have no response")
        })?;
        let Some(deferred) = deferred else { return Ok(()) };
        check((open..=open + waiting).contains(&deferred), || {
            format!("{deferred} requests are in flight, {open} are open, and {waiting} may wait for a task")
        })
    }

    /// Returns whether no request is open, in either direction. Subscriptions do not count.
    pub(crate) fn is_idle(&self) -> bool {
        self.open.is_empty() && self.asked.is_empty()
    }

    /// Checks the end of the connection: no request of the server may be open. After a `clean` end, no deferred request
    /// may be open, and no response may be missing.
    pub(crate) fn check_end(&mut self, clean: bool) -> Result<(), String> {
        if clean {
            let left = self.open.len();
            check(left == 0, || format!("{left} requests are open at the end"))?;
            // Each subscription got a response, unless it was cancelled.
            self.subscriptions_end();
            self.check_idle(None, 0)?;
        }
        check(self.asked.is_empty(), || format!("{:?} are open at the end of the connection", self.asked))?;
        self.open.clear();
        self.listening.clear();
        Ok(())
    }

    /// Starts a new connection without obligations.
    pub(crate) fn reset(&mut self) {
        *self = Obligations::default();
    }
}
