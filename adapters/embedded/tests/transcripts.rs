//! Runs every transcript (a dialogue in `tests/transcripts/`) over the polled, blocking and async pump.
#![cfg(unix)]

use std::future::{Future, poll_fn};
use std::io::{self, Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use embedded_io::{ErrorKind, ErrorType, Read, Write};
use mcp_proto::Millis;
use mcp_proto_embedded::{Link, Pump, PumpStatus, Timer};
use mcp_proto_transcripts::{Subject, partner};

/// A socket in non-blocking mode or with a short read timeout.
struct Socket(UnixStream);

fn kind(error: &io::Error) -> ErrorKind {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => ErrorKind::TimedOut,
        io::ErrorKind::Interrupted => ErrorKind::TimedOut,
        io::ErrorKind::BrokenPipe => ErrorKind::BrokenPipe,
        _ => ErrorKind::ConnectionReset,
    }
}

impl ErrorType for Socket {
    type Error = ErrorKind;
}

impl Read for Socket {
    fn read(&mut self, space: &mut [u8]) -> Result<usize, ErrorKind> {
        self.0.read(space).map_err(|error| kind(&error))
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, ErrorKind> {
        self.0.write(bytes).map_err(|error| kind(&error))
    }

    fn flush(&mut self) -> Result<(), ErrorKind> {
        Ok(())
    }
}

/// A socket as a non-blocking link.
struct Polled(Socket);

impl Link for Polled {
    fn receive(&mut self, space: &mut [u8]) -> Result<Option<usize>, ErrorKind> {
        match self.0.read(space) {
            Err(ErrorKind::TimedOut) => Ok(None),
            read => read.map(Some),
        }
    }

    fn transmit(&mut self, bytes: &[u8]) -> Result<usize, ErrorKind> {
        match self.0.write(bytes) {
            Err(ErrorKind::TimedOut) => Ok(0),
            written => written,
        }
    }
}

/// A socket as an async link. A future that is dropped while it is pending has had no effect.
struct Awaited(Socket);

impl ErrorType for Awaited {
    type Error = ErrorKind;
}

fn to_poll<T>(done: Result<T, ErrorKind>) -> Poll<Result<T, ErrorKind>> {
    if matches!(done, Err(ErrorKind::TimedOut)) { Poll::Pending } else { Poll::Ready(done) }
}

impl embedded_io_async::Read for Awaited {
    async fn read(&mut self, space: &mut [u8]) -> Result<usize, ErrorKind> {
        poll_fn(|_| to_poll(self.0.read(space))).await
    }
}

impl embedded_io_async::Write for Awaited {
    async fn write(&mut self, bytes: &[u8]) -> Result<usize, ErrorKind> {
        poll_fn(|_| to_poll(self.0.write(bytes))).await
    }

    async fn flush(&mut self) -> Result<(), ErrorKind> {
        Ok(())
    }
}

struct Clock(Instant);

impl Timer for Clock {
    fn now(&mut self) -> Millis {
        Millis(self.0.elapsed().as_millis() as u64)
    }

    async fn until(&mut self, at: Millis) {
        poll_fn(|_| if self.now() >= at { Poll::Ready(()) } else { Poll::Pending }).await;
    }
}

/// Runs a future to its end. Polls the future every 100 µs.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    let (mut future, mut context) = (pin!(future), Context::from_waker(Waker::noop()));
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
        std::thread::sleep(Duration::from_micros(100));
    }
}

fn polled(subject: &mut Subject<'static>, stream: UnixStream) {
    stream.set_nonblocking(true).unwrap();
    let (start, mut pump) = (Instant::now(), Pump::new());
    let mut link = Polled(Socket(stream.try_clone().unwrap()));
    loop {
        let now = Millis(start.elapsed().as_millis() as u64);
        match pump.step(subject.machine(), &mut link, now) {
            PumpStatus::Event => subject.event(),
            PumpStatus::Closed => break,
            PumpStatus::Idle(_) => std::thread::sleep(Duration::from_micros(100)),
            _ => {}
        }
    }
    let _ = stream.shutdown(Shutdown::Both);
}

fn blocking(subject: &mut Subject<'static>, stream: UnixStream) {
    stream.set_read_timeout(Some(Duration::from_millis(3))).unwrap();
    let (start, mut pump) = (Instant::now(), Pump::new());
    let mut link = Socket(stream.try_clone().unwrap());
    let mut now = || Millis(start.elapsed().as_millis() as u64);
    loop {
        match pump.run(subject.machine(), &mut link, &mut now) {
            PumpStatus::Event => subject.event(),
            PumpStatus::Closed => break,
            _ => {}
        }
    }
    let _ = stream.shutdown(Shutdown::Both);
}

fn waiting(subject: &mut Subject<'static>, stream: UnixStream) {
    stream.set_nonblocking(true).unwrap();
    let (mut clock, mut pump) = (Clock(Instant::now()), Pump::new());
    let mut input = Awaited(Socket(stream.try_clone().unwrap()));
    let mut output = Awaited(Socket(stream.try_clone().unwrap()));
    block_on(async {
        loop {
            match pump.wait(subject.machine(), &mut input, &mut output, &mut clock).await {
                PumpStatus::Event => subject.event(),
                PumpStatus::Closed => break,
                _ => {}
            }
        }
    });
    let _ = stream.shutdown(Shutdown::Both);
}

#[test]
fn every_transcript_passes_over_the_polled_pump() {
    partner::all_over(polled);
}

#[test]
fn every_transcript_passes_over_the_blocking_pump() {
    partner::all_over(blocking);
}

#[test]
fn every_transcript_passes_over_the_async_pump() {
    partner::all_over(waiting);
}
