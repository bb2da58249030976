//! `Pump`: the state that the polled, blocking and async pumps share.
//!
//! Cancels lines that have lost bytes, and detects session marks.

use embedded_io::ErrorKind;
use mcp_proto::{Millis, Receive, Transmit};

use crate::log;
use crate::status::{ErrorClass, PumpStatus, classify};

/// The line that starts a new session: four times ASCII *end of transmission*, with a line break on both sides.
///
/// Valid JSON never contains the byte *end of transmission*. Noise on the line is unlikely to produce the mark, because
/// it would have to change four bytes in a row to this value.
pub const SESSION_MARK: &[u8] = b"\n\x04\x04\x04\x04\n";

/// ASCII *cancel*. The machine discards a line that contains this byte.
const CANCEL: u8 = 0x18;

/// Ends a partial line of output. Without the cancel byte, a server that has restarted would answer the rest of the
/// line with a parse error without an id. The client would take this error for the response to its first request.
const CANCELLED_LINE: &[u8] = &[CANCEL, b'\n'];

/// The value of [`Pump::matched`] before the first byte of a session.
const AT_START: usize = SESSION_MARK.len();

/// The size of the read buffer, in bytes. The FIFO of a typical UART and a full-speed USB packet are not larger.
const READ_BUFFER_SIZE: usize = 64;

/// Maximum time between the close of the machine and the end of the connection.
const CLOSING_TIME: Millis = Millis::seconds(2);

/// Moves bytes between a machine (server or client) and a link.
///
/// `Pump` has no type parameters, contains a 64-byte buffer and needs no heap.
///
/// [`step`](Pump::step) never waits for input, and suits a main loop that has other work. [`run`](Pump::run) blocks
/// until the caller has something to do. [`wait`](Pump::wait) is for async executors.
///
/// ```
/// use mcp_proto::server::{Event, ServerConfig, Tool, Tools};
/// use mcp_proto::{Millis, Server};
/// use mcp_proto_embedded::{Link, Pump, PumpStatus};
///
/// static TOOLS: Tools = Tools::new(&[Tool::new("hello", "{}")]);
/// static CONFIG: ServerConfig = ServerConfig::new("board", "1.0.0").features(&[&TOOLS]);
///
/// fn main_loop(uart: &mut dyn Link, now: fn() -> Millis) -> Result<(), mcp_proto::ConfigError> {
///     let (mut rx, mut tx) = ([0; 512], [0; 1024]);
///     let mut server = Server::new(&CONFIG, &mut rx, &mut tx)?;
///     let mut pump = Pump::new().session_marks();
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
    /// Start of the bytes in `read_buffer` that the machine has not received yet.
    fed: usize,
    /// End of the bytes in `read_buffer` that were read.
    filled: usize,
    input: Input,
    detects_marks: bool,
    /// The length of the incomplete session mark at the end of the input so far, or [`AT_START`].
    matched: usize,
    /// Whether a session mark has arrived that [`Pump::feed`] has not reported yet.
    has_mark: bool,
    /// Whether [`Pump::feed`] must pass a cancel byte to the machine. The machine then discards its partial line.
    cancels_line: bool,
    /// Whether the machine has received the beginning of a line, but not its end.
    in_line: bool,
    /// Whether the link has accepted the beginning of a line, but not its end.
    in_output_line: bool,
    /// Bytes to write before the machine's output: the rest of a session mark or of [`CANCELLED_LINE`].
    preamble: &'static [u8],
    /// Whether output was written but not flushed.
    pub(crate) unflushed: bool,
    /// The last error of a flush, or of an async write, that has ended a call since the last successful write. `run`
    /// returns `Idle` for the error `TimedOut`. For another error, the caller has received `NotWritten`.
    pub(crate) flush_error: Option<ErrorKind>,
    /// The time at which the connection ends even if output is unsent. `Millis::MAX` if no such time is set.
    pub(crate) closes_at: Millis,
}

/// The state of the link's input direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Input {
    Open,
    /// The input has ended, but the pump has not informed the machine yet.
    Ended,
    /// The input has ended, and the pump has informed the machine.
    Reported,
}

impl Pump {
    /// Creates a pump for one connection, without session marks.
    #[must_use]
    pub const fn new() -> Pump {
        Pump {
            read_buffer: [0; READ_BUFFER_SIZE],
            fed: 0,
            filled: 0,
            input: Input::Open,
            detects_marks: false,
            matched: AT_START,
            has_mark: false,
            cancels_line: false,
            in_line: false,
            in_output_line: false,
            preamble: b"",
            unflushed: false,
            flush_error: None,
            closes_at: Millis::MAX,
        }
    }

    /// Enables session marks: the pump sends a [`SESSION_MARK`] first, and detects the session marks of the peer.
    ///
    /// When a mark arrives, the pump drops the buffered input before the mark, and returns
    /// [`PumpStatus::NewSession`]. The caller must then reset the machine. The mark that the pump sends reports a
    /// restart of this end to the peer. If the first line of input does not begin with `{`, the machine discards this
    /// line, because it is probably the rest of a line that the peer began before this end started.
    ///
    /// A serial line has no connections. Without marks, requests of a disconnected client are still in flight when the
    /// next client starts.
    #[must_use]
    pub const fn session_marks(mut self) -> Pump {
        self.detects_marks = true;
        self.preamble = SESSION_MARK;
        self
    }

    /// Returns whether the link has accepted only a part of a message, or of a session mark.
    ///
    /// An application that logs on the same link writes a log line only while this method returns `false`, because a
    /// log line within a message would damage the message. Each log line must end with a newline.
    #[must_use]
    pub const fn is_within_message(&self) -> bool {
        self.in_output_line
    }

