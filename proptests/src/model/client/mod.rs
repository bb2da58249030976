//! Runs operations on a client, and checks the results against its model.

mod host;
pub mod operation;
#[cfg(feature = "proptest")]
pub mod strategy;
mod text;
mod tickets;

use mcp_proto::client::{ClientConfig, Connect, Filter, Options, Reference, Slot, Timeouts};
use mcp_proto::{
    Action, Client, ClientCapabilities, KeepAlive, Level, Millis, Revision, Revisions, SendError, State,
};

use self::host::{Notes, deal, later};
use self::operation::{Call, Message, Operation, Wait};
use self::text::{Read, Speaker};
use super::mover::{Mover, buffer};
use super::text::name;
use super::{ConnectFailure, Summary, Way, back, shown};

/// A client as it is set up, and its server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Setup {
    /// The length of the receive buffer, or what holds the longest line.
    pub rx: Option<u16>,
    /// By so much the transmit buffer is longer than it has to be.
    pub tx: u16,
    /// The transmit buffer is on the heap.
    pub grown: bool,
    /// How many requests can be in flight, at most 7, and how much is kept of each.
    pub slots: u8,
    /// See there.
    pub text: u8,
    /// The era that it tries: the stateless one, the one with a handshake, or both.
    pub connect: u8,
    /// The revision of the server's handshake.
    pub revision: u8,
    /// It speaks no other one, beside the stateless era.
    pub only: bool,
    /// What the server can do, as bits: tools, resources, subscriptions to them, prompts, completions, logging.
    pub can: u8,
    /// What the client has declared, as bits.
    pub declared: u8,
    /// It asks whether its server is there.
    pub pings: bool,
}

const REVISIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// Short times, that can be told apart.
const TIMES: Timeouts = Timeouts {
    probe: Millis(300),
    initialize: Millis(3000),
    request: Millis(1000),
    maximum: Millis(5000),
    grace: Millis(200),
};

