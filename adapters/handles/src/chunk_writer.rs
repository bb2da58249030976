//! The writer of a chunked response, for threads and tasks.

use std::fmt::Display;
use std::sync::Arc;

use mcp_proto::server::Reply;
use mcp_proto::{SendError, Ticket};

use crate::cancellation::Cancellation;
use crate::promise::Promise;
use crate::responder::Responder;
use crate::server_command::ServerCommand;
use crate::server_shared::ServerShared;

/// The writer of a [chunked](Responder::chunked) response.
///
/// Dropping the writer fails the response. If the future of a write is dropped between its first poll and its
/// completion, the response also fails.
#[must_use = "the response stays open until `end` or `fail`"]
#[derive(Debug)]
pub struct ChunkWriter {
    responder: Responder,
    /// Whether a write is in progress, was dropped, or has failed.
    is_writing: bool,
    _idle: IdleWriters,
}

impl ChunkWriter {
    pub(crate) fn new(responder: Responder) -> ChunkWriter {
        let idle = IdleWriters::add(responder.shared(), 1);
        ChunkWriter { responder, is_writing: false, _idle: idle }
    }

    /// Returns an observer of the request's cancellation. The observer may be moved to another thread or task.
    #[must_use]
    pub fn cancellation(&self) -> Cancellation {
        self.responder.cancellation()
    }

    /// Writes the next part of a text. Waits until the whole part is in the transmit buffer, whose space becomes free
    /// as the client reads.
    ///
    /// # Errors
    /// [`SendError::Gone`]: the request was cancelled, its timeout expired, the connection is closed, an earlier write
    /// failed or was dropped, or the content is not text.
    pub async fn text(&mut self, text: impl Into<String>) -> Result<(), SendError> {
        self.write(Chunk::Text(text.into())).await
    }

    /// Writes the next part of a binary content, like [`text`](ChunkWriter::text).
    ///
    /// # Errors
    /// [`SendError::Gone`]: the request was cancelled, its timeout expired, the connection is closed, an earlier write
    /// failed or was dropped, or the content is not binary.
    pub async fn blob(&mut self, bytes: impl Into<Vec<u8>>) -> Result<(), SendError> {
        self.write(Chunk::Blob(bytes.into())).await
    }

    async fn write(&mut self, chunk: Chunk) -> Result<(), SendError> {
        // A write that failed or was dropped has failed the response.
        if std::mem::replace(&mut self.is_writing, true) {
            return Err(SendError::Gone);
        }
        let _not_idle = IdleWriters::add(self.responder.shared(), -1);
        let (outcome, result) = Promise::new(SendError::Gone);
        self.responder.push(ServerCommand::write_chunk(self.responder.ticket(), chunk, outcome));
        let written = result.wait_until(|result| result.take()).await;
        self.is_writing = written.is_err();
        written
    }

    /// Completes the response. If a write has failed or was dropped, fails the response instead.
    pub fn end(mut self) {
        if !self.is_writing {
            self.responder.end_chunks(None);
        }
    }

    /// Completes the response as a failure: see [`Chunks::fail`](mcp_proto::server::Chunks::fail).
    pub fn fail(mut self, reason: impl Display) {
        self.responder.end_chunks(Some(reason.to_string()));
    }
}

/// A guard that adds a number to the count of idle writers until it is dropped. A writer is idle while no write is in
/// progress.
#[derive(Debug)]
struct IdleWriters {
    shared: Arc<ServerShared>,
    change: isize,
}

impl IdleWriters {
    fn add(shared: &Arc<ServerShared>, change: isize) -> IdleWriters {
        shared.add_idle_writers(change);
        IdleWriters { shared: Arc::clone(shared), change }
    }
}

impl Drop for IdleWriters {
    fn drop(&mut self) {
        self.shared.add_idle_writers(-self.change);
    }
}

/// The data of one write: a part of a text, or of binary content.
pub(crate) enum Chunk {
    Text(String),
    Blob(Vec<u8>),
}

impl Chunk {
    /// Writes as many bytes from the offset `at` on as the server takes now. Returns the offset after the last written
    /// byte, and whether no bytes are left.
    ///
    /// # Errors
    /// [`SendError::Gone`]: the response has ended.
    pub(crate) fn write(
        &self,
        server: &mut mcp_proto::Server<'_>,
        ticket: Ticket,
        at: usize,
    ) -> Result<(usize, bool), SendError> {
        let mut chunks = server.chunks(ticket)?;
        let (taken, length) = match self {
            Chunk::Text(text) => (chunks.text(text.get(at..).unwrap_or_default()), text.len()),
            Chunk::Blob(bytes) => (chunks.blob(bytes.get(at..).unwrap_or_default()), bytes.len()),
        };
        Ok((at + taken, at + taken == length))
    }
}

/// The promise of a result: of opening a response, or of a write.
pub(crate) type Outcome = Promise<(), SendError>;

/// Function that opens the response of a request.
pub(crate) type OpenFn = Box<dyn FnOnce(Reply<'_>) -> Result<Ticket, SendError> + Send>;
