//! Input of a connection: heads and bodies of requests.

use mcp_proto::Millis;
use mcp_proto::server::Server;

use super::output::Piece;
use super::{Connection, NEVER, Phase, Request};
use crate::http1::{self, BodyDecoder, BodyFraming, HttpVersion};
use crate::server::{HttpServer, Method, Policy, RequestHead};

impl Connection<'_> {
    /// Passes in input. Returns the number of consumed bytes.
    ///
    /// The caller keeps the other bytes, and passes them in again after the next output.
    pub fn receive<P: Policy>(
        &mut self,
        http: &mut HttpServer<'_, P>,
        server: &mut Server<'_>,
        input: &[u8],
        now: Millis,
    ) -> usize {
        let mut rest = input;
        if self.phase == Phase::Head && !input.is_empty() {
            rest = self.receive_head(http, input, now);
        }
        match self.phase {
            Phase::Body => rest = self.receive_body(http, server, rest, now),
            Phase::Closing => rest = &[],
            Phase::Head | Phase::Response | Phase::Closed => {}
        }
        input.len().saturating_sub(rest.len())
    }

    /// Parses a head, and begins its exchange. Returns the rest of the input.
    #[inline(never)]
    fn receive_head<'i, P: Policy>(
        &mut self,
        http: &mut HttpServer<'_, P>,
        input: &'i [u8],
        now: Millis,
    ) -> &'i [u8] {
        let was_idle = self.head.is_idle();
        let consumed = match self.head.feed(input) {
            Ok(consumed) => consumed,
            Err(error) => {
                self.refuse(http, error.into(), now);
                return input;
            }
        };
        let times = &http.config.times;
        if was_idle && !self.head.is_idle() {
            self.deadline = now.plus(times.head);
        }
        let rest = input.get(consumed..).unwrap_or_default();
        let Some(head) = self.head.head() else { return rest };
        self.keeps_alive = head.keeps_alive();
        self.is_chunkable = head.version() == HttpVersion::Http11;
        self.body = BodyDecoder::new(head.body());
        self.phase = Phase::Body;
        self.deadline = now.plus(times.stall);
        self.request = match http.begin(&request_head(&head), now) {
            Ok(exchange) => {
                self.deadline = NEVER;
                if head.expects_continue() {
                    self.set_piece(Piece::Continue);
                }
                Request::Exchange(exchange)
            }
            Err(refusal) => Request::Refused(refusal, head.method() == "HEAD"),
        };
        rest
    }

    /// Passes the body to the exchange, or drops the body of a refused request. Returns the rest of the input.
    #[inline(never)]
    fn receive_body<'i, P: Policy>(
        &mut self,
        http: &mut HttpServer<'_, P>,
        server: &mut Server<'_>,
        input: &'i [u8],
        now: Millis,
    ) -> &'i [u8] {
        let mut rest = input;
        loop {
            let piece = match self.body.decode(rest) {
                Ok(piece) => piece,
                Err(error) => {
                    self.refuse(http, error.into(), now);
                    return rest;
                }
            };
            rest = rest.get(piece.consumed..).unwrap_or_default();
            let is_end = self.body.is_complete();
            if (is_end || !piece.data.is_empty())
                && let (Request::Exchange(exchange), Some(head)) = (self.request, self.head.head())
            {
                http.body(server, exchange, &request_head(&head), piece.data, is_end, now);
            }
            if is_end {
                self.phase = Phase::Response;
                return rest;
            }
            if piece.consumed == 0 {
                return rest;
            }
        }
    }
}

fn request_head<'a>(head: &'a http1::RequestHead<'a>) -> RequestHead<'a> {
    let body_length = match head.body() {
        BodyFraming::Length(length) => Some(length),
        BodyFraming::Chunked | BodyFraming::UntilClose => None,
    };
    let method = Method::from_bytes(head.method().as_bytes());
    RequestHead { method, target: head.target(), body_length, fields: head }
}
