//! Output of a connection: responses with their framing, in pieces.

use mcp_proto::Millis;

use super::{Connection, Phase, Request};
use crate::http1::{CONTINUE, ChunkHead, HeadWriter, LAST_CHUNK};
use crate::server::{HttpServer, Policy, ResponseHead};

/// A piece of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece {
    None,
    Continue,
    Head,
    RefusalBody,
    /// Contains the length of the data.
    ChunkHead(usize),
    /// Bytes of the response of an exchange.
    Data,
    ChunkEnd,
    LastChunk,
}

impl Connection<'_> {
    /// Returns the next bytes to send. Returns no bytes if there is nothing to send now.
    ///
    /// `space` needs [`RESPONSE_SPACE`](super::RESPONSE_SPACE) bytes for the head of a response, plus the length of the
    /// longest challenge of the [`Policy`]. If `space` is too small, the connection closes.
    pub fn output<'a, P: Policy>(
        &mut self,
        http: &'a mut HttpServer<'_, P>,
        space: &'a mut [u8],
        now: Millis,
    ) -> &'a [u8] {
        self.expire(http, now);
        // `is_cut` before the last byte of a response means that the server has ended the exchange early.
        let exchange = self.exchange().filter(|_| !self.is_end);
        if exchange.is_some_and(|exchange| http.output(exchange).is_cut) {
            self.phase = Phase::Closed;
        }
        if self.piece == Piece::None {
            self.next_piece(http, now);
        }
        let bytes = match self.piece {
            _ if self.phase == Phase::Closed => return &[],
            Piece::None => return &[],
            Piece::Data => {
                let body = self.exchange().map_or(&[][..], |exchange| http.output(exchange).body);
                let left = self.length.saturating_sub(self.position);
                return body.get(..left).unwrap_or(body);
            }
            Piece::Continue => CONTINUE,
            Piece::ChunkEnd => ChunkHead::END,
            Piece::LastChunk => LAST_CHUNK,
            Piece::Head | Piece::RefusalBody | Piece::ChunkHead(_) => match self.write_piece(http, space) {
                Some(bytes) => bytes,
                None => {
                    self.phase = Phase::Closed;
                    return &[];
                }
            },
        };
        self.length = bytes.len();
        bytes.get(self.position..).unwrap_or_default()
    }

    /// Reports that the first `n` bytes of the [output](Connection::output) were sent.
    #[inline(never)]
    pub fn sent<P: Policy>(&mut self, http: &mut HttpServer<'_, P>, n: usize, now: Millis) {
        self.position = self.position.saturating_add(n);
        if self.piece == Piece::Data {
            self.report(http, n, now);
        }
        if self.position < self.length {
            return;
        }
        match core::mem::replace(&mut self.piece, Piece::None) {
            Piece::None | Piece::Continue => {}
            Piece::Head => match self.request {
                Request::Refused(_, false) => self.set_piece(Piece::RefusalBody),
                Request::Exchange(_) => {
                    self.report(http, 0, now);
                    self.continue_response(http, now);
                }
                Request::Refused(..) | Request::None => self.end_request(http, now),
            },
            Piece::ChunkHead(length) => {
                self.set_piece(Piece::Data);
                self.length = length;
            }
            Piece::Data if self.is_chunked => self.set_piece(Piece::ChunkEnd),
            Piece::Data | Piece::ChunkEnd => self.continue_response(http, now),
            Piece::RefusalBody | Piece::LastChunk => self.end_request(http, now),
        }
    }

    /// Reports sent bytes of the body to the exchange. The exchange may end with these bytes.
    fn report<P: Policy>(&mut self, http: &mut HttpServer<'_, P>, n: usize, now: Millis) {
        let Some(exchange) = self.exchange() else { return };
        let output = http.output(exchange);
        self.is_end = output.is_end && n >= output.body.len();
        // The exchange and its deadline end here. The last chunk is unsent, so it gets a deadline of the connection.
        if self.is_end && self.is_chunked {
            self.deadline = now.plus(http.config.times.stall);
        }
        http.sent(exchange, n, now);
    }

    /// Selects the next piece of the response, if the response has output. The previous piece must be complete.
    #[inline(never)]
    fn next_piece<P: Policy>(&mut self, http: &mut HttpServer<'_, P>, now: Millis) {
        let exchange = match self.request {
            Request::None => return,
            Request::Refused(..) => return self.begin_response(true),
            Request::Exchange(exchange) => exchange,
        };
        let output = http.output(exchange);
        let length = output.body.len();
        if let Some(head) = output.head {
            self.is_chunked = head.length.is_none() && head.status != 204 && self.is_chunkable;
            self.begin_response(self.is_chunked || head.length.is_some() || head.status == 204);
        } else if length > 0 {
            self.set_piece(if self.is_chunked { Piece::ChunkHead(length) } else { Piece::Data });
            self.length = length;
        } else if output.is_end {
            self.report(http, 0, now);
            self.continue_response(http, now);
        }
    }

    /// Begins the head of a response. `has_end` means that the client can detect the end of the response, by its
    /// length, its last chunk, or the status 204.
    fn begin_response(&mut self, has_end: bool) {
        // The connection cannot continue after an incomplete request body, because the rest of the body would be parsed
        // as the next request.
        self.keeps_alive = self.keeps_alive && has_end && self.phase == Phase::Response;
        self.has_response = true;
        self.set_piece(Piece::Head);
    }

    /// Ends the response if all bytes of its body were sent.
    fn continue_response<P: Policy>(&mut self, http: &mut HttpServer<'_, P>, now: Millis) {
        match (self.is_end, self.is_chunked) {
            (true, true) => self.set_piece(Piece::LastChunk),
            (true, false) => self.end_request(http, now),
            (false, _) => {}
        }
    }

    /// Writes a head, the body of a refusal, or the head of a chunk. Returns `None` if the text does not fit.
    #[inline(never)]
    fn write_piece<'a, P: Policy>(&self, http: &HttpServer<'_, P>, space: &'a mut [u8]) -> Option<&'a [u8]> {
        match (self.piece, &self.request) {
            (Piece::Head, Request::Exchange(exchange)) => {
                self.write_head(&http.output(*exchange).head?, space)
            }
            (Piece::Head, Request::Refused(refusal, _)) => self.write_head(&refusal.head(), space),
            (Piece::RefusalBody, Request::Refused(refusal, _)) => {
                Some(refusal.write(space.first_chunk_mut()?).1)
            }
            (Piece::ChunkHead(length), _) => {
                let line = ChunkHead::new(length)?;
                let space = space.first_chunk_mut()?;
                *space = *line.as_array();
                Some(space)
            }
            _ => None,
        }
    }

    fn write_head<'a>(&self, head: &ResponseHead, space: &'a mut [u8]) -> Option<&'a [u8]> {
        let mut writer = HeadWriter::response(space, head.status);
        head.fields(&mut |name, value| writer.add(name, value));
        if self.is_chunked {
            writer.add("Transfer-Encoding", "chunked");
        }
        if !self.keeps_alive {
            writer.add("Connection", "close");
        }
        writer.finish().ok()
    }
}
