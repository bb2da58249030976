//! A board on a pseudo-terminal, with the pump of real boards. A test can reset the board, and make the line noisy.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use mcp_proto::server::{Call, Event, ServerConfig, Slot, Tool, Tools};
use mcp_proto::{Clock, Millis, SendError, Server, Ticket};
use mcp_proto_embedded::{FramedPump, Link, Pump, PumpStatus, SESSION_MARK};
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serial2::SerialPort;

static TOOLS: Tools = Tools::new(&[
    Tool::new("hello", "{}"),
    Tool::new("slow", "{}").description("Runs for half a second and reports progress"),
    Tool::new("big", "{}").description("Returns 8,000 characters"),
    Tool::new("in_flight", "{}").description("Returns the number of slow calls in flight"),
    Tool::new("log", "{}").description("Prints log lines"),
]);
static CONFIG: ServerConfig = ServerConfig::new("board", "1").features(&[&TOOLS]);

/// Log lines of the board. Some look like messages.
pub(crate) const LOG: &[u8] =
    b"booting...\n\r[00:00.000] <inf> main: [up]\r\n\x1b[0m[]\n{ temperature: 21 }\n{\"jsonrpc\":\"2.0\",\"id\":\
      \n{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":{\"x\":\"\xff\xfe\"}}\n";
/// The same lines as the bridge shows them.
pub(crate) const SHOWN_LOG: &str = "booting...\n[00:00.000] <inf> main: [up]\n\\x1b[0m[]\n{ temperature: 21 }\n{\"jsonrpc\":\"2.0\",\"id\":\
     \n{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":{\"x\":\"\\xff\\xfe\"}}\n";

/// Log lines without invalid UTF-8.
pub(crate) const TEXT_LOG: &[u8] =
    "booting...\n\r[00:00.000] <inf> päivää\r\n{\"jsonrpc\":\"2.0\",\"id\":1}\nno end".as_bytes();

/// Pseudorandom numbers from a seed (xorshift).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as u32 % limit.max(1)
    }
}

/// Both ends of a pseudo-terminal.
pub(crate) struct Wire {
    /// The board's end.
    pub(crate) board: SerialPort,
    /// The path that a bridge opens.
    pub(crate) path: String,
    /// Keeps the port open between bridges, because the UART of a board stays open without a cable.
    _kept: SerialPort,
}

impl Wire {
    pub(crate) fn new() -> Wire {
        // With `CLOEXEC`, bridges of concurrent tests do not inherit the descriptor.
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

/// The state that a test and its running board share.
#[derive(Default)]
struct Control {
    /// The number of session marks received. With frames, the number of sessions that the pump has reported.
    marks: AtomicUsize,
    /// Whether the board has to restart.
    reset: AtomicBool,
    /// Whether the mark of the next start is lost.
    loses_mark: AtomicBool,
    /// Average number of damaged bytes in 1000 bytes, for both directions.
    noise: AtomicU32,
    /// Whether the board exchanges frames.
    framed: AtomicBool,
    /// The number of starts with frames.
    starts: AtomicU32,
    stop: AtomicBool,
}

pub(crate) struct Board {
    /// The path that a bridge opens: a symbolic link to the port. The path stays the same when the board is plugged in
    /// again.
    pub(crate) path: String,
    /// The seed of the noise. Boards with the same seed have the same random numbers.
    noise: u64,
    control: Arc<Control>,
    thread: Option<JoinHandle<()>>,
}

impl Board {
    pub(crate) fn start() -> Board {
        Board::with_noise_of(0)
    }

    /// Starts a board with this seed of its noise.
    pub(crate) fn with_noise_of(noise: u64) -> Board {
        static BOARDS: AtomicUsize = AtomicUsize::new(0);
        let name = format!("board-{}-{}", std::process::id(), BOARDS.fetch_add(1, Relaxed));
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        let path = path.to_str().unwrap().to_owned();
        let mut board = Board { path, noise, control: Arc::default(), thread: None };
        board.plug_in();
        board
    }

    /// Starts a board that exchanges frames.
    pub(crate) fn start_framed() -> Board {
        Board::framed_with_noise_of(0)
    }

    pub(crate) fn framed_with_noise_of(noise: u64) -> Board {
        let board = Board::with_noise_of(noise);
        board.control.framed.store(true, Relaxed);
        board.reset();
        board
    }

    /// Returns the number of session marks that a board without frames has received.
    pub(crate) fn marks(&self) -> usize {
        self.control.marks.load(Relaxed)
    }

    /// Restarts the board. Returns when the board runs again.
    pub(crate) fn reset(&self) {
        self.control.reset.store(true, Relaxed);
        while self.control.reset.load(Relaxed) {
            thread::yield_now();
        }
    }

    /// Restarts the board, and drops its mark.
    pub(crate) fn reset_without_a_mark(&self) {
        self.control.loses_mark.store(true, Relaxed);
        self.reset();
    }

    /// Damages on average `permille` of 1000 bytes in both directions.
    pub(crate) fn make_noise(&self, permille: u32) {
        self.control.noise.store(permille, Relaxed);
    }

    pub(crate) fn unplug(&mut self) {
        self.control.stop.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
        let _ = fs::remove_file(&self.path);
    }

    /// Plugs in a new or unplugged board. The board then has a new port.
    pub(crate) fn plug_in(&mut self) {
        let wire = Wire::new();
        let _ = fs::remove_file(&self.path);
        symlink(&wire.path, &self.path).unwrap();
        self.control.stop.store(false, Relaxed);
        let (control, noise) = (Arc::clone(&self.control), self.noise);
        self.thread = Some(thread::spawn(move || {
            let mut uart = Uart {
                wire,
                noise: 0,
                random: Random(0x1234_5678_9abc_def1 ^ (noise << 32)),
                log: b"",
                end: b'\n',
                in_line: false,
                lost: 0,
            };
            while !control.stop.load(Relaxed) {
                live(&mut uart, &control);
            }
        }));
    }
}

impl Drop for Board {
    fn drop(&mut self) {
        self.unplug();
    }
}

/// The board's end of the line.
struct Uart {
    wire: Wire,
    noise: u32,
    random: Random,
    /// The log that is not printed yet.
    log: &'static [u8],
    in_line: bool,
    /// The byte after which the board can print logs.
    end: u8,
    /// The number of output bytes that are still to be lost.
    lost: usize,
}

impl Uart {
    fn damage(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            if self.random.below(1000) < self.noise {
                *byte ^= 1 << self.random.below(8);
            }
        }
    }

    fn write(&mut self, bytes: &[u8]) -> usize {
        let mut damaged = bytes.to_vec();
        self.damage(&mut damaged);
        match self.wire.board.write(&damaged) {
            Ok(n) => n,
            // The line accepts no byte now.
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => 0,
            Err(error) => panic!("{error}"),
        }
    }
}

impl Link for Uart {
    fn receive(&mut self, space: &mut [u8]) -> Result<Option<usize>, embedded_io::ErrorKind> {
        let Ok(n) = self.wire.board.read(space) else { return Ok(None) };
        self.damage(&mut space[..n]);
        Ok(Some(n))
    }

