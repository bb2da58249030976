//! Model of a server: its open requests, due responses and permitted messages.
//!
//! The model does not interpret methods. It records the lines that may be requests, and the events and actions of the
//! application. Each request with a readable id must get exactly one response: after the request, not after its
//! cancellation, and not the response to another request.

use std::collections::{BTreeMap, VecDeque};

use mcp_proto::server::Event;
use mcp_proto::{ClientCapabilities, Revision, Ticket};
use serde_json::Value;

/// The longest id that every server of a run can keep; longer ones in a run are much longer.
const READABLE: usize = 40;

/// The record of one id.
#[derive(Debug, Default)]
struct Account {
    /// So many answers are due in the end, so many more may come, and so many have come.
    must: usize,
    may: usize,
    answers: usize,
    /// So many of them are the application's to give later; so many were cancelled, perhaps when something was on its way.
    open: usize,
    cancelled: usize,
    /// It is the id of a subscription, which is answered when it ends; a member of a batch, which waits for the others.
    listens: bool,
    batched: bool,
    /// It was a line by itself, too.
    alone: bool,
    /// What the application has answered and was not seen yet; in a batch there may be too little room for it.
    said: Vec<(String, bool)>,
}

/// A deferred request.
#[derive(Debug, Clone)]
struct Open {
    id: String,
    batched: bool,
}

/// All obligations of a server.
#[derive(Debug, Default)]
pub(crate) struct Owed {
    accounts: BTreeMap<String, Account>,
    open: BTreeMap<Ticket, Open>,
    listening: Vec<Ticket>,
    /// Subscriptions that the application has ended; the client may not have read that.
    ending: Vec<Ticket>,
    /// So many subscriptions were cancelled.
    unlistened: usize,
    /// By the number of the request: its id, and whether it is a member of a batch. Bytes by chance may use one twice.
    requests: BTreeMap<u64, Vec<(String, bool)>>,
    handed_out: BTreeMap<u64, usize>,
    /// The ids in each batch.
    batches: Vec<Vec<String>>,
    /// Requests of the server's own.
    asked: Vec<Ticket>,
    pub(crate) asked_ids: Vec<String>,
    /// Sessions whose client was not told yet, and the one that is on the wire.
    connected: VecDeque<(Revision, ClientCapabilities)>,
    session: Option<(Revision, ClientCapabilities)>,
    tokens: BTreeMap<String, String>,
    logs: bool,
    /// Lines that are no messages: so many in a row; errors without an id that are allowed, that came; and answers to
    /// what has an id that may not be one.
    in_a_row: usize,
    nameless_allowed: usize,
    nameless: usize,
    strays: usize,
}

/// An id as the model names it: decoded.
fn readable(id: &Value) -> Option<String> {
    let text = id.to_string();
    (id.is_string() || text.parse::<i64>().is_ok()).then_some(text)
}

pub(crate) fn check(holds: bool, why: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(why()) }
}

impl Owed {
    /// Records a line that the client has sent.
    pub(crate) fn sent(&mut self, line: &[u8], rx: usize) {
        if line.iter().all(|byte| b" \t\r".contains(byte)) {
            return;
        }
        let too_long = line.len() + 1 > rx;
        match serde_json::from_slice::<Value>(line) {
            Ok(Value::Array(members)) if !members.is_empty() => {
                // Whether batches are taken depends on the session: each member is answered, or none.
                self.batches.push(members.iter().filter_map(|member| readable(member.get("id")?)).collect());
                for member in &members {
                    self.sent_message(member, true, false);
                }
                self.bad_line();
                self.in_a_row = if too_long { self.in_a_row } else { 0 };
            }
            Ok(value) => self.sent_message(&value, false, too_long),
            Err(_) => {
                self.strays += 1;
                self.bad_line();
            }
        }
    }

    fn bad_line(&mut self) {
        if self.in_a_row < 8 {
            self.nameless_allowed += 1;
            self.in_a_row += 1;
        }
    }

