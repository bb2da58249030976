//! Runs operations on a server, and checks the results against its model.

use std::sync::OnceLock;

use mcp_proto::input::{CreateMessage, ListRoots, SampleMessage};
use mcp_proto::server::{
    Completion, Feature, Limits, Logging, Prompt, PromptArgument, Prompts, RequestOptions, Resource,
    ResourceTemplate, Resources, SecondInitialize, Server, ServerConfig, Slot, Subscriptions, Tool, Tools,
};
use mcp_proto::{Action, ConfigError, KeepAlive, Level, Millis, SendError, State};

use super::host::{FORM, Notes, PAGE, change, deal, later};
use super::mover::{Mover, buffer};
use super::operation::{Message, Operation, Question};
use super::text::Speaker;
use super::{ConnectFailure, Summary, Way, back, shown};

/// A server as it is set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Setup {
    /// The length of the receive buffer, or what holds the longest line.
    pub rx: Option<u16>,
    /// By so much the transmit buffer, and the room that answers are promised, are longer than they have to be.
    pub tx: u16,
    /// See there.
    pub room: u16,
    /// The transmit buffer is on the heap.
    pub grown: bool,
    /// How many requests can be in flight: at most 7.
    pub slots: u8,
    /// It takes batches.
    pub batches: bool,
    /// It asks whether its client is there.
    pub pings: bool,
    /// It begins anew when a client does.
    pub restarts: bool,
    /// It wants a whole handshake first.
    pub strict: bool,
    /// Its lists are given by the host.
    pub by_host: bool,
}

static TOOLS: Tools<'static> = Tools::new(&[
    Tool::new("answer", "{}"),
    Tool::new("error", "{}"),
    Tool::new("drop", "{}"),
    Tool::new("defer", "{}"),
    Tool::new("busy", "{}"),
    Tool::new("progress", "{}"),
    Tool::new("log", "{}"),
    Tool::new("change", "{}"),
    Tool::new("needs", "{}"),
    Tool::new("lacks", "{}"),
    Tool::new("large", "{}"),
])
.list_changed();
static RESOURCES: Resources<'static> = Resources::new(&[Resource::new("m:log", "log")])
    .templates(&[ResourceTemplate::new("m:{name}", "any")])
    .list_changed()
    .subscribe();
static PROMPTS: Prompts<'static> = Prompts::new(&[
    Prompt::new("answer").arguments(&[PromptArgument::new("free")]),
    Prompt::new("error"),
    Prompt::new("drop"),
    Prompt::new("defer"),
    Prompt::new("needs"),
])
.list_changed();
static OWN: [&dyn Feature; 6] = [&TOOLS, &RESOURCES, &PROMPTS, &Completion, &Logging, &Subscriptions];

static HOST_TOOLS: Tools<'static> = Tools::dynamic_list();
static HOST_RESOURCES: Resources<'static> = Resources::dynamic_list();
static HOST_PROMPTS: Prompts<'static> = Prompts::dynamic_list();
static BY_HOST: [&dyn Feature; 6] =
    [&HOST_TOOLS, &HOST_RESOURCES, &HOST_PROMPTS, &Completion, &Logging, &Subscriptions];

static SAMPLE: CreateMessage<'static> = CreateMessage::new(&[SampleMessage::user("?")], 9);

/// Runs the operations, in this way, and ends the connection.
///
/// # Errors
/// Something happened that may not be.
pub fn run(setup: Setup, way: Way, operations: &[Operation]) -> Result<Summary, ConnectFailure> {
    let rx =
        setup.rx.map_or_else(|| usize::from(way.spare) + longest_line(operations), |rx| rx.max(400).into());
    with(setup, way, rx, |mut world| {
        let outcome = operations.iter().try_for_each(|operation| world.step(operation));
        let outcome = outcome.and_then(|()| world.finish());
        world.summary(outcome).map_err(|failure| failure.with_setup(&setup))
    })
}

/// The smallest transmit buffers, with static lists and with lists by the host. They are measured once, because that takes longer
/// than most runs.
static NEEDED: [OnceLock<usize>; 2] = [OnceLock::new(), OnceLock::new()];

