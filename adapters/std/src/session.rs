//! The thread of a client: it owns the machine, and does what the handles ask for.

use std::collections::{HashMap, VecDeque};
use std::mem;
use std::sync::{Arc, Mutex};

use mcp_proto::client::{Event, Lost, Outcome};
use mcp_proto::{Client, NotNow, Ticket};

use crate::error::{CallError, ConnectError, PeerError};
use crate::owned::{Notice, Progress, ServerDetails, ToolDescription};
use crate::pending::{Answer, Pending, Request};
use crate::pump::{Pump, Step, Waker};
use crate::sync::lock;

/// What the handles and the thread share.
pub(crate) struct Hub {
    state: Mutex<State>,
    limit: usize,
}

#[derive(Default)]
struct State {
    commands: VecDeque<Command>,
    /// Requests that were started and have not ended, as far as the thread knows.
    open: usize,
    waker: Option<Waker>,
    over: bool,
}

enum Command {
    Start(Arc<Pending>),
    Cancel(Ticket, String),
    Close,
}

impl Hub {
    pub(crate) fn new(limit: usize) -> Arc<Hub> {
        Arc::new(Hub { state: Mutex::default(), limit })
    }

    pub(crate) fn start(&self, pending: Arc<Pending>) -> Result<(), CallError> {
        let mut state = lock(&self.state);
        if state.over {
            return Err(CallError::Closed);
        }
        if state.open >= self.limit {
            return Err(CallError::Busy);
        }
        state.open += 1;
        state.send(Command::Start(pending));
        Ok(())
    }

    pub(crate) fn cancel(&self, ticket: Ticket, reason: &str) {
        lock(&self.state).send(Command::Cancel(ticket, reason.into()));
    }

    pub(crate) fn close(&self) {
        lock(&self.state).send(Command::Close);
    }

    pub(crate) fn is_over(&self) -> bool {
        lock(&self.state).over
    }

    fn closed_one(&self) {
        let mut state = lock(&self.state);
        state.open = state.open.saturating_sub(1);
    }
}

impl State {
    fn send(&mut self, command: Command) {
        if !self.over {
            self.commands.push_back(command);
            if let Some(waker) = &self.waker {
                waker.wake();
            }
        }
    }
}

/// A connection at work.
pub(crate) struct Session<'s> {
    pub(crate) hub: &'s Hub,
    pub(crate) notices: &'s dyn Fn(Notice),
    /// Requests that could not be sent yet.
    queue: VecDeque<Arc<Pending>>,
    /// Requests that were sent, with the part of a list that has come.
    waiting: HashMap<Ticket, (Arc<Pending>, Vec<ToolDescription>)>,
    /// Calls that the server wants to be sent again.
    again: Vec<Ticket>,
}

