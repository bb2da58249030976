//! Model of a client: open tickets, requests of the server and permitted messages.
//!
//! Every ticket ends once; the ticket of a subscription may stay open. A result belongs to the request of its ticket.
//! On a connection, the client uses each id for only one request. The client uses only declared capabilities of the
//! server. In a handshake session, each request of the server gets one response, unless the server cancels the request.

use std::collections::{BTreeMap, BTreeSet};

use mcp_proto::client::Event;
use mcp_proto::{Era, Outcome, Revision, ServerCapabilities, Ticket};
use serde_json::Value;

use super::super::check;

/// The record of one id that the server uses for its requests.
#[derive(Debug, Default)]
struct Asked {
    /// Whether the client must respond, because the request belongs to a session.
    must: bool,
    /// Whether the application has deferred the request.
    deferred: bool,
    /// Whether an event reported the cancellation to the application.
    gone: bool,
    /// Whether the request arrived in the stateless era. In that era, servers send no requests.
    silent: bool,
    /// Number of requests with this id.
    times: usize,
    /// Number of responses with this id.
    answers: usize,
}

/// An open request of the application.
#[derive(Debug, Clone, Copy)]
struct Open {
    n: u64,
    /// Whether the request is a subscription. A subscription stays open.
    listens: bool,
}

/// All open requests of both sides.
#[derive(Debug, Default)]
pub(crate) struct Tickets {
    open: BTreeMap<Ticket, Open>,
    ended: BTreeSet<Ticket>,
    deferred: BTreeMap<Ticket, String>,
    asked: BTreeMap<String, Asked>,
    /// Ids in `asked` that had no response at the last check, and ids of later requests.
    unanswered: Vec<String>,
    /// Outcomes of requests, by request number.
    pub(crate) ends: Vec<(u64, String)>,
    /// Request ids used on this connection.
    ids: BTreeSet<String>,
    /// Capabilities and revision of the server. `None` until the connection is established.
    pub(crate) server: Option<(ServerCapabilities, Revision)>,
}

/// Returns the server capability that a method requires, or `None` if the method requires none.
fn needed(method: &str, revision: Revision) -> Option<ServerCapabilities> {
    Some(match method {
        "tools/call" | "tools/list" => ServerCapabilities::TOOLS,
        "resources/subscribe" | "resources/unsubscribe" => ServerCapabilities::RESOURCES_SUBSCRIBE,
        "resources/list" | "resources/read" | "resources/templates/list" => ServerCapabilities::RESOURCES,
        "prompts/list" | "prompts/get" => ServerCapabilities::PROMPTS,
        // The first revision has no capability for completion.
        "completion/complete" if revision == Revision::V2024_11_05 => return None,
        "completion/complete" => ServerCapabilities::COMPLETIONS,
        "logging/setLevel" => ServerCapabilities::LOGGING,
        _ => return None,
    })
}

impl Tickets {
    pub(crate) fn begin(&mut self, ticket: Ticket, n: u64, listens: bool) -> Result<(), String> {
        let new = !self.ended.contains(&ticket) && self.open.insert(ticket, Open { n, listens }).is_none();
        check(new, || format!("{ticket:?} was used before"))
    }

    pub(crate) fn is_open(&self, ticket: Ticket) -> bool {
        self.open.contains_key(&ticket)
    }

    pub(crate) fn is_deferred(&self, ticket: Ticket) -> bool {
        self.deferred.contains_key(&ticket)
    }

    pub(crate) fn cancelled(&mut self, ticket: Ticket) {
        self.open.remove(&ticket);
        self.ended.insert(ticket);
    }

    /// Records that the application has deferred a request of the server.
    pub(crate) fn deferred(&mut self, ticket: Ticket, id: String) -> Result<(), String> {
        self.asked.entry(id.clone()).or_default().deferred = true;
        let new = !self.ended.contains(&ticket) && self.deferred.insert(ticket, id).is_none();
        check(new, || format!("{ticket:?} was used before"))
    }

