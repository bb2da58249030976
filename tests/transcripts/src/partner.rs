//! The other side of an adapter: a peer on threads of its own that says its part of a transcript in one manner or another,
//! and looks at what comes back.

use std::io::{ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use mcp_proto::json::Json;

use crate::direct::compare;
use crate::format::{Step, Transcript, all};
use crate::subject::Subject;

/// How a partner behaves. Only one that leaves may make a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// It says one thing after the other, and waits for what has to come in between.
    Plain,
    /// It says everything at once, and then listens.
    Ahead,
    /// It says and takes one byte at a time.
    Bytes,
    /// It makes a pause after every few bytes.
    Slow,
    /// It says everything at once, and listens after a while.
    Stalls,
    /// It is gone after so many quarters of what it has to say, in the middle of a line maybe.
    Leaves(usize),
}

impl Manner {
    /// Each of them.
    pub const ALL: [Manner; 8] = [
        Manner::Plain,
        Manner::Ahead,
        Manner::Bytes,
        Manner::Slow,
        Manner::Stalls,
        Manner::Leaves(1),
        Manner::Leaves(2),
        Manner::Leaves(3),
    ];

    /// Whether it says everything before it listens.
    fn is_ahead(self) -> bool {
        matches!(self, Manner::Ahead | Manner::Stalls | Manner::Leaves(_))
    }
}

/// No transcript takes longer than that, and no adapter to end when its peer is gone.
pub const LIMIT: Duration = Duration::from_secs(20);

/// Where an adapter fails so often, nothing more is tried: each time may take as long as it can.
const ENOUGH: usize = 4;

/// What is waited for after the time of a transcript, so that what is due has happened.
const SLACK: Duration = Duration::from_millis(40);

