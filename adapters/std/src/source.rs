//! Where a client's streams come from, and what to do when they are closed.

use std::io;
use std::process::{Command, ExitStatus};

use mcp_proto_handles::Stderr;

use crate::child::{ServerProcess, Way};
use crate::pump::{Open, Pump};
use crate::stream::{HangUp, Stream};

/// What to connect to.
pub(crate) enum Source {
    Command(Command),
    Opener(Opener),
    /// Streams that are there. They are gone when they were used.
    Once(Option<Link>),
}

type Opener = Box<dyn FnMut() -> io::Result<Link> + Send>;

/// A connection that is open.
pub(crate) struct Link {
    pub(crate) open: Open,
    pub(crate) end: End,
}

/// What to do when the streams are closed.
pub(crate) enum End {
    Process(ServerProcess),
    Nothing(#[expect(dead_code, reason = "it hangs up when it is dropped")] Option<HangUp>),
}

impl Source {
    pub(crate) fn open(&mut self, stderr: &Stderr, way: &Way) -> io::Result<Link> {
        match self {
            Source::Command(command) => {
                let (process, stdout, stdin) = ServerProcess::start(command, stderr, way)?;
                Ok(Link { open: Pump::over(stdout, stdin), end: End::Process(process) })
            }
            Source::Opener(open) => open(),
            Source::Once(link) => link.take().ok_or_else(|| io::ErrorKind::NotConnected.into()),
        }
    }

    /// Whether it can be opened once more.
    pub(crate) fn is_lasting(&self) -> bool {
        !matches!(self, Source::Once(_))
    }
}

impl Link {
    pub(crate) fn socket(stream: impl Stream) -> io::Result<Link> {
        let end = End::Nothing(Some(HangUp::new(&stream)?));
        Ok(Link { open: Pump::over(stream.twin()?, stream), end })
    }
}

impl End {
    pub(crate) fn end(mut self) -> Option<ExitStatus> {
        match &mut self {
            End::Process(process) => process.end(),
            End::Nothing(_) => None,
        }
    }
}
