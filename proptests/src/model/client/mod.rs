//! Runs operations on a client, and checks the results against its model.

mod application;
mod encode;
pub mod operation;
#[cfg(feature = "proptest")]
pub mod strategy;
mod tickets;

use mcp_proto::client::{ClientConfig, Connect, Filter, Options, Reference, Slot, Timeouts};
use mcp_proto::{
    Action, Client, ClientCapabilities, KeepAlive, Level, Millis, Revision, Revisions, SendError, State,
};

use self::application::{AppState, handle_event, reply_to_deferred};
use self::encode::{Encoder, Read};
use self::operation::{Call, Message, Operation, Wait};
use super::encode::name;
use super::transport::{Transport, buffer};
use super::{Movement, Summary, Violation, nth_back, shown};

/// Configuration of a modeled client and its server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Setup {
    /// Length of the receive buffer; less than 400 means 400. If `None`, the buffer holds every line.
    pub rx: Option<u16>,
    /// Length of the transmit buffer beyond 900 bytes.
    pub tx: u16,
    /// Whether the transmit buffer grows.
    pub grown: bool,
    /// Maximum number of requests in flight, modulo 8.
    pub slots: u8,
    /// Bytes of text memory for each slot.
    pub text: u8,
    /// The connect mode modulo 3: stateless, handshake, or automatic.
    pub connect: u8,
    /// Index of the revision that the server's handshake selects.
    pub revision: u8,
    /// Whether `revision` is the only handshake revision that the client supports. The client also supports the
    /// stateless era.
    pub only: bool,
    /// Server capabilities as bits: tools, resources, resource subscriptions, prompts, completions, logging.
    pub can: u8,
    /// Client capabilities as bits: roots, sampling, forms.
    pub declared: u8,
    /// Whether keep-alive is enabled.
    pub pings: bool,
}

const REVISIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// Short timeouts that differ from each other.
const TIMES: Timeouts = Timeouts {
    probe: Millis(300),
    initialize: Millis(3000),
    request: Millis(1000),
    maximum: Millis(5000),
    grace: Millis(200),
};

