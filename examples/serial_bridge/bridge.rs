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
use crate::session;
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
    let sort = session::begin(&mut link, options).map_err(gone)?;
    let shared = Arc::new(Shared { link, flight: Mutex::default() });
    let (tell, news) = channel();
    let (to_board, told) = (Arc::clone(&shared), tell.clone());
    thread::spawn(move || told.send(client_to_board(&to_board)));
    let to_client = Arc::clone(&shared);
    thread::spawn(move || tell.send(board_to_client(&to_client, sort, &tell)));
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

fn board_to_client(shared: &Shared, mut sort: Sort, tell: &Sender<News>) -> News {
    let (mut output, mut bytes, mut lines) = (stdout().lock(), [0; 4096], Lines::default());
    loop {
        let n = match shared.link.read(&mut bytes) {
            Ok(n) => n,
            Err(error) if error.kind() == io::ErrorKind::TimedOut => continue,
            Err(error) => return News::BoardGone(error),
        };
        let mut written = Ok(());
        sort.pieces(&bytes[..n], |kind, piece| match kind {
            Kind::Message if written.is_ok() => {
                written = output.write_all(piece).and_then(|()| output.flush());
                lines.feed(piece, |line| {
                    let mut flight = shared.flight();
                    flight.received(line);
                    if flight.len() == 0 {
                        let _ = tell.send(News::AllAnswered);
                    }
                });
            }
            Kind::Message => {}
            // Nobody need read it.
            Kind::Other => drop(stderr().write_all(piece)),
        });
        if written.is_err() {
            return News::ClientGone;
        }
    }
}
