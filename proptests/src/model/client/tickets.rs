//! Model of a client: open tickets, server requests and permitted messages.
//!
//! Every ticket ends once, with the right response. An id is used for one request only. The client uses only declared
//! capabilities of the server. Each request of the server gets one response, unless the server cancels it.

use std::collections::{BTreeMap, BTreeSet};

use mcp_proto::client::Event;
use mcp_proto::{Era, Outcome, Revision, ServerCapabilities, Ticket};
use serde_json::Value;

use super::super::owed::check;

/// What is known of a request of the server's.
#[derive(Debug, Default)]
struct Asked {
    /// It has to be answered, as it came in a session.
    must: bool,
    /// The application keeps it, or was told that it is taken back.
    deferred: bool,
    gone: bool,
    /// It came when nothing is asked any more.
    silent: bool,
    /// How often it was asked, and answered.
    times: usize,
    answers: usize,
}

/// A request of the application's.
#[derive(Debug, Clone, Copy)]
struct Open {
    n: u64,
    /// It is a subscription, which stays.
    listens: bool,
}

/// All open tickets and requests.
#[derive(Debug, Default)]
pub(crate) struct Tickets {
    open: BTreeMap<Ticket, Open>,
    ended: BTreeSet<Ticket>,
    deferred: BTreeMap<Ticket, String>,
    asked: BTreeMap<String, Asked>,
    /// Ids in `asked` that had no answer at the last rest.
    unanswered: Vec<String>,
    /// How requests have ended, by their numbers.
    pub(crate) ends: Vec<(u64, String)>,
    /// Ids of the client on this connection.
    ids: BTreeSet<String>,
    /// What the server has said it can do, and in which revision; on the wire nothing is said before.
    pub(crate) server: Option<(ServerCapabilities, Revision)>,
}

/// What a method needs.
fn needed(method: &str, revision: Revision) -> Option<ServerCapabilities> {
    Some(match method {
        "tools/call" | "tools/list" => ServerCapabilities::TOOLS,
        "resources/subscribe" | "resources/unsubscribe" => ServerCapabilities::RESOURCES_SUBSCRIBE,
        "resources/list" | "resources/read" | "resources/templates/list" => ServerCapabilities::RESOURCES,
        "prompts/list" | "prompts/get" => ServerCapabilities::PROMPTS,
        // In the first revision no server could say so.
        "completion/complete" if revision == Revision::V2024_11_05 => return None,
        "completion/complete" => ServerCapabilities::COMPLETIONS,
        "logging/setLevel" => ServerCapabilities::LOGGING,
        _ => return None,
    })
}

