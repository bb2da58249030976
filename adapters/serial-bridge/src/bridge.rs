//! Moves bytes between the client, the router and the board.
//!
//! Each direction of each side has a thread, so that a side that does not read delays no other direction. The threads
//! share the router, and the main thread watches its deadlines.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Read, Write, stderr, stdin, stdout};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use crate::blocking_stream::BlockingStream;
use crate::board_line::BoardLine;
use crate::link::Link;
use crate::options::Options;
use crate::router::Router;

/// Limit of unsent output for one side, in bytes. Beyond this limit, the bridge stops reading from the opposite side.
const MAX_OUTPUT: usize = 1 << 18;
/// Maximum size of one write, in bytes.
const PIECE: usize = 4096;
/// Duration of a break, longer than a character at common speeds.
const BREAK: Duration = Duration::from_millis(20);
/// Pause between two attempts to open a lost link.
const REOPEN_PAUSE: Duration = Duration::from_millis(100);
/// Pause between two checks for the end of the client while the bridge does not read stdin.
const CLOSE_CHECK: Duration = Duration::from_millis(500);
/// Time limit for the last output. Without this limit, a board or a client that does not read would prevent the exit.
const END_LIMIT: Duration = Duration::from_millis(300);

/// A destination of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Output {
    Board,
    Client,
    Log,
}

struct State {
    router: Router,
    line: BoardLine,
    /// The link to the board. `None` while the link is lost.
    link: Option<Arc<Link>>,
    /// The outputs that a thread writes at this moment.
    writing: Vec<Output>,
    /// Whether the client has closed stdin. Unread input may be left.
    input_closed: bool,
    /// Whether stdin has ended, and all input was read.
    input_ended: bool,
    /// Whether the client has closed stdout.
    client_gone: bool,
    /// The error of a lost link that could not be opened again.
    board_gone: Option<io::Error>,
}

impl State {
    /// Removes and returns the next piece of output. The piece is empty if no output is due, and for the board while
    /// the link is lost. A piece is short, so that a restart of the board can still drop most of the output.
    fn take(&mut self, output: Output) -> Vec<u8> {
        let pending = match output {
            Output::Board if self.link.is_none() => return Vec::new(),
            Output::Board => return self.line.output(PIECE, &mut self.router, Instant::now()),
            Output::Client => &mut self.router.to_client,
            Output::Log => &mut self.router.log,
        };
        pending.drain(..pending.len().min(PIECE)).collect()
    }

    fn is_written(&self, output: Output) -> bool {
        let is_empty = match output {
            Output::Board => self.line.is_written(&self.router),
            Output::Client => self.router.to_client.is_empty(),
            Output::Log => self.router.log.is_empty(),
        };
        is_empty && !self.writing.contains(&output)
    }
}

/// The state that all threads share, and the signal of each change.
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    options: Options,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'s>(&self, state: MutexGuard<'s, State>, until: Option<Instant>) -> MutexGuard<'s, State> {
        let Some(until) = until else {
            return self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        };
        let longest = until.saturating_duration_since(Instant::now());
        self.changed.wait_timeout(state, longest).unwrap_or_else(PoisonError::into_inner).0
    }

    /// Waits until the condition is true, at most until the given time.
    fn wait_until(&self, until: Instant, mut condition: impl FnMut(&mut State) -> bool) {
        let mut state = self.lock();
        while !condition(&mut state) && Instant::now() < until {
            state = self.wait(state, Some(until));
        }
    }
}

