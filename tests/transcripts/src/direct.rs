//! Plays transcripts with a machine alone: no adapter, no threads, virtual time.

use mcp_proto::{Action, Buffer, Millis};

use crate::format::{Step, Transcript};
use crate::subject::{Subject, rx, tx};

/// How bytes move. None of it may make a difference.
#[derive(Debug, Clone, Copy)]
pub struct Way {
    /// The most bytes of one read.
    pub read: usize,
    /// The most bytes of one write.
    pub write: usize,
    /// Whether reading comes first if both are possible.
    pub reads_first: bool,
    /// Whether all bytes of the peer are available from the start.
    pub ahead: bool,
    /// Whether the buffers are on the heap.
    pub grown: bool,
    /// The extra bytes of the receive buffer.
    pub spare: usize,
}

impl Way {
    /// As much as possible in each step.
    pub const PLAIN: Way =
        Way { read: ALL, write: ALL, reads_first: false, ahead: false, grown: true, spare: 0 };
}

const ALL: usize = usize::MAX;

/// Every way to play this transcript.
pub(crate) fn ways(transcript: &Transcript) -> Vec<Way> {
    let plain = Way::PLAIN;
    let mut ways = vec![plain, Way { ahead: true, ..plain }];
    // The smallest buffer: the given one, or one for the longest line.
    let fits = Way { grown: false, ..plain };
    ways.extend([fits, Way { ahead: true, ..fits }, Way { spare: 1, ahead: true, ..fits }]);
    let is_large = transcript.longest() > 10_000;
    let widths: &[usize] = if is_large { &[60_000] } else { &[1, 2, 3, 4, 5, 6, 7, 8, 11, 13, 16, 31, 64] };
    for &width in widths {
        ways.push(Way { read: width, write: width, ..fits });
        ways.push(Way { read: width, write: width, ahead: true, reads_first: true, ..plain });
        ways.push(Way { read: width, ahead: true, ..fits });
        ways.push(Way { write: width, ahead: true, reads_first: true, ..fits });
    }
    // The given length is part of the transcript.
    ways.retain(|way| way.spare == 0 || transcript.setup.word("line").is_none());
    ways
}

/// Plays a transcript in every way.
///
/// # Errors
/// The actual and the expected lines and events.
pub fn check(transcript: &Transcript) -> Result<(), String> {
    let mut ways = ways(transcript).into_iter();
    ways.try_for_each(|way| {
        run(transcript, way).map_err(|why| format!("{}\n{way:?}\n{why}", transcript.name()))
    })
}

