//! The transport of a dialogue: moves bytes or messages, advances the time, and writes the transcript.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use proto::rpc::Message;
use proto::{Action, Millis, SendError, StreamId, Transmit};

use crate::dialogue::{Dialogue, Step, Words, escape};
use crate::machine::{Memory, Subject};
use crate::words;

/// A transcript of one dialogue.
#[derive(Default)]
pub struct Log {
    pub lines: Vec<String>,
    /// The incomplete last line of output.
    half: Vec<u8>,
    /// Ids of the requests that the machine has sent, as written.
    ids: Vec<String>,
    status: String,
}

impl Log {
    fn written(&mut self, bytes: &[u8]) {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.half.extend_from_slice(part);
            if let Some(line) = self.half.strip_suffix(b"\n") {
                let line = line.to_vec();
                self.message(&line, "");
                self.half.clear();
            }
        }
    }

    fn message(&mut self, line: &[u8], about: &str) {
        if let Some(id) = request_id(line) {
            self.ids.push(id);
        }
        self.lines.push(format!("<{about} {}", escape(line)));
    }

    /// Adds the incomplete last line of output.
    pub fn end(&mut self) {
        if !self.half.is_empty() {
            let half = std::mem::take(&mut self.half);
            self.lines.push(format!("<< {}", escape(&half)));
        }
    }
}

/// Returns the id of a request written by the machine, which writes the id before the method.
fn request_id(line: &[u8]) -> Option<String> {
    let text = str::from_utf8(line).ok()?;
    let (_, rest) = text.split_once("\"id\":")?;
    let (id, rest) = rest.split_at(rest.find([',', '}'])?);
    rest.starts_with(",\"method\":").then(|| id.to_owned())
}

/// Options of the byte movement.
struct Options {
    read: usize,
    reads_first: bool,
    /// Whether one step both writes and reads.
    both: bool,
    ahead: bool,
    messages: bool,
    parsed: bool,
    streams: u32,
}

/// The receiver of the machine's output.
struct Sink {
    /// Maximum bytes of one write.
    write: usize,
    /// Number of bytes that the peer still reads.
    reads: usize,
    /// Whether a part of the message was reported as sent. The machine then offers the whole message again.
    offered: bool,
    /// Whether writes fail.
    gone: bool,
}

struct Wire<'b> {
    subject: Subject<'b>,
    log: Arc<Mutex<Log>>,
    options: Options,
    now: Millis,
    incoming: VecDeque<u8>,
    commands: VecDeque<String>,
    sink: Sink,
    /// Number of messages that the peer has sent.
    messages: u32,
    ended: bool,
    eof: bool,
    closed: bool,
    deadline: Option<Millis>,
}

/// Plays a dialogue.
///
/// # Errors
/// Returns an error if the machine is never idle, or does not close.
pub fn play(dialogue: &Dialogue, log: &Arc<Mutex<Log>>) -> Result<(), String> {
    let mut memory = Memory::new(dialogue, log);
    let subject = Subject::new(dialogue, &mut memory).map_err(words::misuse)?;
    let (words, options) = (&dialogue.options, |name| dialogue.options.number(name).filter(|most| *most > 0));
    let flag = |name: &str| Words::has(words, name);
    let mut wire = Wire {
        subject,
        log: Arc::clone(log),
        options: Options {
            read: options("read").unwrap_or(usize::MAX),
            reads_first: flag("reads-first"),
            both: flag("both"),
            ahead: flag("ahead"),
            messages: flag("messages"),
            parsed: flag("parsed"),
            streams: options("streams").unwrap_or(0) as u32,
        },
        now: Millis::ZERO,
        incoming: VecDeque::new(),
        commands: VecDeque::new(),
        sink: Sink {
            write: options("write").unwrap_or(usize::MAX),
            reads: usize::MAX,
            offered: false,
            gone: false,
        },
        messages: 0,
        ended: false,
        eof: false,
        closed: false,
        deadline: None,
    };
    wire.settle()?;
    for (at, step) in dialogue.steps.iter().enumerate() {
        wire.log().lines.push(format!("# {at}"));
        wire.step(step)?;
    }
    wire.log().lines.push("# end".into());
    wire.finish()
}