impl Setup {
    /// Returns the server capabilities as JSON.
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

/// Runs the operations with this byte movement, and ends the connection.
///
/// # Errors
/// The first violation of the model.
pub fn run(setup: Setup, movement: Movement, operations: &[Operation]) -> Result<Summary, Violation> {
    // Each message of the encoder fits in 4096 bytes. Only batches and random bytes may be longer.
    let longest = operations.iter().map(length).max().unwrap_or(0).max(4096);
    let rx = setup.rx.map_or(usize::from(movement.spare) + longest, |rx| rx.max(400).into());
    with_machine(setup, movement, rx, |mut world| {
        let outcome = operations.iter().try_for_each(|operation| world.step(operation));
        let outcome = outcome.and_then(|()| world.finish());
        world.summary(outcome).map_err(|failure| failure.with_setup(&setup))
    })
}

/// Calls `run` with a client whose receive buffer has length `rx`.
pub(super) fn with_machine<T>(
    setup: Setup,
    movement: Movement,
    rx: usize,
    run: impl FnOnce(World<'_>) -> T,
) -> T {
    let connect =
        [Connect::Stateless, Connect::Handshake, Connect::Automatic][usize::from(setup.connect) % 3];
    let info = ClientConfig::new("c", "1").connect(connect).timeouts(TIMES).depth(20);
    let info = info.capabilities(setup.declared()).pages(4).input_limit(4);
    let revision = REVISIONS[usize::from(setup.revision) % REVISIONS.len()];
    let info = match Revision::parse(revision).filter(|_| setup.only) {
        Some(only) => info.revisions(Revisions::only(only).with(Revision::V2026_07_28)),
        None => info,
    };
    let tx = 900 + usize::from(setup.tx);
    let (mut lent_rx, mut lent_tx) = (vec![0; rx], vec![0; tx]);
    let slots = usize::from(setup.slots % 8);
    let (mut slots, mut text) = (vec![Slot::EMPTY; slots], vec![0; slots * usize::from(setup.text)]);
    let client = Client::new(&info, buffer(movement.grown, &mut lent_rx), buffer(setup.grown, &mut lent_tx));
    let mut client = client.expect("the buffers are large enough").in_flight(&mut slots, &mut text);
    if setup.pings {
        client = client.keep_alive(KeepAlive { interval: Millis(400), timeout: Millis(100), close: false });
    }
    let encoder = Encoder { capabilities: setup.can(), revision, ..Encoder::default() };
    run(World {
        client,
        transport: Transport::new(movement, rx, if setup.grown { tx + 64 * 1024 } else { tx }),
        encoder,
        app: AppState::default(),
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
    pub(super) transport: Transport,
    encoder: Encoder,
    pub(super) app: AppState,
    /// Requests of the client by number.
    pub(super) calls: Vec<Call>,
    /// Number of output bytes already checked.
    seen: usize,
    pub(super) closed: bool,
    pub(super) dialogue: Vec<String>,
    polls: usize,
    /// Bytes and operations since the input was last empty. This number limits the number of events.
    pub(super) work: usize,
    longest: usize,
}

impl World<'_> {
    fn send(&mut self, mut line: Vec<u8>) {
        line.retain(|byte| *byte != b'\n');
        self.dialogue.push(shown(">", &line));
        if self.closed || self.transport.ended {
            return;
        }
        line.push(b'\n');
        self.longest = self.longest.max(line.len());
        self.work += line.len();
        self.transport.pending.extend(&line);
    }

    /// Encodes a message. If the message is a request or cancels a request of the server, also records it in the model.
    /// `alone` means that the message is a whole line.
    fn message(&mut self, message: &Message, alone: bool) -> String {
        let text = self.encoder.message(message);
        let in_session = self.client.state() == State::Ready && !self.closed && !self.transport.ended;
        match message {
            Message::Ask(..) => {
                let id = self.encoder.asked.last().cloned().unwrap_or_default();
                self.app.tickets.request(id, in_session && alone);
            }
            Message::CancelRequest(nth) => {
                if let Some(id) = nth_back(&self.encoder.asked, *nth) {
                    self.app.tickets.cancel_request(&id);
                }
            }
            _ => {}
        }
        text
    }

    fn step(&mut self, operation: &Operation) -> Result<(), String> {
        self.work += 1;
        // Run until idle before all operations except these, because the others depend on the state of the connection.
        let free = matches!(
            operation,
            Operation::Bytes(_) | Operation::Send(Message::Odd(_) | Message::Changed(None))
        );
        if !free {
            self.run_until_idle()?;
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
                if let Err(why) = self.perform(operation)? {
                    self.app.events.push(format!("! refused: {why:?}"));
                    self.dialogue.push(format!("! refused: {why:?}"));
                }
                self.run_until_idle()?;
            }
        }
        Ok(())
    }

    pub(super) fn perform(&mut self, operation: &Operation) -> Result<Result<(), SendError>, String> {
        let World { client, app, transport, .. } = self;
        match operation {
            Operation::Begin(call, wait) => return self.begin(*call, *wait),
            Operation::Cancel(nth) => {
                let Some((ticket, _)) = nth_back(&app.begun, *nth) else { return Ok(Ok(())) };
                let (open, outcome) = (app.tickets.is_open(ticket), client.cancel(ticket, "why"));
                if open != outcome.is_ok() {
                    return Err(format!("{ticket:?} is open: {open}; it can be cancelled: {outcome:?}"));
                }
                app.tickets.cancelled(ticket);
                return Ok(outcome);
            }
            Operation::Resume(nth) => {
                let Some((ticket, tool)) = nth_back(&app.needs, *nth) else { return Ok(Ok(())) };
                return Ok(match tool {
                    true => {
                        client.resume_call_json(ticket, "answer", "{}", |answers| answers.roots("r", |_| {}))
                    }
                    false => client.resume(ticket, |_| {}, |answers| answers.roots("r", |_| {})),
                });
            }
            Operation::Later(nth, reaction) => {
                let Some(ticket) = nth_back(&app.deferred, *nth) else { return Ok(Ok(())) };
                let open = app.tickets.is_deferred(ticket);
                let reply = match client.reply(ticket) {
                    Ok(_) if !open => return Err(format!("{ticket:?} has ended, but reply() accepts it")),
                    Ok(reply) => reply,
                    Err(SendError::Gone) if open => {
                        return Err(format!("{ticket:?} is open, but reply() returns Gone"));
                    }
                    Err(why) => return Ok(Err(why)),
                };
                if reply_to_deferred(reply, *reaction) {
                    app.tickets.undeferred(ticket, false)?;
                }
            }
            Operation::Notify(bytes) => {
                let filler = "x".repeat(usize::from(bytes % 1200));
                return Ok(client.notify("example/own", |out| out.field_string("x", &filler)));
            }
            Operation::RootsChanged => return Ok(client.roots_changed()),
            Operation::Time(time) => transport.now = transport.now.plus(Millis((*time).into())),
            Operation::Block(blocked) => transport.blocked = *blocked,
            Operation::EndOfInput => transport.ended = true,
            Operation::Broken => transport.broken = true,
            Operation::Shutdown => client.shutdown(transport.now),
            Operation::Reconnect => {
                client.reconnect();
                app.tickets.reconnect();
                self.start_connection();
            }
            Operation::Reset => {
                client.reset();
                app.tickets.reset();
                self.start_connection();
            }
            Operation::Send(_) | Operation::Batch(_) | Operation::Cut(..) | Operation::Bytes(_) => {}
        }
        Ok(Ok(()))
    }

    fn start_connection(&mut self) {
        self.transport.reset();
        self.encoder.read.clear();
        (self.seen, self.closed) = (self.transport.output.len(), false);
        self.app.events.push("* a new connection".into());
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
                self.app.begun.push((ticket, matches!(call, Call::Tool(..))));
                self.app.tickets.begin(ticket, n, call == Call::Listen)?;
                Ok(())
            }
            Err(why) => Err(why),
        })
    }

    /// Polls until no bytes move and no event is pending. Checks the model.
    pub(super) fn run_until_idle(&mut self) -> Result<(), String> {
        let mut left = 4 * self.work + 100;
        loop {
            self.polls += 1;
            let World { client, app, dialogue, transport, .. } = self;
            match client.poll(transport.now) {
                Action::Closed => break self.close()?,
                Action::Event => {
                    let Some(event) = client.event() else {
                        return Err("poll returned Event, but event() returned None".into());
                    };
                    let known = app.events.len();
                    let outcome = handle_event(event, app);
                    dialogue.extend_from_slice(&app.events[known..]);
                    outcome?;
                    left -= 1;
                    if left == 0 {
                        return Err("the machine emits too many events".into());
                    }
                }
                Action::Io(io) => {
                    if !transport.io(io)? {
                        break;
                    }
                    self.check_output()?;
                }
            }
        }
        let rests = !self.closed && !self.transport.blocked && self.transport.pending.is_empty();
        if !rests {
            return Ok(());
        }
        self.work = 0;
        self.app.tickets.check_idle(self.client.pending())
    }

    /// Checks the lines written since the last call.
    fn check_output(&mut self) -> Result<(), String> {
        while let Some(line) = self.transport.line(&mut self.seen)? {
            self.dialogue.push(shown("<", line.as_bytes()));
            if let Some((id, method, n)) = self.app.tickets.check_line(&line)? {
                self.encoder.read.push(Read { id, method, n, answered: false });
            }
        }
        Ok(())
    }

    fn close(&mut self) -> Result<(), String> {
        if std::mem::replace(&mut self.closed, true) {
            return Ok(());
        }
        self.dialogue.push("! closed".into());
        self.app.events.push("! closed".into());
        if !self.transport.broken && !self.transport.blocked && self.seen < self.transport.output.len() {
            return Err("the last output line is incomplete".into());
        }
        self.app.tickets.check_end()
    }

    fn summary(self, outcome: Result<(), String>) -> Result<Summary, Violation> {
        let World { transport, app, polls, longest, mut dialogue, .. } = self;
        match outcome {
            Ok(()) => Ok(Summary { output: transport.output, events: app.events, longest, polls }),
            Err(why) => {
                dialogue.push(format!("in {:?}", transport.movement));
                Err(Violation { why, dialogue })
            }
        }
    }

    /// Lets time pass without further input, then closes the input.
    fn finish(&mut self) -> Result<(), String> {
        self.dialogue.push("* the end".into());
        self.transport.blocked = false;
        let end = self.transport.now.plus(Millis(25_000));
        while !self.closed && self.transport.now < end {
            self.run_until_idle()?;
            self.transport.now = self.transport.deadline.unwrap_or(end).min(end);
        }
        self.run_until_idle()?;
        self.app.tickets.check_end()?;
        self.transport.ended = true;
        self.run_until_idle()?;
        if self.closed {
            Ok(())
        } else {
            Err(format!("the connection does not close: {:?}", self.client.state()))
        }
    }
}