    /// Records the end of a deferred request. If `gone`, the server has cancelled the request. Otherwise the
    /// application has responded, or the request has expired.
    pub(crate) fn undeferred(&mut self, ticket: Ticket, gone: bool) -> Result<(), String> {
        let Some(id) = self.deferred.remove(&ticket) else {
            return Err(format!("{ticket:?} was not deferred"));
        };
        self.ended.insert(ticket);
        let asked = self.asked.entry(id).or_default();
        asked.deferred = false;
        asked.gone |= gone;
        Ok(())
    }

    /// Records a request of the server. `in_session` means that the client must respond.
    pub(crate) fn request(&mut self, id: String, in_session: bool) {
        let silent = self.server.is_some_and(|(_, revision)| revision.era() == Era::Stateless);
        if !self.unanswered.contains(&id) {
            self.unanswered.push(id.clone());
        }
        let asked = self.asked.entry(id).or_default();
        asked.times += 1;
        asked.must |= in_session;
        asked.silent |= silent;
    }

    /// Records that the server cancels its request. The client may still respond.
    pub(crate) fn cancel_request(&mut self, id: &str) {
        if let Some(asked) = self.asked.get_mut(id) {
            asked.must = false;
        }
    }

    fn end(&mut self, ticket: Ticket) -> Result<u64, String> {
        let n = self.open.remove(&ticket);
        self.ended.insert(ticket);
        n.map(|open| open.n).ok_or_else(|| format!("{ticket:?} is not open"))
    }

    /// Records an event, and checks that its ticket is open.
    pub(crate) fn event(&mut self, event: &Event<'_>) -> Result<(), String> {
        let page = |ticket, last, page: String, tickets: &mut Tickets| {
            let n = tickets.open.get(&ticket).map(|open| open.n);
            let Some(n) = n else { return Err(format!("a page for {ticket:?}, which has ended")) };
            if last {
                tickets.end(ticket)?;
            }
            check_number(n, &page)
        };
        match event {
            Event::Response(end) => {
                let n = self.end(end.ticket())?;
                self.ends.push((n, format!("{:?}", end.outcome())));
                if let Outcome::Result(result) = end.outcome() {
                    check_number(n, result.raw())?;
                }
                Ok(())
            }
            Event::Tools(it) => page(it.ticket(), it.is_last(), it.raw().to_string(), self),
            Event::Resources(it) => page(it.ticket(), it.is_last(), it.raw().to_string(), self),
            Event::Templates(it) => page(it.ticket(), it.is_last(), it.raw().to_string(), self),
            Event::Prompts(it) => page(it.ticket(), it.is_last(), it.raw().to_string(), self),
            Event::Progress(progress) => self.check_open(progress.ticket()),
            Event::InputRequired(it) => self.check_open(it.ticket()),
            Event::Acknowledged(it) => self.check_open(it.ticket()),
            Event::Changed { subscription: Some(ticket), .. }
            | Event::Updated { subscription: Some(ticket), .. } => self.check_open(*ticket),
            Event::Cancelled { ticket, .. } => self.undeferred(*ticket, true),
            Event::Expired(ticket) => self.undeferred(*ticket, false),
            _ => Ok(()),
        }
    }

    fn check_open(&self, ticket: Ticket) -> Result<(), String> {
        check(self.is_open(ticket), || format!("{ticket:?} is not open"))
    }