impl Wire<'_> {
    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn step(&mut self, step: &Step) -> Result<(), String> {
        match step {
            Step::Send(bytes) => {
                let bytes = self.with_ids(bytes);
                self.incoming.extend(bytes);
                if self.options.ahead {
                    return Ok(());
                }
            }
            Step::Command(command) => {
                self.commands.push_back(command.clone());
                if self.options.ahead {
                    return Ok(());
                }
            }
            _ => self.settle()?,
        }
        let Millis(now) = self.now;
        match step {
            Step::Send(_) | Step::Command(_) => {}
            Step::Time(time) => self.now = Millis(now.saturating_add(*time)),
            Step::Deadline(late) => {
                let due = self.deadline.map_or(now, |Millis(due)| due.saturating_sub(1 - late));
                self.now = Millis(due.max(now));
            }
            Step::End => self.ended = true,
            Step::Breaks => self.sink.gone = true,
            Step::Gone => (self.ended, self.sink.gone) = (true, true),
            Step::Again => {
                self.subject.connect_again();
                self.incoming.clear();
                self.log().end();
                (self.ended, self.eof, self.sink.gone, self.closed, self.sink.offered) =
                    (false, false, false, false, false);
            }
            Step::Reads(bytes) => self.sink.reads = *bytes,
        }
        self.settle()
    }

    /// Replaces `@{n}` by the id of a request of the machine, or by `null` if there is none. `n` counts back from
    /// the last request, `@{0}`.
    fn with_ids(&self, bytes: &[u8]) -> Vec<u8> {
        let Some(text) = str::from_utf8(bytes).ok().filter(|text| text.contains("@{")) else {
            return bytes.to_vec();
        };
        let log = self.log();
        let mut parts = text.split("@{");
        let mut whole = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (number, rest) = part.split_once('}').unwrap_or(("0", part));
            let back: usize = number.parse().unwrap_or(0);
            whole.push_str(log.ids.iter().rev().nth(back).map_or("null", String::as_str));
            whole.push_str(rest);
        }
        whole.into_bytes()
    }

    /// Ends the input, and runs until the connection closes.
    fn finish(&mut self) -> Result<(), String> {
        self.settle()?;
        self.sink.reads = usize::MAX;
        self.settle()?;
        self.ended = true;
        self.settle()?;
        for _ in 0..30 {
            if self.closed {
                return Ok(());
            }
            self.now = self.deadline.ok_or("no end, and no deadline")?;
            let Millis(now) = self.now;
            self.log().lines.push(format!("# at {now}"));
            self.settle()?;
        }
        Err("no end".into())
    }

    /// Runs until no bytes move at this time, and no command is left.
    fn settle(&mut self) -> Result<(), String> {
        for _ in 0..2_000_000_u32 {
            if self.advance() {
                continue;
            }
            match self.commands.pop_front() {
                Some(command) => {
                    // Skip a command that would have to wait until the peer reads.
                    if !self.command(&command) {
                        self.log().lines.push(format!("* {command}: busy"));
                    }
                }
                None => {
                    self.rest();
                    return Ok(());
                }
            }
        }
        Err("no rest".into())
    }

    /// Runs a command. Returns `false` if the command needs more output space.
    fn command(&mut self, command: &str) -> bool {
        let text = match self.subject.command(command, self.now) {
            Some(Err(SendError::Busy)) => return false,
            Some(Ok(())) => "ok",
            Some(Err(why)) => words::refused(why),
            None => "unknown",
        };
        self.log().lines.push(format!("* {command}: {text}"));
        true
    }

    fn rest(&mut self) {
        let deadline = match self.deadline.filter(|_| !self.closed) {
            Some(Millis(time)) => time.to_string(),
            None => "-".into(),
        };
        let closed = if self.closed { ", over" } else { "" };
        let status = format!(
            "= {}, deadline {deadline}, unread {}{closed}",
            self.subject.status(),
            self.incoming.len()
        );
        let mut log = self.log();
        if log.status != status {
            log.lines.push(status.clone());
            log.status = status;
        }
    }

    /// Performs one step. Returns `false` if none is possible.
    fn advance(&mut self) -> bool {
        let io = match self.subject.machine().poll(self.now) {
            Action::Closed => {
                if !self.closed {
                    self.log().lines.push("closed".into());
                }
                self.closed = true;
                self.incoming.clear();
                return false;
            }
            Action::Event => {
                let event = self.subject.event();
                self.log().lines.push(format!("! {event}"));
                if let Some(command) = self.commands.pop_front()
                    && !self.command(&command)
                {
                    self.commands.push_front(command);
                }
                return true;
            }
            Action::Io(io) => io,
        };
        self.deadline = io.deadline();
        let (out, mut input) = io.split();
        let says_end = self.ended && !self.eof && self.incoming.is_empty();
        let newline =
            if self.options.messages { self.incoming.iter().position(|byte| *byte == b'\n') } else { None };
        let has_input = if self.options.messages { newline.is_some() } else { !self.incoming.is_empty() };
        // After the end of input, an incomplete message is dropped.
        let says_end = says_end || (self.ended && !self.eof && !has_input);
        let can_read = input.is_ready() && (has_input || says_end);
        let length = out.bytes().len();
        // A message is passed as a whole.
        let fits =
            if self.options.messages { length.min(self.sink.reads) == length } else { self.sink.reads > 0 };
        let can_write = length > 0 && (self.sink.gone || fits);
        let both = self.options.both && can_read;
        if can_write && (both || !(can_read && self.options.reads_first)) {
            self.sink.take(out, &self.log);
            if !both {
                return true;
            }
        }
        if !can_read {
            return false;
        }
        if !has_input {
            self.eof = true;
            self.incoming.clear();
            input.eof();
            return true;
        }
        if let Some(end) = newline {
            let message: Vec<u8> = self.incoming.drain(..=end).collect();
            let message = &message[..end];
            let stream = StreamId(if self.options.streams == 0 {
                0
            } else {
                1 + self.messages % self.options.streams
            });
            self.messages += 1;
            match Message::parse(message) {
                Ok(parsed) if self.options.parsed => _ = input.parsed(parsed, stream),
                _ => _ = input.message(message, stream),
            }
            return true;
        }
        let space = input.space();
        let n = space.len().min(self.options.read).min(self.incoming.len());
        for (to, from) in space.iter_mut().zip(self.incoming.drain(..n)) {
            *to = from;
        }
        input.filled(n);
        true
    }
}

impl Sink {
    /// Takes the offered output, or a part of it.
    fn take(&mut self, out: Transmit<'_>, log: &Mutex<Log>) {
        let length = out.bytes().len();
        if self.gone {
            return out.broken();
        }
        let limit = if self.reads == usize::MAX { 0 } else { usize::MAX };
        let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(frame) = out.frame() else {
            let n = length.min(self.write).min(self.reads);
            self.reads -= n.min(limit);
            log.written(&out.bytes()[..n]);
            return out.sent(n);
        };
        if self.write < length && !self.offered {
            self.offered = true;
            return out.sent(self.write);
        }
        self.offered = false;
        log.message(frame.message(), &format!("[{}]", words::frame(&frame)));
        self.reads -= length.min(limit);
        out.sent(length);
    }
}
