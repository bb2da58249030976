//! Opens a client's connection, and cleans up after it closes.

use std::io;
use std::pin::Pin;
use std::process::ExitStatus;

use mcp_proto::{Machine, Millis};
use mcp_proto_handles::{ClientShared, Ending, HttpFailure, Stderr, Wake};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::process::Command;
use tokio::time::Instant;

use crate::child::ServerProcess;
#[cfg(feature = "http")]
use crate::http::{HttpPump, HttpSource};
use crate::pump::{Pump, PumpStatus};

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
    pub(crate) pump: LinkPump,
    /// The process to stop after the streams have closed.
    pub(crate) process: Option<ServerProcess>,
}

/// The pump of a connection.
pub(crate) enum LinkPump {
    Streams(Pump<Input, Output>),
    #[cfg(feature = "http")]
    Http(Box<HttpPump>),
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
                let pump = LinkPump::Http(Box::new(source.open(start)?));
                return Ok(Link { pump, process: None });
            }
        };
        Ok(Link { pump: LinkPump::Streams(Pump::with_clock(input, output, start)), process })
    }

    /// Returns `true` if the source can be opened again.
    pub(crate) fn is_reusable(&self) -> bool {
        !matches!(self.server, ServerSource::Once(_))
    }
}

impl LinkPump {
    pub(crate) async fn run_until(
        &mut self,
        machine: &mut (dyn Machine + Send),
        until: Option<Millis>,
    ) -> PumpStatus {
        match self {
            LinkPump::Streams(pump) => pump.run_until(machine, until).await,
            #[cfg(feature = "http")]
            LinkPump::Http(pump) => pump.run_until(machine, until).await,
        }
    }

    pub(crate) fn now(&self) -> Millis {
        match self {
            LinkPump::Streams(pump) => pump.now(),
            #[cfg(feature = "http")]
            LinkPump::Http(pump) => pump.now(),
        }
    }

    /// Returns a callback that wakes the pump.
    pub(crate) fn wake(&self) -> Wake {
        match self {
            LinkPump::Streams(pump) => pump.wake(),
            #[cfg(feature = "http")]
            LinkPump::Http(pump) => pump.wake(),
        }
    }

    /// Returns the failure of the last closed stream, until the pump looks for further input. Returns `None` without
    /// a failure, and for all pumps except HTTP.
    pub(crate) fn failure(&self) -> Option<HttpFailure> {
        match self {
            LinkPump::Streams(_) => None,
            #[cfg(feature = "http")]
            LinkPump::Http(pump) => pump.failure(),
        }
    }
}

/// Stops the process, if there is one, and returns the exit status. Returns `None` if there is no process.
pub(crate) async fn stop(process: Option<ServerProcess>, shared: &ClientShared) -> Option<ExitStatus> {
    shared.set_process_id(None);
    match process {
        Some(mut process) => process.stop(shared.close_deadline()).await,
        None => None,
    }
}
