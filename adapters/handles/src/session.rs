//! The thread of a client: it owns the machine, and does what the handles ask for.

use std::collections::{HashMap, VecDeque};
use std::mem;
use std::sync::Arc;

use mcp_proto::client::{Event, Lost, Outcome};
use mcp_proto::json::Json;
use mcp_proto::{Client, NotNow, Ticket};

use crate::answering::Needed;
use crate::error::{CallError, ConnectError, PeerError};
use crate::hub::{Command, Hub};
use crate::owned::{Notice, Progress, ServerDetails};
use crate::pending::{Answer, Pending};
use crate::pump::{Pump, Step};
use crate::question::{Asker, Asking, InputAnswer};

/// So many requests of the server's may wait for the host at once.
pub(crate) const ASKED: usize = 32;

/// A connection at work.
pub(crate) struct Session<'s> {
    pub(crate) hub: &'s Hub,
    pub(crate) notices: &'s dyn Fn(Notice),
    /// Whom to ask what the server asks for.
    pub(crate) asker: Option<&'s Asker>,
    /// Requests that could not be sent yet.
    queue: VecDeque<Arc<Pending>>,
    /// Requests that were sent.
    pub(crate) waiting: HashMap<Ticket, Waiting>,
    /// Requests that the server wants to be sent again, when its questions are answered.
    pub(crate) again: Vec<Ticket>,
    /// What the server has asked and the host has not answered.
    pub(crate) asked: HashMap<Ticket, Asking>,
    /// Answers of the host for which there was no room yet.
    pub(crate) answers: VecDeque<(Ticket, InputAnswer)>,
}

/// A request that was sent.
pub(crate) struct Waiting {
    pub(crate) pending: Arc<Pending>,
    /// The part of a list that has come.
    entries: Vec<String>,
    /// What the server needs to know first.
    pub(crate) round: Vec<Needed>,
}