    /// Starts a new session and drops the buffered bytes of the old session. The caller must also reset the machine.
    ///
    /// Call this method after a break on the line, after a change of DTR, or when a new connection opens.
    ///
    /// Sends no further [`SESSION_MARK`], because the peer has started the session. If only this end starts a session,
    /// replace the pump with a new one that has [session marks](Pump::session_marks): it sends a mark.
    pub fn new_session(&mut self) {
        (self.fed, self.filled) = (0, 0);
        (self.input, self.matched, self.has_mark) = (Input::Open, AT_START, false);
        self.closes_at = Millis::MAX;
        self.clear_lines();
    }

    /// Returns whether a pump with session marks has read no byte of the session.
    pub(crate) const fn is_at_start(&self) -> bool {
        self.matched == AT_START
    }

    /// Records that the machine is closed, and starts [`CLOSING_TIME`] at the first call. Returns the time at which the
    /// connection ends even if output is unsent.
    pub(crate) fn closing(&mut self, now: Millis) -> Millis {
        self.closes_at = self.closes_at.min(now.plus(CLOSING_TIME));
        self.closes_at
    }

    /// Records that the connection is closed, so that the next input starts a new line. Returns
    /// [`PumpStatus::Closed`].
    pub(crate) fn closed(&mut self) -> PumpStatus {
        (self.unflushed, self.closes_at) = (false, Millis::MAX);
        self.in_line = false;
        self.cancels_line = false;
        log::closed();
        PumpStatus::Closed
    }

    /// Returns the next bytes to write: the preamble, or the machine's output.
    pub(crate) fn output<'a>(&self, transmit: &Transmit<'a>) -> &'a [u8] {
        if self.preamble.is_empty() { transmit.bytes() } else { self.preamble }
    }

    /// Handles the result of writing the [output](Pump::output). `None` means that the link has accepted no byte, and
    /// has returned no error except `TimedOut`.
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
        (self.unflushed, self.flush_error) = (true, None);
        match self.preamble {
            [] => transmit.sent(n),
            preamble => self.preamble = preamble.get(n..).unwrap_or_default(),
        }
        Some(PumpStatus::Moved)
    }

    /// Returns whether the caller may read into [`read_buffer`](Pump::read_buffer).
    pub(crate) fn wants_more(&self) -> bool {
        self.fed >= self.filled && !self.cancels_line && self.input == Input::Open
    }

    pub(crate) fn read_buffer(&mut self) -> &mut [u8] {
        &mut self.read_buffer
    }

    /// Handles the result of reading into [`read_buffer`](Pump::read_buffer). `None` means that the link has returned
    /// no byte, no end of input, and no error except `TimedOut`.
    pub(crate) fn record_read(&mut self, read: Result<Option<usize>, ErrorKind>) -> Option<PumpStatus> {
        match read {
            Ok(None) => None,
            Ok(Some(0)) => {
                self.input = Input::Ended;
                Some(PumpStatus::Moved)
            }
            Ok(Some(n)) => {
                (self.fed, self.filled) = (0, n.min(READ_BUFFER_SIZE));
                if let Some(end) = self.find_mark() {
                    (self.fed, self.has_mark) = (end, true);
                }
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

    /// Returns [`PumpStatus::NewSession`] if a session mark has arrived. Otherwise passes buffered input, a cancel byte
    /// or the end of input to the machine. Returns `None` if there is nothing to pass or the machine has no space.
    pub(crate) fn feed(&mut self, mut receive: Receive<'_>) -> Option<PumpStatus> {
        if core::mem::take(&mut self.has_mark) {
            self.clear_lines();
            log::new_session();
            return Some(PumpStatus::NewSession);
        }
        let held = self.read_buffer.get(self.fed..self.filled).unwrap_or_default();
        if let [_, ..] = held {
            let mut last = None;
            let count = receive.space().iter_mut().zip(held).map(|(slot, byte)| {
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

    /// Cancels the first line of input unless it begins with `{`, because it is probably the rest of a line that the
    /// peer began before this end started.
    fn cancel_torn_line(&mut self) {
        let [first, ..] = &mut self.read_buffer;
        if !matches!(first, b'\n' | b'{') {
            *first = CANCEL;
        }
    }

    /// Finds session marks in the bytes that were read, also if an earlier read has read the beginning of a mark.
    /// Returns the end of the last mark. Returns `None` if no mark ends in these bytes, or if session marks are
    /// disabled.
    fn find_mark(&mut self) -> Option<usize> {
        if !self.detects_marks {
            return None;
        }
        if self.is_at_start() {
            self.cancel_torn_line();
        }
        let mut end = None;
        for (at, byte) in self.read_buffer.iter().enumerate().take(self.filled) {
            let continues = SESSION_MARK.get(self.matched) == Some(byte);
            self.matched = match continues {
                true => self.matched.saturating_add(1),
                false => usize::from(*byte == b'\n'),
            };
            if self.matched == SESSION_MARK.len() {
                // The line break at the end of this mark may begin the next mark.
                (end, self.matched) = (Some(at.saturating_add(1)), 1);
            }
        }
        end
    }

    /// Clears the line state of the old session. The pump then cancels and ends a partial line of output before it
    /// writes anything else.
    fn clear_lines(&mut self) {
        self.cancels_line = false;
        self.in_line = false;
        if self.in_output_line && self.preamble.is_empty() {
            self.preamble = CANCELLED_LINE;
        }
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
