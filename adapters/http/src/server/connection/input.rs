//! Input of a connection: heads and bodies of requests.

use mcp_proto::Millis;
use mcp_proto::server::Server;

use super::output::Piece;
use super::{Connection, NEVER, Phase, Request};
use crate::http1::{self, BodyDecoder, BodyFraming, HttpError, HttpVersion};
use crate::server::{HttpConfig, HttpServer, Method, Policy, RequestHead};

impl Connection<'_> {
    /// Handles input from the client. Returns the number of consumed bytes.
    ///
    /// The caller must keep the remaining bytes, and pass them in again after the next output.
    // Not inlined, so that its stack frame is not live while the application handles an event.
    #[inline(never)]
    pub fn receive<P: Policy>(
        &mut self,
        http: &mut HttpServer<'_, P>,
        server: &mut Server<'_>,
        input: &[u8],
        now: Millis,
    ) -> usize {
        let mut total = 0usize;
        while let Some(rest) = input.get(total..).filter(|_| self.takes_input()) {
            match self.parse(http.config, rest, now) {
                Ok((0, _)) => break,
                Ok((consumed, data)) => {
                    self.pass(http, server, data, now);
                    total = total.saturating_add(consumed);
                }
                Err(error) => self.refuse(http, error, now),
            }
        }
        total
    }

    /// Parses input, without access to the servers. Returns the number of consumed bytes, and the part of the body
    /// among them.
    ///
    /// A caller with several threads uses this method in place of [`receive`](Connection::receive), and collects the
    /// body. The caller then locks the servers, and calls [`pass`](Connection::pass).
    ///
    /// # Errors
    /// The input is not valid HTTP/1.1 or HTTP/1.0, a head is too large, or the request requires a part of HTTP that is
    /// not supported. The caller must then call [`refuse`](Connection::refuse).
    #[inline(never)]
    pub fn parse<'i>(
        &mut self,
        config: &HttpConfig<'_>,
        input: &'i [u8],
        now: Millis,
    ) -> Result<(usize, &'i [u8]), HttpError> {
        let mut consumed = 0;
        if self.phase == Phase::Head && !input.is_empty() {
            consumed = self.parse_head(config, input, now)?;
        }
        match self.phase {
            Phase::Body => {
                let piece = self.body.decode(input.get(consumed..).unwrap_or_default())?;
                if self.body.is_complete() {
                    self.phase = Phase::Response;
                }
                Ok((consumed.saturating_add(piece.consumed), piece.data))
            }
            Phase::Closing => Ok((input.len(), &[])),
            Phase::Head | Phase::Response | Phase::Closed => Ok((consumed, &[])),
        }
    }

    /// Parses a head. Returns the number of consumed bytes.
    fn parse_head(&mut self, config: &HttpConfig<'_>, input: &[u8], now: Millis) -> Result<usize, HttpError> {
        let was_idle = self.head.is_idle();
        let consumed = self.head.feed(input)?;
        if was_idle && !self.head.is_idle() {
            self.deadline = now.plus(config.times.head);
        }
        if let Some(head) = self.head.head() {
            self.keeps_alive = head.keeps_alive();
            self.is_chunkable = head.version() == HttpVersion::Http11;
            self.body = BodyDecoder::new(head.body());
            self.phase = Phase::Body;
            self.deadline = now.plus(config.times.stall);
        }
        Ok(consumed)
    }

    /// Begins the exchange of a [parsed](Connection::parse) head if it has not begun. Then passes a part of the body to
    /// the exchange. If [`parse`](Connection::parse) has reached the end of the body, also reports this end to the
    /// exchange. Does nothing before `parse` has completed a head.
    #[inline(never)]
    pub fn pass<P: Policy>(
        &mut self,
        http: &mut HttpServer<'_, P>,
        server: &mut Server<'_>,
        data: &[u8],
        now: Millis,
    ) {
        let is_end = self.phase == Phase::Response;
        let Some(head) = self.head.head().filter(|_| is_end || self.phase == Phase::Body) else { return };
        let request = request_head(&head);
        if let Request::None = self.request {
            self.request = match http.begin(&request, now) {
                Ok(exchange) => {
                    self.deadline = NEVER;
                    if head.expects_continue() && !is_end {
                        (self.piece, self.position, self.length) = (Piece::Continue, 0, 0);
                    }
                    Request::Exchange(exchange)
                }
                Err(refusal) => Request::Refused(refusal, head.method() == "HEAD"),
            };
        }
        if let Request::Exchange(exchange) = self.request
            && (is_end || !data.is_empty())
        {
            http.body(server, exchange, &request, data, is_end, now);
        }
    }
}

fn request_head<'a>(head: &'a http1::RequestHead<'a>) -> RequestHead<'a> {
    let body_length = match head.body() {
        BodyFraming::Length(length) => Some(length),
        BodyFraming::Chunked | BodyFraming::UntilClose => None,
    };
    let method = Method::from_bytes(head.method().as_bytes());
    RequestHead { method, target: head.origin_form(), body_length, fields: head }
}
