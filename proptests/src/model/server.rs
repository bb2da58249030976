//! Runs operations on a server, and checks the results against its model.

use std::sync::OnceLock;

use mcp_proto::input::{CreateMessage, ListRoots, OtherRequest, SampleMessage};
use mcp_proto::server::{
    Limits, RequestOptions, SecondInitialize, Server, ServerConfig, Slot, TaskSlot, TaskTable,
};
use mcp_proto::{Action, ConfigError, KeepAlive, Level, Millis, Revision, SendError, State};
use serde_json::Value;

use super::application::{AppState, FORM, PAGE, act_on_task, change, handle_event, reply_to_deferred};
use super::encode::Encoder;
use super::operation::{Message, Operation, Question};
pub use super::server_setup::Setup;
use super::tasks::Handle;
use super::transport::{Transport, buffer};
use super::{Movement, Summary, Violation, nth_back, shown};

static SAMPLE: CreateMessage<'static> = CreateMessage::new(&[SampleMessage::user("?")], 9);

/// Runs the operations with this byte movement, and ends the connection.
///
/// # Errors
/// The first violation of the model.
pub fn run(setup: Setup, movement: Movement, operations: &[Operation]) -> Result<Summary, Violation> {
    let rx = setup
        .rx
        .map_or_else(|| usize::from(movement.spare) + longest_line(operations), |rx| rx.max(400).into());
    with_machine(setup, movement, rx, |mut world| {
        let outcome = operations.iter().try_for_each(|operation| world.step(operation));
        let outcome = outcome.and_then(|()| world.finish());
        world.summary(outcome).map_err(|failure| failure.with_setup(&setup))
    })
}

/// The minimum lengths of transmit buffers, for static and for dynamic lists, without and with tasks. Each length is
/// measured only once, because the measurement takes longer than most runs.
static NEEDED: [OnceLock<usize>; 4] = [const { OnceLock::new() }; 4];

