//! Tests of flushes, with a driver that sends its buffer only when it is flushed.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use crate::common::{ping, pong, with_server};
use crate::http::{Open, call, handle, with_servers};
use embedded_io::{ErrorKind, ErrorType};
use mcp_proto::{Millis, Server};
use mcp_proto_embedded::{FramedPump, HttpPump, HttpShared, HttpStatus, Pump, PumpStatus, Timer};

/// A driver with a buffer for output. A flush moves the buffer to the line.
#[derive(Default)]
struct Driver {
    input: VecDeque<u8>,
    /// Whether a read without input reports the end of the input.
    is_ended: bool,
    buffer: Vec<u8>,
    line: Vec<u8>,
    /// Whether a flush never completes.
    is_stuck: bool,
}

impl Driver {
    fn new(input: &str, is_ended: bool) -> Driver {
        Driver { input: input.bytes().collect(), is_ended, ..Driver::default() }
    }
}

impl ErrorType for Driver {
    type Error = ErrorKind;
}

impl embedded_io::Read for Driver {
    fn read(&mut self, space: &mut [u8]) -> Result<usize, ErrorKind> {
        if self.input.is_empty() && !self.is_ended {
            return Err(ErrorKind::TimedOut);
        }
        let count = space.len().min(self.input.len());
        space.iter_mut().zip(self.input.drain(..count)).for_each(|(place, byte)| *place = byte);
        Ok(count)
    }
}

impl embedded_io::Write for Driver {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, ErrorKind> {
        self.buffer.extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<(), ErrorKind> {
        self.line.append(&mut self.buffer);
        Ok(())
    }
}

/// One direction of the async form of a [`Driver`].
struct Half<'d>(&'d RefCell<Driver>);

impl ErrorType for Half<'_> {
    type Error = ErrorKind;
}

impl embedded_io_async::Read for Half<'_> {
    async fn read(&mut self, space: &mut [u8]) -> Result<usize, ErrorKind> {
        poll_fn(|_| match embedded_io::Read::read(&mut *self.0.borrow_mut(), space) {
            Err(ErrorKind::TimedOut) => Poll::Pending,
            done => Poll::Ready(done),
        })
        .await
    }
}

impl embedded_io_async::Write for Half<'_> {
    async fn write(&mut self, bytes: &[u8]) -> Result<usize, ErrorKind> {
        embedded_io::Write::write(&mut *self.0.borrow_mut(), bytes)
    }

    async fn flush(&mut self) -> Result<(), ErrorKind> {
        poll_fn(|_| if self.0.borrow().is_stuck { Poll::Pending } else { Poll::Ready(()) }).await;
        embedded_io::Write::flush(&mut *self.0.borrow_mut())
    }
}

struct TestClock<'c>(&'c Cell<u64>);

impl Timer for TestClock<'_> {
    fn now(&mut self) -> Millis {
        Millis(self.0.get())
    }

    async fn until(&mut self, at: Millis) {
        poll_fn(|_| if self.0.get() >= at.0 { Poll::Ready(()) } else { Poll::Pending }).await;
    }
}

/// Polls a future ten times, without dropping it.
fn poll<T>(mut future: Pin<&mut impl Future<Output = T>>) -> Option<T> {
    let mut context = Context::from_waker(Waker::noop());
    (0..10).find_map(|_| match future.as_mut().poll(&mut context) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    })
}

/// The async form of a pump.
trait Wait {
    async fn wait(
        &mut self,
        server: &mut Server<'_>,
        driver: &RefCell<Driver>,
        time: &Cell<u64>,
    ) -> PumpStatus;
}

impl Wait for Pump {
    async fn wait(
        &mut self,
        server: &mut Server<'_>,
        driver: &RefCell<Driver>,
        time: &Cell<u64>,
    ) -> PumpStatus {
        Pump::wait(self, server, &mut Half(driver), &mut Half(driver), &mut TestClock(time)).await
    }
}

impl Wait for FramedPump {
    async fn wait(
        &mut self,
        server: &mut Server<'_>,
        driver: &RefCell<Driver>,
        time: &Cell<u64>,
    ) -> PumpStatus {
        FramedPump::wait(self, server, &mut Half(driver), &mut Half(driver), &mut TestClock(time)).await
    }
}

/// The times in milliseconds after the end of the input at which the tests poll a pump whose last flush is stuck, and
/// the expected results.
const LAST_FLUSH: [(u64, Option<PumpStatus>); 4] =
    [(0, None), (1000, None), (1999, None), (2000, Some(PumpStatus::Closed))];

fn stuck_flush_delays_the_end_of(mut pump: impl Wait) {
    let (driver, time) = (RefCell::new(Driver::new(&ping(1), true)), Cell::new(0));
    driver.borrow_mut().is_stuck = true;
    with_server(512, 1024, |server| {
        let mut wait = pin!(pump.wait(server, &driver, &time));
        for (now, expected) in LAST_FLUSH {
            time.set(now);
            assert_eq!(poll(wait.as_mut()), expected, "{now}");
        }
    });
}

