//! A server on stdin and stdout, or on any two streams.

use std::sync::Arc;

use mcp_proto::server::{Event, ServerConfig};
use mcp_proto_handles::{ServeError, ServerSettings, ServerShared};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::blocking::{Input, Output};
use crate::pump::{Pump, PumpStatus};
use crate::tasks::ServerHandle;

/// Serves on stdin and stdout until the client is gone: [`Serve::stdio`] with the usual limits.
///
/// The handler gets every event, and answers what it can at once. What takes long belongs into a task:
/// [`ServerHandle::run`].
///
/// ```no_run
/// # use mcp_proto::server::{Event, ServerConfig, Tool, Tools};
/// # static TOOLS: Tools = Tools::new(&[Tool::new("hello", "{}")]);
/// # static INFO: ServerConfig = ServerConfig::new("example", "1.0.0").features(&[&TOOLS]);
/// # async fn example() -> Result<(), mcp_proto_tokio::ServeError> {
/// mcp_proto_tokio::serve(&INFO, |event, _| match event {
///     Event::Call(call) => call.text("Hello!"),
///     _ => {}
/// })
/// .await
/// # }
/// ```
///
/// # Errors
/// As [`Serve::stdio`].
pub async fn serve(
    info: &ServerConfig<'_>,
    handler: impl FnMut(Event<'_>, &ServerHandle),
) -> Result<(), ServeError> {
    Serve::new(info).stdio(handler).await
}

/// A server for one connection, with its limits.
///
/// ```no_run
/// use mcp_proto::server::ServerConfig;
/// use mcp_proto_tokio::Serve;
///
/// static INFO: ServerConfig = ServerConfig::new("example", "1.0.0");
/// # async fn example(listener: tokio::net::TcpListener) -> std::io::Result<()> {
/// loop {
///     let (socket, _) = listener.accept().await?;
///     tokio::spawn(Serve::new(&INFO).workers(4).longest_line(1 << 20).stream(socket, |_, _| {}));
/// }
/// # }
/// ```
///
/// Its future may be dropped at any time: then the connection is closed, and what runs hears that it is cancelled.
pub struct Serve<'i> {
    settings: ServerSettings<'i>,
}

impl<'i> Serve<'i> {
    /// A server with the usual limits: lines and answers of 8 MiB, 32 workers, 64 KiB for watched URIs.
    ///
    /// It takes [batches](mcp_proto::Server::batch_buffer) where the revision has them.
    #[must_use]
    pub fn new(info: &'i ServerConfig<'i>) -> Serve<'i> {
        Serve { settings: ServerSettings::new(info) }
    }

    mcp_proto_handles::server_settings!('i);

    /// Serves on stdin and stdout until the client is gone.
    ///
    /// Both may block, so each has a thread of its own. That of stdin may still be at it when this comes back, until
    /// something comes in or the process ends; unlike with tokio's own stdin, a runtime that shuts down does not wait for it.
    ///
    /// On Unix both are taken over meanwhile, so that nothing but the protocol ever gets onto stdout: what prints
    /// there, prints to stderr instead, and so do child processes.
    ///
    /// # Errors
    /// The server is not set up well, or a thread cannot be started. A client that goes away is no error.
    pub async fn stdio(self, handler: impl FnMut(Event<'_>, &ServerHandle)) -> Result<(), ServeError> {
        #[cfg(unix)]
        let taken = mcp_proto_handles::Taken::take()?;
        #[cfg(unix)]
        let (input, output) = taken.streams()?;
        #[cfg(not(unix))]
        let (input, output) = (std::io::stdin(), std::io::stdout());
        self.streams(Input::start(input)?, Output::start(output)?, handler).await
    }

    /// Serves on a socket, or anything else that is read and written, until the client is gone.
    ///
    /// # Errors
    /// As [`streams`](Serve::streams).
    pub async fn stream(
        self,
        stream: impl AsyncRead + AsyncWrite,
        handler: impl FnMut(Event<'_>, &ServerHandle),
    ) -> Result<(), ServeError> {
        let (input, output) = tokio::io::split(stream);
        self.streams(input, output, handler).await
    }

    /// Serves on two streams until the client is gone.
    ///
    /// After the end of the input, calls that are on their way may take as long as the grace lasts
    /// ([`Limits::grace`](mcp_proto::server::Limits::grace)). It returns when their answers are written.
    ///
    /// If the handler panics, the connection is over and the panic goes on here. A task may panic: its request is answered
    /// with an error (-32603).
    ///
    /// # Errors
    /// The server is not set up well. A client that goes away is no error.
    pub async fn streams(
        self,
        input: impl AsyncRead + Unpin,
        output: impl AsyncWrite + Unpin,
        mut handler: impl FnMut(Event<'_>, &ServerHandle),
    ) -> Result<(), ServeError> {
        let workers = self.settings.workers;
        let mut server = self.settings.server()?;
        let mut pump = Pump::new(input, output);
        let waker = pump.waker();
        let desk = ServerShared::new(Arc::new(move || waker.wake()), workers, None);
        // However this ends, the tasks hear of it.
        let _end = desk.end_on_drop();
        let handle = ServerHandle::new(Arc::clone(&desk));
        loop {
            let until = desk.deliver(&mut server, pump.now());
            match pump.run_until(&mut server, until).await {
                PumpStatus::Closed => return Ok(()),
                PumpStatus::Woken if desk.is_overdue(pump.now()) => return Ok(()),
                PumpStatus::Woken => {}
                PumpStatus::Event => {
                    if let Some(event) = server.event() {
                        desk.hear(&event);
                        handler(event, &handle);
                    }
                }
            }
        }
    }
}

impl std::fmt::Debug for Serve<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Serve").field("settings", &self.settings).finish()
    }
}
