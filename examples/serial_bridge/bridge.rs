//! Copies messages in both directions, each on its own thread.
//!
//! A slow reader on one side does not delay the other direction.

use std::io::{self, Read, Write, stderr, stdin, stdout};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use crate::flight::Flight;
use crate::lines::Lines;
use crate::link::Link;
use crate::options::Options;
use crate::session::{self, Beginning};
use crate::sort::{Kind, Sort};

/// A report from one of the two threads.
enum News {
    /// stdin has ended, and the board has all input.
    InputEnded,
    /// No request is in flight.
    AllAnswered,
    /// The client has closed stdout.
    ClientGone,
    BoardGone(io::Error),
}

/// The state that both threads share.
struct Shared {
    link: Link,
    flight: Mutex<Flight>,
}

impl Shared {
    fn flight(&self) -> MutexGuard<'_, Flight> {
        self.flight.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Begins a session, runs it until one side disconnects, and ends it.
///
/// # Errors
/// The board has disconnected. A client that disconnects is the normal end of a session.
pub(crate) fn run(mut link: Link, options: &Options) -> Result<(), String> {
    let beginning = session::begin(&mut link, options).map_err(gone)?;
    let shared = Arc::new(Shared { link, flight: Mutex::default() });
    let (sender, news) = channel();
    let (to_board, input_sender) = (Arc::clone(&shared), sender.clone());
    thread::spawn(move || input_sender.send(client_to_board(&to_board)));
    let to_client = Arc::clone(&shared);
    thread::spawn(move || sender.send(board_to_client(&to_client, &beginning, &sender)));
    wait_for_end(&news, &shared, options)?;
    // The bridge does not join the threads, because only the end of the process interrupts a blocked read.
    session::end(&shared.link, options);
    Ok(())
}

/// Waits until one side disconnects. Then waits for the responses to all requests in flight, at most until the grace
/// period expires.
fn wait_for_end(news: &Receiver<News>, shared: &Shared, options: &Options) -> Result<(), String> {
    let mut ends: Option<Instant> = None;
    loop {
        let received = match ends {
            None => news.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(_) if shared.flight().len() == 0 => return Ok(()),
            Some(at) => news.recv_timeout(at.saturating_duration_since(Instant::now())),
        };
        match received {
            Ok(News::InputEnded) => ends = Some(Instant::now() + options.grace),
            Ok(News::AllAnswered) => {}
            Ok(News::BoardGone(why)) => return Err(gone(why)),
            Ok(News::ClientGone) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
            Err(RecvTimeoutError::Timeout) => {
                let left = shared.flight().len();
                eprintln!(
                    "serial_bridge: the client has disconnected, and {left} of its requests got no response in time"
                );
                return Ok(());
            }
        }
    }
}

fn gone(why: io::Error) -> String {
    format!("the board has disconnected: {why}. Is it still plugged in, and switched on?")
}

fn client_to_board(shared: &Shared) -> News {
    let (mut input, mut bytes, mut lines) = (stdin().lock(), [0; 4096], Lines::default());
    loop {
        let n = match input.read(&mut bytes) {
            Ok(0) => return News::InputEnded,
            Ok(n) => n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return News::InputEnded,
        };
        // Record the request before sending it, so that its response cannot arrive first.
        lines.feed(&bytes[..n], |line| shared.flight().sent(line));
        if let Err(error) = shared.link.write_all(&bytes[..n], None) {
            return News::BoardGone(error);
        }
    }
}

fn board_to_client(shared: &Shared, beginning: &Beginning, sender: &Sender<News>) -> News {
    let mut sort = if beginning.in_a_line { Sort::in_a_line() } else { Sort::new() };
    let mut lines = Lines::default();
    let mut forward_all =
        |bytes: &[u8]| sort.pieces(bytes, |kind, piece| forward(shared, &mut lines, kind, piece, sender));
    let mut bytes = [0; 4096];
    let mut written = forward_all(&beginning.bytes);
    loop {
        if written.is_err() {
            return News::ClientGone;
        }
        match shared.link.read(&mut bytes) {
            Ok(n) => written = forward_all(&bytes[..n]),
            Err(error) if error.kind() == io::ErrorKind::TimedOut => {}
            Err(error) => return News::BoardGone(error),
        }
    }
}

/// Writes pieces of messages to stdout, and other pieces to stderr.
fn forward(
    shared: &Shared,
    lines: &mut Lines,
    kind: Kind,
    piece: &[u8],
    sender: &Sender<News>,
) -> io::Result<()> {
    if kind == Kind::Other {
        // Ignore errors, because stderr may be closed.
        let _ = stderr().write_all(piece);
        return Ok(());
    }
    let mut output = stdout().lock();
    output.write_all(piece)?;
    output.flush()?;
    lines.feed(piece, |line| {
        let mut flight = shared.flight();
        flight.received(line);
        if flight.len() == 0 {
            let _ = sender.send(News::AllAnswered);
        }
    });
    Ok(())
}