#[test]
fn stuck_flush_delays_the_end_for_a_limited_time() {
    stuck_flush_delays_the_end_of(Pump::new());
    stuck_flush_delays_the_end_of(FramedPump::new(5));
}

fn dropped_last_flush_is_repeated_by(mut pump: impl Wait, is_stuck_again: bool) -> Driver {
    let (driver, time) = (RefCell::new(Driver::new(&ping(1), true)), Cell::new(0));
    driver.borrow_mut().is_stuck = true;
    with_server(512, 1024, |server| {
        assert_eq!(poll(pin!(pump.wait(server, &driver, &time))), None);
        driver.borrow_mut().is_stuck = is_stuck_again;
        for (now, expected) in LAST_FLUSH {
            time.set(now);
            let expected = if is_stuck_again { expected } else { Some(PumpStatus::Closed) };
            assert_eq!(poll(pin!(pump.wait(server, &driver, &time))), expected, "{now}");
        }
    });
    driver.into_inner()
}

#[test]
fn dropped_last_flush_is_repeated_within_its_time() {
    let driver = dropped_last_flush_is_repeated_by(Pump::new(), false);
    assert_eq!(driver.line, pong(1).as_bytes());
    let driver = dropped_last_flush_is_repeated_by(FramedPump::new(5), false);
    assert!(!driver.line.is_empty() && driver.buffer.is_empty());
    assert!(dropped_last_flush_is_repeated_by(Pump::new(), true).line.is_empty());
    assert!(dropped_last_flush_is_repeated_by(FramedPump::new(5), true).line.is_empty());
}

/// Calls a function with both servers as tasks of an HTTP server share them.
fn with_shared<R>(act: impl for<'a, 'b> FnOnce(&HttpShared<'a, 'b, Open, 2>) -> R) -> R {
    with_servers(|http, server| act(&HttpShared::new(http, server)))
}

/// Handles all events.
fn handle_events(shared: &HttpShared<'_, '_, Open, 2>, time: &Cell<u64>) {
    while poll(pin!(shared.event(&mut TestClock(time)))).is_some() {
        shared.with(|_, server| handle(server));
    }
}

fn stuck_flush_of_a_lost_http_client(is_ended: bool) {
    let (driver, time) = (RefCell::new(Driver::new(&call("hello", ""), false)), Cell::new(0));
    driver.borrow_mut().is_stuck = true;
    let mut head = [0; 300];
    let mut pump = HttpPump::new(&mut head);
    with_shared(|shared| {
        let (mut input, mut output, mut clock) = (Half(&driver), Half(&driver), TestClock(&time));
        let mut serve = pin!(pump.serve(shared, &mut input, &mut output, &mut clock));
        assert_eq!(poll(serve.as_mut()), None);
        handle_events(shared, &time);
        assert_eq!(poll(serve.as_mut()), None);
        assert!(driver.borrow().buffer.ends_with(b"}"), "the response is written");
        if is_ended {
            driver.borrow_mut().is_ended = true;
        } else {
            // The time of an idle client ends.
            time.set(74_999);
            assert_eq!(poll(serve.as_mut()), None);
            time.set(75_000);
        }
        assert_eq!(poll(serve.as_mut()), Some(HttpStatus::Closed));
    });
}

#[test]
fn stuck_flush_keeps_no_lost_http_client() {
    stuck_flush_of_a_lost_http_client(false);
    stuck_flush_of_a_lost_http_client(true);
}

#[test]
fn dropped_last_flush_of_serve_is_repeated_until_its_deadline() {
    let closing = Some(HttpStatus::Closing(Some(Millis(2000))));
    for (unstuck, expected) in [
        (0, [closing, None, None]),
        (1000, [None, closing, None]),
        (u64::MAX, [None, None, Some(HttpStatus::Closed)]),
    ] {
        let request = call("hello", "Connection: close\r\n");
        let (driver, time) = (RefCell::new(Driver::new(&request, false)), Cell::new(0));
        driver.borrow_mut().is_stuck = true;
        let mut head = [0; 300];
        let mut pump = HttpPump::new(&mut head);
        with_shared(|shared| {
            let mut serve = || {
                let (mut input, mut output) = (Half(&driver), Half(&driver));
                poll(pin!(pump.serve(shared, &mut input, &mut output, &mut TestClock(&time))))
            };
            assert_eq!(serve(), None);
            handle_events(shared, &time);
            assert_eq!(serve(), None);
            // Each future is dropped. Later futures serve another connection.
            let statuses = [0, 1000, 2000].map(|now| {
                time.set(now);
                driver.borrow_mut().is_stuck = now < unstuck;
                serve()
            });
            assert_eq!(statuses, expected);
        });
        assert_eq!(driver.borrow().line.ends_with(b"}"), unstuck < u64::MAX);
    }
}
