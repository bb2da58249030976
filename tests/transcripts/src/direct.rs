//! Plays transcripts with a machine alone: no adapter, no threads, virtual time.

use mcp_proto::monitor::{Monitor, Sender, Violation};
use mcp_proto::{Action, Buffer, Millis};

use crate::format::{Step, Transcript};
use crate::subject::{Subject, rx, tx};

/// Parameters of byte movement, which must not affect the result.
#[derive(Debug, Clone, Copy)]
pub struct Movement {
    /// Maximum bytes of one read.
    pub read: usize,
    /// Maximum bytes of one write.
    pub write: usize,
    /// Whether the machine reads first if it can both read and write.
    pub reads_first: bool,
    /// Whether the peer sends its lines without waiting, except at requests of the machine and at steps such as `Time`.
    pub ahead: bool,
    /// Whether the buffers are on the heap.
    pub grown: bool,
    /// Length of the receive buffer beyond the minimum.
    pub spare: usize,
}

impl Movement {
    /// Moves as many bytes as possible in each step.
    pub const PLAIN: Movement =
        Movement { read: ALL, write: ALL, reads_first: false, ahead: false, grown: true, spare: 0 };
}

const ALL: usize = usize::MAX;

/// Returns every movement to play this transcript with.
pub(crate) fn movements(transcript: &Transcript) -> Vec<Movement> {
    let plain = Movement::PLAIN;
    let mut movements = vec![plain, Movement { ahead: true, ..plain }];
    // The smallest receive buffer has the length in the transcript, or fits the longest line.
    let fits = Movement { grown: false, ..plain };
    movements.extend([fits, Movement { ahead: true, ..fits }, Movement { spare: 1, ahead: true, ..fits }]);
    let is_large = transcript.longest() > 10_000;
    let widths: &[usize] = if is_large { &[60_000] } else { &[1, 2, 3, 4, 5, 6, 7, 8, 11, 13, 16, 31, 64] };
    for &width in widths {
        movements.push(Movement { read: width, write: width, ..fits });
        movements.push(Movement { read: width, write: width, ahead: true, reads_first: true, ..plain });
        movements.push(Movement { read: width, ahead: true, ..fits });
        movements.push(Movement { write: width, ahead: true, reads_first: true, ..fits });
    }
    // If the transcript states the length of the receive buffer, other lengths are not tried.
    movements.retain(|movement| movement.spare == 0 || transcript.setup.word("line").is_none());
    movements
}

/// Plays a transcript with every movement.
///
/// # Errors
/// Returns the first error of [`run`], with the transcript and the movement.
pub fn check(transcript: &Transcript) -> Result<(), String> {
    let mut movements = movements(transcript).into_iter();
    movements.try_for_each(|movement| {
        run(transcript, movement).map_err(|why| format!("{}\n{movement:?}\n{why}", transcript.name()))
    })
}

/// Plays a transcript with one movement.
///
/// # Errors
/// Returns the actual and the expected lines and events if they differ. Returns an error if the machine does not become
/// idle, or does not close.
pub fn run(transcript: &Transcript, movement: Movement) -> Result<(), String> {
    let smallest =
        if transcript.setup.word("line").is_some() { rx(transcript) } else { transcript.longest().max(160) };
    let (mut lent_rx, mut lent_tx) = (vec![0; smallest + movement.spare], vec![0; tx(transcript)]);
    let (rx, tx): (Buffer<'_>, Buffer<'_>) = if movement.grown {
        (Buffer::grown(rx(transcript) + movement.spare), Buffer::grown(tx(transcript)))
    } else {
        ((&mut lent_rx[..]).into(), (&mut lent_tx[..]).into())
    };
    let subject = Subject::with(transcript, rx, tx);
    let mut wire = Wire::new(subject, movement);
    let (mut lines, mut events) = (Vec::new(), Vec::new());
    wire.run_until_idle()?;
    for (line, step) in &transcript.steps {
        match step {
            Step::Out(text) => {
                lines.push(text.as_deref());
                if step.is_request() {
                    wire.run_until_idle()?;
                }
            }
            Step::Event(event) => events.push(event.as_str()),
            Step::Command(_) => {}
            Step::In(bytes) => {
                if !movement.ahead {
                    wire.compare(&lines, &events).map_err(|why| format!("before line {line}: {why}"))?;
                }
                wire.incoming.extend_from_slice(bytes);
                if !movement.ahead {
                    wire.run_until_idle()?;
                }
            }
            _ => {
                wire.run_until_idle()?;
                if *step != Step::Closed {
                    wire.compare(&lines, &events).map_err(|why| format!("before line {line}: {why}"))?;
                }
                wire.step(step)?;
            }
        }
    }
    wire.finish()?;
    wire.compare(&lines, &events)
}

