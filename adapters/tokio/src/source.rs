//! Where a client's streams come from, and what to do when they are closed.

use std::io;
use std::process::ExitStatus;

use mcp_proto_handles::{Ending, Stderr};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::process::Command;

use crate::child::ServerProcess;

pub(crate) type Input = Box<dyn AsyncRead + Send + Unpin>;
pub(crate) type Output = Box<dyn AsyncWrite + Send + Unpin>;

/// What to connect to.
pub(crate) enum Source {
    Command(Command),
    Streams(Input, Output),
}

/// A connection that is open.
pub(crate) struct Link {
    pub(crate) input: Input,
    pub(crate) output: Output,
    /// What has to end when the streams are closed.
    pub(crate) process: Option<ServerProcess>,
}

impl Source {
    /// Opens it. What can be opened again comes back, too.
    pub(crate) fn open(self, stderr: &Stderr, ending: Ending) -> io::Result<(Link, Option<Source>)> {
        match self {
            Source::Command(mut command) => {
                let (process, stdout, stdin) = ServerProcess::start(&mut command, stderr, ending)?;
                let (input, output) = (Box::new(stdout), Box::new(stdin));
                Ok((Link { input, output, process: Some(process) }, Some(Source::Command(command))))
            }
            Source::Streams(input, output) => Ok((Link { input, output, process: None }, None)),
        }
    }
}

/// HeaplessLink what has to end, and says how.
pub(crate) async fn end(process: Option<ServerProcess>) -> Option<ExitStatus> {
    match process {
        Some(mut process) => process.end().await,
        None => None,
    }
}
