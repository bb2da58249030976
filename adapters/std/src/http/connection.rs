//! One HTTP/1.1 connection of a server: reads requests, and writes responses.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Condvar};
use std::time::{Duration, Instant};

use mcp_proto::server::Event;
use mcp_proto_http::http1::{
    BodyDecoder, BodyFraming, CONTINUE, HeadWriter, HttpError, HttpVersion, LAST_CHUNK, RequestDecoder,
};
use mcp_proto_http::server::{ExchangeId, Method, REFUSAL_SIZE, RequestHead, ResponseHead};

use super::open_exchange::OpenExchange;
use super::serve::HttpShared;
use crate::sync::wait_for;
use crate::worker::ServerHandle;

/// The number of bytes that a connection reads at a time.
const READ_SIZE: usize = 64 * 1024;
/// The amount of output that causes a write, in bytes. The rest of a response waits in the memory that all connections
/// share.
const WRITE_SIZE: usize = 128 * 1024;
/// The memory for the fields of one head.
const HEAD_SIZE: usize = 16 * 1024;
/// The time for a client to send the next request on an open connection.
const IDLE_TIME: Duration = Duration::from_secs(75);
/// The time for a head to arrive, and for a client to take a piece of output.
const STALL_TIME: Duration = Duration::from_secs(30);
/// The time and the number of bytes for which input is dropped before a connection closes.
const LINGER_TIME: Duration = Duration::from_secs(2);
const LINGER_SIZE: usize = 1024 * 1024;
/// How often a connection that waits for output checks whether the client has disconnected.
const CHECK_INTERVAL: Duration = Duration::from_millis(250);

/// Serves all requests of a connection, one after the other.
pub(super) fn serve<H: Fn(Event<'_>, &ServerHandle) + Sync>(
    shared: &HttpShared<'_, H>,
    number: u64,
    stream: TcpStream,
) {
    let _ = stream.set_nodelay(true);
    let _ = stream.set_write_timeout(Some(STALL_TIME));
    let mut connection = Connection {
        number,
        stream,
        input: vec![0; READ_SIZE],
        unread: 0..0,
        output: Vec::new(),
        ready: Arc::new(Condvar::new()),
    };
    let mut fields = vec![0; HEAD_SIZE];
    let mut decoder = RequestDecoder::new(&mut fields);
    while let Ok(true) = connection.serve_request(shared, &mut decoder) {
        decoder.reset();
    }
}

struct Connection {
    number: u64,
    stream: TcpStream,
    input: Vec<u8>,
    /// The bytes in `input` that belong to the next part of a request.
    unread: std::ops::Range<usize>,
    output: Vec<u8>,
    ready: Arc<Condvar>,
}

impl Connection {
    /// Serves one request. Returns whether another one may follow.
    fn serve_request<H: Fn(Event<'_>, &ServerHandle) + Sync>(
        &mut self,
        shared: &HttpShared<'_, H>,
        decoder: &mut RequestDecoder<'_>,
    ) -> io::Result<bool> {
        match self.read_head(decoder) {
            Ok(true) => {}
            Ok(false) => return Ok(false),
            Err(refusal) => return self.refuse(refusal),
        }
        let Some(head) = decoder.head() else { return Ok(false) };
        let (keeps_alive, is_chunkable) = (head.keeps_alive(), head.version() == HttpVersion::Http11);
        let body_length = match head.body() {
            BodyFraming::Length(length) => Some(length),
            _ => None,
        };
        let request = RequestHead {
            method: Method::from_bytes(head.method().as_bytes()),
            target: head.target(),
            body_length,
            fields: &head,
        };
        let expected = body_length.and_then(|length| usize::try_from(length).ok()).unwrap_or(0);
        let bytes = Vec::with_capacity(expected.min(shared.longest_body));
        let mut body = Body { decoder: BodyDecoder::new(head.body()), bytes };
        // Most bodies arrive together with their heads.
        let is_whole = match self.decode_body(&mut body) {
            Ok(is_whole) => is_whole && body.bytes.len() <= shared.longest_body,
            Err(refusal) => return self.refuse(refusal),
        };
        let mut exchange = OpenExchange { shared, number: self.number, id: None };
        if let Err(refusal) = exchange.begin(&request, is_whole.then_some(&body.bytes), &self.ready) {
            // The response to HEAD has no body, so the connection ends.
            let keeps_alive = keeps_alive && is_whole && head.method() != "HEAD";
            let mut text = [0; REFUSAL_SIZE];
            let (head, body) = refusal.write(&mut text);
            self.write_head(&head, is_chunkable, keeps_alive)?;
            self.output.extend_from_slice(body);
            self.flush()?;
            if !keeps_alive {
                self.linger();
            }
            return Ok(keeps_alive);
        }
        let mut arrival = Arrival::Complete;
        if !is_whole {
            if head.expects_continue() {
                self.stream.write_all(CONTINUE)?;
            }
            arrival = match self.read_body(&mut body, shared.longest_body, Instant::now() + shared.body_time)
            {
                Ok(arrival) => arrival,
                Err(refusal) => return self.refuse(refusal),
            };
            // The machine refuses a body that is late, and one that is too long.
            exchange.pass_body(&request, (arrival != Arrival::Late).then_some(&body.bytes));
        }
        let Some(id) = exchange.id else { return Ok(false) };
        let keeps_alive = keeps_alive && arrival == Arrival::Complete;
        let Ended::Complete { keeps_alive } = self.write_response(shared, id, is_chunkable, keeps_alive)?
        else {
            return Ok(false);
        };
        exchange.end();
        if arrival != Arrival::Complete {
            self.linger();
        }
        Ok(keeps_alive)
    }

