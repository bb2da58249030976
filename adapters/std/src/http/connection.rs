//! One HTTP/1.1 connection of a server: moves bytes between its socket and the machines.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::ops::Range;
use std::sync::{Arc, Condvar, MutexGuard};
use std::time::{Duration, Instant};

use mcp_proto::Millis;
use mcp_proto::server::Event;
use mcp_proto_handles::HttpMachines;
use mcp_proto_http::http1::HttpError;
use mcp_proto_http::server::{Connection, ConnectionStatus};

use super::connections::Activity;
use super::serve::{HttpShared, Machines};
use crate::sync::wait_for;
use crate::worker::ServerHandle;

/// The maximum number of bytes that a connection reads at a time.
const READ_SIZE: usize = 64 * 1024;
/// The amount of output, in bytes, at which a connection stops collecting output and writes. The rest of a response
/// waits in the memory that all connections share.
const WRITE_SIZE: usize = 128 * 1024;
/// The size of each of two buffers, in bytes: for the fields of a request head, and for a response head.
const HEAD_SIZE: usize = 16 * 1024;
/// The number of dropped input bytes after which a closing connection stops reading.
const LINGER_SIZE: usize = 1024 * 1024;
/// The interval at which a connection that waits for output checks whether the client has disconnected.
const CHECK_INTERVAL: Duration = Duration::from_millis(250);
/// The time by which a read may wait beyond its deadline. Without this tolerance, each read would need a second system
/// call that sets the timeout.
const TIMEOUT_TOLERANCE: Duration = Duration::from_secs(1);

/// Serves all requests of a connection, one after the other.
pub(super) fn serve<H: Fn(Event<'_>, &ServerHandle) + Sync>(
    shared: &HttpShared<'_, H>,
    stream: TcpStream,
    activity: Arc<Activity>,
) {
    let mut fields = vec![0; HEAD_SIZE];
    let mut connection = OpenConnection {
        shared,
        stream,
        activity,
        http: Connection::new(&mut fields),
        input: vec![0; READ_SIZE],
        unread: 0..0,
        body: Vec::new(),
        response_head: vec![0; HEAD_SIZE],
        output: Vec::new(),
        ready: Arc::new(Condvar::new()),
        read_timeout: Duration::ZERO,
    };
    // Each error ends the connection: the socket has failed, the client has disconnected or is too slow, or the server
    // is closed.
    let _ = connection.serve();
}

/// A connection with its socket. Dropping this value closes the exchange, even after a panic.
struct OpenConnection<'c, 'i, H> {
    shared: &'c HttpShared<'i, H>,
    stream: TcpStream,
    activity: Arc<Activity>,
    http: Connection<'c>,
    input: Vec<u8>,
    /// The range of `input` that is not parsed yet.
    unread: Range<usize>,
    /// The part of the request's body that has arrived.
    body: Vec<u8>,
    /// The space for the head of a response, which may contain a long challenge of the application.
    response_head: Vec<u8>,
    output: Vec<u8>,
    /// Signals that the exchange has output, or that the server is closed.
    ready: Arc<Condvar>,
    /// The timeout of reads from the socket.
    read_timeout: Duration,
}

impl<'i, H: Fn(Event<'_>, &ServerHandle) + Sync> OpenConnection<'_, 'i, H> {
    fn serve(&mut self) -> io::Result<()> {
        self.stream.set_nodelay(true)?;
        self.stream.set_write_timeout(Some(duration(self.shared.config.get_times().stall)))?;
        loop {
            let parsed = self.parse();
            let has_request = parsed.is_ok() && !self.http.takes_input();
            self.run_machines(parsed)?;
            let stall = self.shared.config.get_times().stall;
            write_all(&mut self.stream, &self.output, stall, || self.shared.now())?;
            let is_open = match self.http.status() {
                ConnectionStatus::Open if !self.http.takes_input() => continue,
                ConnectionStatus::Closed => return Ok(()),
                status => status == ConnectionStatus::Open,
            };
            // If the connection closes after an incomplete request, its activity does not change: the client may still
            // be sending the rest, and may not have read the response yet.
            if !self.output.is_empty() && (is_open || has_request) {
                self.activity.set_waiting(self.shared.now());
            }
            if !is_open {
                return self.linger();
            }
            if self.unread.is_empty() && !self.read()? {
                return Ok(());
            }
        }
    }

