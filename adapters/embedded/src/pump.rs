//! The pump's state, and the code shared by its three drivers.

use embedded_io::ErrorKind;
use mcp_proto::{Receive, Transmit};

use crate::log;
use crate::status::{ErrorClass, PumpStatus, classify};

/// ASCII *end of transmission*, sent by a peer to start a new session. JSON cannot contain this byte.
pub const SESSION_MARK: u8 = 0x04;

/// ASCII *cancel*. The machine discards a line that contains this byte.
const CANCEL: u8 = 0x18;

/// The size of the read buffer: at least the FIFO of a typical UART, and one full-speed USB packet.
const READ_BUFFER_SIZE: usize = 64;

/// Moves bytes between a machine (server or client) and a link.
///
/// `Pump` has no type parameters, contains a 64-byte buffer and needs no heap.
///
/// [`step`](Pump::step) never blocks, and suits a main loop that has other work. [`run`](Pump::run) blocks.
/// [`wait`](Pump::wait) is for async executors.
///
/// ```
/// use mcp_proto::server::{Event, ServerConfig, Tool, Tools};
/// use mcp_proto::{Millis, Server};
/// use mcp_proto_embedded::{Link, Pump, SESSION_MARK, PumpStatus};
///
/// static TOOLS: Tools = Tools::new(&[Tool::new("hello", "{}")]);
/// static INFO: ServerConfig = ServerConfig::new("board", "1.0.0").features(&[&TOOLS]);
///
/// fn main_loop(uart: &mut dyn Link, now: fn() -> Millis) -> Result<(), mcp_proto::ConfigError> {
///     let (mut rx, mut tx) = ([0; 512], [0; 1024]);
///     let mut server = Server::new(&INFO, &mut rx, &mut tx)?;
///     let mut pump = Pump::new().session_mark(SESSION_MARK);
///     loop {
///         match pump.step(&mut server, uart, now()) {
///             PumpStatus::Event => match server.event() {
///                 Some(Event::Call(call)) => call.text("Hello!"),
///                 _ => {}
///             },
///             PumpStatus::NewSession => server.reset(),
///             PumpStatus::Closed => return Ok(()),
///             PumpStatus::Idle(_) => { /* sleep until an interrupt */ }
///             _ => {}
///         }
///         // Other work of the main loop goes here.
///     }
/// }
/// ```
pub struct Pump {
    read_buffer: [u8; READ_BUFFER_SIZE],
    /// Start of the bytes that the machine has not received yet.
    fed: usize,
    /// End of the bytes that were read.
    filled: usize,
    mark: Option<u8>,
    input: Input,
    /// Whether a cancel byte must be passed to the machine, so that it discards its partial line.
    cancels_line: bool,
    /// Whether the machine has received a partial line.
    in_line: bool,
    /// Whether the peer has received a partial line.
    in_output_line: bool,
    /// Whether a newline must be written first, to end a partial line of the old session.
    ends_line: bool,
    /// Whether output was written but not flushed.
    pub(crate) unflushed: bool,
}

/// The state of the link's input direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Input {
    Open,
    /// The input has ended, and the machine is not informed yet.
    Ended,
    /// The input has ended, and the machine is informed.
    Reported,
}

impl Pump {
    /// Creates a pump for one connection, without a session mark.
    #[must_use]
    pub const fn new() -> Pump {
        Pump {
            read_buffer: [0; READ_BUFFER_SIZE],
            fed: 0,
            filled: 0,
            mark: None,
            input: Input::Open,
            cancels_line: false,
            in_line: false,
            in_output_line: false,
            ends_line: false,
            unflushed: false,
        }
    }

    /// Treats the input byte `mark` as the start of a new session.
    ///
    /// When the byte arrives, the pump returns [`PumpStatus::NewSession`], and the caller must reset the machine. The
    /// bytes after the mark belong to the new session. [`SESSION_MARK`] is a suitable byte, because it cannot occur in
    /// JSON.
    ///
    /// A serial line has no connections. Without a mark, requests of a disconnected client are still in flight when the
    /// next client starts.
    #[must_use]
    pub const fn session_mark(mut self, mark: u8) -> Pump {
        self.mark = Some(mark);
        self
    }

    /// Starts a new session and drops the buffered bytes of the old session. The caller must also reset the machine.
    ///
    /// Call this method after a break on the line, after a change of DTR, or when a new connection opens.
    pub fn new_session(&mut self) {
        (self.fed, self.filled) = (0, 0);
        self.input = Input::Open;
        self.clear_lines();
    }

    /// Records that the connection is closed, so that the next input starts a new line.
    pub(crate) fn closed(&mut self) -> PumpStatus {
        self.in_line = false;
        self.cancels_line = false;
        log::closed();
        PumpStatus::Closed
    }