impl Setup {
    /// What the server declares.
    fn can(self) -> String {
        let resources =
            if self.can & 4 > 0 { r#""resources":{"subscribe":true}"# } else { r#""resources":{}"# };
        let all = [
            r#""tools":{"listChanged":true}"#,
            resources,
            "",
            r#""prompts":{}"#,
            r#""completions":{}"#,
            r#""logging":{}"#,
        ];
        let can = (0..6).filter(|bit| *bit != 2 && self.can >> bit & 1 == 1).map(|bit| all[bit]);
        format!("{{{}}}", can.collect::<Vec<_>>().join(","))
    }

    fn declared(self) -> ClientCapabilities {
        let all = [
            ClientCapabilities::ROOTS_LIST_CHANGED,
            ClientCapabilities::SAMPLING,
            ClientCapabilities::ELICITATION_FORM,
        ];
        let declared = (0..3).filter(|bit| self.declared >> bit & 1 == 1).map(|bit| all[bit]);
        declared.fold(ClientCapabilities::NONE, ClientCapabilities::with)
    }
}

/// Runs the operations, in this way, and ends the connection.
///
/// # Errors
/// Something happened that may not be.
pub fn run(setup: Setup, way: Way, operations: &[Operation]) -> Result<Summary, ConnectFailure> {
    // No message of a server's is longer, but for what comes by chance.
    let longest = operations.iter().map(length).max().unwrap_or(0).max(4096);
    let rx = setup.rx.map_or(usize::from(way.spare) + longest, |rx| rx.max(400).into());
    with(setup, way, rx, |mut world| {
        let outcome = operations.iter().try_for_each(|operation| world.step(operation));
        let outcome = outcome.and_then(|()| world.finish());
        world.summary(outcome).map_err(|failure| failure.with_setup(&setup))
    })
}

/// A client that has this much room to read to.
pub(super) fn with<T>(setup: Setup, way: Way, rx: usize, run: impl FnOnce(World<'_>) -> T) -> T {
    let connect =
        [Connect::Stateless, Connect::Handshake, Connect::Automatic][usize::from(setup.connect) % 3];
    let info = ClientConfig::new("c", "1").connect(connect).timeouts(TIMES).depth(20);
    let info = info.capabilities(setup.declared()).pages(4).rounds(4);
    let revision = REVISIONS[usize::from(setup.revision) % REVISIONS.len()];
    let info = match Revision::parse(revision).filter(|_| setup.only) {
        Some(only) => info.revisions(Revisions::only(only).with(Revision::V2026_07_28)),
        None => info,
    };
    let tx = 900 + usize::from(setup.tx);
    let (mut lent_rx, mut lent_tx) = (vec![0; rx], vec![0; tx]);
    let slots = usize::from(setup.slots % 8);
    let (mut slots, mut text) = (vec![Slot::EMPTY; slots], vec![0; slots * usize::from(setup.text)]);
    let client = Client::new(&info, buffer(way.grown, &mut lent_rx), buffer(setup.grown, &mut lent_tx));
    let mut client = client.expect("there is enough room").in_flight(&mut slots, &mut text);
    if setup.pings {
        client = client.keep_alive(KeepAlive { interval: Millis(400), timeout: Millis(100), close: false });
    }
    let speaker = Speaker { capabilities: setup.can(), revision, ..Speaker::default() };
    run(World {
        client,
        mover: Mover::new(way, rx, if setup.grown { tx + 64 * 1024 } else { tx }),
        speaker,
        notes: Notes::default(),
        calls: Vec::new(),
        seen: 0,
        closed: false,
        dialogue: Vec::new(),
        polls: 0,
        work: 0,
        longest: 0,
    })
}

fn length(operation: &Operation) -> usize {
    match operation {
        Operation::Batch(messages) => messages.len().min(6) * 4096,
        Operation::Bytes(bytes) => bytes.len() + 1,
        _ => 0,
    }
}

pub(super) struct World<'b> {
    pub(super) client: Client<'b>,
    pub(super) mover: Mover,
    speaker: Speaker,
    pub(super) notes: Notes,
    /// What was begun, by its number.
    pub(super) calls: Vec<Call>,
    /// So much of the output was looked at.
    seen: usize,
    pub(super) closed: bool,
    pub(super) dialogue: Vec<String>,
    polls: usize,
    pub(super) work: usize,
    longest: usize,
}

impl World<'_> {
    fn send(&mut self, mut line: Vec<u8>) {
        line.retain(|byte| *byte != b'\n');
        self.dialogue.push(shown(">", &line));
        if self.closed || self.mover.ended {
            return;
        }
        line.push(b'\n');
        self.longest = self.longest.max(line.len());
        self.work += line.len();
        self.mover.pending.extend(&line);
    }

    /// The text of a message, and what the model has to know of it. `alone`: it is a whole line.
    fn message(&mut self, message: &Message, alone: bool) -> String {
        let text = self.speaker.message(message);
        let in_session = self.client.state() == State::Ready && !self.closed && !self.mover.ended;
        match message {
            Message::Ask(..) => {
                let id = self.speaker.asked.last().cloned().unwrap_or_default();
                self.notes.tickets.request(id, in_session && alone);
            }
            Message::TakeBack(nth) => {
                if let Some(id) = back(&self.speaker.asked, *nth) {
                    self.notes.tickets.take_back(&id);
                }
            }
            _ => {}
        }
        text
    }

    fn step(&mut self, operation: &Operation) -> Result<(), String> {
        self.work += 1;
        // What is sent depends on what was read, but for notifications.
        let free = matches!(
            operation,
            Operation::Bytes(_) | Operation::Send(Message::Odd(_) | Message::Changed(None))
        );
        if !free {
            self.settle()?;
        }
        match operation {
            Operation::Send(message) => {
                let line = self.message(message, true);
                self.send(line.into_bytes());
            }
            Operation::Batch(messages) => {
                let members: Vec<String> =
                    messages.iter().take(6).map(|message| self.message(message, false)).collect();
                self.send(format!("[{}]", members.join(",")).into_bytes());
            }
            Operation::Cut(message, at) => {
                let mut line = self.message(message, false).into_bytes();
                line.truncate(usize::from(*at) % line.len().max(1));
                self.send(line);
            }
            Operation::Bytes(bytes) => self.send(bytes.clone()),
            _ => {
                self.dialogue.push(format!("* {operation:?}"));
                if let Err(why) = self.host(operation)? {
                    self.notes.events.push(format!("! not now {why:?}"));
                    self.dialogue.push(format!("! not now {why:?}"));
                }
                self.settle()?;
            }
        }
        Ok(())
    }

