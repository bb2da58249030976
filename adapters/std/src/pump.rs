//! The pump: moves bytes between a machine and two streams.
//!
//! There are two kinds, and which one it is, is known where the streams come from. Files, pipes and sockets on Unix are
//! [polled](crate::poll_pump) by the thread that owns the machine, which needs no other thread. Anything else that reads and
//! writes can only block, so it gets [threads](crate::blocking_pump) that do.

use std::io::{self, Read, Write};

use mcp_proto::{Clock, Machine, Millis};
use mcp_proto_handles::Wake;

use crate::blocking_pump::Threads;
#[cfg(unix)]
use crate::poll_pump::Polled;

/// When nothing can be written any more, what the peer has said before is read for so long, or to its end.
pub(crate) const LAST_INPUT: Millis = Millis(250);

/// Moves bytes for one machine, in lines. Made for one connection.
///
/// Whatever the peer does, [`run`](Pump::run) neither misses a deadline nor keeps from reading because of what it writes.
/// On Unix nothing else is needed for that if both streams are files, pipes or sockets of the standard library: no thread is
/// started, and a request that is answered at once costs one read and one write. Other streams get a thread for each direction.
///
/// ```
/// use mcp_proto::server::{Event, ServerConfig};
/// use mcp_proto::{Buffer, Server};
/// use mcp_proto_std::{Pump, PumpStatus};
///
/// static INFO: ServerConfig = ServerConfig::new("example", "1.0.0");
/// # let input = &br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#[..];
/// # let (mut back, output) = std::io::pipe()?;
/// let mut server = Server::new(&INFO, Buffer::grown(65536), Buffer::grown(65536))?;
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
    clock: Clock,
    mover: Box<dyn Mover + Send + Sync>,
}

/// What moves the bytes.
pub(crate) trait Mover {
    /// Moves bytes until there is something to do for the host, or the time is over.
    fn run(&mut self, machine: &mut dyn Machine, clock: Clock, turn: Turn) -> PumpStatus;

    fn wake(&self) -> Wake;

    /// Whether something that could wake it is in anybody's hands.
    fn can_be_woken(&self) -> bool;
}

/// How bytes are moved once.
#[derive(Clone, Copy)]
pub(crate) struct Turn {
    /// When it begins. Looking at the clock takes longer than an event that is not dealt with.
    pub(crate) now: Millis,
    /// It ends then at the latest: that is [`PumpStatus::Woken`], too.
    pub(crate) until: Option<Millis>,
    /// Nobody has anything that could wake it, and nobody gets any before it is over. This is known to whoever has given away
    /// what does.
    #[cfg_attr(not(unix), expect(dead_code, reason = "threads wait on a condition anyway"))]
    pub(crate) nobody_wakes: bool,
}

/// Streams that a pump is still to be made over.
pub(crate) type Open = Box<dyn FnOnce(Clock) -> io::Result<Pump> + Send>;

/// Why [`Pump::run`] came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PumpStatus {
    /// The machine has an event.
    Event,
    /// A [`Waker`] was used.
    Woken,
    /// The connection is over.
    Closed,
}

impl Pump {
    /// A pump between these streams. They are closed soon after it is dropped; a read or a write that blocks a thread then
    /// keeps its stream open for as long as it does.
    ///
    /// # Errors
    /// A thread cannot be started, or the process has as many files open as it may.
    pub fn new(input: impl Read + Send + 'static, output: impl Write + Send + 'static) -> io::Result<Pump> {
        Pump::over(input, output)(Clock::start())
    }

    /// Which kind it will be is found out when it is opened: a client may open others before.
    pub(crate) fn over(input: impl Read + Send + 'static, output: impl Write + Send + 'static) -> Open {
        Box::new(move |clock| {
            #[cfg(unix)]
            if let (Some(input), Some(output)) = (descriptor(&input), descriptor(&output)) {
                return Pump::polled(input.try_clone_to_owned()?, output.try_clone_to_owned()?)(clock);
            }
            Ok(Pump { clock, mover: Box::new(Threads::new(input, output)?) })
        })
    }

    /// Over files, pipes or sockets: nothing that has to do with threads is linked for it.
    #[cfg(unix)]
    pub(crate) fn polled(
        input: impl Into<std::os::fd::OwnedFd>,
        output: impl Into<std::os::fd::OwnedFd>,
    ) -> Open {
        let (input, output) = (input.into(), output.into());
        Box::new(move |clock| Ok(Pump { clock, mover: Box::new(Polled::new(input, output)?) }))
    }

    /// Moves bytes until there is something to do for the host.
    pub fn run(&mut self, machine: &mut dyn Machine) -> PumpStatus {
        let nobody_wakes = !self.mover.can_be_woken();
        self.turn(machine, Turn { now: self.now(), until: None, nobody_wakes })
    }

    pub(crate) fn turn(&mut self, machine: &mut dyn Machine, turn: Turn) -> PumpStatus {
        self.mover.run(machine, self.clock, turn)
    }

    /// The time on the pump's clock, which is the machine's.
    #[must_use]
    pub fn now(&self) -> Millis {
        self.clock.now()
    }

    pub(crate) fn wake(&self) -> Wake {
        self.mover.wake()
    }

    /// Something that makes [`run`](Pump::run) come back, from any thread.
    #[must_use]
    pub fn waker(&self) -> Waker {
        Waker { wake: self.mover.wake() }
    }
}

/// What the system can wait for, if it is a file, a pipe or a socket of the standard library. `Stdin` and `Stdout` are none:
/// they have buffers of their own.
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

/// Makes [`Pump::run`] come back with [`PumpStatus::Woken`]: now, or when it is called next.
#[derive(Clone)]
pub struct Waker {
    wake: Wake,
}

impl Waker {
    /// Wakes the pump.
    pub fn wake(&self) {
        (self.wake)();
    }
}

impl std::fmt::Debug for Waker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Waker").finish_non_exhaustive()
    }
}
