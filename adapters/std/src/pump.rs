//! The pump: moves bytes between a state machine and two streams.
//!
//! The types of the streams determine the implementation. If both streams are files, pipes or sockets on Unix, the
//! thread that owns the state machine [polls](crate::poll_pump) them, without other threads. Other streams can only
//! block, so [two threads](crate::blocking_pump) serve them. A client over HTTP has its own implementation.

use std::io::{self, Read, Write};
#[cfg(unix)]
use std::os::fd::OwnedFd;
#[cfg(unix)]
use std::sync::Arc;

use mcp_proto::{Clock, Machine, Millis};
use mcp_proto_handles::{EventTime, HttpFailure, PumpStatus, Wake, Waker};

use crate::blocking_pump::BlockingPump;
#[cfg(unix)]
use crate::poll_pump::PollPump;
use crate::stream::Halves;

/// Time to read the peer's last messages after a write has failed.
pub(crate) const DRAIN_TIME: Millis = Millis(250);

/// Moves bytes between one state machine and two streams.
///
/// A pump serves one connection. Each message is a line.
///
/// For any behavior of the peer, [`run`](Pump::run) never misses a deadline, and a blocked write never delays a read.
/// Exception: on Unix, a file that `poll(2)` does not support can block.
///
/// On Unix a pump needs no threads if both streams are files, pipes or sockets of the standard library. A request with
/// an immediate response can then cost only one read and one write. Other streams get one thread for each direction.
///
/// ```
/// use mcp_proto_std::server::{Event, ServerConfig};
/// use mcp_proto_std::{Buffer, Server};
/// use mcp_proto_std::{Pump, PumpStatus};
///
/// static CONFIG: ServerConfig = ServerConfig::new("example", "1.0.0");
/// # let input = &br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#[..];
/// # let (mut back, output) = std::io::pipe()?;
/// let mut server = Server::new(&CONFIG, Buffer::grown(65536), Buffer::grown(65536))?;
/// let mut pump = Pump::new(input, output)?;
/// loop {
///     match pump.run(&mut server) {
///         PumpStatus::Event => drop(server.event()),
///         PumpStatus::Woken => {}
///         PumpStatus::Closed => break,
///     }
/// }
/// # drop(pump);
/// # assert!(std::io::read_to_string(back)?.ends_with("\"result\":{}}\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Pump {
    clock: PumpClock,
    pump: Box<dyn PumpImpl + Send + Sync>,
}

/// The clock of a pump. [`read`](PumpClock::read) also records the time for [`Pump::time_after_event`].
pub(crate) struct PumpClock {
    pub(crate) clock: Clock,
    time: EventTime,
}

impl PumpClock {
    /// Reads the clock.
    pub(crate) fn read(&mut self) -> Millis {
        self.time.record(self.clock.now())
    }
}

/// An implementation of the pump.
pub(crate) trait PumpImpl {
    /// Moves bytes until there is a status to return.
    fn run(&mut self, machine: &mut dyn Machine, clock: &mut PumpClock, options: RunOptions) -> PumpStatus;

    fn wake(&self) -> Wake;

    /// Returns `true` if a waker of this pump may exist.
    fn has_wakers(&self) -> bool;

    /// Returns the failure of the last closed HTTP stream. The failure is kept until the pump takes further input.
    /// Returns `None` if that stream has not failed. Pumps for other transports always return `None`.
    fn failure(&self) -> Option<HttpFailure> {
        None
    }

    /// Removes and returns the failure of a response that the HTTP server has refused. The refused response is the
    /// application's response to a request from the server. The pump returns [`PumpStatus::Woken`] after such a
    /// failure.
    fn take_refused_response(&mut self) -> Option<HttpFailure> {
        None
    }
}

/// Options of one call to [`PumpImpl::run`].
#[derive(Clone, Copy)]
pub(crate) struct RunOptions {
    /// The time of the first poll: [`Pump::read_clock`] or [`Pump::time_after_event`].
    pub(crate) now: Millis,
    /// The time at which the call returns [`PumpStatus::Woken`], unless it has returned another status before. `None`
    /// sets no time.
    pub(crate) until: Option<Millis>,
    /// Whether no waker exists, and no thread can create a waker during the call. Only the caller knows which threads
    /// can create wakers.
    #[cfg_attr(
        not(unix),
        expect(dead_code, reason = "the blocking pump always waits on a condition variable")
    )]
    pub(crate) no_wakers: bool,
}

/// A function that owns the streams, and creates their pump.
pub(crate) type OpenPump = Box<dyn FnOnce(Clock) -> io::Result<Pump> + Send>;

impl Pump {
    /// Creates a pump between these streams.
    ///
    /// The streams close soon after the pump is dropped. A blocked read or write keeps its stream open until the read
    /// or write returns.
    ///
    /// # Errors
    /// A thread cannot be started, or the process has reached its limit of open files.
    pub fn new(input: impl Read + Send + 'static, output: impl Write + Send + 'static) -> io::Result<Pump> {
        Pump::opener(input, output)(Clock::start())
    }

