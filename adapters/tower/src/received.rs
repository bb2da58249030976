//! `Received`: the body of a request, as far as it has arrived.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Buf;
use http_body::Body;

/// The body of a request, as far as it has arrived.
pub(crate) enum Received<D> {
    Nothing,
    /// The only piece so far, which is contiguous and not copied.
    Piece(D),
    Copied(Vec<u8>),
}

/// The body cannot be read, for example because the client has disconnected, or a layer has refused the body.
pub(crate) struct Unreadable;

impl<D: Buf> Received<D> {
    /// Reads until the end of the body, or until the body is longer than `limit`. Fails if the body cannot be read.
    pub(crate) fn poll<B: Body<Data = D>>(
        &mut self,
        mut body: Pin<&mut B>,
        limit: usize,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), Unreadable>> {
        while self.len() <= limit && !body.is_end_stream() {
            match ready!(body.as_mut().poll_frame(context)) {
                None => break,
                Some(Err(_)) => return Poll::Ready(Err(Unreadable)),
                Some(Ok(frame)) => {
                    if let Ok(piece) = frame.into_data() {
                        let rest = usize::try_from(body.size_hint().lower()).unwrap_or(limit);
                        self.add(piece, rest.min(limit));
                    }
                }
            }
        }
        Poll::Ready(Ok(()))
    }

    fn len(&self) -> usize {
        match self {
            Received::Nothing => 0,
            Received::Piece(piece) => piece.remaining(),
            Received::Copied(bytes) => bytes.len(),
        }
    }

    /// Adds a piece, after which about `rest` bytes follow.
    fn add(&mut self, piece: D, rest: usize) {
        if let Received::Nothing = self
            && piece.chunk().len() == piece.remaining()
        {
            *self = Received::Piece(piece);
            return;
        }
        let mut bytes = match std::mem::replace(self, Received::Nothing) {
            Received::Nothing => Vec::new(),
            Received::Piece(first) => first.chunk().to_vec(),
            Received::Copied(bytes) => bytes,
        };
        bytes.reserve(piece.remaining().saturating_add(rest));
        let mut piece = piece;
        while piece.has_remaining() {
            let chunk = piece.chunk();
            bytes.extend_from_slice(chunk);
            let length = chunk.len();
            piece.advance(length);
        }
        *self = Received::Copied(bytes);
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Received::Nothing => &[],
            Received::Piece(piece) => piece.chunk(),
            Received::Copied(bytes) => bytes,
        }
    }
}