    fn transmit(&mut self, bytes: &[u8]) -> Result<usize, embedded_io::ErrorKind> {
        if self.lost > 0 {
            let n = bytes.len().min(self.lost);
            self.lost -= n;
            return Ok(n);
        }
        // The board prints logs only between messages.
        if !self.in_line && !self.log.is_empty() {
            let n = self.write(self.log);
            self.log = &self.log[n..];
            return Ok(0);
        }
        // A UART takes a few bytes at a time.
        let n = self.write(&bytes[..bytes.len().min(32)]);
        if n > 0 {
            self.in_line = bytes[n - 1] != self.end;
        }
        Ok(n)
    }
}

enum AnyPump {
    Plain(Pump),
    Framed(Box<FramedPump>),
}

impl AnyPump {
    fn step(&mut self, server: &mut Server<'_>, uart: &mut Uart, now: Millis) -> PumpStatus {
        match self {
            AnyPump::Plain(pump) => pump.step(server, uart, now),
            AnyPump::Framed(pump) => pump.step(server, uart, now),
        }
    }
}

/// A slow call: fifty steps of ten milliseconds.
struct Slow {
    ticket: Ticket,
    step: u32,
    next: Millis,
}

/// Runs the board until it is reset or unplugged.
fn live(uart: &mut Uart, control: &Control) {
    control.reset.store(false, Relaxed);
    if control.loses_mark.swap(false, Relaxed) {
        uart.lost = SESSION_MARK.len();
    }
    let (mut rx, mut tx) = ([0; 1024], [0; 10_000]);
    let (mut slots, mut text) = ([Slot::EMPTY; 4], [0; 256]);
    let server = Server::new(&CONFIG, &mut rx, &mut tx).unwrap();
    let mut server = server.in_flight(&mut slots, &mut text).unwrap();
    uart.end = if control.framed.load(Relaxed) { 0 } else { b'\n' };
    let mut pump = match uart.end {
        0 => AnyPump::Framed(Box::new(FramedPump::new(control.starts.fetch_add(1, Relaxed) as u16))),
        _ => AnyPump::Plain(Pump::new().session_marks()),
    };
    let clock = Clock::start();
    let mut slow = Vec::<Slow>::new();
    while !control.stop.load(Relaxed) && !control.reset.load(Relaxed) {
        uart.noise = control.noise.load(Relaxed);
        let now = clock.now();
        slow.retain_mut(|call| step(&mut server, call, now));
        let count = slow.len();
        match pump.step(&mut server, uart, now) {
            PumpStatus::Event => match server.event() {
                Some(Event::Call(call)) => match call.name() {
                    "slow" => slow.extend(begin(call, now)),
                    "in_flight" => call.text(count),
                    "log" => {
                        uart.log = if uart.end == 0 { TEXT_LOG } else { LOG };
                        call.text("printed");
                    }
                    "big" => call.text("0123456789".repeat(800)),
                    _ => call.text("hello"),
                },
                Some(Event::Cancelled { ticket, .. }) => slow.retain(|call| call.ticket != ticket),
                _ => {}
            },
            PumpStatus::NewSession => {
                control.marks.fetch_add(1, Relaxed);
                slow.clear();
                server.reset();
            }
            PumpStatus::Closed => panic!("a board never closes"),
            _ => {}
        }
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

/// Performs the next step of a slow call if the step is due. Returns whether the call is still in flight.
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
