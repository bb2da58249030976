//! MCP in a router of picoserve, without a heap.
//!
//! [`Mcp`] is a route: it passes each request to the servers in an [`HttpShared`], and writes the response. Another
//! task handles the events, as in `main.rs`.
#![no_std]

use heapless::{String, Vec};
use mcp_proto::Millis;
use mcp_proto_embedded::HttpShared;
use mcp_proto_http::HeaderFields;
use mcp_proto_http::http1::{ChunkHead, LAST_CHUNK};
use mcp_proto_http::server::{ExchangeId, Method, Policy, REFUSAL_SIZE, Refusal, RequestHead, ResponseHead};
use picoserve::ResponseSent;
use picoserve::io::{Read, Write};
use picoserve::request::{Headers, Request};
use picoserve::response::custom::{CustomBody, CustomResponse};
use picoserve::response::{Connection, IntoResponse, ResponseWriter, StatusCode};
use picoserve::routing::MethodHandlerService;

/// The route of MCP, for all methods.
pub struct Mcp<'s, 'a, 'b, P: Policy, const N: usize> {
    /// The HTTP server and its MCP server.
    pub shared: &'s HttpShared<'a, 'b, P, N>,
    /// The clock.
    pub now: fn() -> Millis,
}

/// The header fields of a request.
struct Fields<'r> {
    headers: Headers<'r>,
    /// The joined values of `Accept`, as many as fit. Several `Accept` lines count as one list.
    accept: Vec<u8, 256>,
}

impl<'r> Fields<'r> {
    fn new(headers: Headers<'r>) -> Fields<'r> {
        let mut accept = Vec::new();
        for (_, value) in headers.iter().filter(|(name, _)| "accept" == *name) {
            let start = accept.len();
            let comma: &[u8] = if start == 0 { b"" } else { b", " };
            let added =
                accept.extend_from_slice(comma).and_then(|()| accept.extend_from_slice(value.as_raw()));
            if added.is_err() {
                accept.truncate(start);
                break;
            }
        }
        Fields { headers, accept }
    }
}

impl HeaderFields for Fields<'_> {
    fn field(&self, name: &str) -> Option<&[u8]> {
        if name == "accept" && !self.accept.is_empty() {
            return Some(&self.accept);
        }
        self.headers.get(name).map(|value| value.as_raw())
    }

    fn is_repeated(&self, name: &str) -> bool {
        self.headers.iter().filter(|(known, _)| name == *known).count() > 1
    }
}

impl<State, Parameters, P: Policy, const N: usize> MethodHandlerService<State, Parameters>
    for Mcp<'_, '_, '_, P, N>
{
    async fn call_method_handler_service<R: Read, W: ResponseWriter<Error = R::Error>>(
        &self,
        _: &State,
        _: Parameters,
        method: &str,
        mut request: Request<'_, R>,
        response_writer: W,
    ) -> Result<ResponseSent, W::Error> {
        let (fields, path) = (Fields::new(request.parts.headers()), request.parts.path());
        let head = RequestHead {
            method: Method::from_bytes(method.as_bytes()),
            target: path.encoded(),
            body_length: u64::try_from(request.body_connection.content_length()).ok(),
            fields: &fields,
        };
        let takes_chunks = request.parts.http_version() == "HTTP/1.1";
        let begun = self.shared.with(|http, _| http.begin(&head, (self.now)()));
        let response = match begun {
            Some(Ok(id)) => {
                let exchange = Exchange { mcp: self, id };
                // The buffer of picoserve must hold the whole body.
                let Ok(body) = request.body_connection.body().read_all().await else {
                    let connection = request.body_connection.finalize().await?;
                    let text = "the body is longer than the buffer";
                    return (StatusCode::new(413), text).write_to(connection, response_writer).await;
                };
                self.shared.with(|http, server| http.body(server, id, &head, body, true, (self.now)()));
                let is_known =
                    |head: Option<ResponseHead>, is_cut| (head.is_some() || is_cut).then_some(head);
                let head = self.shared.wait_for(|http, _| {
                    let output = http.output(id);
                    is_known(output.head, output.is_cut || self.shared.is_closed())
                });
                head.await.map(|head| {
                    let is_chunked = takes_chunks && head.length.is_none() && head.status != 204;
                    (head, Body::Exchange { exchange, is_chunked })
                })
            }
            Some(Err(refusal)) => Some((refusal.write(&mut [0; REFUSAL_SIZE]).0, Body::Refusal(refusal))),
            None => None,
        };
        let connection = request.body_connection.finalize().await?;
        let Some((head, body)) = response else {
            // The server has cut the exchange before the head of the response, is closed, or was in use.
            return StatusCode::new(503).write_to(connection, response_writer).await;
        };
        respond(&head, body, connection, response_writer).await
    }
}