    /// Parses the input, and collects the body. Other connections do not wait, because the machines stay unlocked.
    fn parse(&mut self) -> Result<(), HttpError> {
        let now = self.shared.now();
        loop {
            let unread = self.input.get(self.unread.clone()).unwrap_or_default();
            let (consumed, data) = self.http.parse(self.shared.config, unread, now)?;
            self.body.extend_from_slice(data);
            self.unread.start += consumed;
            if consumed == 0 || !self.http.takes_input() || self.is_too_long() {
                return Ok(());
            }
        }
    }

    /// Returns `true` if the machine will refuse the body.
    fn is_too_long(&self) -> bool {
        self.body.len() > self.shared.config.get_limits().body
    }

    /// Passes the parsed input to the machines, and runs them. While a response is pending, waits for output.
    fn run_machines(&mut self, parsed: Result<(), HttpError>) -> io::Result<()> {
        self.output.clear();
        let shared = self.shared;
        let mut machines = shared.lock();
        let HttpMachines { http, server, .. } = &mut machines.core;
        if let Err(error) = parsed {
            self.http.refuse(http, error, shared.now());
        } else if self.http.takes_input() && !self.is_too_long() {
            self.http.pass(http, server, &[], shared.now());
        } else {
            self.activity.set_busy();
            self.http.pass(http, server, &self.body, shared.now());
            self.body.clear();
            self.body.shrink_to(READ_SIZE);
        }
        loop {
            shared.arm(shared.run(&mut machines));
            self.take_output(&mut machines);
            if !self.output.is_empty() {
                // Other exchanges may wait for the memory that the taken output has freed.
                shared.arm(shared.run(&mut machines));
                return Ok(());
            }
            if self.http.status() != ConnectionStatus::Open || self.http.takes_input() {
                return Ok(());
            }
            machines = self.wait_for_output(machines)?;
        }
    }

    /// Moves output of the machines to `output`. One write sends many pieces, because a system call for each piece
    /// costs more than a copy.
    fn take_output(&mut self, machines: &mut Machines<'i>) {
        let now = self.shared.now();
        while self.output.len() < WRITE_SIZE {
            let bytes = self.http.output(&mut machines.core.http, &mut self.response_head, now);
            let length = bytes.len();
            if length == 0 {
                return;
            }
            self.output.extend_from_slice(bytes);
            self.http.sent(&mut machines.core.http, length, now);
        }
    }