    fn sent_message(&mut self, value: &Value, batched: bool, too_long: bool) {
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
                let meta = value.pointer("/params/_meta");
                if let Some(n) = meta.and_then(|meta| meta["n"].as_u64()) {
                    self.requests.entry(n).or_default().push((name.clone(), batched));
                }
                if let Some(token) = meta.and_then(|meta| meta.get("progressToken")) {
                    self.tokens.insert(token.to_string(), name);
                }
                self.logs |= meta.is_some_and(|meta| meta.get("io.modelcontextprotocol/logLevel").is_some());
            }
            Some(name) if !responds => self.accounts.entry(name).or_default().may += 1,
            _ => {}
        }
        // An error without an id may be the echo of one, and proves nothing.
        let responds = responds && !is_method && id.and_then(readable).is_some();
        if whole
            && (responds
                || is_method
                    && (id.is_none() || id.and_then(readable).is_some_and(|id| id.len() <= READABLE)))
        {
            self.in_a_row = 0;
        } else {
            self.bad_line();
        }
    }

    /// The application was handed the request with this number, or one without a number.
    pub(crate) fn heard(&mut self, n: Option<u64>) -> Result<(), String> {
        let Some(n) = n else { return Ok(()) };
        let open = self.request(Some(n)).and_then(|(id, _)| self.accounts.get(&id));
        let twice = open.is_some_and(|account| account.open > 0);
        check(!twice, || format!("the id of request {n} is in flight"))?;
        let heard = self.handed_out.entry(n).or_default();
        *heard += 1;
        let sent = self.requests.get(&n).map_or(0, Vec::len);
        check(*heard <= sent, || format!("request {n} was sent {sent} times, and handed out once more"))
    }

    /// The request with this number; it may have come more than once, but not under several ids.
    fn request(&self, n: Option<u64>) -> Option<(String, bool)> {
        let requests = n.and_then(|n| self.requests.get(&n))?;
        let first = requests.first()?;
        requests.iter().all(|other| other == first).then(|| first.clone())
    }

    pub(crate) fn said(&mut self, n: Option<u64>, text: String) {
        if let Some((id, batched)) = self.request(n) {
            self.accounts.entry(id).or_default().said.push((text, !batched));
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

    /// A deferred request is the application's no more. `owed`: it gets its answer.
    pub(crate) fn close(&mut self, ticket: Ticket, owed: bool) -> Result<(), String> {
        if let Some(at) = self.listening.iter().position(|it| *it == ticket) {
            self.listening.remove(at);
            self.unlistened += usize::from(!owed);
            return Ok(());
        }
        if self.ending.contains(&ticket) {
            self.unlistened += usize::from(!owed);
            return Ok(());
        }
        let Some(open) = self.open.remove(&ticket) else { return Err(format!("{ticket:?} is not open")) };
        let account = self.accounts.entry(open.id).or_default();
        account.open = account.open.saturating_sub(1);
        if !owed {
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

    /// What was asked has ended: the application has heard so, or has taken it back. Whether it was open.
    pub(crate) fn asked_is_over(&mut self, ticket: Ticket) -> bool {
        let at = self.asked.iter().position(|it| *it == ticket);
        at.map(|at| self.asked.remove(at)).is_some()
    }

    /// The application hears of what is no request.
    pub(crate) fn event(&mut self, event: &Event<'_>) -> Result<(), String> {
        match event {
            Event::Connected(client) => self.connected.push_back((client.revision(), client.client())),
            Event::Restarted => {
                // What was in flight is never answered; answers that are on their way may still come.
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
                check(self.asked_is_over(ticket), || format!("{ticket:?} had ended, or was never asked"))?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Checks a line that the server has written.
    pub(crate) fn written(&mut self, line: &str) -> Result<(), String> {
        let value: Value = serde_json::from_str(line).map_err(|error| format!("no JSON: {error}"))?;
        match &value {
            Value::Array(answers) => {
                check(!answers.is_empty(), || "an empty batch".into())?;
                answers.iter().try_for_each(|answer| self.answered(answer, &answer.to_string(), true))
            }
            _ if value["jsonrpc"] != "2.0" => Err("`jsonrpc` is missing".into()),
            _ if value.get("method").is_none() => self.answered(&value, line, false),
            _ => self.says(&value),
        }
    }

    fn answered(&mut self, value: &Value, line: &str, batched: bool) -> Result<(), String> {
        let is_error = value.get("error").is_some();
        check(is_error != value.get("result").is_some(), || "an answer is a result or an error".into())?;
        check(!is_error || value["error"]["code"].is_i64() && value["error"]["message"].is_string(), || {
            "a malformed error".into()
        })?;
        let Some(id) = value.get("id").filter(|id| !id.is_null()) else {
            let omits = self.session.is_some_and(|(revision, _)| revision >= Revision::V2025_11_25);
            check(is_error && omits == value.get("id").is_none(), || "an answer without an id".into())?;
            self.nameless += 1;
            // In a batch every member that is none gets one.
            self.nameless_allowed += usize::from(batched);
            let (came, allowed) = (self.nameless, self.nameless_allowed);
            return check(came <= allowed, || {
                format!("{came} errors without an id, at most {allowed} are due")
            });
        };
        let id = id.to_string();
        let account = self.accounts.entry(id.clone()).or_default();
        account.answers += 1;
        let apart = !batched && account.batched && !account.alone;
        // What cannot be read may have any id.
        let apart = apart && (!is_error || self.strays == 0);
        check(!apart, || format!("{id} was asked in a batch, and is answered by itself"))?;
        if let Some(at) = account.said.iter().position(|(said, _)| line.contains(said)) {
            account.said.remove(at);
        } else if !is_error && line.contains("answer of ") {
            return Err("the answer is not what the host has said, or comes twice".into());
        }
        if account.answers > account.must + account.may {
            check(is_error && self.strays > 0, || format!("{id} gets an answer that nobody waits for"))?;
            self.strays -= 1;
            account.may += 1;
        }
        if let Some(revision) = value.pointer("/result/protocolVersion").and_then(Value::as_str) {
            self.session = self.connected.pop_front();
            let told = self.session.is_some_and(|(known, _)| known.as_str() == revision);
            return check(told, || format!("the host did not hear that {revision} was agreed on"));
        }
        Ok(())
    }

    /// Whether it may say that.
    fn says(&mut self, value: &Value) -> Result<(), String> {
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
            let Some((revision, can)) = self.session else { return Err("asked without a session".into()) };
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
            return check(may, || format!("{method} was not declared in {revision}"));
        }
        if let Some(id) = params.pointer("/_meta/io.modelcontextprotocol~1subscriptionId") {
            let id = id.to_string();
            return check(awaited(&id), || format!("{id} is no open subscription"));
        }
        match method {
            "notifications/progress" => {
                let id = self.tokens.get(&params["progressToken"].to_string());
                check(id.is_some_and(|id| awaited(id)), || "progress of nothing that is in flight".into())
            }
            "notifications/message" => {
                check(self.session.is_some() || self.logs, || "nobody wants logs".into())
            }
            "notifications/cancelled" => {
                let id = params["requestId"].to_string();
                let known = self.asked_ids.contains(&id)
                    || self.accounts.get(&id).is_some_and(|account| account.listens);
                check(known, || format!("{id} was never asked"))
            }
            _ => check(self.session.is_some(), || format!("{method} without a session")),
        }
    }

    /// The application ends a subscription, perhaps again.
    pub(crate) fn end_subscription(&mut self, ticket: Ticket) {
        self.listening.retain(|it| *it != ticket);
        self.ending.push(ticket);
    }

    /// The connection ends, and with it every subscription: the application does not have to hear so.
    pub(crate) fn subscriptions_end(&mut self) {
        self.listening.clear();
    }

    /// Everything that could be read was read, and everything that was written has gone: only what the application keeps is open.
    pub(crate) fn at_rest(&self, deferred: Option<usize>) -> Result<(), String> {
        let in_batch = self.open.values().any(|open| open.batched);
        // Whose answer the host keeps must be known.
        let known = self.open.values().all(|open| !open.id.is_empty());
        let (mut fewest, mut most) = (0, 0);
        for (id, account) in &self.accounts {
            let Account { must, may, answers, open, listens: may_listen, batched, said, .. } = account;
            if !known || *batched && in_batch {
                continue;
            }
            if *may_listen {
                fewest += must.saturating_sub(answers + open);
                most += (must + may).saturating_sub(*answers);
                continue;
            }
            check(answers + open >= *must, || {
                format!("{id} has {answers} answers, {must} are due, {open} later")
            })?;
            check(said.iter().all(|(_, surely)| !surely), || {
                format!("{id} was answered with {said:?}, and nothing came")
            })?;
        }
        let is_clear =
            |account: &&Account| account.batched && !account.alone && account.may == 1 && !account.listens;
        for batch in self.batches.iter().filter(|_| known && !in_batch && self.strays == 0) {
            let members: Vec<_> =
                batch.iter().filter_map(|id| self.accounts.get(id)).filter(is_clear).collect();
            let answered = members.iter().filter(|account| account.answers == 1).count();
            let whole = answered == 0 || answered == members.len();
            check(whole, || format!("of the batch {batch:?} only {answered} are answered"))?;
        }
        let due = self.listening.len() + self.unlistened;
        let fits = (fewest..=most).contains(&due);
        check(fits || !known, || {
            format!("{due} subscriptions are open or cancelled, {fewest} to {most} have no answer")
        })?;
        let Some(deferred) = deferred else { return Ok(()) };
        let open = self.open.len() + self.listening.len();
        check(open == deferred, || format!("{deferred} requests are in flight, {open} are open"))
    }

    /// Whether no request is open, in either direction. Subscriptions stay open.
    pub(crate) fn is_idle(&self) -> bool {
        self.open.is_empty() && self.asked.is_empty()
    }

    /// The connection is over: nothing is open any more.
    pub(crate) fn over(&mut self, clean: bool) -> Result<(), String> {
        if clean {
            let left = self.open.len();
            check(left == 0, || format!("{left} requests are open at the end"))?;
            // Each subscription was answered, unless it was cancelled.
            self.subscriptions_end();
            self.at_rest(None)?;
        }
        check(self.asked.is_empty(), || format!("{:?} have not ended with the connection", self.asked))?;
        self.open.clear();
        self.listening.clear();
        Ok(())
    }

    /// A new connection. Numbers go on.
    pub(crate) fn reset(&mut self) {
        *self = Owed::default();
    }
}
