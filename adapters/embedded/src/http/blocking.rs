//! Blocking HTTP pump: `HttpPump::run` over `embedded_io::{Read, Write}`.

use embedded_io::{Error, ErrorKind, Read, Write};
use mcp_proto::{Millis, Server};
use mcp_proto_http::server::{HttpServer, Policy, Step};

use super::{HttpPump, HttpStatus, ignore_timeout};
use crate::status::{accept_unsupported, reject_zero};

impl HttpPump<'_> {
    /// Serves one connection over a blocking driver until the caller has something to do.
    ///
    /// Never returns [`HttpStatus::Moved`]. Returns [`HttpStatus::Idle`] if the connection waits for a response or for
    /// the rest of a response, for example because the caller has deferred the call. Also returns `Idle` if a read or
    /// flush of the driver ended with [`ErrorKind::TimedOut`]. After a write that timed out, the pump reads if the
    /// connection takes input, and otherwise returns `Idle`. The pump repeats the write or flush after this
    /// read, or in the next call.
    ///
    /// After [`HttpStatus::Closing`], the caller must shut down the output of the socket, and call this method again.
    /// The method then drops input. It returns `Closing` again when a read times out, and [`HttpStatus::Closed`] when
    /// the connection is closed.
    ///
    /// While a read blocks, the servers are not polled, so no time limit takes effect. Use a driver whose reads time
    /// out, and call `run` again after each timeout.
    pub fn run<P: Policy, T: Read + Write>(
        &mut self,
        http: &mut HttpServer<'_, P>,
        server: &mut Server<'_>,
        link: &mut T,
        now: &mut dyn FnMut() -> Millis,
    ) -> HttpStatus {
        let was_closing = matches!(self.status(false), HttpStatus::Closing(_)) && !self.is_unflushed;
        loop {
            let deadline = match http.poll(server, now()) {
                Step::Event => return HttpStatus::Event,
                Step::Closed => return HttpStatus::Closed,
                Step::Output(_) => continue,
                Step::Wait(deadline) => deadline,
            };
            let write =
                &mut |bytes: &[u8]| reject_zero(Write::write(link, bytes).map_err(|error| error.kind()));
            let Ok(has_sent) = self.transmit(http, write, now()) else { return HttpStatus::Closed };
            let idle = HttpStatus::Idle(self.connection.deadline().into_iter().chain(deadline).min());
            let status = match self.status(has_sent) {
                HttpStatus::Idle(_) => idle,
                status => status,
            };
            self.is_unflushed |= has_sent;
            if self.is_unflushed {
                match accept_unsupported(link.flush().map_err(|error| error.kind())).map_err(ignore_timeout) {
                    Ok(()) => self.is_unflushed = false,
                    // The flush timed out. The next call repeats it.
                    Err(Ok(_)) if status != HttpStatus::Closed => return idle,
                    Err(_) => return HttpStatus::Closed,
                }
            }
            let read = match status {
                HttpStatus::Moved => continue,
                HttpStatus::Idle(_) if !self.connection.takes_input() => return status,
                // Before the pump reads again, the caller must shut down the output of the socket.
                HttpStatus::Closing(_) if !was_closing => return status,
                HttpStatus::Idle(_) | HttpStatus::Closing(_) if self.wants_more() => {
                    link.read(&mut self.read_buffer).map(Some).map_err(|error| error.kind())
                }
                HttpStatus::Idle(_) | HttpStatus::Closing(_) => Ok(None),
                HttpStatus::Event | HttpStatus::Closed => return status,
            };
            let has_timed_out = read == Err(ErrorKind::TimedOut);
            if self.receive(http, server, read, now()).is_err() || self.is_lost(http) {
                return HttpStatus::Closed;
            }
            // After the end of the input, only the caller or a later write can make progress.
            let cannot_read = self.has_ended && self.fed == self.filled && !has_sent;
            if has_timed_out || cannot_read {
                return status;
            }
        }
    }
}