    /// Waits for output of the exchange, at most for [`CHECK_INTERVAL`].
    ///
    /// # Errors
    /// The client has disconnected, or the server is closed.
    fn wait_for_output<'g>(
        &mut self,
        mut machines: MutexGuard<'g, Machines<'i>>,
    ) -> io::Result<MutexGuard<'g, Machines<'i>>>
    where
        Self: 'g,
    {
        let exchange = self.http.exchange().filter(|_| !machines.is_closed);
        let exchange = exchange.ok_or(ErrorKind::ConnectionAborted)?;
        let start = Instant::now();
        machines.waiting.insert(exchange, Arc::clone(&self.ready));
        machines = wait_for(&self.ready, machines, CHECK_INTERVAL);
        machines.waiting.remove(&exchange);
        if start.elapsed() < CHECK_INTERVAL {
            return Ok(machines);
        }
        drop(machines);
        if self.has_disconnected() {
            return Err(ErrorKind::ConnectionReset.into());
        }
        Ok(self.shared.lock())
    }

    /// Returns `true` if the client has closed the connection, or the socket has failed. Reads bytes of the next
    /// request, because the end of the input follows them. If the buffer `input` is full, returns `false`.
    fn has_disconnected(&mut self) -> bool {
        if self.unread.is_empty() {
            self.unread = 0..0;
        }
        let Some(space @ [_, ..]) = self.input.get_mut(self.unread.end..) else { return false };
        let _ = self.stream.set_nonblocking(true);
        let result = self.stream.read(space);
        let _ = self.stream.set_nonblocking(false);
        match result {
            Ok(n) => {
                self.unread.end += n;
                n == 0
            }
            Err(error) => !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted),
        }
    }

    /// Reads more input. Waits until the next deadline, and at most [`TIMEOUT_TOLERANCE`] longer. Returns `false` at
    /// the end of the input. Returns `true` without input if the wait has timed out or was interrupted.
    fn read(&mut self) -> io::Result<bool> {
        // If the connection has no deadline, the time limit of a body applies.
        let left = match self.http.deadline() {
            Some(at) => at.since(self.shared.now()),
            None => self.shared.config.get_times().body,
        };
        let left = duration(left).max(Duration::from_millis(1));
        if self.read_timeout < left || self.read_timeout > left + TIMEOUT_TOLERANCE {
            self.stream.set_read_timeout(Some(left))?;
            self.read_timeout = left;
        }
        self.unread = 0..0;
        match self.stream.read(&mut self.input) {
            Ok(n) => self.unread = 0..n,
            Err(error) => match error.kind() {
                ErrorKind::Interrupted | ErrorKind::WouldBlock | ErrorKind::TimedOut => return Ok(true),
                _ => return Err(error),
            },
        }
        Ok(!self.unread.is_empty())
    }

    /// Ends the output, and drops input for a short time. Closing the socket with unread input would reset the
    /// connection, and the client could lose the response.
    fn linger(&mut self) -> io::Result<()> {
        self.stream.shutdown(Shutdown::Write)?;
        let mut left = LINGER_SIZE;
        while self.http.deadline().is_some_and(|at| self.shared.now() < at) && left > 0 && self.read()? {
            left = left.saturating_sub(self.unread.len());
        }
        Ok(())
    }
}

impl<H> Drop for OpenConnection<'_, '_, H> {
    fn drop(&mut self) {
        let has_exchange = self.http.exchange().is_some();
        self.http.close(&mut self.shared.lock().core.http);
        if has_exchange {
            // The thread for timers runs the machines, because the handler must not run during a panic.
            self.shared.arm(Some(Millis::ZERO));
        }
    }
}

fn duration(time: Millis) -> Duration {
    Duration::from_millis(time.0)
}

/// Writes all bytes. `stall` is the write timeout of the stream: the function fails if the client reads nothing for
/// this time. The function also fails if the client has not taken all bytes after `stall` plus one second for each
/// 1,000 bytes. Otherwise, a client could keep the connection by reading single bytes.
fn write_all(
    stream: &mut impl Write,
    bytes: &[u8],
    stall: Millis,
    now: impl Fn() -> Millis,
) -> io::Result<()> {
    let mut rest = bytes;
    // One millisecond for each byte.
    let until = now().plus(stall).plus(Millis(u64::try_from(bytes.len()).unwrap_or(u64::MAX)));
    while !rest.is_empty() {
        match stream.write(rest) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(length) => rest = rest.get(length..).unwrap_or_default(),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        if !rest.is_empty() && now() >= until {
            return Err(ErrorKind::TimedOut.into());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// A client that reads this number of bytes each second.
    struct SlowClient<'c>(usize, &'c Cell<Millis>);

    impl Write for SlowClient<'_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.1.set(self.1.get().plus(Millis::seconds(1)));
            Ok(bytes.len().min(self.0))
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Returns the result of a write to a client with this rate, and the time of the write in seconds.
    fn write_to(rate: usize, bytes: usize) -> (Result<(), ErrorKind>, u64) {
        let clock = Cell::new(Millis::ZERO);
        let (mut client, bytes) = (SlowClient(rate, &clock), vec![b'x'; bytes]);
        let result = write_all(&mut client, &bytes, Millis::seconds(30), || clock.get());
        (result.map_err(|error| error.kind()), clock.get().0 / 1000)
    }

    #[test]
    fn write_to_a_client_below_the_minimum_rate_fails() {
        assert_eq!(write_to(1, 30), (Ok(()), 30));
        assert_eq!(write_to(1_000, 100_000), (Ok(()), 100));
        assert_eq!(write_to(1, WRITE_SIZE), (Err(ErrorKind::TimedOut), 30 + 132));
        assert_eq!(write_to(0, 1), (Err(ErrorKind::WriteZero), 1));
    }
}