    /// Checks a line of the client. If the line is a request, returns its id, method and number,
    /// otherwise `None`.
    pub(crate) fn check_line(&mut self, line: &str) -> Result<Option<(String, String, Option<u64>)>, String> {
        let value: Value = serde_json::from_str(line).map_err(|error| format!("invalid JSON: {error}"))?;
        check(value["jsonrpc"] == "2.0", || "`jsonrpc` is missing".into())?;
        let (id, method) =
            (value.get("id").map(Value::to_string), value.get("method").and_then(Value::as_str));
        let Some(method) = method else { return self.check_response(&value, id).map(|()| None) };
        let stateless = value.pointer("/params/_meta/io.modelcontextprotocol~1protocolVersion").is_some();
        let connects = matches!(method, "initialize" | "server/discover");
        let Some(id) = id else {
            if method == "notifications/cancelled" {
                let id = value["params"]["requestId"].to_string();
                return check(self.ids.contains(&id), || format!("{id} is not a known request"))
                    .map(|()| None);
            }
            let answers = method == "notifications/progress";
            return check(self.server.is_some() || answers, || format!("{method} before connecting"))
                .map(|()| None);
        };
        check(self.ids.insert(id.clone()), || format!("the id {id} was used before"))?;
        if !connects {
            let Some((can, revision)) = self.server else {
                return Err(format!("{method} before connecting"));
            };
            let is_stateless = revision.era() == Era::Stateless;
            check(stateless == is_stateless, || format!("{method} is of the wrong era"))?;
            check(needed(method, revision).is_none_or(|needed| can.has(needed)), || {
                format!("the server did not declare {method}")
            })?;
            check(is_stateless || method != "subscriptions/listen", || {
                "a handshake session has no such method".into()
            })?;
        }
        Ok(Some((id, method.into(), value.pointer("/params/_meta/n").and_then(Value::as_u64))))
    }

    fn check_response(&mut self, value: &Value, id: Option<String>) -> Result<(), String> {
        let is_error = value.get("error").is_some();
        check(is_error != value.get("result").is_some(), || {
            "a response needs either a result or an error".into()
        })?;
        // This error is the response to a line that is not JSON. A request with the same id also gets its own response.
        if value["error"]["code"] == -32700 {
            return Ok(());
        }
        let asked = id.as_ref().and_then(|id| self.asked.get_mut(id));
        let Some(asked) = asked else {
            return Err("a response to an id without a request".into());
        };
        asked.answers += 1;
        check(asked.answers <= asked.times && (!asked.gone || asked.times > 1), || {
            "too many responses to one request".into()
        })?;
        check(!asked.silent, || "a stateless client never responds".into())
    }

    /// Checks all obligations when input and output are empty. `pending` is the client's number of requests in flight.
    pub(crate) fn check_idle(&mut self, pending: usize) -> Result<(), String> {
        let asked = &self.asked;
        self.unanswered.retain(|id| asked.get(id).is_some_and(|asked| asked.answers == 0));
        for id in &self.unanswered {
            let due = asked.get(id).is_some_and(|asked| asked.must && !asked.gone && !asked.deferred);
            check(!due, || format!("{id} has no response"))?;
        }
        let open = self.open.len() + self.deferred.len();
        check(open == pending, || format!("{pending} requests are in flight, {open} are open"))
    }

    /// Checks that no request is open at the end, except subscriptions.
    pub(crate) fn check_end(&self) -> Result<(), String> {
        let left = self.open.values().filter(|open| !open.listens).count();
        check(left == 0, || format!("{left} requests have not ended"))?;
        check(self.deferred.is_empty(), || format!("{:?} are deferred at the end", self.deferred))
    }

    /// Starts a new connection. The application still gets a cancellation event for each deferred request.
    pub(crate) fn reconnect(&mut self) {
        *self = Tickets {
            open: std::mem::take(&mut self.open),
            ended: std::mem::take(&mut self.ended),
            deferred: std::mem::take(&mut self.deferred),
            ends: std::mem::take(&mut self.ends),
            ..Tickets::default()
        };
    }

    /// Starts a new connection without any state of the old one.
    pub(crate) fn reset(&mut self) {
        self.ended.extend(self.open.keys().chain(self.deferred.keys()));
        (self.open, self.deferred) = (BTreeMap::new(), BTreeMap::new());
        self.reconnect();
    }
}

/// Checks that a result belongs to request `n`.
fn check_number(n: u64, result: &str) -> Result<(), String> {
    let right = result.contains(&super::encode::response_text(n)) || !result.contains("answer of ");
    check(right, || format!("request {n} got the response to another request: {result}"))
}
