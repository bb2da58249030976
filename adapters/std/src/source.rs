//! Where a client's streams come from, and what to do when they are closed.

use std::io::{self, Read, Write};
use std::process::{Command, ExitStatus};

use mcp_proto_handles::{Ending, Stderr};

use crate::child::ServerProcess;
use crate::stream::HangUp;

/// What to connect to.
pub(crate) enum Source {
    Command(Command),
    Streams(Box<dyn Read + Send>, Box<dyn Write + Send>, Option<HangUp>),
}

/// A connection that is open.
pub(crate) struct Link {
    pub(crate) input: Box<dyn Read + Send>,
    pub(crate) output: Box<dyn Write + Send>,
    pub(crate) end: End,
}

/// What to do when the streams are closed.
pub(crate) enum End {
    Process(ServerProcess),
    Nothing(#[expect(dead_code, reason = "it hangs up when it is dropped")] Option<HangUp>),
}

impl Source {
    /// Opens it. What can be opened again comes back, too.
    pub(crate) fn open(self, stderr: &Stderr, ending: Ending) -> io::Result<(Link, Option<Source>)> {
        match self {
            Source::Command(mut command) => {
                let (process, stdout, stdin) = ServerProcess::start(&mut command, stderr, ending)?;
                let end = End::Process(process);
                let link = Link { input: Box::new(stdout), output: Box::new(stdin), end };
                Ok((link, Some(Source::Command(command))))
            }
            Source::Streams(input, output, hang_up) => {
                Ok((Link { input, output, end: End::Nothing(hang_up) }, None))
            }
        }
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