    pub(super) fn host(&mut self, operation: &Operation) -> Result<Result<(), SendError>, String> {
        let World { client, notes, mover, .. } = self;
        match operation {
            Operation::Begin(call, wait) => return self.begin(*call, *wait),
            Operation::Cancel(nth) => {
                let Some((ticket, _)) = back(&notes.begun, *nth) else { return Ok(Ok(())) };
                let (open, outcome) = (notes.tickets.is_open(ticket), client.cancel(ticket, "why"));
                if open != outcome.is_ok() {
                    return Err(format!("{ticket:?} is open: {open}; it can be cancelled: {outcome:?}"));
                }
                notes.tickets.cancelled(ticket);
                return Ok(outcome);
            }
            Operation::Resume(nth) => {
                let Some((ticket, tool)) = back(&notes.needs, *nth) else { return Ok(Ok(())) };
                return Ok(match tool {
                    true => {
                        client.resume_call_json(ticket, "answer", "{}", |answers| answers.roots("r", |_| {}))
                    }
                    false => client.resume(ticket, |_| {}, |answers| answers.roots("r", |_| {})),
                });
            }
            Operation::Later(nth, reaction) => {
                let Some(ticket) = back(&notes.deferred, *nth) else { return Ok(Ok(())) };
                let open = notes.tickets.is_deferred(ticket);
                let reply = match client.reply(ticket) {
                    Ok(_) if !open => return Err(format!("{ticket:?} has ended, and may be answered")),
                    Ok(reply) => reply,
                    Err(SendError::Gone) if open => return Err(format!("{ticket:?} is open, and gone")),
                    Err(why) => return Ok(Err(why)),
                };
                if later(reply, *reaction) {
                    notes.tickets.undeferred(ticket, false)?;
                }
            }
            Operation::Notify(bytes) => {
                let filler = "x".repeat(usize::from(bytes % 1200));
                return Ok(client.notify("example/own", |out| out.field_string("x", &filler)));
            }
            Operation::RootsChanged => return Ok(client.roots_changed()),
            Operation::Time(time) => mover.now = mover.now.plus(Millis((*time).into())),
            Operation::Block(blocked) => mover.blocked = *blocked,
            Operation::EndOfInput => mover.ended = true,
            Operation::Broken => mover.broken = true,
            Operation::Shutdown => client.shutdown(mover.now),
            Operation::Reconnect => {
                client.reconnect();
                notes.tickets.reconnect();
                self.leave();
            }
            Operation::Reset => {
                client.reset();
                notes.tickets.reset();
                self.leave();
            }
            Operation::Send(_) | Operation::Batch(_) | Operation::Cut(..) | Operation::Bytes(_) => {}
        }
        Ok(Ok(()))
    }

    fn leave(&mut self) {
        self.mover.reset();
        self.speaker.read.clear();
        (self.seen, self.closed) = (self.mover.output.len(), false);
        self.notes.events.push("* a new connection".into());
    }