/// The header field that names the missing authorization.
const CHALLENGE: &str = "www-authenticate";

/// Writes a response. HTTP/1.0 has no chunks: if the length is unknown, the end of the connection ends the response.
async fn respond<R: Read, W: ResponseWriter<Error = R::Error>, P: Policy, const N: usize>(
    head: &ResponseHead,
    body: Body<'_, '_, '_, '_, P, N>,
    connection: Connection<'_, R>,
    response_writer: W,
) -> Result<ResponseSent, W::Error> {
    // A challenge may be longer than 128 bytes, so it is not copied.
    let mut copied: Vec<(String<32>, String<128>), 8> = Vec::new();
    head.fields(&mut |name, value| {
        if name != CHALLENGE
            && let (Ok(name), Ok(value)) = (name.try_into(), value.try_into())
        {
            _ = copied.push((name, value));
        }
    });
    let challenge = head.challenge.as_ref().map(|challenge| (CHALLENGE, challenge.as_str()));
    let copied = copied.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let encoding = body.is_chunked().then_some(("transfer-encoding", "chunked"));
    let fields: Vec<(&str, &str), 10> = copied.chain(challenge).chain(encoding).collect();
    let response = CustomResponse::build(StatusCode::new(head.status)).with_headers(&fields[..]);
    response.with_body(body).write_to(connection, response_writer).await
}

/// The body of a response.
enum Body<'m, 's, 'a, 'b, P: Policy, const N: usize> {
    Refusal(Refusal),
    Exchange { exchange: Exchange<'m, 's, 'a, 'b, P, N>, is_chunked: bool },
}

impl<P: Policy, const N: usize> Body<'_, '_, '_, '_, P, N> {
    fn is_chunked(&self) -> bool {
        matches!(self, Body::Exchange { is_chunked: true, .. })
    }
}

impl<P: Policy, const N: usize> CustomBody for Body<'_, '_, '_, '_, P, N> {
    async fn write_response_body<W: Write>(self, mut writer: W) -> Result<(), W::Error> {
        let (exchange, is_chunked) = match self {
            Body::Refusal(refusal) => {
                return writer.write_all(refusal.write(&mut [0; REFUSAL_SIZE]).1).await;
            }
            Body::Exchange { exchange, is_chunked } => (exchange, is_chunked),
        };
        let Exchange { mcp: Mcp { shared, now }, id } = exchange;
        // picoserve has written the head.
        shared.with(|http, _| http.sent(id, 0, now()));
        loop {
            let mut bytes = [0; 256];
            let next = shared.wait_for(|http, _| {
                let output = http.output(id);
                let length = output.body.len().min(bytes.len());
                bytes[..length].copy_from_slice(&output.body[..length]);
                let is_cut = output.is_cut || length == 0 && !output.is_end && shared.is_closed();
                let is_end = is_cut || output.is_end && length == output.body.len();
                (length > 0 || is_end).then_some((length, is_end, is_cut))
            });
            let (length, is_end, is_cut) = next.await;
            match ChunkHead::new(length).filter(|_| is_chunked) {
                Some(chunk) => {
                    writer.write_all(chunk.as_bytes()).await?;
                    writer.write_all(&bytes[..length]).await?;
                    writer.write_all(ChunkHead::END).await?;
                }
                None => writer.write_all(&bytes[..length]).await?,
            }
            // A client of HTTP/1.1 notices a cut response by the missing last chunk, or by missing bytes of
            // `Content-Length`.
            if is_end && is_chunked && !is_cut {
                writer.write_all(LAST_CHUNK).await?;
            }
            writer.flush().await?;
            shared.with(|http, _| http.sent(id, length, now()));
            if is_end {
                return Ok(());
            }
        }
    }
}

/// An exchange. Dropping this value closes the exchange, even if picoserve drops the future of the handler before the
/// end of the response.
struct Exchange<'m, 's, 'a, 'b, P: Policy, const N: usize> {
    mcp: &'m Mcp<'s, 'a, 'b, P, N>,
    id: ExchangeId,
}

impl<P: Policy, const N: usize> Drop for Exchange<'_, '_, '_, '_, P, N> {
    fn drop(&mut self) {
        self.mcp.shared.with(|http, _| http.close(self.id));
    }
}
