//! A client's connection at work: what the handles ask for, and what comes of it.

use std::collections::{HashMap, VecDeque};
use std::mem;
use std::sync::Arc;

use mcp_proto::client::{Event, Outcome, RequestFailure};
use mcp_proto::json::Json;
use mcp_proto::{Client, Millis, SendError, Ticket};

use crate::Wake;
use crate::client_shared::{ClientShared, Command};
use crate::error::{CallError, ConnectError, PeerError};
use crate::input_response::Needed;
use crate::options::millis;
use crate::owned::{Notification, Progress, ServerDetails};
use crate::pending::{Answer, Pending};
use crate::request::Request;
use crate::server_request::{Ask, Asking, InputResponse};

/// So many requests of the server's may wait for the host at once; and so many things may be needed for one of its own.
pub(crate) const ASKED: usize = 32;

/// A client's connection at work. It belongs to whoever owns the machine, whose loop is this:
///
/// ```ignore
/// loop {
///     let until = session.advance(&mut client, now());
///     match /* move bytes, until then at the latest */ {
///         Step::Closed => break,
///         Step::Woken if session.is_overdue(now()) => break,
///         Step::Woken => {}
///         Step::Event => match session.event(&mut client) {
///             Some(connected_or_failed) => /* say so */,
///             None => {}
///         }
///     }
/// }
/// ```
///
/// When it is dropped, everybody who waits hears that the connection is over.
pub struct Session {
    pub(crate) hub: Arc<ClientShared>,
    /// How to ask the host what the server asks for.
    pub(crate) ask: Option<Ask>,
    /// Requests that could not be sent yet, and when they are not worth it any more.
    queue: VecDeque<(Arc<Pending>, Millis)>,
    /// There is no room to send.
    pub(crate) blocked: bool,
    /// There is no connection yet, or the one before was lost.
    pub(crate) connecting: bool,
    pub(crate) lost: bool,
    /// When it is lost, another one is tried.
    pub(crate) lasting: bool,
    /// The host wants it to end.
    pub(crate) closing: bool,
    /// Requests that were sent.
    pub(crate) waiting: HashMap<Ticket, Waiting>,
    /// Requests that the server wants to be sent again, when its questions are answered.
    pub(crate) again: Vec<Ticket>,
    /// What the server has asked and the host has not answered.
    pub(crate) asked: HashMap<Ticket, Asking>,
    /// Answers of the host for which there was no room yet.
    pub(crate) answers: VecDeque<(Ticket, InputResponse)>,
    /// When the connection ends, whatever is unsent.
    ends: Option<Millis>,
}

/// A request that was sent.
pub(crate) struct Waiting {
    pub(crate) pending: Arc<Pending>,
    /// The part of a list that has come.
    entries: Vec<String>,
    /// What the server needs to know first.
    pub(crate) round: Vec<Needed>,
}

impl Session {
    /// A connection begins. `wake` gets its owner to call [`advance`](Session::advance).
    #[must_use]
    pub fn new(hub: &Arc<ClientShared>, wake: Wake, ask: Option<Ask>) -> Session {
        hub.begin(wake);
        Session {
            hub: Arc::clone(hub),
            ask,
            queue: VecDeque::new(),
            blocked: false,
            connecting: true,
            lost: false,
            lasting: false,
            closing: false,
            waiting: HashMap::new(),
            again: Vec::new(),
            asked: HashMap::new(),
            answers: VecDeque::new(),
            ends: None,
        }
    }

    /// Does what the handles ask for, as far as there is room. It wants to be called again after every event, when it was
    /// woken, and at the time that comes back.
    pub fn advance(&mut self, client: &mut Client<'_>, now: Millis) -> Option<Millis> {
        for command in self.hub.commands() {
            self.obey(client, command, now);
        }
        self.sort_out(now);
        if !self.blocked && !self.connecting {
            self.blocked = self.send_queued(client);
        }
        self.queue.iter().map(|(_, until)| *until).chain(self.ends).min()
    }

    /// Whether the time is over that closing was given.
    #[must_use]
    pub fn is_overdue(&self, now: Millis) -> bool {
        self.ends.is_some_and(|ends| ends <= now)
    }