    /// Writes the response of an exchange as it becomes known.
    fn write_response<H: Fn(Event<'_>, &ServerHandle) + Sync>(
        &mut self,
        shared: &HttpShared<'_, H>,
        exchange: ExchangeId,
        is_chunkable: bool,
        mut keeps_alive: bool,
    ) -> io::Result<Ended> {
        let mut is_chunked = false;
        let mut checked = Instant::now();
        loop {
            let mut machines = shared.lock();
            let output = machines.core.http.output(exchange);
            if output.is_cut {
                return Ok(Ended::Cut);
            }
            let head = output.head;
            if head.is_none() && output.body.is_empty() && !output.is_end {
                if machines.is_closed {
                    return Ok(Ended::Cut);
                }
                let waited = checked.elapsed();
                if waited < CHECK_INTERVAL {
                    drop(wait_for(&self.ready, machines, CHECK_INTERVAL - waited));
                } else {
                    drop(machines);
                    if self.has_disconnected() {
                        return Ok(Ended::Disconnected);
                    }
                    checked = Instant::now();
                }
                continue;
            }
            if let Some(head) = head {
                is_chunked = head.length.is_none() && head.status != 204 && is_chunkable;
                keeps_alive = keeps_alive && (is_chunked || head.length.is_some() || head.status == 204);
                self.write_head(&head, is_chunkable, keeps_alive)?;
                self.output.reserve(head.length.unwrap_or(0).min(WRITE_SIZE));
            }
            // One write sends many pages, because a system call for each page costs more than a copy.
            let start = self.output.len();
            let is_end = machines.core.take_output(exchange, &mut self.output, WRITE_SIZE, shared.now());
            shared.arm(shared.run(&mut machines));
            drop(machines);
            if is_chunked {
                self.frame_chunk(start, is_end);
            }
            self.flush()?;
            if is_end {
                return Ok(Ended::Complete { keeps_alive });
            }
        }
    }

    /// Frames the output from `start` on as a chunk, and ends the body after the last chunk.
    fn frame_chunk(&mut self, start: usize, is_end: bool) {
        let length = self.output.len() - start;
        if length > 0 {
            self.output.splice(start..start, format!("{length:x}\r\n").into_bytes());
            self.output.extend_from_slice(b"\r\n");
        }
        if is_end {
            self.output.extend_from_slice(LAST_CHUNK);
        }
    }

    /// Whether the client has closed the connection. Bytes of its next request are left unread.
    fn has_disconnected(&self) -> bool {
        let mut byte = [0];
        let _ = self.stream.set_nonblocking(true);
        let result = self.stream.peek(&mut byte);
        let _ = self.stream.set_nonblocking(false);
        match result {
            Ok(n) => n == 0,
            Err(error) => error.kind() != io::ErrorKind::WouldBlock,
        }
    }