/// Plays a transcript in one way.
///
/// # Errors
/// What was said, and what should have been.
pub fn run(transcript: &Transcript, way: Way) -> Result<(), String> {
    let smallest =
        if transcript.setup.word("line").is_some() { rx(transcript) } else { transcript.longest().max(160) };
    let (mut lent_rx, mut lent_tx) = (vec![0; smallest + way.spare], vec![0; tx(transcript)]);
    let (rx, tx): (Buffer<'_>, Buffer<'_>) = if way.grown {
        (Buffer::grown(rx(transcript) + way.spare), Buffer::grown(tx(transcript)))
    } else {
        ((&mut lent_rx[..]).into(), (&mut lent_tx[..]).into())
    };
    let subject = Subject::with(transcript, rx, tx);
    let mut wire = Wire::new(subject, way);
    let (mut lines, mut events) = (Vec::new(), Vec::new());
    wire.settle()?;
    for (line, step) in &transcript.steps {
        match step {
            Step::Out(text) => {
                lines.push(text.as_deref());
                if step.is_request() {
                    wire.settle()?;
                }
            }
            Step::Event(event) => events.push(event.as_str()),
            Step::Host(_) => {}
            Step::In(bytes) => {
                if !way.ahead {
                    wire.compare(&lines, &events).map_err(|why| format!("before line {line}: {why}"))?;
                }
                wire.incoming.extend_from_slice(bytes);
                if !way.ahead {
                    wire.settle()?;
                }
            }
            _ => {
                wire.settle()?;
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

/// Plays a transcript in one way without checks. Returns output and events. For transcripts that a fuzzer
/// mutated, whose result is unknown.
///
/// # Errors
/// The machine does not become idle, or does not end.
pub fn play(transcript: &Transcript, way: Way) -> Result<(Vec<u8>, Vec<String>), String> {
    let (mut lent_rx, mut lent_tx) = (vec![0; rx(transcript)], vec![0; tx(transcript)]);
    let (rx, tx): (Buffer<'_>, Buffer<'_>) = if way.grown {
        (Buffer::grown(lent_rx.len()), Buffer::grown(lent_tx.len()))
    } else {
        ((&mut lent_rx[..]).into(), (&mut lent_tx[..]).into())
    };
    let mut wire = Wire::new(Subject::with(transcript, rx, tx), way);
    wire.settle()?;
    for (_, step) in &transcript.steps {
        match step {
            Step::In(bytes) => {
                wire.incoming.extend_from_slice(bytes);
                if !way.ahead {
                    wire.settle()?;
                }
            }
            Step::Out(_) if step.is_request() => wire.settle()?,
            Step::Out(_) | Step::Event(_) | Step::Host(_) | Step::Closed => {}
            _ => {
                wire.settle()?;
                wire.step(step)?;
            }
        }
    }
    wire.finish()?;
    Ok((wire.output, wire.subject.heard().to_vec()))
}

/// A machine and its bytes in transit.
pub(crate) struct Wire<'b> {
    pub(crate) subject: Subject<'b>,
    way: Way,
    now: Millis,
    pub(crate) incoming: Vec<u8>,
    pub(crate) output: Vec<u8>,
    ended: bool,
    told_end: bool,
    gone: bool,
    closed: bool,
    deadline: Option<Millis>,
}

impl<'b> Wire<'b> {
    pub(crate) fn new(subject: Subject<'b>, way: Way) -> Wire<'b> {
        Wire {
            subject,
            way,
            now: Millis::ZERO,
            incoming: Vec::new(),
            output: Vec::new(),
            ended: false,
            told_end: false,
            gone: false,
            closed: false,
            deadline: None,
        }
    }

    /// Does a step that sends nothing, and runs until the machine is idle.
    pub(crate) fn step(&mut self, step: &Step) -> Result<(), String> {
        match step {
            Step::Time(time) => self.now = self.now.plus(Millis(*time)),
            Step::End => self.ended = true,
            Step::Gone => (self.ended, self.gone) = (true, true),
            Step::Again => {
                self.subject.connect_again();
                (self.ended, self.told_end, self.gone, self.closed) = (false, false, false, false);
            }
            Step::Closed if !self.closed => return Err("the machine has not closed the connection".into()),
            _ => {}
        }
        self.settle()
    }

    /// Ends the input, and runs until the connection ends.
    pub(crate) fn finish(&mut self) -> Result<(), String> {
        self.settle()?;
        self.ended = true;
        self.settle()?;
        for _ in 0..20 {
            if self.closed {
                return Ok(());
            }
            self.now = self.deadline.ok_or("it does not end, and waits for no time")?;
            self.settle()?;
        }
        Err("it does not end".into())
    }

    /// Runs until nothing moves at this time.
    pub(crate) fn settle(&mut self) -> Result<(), String> {
        let way = self.way;
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
            } else if can_write && !(can_read && way.reads_first) {
                let n = out.bytes().len().min(way.write);
                self.output.extend_from_slice(&out.bytes()[..n]);
                out.sent(n);
            } else if can_read && says_end {
                self.told_end = true;
                input.eof();
            } else if can_read {
                let space = input.space();
                let n = space.len().min(way.read).min(left.len());
                space[..n].copy_from_slice(&left[..n]);
                input.filled(n);
                incoming += n;
            } else {
                self.incoming.drain(..incoming);
                return Ok(());
            }
        }
        Err("it does not come to rest".into())
    }

    fn compare(&self, lines: &[Option<&[u8]>], events: &[&str]) -> Result<(), String> {
        let written: Vec<&[u8]> = self.output.split_inclusive(|byte| *byte == b'\n').collect();
        compare(&written, lines, self.subject.heard(), events)
    }
}

/// Compares output and events with the expected ones.
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
        return Err(format!("written:\n{written}expected:\n{lines}heard: {heard:#?}"));
    }
    if heard != events {
        return Err(format!("heard: {heard:#?}\nexpected: {events:#?}"));
    }
    Ok(())
}