impl<'s> Session<'s> {
    pub(crate) fn new(hub: &'s Hub, notices: &'s dyn Fn(Notice), asker: Option<&'s Asker>) -> Session<'s> {
        Session {
            hub,
            notices,
            asker,
            queue: VecDeque::new(),
            waiting: HashMap::new(),
            again: Vec::new(),
            asked: HashMap::new(),
            answers: VecDeque::new(),
        }
    }

    /// Connects. What the server says meanwhile is passed on.
    pub(crate) fn connect(
        &mut self,
        client: &mut Client<'_>,
        pump: &mut Pump,
    ) -> Result<ServerDetails, ConnectError> {
        self.hub.begin(pump.waker());
        let mut failure = ConnectError::Closed(None);
        loop {
            match pump.run(client) {
                Step::Closed => return Err(failure),
                Step::Woken => {}
                Step::Event => match client.event() {
                    Some(Event::Connected(connected)) => return Ok(ServerDetails::of(connected)),
                    Some(Event::Failed(why)) => failure = ConnectError::of(why),
                    Some(event) => self.event(event),
                    None => {}
                },
            }
        }
    }

    /// Works until the connection is over.
    pub(crate) fn work(&mut self, client: &mut Client<'_>, pump: &mut Pump) {
        let mut blocked = false;
        loop {
            self.obey(client, pump);
            if !blocked {
                blocked = self.send_queued(client);
            }
            match pump.run(client) {
                Step::Closed => return,
                Step::Woken => {}
                Step::Event => match client.event() {
                    Some(Event::Room) => blocked = false,
                    Some(event) => self.event(event),
                    None => {}
                },
            }
        }
    }

    fn obey(&mut self, client: &mut Client<'_>, pump: &Pump) {
        for command in self.hub.commands() {
            match command {
                Command::Start(pending) => self.queue.push_back(pending),
                Command::Cancel(ticket, reason) => {
                    // If it has ended meanwhile, that is fine, too.
                    let _ = client.cancel(ticket, &reason);
                    if self.waiting.remove(&ticket).is_some() {
                        self.hub.closed_one();
                    }
                }
                Command::Answer(place, answer) => self.answered(client, place, answer),
                // A server that cannot be told asks when it wants to know.
                Command::RootsChanged => _ = client.roots_changed(),
                Command::Close => client.shutdown(pump.now()),
            }
        }
    }

    /// Sends what waits to be sent. `true`: there is no room for the rest.
    fn send_queued(&mut self, client: &mut Client<'_>) -> bool {
        if self.send_answers(client) || self.send_again(client) {
            return true;
        }
        while let Some(pending) = self.queue.pop_front() {
            if !pending.is_wanted() {
                self.hub.closed_one();
                continue;
            }
            let options = pending.options.machine();
            match pending.request.send(client, options) {
                Ok(ticket) if pending.sent(ticket) => {
                    let waiting = Waiting { pending, entries: Vec::new(), round: Vec::new() };
                    self.waiting.insert(ticket, waiting);
                }
                Ok(ticket) => {
                    let _ = client.cancel(ticket, "");
                    self.hub.closed_one();
                }
                Err(NotNow::Busy) => {
                    self.queue.push_front(pending);
                    return true;
                }
                Err(why) => {
                    pending.end(Err(refusal(why)));
                    self.hub.closed_one();
                }
            }
        }
        false
    }

    fn event(&mut self, event: Event<'_>) {
        let notice = match event {
            Event::Finished(finished) => {
                let answer = match finished.outcome() {
                    Outcome::Result(result) => Ok(Answer::Json(result.to_string())),
                    Outcome::Error(error) => Err(CallError::Server(PeerError::of(error))),
                    Outcome::Lost(Lost::TimedOut) => Err(CallError::TimedOut),
                    Outcome::Lost(Lost::Closed) => Err(CallError::Closed),
                    Outcome::Lost(lost) => Err(CallError::Invalid(lost.to_string())),
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
                    waiting.pending.progress(Progress::of(progress));
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
            Event::Asked(asked) => return self.asks(asked),
            Event::Cancelled { ticket, .. } | Event::Expired(ticket) => {
                self.asked.remove(&ticket);
                return;
            }
            Event::Log(log) => Notice::Log {
                level: log.level(),
                logger: log.logger().map(|logger| logger.to_string()),
                data: log.data().to_string(),
            },
            Event::Changed { listed, subscription } => self.told(subscription, Notice::Changed(listed)),
            Event::Updated { resource, subscription } => {
                let uri = resource.uri().map(|uri| uri.to_string()).unwrap_or_default();
                self.told(subscription, Notice::Updated(uri))
            }
            Event::Notification { method, params } => {
                Notice::Other { method: method.to_string(), params: params.map(|params| params.to_string()) }
            }
            Event::Silent => Notice::Silent,
            Event::Fault(fault) => Notice::Fault(fault),
            _ => return,
        };
        self.hub.notice(&notice);
        (self.notices)(notice);
    }

    /// A page of a list has come.
    fn page<'a>(&mut self, ticket: Ticket, last: bool, entries: impl Iterator<Item = Json<'a>>) {
        let Some(waiting) = self.waiting.get_mut(&ticket) else { return };
        waiting.entries.extend(entries.map(|entry| entry.to_string()));
        if last {
            let entries = mem::take(&mut waiting.entries);
            self.finish(ticket, Ok(Answer::List(entries)));
        }
    }

    /// Tells the subscription that a change belongs to.
    fn told(&self, subscription: Option<Ticket>, notice: Notice) -> Notice {
        let waiting = subscription.and_then(|ticket| self.waiting.get(&ticket));
        if let Some(feed) = waiting.and_then(|waiting| waiting.pending.feed.as_ref()) {
            feed.push(notice.clone());
        }
        notice
    }

    pub(crate) fn finish(&mut self, ticket: Ticket, answer: Result<Answer, CallError>) {
        if let Some(waiting) = self.waiting.remove(&ticket) {
            self.hub.closed_one();
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

/// Whatever ends the thread, nobody waits in vain.
impl Drop for Session<'_> {
    fn drop(&mut self) {
        let unsent = self.hub.end().into_iter().filter_map(|command| match command {
            Command::Start(pending) => Some(pending),
            _ => None,
        });
        for pending in self.queue.drain(..).chain(unsent) {
            pending.end(Err(CallError::Closed));
        }
        for (_, waiting) in self.waiting.drain() {
            waiting.end(Err(CallError::Closed));
        }
    }
}

pub(crate) fn refusal(why: NotNow) -> CallError {
    match why {
        NotNow::NotConnected => CallError::Closed,
        NotNow::Full => CallError::Busy,
        NotNow::Unsupported => CallError::Unsupported,
        why => CallError::Invalid(why.to_string()),
    }
}
