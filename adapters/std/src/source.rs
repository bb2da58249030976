//! Opens a client's streams, and cleans up after they close.

use std::io;
use std::process::{Command, ExitStatus};

use mcp_proto_handles::{ClientShared, Stderr};

use crate::child::{ExitPolicy, ServerProcess};
use crate::pump::{OpenPump, Pump};
use crate::stream::{ShutdownOnDrop, Stream, halves};

/// The server to connect to.
pub(crate) enum Source {
    Command(Command),
    Opener(Opener),
    /// Open streams, which can be used once.
    Once(Option<Link>),
}

type Opener = Box<dyn FnMut() -> io::Result<Link> + Send>;

/// A connection: the function that creates its pump, and the cleanup after its end.
pub(crate) struct Link {
    pub(crate) open: OpenPump,
    pub(crate) teardown: Teardown,
}

/// The cleanup after the streams have closed.
pub(crate) enum Teardown {
    Process(ServerProcess),
    Nothing(#[expect(dead_code, reason = "the destructor shuts the socket down")] Option<ShutdownOnDrop>),
}

impl Source {
    pub(crate) fn open(&mut self, stderr: &Stderr, exit: &ExitPolicy) -> io::Result<Link> {
        match self {
            Source::Command(command) => {
                let (process, stdout, stdin) = ServerProcess::start(command, stderr, exit)?;
                Ok(Link { open: Pump::opener(stdout, stdin), teardown: Teardown::Process(process) })
            }
            Source::Opener(open) => open(),
            Source::Once(link) => link.take().ok_or_else(|| io::ErrorKind::NotConnected.into()),
        }
    }

    /// Returns `true` if the source can be opened again.
    pub(crate) fn is_reusable(&self) -> bool {
        !matches!(self, Source::Once(_))
    }
}

impl Link {
    pub(crate) fn socket(stream: impl Stream) -> io::Result<Link> {
        let (halves, shutdown) = halves(stream)?;
        Ok(Link { open: Pump::socket_opener(halves), teardown: Teardown::Nothing(Some(shutdown)) })
    }
}

impl Teardown {
    /// Returns the id of the process to stop, or `None` if there is no process.
    pub(crate) fn process_id(&self) -> Option<u32> {
        match self {
            Teardown::Process(process) => Some(process.id()),
            Teardown::Nothing(_) => None,
        }
    }

    pub(crate) fn run(mut self, shared: &ClientShared) -> Option<ExitStatus> {
        shared.set_process_id(None);
        match &mut self {
            Teardown::Process(process) => process.stop(),
            Teardown::Nothing(_) => None,
        }
    }
}
