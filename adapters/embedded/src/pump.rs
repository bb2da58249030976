//! The pump: what it holds between the link and the machine, and what all ways to drive it have in common.

use embedded_io::ErrorKind;
use mcp_proto::{Receive, Transmit};

use crate::log;
use crate::status::{Meaning, PumpStatus, meaning};

/// ASCII *end of transmission*: the byte by which a peer says that it is a new one. It cannot stand in JSON.
pub const SESSION_MARK: u8 = 0x04;

/// ASCII *cancel*: a line that it stands in is given up. The machine knows it, too.
const CANCEL: u8 = 0x18;

/// How much is read at once: the FIFO of any UART, and a packet of USB at full speed.
const CHUNK: usize = 64;

/// Moves bytes between a machine, server or client, and a link. It has no type parameters, no buffer but a small one, and
/// needs no heap.
///
/// There are three ways to drive it: [`step`](Pump::step) never blocks and is made for a main loop that has other work;
/// [`run`](Pump::run) blocks; [`wait`](Pump::wait) is for async executors.
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
///         // Here is the place for a piece of other work.
///     }
/// }
/// ```
pub struct Pump {
    chunk: [u8; CHUNK],
    /// Which part of the chunk the machine has not got yet.
    fed: usize,
    filled: usize,
    mark: Option<u8>,
    /// Where the link is with its input.
    input: Input,
    /// The line that the machine has is to be given up.
    cuts: bool,
    /// The machine has the beginning of a line.
    in_line: bool,
    /// The peer has the beginning of a line.
    in_output_line: bool,
    /// The end of a line of the old session has to be written first.
    ends_line: bool,
    /// Something was written and not flushed.
    pub(crate) unflushed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Input {
    Open,
    /// Nothing more comes, and the machine has to be told.
    Ended,
    Told,
}

impl Pump {
    /// A pump for one connection, without a session mark.
    #[must_use]
    pub const fn new() -> Pump {
        Pump {
            chunk: [0; CHUNK],
            fed: 0,
            filled: 0,
            mark: None,
            input: Input::Open,
            cuts: false,
            in_line: false,
            in_output_line: false,
            ends_line: false,
            unflushed: false,
        }
    }

    /// Takes `mark` for the beginning of a new session: where it comes in, the host gets [`PumpStatus::NewSession`], has to reset
    /// the machine, and what stands behind the mark belongs to the new session. [`SESSION_MARK`] is a byte that
    /// cannot come by chance.
    ///
    /// A serial line has no connections: without a mark, the requests of a client that has gone are still in flight when
    /// the next one comes.
    #[must_use]
    pub const fn session_mark(mut self, mark: u8) -> Pump {
        self.mark = Some(mark);
        self
    }

    /// Says that a new session begins now: after a break on the line, a change of DTR, or with another connection. What was
    /// held of the old one is dropped. Reset the machine, too.
    pub fn new_session(&mut self) {
        (self.fed, self.filled) = (0, 0);
        self.input = Input::Open;
        self.begin();
    }

    /// The connection is over: the next line begins anew.
    pub(crate) fn closed(&mut self) -> PumpStatus {
        self.in_line = false;
        self.cuts = false;
        log::closed();
        PumpStatus::Closed
    }

    /// What is to be written next: what the machine has to say, or what has to come before that.
    pub(crate) fn output<'a>(&self, transmit: &Transmit<'a>) -> &'a [u8] {
        if self.ends_line { b"\n" } else { transmit.bytes() }
    }

    /// What has come of writing the [output](Pump::output).
    pub(crate) fn sent(
        &mut self,
        transmit: Transmit<'_>,
        written: Result<usize, ErrorKind>,
    ) -> Option<PumpStatus> {
        let output = self.output(&transmit);
        let n = match written {
            Ok(n) => n.min(output.len()),
            Err(kind) => {
                return match meaning(kind) {
                    Meaning::NotYet => None,
                    Meaning::Trouble => {
                        log::not_written(kind);
                        Some(PumpStatus::NotWritten(kind))
                    }
                    Meaning::Gone => {
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

    /// Whether more may be read, into the [chunk](Pump::chunk).
    pub(crate) fn wants_more(&self) -> bool {
        self.fed >= self.filled && !self.cuts && self.input == Input::Open
    }

    /// Where to read to.
    pub(crate) fn chunk(&mut self) -> &mut [u8] {
        &mut self.chunk
    }

    /// What has come of reading into the chunk: `None` if nothing can be said about that yet.
    pub(crate) fn arrived(&mut self, read: Result<Option<usize>, ErrorKind>) -> Option<PumpStatus> {
        match read {
            Ok(None) => None,
            Ok(Some(0)) => {
                self.input = Input::Ended;
                Some(PumpStatus::Moved)
            }
            Ok(Some(n)) => {
                (self.fed, self.filled) = (0, n.min(CHUNK));
                Some(PumpStatus::Moved)
            }
            Err(kind) => match meaning(kind) {
                Meaning::NotYet => None,
                Meaning::Trouble => {
                    log::broken(kind);
                    self.cuts = self.in_line;
                    Some(PumpStatus::LineBroken(kind))
                }
                Meaning::Gone => {
                    log::lost(kind);
                    self.input = Input::Ended;
                    Some(PumpStatus::LinkLost(kind))
                }
            },
        }
    }

    /// Gives the machine what is held for it.
    pub(crate) fn feed(&mut self, mut receive: Receive<'_>) -> Option<PumpStatus> {
        let held = self.chunk.get(self.fed..self.filled).unwrap_or_default();
        let mark = self.mark.and_then(|mark| held.iter().position(|byte| *byte == mark));
        // What stands before the mark is still of the old session. It is dropped if it cannot be taken.
        if let Some(at) = mark.filter(|at| *at == 0 || !receive.is_ready()) {
            self.fed = self.fed.saturating_add(at).saturating_add(1);
            self.begin();
            log::new_session();
            return Some(PumpStatus::NewSession);
        }
        let bytes = held.get(..mark.unwrap_or(held.len())).unwrap_or_default();
        if let [_, ..] = bytes {
            let mut last = None;
            let count = receive.space().iter_mut().zip(bytes).map(|(place, byte)| {
                *place = *byte;
                last = Some(*byte);
            });
            let count = count.count();
            self.in_line = last? != b'\n';
            self.fed = self.fed.saturating_add(count);
            receive.filled(count);
            return Some(PumpStatus::Moved);
        }
        if self.cuts {
            *receive.space().first_mut()? = CANCEL;
            self.cuts = false;
            receive.filled(1);
            return Some(PumpStatus::Moved);
        }
        if self.input == Input::Ended {
            self.input = Input::Told;
            receive.eof();
            return Some(PumpStatus::Moved);
        }
        None
    }

    /// Nothing of a session before counts any more.
    fn begin(&mut self) {
        self.cuts = false;
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