    /// Reads a head. Returns `false` if the client has disconnected.
    fn read_head(&mut self, decoder: &mut RequestDecoder<'_>) -> Result<bool, Refused> {
        let mut deadline = Instant::now() + IDLE_TIME;
        let mut is_idle = true;
        loop {
            let unread = self.input.get(self.unread.clone()).unwrap_or_default();
            self.unread.start += decoder.feed(unread)?;
            if decoder.head().is_some() {
                return Ok(true);
            }
            if is_idle && !decoder.is_idle() {
                (is_idle, deadline) = (false, Instant::now() + STALL_TIME);
            }
            match self.read(deadline) {
                Ok(0) => return Ok(false),
                Ok(_) => {}
                Err(_) if is_idle => return Ok(false),
                Err(_) => {
                    return Err(Refused { status: 408, reason: "the head did not arrive in time".into() });
                }
            }
        }
    }

    /// Decodes the part of a body that was read. Returns whether the body is complete.
    fn decode_body(&mut self, body: &mut Body) -> Result<bool, Refused> {
        while !body.decoder.is_complete() && !self.unread.is_empty() {
            let unread = self.input.get(self.unread.clone()).unwrap_or_default();
            let piece = body.decoder.decode(unread)?;
            body.bytes.extend_from_slice(piece.data);
            self.unread.start += piece.consumed;
        }
        Ok(body.decoder.is_complete())
    }

    /// Reads a body up to a limit.
    fn read_body(&mut self, body: &mut Body, limit: usize, deadline: Instant) -> Result<Arrival, Refused> {
        loop {
            let is_complete = self.decode_body(body)?;
            if body.bytes.len() > limit {
                return Ok(Arrival::TooLong);
            }
            if is_complete {
                return Ok(Arrival::Complete);
            }
            match self.read(deadline) {
                Ok(0) => body.decoder.eof()?,
                Ok(_) => {}
                Err(_) => return Ok(Arrival::Late),
            }
        }
    }

    /// Reads more input. The input that was read before must be consumed.
    fn read(&mut self, deadline: Instant) -> io::Result<usize> {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            self.stream.set_read_timeout(Some(left))?;
            match self.stream.read(&mut self.input) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
                Ok(n) => {
                    self.unread = 0..n;
                    return Ok(n);
                }
            }
        }
    }

    /// Ends the output, and drops input for a short time: input that is unread when a connection closes destroys the
    /// response on its way.
    fn linger(&mut self) {
        let _ = self.stream.shutdown(std::net::Shutdown::Write);
        let deadline = Instant::now() + LINGER_TIME;
        let mut left = LINGER_SIZE;
        while let Ok(n @ 1..) = self.read(deadline) {
            left = left.saturating_sub(n);
            if left == 0 {
                return;
            }
        }
    }

    /// Responds to a request that is not valid HTTP, and ends the connection.
    fn refuse(&mut self, refused: Refused) -> io::Result<bool> {
        let mut buffer = [0; 256];
        let reason = refused.reason.as_bytes();
        let head = HeadWriter::response(&mut buffer, refused.status)
            .field("Content-Type", "text/plain")
            .content_length(reason.len() as u64)
            .close()
            .finish()
            .map_err(io::Error::other)?;
        self.output.extend_from_slice(head);
        self.output.extend_from_slice(reason);
        self.flush()?;
        self.linger();
        Ok(false)
    }

    fn write_head(&mut self, head: &ResponseHead, is_chunkable: bool, keeps_alive: bool) -> io::Result<()> {
        let mut buffer = [0; 1024];
        let mut writer = Some(HeadWriter::response(&mut buffer, head.status));
        head.fields(&mut |name, value| writer = writer.take().map(|writer| writer.field(name, value)));
        let Some(mut writer) = writer else { return Ok(()) };
        if head.length.is_none() && head.status != 204 && is_chunkable {
            writer = writer.chunked();
        }
        if !keeps_alive {
            writer = writer.close();
        }
        self.output.extend_from_slice(writer.finish().map_err(io::Error::other)?);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        let result = self.stream.write_all(&self.output);
        self.output.clear();
        result
    }
}

/// The body of a request, as far as it has arrived.
struct Body {
    decoder: BodyDecoder,
    bytes: Vec<u8>,
}

/// The result of reading a body.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Arrival {
    Complete,
    TooLong,
    Late,
}

/// How a response ended.
enum Ended {
    /// The response was sent.
    Complete {
        /// Whether another request may follow.
        keeps_alive: bool,
    },
    /// The server ended the exchange before the response was complete.
    Cut,
    /// The client has disconnected.
    Disconnected,
}

/// A request that is not valid HTTP.
struct Refused {
    status: u16,
    reason: String,
}

impl From<HttpError> for Refused {
    fn from(error: HttpError) -> Refused {
        Refused { status: error.status(), reason: error.to_string() }
    }
}
