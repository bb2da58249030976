//! The writer of a chunked response, on a worker thread.

use std::fmt::Display;

use mcp_proto::SendError;
use mcp_proto_handles::{self as handles, Cancellation, block_on};

/// The writer of a [chunked](crate::Responder::chunked) response.
///
/// Dropping the writer, even during a panic, fails the response.
#[must_use = "the response stays open until `end` or `fail`"]
#[derive(Debug)]
pub struct ChunkWriter {
    inner: handles::ChunkWriter,
}

impl ChunkWriter {
    pub(crate) fn new(inner: handles::ChunkWriter) -> ChunkWriter {
        ChunkWriter { inner }
    }

    /// Writes the next part of a text. Waits until the whole part is in the transmit buffer. Space in the buffer
    /// becomes free as the client reads.
    ///
    /// # Errors
    /// [`SendError::Gone`]: the request was cancelled, its timeout expired, the connection is closed, an earlier write
    /// failed, or the content is not text.
    pub fn text(&mut self, text: impl Into<String>) -> Result<(), SendError> {
        block_on(self.inner.text(text))
    }

    /// Writes the next part of a binary content, like [`text`](ChunkWriter::text).
    ///
    /// # Errors
    /// [`SendError::Gone`]: the request was cancelled, its timeout expired, the connection is closed, an earlier write
    /// failed, or the content is not binary.
    pub fn blob(&mut self, bytes: impl Into<Vec<u8>>) -> Result<(), SendError> {
        block_on(self.inner.blob(bytes))
    }

    /// Completes the response. After a failed write, completes the response as a failure.
    pub fn end(self) {
        self.inner.end();
    }

    /// Completes the response as a failure: see [`Chunks::fail`](mcp_proto::server::Chunks::fail).
    pub fn fail(self, reason: impl Display) {
        self.inner.fail(reason);
    }

    /// Returns an observer of the request's cancellation. The observer works on any thread.
    #[must_use]
    pub fn cancellation(&self) -> Cancellation {
        self.inner.cancellation()
    }
}