    /// Returns a function that chooses the implementation and creates the pump. The returned function owns the
    /// streams until its call.
    pub(crate) fn opener(input: impl Read + Send + 'static, output: impl Write + Send + 'static) -> OpenPump {
        Box::new(move |clock| {
            #[cfg(unix)]
            if let (Some(input), Some(output)) = (descriptor(&input), descriptor(&output)) {
                return Pump::poll_opener(input.try_clone_to_owned()?, output.try_clone_to_owned()?)(clock);
            }
            Ok(Pump::with_clock(clock, BlockingPump::new(input, output)?))
        })
    }

    /// Like [`opener`](Pump::opener), but only for files, pipes and sockets. The linker can then remove the code of the
    /// blocking pump.
    #[cfg(unix)]
    pub(crate) fn poll_opener(input: impl Into<OwnedFd>, output: impl Into<OwnedFd>) -> OpenPump {
        let [input, output] = [input.into(), output.into()].map(|stream: OwnedFd| Arc::new(stream.into()));
        Box::new(move |clock| Ok(Pump::with_clock(clock, PollPump::new(input, output)?)))
    }

    /// Like [`opener`](Pump::opener), for a socket.
    pub(crate) fn socket_opener(halves: Halves) -> OpenPump {
        #[cfg(unix)]
        return Box::new(move |clock| {
            Ok(Pump::with_clock(clock, PollPump::new(Arc::clone(&halves), halves)?))
        });
        #[cfg(not(unix))]
        Pump::opener(halves.0, halves.1)
    }

    /// Returns a function that creates a pump with this implementation.
    #[cfg(feature = "http")]
    pub(crate) fn opener_with(pump: impl PumpImpl + Send + Sync + 'static) -> OpenPump {
        Box::new(move |clock| Ok(Pump::with_clock(clock, pump)))
    }

    fn with_clock(clock: Clock, pump: impl PumpImpl + Send + Sync + 'static) -> Pump {
        Pump { clock: PumpClock { clock, time: EventTime::default() }, pump: Box::new(pump) }
    }

    /// Moves bytes until there is a status to return.
    ///
    /// The method returns when the state machine has an event, a waker is used, or the connection closes.
    pub fn run(&mut self, machine: &mut dyn Machine) -> PumpStatus {
        let no_wakers = !self.pump.has_wakers();
        let now = self.read_clock();
        self.run_with(machine, RunOptions { now, until: None, no_wakers })
    }

    pub(crate) fn run_with(&mut self, machine: &mut dyn Machine, options: RunOptions) -> PumpStatus {
        self.pump.run(machine, &mut self.clock, options)
    }

    /// Returns the current time of the pump's clock. The pump polls the state machine with times of this clock.
    #[must_use]
    pub fn now(&self) -> Millis {
        self.clock.clock.now()
    }

    /// Returns the current time, like [`now`](Pump::now), and records the reading.
    pub(crate) fn read_clock(&mut self) -> Millis {
        self.clock.read()
    }

    /// Returns the time after an event. Does not read the clock if the last events were quick and the state machine has
    /// no deadline.
    pub(crate) fn time_after_event(&mut self, has_deadline: bool) -> Millis {
        let PumpClock { clock, time } = &mut self.clock;
        time.after_event(has_deadline, || clock.now())
    }

    pub(crate) fn wake(&self) -> Wake {
        self.pump.wake()
    }

    pub(crate) fn failure(&self) -> Option<HttpFailure> {
        self.pump.failure()
    }

    pub(crate) fn take_refused_response(&mut self) -> Option<HttpFailure> {
        self.pump.take_refused_response()
    }

    /// Returns a waker with which any thread can make [`run`](Pump::run) return.
    #[must_use]
    pub fn waker(&self) -> Waker {
        Waker::new(self.pump.wake())
    }
}

/// Returns the file descriptor of a file, pipe or socket of the standard library.
///
/// Returns `None` for other types, such as `Stdin` and `Stdout`, which have their own buffers.
#[cfg(unix)]
fn descriptor(stream: &dyn std::any::Any) -> Option<std::os::fd::BorrowedFd<'_>> {
    use std::os::fd::AsFd;
    macro_rules! one_of {
        ($($stream:ty),*) => {
            $(if let Some(stream) = stream.downcast_ref::<$stream>() {
                return Some(stream.as_fd());
            })*
        };
    }
    one_of!(
        std::fs::File,
        io::PipeReader,
        io::PipeWriter,
        std::os::unix::net::UnixStream,
        std::net::TcpStream
    );
    one_of!(std::process::ChildStdin, std::process::ChildStdout);
    None
}

impl std::fmt::Debug for Pump {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pump").finish_non_exhaustive()
    }
}