/// A server that has this much room to read to.
pub(super) fn with<T>(setup: Setup, way: Way, rx: usize, run: impl FnOnce(World<'_>) -> T) -> T {
    let mut limits = Limits::DEFAULT.with_depth(20).with_deferred_timeout(Millis(5_000));
    limits.request_timeout = Millis(700);
    let info = ServerConfig::new("s", "1")
        .features(if setup.by_host { &BY_HOST } else { &OWN })
        .limits(limits)
        .second_initialize(if setup.restarts { SecondInitialize::Restart } else { SecondInitialize::Refuse });
    let info = if setup.strict { info.strict_handshake() } else { info };
    let needed = 300
        + NEEDED[usize::from(setup.by_host)].get_or_init(|| {
            match Server::new(&info, &mut vec![0; rx][..], &mut [][..]) {
                Err(ConfigError::TxTooSmall { needed }) => needed,
                other => panic!("a server without room to write to: {other:?}"),
            }
        });
    let (room, tx) =
        (needed + usize::from(setup.room), needed + usize::from(setup.room) + usize::from(setup.tx));
    let (mut lent_rx, mut lent_tx) = (vec![0; rx], vec![0; tx]);
    let slots = usize::from(setup.slots % 8);
    let (mut slots, mut text) = (vec![Slot::EMPTY; slots], vec![0; slots * 48]);
    let (mut batches, mut watches) = (vec![0; 2500], [0; 60]);
    let server = Server::new(&info, buffer(way.grown, &mut lent_rx), buffer(setup.grown, &mut lent_tx));
    let mut server = server.expect("there is enough room").subscription_buffer(&mut watches[..]);
    // By default an answer may use all of a lent buffer.
    if setup.grown || room < tx {
        server = server.reply_room(room).expect("there is enough room");
    }
    if setup.batches {
        server = server.batch_buffer(&mut batches[..]);
    }
    if setup.pings {
        server = server.keep_alive(KeepAlive { interval: Millis(70), timeout: Millis(30), close: false });
    }
    if !slots.is_empty() {
        server = server.in_flight(&mut slots, &mut text).expect("there is enough text");
    }
    run(World {
        server,
        // On the heap an answer is begun as long as less than this is unsent.
        mover: Mover::new(way, rx, if setup.grown { tx + 64 * 1024 } else { tx }),
        rx,
        speaker: Speaker::default(),
        notes: Notes::default(),
        read: 0,
        closed: false,
        dialogue: Vec::new(),
        polls: 0,
        work: 0,
        longest: 0,
    })
}

/// What holds every line.
fn longest_line(operations: &[Operation]) -> usize {
    let mut speaker = Speaker::default();
    let mut line = |operation: &Operation| match operation {
        Operation::Send(message) | Operation::Damaged(message, ..) => speaker.message(message).len(),
        Operation::Batch(messages) => {
            messages.iter().map(|message| speaker.message(message).len() + 1).sum::<usize>() + 2
        }
        Operation::Bytes(bytes) => bytes.len(),
        _ => 0,
    };
    // The ids of what the server asks are not known yet.
    operations.iter().map(&mut line).max().unwrap_or(0).max(400) + 200
}

pub(super) struct World<'b> {
    pub(super) server: Server<'b>,
    pub(super) mover: Mover,
    pub(super) rx: usize,
    speaker: Speaker,
    pub(super) notes: Notes,
    /// So much of the output was looked at.
    read: usize,
    pub(super) closed: bool,
    pub(super) dialogue: Vec<String>,
    polls: usize,
    /// What may take a poll: bytes and operations.
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
        self.notes.owed.sent(&line, self.rx);
        line.push(b'\n');
        self.longest = self.longest.max(line.len());
        self.work += line.len();
        self.mover.pending.extend(&line);
    }

    fn step(&mut self, operation: &Operation) -> Result<(), String> {
        self.work += 1;
        // Where a client begins anew it is clear what was before that and what comes after it; and a server that ends
        // does so whether it has read everything or not.
        let is_new =
            |message: &Message| matches!(message, Message::Request(request) if request.is_initialize());
        let settles = match operation {
            Operation::Send(message) => is_new(message) || message.is_about_asked(),
            Operation::Damaged(..) | Operation::Bytes(_) | Operation::Noise(_) => false,
            _ => true,
        };
        if settles || self.server.state() == State::Draining {
            self.settle()?;
        }
        if let Operation::Noise(count) = operation {
            (0..*count % 20).for_each(|_| self.send(b"nonsense".to_vec()));
            return Ok(());
        }
        match self.line(operation) {
            Some(line) => self.send(line),
            None => {
                self.dialogue.push(format!("* {operation:?}"));
                self.host(operation)?;
            }
        }
        if settles { self.settle() } else { Ok(()) }
    }

    /// What the client sends.
    fn line(&mut self, operation: &Operation) -> Option<Vec<u8>> {
        let speaker = &mut self.speaker;
        Some(match operation {
            Operation::Send(message) => speaker.message(message).into_bytes(),
            Operation::Batch(messages) => {
                let members: Vec<String> =
                    messages.iter().take(6).map(|message| speaker.message(message)).collect();
                format!("[{}]", members.join(",")).into_bytes()
            }
            Operation::Damaged(message, at, byte) => {
                damaged(speaker.message(message).into_bytes(), *at, *byte)
            }
            Operation::Bytes(bytes) => bytes.clone(),
            _ => return None,
        })
    }

    pub(super) fn host(&mut self, operation: &Operation) -> Result<(), String> {
        let World { server, notes, mover, .. } = self;
        let outcome = match operation {
            Operation::Later(nth, behaviour) => {
                let Some((ticket, n)) = back(&notes.later, *nth) else { return Ok(()) };
                let open = notes.owed.is_open(ticket);
                let outcome = match server.reply(ticket) {
                    Ok(_) if !open => return Err(format!("{ticket:?} has ended, and may be answered")),
                    Ok(reply) => later(reply, (ticket, n), *behaviour, notes),
                    Err(SendError::Gone) if open => return Err(format!("{ticket:?} is open, and gone")),
                    Err(why) => Err(why),
                };
                outcome.map(|()| "done".into())
            }
            Operation::Ask(question, during, time) => {
                let mut ask = RequestOptions::DEFAULT;
                if let Some((ticket, _)) = during.and_then(|nth| back(&notes.later, nth)) {
                    ask = ask.during(ticket);
                }
                if *time > 0 {
                    ask = ask.timeout(Millis(u64::from(*time) * 5)).with_progress();
                }
                let asked = match question {
                    Question::Ping => server.ping(ask),
                    Question::Roots => server.request(&ListRoots, ask),
                    Question::Form => server.request(&FORM, ask),
                    Question::Page => server.request(&PAGE, ask),
                    Question::Sample => server.request(&SAMPLE, ask),
                    Question::Raw => server.ask_raw("example/own", ask, |out| out.field_integer("n", 1)),
                };
                asked.and_then(|ticket| {
                    notes.asked.push(ticket);
                    let new = notes.owed.asked(ticket);
                    new.map(|()| "asked".into()).map_err(|_| SendError::Full)
                })
            }
            Operation::TakeBack(nth) => {
                let Some(ticket) = back(&notes.asked, *nth) else { return Ok(()) };
                let outcome = server.cancel(ticket, "why");
                if outcome.is_ok() && !notes.owed.asked_is_over(ticket) {
                    return Err(format!("{ticket:?} is over, and was taken back"));
                }
                outcome.map(|()| "taken back".into())
            }
            Operation::EndSubscription(nth) => {
                let Some(ticket) = back(&notes.listening, *nth) else { return Ok(()) };
                let outcome = server.end_subscription(ticket);
                if outcome.is_ok() {
                    notes.owed.end_subscription(ticket);
                }
                outcome.map(|()| "ended".into())
            }
            Operation::Log(level) => {
                let level = Level::ALL[usize::from(*level) % Level::ALL.len()];
                server.log(level, None, "something").map(|()| "logged".into())
            }
            Operation::Changed(what) => {
                server.changed(change(*what));
                return Ok(());
            }
            Operation::Time(time) => {
                mover.now = mover.now.plus(Millis((*time).into()));
                return Ok(());
            }
            Operation::Block(blocked) => {
                mover.blocked = *blocked;
                return Ok(());
            }
            Operation::EndOfInput => {
                mover.ended = true;
                return Ok(());
            }
            Operation::Broken => {
                mover.broken = true;
                return Ok(());
            }
            Operation::Shutdown(time) => {
                match time {
                    Some(time) => server.shutdown_by(mover.now, mover.now.plus(Millis((*time).into()))),
                    None => server.shutdown(mover.now),
                }
                return Ok(());
            }
            Operation::Reset => {
                server.reset();
                mover.reset();
                notes.owed.reset();
                self.speaker.asked.clear();
                (self.read, self.closed) = (self.mover.output.len(), false);
                self.notes.events.push("* reset".into());
                return Ok(());
            }
            Operation::Send(_)
            | Operation::Batch(_)
            | Operation::Damaged(..)
            | Operation::Bytes(_)
            | Operation::Noise(_) => {
                return Ok(());
            }
        };
        let text = outcome.unwrap_or_else(|why: SendError| format!("not now {why:?}"));
        self.dialogue.push(format!("! {text}"));
        self.notes.events.push(format!("! {text}"));
        Ok(())
    }

    /// Goes on until nothing more can be done at this time, and looks at what has come of it.
    pub(super) fn settle(&mut self) -> Result<(), String> {
        // A poll moves a byte, or says that something has happened: a few times at most for what came in, and for what
        // is in flight.
        let mut left = 4 * self.work + 100;
        loop {
            self.polls += 1;
            let World { server, notes, dialogue, mover, .. } = self;
            match server.poll(mover.now) {
                Action::Closed => break self.closes()?,
                Action::Event => {
                    let Some(event) = server.event() else {
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
        if !rests {
            return Ok(());
        }
        if self.server.state() == State::Draining {
            self.notes.owed.subscriptions_end();
        }
        self.notes.owed.at_rest(Some(self.server.deferred()))
    }

    /// Looks at the lines that were written since.
    fn look(&mut self) -> Result<(), String> {
        while let Some(line) = self.mover.line(&mut self.read)? {
            self.dialogue.push(shown("<", line.as_bytes()));
            self.notes.owed.written(&line)?;
        }
        // Ids are only added, and a new connection clears both lists.
        if self.speaker.asked.len() != self.notes.owed.asked_ids.len() {
            self.speaker.asked.clone_from(&self.notes.owed.asked_ids);
        }
        Ok(())
    }

    fn closes(&mut self) -> Result<(), String> {
        if std::mem::replace(&mut self.closed, true) {
            return Ok(());
        }
        self.dialogue.push("! closed".into());
        self.notes.events.push("! closed".into());
        let clean = !self.mover.broken && !self.mover.blocked && self.mover.pending.is_empty();
        if clean && self.read < self.mover.output.len() {
            return Err("the last line is not whole".into());
        }
        self.notes.owed.over(clean)
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

    /// The client closes its side, and time passes until it is over.
    fn finish(&mut self) -> Result<(), String> {
        self.settle()?;
        self.mover.blocked = false;
        self.dialogue.push("* the end".into());
        self.settle()?;
        self.mover.ended = true;
        self.settle()?;
        for _ in 0..100 {
            if self.closed {
                return Ok(());
            }
            let Some(at) = self.mover.deadline else {
                return Err("nothing is due, and it is not over".into());
            };
            self.mover.now = at;
            self.settle()?;
        }
        Err(format!("it does not end: {:?}", self.server.state()))
    }
}

/// The number by which the host knows a request is not damaged.
fn damaged(whole: Vec<u8>, at: u16, byte: Option<u8>) -> Vec<u8> {
    let at = usize::from(at) % whole.len().max(1);
    let number = |line: &[u8]| {
        let line: serde_json::Value = serde_json::from_slice(line).ok()?;
        Some(line.pointer("/params/_meta/n").cloned())
    };
    let mut line = whole.clone();
    if let (Some(byte), Some(place)) = (byte.filter(|byte| *byte != b'\n'), line.get_mut(at)) {
        *place = byte;
        if number(&line).is_none_or(|n| Some(n) == number(&whole)) {
            return line;
        }
    }
    line.truncate(at);
    line
}