impl<'s> Session<'s> {
    pub(crate) fn new(hub: &'s Hub, notices: &'s dyn Fn(Notice)) -> Session<'s> {
        Session { hub, notices, queue: VecDeque::new(), waiting: HashMap::new(), again: Vec::new() }
    }

    /// Connects. What the server says meanwhile is passed on.
    pub(crate) fn connect(
        &mut self,
        client: &mut Client<'_>,
        pump: &mut Pump,
    ) -> Result<ServerDetails, ConnectError> {
        let mut state = lock(&self.hub.state);
        // An attempt before this one may have ended it.
        (state.over, state.waker) = (false, Some(pump.waker()));
        drop(state);
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
        let commands = mem::take(&mut lock(&self.hub.state).commands);
        for command in commands {
            match command {
                Command::Start(pending) => self.queue.push_back(pending),
                Command::Cancel(ticket, reason) => {
                    // If it has ended meanwhile, that is fine, too.
                    let _ = client.cancel(ticket, &reason);
                    if self.waiting.remove(&ticket).is_some() {
                        self.hub.closed_one();
                    }
                }
                Command::Close => client.shutdown(pump.now()),
            }
        }
    }

    /// Sends what waits to be sent. `true`: there is no room for the rest.
    fn send_queued(&mut self, client: &mut Client<'_>) -> bool {
        if self.send_again(client) {
            return true;
        }
        while let Some(pending) = self.queue.pop_front() {
            if !pending.is_wanted() {
                self.hub.closed_one();
                continue;
            }
            let options = pending.options.machine();
            let sent = match &pending.request {
                Request::Call { tool, arguments } => client.call_json(tool, arguments, options),
                Request::ListTools => client.list_tools(options),
                Request::Ping => client.ping(options),
            };
            match sent {
                Ok(ticket) if pending.sent(ticket) => {
                    self.waiting.insert(ticket, (pending, Vec::new()));
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

    /// Sends what the server wants once more. There is nothing to answer with: the client has declared nothing.
    fn send_again(&mut self, client: &mut Client<'_>) -> bool {
        while let Some(ticket) = self.again.pop() {
            let Some((pending, _)) = self.waiting.get(&ticket) else { continue };
            let Request::Call { tool, arguments } = &pending.request else { continue };
            match client.resume_call_json(ticket, tool, arguments, |_| {}) {
                Ok(()) | Err(NotNow::Gone) => {}
                Err(NotNow::Busy) => {
                    self.again.push(ticket);
                    return true;
                }
                Err(why) => {
                    let _ = client.cancel(ticket, "");
                    self.finish(ticket, Err(refusal(why)));
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
                let Some((_, tools)) = self.waiting.get_mut(&page.ticket()) else { return };
                tools.extend(page.tools().filter_map(ToolDescription::of));
                if page.is_last() {
                    let tools = mem::take(tools);
                    self.finish(page.ticket(), Ok(Answer::Tools(tools)));
                }
                return;
            }
            Event::Progress(progress) => {
                if let Some((pending, _)) = self.waiting.get(&progress.ticket()) {
                    pending.progress(Progress::of(progress));
                }
                return;
            }
            Event::InputRequired(needs) => return self.again.push(needs.ticket()),
            Event::Log(log) => Notice::Log {
                level: log.level(),
                logger: log.logger().map(|logger| logger.to_string()),
                data: log.data().to_string(),
            },
            Event::Changed { listed, .. } => Notice::Changed(listed),
            Event::Updated { resource, .. } => {
                Notice::Updated(resource.uri().map(|uri| uri.to_string()).unwrap_or_default())
            }
            Event::Notification { method, params } => {
                Notice::Other { method: method.to_string(), params: params.map(|params| params.to_string()) }
            }
            Event::Silent => Notice::Silent,
            Event::Fault(fault) => Notice::Fault(fault),
            _ => return,
        };
        (self.notices)(notice);
    }

    fn finish(&mut self, ticket: Ticket, answer: Result<Answer, CallError>) {
        if let Some((pending, _)) = self.waiting.remove(&ticket) {
            self.hub.closed_one();
            pending.end(answer);
        }
    }
}

/// Whatever ends the thread, nobody waits in vain.
impl Drop for Session<'_> {
    fn drop(&mut self) {
        let mut state = lock(&self.hub.state);
        state.over = true;
        state.waker = None;
        let commands = mem::take(&mut state.commands);
        drop(state);
        let unsent = commands.into_iter().filter_map(|command| match command {
            Command::Start(pending) => Some(pending),
            _ => None,
        });
        let waiting = self.waiting.drain().map(|(_, (pending, _))| pending);
        for pending in self.queue.drain(..).chain(unsent).chain(waiting) {
            pending.end(Err(CallError::Closed));
        }
    }
}

fn refusal(why: NotNow) -> CallError {
    match why {
        NotNow::NotConnected => CallError::Closed,
        NotNow::Full => CallError::Busy,
        NotNow::Unsupported => CallError::Unsupported,
        why => CallError::Invalid(why.to_string()),
    }
}
