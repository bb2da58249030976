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

use super::serve::HttpShared;
use crate::sync::wait_for;
use crate::worker::ServerHandle;

/// The number of bytes that a connection reads at a time.
const READ_SIZE: usize = 16 * 1024;
/// The memory for the fields of one head.
const HEAD_SIZE: usize = 16 * 1024;
/// The time for a client to send the next request on an open connection.
const IDLE_TIME: Duration = Duration::from_secs(75);
/// The time for a head and its body to arrive, and for a client to take a piece of output.
const STALL_TIME: Duration = Duration::from_secs(30);
/// The time and the number of bytes for which input is dropped before a connection closes.
const LINGER_TIME: Duration = Duration::from_secs(2);
const LINGER_SIZE: usize = 1024 * 1024;
/// How often a connection that waits for output checks whether the client has disconnected.
const CHECK_INTERVAL: Duration = Duration::from_millis(250);

/// Serves all requests of a connection, one after the other.
pub(super) fn serve<H: Fn(Event<'_>, &ServerHandle) + Sync>(
    shared: &HttpShared<'_, '_, H>,
    stream: TcpStream,
) {
    let _ = stream.set_nodelay(true);
    let _ = stream.set_write_timeout(Some(STALL_TIME));
    let mut connection = Connection {
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
        shared: &HttpShared<'_, '_, H>,
        decoder: &mut RequestDecoder<'_>,
    ) -> io::Result<bool> {
        let deadline = match self.read_head(decoder) {
            Ok(Some(deadline)) => deadline,
            Ok(None) => return Ok(false),
            Err(refusal) => return self.refuse(refusal),
        };
        let Some(head) = decoder.head() else { return Ok(false) };
        let (keeps_alive, is_chunkable) = (head.keeps_alive(), head.version() == HttpVersion::Http11);
        let body_length = match head.body() {
            BodyFraming::Length(length) => Some(length),
            _ => None,
        };
        let fits = body_length.is_none_or(|length| length <= shared.longest_body as u64);
        if head.expects_continue() && fits {
            self.stream.write_all(CONTINUE)?;
        }
        let mut body = Vec::new();
        let is_whole = fits
            && match self.read_body(head.body(), &mut body, shared.longest_body, deadline) {
                Ok(is_whole) => is_whole,
                Err(refusal) => return self.refuse(refusal),
            };
        let request = RequestHead {
            method: Method::from_bytes(head.method().as_bytes()),
            target: head.target(),
            body_length,
            fields: &head,
        };
        let begun = {
            let mut machines = shared.lock();
            let now = shared.now();
            let machines = &mut *machines;
            machines.http.begin(&request, now).inspect(|exchange| {
                machines.waiting.insert(*exchange, Arc::clone(&self.ready));
                machines.http.body(&mut machines.server, *exchange, &request, &body, true, now);
                shared.arm(shared.run(machines));
            })
        };
        let exchange = match begun {
            Ok(exchange) => exchange,
            Err(refusal) => {
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
        };
        let result = self.write_response(shared, exchange, is_chunkable, keeps_alive && is_whole);
        let mut machines = shared.lock();
        machines.waiting.remove(&exchange);
        if !matches!(result, Ok(Ended::Complete { .. })) {
            machines.http.close(exchange);
            shared.arm(shared.run(&mut machines));
        }
        drop(machines);
        Ok(matches!(result?, Ended::Complete { keeps_alive: true }))
    }

    /// Writes the response of an exchange as it becomes known.
    fn write_response<H: Fn(Event<'_>, &ServerHandle) + Sync>(
        &mut self,
        shared: &HttpShared<'_, '_, H>,
        exchange: ExchangeId,
        is_chunkable: bool,
        mut keeps_alive: bool,
    ) -> io::Result<Ended> {
        let mut is_chunked = false;
        let mut checked = Instant::now();
        loop {
            let machines = shared.lock();
            let output = machines.http.output(exchange);
            if output.is_cut {
                return Ok(Ended::Cut);
            }
            let (head, length, is_end) = (output.head, output.body.len(), output.is_end);
            if head.is_none() && length == 0 && !is_end {
                if machines.is_closed {
                    return Ok(Ended::Cut);
                }
                let (waited, is_open) = (checked.elapsed(), checked.elapsed() < CHECK_INTERVAL);
                if is_open {
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
            }
            if is_chunked && length > 0 {
                write!(self.output, "{length:x}\r\n")?;
            }
            self.output.extend_from_slice(machines.http.output(exchange).body);
            drop(machines);
            if is_chunked && length > 0 {
                self.output.extend_from_slice(b"\r\n");
            }
            if is_chunked && is_end {
                self.output.extend_from_slice(LAST_CHUNK);
            }
            self.flush()?;
            let mut machines = shared.lock();
            machines.http.sent(exchange, length, shared.now());
            // Space for the output of others may be free again.
            shared.arm(shared.run(&mut machines));
            if is_end {
                return Ok(Ended::Complete { keeps_alive });
            }
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

    /// Reads a head. Returns the time until which its body must arrive, or `None` if the client has disconnected.
    fn read_head(&mut self, decoder: &mut RequestDecoder<'_>) -> Result<Option<Instant>, Refused> {
        let mut deadline = Instant::now() + IDLE_TIME;
        let mut is_idle = true;
        loop {
            let unread = self.input.get(self.unread.clone()).unwrap_or_default();
            self.unread.start += decoder.feed(unread)?;
            if decoder.head().is_some() {
                return Ok(Some(if is_idle { Instant::now() + STALL_TIME } else { deadline }));
            }
            if is_idle && !decoder.is_idle() {
                (is_idle, deadline) = (false, Instant::now() + STALL_TIME);
            }
            match self.read(deadline) {
                Ok(0) => return Ok(None),
                Ok(_) => {}
                Err(_) if is_idle => return Ok(None),
                Err(_) => {
                    return Err(Refused { status: 408, reason: "the head did not arrive in time".into() });
                }
            }
        }
    }

    /// Reads a body up to a limit. Returns whether it is complete.
    fn read_body(
        &mut self,
        framing: BodyFraming,
        body: &mut Vec<u8>,
        limit: usize,
        deadline: Instant,
    ) -> Result<bool, Refused> {
        let mut decoder = BodyDecoder::new(framing);
        while !decoder.is_complete() {
            let unread = self.input.get(self.unread.clone()).unwrap_or_default();
            let piece = decoder.decode(unread)?;
            body.extend_from_slice(piece.data);
            self.unread.start += piece.consumed;
            if body.len() > limit {
                return Ok(false);
            }
            if self.unread.is_empty() && !decoder.is_complete() {
                match self.read(deadline) {
                    Ok(0) => decoder.eof()?,
                    Ok(_) => {}
                    Err(_) => {
                        return Err(Refused {
                            status: 408,
                            reason: "the body did not arrive in time".into(),
                        });
                    }
                }
            }
        }
        Ok(true)
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