    /// Returns the next bytes to write: a pending newline, or the machine's output.
    pub(crate) fn output<'a>(&self, transmit: &Transmit<'a>) -> &'a [u8] {
        if self.ends_line { b"\n" } else { transmit.bytes() }
    }

    /// Handles the result of writing the [output](Pump::output). `None` means that no byte was written.
    pub(crate) fn record_write(
        &mut self,
        transmit: Transmit<'_>,
        written: Result<usize, ErrorKind>,
    ) -> Option<PumpStatus> {
        let output = self.output(&transmit);
        let n = match written {
            Ok(n) => n.min(output.len()),
            Err(kind) => {
                return match classify(kind) {
                    ErrorClass::TimedOut => None,
                    ErrorClass::Temporary => {
                        log::not_written(kind);
                        Some(PumpStatus::NotWritten(kind))
                    }
                    ErrorClass::Gone => {
                        log::lost(kind);
                        transmit.broken();
                        Some(PumpStatus::LinkLost(kind))
                    }
                };
            }
        };
        let last = output.get(..n).and_then(<[u8]>::last)?;
        self.in_output_line = *last != b'\n';
        self.unflushed = true;
        if self.ends_line {
            self.ends_line = false;
        } else {
            transmit.sent(n);
        }
        Some(PumpStatus::Moved)
    }

    /// Whether the caller may read into [`read_buffer`](Pump::read_buffer).
    pub(crate) fn wants_more(&self) -> bool {
        self.fed >= self.filled && !self.cancels_line && self.input == Input::Open
    }

    /// The buffer to read into.
    pub(crate) fn read_buffer(&mut self) -> &mut [u8] {
        &mut self.read_buffer
    }

    /// Handles the result of reading into [`read_buffer`](Pump::read_buffer). `None` means that no byte has arrived.
    pub(crate) fn record_read(&mut self, read: Result<Option<usize>, ErrorKind>) -> Option<PumpStatus> {
        match read {
            Ok(None) => None,
            Ok(Some(0)) => {
                self.input = Input::Ended;
                Some(PumpStatus::Moved)
            }
            Ok(Some(n)) => {
                (self.fed, self.filled) = (0, n.min(READ_BUFFER_SIZE));
                Some(PumpStatus::Moved)
            }
            Err(kind) => match classify(kind) {
                ErrorClass::TimedOut => None,
                ErrorClass::Temporary => {
                    log::broken(kind);
                    self.cancels_line = self.in_line;
                    Some(PumpStatus::LineBroken(kind))
                }
                ErrorClass::Gone => {
                    log::lost(kind);
                    self.input = Input::Ended;
                    Some(PumpStatus::LinkLost(kind))
                }
            },
        }
    }

    /// Passes buffered input, a cancel byte or the end of input to the machine. Returns `None` if there is nothing to
    /// pass or the machine has no space.
    pub(crate) fn feed(&mut self, mut receive: Receive<'_>) -> Option<PumpStatus> {
        let held = self.read_buffer.get(self.fed..self.filled).unwrap_or_default();
        let mark = self.mark.and_then(|mark| held.iter().position(|byte| *byte == mark));
        // The bytes before the mark belong to the old session, so the pump drops them if the machine is not ready.
        if let Some(at) = mark.filter(|at| *at == 0 || !receive.is_ready()) {
            self.fed = self.fed.saturating_add(at).saturating_add(1);
            self.clear_lines();
            log::new_session();
            return Some(PumpStatus::NewSession);
        }
        let bytes = held.get(..mark.unwrap_or(held.len())).unwrap_or_default();
        if let [_, ..] = bytes {
            let mut last = None;
            let count = receive.space().iter_mut().zip(bytes).map(|(slot, byte)| {
                *slot = *byte;
                last = Some(*byte);
            });
            let count = count.count();
            self.in_line = last? != b'\n';
            self.fed = self.fed.saturating_add(count);
            receive.filled(count);
            return Some(PumpStatus::Moved);
        }
        if self.cancels_line {
            *receive.space().first_mut()? = CANCEL;
            self.cancels_line = false;
            receive.filled(1);
            return Some(PumpStatus::Moved);
        }
        if self.input == Input::Ended {
            self.input = Input::Reported;
            receive.eof();
            return Some(PumpStatus::Moved);
        }
        None
    }

    /// Clears the line state of the old session.
    fn clear_lines(&mut self) {
        self.cancels_line = false;
        self.in_line = false;
        self.ends_line |= self.in_output_line;
    }
}

impl Default for Pump {
    fn default() -> Pump {
        Pump::new()
    }
}

impl core::fmt::Debug for Pump {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Pump").field("input", &self.input).finish_non_exhaustive()
    }
}
