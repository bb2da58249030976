//! Tests of flushes, with a driver that sends its buffer only when it is flushed.

use std::array::from_fn;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use crate::common::{App, INITIALIZE, TestClock, WELCOME, answer, ping, poll, pong, with_server};
use crate::http::{Open, call, handle, with_servers};
use embedded_io::{ErrorKind, ErrorType};
use mcp_proto::{Millis, Server};
use mcp_proto_embedded::{FramedPump, HttpPump, HttpShared, HttpStatus, Pump, PumpStatus};

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
    /// Errors of the next flushes.
    flush_errors: VecDeque<ErrorKind>,
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
        self.flush_errors.pop_front().map_or(Ok(()), Err)?;
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

/// The times at which the tests poll a pump whose last flush is stuck, and the expected results. The times are in
/// milliseconds after the end of the input.
const LAST_FLUSH: [(u64, Option<PumpStatus>); 4] =
    [(0, None), (1000, None), (1999, None), (2000, Some(PumpStatus::Closed))];

fn stuck_flush_delays_the_end_of(mut pump: impl Wait) {
    let (driver, time) = (RefCell::new(Driver::new(&ping(1), true)), Cell::new(0));
    driver.borrow_mut().is_stuck = true;
    with_server(512, 1024, |server| {
        let mut wait = pin!(pump.wait(server, &driver, &time));
        for (now, expected) in LAST_FLUSH {
            time.set(now);
            assert_eq!(poll(wait.as_mut(), 10), expected, "{now}");
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
        assert_eq!(poll(pump.wait(server, &driver, &time), 10), None);
        driver.borrow_mut().is_stuck = is_stuck_again;
        for (now, expected) in LAST_FLUSH {
            time.set(now);
            let expected = if is_stuck_again { expected } else { Some(PumpStatus::Closed) };
            assert_eq!(poll(pump.wait(server, &driver, &time), 10), expected, "{now}");
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

/// Calls a function with an [`HttpShared`], through which tasks share the HTTP server and the MCP server.
fn with_shared<R>(act: impl for<'a, 'b> FnOnce(&HttpShared<'a, 'b, Open, 2>) -> R) -> R {
    with_servers(|http, server| act(&HttpShared::new(http, server)))
}

/// Handles all events.
fn handle_events(shared: &HttpShared<'_, '_, Open, 2>, time: &Cell<u64>) {
    while poll(shared.event(&mut TestClock(time)), 10).is_some() {
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
        assert_eq!(poll(serve.as_mut(), 10), None);
        handle_events(shared, &time);
        assert_eq!(poll(serve.as_mut(), 10), None);
        assert!(driver.borrow().buffer.ends_with(b"}"), "the response is written");
        if is_ended {
            driver.borrow_mut().is_ended = true;
        } else {
            // The time limit for an idle client expires after 75 seconds.
            time.set(74_999);
            assert_eq!(poll(serve.as_mut(), 10), None);
            time.set(75_000);
        }
        assert_eq!(poll(serve.as_mut(), 10), Some(HttpStatus::Closed));
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
                poll(pump.serve(shared, &mut input, &mut output, &mut TestClock(&time)), 10)
            };
            assert_eq!(serve(), None);
            handle_events(shared, &time);
            assert_eq!(serve(), None);
            // Each call of `serve` drops its future. After a call has returned a status, the next call serves another
            // connection.
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

#[test]
fn run_repeats_a_failed_flush() {
    for (kind, status) in [
        (ErrorKind::TimedOut, PumpStatus::Idle(None)),
        (ErrorKind::Other, PumpStatus::NotWritten(ErrorKind::Other)),
    ] {
        let mut driver = Driver::new(&ping(1), false);
        driver.flush_errors.push_back(kind);
        with_server(512, 1024, |server| {
            let (mut pump, mut now) = (Pump::new(), || Millis(0));
            assert_eq!(pump.run(server, &mut driver, &mut now), status);
            assert_eq!(pump.run(server, &mut driver, &mut now), PumpStatus::Idle(None));
        });
        assert_eq!(driver.line, pong(1).as_bytes());
    }
}

#[test]
fn run_reads_although_each_flush_fails() {
    use ErrorKind::{InvalidData, Other, TimedOut};
    for errors in [[TimedOut, TimedOut], [Other, Other], [Other, InvalidData], [Other, TimedOut]] {
        let mut driver = Driver { flush_errors: errors.repeat(10).into(), ..Driver::new("", false) };
        with_server(512, 1024, |server| {
            let mut pump = Pump::new();
            for id in [1, 2, 3] {
                // An error other than `TimedOut` is reported once for each response. Later calls read.
                driver.input.extend(ping(id).bytes());
                let steps: [_; 3] = from_fn(|_| pump.run(server, &mut driver, &mut || Millis(0)));
                let reported = steps.iter().filter(|step| matches!(step, PumpStatus::NotWritten(_))).count();
                assert_eq!((reported, steps[2]), (usize::from(errors[0] == Other), PumpStatus::Idle(None)));
                assert!(driver.buffer.ends_with(pong(id).as_bytes()), "{id}");
            }
        });
    }
}

#[test]
fn driver_without_flush_is_flushed() {
    let driver = || {
        let mut driver = Driver::new(&ping(1), false);
        driver.flush_errors = [ErrorKind::Unsupported; 20].into();
        driver
    };
    let time = Cell::new(0);
    with_server(512, 1024, |server| {
        let status = Pump::new().run(server, &mut driver(), &mut || Millis(0));
        assert_eq!(status, PumpStatus::Idle(None));
    });
    with_server(512, 1024, |server| {
        let (mut pump, driver) = (Pump::new(), RefCell::new(driver()));
        assert_eq!(poll(Wait::wait(&mut pump, server, &driver, &time), 10), None);
        assert_eq!(driver.borrow().flush_errors.len(), 19);
    });
    with_server(512, 1024, |server| {
        let (mut pump, driver) = (FramedPump::new(5), RefCell::new(driver()));
        assert_eq!(poll(Wait::wait(&mut pump, server, &driver, &time), 10), None);
    });
    assert_eq!(http_run("", &[ErrorKind::Unsupported; 20]).1, None);
}

#[test]
fn run_flushes_a_response_after_the_end_of_the_input() {
    let calls = [1, 2].map(|id| crate::common::call(id, "slow")).concat();
    let mut driver = Driver::new(&[INITIALIZE, &calls].concat(), true);
    with_server(512, 1024, |server| {
        let (mut pump, mut app, mut now) = (Pump::new(), App::default(), || Millis(0));
        while app.handle(pump.run(server, &mut driver, &mut now), server) {}
        server.reply(app.slow.unwrap()).unwrap().text("done");
        driver.flush_errors.push_back(ErrorKind::TimedOut);
        for expected in [WELCOME.to_string(), [WELCOME, &answer(2, "done")].concat()] {
            assert!(matches!(pump.run(server, &mut driver, &mut now), PumpStatus::Idle(_)));
            assert_eq!(driver.line, expected.as_bytes());
        }
    });
}

#[test]
fn run_repeats_the_last_flush_within_its_time() {
    let idle = PumpStatus::Idle(Some(Millis(2000)));
    for (failures, statuses) in [(1, [idle, PumpStatus::Closed]), (3, [idle, idle])] {
        let mut driver = Driver::new(&[INITIALIZE, &crate::common::call(1, "slow")].concat(), true);
        with_server(512, 1024, |server| {
            let (mut pump, mut app) = (Pump::new(), App::default());
            while app.handle(pump.run(server, &mut driver, &mut || Millis(0)), server) {}
            server.reply(app.slow.unwrap()).unwrap().text("done");
            driver.flush_errors = vec![ErrorKind::TimedOut; failures].into();
            assert_eq!([0, 1999].map(|now| pump.run(server, &mut driver, &mut || Millis(now))), statuses);
            assert_eq!(pump.run(server, &mut driver, &mut || Millis(2000)), PumpStatus::Closed);
        });
        assert_eq!(driver.buffer.is_empty(), failures == 1);
    }
}

fn failed_flush_is_repeated_by(mut pump: impl Wait) -> Vec<u8> {
    let (driver, time) = (RefCell::new(Driver::new(&ping(1), false)), Cell::new(0));
    driver.borrow_mut().flush_errors = [ErrorKind::TimedOut, ErrorKind::Other, ErrorKind::TimedOut].into();
    with_server(512, 1024, |server| {
        let statuses: [_; 2] = from_fn(|_| poll(pump.wait(server, &driver, &time), 10));
        assert_eq!(statuses, [Some(PumpStatus::NotWritten(ErrorKind::Other)), None]);
    });
    driver.into_inner().line
}

#[test]
fn wait_repeats_a_failed_flush() {
    assert_eq!(failed_flush_is_repeated_by(Pump::new()), pong(1).as_bytes());
    assert!(!failed_flush_is_repeated_by(FramedPump::new(5)).is_empty());
}

fn flush_that_always_fails_is_reported_once_by(mut pump: impl Wait) -> Driver {
    let (driver, time) = (RefCell::new(Driver::new(&ping(1), false)), Cell::new(0));
    driver.borrow_mut().flush_errors = [ErrorKind::Other; 20].into();
    with_server(512, 1024, |server| {
        for expected in [Some(PumpStatus::NotWritten(ErrorKind::Other)), None, None] {
            assert_eq!(poll(pump.wait(server, &driver, &time), 10), expected);
        }
        // Each call has tried a flush.
        assert_eq!(driver.borrow().flush_errors.len(), 17);
        driver.borrow_mut().flush_errors.clear();
        assert_eq!(poll(pump.wait(server, &driver, &time), 10), None);
    });
    driver.into_inner()
}

#[test]
fn wait_reports_a_flush_that_always_fails_once() {
    assert_eq!(flush_that_always_fails_is_reported_once_by(Pump::new()).line, pong(1).as_bytes());
    let driver = flush_that_always_fails_is_reported_once_by(FramedPump::new(5));
    assert!(!driver.line.is_empty() && driver.buffer.is_empty());
}

#[test]
fn wait_reads_although_each_flush_fails() {
    let (driver, time, mut pump) = (RefCell::new(Driver::new("", false)), Cell::new(0), Pump::new());
    driver.borrow_mut().flush_errors = [ErrorKind::Other, ErrorKind::InvalidData].repeat(10).into();
    with_server(512, 1024, |server| {
        for id in [1, 2, 3] {
            driver.borrow_mut().input.extend(ping(id).bytes());
            for is_reported in [true, false] {
                let step = poll(Wait::wait(&mut pump, server, &driver, &time), 10);
                assert_eq!(matches!(step, Some(PumpStatus::NotWritten(_))), is_reported, "{id}: {step:?}");
            }
            assert!(driver.borrow().buffer.ends_with(pong(id).as_bytes()), "{id}");
        }
        driver.borrow_mut().flush_errors = [ErrorKind::Other].into();
        let mut wait = pin!(Wait::wait(&mut pump, server, &driver, &time));
        assert_eq!(poll(wait.as_mut(), 10), None);
        time.set(100);
        assert_eq!((poll(wait.as_mut(), 10), driver.borrow().buffer.len()), (None, 0));
    });
}

#[test]
fn wait_repeats_a_failed_flush_before_an_event() {
    let calls = [ping(1), crate::common::call(2, "slow")].concat();
    for kind in [ErrorKind::TimedOut, ErrorKind::Other] {
        let (driver, time) = (RefCell::new(Driver::new(&calls, false)), Cell::new(0));
        driver.borrow_mut().flush_errors.push_back(kind);
        with_server(512, 1024, |server| {
            let mut pump = Pump::new();
            // The caller has not handled the event when it calls again.
            for line in [String::new(), pong(1)] {
                let status = poll(Wait::wait(&mut pump, server, &driver, &time), 10);
                assert_eq!((status, &*driver.borrow().line), (Some(PumpStatus::Event), line.as_bytes()));
            }
        });
    }
}

fn last_flush_is_repeated_by(mut pump: impl Wait) -> Driver {
    let (driver, time) = (RefCell::new(Driver::new(&ping(1), true)), Cell::new(0));
    driver.borrow_mut().flush_errors = [ErrorKind::TimedOut; 3].into();
    with_server(512, 1024, |server| {
        assert_eq!(poll(pump.wait(server, &driver, &time), 10), Some(PumpStatus::Closed));
    });
    driver.into_inner()
}

#[test]
fn wait_repeats_the_last_flush() {
    assert_eq!(last_flush_is_repeated_by(Pump::new()).line, pong(1).as_bytes());
    assert_eq!(last_flush_is_repeated_by(FramedPump::new(5)).buffer.len(), 0);
}

#[test]
fn framed_run_repeats_a_failed_flush() {
    for is_ended in [false, true] {
        let mut driver = Driver::new("", is_ended);
        driver.flush_errors = [ErrorKind::TimedOut, ErrorKind::Other].into();
        with_server(512, 1024, |server| {
            let (mut pump, mut now) = (FramedPump::new(5), || Millis(0));
            let statuses: [_; 3] = from_fn(|_| pump.run(server, &mut driver, &mut now));
            assert_eq!(matches!(statuses[2], PumpStatus::Closed), is_ended, "{statuses:?}");
        });
        assert!(!driver.line.is_empty() && driver.buffer.is_empty());
    }
}

/// Serves a call over HTTP with a blocking driver whose first flushes fail with `errors`. The clock advances by half a
/// second after each `Idle`. Returns the number of `Idle` statuses (at most 10), the status that ends the connection,
/// if any, and the bytes on the line.
fn http_run(fields: &str, errors: &[ErrorKind]) -> (usize, Option<HttpStatus>, String) {
    let mut driver = Driver::new(&call("hello", fields), false);
    driver.flush_errors = errors.to_vec().into();
    let mut head = [0; 300];
    let mut pump = HttpPump::new(&mut head);
    let (mut idles, mut end) = (0, None);
    with_servers(|http, server| {
        while idles < 10 && end.is_none() {
            match pump.run(http, server, &mut driver, &mut || Millis(idles as u64 * 500)) {
                HttpStatus::Event => _ = handle(server),
                HttpStatus::Idle(_) => idles += 1,
                status => end = Some(status),
            }
        }
    });
    (idles, end, String::from_utf8(driver.line).unwrap())
}

#[test]
fn http_run_repeats_a_flush_that_timed_out() {
    let (_, end, line) = http_run("", &[ErrorKind::TimedOut]);
    assert!(end.is_none() && line.ends_with('}'), "{end:?} {line}");
    // The caller ends the output after `Closing`, so the pump returns `Closing` only after a flush of all output.
    for failures in [0, 1, 3] {
        let (idles, end, line) = http_run("Connection: close\r\n", &vec![ErrorKind::TimedOut; failures]);
        assert_eq!((idles, end), (failures, Some(HttpStatus::Closing(Some(Millis(2000))))));
        assert!(line.ends_with('}'), "{line}");
    }
    let (idles, end, _) = http_run("Connection: close\r\n", &[ErrorKind::TimedOut; 10]);
    assert_eq!((idles, end), (4, Some(HttpStatus::Closed)));
    assert_eq!(http_run("", &[ErrorKind::Other]).1, Some(HttpStatus::Closed));
}
