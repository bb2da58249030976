//! Tests of the async pump, `Pump::wait`, with futures that are dropped after any number of polls.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use crate::common::{
    App, INITIALIZE, MARK, On, TestClock, Uart, WELCOME, answer, call, ping, poll, pong, with_server,
};
use embedded_io::{ErrorKind, ErrorType};
use mcp_proto::client::{self, ClientConfig, Connect, Options};
use mcp_proto::server::Slot;
use mcp_proto::{Client, Server};
use mcp_proto_embedded::{Pump, PumpStatus, SESSION_MARK};

/// One direction of a [`Uart`]. Each operation is pending for at least `delay` polls, and has no effect if its future
/// is dropped while it is pending.
struct Half<'u> {
    uart: &'u RefCell<Uart>,
    delay: u32,
    /// Writes do not complete while this is set.
    stuck: &'u Cell<bool>,
}

async fn pending_polls(polls: u32) {
    let mut left = polls;
    poll_fn(|_| {
        if left == 0 {
            return Poll::Ready(());
        }
        left -= 1;
        Poll::Pending
    })
    .await;
}

impl ErrorType for Half<'_> {
    type Error = ErrorKind;
}

impl embedded_io_async::Read for Half<'_> {
    async fn read(&mut self, space: &mut [u8]) -> Result<usize, ErrorKind> {
        pending_polls(self.delay).await;
        poll_fn(|_| match embedded_io::Read::read(&mut *self.uart.borrow_mut(), space) {
            Err(ErrorKind::TimedOut) => Poll::Pending,
            done => Poll::Ready(done),
        })
        .await
    }
}

impl embedded_io_async::Write for Half<'_> {
    async fn write(&mut self, bytes: &[u8]) -> Result<usize, ErrorKind> {
        pending_polls(self.delay).await;
        poll_fn(|_| if self.stuck.get() { Poll::Pending } else { Poll::Ready(()) }).await;
        embedded_io::Write::write(&mut *self.uart.borrow_mut(), bytes)
    }

    async fn flush(&mut self) -> Result<(), ErrorKind> {
        pending_polls(self.delay).await;
        embedded_io::Write::flush(&mut *self.uart.borrow_mut())
    }
}

/// Runs a server until it is idle or closed. `polls` is a repeating list: how often each future is polled before it is
/// dropped. Each future gets at least `delay + 1` polls.
fn serve(uart: Uart, delay: u32, polls: &[u32]) -> (Uart, App) {
    let uart = RefCell::new(uart);
    let (stuck, time) = (Cell::new(false), Cell::new(0));
    let app = with_server(512, 1024, |server| {
        let (mut pump, mut app) = (Pump::new().session_marks(), App::default());
        let (mut input, mut output) =
            (Half { uart: &uart, delay, stuck: &stuck }, Half { uart: &uart, delay, stuck: &stuck });
        let mut idle = 0;
        for polls in polls.iter().cycle() {
            let step = poll(
                pump.wait(server, &mut input, &mut output, &mut TestClock(&time)),
                (delay + 1).max(*polls),
            );
            idle = if step.is_some() { 0 } else { idle + 1 };
            assert!(
                !matches!(step, Some(PumpStatus::Moved | PumpStatus::Idle(_))),
                "`wait` never returns `Moved` or `Idle`"
            );
            if step.is_some_and(|step| !app.handle(step, server)) || idle > 200 {
                break;
            }
        }
        app
    });
    (uart.into_inner(), app)
}

#[test]
fn dropped_future_loses_no_bytes() {
    let input = [INITIALIZE, &ping(1), &call(2, "hello"), &ping(3)].concat();
    let output = [MARK, WELCOME, &pong(1), &answer(2, "Hello!"), &pong(3)].concat();
    for reads in [1, 3, 64, 1000] {
        for writes in [1, 10, 1000] {
            for delay in [0, 1, 5] {
                // Each future gets more than `delay` polls. With fewer polls, no read or write would complete.
                for polls in [&[1][..], &[2], &[1, 2, 3, 5, 8], &[7, 1], &[1000]] {
                    let uart = Uart { reads, writes, ..Uart::text(&input) };
                    let (uart, app) = serve(uart, delay, polls);
                    assert_eq!(uart.sent(), output, "{reads} {writes} {delay} {polls:?}");
                    assert_eq!(uart.flushed, output.len(), "{reads} {writes} {delay} {polls:?}");
                    assert_eq!((app.faults.len(), app.steps.len()), (0, 0));
                }
            }
        }
    }
}