/// Runs a transcript over an adapter, which gets the machine with its host and one end of a socket. It moves bytes until
/// the machine has closed the connection, and then lets the socket go.
///
/// # Errors
/// What was said and what should have been; that the adapter has panicked; that it does not come back.
pub fn over(
    transcript: &Transcript,
    manner: Manner,
    adapter: impl FnOnce(&mut Subject<'static>, UnixStream) + Send + 'static,
) -> Result<(), String> {
    over_within(LIMIT, transcript, manner, adapter)
}

/// The same within this time.
///
/// # Errors
/// As [`over`].
pub fn over_within(
    limit: Duration,
    transcript: &Transcript,
    manner: Manner,
    adapter: impl FnOnce(&mut Subject<'static>, UnixStream) + Send + 'static,
) -> Result<(), String> {
    let named = |why: String| format!("{}\n{manner:?}\n{why}", transcript.name());
    let (here, there) = UnixStream::pair().map_err(|error| error.to_string())?;
    let (done, is_done) = channel();
    let owned = transcript.clone();
    thread::spawn(move || {
        let mut subject = Subject::new(&owned);
        adapter(&mut subject, there);
        let _ = done.send(subject.heard().to_vec());
    });
    let input = here.try_clone().map_err(|error| error.to_string())?;
    let written = play(limit, transcript, manner, input, Half(here)).map_err(named)?;
    let heard = match is_done.recv_timeout(limit) {
        Ok(heard) => heard,
        Err(RecvTimeoutError::Timeout) => return Err(named("the adapter does not come back".into())),
        Err(RecvTimeoutError::Disconnected) => return Err(named("the adapter has panicked".into())),
    };
    let (lines, events) = transcript.expected();
    if matches!(manner, Manner::Leaves(_)) {
        // When it noticed is for the adapter to say. But no line is cut off, and none is damaged.
        let is_whole = |line: &&Vec<u8>| line.ends_with(b"\n") && Json::parse(line).is_ok();
        let broken = written.iter().find(|line| !is_whole(line));
        return broken
            .map_or(Ok(()), |line| Err(named(format!("written: {}", String::from_utf8_lossy(line)))));
    }
    let written: Vec<&[u8]> = written.iter().map(Vec::as_slice).collect();
    compare(&written, &lines, &heard, &events).map_err(named)
}

/// Where a partner speaks. Dropping it ends what the machine reads.
pub trait Speak: Write {
    /// From now on nobody reads what the machine writes, either.
    fn hang_up(&mut self);
}

/// Runs every transcript over an adapter, in every manner, many at a time.
///
/// # Panics
/// Some fail: with the first few of them.
pub fn all_over(adapter: impl Fn(&mut Subject<'static>, UnixStream) + Clone + Send + Sync + 'static) {
    let mut transcripts = all();
    transcripts.retain(Transcript::is_for_adapters);
    let next = AtomicUsize::new(0);
    let failed = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                while let Some(transcript) = transcripts.get(next.fetch_add(1, Ordering::Relaxed)) {
                    for manner in Manner::ALL {
                        let outcome = over(transcript, manner, adapter.clone());
                        let mut failed = failed.lock().expect("no thread has panicked");
                        failed.extend(outcome.err());
                        if failed.len() >= ENOUGH {
                            return;
                        }
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().expect("no thread has panicked");
    assert!(failed.is_empty(), "{} have failed:\n\n{}", failed.len(), failed.join("\n\n"));
}

/// A side of a socket that ends when it is dropped, whoever still holds the other one.
#[derive(Debug)]
pub struct Half(pub UnixStream);

impl Write for Half {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Speak for Half {
    fn hang_up(&mut self) {
        let _ = self.0.shutdown(Shutdown::Both);
    }
}

impl Drop for Half {
    fn drop(&mut self) {
        let _ = self.0.shutdown(Shutdown::Write);
    }
}

/// Says the part of the peer on any two streams, and gives back the lines that the machine has written until its end.
///
/// # Errors
/// The machine does not write what the peer waits for, or does not end.
pub fn play(
    limit: Duration,
    transcript: &Transcript,
    manner: Manner,
    input: impl Read + Send + 'static,
    output: impl Speak,
) -> Result<Vec<Vec<u8>>, String> {
    let (sender, lines) = channel();
    let pause = if manner == Manner::Stalls { Duration::from_millis(15) } else { Duration::ZERO };
    let chunk = if manner == Manner::Bytes { 1 } else { 4096 };
    thread::spawn(move || {
        thread::sleep(pause);
        listen(input, chunk, &|line| sender.send(line).is_ok());
    });
    let mut partner = Partner { lines, written: Vec::new(), ends: Instant::now() + limit };
    partner.speak(transcript, manner, output)?;
    partner.wait_for(usize::MAX)?;
    Ok(partner.written)
}

/// Passes on each line with its newline, and what there is of the last one.
fn listen(mut input: impl Read, chunk: usize, pass: &dyn Fn(Vec<u8>) -> bool) {
    let (mut line, mut buffer) = (Vec::new(), vec![0; chunk]);
    loop {
        let n = match input.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) => n,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        for byte in &buffer[..n] {
            line.push(*byte);
            if *byte == b'\n' && !pass(std::mem::take(&mut line)) {
                return;
            }
        }
    }
    if !line.is_empty() {
        pass(line);
    }
}

struct Partner {
    lines: Receiver<Vec<u8>>,
    written: Vec<Vec<u8>>,
    ends: Instant,
}

impl Partner {
    /// Waits until there are so many lines, or the end.
    fn wait_for(&mut self, count: usize) -> Result<(), String> {
        while self.written.len() < count {
            match self.lines.recv_timeout(self.ends.saturating_duration_since(Instant::now())) {
                Ok(line) => self.written.push(line),
                Err(RecvTimeoutError::Disconnected) if count == usize::MAX => return Ok(()),
                Err(why) => {
                    let written: Vec<_> =
                        self.written.iter().map(|line| String::from_utf8_lossy(line)).collect();
                    let what = if count == usize::MAX { "the end" } else { "the next line" };
                    return Err(format!("waits for {what}: {why}, after {written:#?}"));
                }
            }
        }
        Ok(())
    }

    fn speak(&mut self, transcript: &Transcript, manner: Manner, output: impl Speak) -> Result<(), String> {
        let mut output = Some(output);
        let mut lines = 0;
        let mut left = match manner {
            Manner::Leaves(quarters) => said(transcript) * quarters / 4,
            _ => usize::MAX,
        };
        for (_, step) in &transcript.steps {
            match step {
                Step::Event(_) | Step::Host(_) => {}
                Step::Out(_) => {
                    lines += 1;
                    if !manner.is_ahead() || step.is_request() {
                        self.wait_for(lines)?;
                    }
                }
                Step::In(bytes) => {
                    let most = bytes.len().min(left);
                    left -= most;
                    if let Some(output) = &mut output {
                        say(&bytes[..most], manner, output);
                    }
                    if left == 0 {
                        output.iter_mut().for_each(Speak::hang_up);
                        return Ok(());
                    }
                }
                Step::End => output = None,
                Step::Gone => {
                    self.wait_for(lines)?;
                    output.iter_mut().for_each(Speak::hang_up);
                    output = None;
                }
                // It closes by itself: nothing that is said here may be what makes it do so.
                Step::Closed if !matches!(manner, Manner::Leaves(_)) => self.wait_for(usize::MAX)?,
                Step::Closed | Step::Again => {}
                Step::Time(_) if matches!(manner, Manner::Leaves(_)) => {}
                Step::Time(time) => {
                    self.wait_for(lines)?;
                    thread::sleep(Duration::from_millis(*time) + SLACK);
                }
            }
        }
        Ok(())
    }
}

/// How many bytes the peer says in all.
fn said(transcript: &Transcript) -> usize {
    transcript.steps.iter().map(|(_, step)| if let Step::In(bytes) = step { bytes.len() } else { 0 }).sum()
}

/// Says it. Whether that succeeds is seen by what comes back: the machine may have closed the connection.
fn say(bytes: &[u8], manner: Manner, output: &mut impl Write) {
    let (chunk, pause) = match manner {
        Manner::Bytes => (1 + bytes.len() / 8192, None),
        Manner::Slow => (17 + bytes.len() / 32, Some(Duration::from_micros(200))),
        _ => (usize::MAX, None),
    };
    for piece in bytes.chunks(chunk) {
        if output.write_all(piece).is_err() {
            return;
        }
        if let Some(pause) = pause {
            thread::sleep(pause);
        }
    }
}
