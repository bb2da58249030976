//! Opens a client's connection, and cleans up after it closes.

use std::io;
use std::pin::Pin;
use std::process::ExitStatus;

use mcp_proto_handles::{ClientShared, Ending, Stderr};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::process::Command;
use tokio::time::Instant;

use crate::child::ServerProcess;
#[cfg(feature = "http")]
use crate::http::HttpSource;
use crate::pump::{Pump, PumpImpl};

pub(crate) type Input = Box<dyn AsyncRead + Send + Unpin>;
pub(crate) type Output = Box<dyn AsyncWrite + Send + Unpin>;
pub(crate) type Opening = Pin<Box<dyn Future<Output = io::Result<(Input, Output)>> + Send>>;

/// The server to connect to, and the settings of its process.
pub(crate) struct Source {
    pub(crate) server: ServerSource,
    pub(crate) stderr: Stderr,
    pub(crate) ending: Ending,
}

/// The server to connect to.
pub(crate) enum ServerSource {
    Command(Command),
    /// A function that opens two streams.
    Opener(Box<dyn FnMut() -> Opening + Send>),
    /// Open streams, which can be used once.
    Once(Option<(Input, Output)>),
    #[cfg(feature = "http")]
    Http(HttpSource),
}

/// An open connection.
pub(crate) struct Link {
    pub(crate) pump: Box<dyn PumpImpl + Send>,
    /// The process to stop after the streams have closed.
    pub(crate) process: Option<ServerProcess>,
}

impl Source {
    /// Opens the connection, with a clock that started at `start`.
    pub(crate) async fn open(&mut self, start: Instant) -> io::Result<Link> {
        let ((input, output), process) = match &mut self.server {
            ServerSource::Command(command) => {
                let (process, stdout, stdin) = ServerProcess::start(command, &self.stderr, self.ending)?;
                ((Box::new(stdout) as Input, Box::new(stdin) as Output), Some(process))
            }
            ServerSource::Opener(open) => (open().await?, None),
            ServerSource::Once(streams) => (streams.take().ok_or(io::ErrorKind::NotConnected)?, None),
            #[cfg(feature = "http")]
            ServerSource::Http(source) => {
                return Ok(Link { pump: Box::new(source.open(start)?), process: None });
            }
        };
        Ok(Link { pump: Box::new(Pump::with_clock(input, output, start)), process })
    }

    /// Returns `true` if the source can be opened again.
    pub(crate) fn is_reusable(&self) -> bool {
        !matches!(self.server, ServerSource::Once(_))
    }
}

/// Stops the process, if there is one, and returns the exit status. Returns `None` if there is no process, or its
/// status is unknown.
pub(crate) async fn stop(process: Option<ServerProcess>, shared: &ClientShared) -> Option<ExitStatus> {
    shared.set_process_id(None);
    match process {
        Some(mut process) => process.stop(shared.close_deadline()).await,
        None => None,
    }
}