/// Connects the client to the board until the client disconnects, or the board cannot be reached again.
///
/// # Errors
/// The board has disconnected and cannot be reached again. A client that disconnects is not an error.
pub(crate) fn run(link: Link, options: Options) -> Result<(), String> {
    let random = RandomState::new().build_hasher().finish();
    let number = options.settings.framed.then_some((random >> 32) as u16);
    let state = State {
        router: Router::new(options.settings, random as u32),
        line: BoardLine::new(number, Instant::now()),
        link: None,
        writing: Vec::new(),
        input_closed: false,
        input_ended: false,
        client_gone: false,
        board_gone: None,
    };
    let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new(), options });
    let threads: [fn(&Shared); 4] = [read_client, write_client, write_board, write_log];
    for thread in threads {
        let shared = Arc::clone(&shared);
        thread::spawn(move || thread(&shared));
    }
    let reader = Arc::clone(&shared);
    thread::spawn(move || read_board(&reader, link));
    let result = serve(&shared);
    // The bridge does not join the threads, because only the end of the process interrupts a blocked read.
    end(&shared);
    result
}

/// Watches deadlines until the board is lost, or the client closes stdout. After the end of stdin, waits for the
/// responses to requests, except subscriptions, at most for the grace period. Input that the bridge cannot read yet
/// does not extend this period. Returns an error only if the board is lost.
fn serve(shared: &Shared) -> Result<(), String> {
    let mut ends = None;
    let mut state = shared.lock();
    loop {
        if let Some(why) = state.board_gone.take() {
            return Err(format!(
                "the board has disconnected: {why}. Is it still plugged in, and switched on?"
            ));
        }
        if state.client_gone {
            return Ok(());
        }
        if state.input_closed {
            let at = *ends.get_or_insert_with(|| Instant::now() + shared.options.grace);
            let awaited = state.router.awaited();
            if awaited > 0 && Instant::now() >= at {
                state.router.log_note(&format!(
                    "the client has disconnected, and {awaited} of its requests got no response in time"
                ));
            }
            if Instant::now() >= at && !state.input_ended {
                state
                    .router
                    .log_note("the client has disconnected, and the board did not read all of its input");
            }
            if state.input_ended && awaited == 0 || Instant::now() >= at {
                return Ok(());
            }
        }
        let now = Instant::now();
        let State { router, line, .. } = &mut *state;
        router.tick(now);
        line.tick(router, now);
        shared.changed.notify_all();
        // A frame that is written at this moment is not repeated.
        let repeat = state.line.deadline().filter(|_| !state.writing.contains(&Output::Board));
        let until = state.router.deadline().into_iter().chain(repeat).chain(ends).min();
        state = shared.wait(state, until);
    }
}

/// Ends the session, and waits at most [`END_LIMIT`] for the last output.
fn end(shared: &Shared) {
    {
        let mut state = shared.lock();
        if state.link.is_some() {
            state.router.end_session();
        }
        let State { router, line, .. } = &mut *state;
        line.show_text(router);
        shared.changed.notify_all();
    }
    let until = Instant::now() + END_LIMIT;
    shared.wait_until(until, |state| {
        let board = state.link.is_none() || state.is_written(Output::Board);
        let client = state.client_gone || state.is_written(Output::Client);
        board && client && state.is_written(Output::Log)
    });
}

fn read_client(shared: &Shared) {
    let (mut input, mut bytes) = (BlockingStream(stdin().lock()), [0; 4096]);
    while let Ok(n @ 1..) = input.read(&mut bytes) {
        let mut state = shared.lock();
        while state.router.is_full() || state.router.to_board.len() > MAX_OUTPUT {
            if !state.input_closed && is_stdin_closed() {
                state.input_closed = true;
                shared.changed.notify_all();
            }
            state = shared.wait(state, Some(Instant::now() + CLOSE_CHECK));
        }
        state.router.client_input(&bytes[..n], Instant::now());
        shared.changed.notify_all();
    }
    let mut state = shared.lock();
    state.router.client_ended(Instant::now());
    (state.input_closed, state.input_ended) = (true, true);
    shared.changed.notify_all();
}

/// Returns whether the client has closed stdin. Unread input may be left.
#[cfg(unix)]
fn is_stdin_closed() -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let stdin = stdin();
    let mut polled = [PollFd::new(&stdin, PollFlags::HUP)];
    poll(&mut polled, Some(&Timespec::default())).is_ok() && polled[0].revents().contains(PollFlags::HUP)
}

