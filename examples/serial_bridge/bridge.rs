//! Both directions, each on a thread of its own: whoever is slow slows down nobody but himself.

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

/// What a direction tells about itself.
enum News {
    /// stdin has ended, and all of it is with the board.
    InputEnded,
    /// Nothing is in flight any more.
    AllAnswered,
    /// Nobody reads stdout.
    ClientGone,
    BoardGone(io::Error),
}

/// What both directions know.
struct Shared {
    link: Link,
    flight: Mutex<Flight>,
}

impl Shared {
    fn flight(&self) -> MutexGuard<'_, Flight> {
        self.flight.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Begins a session, carries it, and ends it.
///
/// # Errors
/// The board has gone. That the client has gone is how every session ends.
pub(crate) fn run(mut link: Link, options: &Options) -> Result<(), String> {
    let beginning = session::begin(&mut link, options).map_err(gone)?;
    let shared = Arc::new(Shared { link, flight: Mutex::default() });
    let (tell, news) = channel();
    let (to_board, told) = (Arc::clone(&shared), tell.clone());
    thread::spawn(move || told.send(client_to_board(&to_board)));
    let to_client = Arc::clone(&shared);
    thread::spawn(move || tell.send(board_to_client(&to_client, &beginning, &tell)));
    carry(&news, &shared, options)?;
    // The threads may wait in a call that nothing interrupts but the end of the process.
    session::end(&shared.link, options);
    Ok(())
}

/// Waits until one side has gone, and then until what is in flight is answered, or has had its time.
fn carry(news: &Receiver<News>, shared: &Shared, options: &Options) -> Result<(), String> {
    let mut ends: Option<Instant> = None;
    loop {
        let heard = match ends {
            None => news.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(_) if shared.flight().len() == 0 => return Ok(()),
            Some(at) => news.recv_timeout(at.saturating_duration_since(Instant::now())),
        };
        match heard {
            Ok(News::InputEnded) => ends = Some(Instant::now() + options.grace),
            Ok(News::AllAnswered) => {}
            Ok(News::BoardGone(why)) => return Err(gone(why)),
            Ok(News::ClientGone) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
            Err(RecvTimeoutError::Timeout) => {
                let left = shared.flight().len();
                eprintln!(
                    "serial_bridge: the client has left, {left} of its requests were not answered in time"
                );
                return Ok(());
            }
        }
    }
}

fn gone(why: io::Error) -> String {
    format!("the board is gone: {why}. Is it still plugged in, and switched on?")
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
        // Before the board has it, so that its answer cannot be faster.
        lines.feed(&bytes[..n], |line| shared.flight().sent(line));
        if let Err(error) = shared.link.write_all(&bytes[..n], None) {
            return News::BoardGone(error);
        }
    }
}

fn board_to_client(shared: &Shared, beginning: &Beginning, tell: &Sender<News>) -> News {
    let mut sort = if beginning.in_a_line { Sort::in_a_line() } else { Sort::new() };
    let mut lines = Lines::default();
    let mut pass_on =
        |bytes: &[u8]| sort.pieces(bytes, |kind, piece| pass(shared, &mut lines, kind, piece, tell));
    let mut bytes = [0; 4096];
    let mut passed = pass_on(&beginning.bytes);
    loop {
        if passed.is_err() {
            return News::ClientGone;
        }
        match shared.link.read(&mut bytes) {
            Ok(n) => passed = pass_on(&bytes[..n]),
            Err(error) if error.kind() == io::ErrorKind::TimedOut => {}
            Err(error) => return News::BoardGone(error),
        }
    }
}

/// Passes a piece on to where it belongs.
fn pass(shared: &Shared, lines: &mut Lines, kind: Kind, piece: &[u8], tell: &Sender<News>) -> io::Result<()> {
    if kind == Kind::Other {
        // Nobody need read it.
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
            let _ = tell.send(News::AllAnswered);
        }
    });
    Ok(())
}