/// Plays a transcript with one movement and without checks. Returns output and events. A fuzzer uses this for mutated
/// transcripts, whose result is unknown.
///
/// # Errors
/// Returns an error if the machine does not become idle, or does not close.
pub fn play(transcript: &Transcript, movement: Movement) -> Result<(Vec<u8>, Vec<String>), String> {
    let (mut lent_rx, mut lent_tx) = (vec![0; rx(transcript)], vec![0; tx(transcript)]);
    let (rx, tx): (Buffer<'_>, Buffer<'_>) = if movement.grown {
        (Buffer::grown(lent_rx.len()), Buffer::grown(lent_tx.len()))
    } else {
        ((&mut lent_rx[..]).into(), (&mut lent_tx[..]).into())
    };
    let mut wire = Wire::new(Subject::with(transcript, rx, tx), movement);
    wire.run_until_idle()?;
    for (_, step) in &transcript.steps {
        match step {
            Step::In(bytes) => {
                wire.incoming.extend_from_slice(bytes);
                if !movement.ahead {
                    wire.run_until_idle()?;
                }
            }
            Step::Out(_) if step.is_request() => wire.run_until_idle()?,
            Step::Out(_) | Step::Event(_) | Step::Command(_) | Step::Closed => {}
            _ => {
                wire.run_until_idle()?;
                wire.step(step)?;
            }
        }
    }
    wire.finish()?;
    Ok((wire.output, wire.subject.heard().to_vec()))
}

/// Plays a transcript, and passes both directions to monitors. Returns the violations of the machine.
///
/// Each connection has its own monitor.
///
/// # Errors
/// Returns an error if the machine does not become idle, or does not close.
pub fn violations(transcript: &Transcript) -> Result<Vec<Violation>, String> {
    let (rx, tx) = (Buffer::grown(rx(transcript)), Buffer::grown(tx(transcript)));
    let mut wire = Wire::new(Subject::with(transcript, rx, tx), Movement::PLAIN);
    wire.subject_sender = if transcript.is_server() { Sender::Server } else { Sender::Client };
    wire.run_until_idle()?;
    for (_, step) in &transcript.steps {
        match step {
            Step::In(bytes) => wire.incoming.extend_from_slice(bytes),
            Step::Out(_) | Step::Event(_) | Step::Command(_) | Step::Closed => {}
            _ => {
                wire.run_until_idle()?;
                wire.step(step)?;
            }
        }
        wire.run_until_idle()?;
    }
    wire.finish()?;
    let own = |violation: &Violation| violation.sender == wire.subject_sender;
    Ok(wire.violations.into_iter().filter(own).collect())
}

/// A machine and its bytes in transit.
pub(crate) struct Wire<'b> {
    pub(crate) subject: Subject<'b>,
    movement: Movement,
    now: Millis,
    pub(crate) incoming: Vec<u8>,
    pub(crate) output: Vec<u8>,
    ended: bool,
    told_end: bool,
    gone: bool,
    closed: bool,
    deadline: Option<Millis>,
    monitor: Monitor,
    subject_sender: Sender,
    violations: Vec<Violation>,
}