    /// Deals with the machine's event. Whether it has connected comes back, once.
    pub fn event(&mut self, client: &mut Client<'_>) -> Option<Result<ServerDetails, ConnectError>> {
        match client.event()? {
            Event::Connected(connected) => {
                let details = ServerDetails::new(connected);
                self.connected();
                return Some(Ok(details));
            }
            Event::ConnectFailed(why) => return Some(Err(ConnectError::from_failure(why))),
            Event::Writable => self.blocked = false,
            event => self.hear(event),
        }
        None
    }

    fn obey(&mut self, client: &mut Client<'_>, command: Command, now: Millis) {
        match command {
            Command::Start(pending) => {
                let until = now.plus(millis(pending.options.timeout));
                self.queue.push_back((pending, until));
            }
            Command::Cancel(ticket, reason) => {
                // If it has ended meanwhile, that is fine, too.
                let _ = client.cancel(ticket, &reason);
                if let Some(waiting) = self.waiting.remove(&ticket) {
                    self.hub.closed_one(&waiting.pending);
                }
            }
            Command::Answer(place, answer) => self.answered(client, place, answer),
            // A server that cannot be told asks when it wants to know.
            Command::RootsChanged => _ = client.roots_changed(),
            Command::Close(within) => {
                client.shutdown(now);
                self.closing = true;
                self.ends = within.map(|time| now.plus(millis(time))).or(self.ends);
            }
        }
    }

    /// Takes out of the queue what nobody waits for, and what could not even be sent in time: once sent, the machine
    /// keeps the time.
    fn sort_out(&mut self, now: Millis) {
        let hub = &self.hub;
        self.queue.retain(|(pending, until)| {
            if *until <= now {
                pending.end(Err(CallError::TimedOut));
            }
            let wanted = pending.is_wanted();
            if !wanted {
                hub.closed_one(pending);
            }
            wanted
        });
    }

    /// Sends what waits to be sent. `true`: there is no room for the rest.
    fn send_queued(&mut self, client: &mut Client<'_>) -> bool {
        if self.send_answers(client) || self.send_again(client) {
            return true;
        }
        while let Some((pending, until)) = self.queue.pop_front() {
            let options = pending.options.machine();
            match pending.request.send(client, options) {
                Ok(ticket) if pending.sent(ticket) => {
                    let waiting = Waiting { pending, entries: Vec::new(), round: Vec::new() };
                    self.waiting.insert(ticket, waiting);
                }
                Ok(ticket) => {
                    let _ = client.cancel(ticket, "");
                }
                Err(why) if why == SendError::Busy || why == SendError::NotConnected && self.waits() => {
                    self.queue.push_front((pending, until));
                    return true;
                }
                Err(why) => {
                    pending.end(Err(refusal(why)));
                    self.hub.closed_one(&pending);
                }
            }
        }
        false
    }