    fn begin(&mut self, call: Call, wait: Wait) -> Result<Result<(), SendError>, String> {
        let n = self.calls.len() as u64;
        let meta = format!(r#"{{"n":{n}}}"#);
        let mut options = Options::DEFAULT.meta(&meta);
        if wait.time > 0 {
            options = options.timeout(Millis(u64::from(wait.time) * 10));
        }
        if wait.progress {
            options = options.with_progress();
        }
        let client = &mut self.client;
        let begun = match call {
            Call::Tool(what, bytes) => {
                let filler = "x".repeat(usize::from(bytes % 1200));
                client.call_with(name(what), options, |out| {
                    out.begin_object();
                    out.field_string("x", &filler);
                    out.end_object();
                })
            }
            Call::List(which) => match which % 4 {
                0 => client.list_tools(options),
                1 => client.list_resources(options),
                2 => client.list_templates(options),
                _ => client.list_prompts(options),
            },
            Call::Read(what) => client.read_resource(&format!("m:{}", name(what)), options),
            Call::Prompt(what) => client.get_prompt(name(what), &[("a", "b")], options),
            Call::Complete(what) => {
                client.complete(Reference::Prompt("answer"), "free", name(what), &[], options)
            }
            Call::Subscribe(true) => client.subscribe("m:log", options),
            Call::Subscribe(false) => client.unsubscribe("m:log", options),
            Call::Listen => client.listen(Filter::NOTHING.tools().uris(&["m:log"]), options),
            Call::Level => client.set_log_level(Level::Info, options),
            Call::Ping => client.ping(options),
            Call::Own => client.request("example/own", options, |out| out.field_integer("a", 1)),
        };
        Ok(match begun {
            Ok(ticket) => {
                self.calls.push(call);
                self.notes.begun.push((ticket, matches!(call, Call::Tool(..))));
                self.notes.tickets.begun(ticket, n, call == Call::Listen)?;
                Ok(())
            }
            Err(why) => Err(why),
        })
    }

    /// Goes on until nothing more can be done at this time, and looks at what has come of it.
    pub(super) fn settle(&mut self) -> Result<(), String> {
        let mut left = 4 * self.work + 100;
        loop {
            self.polls += 1;
            let World { client, notes, dialogue, mover, .. } = self;
            match client.poll(mover.now) {
                Action::Closed => break self.closes()?,
                Action::Event => {
                    let Some(event) = client.event() else {
                        return Err("poll said that there is an event".into());
                    };
                    let known = notes.events.len();
                    let outcome = deal(event, notes);
                    dialogue.extend_from_slice(&notes.events[known..]);
                    outcome?;
                    left -= 1;
                    if left == 0 {
                        return Err("it does not come to rest".into());
                    }
                }
                Action::Io(io) => {
                    if !mover.io(io)? {
                        break;
                    }
                    self.look()?;
                }
            }
        }
        self.work = 0;
        let rests = !self.closed && !self.mover.blocked && self.mover.pending.is_empty();
        if rests { self.notes.tickets.at_rest(self.client.pending()) } else { Ok(()) }
    }

    /// Looks at the lines that were written since.
    fn look(&mut self) -> Result<(), String> {
        while let Some(line) = self.mover.line(&mut self.seen)? {
            self.dialogue.push(shown("<", line.as_bytes()));
            if let Some((id, method, n)) = self.notes.tickets.written(&line)? {
                self.speaker.read.push(Read { id, method, n, answered: false });
            }
        }
        Ok(())
    }

    fn closes(&mut self) -> Result<(), String> {
        if std::mem::replace(&mut self.closed, true) {
            return Ok(());
        }
        self.dialogue.push("! closed".into());
        self.notes.events.push("! closed".into());
        if !self.mover.broken && !self.mover.blocked && self.seen < self.mover.output.len() {
            return Err("the last line is not whole".into());
        }
        self.notes.tickets.over()
    }

    fn summary(self, outcome: Result<(), String>) -> Result<Summary, ConnectFailure> {
        let World { mover, notes, polls, longest, mut dialogue, .. } = self;
        match outcome {
            Ok(()) => Ok(Summary { output: mover.output, events: notes.events, longest, polls }),
            Err(why) => {
                dialogue.push(format!("in {:?}", mover.way));
                Err(ConnectFailure { why, dialogue })
            }
        }
    }

    /// The server says nothing more, time passes, and then it closes its side.
    fn finish(&mut self) -> Result<(), String> {
        self.dialogue.push("* the end".into());
        self.mover.blocked = false;
        let end = self.mover.now.plus(Millis(25_000));
        while !self.closed && self.mover.now < end {
            self.settle()?;
            self.mover.now = self.mover.deadline.unwrap_or(end).min(end);
        }
        self.settle()?;
        self.notes.tickets.over()?;
        self.mover.ended = true;
        self.settle()?;
        if self.closed { Ok(()) } else { Err(format!("it does not end: {:?}", self.client.state())) }
    }
}