/// Calls `run` with a server whose receive buffer has length `rx`.
pub(super) fn with_machine<T>(
    setup: Setup,
    movement: Movement,
    rx: usize,
    run: impl FnOnce(World<'_>) -> T,
) -> T {
    let mut limits = Limits::DEFAULT.with_depth(20).with_deferred_timeout(Millis(5_000));
    limits.request_timeout = Millis(700);
    let features = setup.features();
    let info = ServerConfig::new("s", "1")
        .features(&features)
        .limits(limits)
        .second_initialize(if setup.restarts { SecondInitialize::Restart } else { SecondInitialize::Refuse });
    let info = if setup.strict { info.strict_handshake() } else { info };
    let needed =
        300 + NEEDED[usize::from(setup.has_dynamic_lists) + 2 * usize::from(setup.tasks.is_some())]
            .get_or_init(|| match Server::new(&info, &mut vec![0; rx][..], &mut [][..]) {
                Err(ConfigError::TxTooSmall { needed }) => needed,
                other => panic!("unexpected result of a server without a transmit buffer: {other:?}"),
            });
    let (room, tx) =
        (needed + usize::from(setup.room), needed + usize::from(setup.room) + usize::from(setup.tx));
    let (mut lent_rx, mut lent_tx) = (vec![0; rx], vec![0; tx]);
    let slots = usize::from(setup.slots % 8);
    let (mut slots, mut text) = (vec![Slot::EMPTY; slots], vec![0; slots * 48]);
    let (mut batches, mut watches) = (vec![0; 2500], [0; 60]);
    let server = Server::new(&info, buffer(movement.grown, &mut lent_rx), buffer(setup.grown, &mut lent_tx));
    let mut server = server.expect("the buffers are large enough").subscription_buffer(&mut watches[..]);
    // Without `max_reply_size`, a lent buffer guarantees its whole length. So a lent buffer of length `room` needs no
    // `max_reply_size`.
    if setup.grown || room < tx {
        server = server.max_reply_size(room).expect("the buffers are large enough");
    }
    if setup.batches {
        server = server.batch_buffer(&mut batches[..]);
    }
    if setup.pings {
        server = server.keep_alive(KeepAlive { interval: Millis(70), timeout: Millis(30), close: false });
    }
    if !slots.is_empty() {
        server = server.in_flight(&mut slots, &mut text).expect("the text buffer is large enough");
    }
    let count = setup.tasks.map_or(0, |tasks| usize::from(tasks.slots % 4));
    let (mut task_slots, mut task_text) = (vec![TaskSlot::EMPTY; count], vec![0; count * 400]);
    let mut table = TaskTable::new(&mut task_slots, &mut task_text);
    if setup.tasks.is_some_and(|tasks| tasks.keeps) {
        table = table.keep_on_reset();
    }
    if setup.tasks.is_some_and(|tasks| tasks.notifies) {
        table = table.notify_sessions();
    }
    let mut app = AppState::default();
    if let Some(tasks) = setup.tasks {
        server = server.tasks(&mut table);
        app.tasks.slots = Some(count);
        (app.tasks.keeps, app.tasks.is_automatic) = (tasks.keeps, tasks.automatic);
    }
    run(World {
        server,
        // The maximum length of unsent output. With a growing buffer, up to 64 KiB may be unsent before the next
        // response starts.
        transport: Transport::new(movement, rx, if setup.grown { tx + 64 * 1024 } else { tx }),
        rx,
        encoder: Encoder::default(),
        app,
        read: 0,
        closed: false,
        dialogue: Vec::new(),
        polls: 0,
        work: 0,
        longest: 0,
    })
}

/// Returns the length of a receive buffer that holds every line.
fn longest_line(operations: &[Operation]) -> usize {
    let mut encoder = Encoder::default();
    let mut line = |operation: &Operation| match operation {
        Operation::Send(message) | Operation::Damaged(message, ..) => encoder.message(message).len(),
        Operation::Batch(messages) => {
            messages.iter().map(|message| encoder.message(message).len() + 1).sum::<usize>() + 2
        }
        Operation::Bytes(bytes) => bytes.len(),
        _ => 0,
    };
    // The ids of requests of the server are not known yet, so add a margin.
    operations.iter().map(&mut line).max().unwrap_or(0).max(400) + 200
}

pub(super) struct World<'b> {
    pub(super) server: Server<'b>,
    pub(super) transport: Transport,
    pub(super) rx: usize,
    encoder: Encoder,
    pub(super) app: AppState,
    /// Number of output bytes already checked.
    read: usize,
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
        self.record_line(&line);
        line.push(b'\n');
        self.longest = self.longest.max(line.len());
        self.work += line.len();
        self.transport.pending.extend(&line);
    }

    /// Records a line of the client in the model.
    pub(super) fn record_line(&mut self, line: &[u8]) {
        let AppState { obligations, tasks, .. } = &mut self.app;
        let value = serde_json::from_slice::<Value>(line).ok();
        obligations.record_line(line, value.as_ref(), self.rx);
        let is_whole = line.len() < self.rx;
        let Some(value) = value else { return };
        let members = value.as_array().map_or(std::slice::from_ref(&value), Vec::as_slice);
        for member in members {
            let version = member.pointer("/params/_meta/io.modelcontextprotocol~1protocolVersion");
            let revision = match version {
                Some(version) => version.as_str().and_then(Revision::parse),
                None => obligations.revision(),
            };
            let is_unique = obligations.is_unique(&member["id"].to_string());
            tasks.record_request(member, revision, is_whole && is_unique && !value.is_array());
        }
    }

    fn step(&mut self, operation: &Operation) -> Result<(), String> {
        self.work += 1;
        // Process pending input before most operations: for example before an `initialize`, because `initialize`
        // separates two sessions. Also process pending input if the server is draining, because the server may end
        // before it reads all input.
        let is_new =
            |message: &Message| matches!(message, Message::Request(request) if request.is_initialize());
        let waits = match operation {
            Operation::Send(message) => is_new(message) || message.refers_to_output(),
            Operation::Damaged(..) | Operation::Bytes(_) | Operation::Noise(_) => false,
            _ => true,
        };
        if waits || self.server.state() == State::Draining {
            self.run_until_idle()?;
        }
        if let Operation::Noise(count) = operation {
            (0..*count % 20).for_each(|_| self.send(b"nonsense".to_vec()));
            return Ok(());
        }
        match self.line(operation) {
            Some(line) => self.send(line),
            None => {
                self.dialogue.push(format!("* {operation:?}"));
                self.perform(operation)?;
            }
        }
        if waits { self.run_until_idle() } else { Ok(()) }
    }

    /// Returns the line that the client sends for an operation, if any.
    fn line(&mut self, operation: &Operation) -> Option<Vec<u8>> {
        let encoder = &mut self.encoder;
        Some(match operation {
            Operation::Send(message) => encoder.message(message).into_bytes(),
            Operation::Batch(messages) => {
                let members: Vec<String> =
                    messages.iter().take(6).map(|message| encoder.message(message)).collect();
                format!("[{}]", members.join(",")).into_bytes()
            }
            Operation::Damaged(message, at, byte) => {
                damaged(encoder.message(message).into_bytes(), *at, *byte)
            }
            Operation::Bytes(bytes) => bytes.clone(),
            _ => return None,
        })
    }

    pub(super) fn perform(&mut self, operation: &Operation) -> Result<(), String> {
        let World { server, app, transport, .. } = self;
        let outcome = match operation {
            Operation::Later(nth, behavior) => {
                let Some((ticket, n)) = nth_back(&app.later, *nth) else { return Ok(()) };
                let is_task = app.tasks.is_open(Handle::Call(ticket));
                let open = is_task || app.obligations.is_open(ticket);
                // Skip a deferred call that may have become a task without the knowledge of the client, or whose task
                // has ended.
                if app.tasks.is_automatic && (transport.blocked || app.tasks.has_call(ticket) && !is_task) {
                    return Ok(());
                }
                let outcome = match server.reply(ticket) {
                    Ok(_) if !open => return Err(format!("{ticket:?} has ended, but reply() accepts it")),
                    Ok(reply) => reply_to_deferred(reply, (ticket, n), *behavior, app),
                    Err(SendError::Gone) if open => {
                        return Err(format!("{ticket:?} is open, but reply() returns Gone"));
                    }
                    Err(why) => Err(why),
                };
                outcome.map(|()| "done".into())
            }
            Operation::Ask(question, during, time) => {
                let mut ask = RequestOptions::DEFAULT;
                if let Some((ticket, _)) = during.and_then(|nth| nth_back(&app.later, nth)) {
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
                    Question::Raw => server
                        .request(&OtherRequest::new("example/own", &|out| out.field_integer("n", 1)), ask),
                };
                asked.and_then(|ticket| {
                    app.asked.push(ticket);
                    let new = app.obligations.asked(ticket);
                    new.map(|()| "asked".into()).map_err(|_| SendError::Full)
                })
            }
            Operation::CancelRequest(nth) => {
                let Some(ticket) = nth_back(&app.asked, *nth) else { return Ok(()) };
                let outcome = server.cancel(ticket, "why");
                if outcome.is_ok() && !app.obligations.end_asked(ticket) {
                    return Err(format!("{ticket:?} has ended, but was cancelled"));
                }
                outcome.map(|()| "taken back".into())
            }
            Operation::EndSubscription(nth) => {
                let Some(ticket) = nth_back(&app.listening, *nth) else { return Ok(()) };
                let outcome = server.end_subscription(ticket);
                if outcome.is_ok() {
                    app.obligations.end_subscription(ticket);
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
            Operation::Notify => server
                .notify("notifications/example", |out| out.field_integer("n", 1))
                .map(|()| "notified".into()),
            Operation::Task(nth, action) => {
                let Some(task) = nth_back(&app.tasks.tickets(), *nth) else { return Ok(()) };
                act_on_task(server, task, *action, app)?.map(|()| "done".into())
            }
            Operation::Owner(user) => {
                // The user changes only after the server has read all messages of the previous user.
                if !transport.blocked && transport.pending.is_empty() {
                    app.tasks.owner = u64::from(*user % 3);
                    server.set_user(app.tasks.owner);
                }
                return Ok(());
            }
            Operation::Time(time) => {
                transport.now = transport.now.plus(Millis((*time).into()));
                return Ok(());
            }
            Operation::Block(blocked) => {
                transport.blocked = *blocked;
                return Ok(());
            }
            Operation::EndOfInput => {
                transport.ended = true;
                return Ok(());
            }
            Operation::Broken => {
                transport.broken = true;
                return Ok(());
            }
            Operation::Shutdown(time) => {
                match time {
                    Some(time) => {
                        server.shutdown_by(transport.now, transport.now.plus(Millis((*time).into())))
                    }
                    None => server.shutdown(transport.now),
                }
                return Ok(());
            }
            Operation::Reset => {
                server.reset();
                transport.reset();
                app.tasks.end_connection(app.obligations.open());
                app.tasks.reset();
                app.obligations.reset();
                self.encoder.asked.clear();
                (self.read, self.closed) = (self.transport.output.len(), false);
                self.app.events.push("* reset".into());
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
        let text = outcome.unwrap_or_else(|why: SendError| format!("refused: {why:?}"));
        self.dialogue.push(format!("! {text}"));
        self.app.events.push(format!("! {text}"));
        Ok(())
    }

    /// Polls until no bytes move and no event is pending. Checks the model.
    pub(super) fn run_until_idle(&mut self) -> Result<(), String> {
        // Input and requests in flight limit the number of events.
        let mut left = 4 * self.work + 100;
        loop {
            self.polls += 1;
            let World { server, app, dialogue, transport, .. } = self;
            (app.tasks.now, app.tasks.is_blocked) = (transport.now, transport.blocked);
            match server.poll(transport.now) {
                Action::Closed => break self.close()?,
                Action::Event => {
                    let Some(event) = server.event() else {
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
        if self.server.state() == State::Draining {
            self.app.obligations.subscriptions_end();
        }
        let World { server, app, .. } = self;
        app.tasks.check_idle(&mut |ticket| server.task(ticket).is_ok())?;
        app.obligations.check_idle(Some(server.deferred()), app.tasks.waiting())
    }

    /// Checks the lines written since the last call.
    fn check_output(&mut self) -> Result<(), String> {
        while let Some(line) = self.transport.line(&mut self.read)? {
            self.dialogue.push(shown("<", line.as_bytes()));
            let AppState { obligations, tasks, .. } = &mut self.app;
            let value: Value =
                serde_json::from_str(&line).map_err(|error| format!("invalid JSON: {error}"))?;
            obligations.check_line(&line, &value)?;
            match value.get("method") {
                None => {
                    let calls = obligations.numbers(&value["id"].to_string());
                    tasks.check_response(&value, &calls, &mut |call| obligations.convert(call))?;
                }
                Some(_) => tasks.check_notification(&value)?,
            }
        }
        // Within a connection, the lists of the models only grow. So the encoder copies a list if the lengths differ.
        if self.encoder.asked.len() != self.app.obligations.asked_ids.len() {
            self.encoder.asked.clone_from(&self.app.obligations.asked_ids);
        }
        if self.encoder.tasks.len() != self.app.tasks.ids.len() {
            self.encoder.tasks.clone_from(&self.app.tasks.ids);
        }
        Ok(())
    }

    fn close(&mut self) -> Result<(), String> {
        if std::mem::replace(&mut self.closed, true) {
            return Ok(());
        }
        self.dialogue.push("! closed".into());
        self.app.events.push("! closed".into());
        let clean = !self.transport.broken && !self.transport.blocked && self.transport.pending.is_empty();
        if clean && self.read < self.transport.output.len() {
            return Err("the last output line is incomplete".into());
        }
        let AppState { obligations, tasks, .. } = &mut self.app;
        tasks.end_connection(obligations.open());
        obligations.check_end(clean)
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

    /// Closes the input, and lets time pass until the connection has ended.
    fn finish(&mut self) -> Result<(), String> {
        self.run_until_idle()?;
        self.transport.blocked = false;
        self.dialogue.push("* the end".into());
        self.run_until_idle()?;
        self.transport.ended = true;
        self.run_until_idle()?;
        for _ in 0..100 {
            if self.closed {
                return Ok(());
            }
            let Some(at) = self.transport.deadline else {
                return Err("the server has no deadline, but is not closed".into());
            };
            self.transport.now = at;
            self.run_until_idle()?;
        }
        Err(format!("the connection does not close: {:?}", self.server.state()))
    }
}

/// Replaces a byte of a line, or truncates the line. The result is never JSON with another request number, because the
/// model identifies requests by their numbers.
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
