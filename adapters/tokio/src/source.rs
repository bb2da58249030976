//! Opens a client's streams, and cleans up after they close.

use std::io;
use std::process::ExitStatus;

use mcp_proto_handles::{Ending, Stderr};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::process::Command;

use crate::child::ServerProcess;

pub(crate) type Input = Box<dyn AsyncRead + Send + Unpin>;
pub(crate) type Output = Box<dyn AsyncWrite + Send + Unpin>;

/// The server to connect to.
pub(crate) enum Source {
    Command(Command),
    Streams(Input, Output),
}

/// An open connection.
pub(crate) struct Link {
    pub(crate) input: Input,
    pub(crate) output: Output,
    /// The process to stop after the streams have closed.
    pub(crate) process: Option<ServerProcess>,
}

impl Source {
    /// Opens the connection. Also returns the source if the source can be opened again.
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

/// Stops the process, if there is one, and returns its exit status.
pub(crate) async fn stop(process: Option<ServerProcess>) -> Option<ExitStatus> {
    match process {
        Some(mut process) => process.stop().await,
        None => None,
    }
}