impl<'b> Wire<'b> {
    pub(crate) fn new(subject: Subject<'b>, movement: Movement) -> Wire<'b> {
        Wire {
            subject,
            movement,
            now: Millis::ZERO,
            incoming: Vec::new(),
            output: Vec::new(),
            ended: false,
            told_end: false,
            gone: false,
            closed: false,
            deadline: None,
            monitor: Monitor::new(),
            subject_sender: Sender::Server,
            violations: Vec::new(),
        }
    }

    /// Performs a step that sends nothing. Runs until the machine is idle.
    pub(crate) fn step(&mut self, step: &Step) -> Result<(), String> {
        match step {
            Step::Time(time) => self.now = self.now.plus(Millis(*time)),
            Step::End => self.ended = true,
            Step::Gone => (self.ended, self.gone) = (true, true),
            Step::Again => {
                self.subject.connect_again();
                self.monitor = Monitor::new();
                (self.ended, self.told_end, self.gone, self.closed) = (false, false, false, false);
            }
            Step::Closed if !self.closed => return Err("the machine has not closed the connection".into()),
            _ => {}
        }
        self.run_until_idle()
    }

    /// Ends the input, and runs until the connection ends.
    pub(crate) fn finish(&mut self) -> Result<(), String> {
        self.run_until_idle()?;
        self.ended = true;
        self.run_until_idle()?;
        for _ in 0..20 {
            if self.closed {
                return Ok(());
            }
            self.now = self.deadline.ok_or("the machine is not closed, but has no deadline")?;
            self.run_until_idle()?;
        }
        Err("the machine does not close".into())
    }

    /// Runs until no bytes move at this time.
    pub(crate) fn run_until_idle(&mut self) -> Result<(), String> {
        let movement = self.movement;
        let mut incoming = 0;
        for _ in 0..20_000_000_u64 {
            let io = match self.subject.machine().poll(self.now) {
                Action::Closed => {
                    self.closed = true;
                    self.incoming.clear();
                    return Ok(());
                }
                Action::Event => {
                    self.subject.event();
                    continue;
                }
                Action::Io(io) => io,
            };
            self.deadline = io.deadline();
            let (out, mut input) = io.split();
            let left = &self.incoming[incoming..];
            let says_end = self.ended && !self.told_end && left.is_empty();
            let can_read = input.is_ready() && (!left.is_empty() || says_end);
            let can_write = !out.bytes().is_empty();
            if can_write && self.gone {
                out.broken();
            } else if can_write && !(can_read && movement.reads_first) {
                let n = out.bytes().len().min(movement.write);
                self.output.extend_from_slice(&out.bytes()[..n]);
                let found = self.monitor.bytes(self.subject_sender, &out.bytes()[..n], self.now);
                self.violations.extend(found);
                out.sent(n);
            } else if can_read && says_end {
                self.told_end = true;
                let found = self.monitor.end(self.subject_sender.peer(), self.now);
                self.violations.extend(found);
                input.eof();
            } else if can_read {
                let space = input.space();
                let n = space.len().min(movement.read).min(left.len());
                space[..n].copy_from_slice(&left[..n]);
                let found = self.monitor.bytes(self.subject_sender.peer(), &left[..n], self.now);
                self.violations.extend(found);
                input.filled(n);
                incoming += n;
            } else {
                self.incoming.drain(..incoming);
                return Ok(());
            }
        }
        Err("the machine is never idle".into())
    }

    fn compare(&self, lines: &[Option<&[u8]>], events: &[&str]) -> Result<(), String> {
        let written: Vec<&[u8]> = self.output.split_inclusive(|byte| *byte == b'\n').collect();
        compare(&written, lines, self.subject.heard(), events)
    }
}

/// Compares output and events with the expected output and events.
pub(crate) fn compare(
    written: &[&[u8]],
    lines: &[Option<&[u8]>],
    heard: &[String],
    events: &[&str],
) -> Result<(), String> {
    let is = |(written, line): (&&[u8], &Option<&[u8]>)| {
        let written = written.strip_suffix(b"\n");
        written.is_some() && line.is_none_or(|line| written == Some(line))
    };
    if written.len() != lines.len() || !written.iter().zip(lines).all(is) {
        let text = |bytes: &[u8]| format!("  {}\n", String::from_utf8_lossy(bytes).trim_end());
        let written: String = written.iter().map(|line| text(line)).collect();
        let lines: String = lines.iter().map(|line| line.map_or("  …\n".into(), text)).collect();
        return Err(format!("written:\n{written}expected:\n{lines}events: {heard:#?}"));
    }
    if heard != events {
        return Err(format!("events: {heard:#?}\nexpected: {events:#?}"));
    }
    Ok(())
}
