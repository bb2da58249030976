//! `ResponseBody`: a complete text, or a stream.

use std::fmt;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use crate::exchange::Exchange;

/// The body of a response: a text whose length is known, or a stream of events or chunks.
///
/// Dropping a stream before its end closes the exchange like a closed connection: see
/// [`McpService`](crate::McpService).
#[derive(Debug)]
pub struct ResponseBody {
    content: Content,
}

#[derive(Debug)]
enum Content {
    Full(Bytes),
    Stream(Exchange),
}

impl ResponseBody {
    pub(crate) fn full(bytes: Bytes) -> ResponseBody {
        ResponseBody { content: Content::Full(bytes) }
    }

    pub(crate) fn stream(exchange: Exchange) -> ResponseBody {
        ResponseBody { content: Content::Stream(exchange) }
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = StreamCut;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, StreamCut>>> {
        let data = |bytes: Bytes| (!bytes.is_empty()).then(|| Ok(Frame::data(bytes)));
        match &mut self.content {
            Content::Full(bytes) => Poll::Ready(data(mem::take(bytes))),
            Content::Stream(exchange) => exchange.poll_output(context).map(|output| match output {
                Ok((bytes, is_end)) => {
                    if is_end {
                        self.content = Content::Full(Bytes::new());
                    }
                    data(bytes)
                }
                Err(cut) => {
                    self.content = Content::Full(Bytes::new());
                    Some(Err(cut))
                }
            }),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(&self.content, Content::Full(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match &self.content {
            Content::Full(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Content::Stream(_) => SizeHint::new(),
        }
    }
}

/// Error of a stream that ends early, for example because the client does not read, or has resumed the stream on a new
/// connection.
///
/// The HTTP server closes the connection, or resets the stream of HTTP/2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamCut;

impl fmt::Display for StreamCut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the server ended the event stream early")
    }
}

impl std::error::Error for StreamCut {}