impl Tickets {
    pub(crate) fn begun(&mut self, ticket: Ticket, n: u64, listens: bool) -> Result<(), String> {
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

    /// The application was asked, and keeps it.
    pub(crate) fn deferred(&mut self, ticket: Ticket, id: String) -> Result<(), String> {
        self.asked.entry(id.clone()).or_default().deferred = true;
        let new = !self.ended.contains(&ticket) && self.deferred.insert(ticket, id).is_none();
        check(new, || format!("{ticket:?} was used before"))
    }

    /// The application keeps it no more: it was answered, or will not be.
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

    /// The server asks. `in_session`: it has to be answered.
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

    /// The server cancels its request: there may be an answer, but there need not be one.
    pub(crate) fn take_back(&mut self, id: &str) {
        if let Some(asked) = self.asked.get_mut(id) {
            asked.must = false;
        }
    }

    fn end(&mut self, ticket: Ticket) -> Result<u64, String> {
        let n = self.open.remove(&ticket);
        self.ended.insert(ticket);
        n.map(|open| open.n).ok_or_else(|| format!("{ticket:?} has ended before, or never began"))
    }

    /// The application hears of something.
    pub(crate) fn event(&mut self, event: &Event<'_>) -> Result<(), String> {
        let page = |ticket, last, page: String, tickets: &mut Tickets| {
            let n = tickets.open.get(&ticket).map(|open| open.n);
            let Some(n) = n else { return Err(format!("a page for {ticket:?}, which has ended")) };
            if last {
                tickets.end(ticket)?;
            }
            is_of(n, &page)
        };
        match event {
            Event::Response(end) => {
                let n = self.end(end.ticket())?;
                self.ends.push((n, format!("{:?}", end.outcome())));
                if let Outcome::Result(result) = end.outcome() {
                    is_of(n, result.raw())?;
                }
                Ok(())
            }
            Event::Tools(it) => page(it.ticket(), it.is_last(), it.raw().to_string(), self),
            Event::Resources(it) => page(it.ticket(), it.is_last(), it.raw().to_string(), self),
            Event::Templates(it) => page(it.ticket(), it.is_last(), it.raw().to_string(), self),
            Event::Prompts(it) => page(it.ticket(), it.is_last(), it.raw().to_string(), self),
            Event::Progress(progress) => self.known(progress.ticket()),
            Event::InputRequired(it) => self.known(it.ticket()),
            Event::Acknowledged(it) => self.known(it.ticket()),
            Event::Changed { subscription: Some(ticket), .. }
            | Event::Updated { subscription: Some(ticket), .. } => self.known(*ticket),
            Event::Cancelled { ticket, .. } => self.undeferred(*ticket, true),
            Event::Expired(ticket) => self.undeferred(*ticket, false),
            _ => Ok(()),
        }
    }

    fn known(&self, ticket: Ticket) -> Result<(), String> {
        check(self.is_open(ticket), || format!("{ticket:?} is not open"))
    }

    /// The client has written a line. The number of a request that can be answered: its id, method, number.
    pub(crate) fn written(&mut self, line: &str) -> Result<Option<(String, String, Option<u64>)>, String> {
        let value: Value = serde_json::from_str(line).map_err(|error| format!("no JSON: {error}"))?;
        check(value["jsonrpc"] == "2.0", || "`jsonrpc` is missing".into())?;
        let (id, method) =
            (value.get("id").map(Value::to_string), value.get("method").and_then(Value::as_str));
        let Some(method) = method else { return self.answers(&value, id).map(|()| None) };
        let stateless = value.pointer("/params/_meta/io.modelcontextprotocol~1protocolVersion").is_some();
        let connects = matches!(method, "initialize" | "server/discover");
        let Some(id) = id else {
            if method == "notifications/cancelled" {
                let id = value["params"]["requestId"].to_string();
                return check(self.ids.contains(&id), || format!("{id} was never asked")).map(|()| None);
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
                format!("{method} was not declared")
            })?;
            check(is_stateless || method != "subscriptions/listen", || {
                "a session has no such method".into()
            })?;
        }
        Ok(Some((id, method.into(), value.pointer("/params/_meta/n").and_then(Value::as_u64))))
    }

    fn answers(&mut self, value: &Value, id: Option<String>) -> Result<(), String> {
        let is_error = value.get("error").is_some();
        check(is_error != value.get("result").is_some(), || "an answer is a result or an error".into())?;
        let asked = id.as_ref().and_then(|id| self.asked.get_mut(id));
        let Some(asked) = asked else {
            return Err("nobody has asked that: a client never answers noise".into());
        };
        asked.answers += 1;
        check(asked.answers <= asked.times && (!asked.gone || asked.times > 1), || {
            "nobody waits for that answer".into()
        })?;
        check(!asked.silent, || "a client of the stateless era answers nothing".into())
    }

    /// Everything that could be read was read, and everything that was written has gone.
    pub(crate) fn at_rest(&mut self, pending: usize) -> Result<(), String> {
        let asked = &self.asked;
        self.unanswered.retain(|id| asked.get(id).is_some_and(|asked| asked.answers == 0));
        for id in &self.unanswered {
            let due = asked.get(id).is_some_and(|asked| asked.must && !asked.gone && !asked.deferred);
            check(!due, || format!("{id} has no answer"))?;
        }
        let open = self.open.len() + self.deferred.len();
        check(open == pending, || format!("{pending} requests are in flight, {open} are open"))
    }

    /// The connection is over, or the server has said nothing for long enough.
    pub(crate) fn over(&self) -> Result<(), String> {
        let left = self.open.values().filter(|open| !open.listens).count();
        check(left == 0, || format!("{left} requests have not ended"))?;
        check(self.deferred.is_empty(), || format!("{:?} are deferred at the end", self.deferred))
    }

    /// A new connection: what was deferred is taken back, as the application will hear.
    pub(crate) fn reconnect(&mut self) {
        *self = Tickets {
            open: std::mem::take(&mut self.open),
            ended: std::mem::take(&mut self.ended),
            deferred: std::mem::take(&mut self.deferred),
            ends: std::mem::take(&mut self.ends),
            ..Tickets::default()
        };
    }

    /// A new connection, and nothing of the old one.
    pub(crate) fn reset(&mut self) {
        self.ended.extend(self.open.keys().chain(self.deferred.keys()));
        (self.open, self.deferred) = (BTreeMap::new(), BTreeMap::new());
        self.reconnect();
    }
}

/// Whether a result is the answer to that request.
fn is_of(n: u64, result: &str) -> Result<(), String> {
    let right = result.contains(&super::text::words(n)) || !result.contains("answer of ");
    check(right, || format!("request {n} ends with the answer to another one: {result}"))
}
