//! Plays the peer of an adapter. Sends a transcript's input in several manners, and checks the output.

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

/// The behavior of the peer. Only [`Leaves`](Manner::Leaves) may affect the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// Sends line by line, and waits for the expected lines before the next line.
    Plain,
    /// Sends as much as possible without waiting for the expected lines.
    Ahead,
    /// Reads single bytes. Writes single bytes, or small pieces if a line is very long.
    Bytes,
    /// Pauses after every few bytes.
    Slow,
    /// Sends like `Ahead`, and starts to read after a pause.
    Stalls,
    /// Disconnects after this many quarters of its bytes, possibly within a line.
    Leaves(usize),
}

impl Manner {
    /// All manners.
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

    /// Returns whether the peer sends as much as possible without waiting for the expected lines.
    fn is_ahead(self) -> bool {
        matches!(self, Manner::Ahead | Manner::Stalls | Manner::Leaves(_))
    }
}

/// Time limit of a transcript, and then of the adapter's return after the end of its output.
pub const LIMIT: Duration = Duration::from_secs(20);

/// Number of failures after which playing stops, because each failure may last for the whole [`LIMIT`].
const ENOUGH: usize = 4;

/// Additional time after each pause, so that due events occur.
const SLACK: Duration = Duration::from_millis(40);

/// Plays a transcript over an adapter. The adapter receives the machine with its application, and one end of a socket.
/// The adapter moves bytes until the machine closes the connection, and then drops the socket.
///
/// # Errors
/// Returns an error if the output or the events differ from the transcript, or if the adapter panics or does not return
/// in time. For [`Leaves`](Manner::Leaves), a difference is an error only if an output line is cut or is not JSON.
pub fn over(
    transcript: &Transcript,
    manner: Manner,
    adapter: impl FnOnce(&mut Subject<'static>, UnixStream) + Send + 'static,
) -> Result<(), String> {
    over_within(LIMIT, transcript, manner, adapter)
}

/// Plays a transcript like [`over`], with this time limit.
///
/// # Errors
/// Returns the errors of [`over`].
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
        Err(RecvTimeoutError::Timeout) => return Err(named("the adapter does not return".into())),
        Err(RecvTimeoutError::Disconnected) => return Err(named("the adapter has panicked".into())),
    };
    let (lines, events) = transcript.expected();
    if matches!(manner, Manner::Leaves(_)) {
        // The adapter may notice the disconnection at any time, but no line may be cut or damaged.
        let is_whole = |line: &&Vec<u8>| line.ends_with(b"\n") && Json::parse(line).is_ok();
        let broken = written.iter().find(|line| !is_whole(line));
        return broken
            .map_or(Ok(()), |line| Err(named(format!("written: {}", String::from_utf8_lossy(line)))));
    }
    let written: Vec<&[u8]> = written.iter().map(Vec::as_slice).collect();
    compare(&written, &lines, &heard, &events).map_err(named)
}

/// The sending half of the peer. Dropping it ends the machine's input.
pub trait Speak: Write {
    /// Closes the connection in both directions.
    fn hang_up(&mut self);
}

/// Plays all transcripts for adapters over this adapter, in every manner. Plays many transcripts in parallel, because
/// the players mostly wait. Stops after a few failures.
///
/// # Panics
/// Panics if a transcript fails. The message has the first few failures.
pub fn all_over(adapter: impl Fn(&mut Subject<'static>, UnixStream) + Clone + Send + Sync + 'static) {
    let mut transcripts = all();
    transcripts.retain(Transcript::is_for_adapters);
    let plays: Vec<_> = transcripts.iter().flat_map(|it| Manner::ALL.map(|manner| (it, manner))).collect();
    let next = AtomicUsize::new(0);
    let failed = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                while let Some((transcript, manner)) = plays.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let outcome = over(transcript, *manner, adapter.clone());
                    let mut failed = failed.lock().expect("no thread has panicked");
                    failed.extend(outcome.err());
                    if failed.len() >= ENOUGH {
                        return;
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().expect("no thread has panicked");
    assert!(failed.is_empty(), "{} have failed:\n\n{}", failed.len(), failed.join("\n\n"));
}

/// A socket. Drop closes the sending half, even if clones exist.
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

/// Plays the peer on any two streams. Returns the output lines of the machine.
///
/// # Errors
/// Returns an error if the machine does not write an expected line, or does not close.
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

/// Passes each line with its newline to `pass`, and then an incomplete last line. Stops if `pass` returns `false`.
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
    /// Waits for this number of lines in total. With `usize::MAX`, waits for the end of the output.
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
                Step::Event(_) | Step::Command(_) => {}
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
                // Wait for the end of the connection here, so that later bytes of the peer cannot cause the end.
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

/// Returns the number of bytes that the peer sends.
fn said(transcript: &Transcript) -> usize {
    transcript.steps.iter().map(|(_, step)| if let Step::In(bytes) = step { bytes.len() } else { 0 }).sum()
}

/// Writes the bytes. Ignores errors, because the machine may have closed the connection.
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