#[test]
fn earlier_response_is_flushed_before_an_event() {
    let uart = RefCell::new(Uart::text(&[ping(1), call(2, "hello")].concat()));
    let (stuck, time) = (Cell::new(false), Cell::new(0));
    let half = || Half { uart: &uart, delay: 0, stuck: &stuck };
    with_server(512, 1024, |server| {
        let (mut pump, mut clock) = (Pump::new(), TestClock(&time));
        let status = poll(pump.wait(server, &mut half(), &mut half(), &mut clock), 10);
        assert_eq!(status, Some(PumpStatus::Event));
    });
    assert_eq!((uart.borrow().sent(), uart.borrow().flushed), (pong(1), pong(1).len()));
}

#[test]
fn link_errors_and_sessions_are_reported_as_by_step() {
    let (before, behind) = (&ping(1)[..30], &ping(1)[30..]);
    let script = [
        On::Bytes([INITIALIZE, before].concat().into()),
        On::Error(ErrorKind::Other),
        On::Bytes([behind, &ping(2)].concat().into()),
        On::Bytes([b"x", SESSION_MARK].concat()),
        On::Bytes([INITIALIZE, &ping(3)].concat().into()),
        On::Error(ErrorKind::ConnectionReset),
    ];
    for (delay, polls) in [(0, 1), (0, 3), (3, 4), (3, 100)] {
        let mut uart = Uart::new(script.clone());
        uart.write_errors.push_back(ErrorKind::Other);
        let (uart, app) = serve(uart, delay, &[polls]);
        let broken = PumpStatus::LineBroken(ErrorKind::Other);
        let lost = PumpStatus::LinkLost(ErrorKind::ConnectionReset);
        let mut steps = app.steps;
        // The write error may be reported at any position among the statuses of the input.
        let failed = steps.iter().position(|step| *step == PumpStatus::NotWritten(ErrorKind::Other)).unwrap();
        steps.remove(failed);
        assert_eq!(steps, [broken, PumpStatus::NewSession, lost, PumpStatus::Closed]);
        assert_eq!(uart.sent(), [MARK, WELCOME, &pong(2), WELCOME, &pong(3)].concat());
    }
    let (_, app) = serve(Uart { writes: 0, ..Uart::text(INITIALIZE) }, 0, &[1]);
    assert_eq!(app.steps, [PumpStatus::LinkLost(ErrorKind::WriteZero), PumpStatus::Closed]);
    let (uart, app) = serve(Uart::new([On::Bytes([INITIALIZE, &ping(1)].concat().into()), On::End]), 0, &[1]);
    assert_eq!(
        (app.steps, uart.flushed),
        (vec![PumpStatus::Closed], [MARK, WELCOME, &pong(1)].concat().len())
    );
}

