//! A board on a pseudo-terminal. The byte 0x04 resets its server.

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use mcp_proto::server::{Call, Event, ServerConfig, Slot, Tool, Tools};
use mcp_proto::{Action, Clock, Millis, SendError, Server, Ticket};
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serial2::SerialPort;

static TOOLS: Tools = Tools::new(&[
    Tool::new("hello", "{}"),
    Tool::new("slow", "{}").description("Takes a while, and says how far it is"),
    Tool::new("big", "{}").description("An answer that takes a while to send"),
    Tool::new("in_flight", "{}").description("How many slow calls are there?"),
    Tool::new("log", "{}").description("Prints something that is no message"),
]);
static INFO: ServerConfig = ServerConfig::new("board", "1").features(&[&TOOLS]);

/// Log lines of the board.
pub(crate) const LOG: &str = "booting...\n\r[00:00.000] <inf> main: [up]\r\n\u{1b}[0m[]\n";

/// Both ends of a pseudo-terminal.
pub(crate) struct Wire {
    /// The board's end.
    pub(crate) board: SerialPort,
    /// The path that a bridge opens.
    pub(crate) path: String,
    /// Keeps the port open between bridges. A UART also exists without a cable.
    _kept: SerialPort,
}

impl Wire {
    pub(crate) fn new() -> Wire {
        // Bridges of concurrent tests must not inherit the descriptor.
        let board = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&board).unwrap();
        unlockpt(&board).unwrap();
        fcntl_setfl(&board, OFlags::RDWR | OFlags::NONBLOCK).unwrap();
        let path = ptsname(&board, Vec::new()).unwrap().into_string().unwrap();
        let kept = SerialPort::open(&path, 9600).unwrap();
        let mut board = SerialPort::from(board);
        board.set_read_timeout(Duration::from_millis(1)).unwrap();
        board.set_write_timeout(Duration::ZERO).unwrap();
        Wire { board, path, _kept: kept }
    }
}

pub(crate) struct Board {
    pub(crate) path: String,
    resets: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Board {
    pub(crate) fn start() -> Board {
        let wire = Wire::new();
        let (resets, stop) = (Arc::default(), Arc::<AtomicBool>::default());
        let path = wire.path.clone();
        let (counted, stopped) = (Arc::clone(&resets), Arc::clone(&stop));
        let thread = thread::spawn(move || live(&wire, &counted, &stopped));
        Board { path, resets, stop, thread: Some(thread) }
    }

    /// The number of session marks received.
    pub(crate) fn resets(&self) -> usize {
        self.resets.load(Relaxed)
    }

    /// Unplugs the board.
    pub(crate) fn stop(&mut self) {
        self.stop.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

impl Drop for Board {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A slow call: fifty steps of ten milliseconds.
struct Slow {
    ticket: Ticket,
    step: u32,
    next: Millis,
}

fn live(wire: &Wire, resets: &AtomicUsize, stop: &AtomicBool) {
    let (mut rx, mut tx) = ([0; 1024], [0; 10_000]);
    let (mut slots, mut text) = ([Slot::EMPTY; 4], [0; 256]);
    let server = Server::new(&INFO, &mut rx, &mut tx).unwrap();
    let mut server = server.in_flight(&mut slots, &mut text).unwrap();
    let clock = Clock::start();
    let (mut arrived, mut slow, mut log) = (Vec::new(), Vec::<Slow>::new(), LOG.as_bytes());
    while !stop.load(Relaxed) {
        let mut bytes = [0; 256];
        if let Ok(n) = wire.board.read(&mut bytes) {
            arrived.extend_from_slice(&bytes[..n]);
        }
        if let Some(mark) = arrived.iter().rposition(|byte| *byte == 4) {
            resets.fetch_add(arrived.iter().filter(|byte| **byte == 4).count(), Relaxed);
            arrived.drain(..=mark);
            slow.clear();
            server.reset();
        }
        let now = clock.now();
        slow.retain_mut(|call| step(&mut server, call, now));
        let count = slow.len();
        match server.poll(now) {
            Action::Io(io) => {
                let (out, mut input) = io.split();
                // The board prints logs only between messages. A UART takes a few bytes at a time.
                if out.bytes().is_empty() || log.len() < LOG.len() {
                    log = &log[send(&wire.board, log)..];
                }
                if log.is_empty() || log.len() == LOG.len() {
                    let n = send(&wire.board, &out.bytes()[..out.bytes().len().min(32)]);
                    out.sent(n);
                }
                let n = input.space().len().min(arrived.len());
                input.space()[..n].copy_from_slice(&arrived[..n]);
                arrived.drain(..n);
                input.filled(n);
            }
            Action::Event => match server.event() {
                Some(Event::Call(call)) => match call.name() {
                    "slow" => slow.extend(begin(call, now)),
                    "in_flight" => call.text(count),
                    "log" => {
                        log = LOG.as_bytes();
                        call.text("printed");
                    }
                    "big" => call.text("0123456789".repeat(800)),
                    _ => call.text("hello"),
                },
                Some(Event::Cancelled { ticket, .. }) => slow.retain(|call| call.ticket != ticket),
                _ => {}
            },
            Action::Closed => panic!("a board never closes"),
        }
    }
}

fn send(port: &SerialPort, bytes: &[u8]) -> usize {
    match port.write(bytes) {
        Ok(n) => n,
        // The read also times out if no byte arrives.
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => 0,
        Err(error) => panic!("{error}"),
    }
}

fn begin(call: Call<'_>, now: Millis) -> Option<Slow> {
    match call.defer(None) {
        Ok(ticket) => Some(Slow { ticket, step: 0, next: now }),
        Err(call) => {
            call.busy();
            None
        }
    }
}

/// Whether the call is still in flight.
fn step(server: &mut Server<'_>, call: &mut Slow, now: Millis) -> bool {
    if call.next > now {
        return true;
    }
    match server.reply(call.ticket) {
        Ok(reply) if call.step == 50 => {
            reply.text("done");
            false
        }
        Ok(mut reply) => {
            _ = reply.progress(call.step, Some(50.into()), "");
            (call.step, call.next) = (call.step + 1, now.plus(Millis(10)));
            true
        }
        Err(why) => why == SendError::Busy,
    }
}