    fn hear(&mut self, event: Event<'_>) {
        let notice = match event {
            Event::Response(finished) => {
                let answer = match finished.outcome() {
                    Outcome::Result(result) => Ok(Answer::Json(result.to_string())),
                    Outcome::Error(error) => Err(CallError::Server(PeerError::from_rpc(error))),
                    Outcome::Failed(RequestFailure::TimedOut) => Err(CallError::TimedOut),
                    Outcome::Failed(RequestFailure::Closed) => Err(CallError::Closed),
                    Outcome::Failed(lost) => Err(CallError::Invalid(lost.to_string())),
                    _ => Err(CallError::Invalid("an unknown kind of answer".into())),
                };
                return self.finish(finished.ticket(), answer);
            }
            Event::Tools(page) => {
                return self.page(page.ticket(), page.is_last(), page.tools().map(|tool| tool.raw()));
            }
            Event::Resources(page) => {
                return self.page(page.ticket(), page.is_last(), page.resources().map(|entry| entry.raw()));
            }
            Event::Templates(page) => {
                return self.page(page.ticket(), page.is_last(), page.templates().map(|entry| entry.raw()));
            }
            Event::Prompts(page) => {
                return self.page(page.ticket(), page.is_last(), page.prompts().map(|entry| entry.raw()));
            }
            Event::Progress(progress) => {
                if let Some(waiting) = self.waiting.get(&progress.ticket()) {
                    waiting.pending.progress(Progress::new(progress));
                }
                return;
            }
            Event::Acknowledged(taken_up) => {
                if let Some(waiting) = self.waiting.get(&taken_up.ticket()) {
                    let answer = Answer::Listening(taken_up.ticket(), taken_up.raw().to_string());
                    waiting.pending.end(Ok(answer));
                }
                return;
            }
            Event::InputRequired(needs) => return self.needs(&needs),
            Event::ServerRequest(asked) => return self.asks(asked),
            Event::Cancelled { ticket, .. } | Event::Expired(ticket) => {
                self.asked.remove(&ticket);
                return;
            }
            Event::Log(log) => Notification::Log {
                level: log.level(),
                logger: log.logger().map(|logger| logger.to_string()),
                data: log.data().to_string(),
            },
            Event::Changed { listed, subscription } => self.told(subscription, Notification::Changed(listed)),
            Event::Updated { resource, subscription } => {
                let uri = resource.uri().map(|uri| uri.to_string()).unwrap_or_default();
                self.told(subscription, Notification::Updated(uri))
            }
            Event::Notification { method, params } => Notification::Other {
                method: method.to_string(),
                params: params.map(|params| params.to_string()),
            },
            Event::PeerUnresponsive => Notification::PeerUnresponsive,
            Event::ProtocolError(fault) => Notification::ProtocolError(fault),
            _ => return,
        };
        self.hub.notice(&notice);
    }

    /// A page of a list has come.
    fn page<'a>(&mut self, ticket: Ticket, last: bool, entries: impl Iterator<Item = Json<'a>>) {
        let Some(waiting) = self.waiting.get_mut(&ticket) else { return };
        let wanted = |entry: &Json<'a>| match &waiting.pending.request {
            Request::Find(name) => {
                entry.get("name").and_then(|known| known.string()).is_some_and(|known| known == **name)
            }
            _ => true,
        };
        waiting.entries.extend(entries.filter(wanted).map(|entry| entry.to_string()));
        let found = matches!(waiting.pending.request, Request::Find(_)) && !waiting.entries.is_empty();
        if found && !last {
            // The next page is not needed any more.
            self.hub.send(Command::Cancel(ticket, String::new()));
        }
        if last || found {
            let entries = mem::take(&mut waiting.entries);
            self.finish(ticket, Ok(Answer::List(entries)));
        }
    }

    /// Tells the subscription that a change belongs to.
    fn told(&self, subscription: Option<Ticket>, notice: Notification) -> Notification {
        let waiting = subscription.and_then(|ticket| self.waiting.get(&ticket));
        if let Some(feed) = waiting.and_then(|waiting| waiting.pending.feed.as_ref()) {
            feed.push(notice.clone());
        }
        notice
    }

    pub(crate) fn finish(&mut self, ticket: Ticket, answer: Result<Answer, CallError>) {
        if let Some(waiting) = self.waiting.remove(&ticket) {
            self.hub.closed_one(&waiting.pending);
            waiting.end(answer);
        }
    }
}

impl Waiting {
    fn end(self, answer: Result<Answer, CallError>) {
        if let Some(feed) = &self.pending.feed {
            feed.end();
        }
        self.pending.end(answer);
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").finish_non_exhaustive()
    }
}

/// Whatever ends it, nobody waits in vain.
impl Drop for Session {
    fn drop(&mut self) {
        let unsent = self.hub.end().into_iter().filter_map(|command| match command {
            Command::Start(pending) => Some(pending),
            _ => None,
        });
        for pending in self.queue.drain(..).map(|(pending, _)| pending).chain(unsent) {
            pending.end(Err(CallError::Closed));
        }
        for (_, waiting) in self.waiting.drain() {
            waiting.end(Err(CallError::Closed));
        }
    }
}

pub(crate) fn refusal(why: SendError) -> CallError {
    match why {
        SendError::NotConnected => CallError::Closed,
        SendError::Full => CallError::Busy,
        SendError::Unsupported => CallError::Unsupported,
        why => CallError::Invalid(why.to_string()),
    }
}