#[test]
fn input_and_deadlines_are_handled_while_output_is_full() {
    let cancel =
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}\n";
    let input = [INITIALIZE, &call(1, "slow"), &ping(2), cancel, &call(3, "slow")].concat();
    let uart = RefCell::new(Uart { reads: 20, ..Uart::text(&input) });
    let (stuck, time) = (Cell::new(true), Cell::new(0));
    let (mut rx, mut tx, mut slots, mut text) = ([0; 512], [0; 2048], [Slot::EMPTY; 2], [0; 256]);
    let server = Server::new(&crate::common::CONFIG, &mut rx, &mut tx).unwrap().max_reply_size(400).unwrap();
    let server = &mut server.in_flight(&mut slots, &mut text).unwrap();
    let (mut pump, mut app) = (Pump::new(), App::default());
    let half = || Half { uart: &uart, delay: 0, stuck: &stuck };
    let (mut rx, mut tx) = (half(), half());
    while let Some(step) = poll(pump.wait(server, &mut rx, &mut tx, &mut TestClock(&time)), 3) {
        app.handle(step, server);
    }
    // Both calls were received and the first was cancelled, although no output was written.
    assert_eq!((app.calls.len(), server.deferred(), uart.borrow().sent.len()), (2, 1, 0));
    {
        // The deadline passes while the pump waits.
        let mut clock = TestClock(&time);
        let mut wait = pin!(pump.wait(server, &mut rx, &mut tx, &mut clock));
        assert_eq!(poll(wait.as_mut(), 3), None);
        time.set(1_000_000);
        assert_eq!(poll(wait, 1), Some(PumpStatus::Event), "the second call has expired");
    }
    app.handle(PumpStatus::Event, server);
    stuck.set(false);
    while let Some(step) = poll(pump.wait(server, &mut rx, &mut tx, &mut TestClock(&time)), 3) {
        app.handle(step, server);
    }
    let sent = uart.borrow().sent();
    assert!(sent.starts_with(&[WELCOME, &pong(2)].concat()), "{sent}");
    assert!(sent.contains(r#""id":3,"error""#) && !sent.contains(r#""id":1,"#), "{sent}");
}

/// A pipe with a limited capacity in bytes.
struct Pipe(RefCell<VecDeque<u8>>, usize);

impl ErrorType for &Pipe {
    type Error = ErrorKind;
}

impl embedded_io_async::Read for &Pipe {
    async fn read(&mut self, space: &mut [u8]) -> Result<usize, ErrorKind> {
        poll_fn(|_| {
            let mut held = self.0.borrow_mut();
            let n = held.len().min(space.len());
            space.iter_mut().zip(held.drain(..n)).for_each(|(place, byte)| *place = byte);
            if n > 0 { Poll::Ready(Ok(n)) } else { Poll::Pending }
        })
        .await
    }
}

impl embedded_io_async::Write for &Pipe {
    async fn write(&mut self, bytes: &[u8]) -> Result<usize, ErrorKind> {
        poll_fn(|_| {
            let mut held = self.0.borrow_mut();
            let n = bytes.len().min(self.1 - held.len());
            held.extend(&bytes[..n]);
            if n > 0 { Poll::Ready(Ok(n)) } else { Poll::Pending }
        })
        .await
    }

    async fn flush(&mut self) -> Result<(), ErrorKind> {
        Ok(())
    }
}

#[test]
fn client_calls_server_tools_in_both_eras() {
    for connect in [Connect::Handshake, Connect::Stateless] {
        for width in [1, 2, 10, 100] {
            let (up, down) = (Pipe(RefCell::default(), width), Pipe(RefCell::default(), width));
            let time = Cell::new(0);
            let info = ClientConfig::new("c", "1").connect(connect);
            let (mut rx, mut tx) = ([0; 1024], [0; 1024]);
            let (mut slots, mut text) = ([client::Slot::EMPTY; 4], [0; 256]);
            let mut client = Client::new(&info, &mut rx, &mut tx).unwrap().in_flight(&mut slots, &mut text);
            let (mut client_pump, mut server_pump) = (Pump::new(), Pump::new());
            let (mut app, mut answers) = (App::default(), 0);
            with_server(1024, 1024, |server| {
                while answers < 3 {
                    // Each future is dropped after one or two polls, in any state.
                    match poll(client_pump.wait(&mut client, &mut &down, &mut &up, &mut TestClock(&time)), 2)
                    {
                        Some(PumpStatus::Event) => answers += handle_client_event(&mut client),
                        step => assert_eq!(step, None),
                    }
                    let step = poll(server_pump.wait(server, &mut &up, &mut &down, &mut TestClock(&time)), 1);
                    assert!(step.is_none_or(|step| app.handle(step, server)));
                }
            });
            assert_eq!(app.calls, ["hello"; 3]);
        }
    }
}

/// Handles a client event: calls a tool three times once connected. Returns the number of responses received.
fn handle_client_event(client: &mut Client<'_>) -> usize {
    match client.event() {
        Some(client::Event::Connected(_)) => {
            for _ in 0..3 {
                client.call_json("hello", "{}", Options::DEFAULT).unwrap();
            }
        }
        Some(client::Event::Response(end)) => {
            let result = end.tool_result().unwrap();
            assert!(result.text().unwrap() == "Hello!");
            return 1;
        }
        _ => {}
    }
    0
}