/// Returns `false`: only a read shows the end of stdin.
#[cfg(not(unix))]
fn is_stdin_closed() -> bool {
    false
}

/// Reads from the board, and opens a lost link again.
fn read_board(shared: &Shared, link: Link) {
    let (mut opened, mut give_up_at) = (Ok(link), None);
    loop {
        let why = match opened {
            Ok(link) => {
                let since = Instant::now();
                let (bytes_came, why) = read_link(shared, link);
                // A link that is soon lost without any byte does not extend the time for new attempts, because such a
                // link may never work.
                if bytes_came || since.elapsed() >= shared.options.reopen || give_up_at.is_none() {
                    give_up_at = Some(Instant::now() + shared.options.reopen);
                    shared.lock().router.log_note(&format!("the board has disconnected: {why}"));
                }
                why
            }
            Err(why) => io::Error::other(why),
        };
        if give_up_at.is_some_and(|at| Instant::now() >= at) {
            shared.lock().board_gone = Some(why);
            return shared.changed.notify_all();
        }
        sleep(REOPEN_PAUSE);
        opened = Link::open(&shared.options);
    }
}

/// Opens a session on the link, and reads until the link is lost. Returns whether the board has sent any byte, and the
/// error of the link.
fn read_link(shared: &Shared, link: Link) -> (bool, io::Error) {
    if shared.options.sends_break {
        link.send_break(|| sleep(BREAK));
    }
    let link = Arc::new(link);
    {
        let mut state = shared.lock();
        state.link = Some(Arc::clone(&link));
        state.router.connected(Instant::now());
        shared.changed.notify_all();
    }
    let (mut bytes, mut bytes_came) = ([0; 4096], false);
    let why = loop {
        let n = match link.read(&mut bytes) {
            Ok(n) => n,
            Err(error) => break error,
        };
        bytes_came = true;
        let mut state = shared.lock();
        while state.router.to_client.len() > MAX_OUTPUT {
            state = shared.wait(state, None);
        }
        let State { router, line, .. } = &mut *state;
        line.input(&bytes[..n], router, Instant::now());
        shared.changed.notify_all();
    };
    link.close();
    let mut state = shared.lock();
    state.link = None;
    state.line.restart();
    state.router.disconnected();
    // Wait until the writer has released the port. A device that returns while its port is open may get another name.
    while state.writing.contains(&Output::Board) {
        state = shared.wait(state, None);
    }
    shared.changed.notify_all();
    (bytes_came, why)
}

fn write_client(shared: &Shared) {
    let write = |_: Option<&Link>, bytes: &[u8]| {
        let mut output = BlockingStream(stdout().lock());
        output.write_all(bytes).and_then(|()| output.flush())
    };
    write_output(shared, Output::Client, write);
    shared.lock().client_gone = true;
    shared.changed.notify_all();
}

fn write_board(shared: &Shared) {
    write_output(shared, Output::Board, |link, bytes| {
        if let Some(link) = link
            && link.write_all(bytes).is_err()
        {
            // The reading thread then gets an error, too, and opens the link again.
            link.close();
        }
        Ok(())
    });
}

fn write_log(shared: &Shared) {
    write_output(shared, Output::Log, |_, bytes| {
        // Ignore errors, because stderr may be closed.
        let _ = BlockingStream(stderr()).write_all(bytes);
        Ok(())
    });
}

/// Writes output as it becomes available, until `write` fails.
fn write_output(shared: &Shared, output: Output, write: impl Fn(Option<&Link>, &[u8]) -> io::Result<()>) {
    let mut state = shared.lock();
    loop {
        let bytes = state.take(output);
        if bytes.is_empty() {
            state = shared.wait(state, None);
            continue;
        }
        let link = state.link.clone();
        state.writing.push(output);
        drop(state);
        let written = write(link.as_deref(), &bytes);
        drop(link);
        state = shared.lock();
        state.writing.retain(|other| *other != output);
        shared.changed.notify_all();
        if written.is_err() {
            return;
        }
    }
}
