//! Tests of `FramedPump` (polled, blocking and async), with a `FramedLink` as the other end of the line.

use std::cell::Cell;
use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use crate::common::{self, App, INITIALIZE, MARK, TestClock, WELCOME, answer, call, ping, pong, with_server};
use embedded_io::{ErrorKind, ErrorType};
use mcp_proto::client::{Client, ClientConfig, Connect, ConnectFailure, Event, Timeouts};
use mcp_proto::{Millis, Server};
use mcp_proto_embedded::{FramedPump, Link, PumpStatus};
use mcp_proto_framed_link::FramedLink;

/// The other end of the line, which sends `input`, and the line in between.
struct Peer {
    link: FramedLink,
    input: VecDeque<u8>,
    output: String,
    /// Bytes on their way to the pump.
    line: VecDeque<u8>,
    now: u64,
    /// The distance between damaged bytes, in both directions.
    damages: u64,
    count: u64,
    errors: VecDeque<ErrorKind>,
    last_write: Result<(), ErrorKind>,
    resets: u32,
    /// Whether the pump reads the end of the input when no byte is left.
    ends: bool,
    /// Once the whole input is sent, each read that returns bytes makes this number of the following writes time out.
    /// Used only if `ends` is set.
    refusals: usize,
    /// Whether the pump has read the end of the input.
    is_ended: bool,
}

impl Peer {
    fn new(input: &str, damages: u64) -> Peer {
        Peer {
            link: FramedLink::new(77),
            input: input.bytes().collect(),
            output: String::new(),
            line: VecDeque::new(),
            now: 0,
            damages,
            count: 0,
            errors: VecDeque::new(),
            last_write: Ok(()),
            resets: 0,
            ends: false,
            refusals: 0,
            is_ended: false,
        }
    }

    fn time(&self) -> Millis {
        Millis(self.now)
    }

    fn damage(&mut self, byte: u8) -> u8 {
        self.count += 1;
        if self.count.is_multiple_of(self.damages) { byte ^ 0x20 } else { byte }
    }

    /// Adds the peer's frames to the line, and moves bytes of the line into `space`. Returns `None` if the line has
    /// no bytes and has not ended.
    fn read(&mut self, space: &mut [u8]) -> Option<usize> {
        let accepted = self.link.send(self.input.make_contiguous());
        self.input.drain(..accepted);
        let time = self.time();
        let bytes = self.link.output(time).to_vec();
        self.link.written(bytes.len(), time);
        for byte in bytes {
            let byte = self.damage(byte);
            self.line.push_back(byte);
        }
        let count = space.len().min(self.line.len());
        space.iter_mut().zip(self.line.drain(..count)).for_each(|(place, byte)| *place = byte);
        let is_last = self.ends && self.input.is_empty() && self.link.is_connected();
        if is_last && count > 0 {
            self.errors = VecDeque::from(vec![ErrorKind::TimedOut; self.refusals]);
        }
        self.is_ended = is_last && count == 0;
        (count > 0 || is_last).then_some(count)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<usize, ErrorKind> {
        self.last_write = self.errors.pop_front().map_or(Ok(()), Err);
        self.last_write?;
        let bytes = &bytes[..bytes.len().min(20)];
        for byte in bytes {
            let (byte, time) = (self.damage(*byte), self.time());
            self.link.input(&[byte], time, |_| {});
            self.resets += u32::from(self.link.take_reset());
            self.output.push_str(std::str::from_utf8(self.link.received()).unwrap());
            self.link.consume(self.link.received().len());
        }
        Ok(bytes.len())
    }
}

impl Link for Peer {
    fn receive(&mut self, space: &mut [u8]) -> Result<Option<usize>, ErrorKind> {
        Ok(self.read(space))
    }

    fn transmit(&mut self, bytes: &[u8]) -> Result<usize, ErrorKind> {
        self.write(bytes)
    }
}

const PINGS: u32 = 20;

fn input() -> String {
    let pings: String = (1..PINGS).map(ping).collect();
    [INITIALIZE, &pings, &call(PINGS, "hello")].concat()
}

fn output() -> String {
    let pongs: String = (1..PINGS).map(pong).collect();
    [MARK, WELCOME, &pongs, &answer(PINGS, "Hello!")].concat()
}

/// Runs one form of the pump until it returns or waits. Returns `None` if the pump is idle or still waits.
type Turn = fn(&mut FramedPump, &mut Server<'_>, &mut Peer) -> Option<PumpStatus>;

/// Runs a server until the peer has received the expected output, or for at most 100 seconds.
fn serve(peer: &mut Peer, turn: Turn) -> App {
    with_server(512, 1024, |server| {
        let (mut pump, mut app) = (FramedPump::new(5), App::default());
        while peer.output.len() < output().len() && peer.now < 100_000 {
            match turn(&mut pump, server, peer) {
                None => peer.now += 1,
                Some(status) => _ = app.handle(status, server),
            }
        }
        app
    })
}

/// The distances between damaged bytes: no damage, and one byte in 83 (1.2 %).
const DAMAGES: [u64; 2] = [u64::MAX, 83];

fn poll(pump: &mut FramedPump, server: &mut Server<'_>, peer: &mut Peer) -> Option<PumpStatus> {
    let now = peer.time();
    match pump.step(server, peer, now) {
        PumpStatus::Idle(deadline) => {
            // An idle pump reports no deadline, or one in the future.
            assert!(deadline.is_none_or(|at| at > now), "{deadline:?} at {now:?}");
            None
        }
        status => Some(status),
    }
}

/// The blocking form of the line. A read without input times out after a millisecond.
struct Blocking<'p>(&'p mut Peer);

impl ErrorType for Blocking<'_> {
    type Error = ErrorKind;
}

impl embedded_io::Read for Blocking<'_> {
    fn read(&mut self, space: &mut [u8]) -> Result<usize, ErrorKind> {
        self.0.read(space).ok_or(ErrorKind::TimedOut)
    }
}

impl embedded_io::Write for Blocking<'_> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, ErrorKind> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> Result<(), ErrorKind> {
        Ok(())
    }
}

fn run(pump: &mut FramedPump, server: &mut Server<'_>, peer: &mut Peer) -> Option<PumpStatus> {
    let now = peer.time();
    match pump.run(server, &mut Blocking(peer), &mut || now) {
        PumpStatus::Idle(_) => None,
        status => Some(status),
    }
}

/// One direction of the async form of the line. A read or a successful write completes at the second poll at the
/// earliest. A write that fails completes at the first poll.
struct Half<'p, 'c>(&'p std::cell::RefCell<&'c mut Peer>);

async fn yield_once() {
    let mut is_first = true;
    poll_fn(|_| if std::mem::take(&mut is_first) { Poll::Pending } else { Poll::Ready(()) }).await;
}

impl ErrorType for Half<'_, '_> {
    type Error = ErrorKind;
}

impl embedded_io_async::Read for Half<'_, '_> {
    async fn read(&mut self, space: &mut [u8]) -> Result<usize, ErrorKind> {
        yield_once().await;
        poll_fn(|_| match self.0.borrow_mut().read(space) {
            None => Poll::Pending,
            Some(count) => Poll::Ready(Ok(count)),
        })
        .await
    }
}

impl embedded_io_async::Write for Half<'_, '_> {
    async fn write(&mut self, bytes: &[u8]) -> Result<usize, ErrorKind> {
        if self.0.borrow().errors.is_empty() {
            yield_once().await;
        }
        self.0.borrow_mut().write(bytes)
    }

    async fn flush(&mut self) -> Result<(), ErrorKind> {
        Ok(())
    }
}

/// Polls the async pump at most four times without advancing the clock. Returns `None` if the pump still waits.
fn wait(pump: &mut FramedPump, server: &mut Server<'_>, peer: &mut Peer) -> Option<PumpStatus> {
    let time = Cell::new(peer.now);
    let shared = std::cell::RefCell::new(peer);
    let (mut input, mut output, mut clock) = (Half(&shared), Half(&shared), TestClock(&time));
    common::poll(pump.wait(server, &mut input, &mut output, &mut clock), 4)
}

const FORMS: [Turn; 3] = [poll, run, wait];

#[test]
fn session_is_intact_on_a_noisy_line() {
    for (form, damages) in FORMS.into_iter().flat_map(|form| DAMAGES.map(|damages| (form, damages))) {
        let mut peer = Peer::new(&input(), damages);
        let app = serve(&mut peer, form);
        assert_eq!(peer.output, output());
        assert_eq!((app.faults.len(), app.steps), (0, vec![]));
    }
}

/// Runs a server that shuts down after one call, until the connection is closed. After the call, `damages` is the
/// distance between damaged bytes.
fn shut_down(peer: &mut Peer, turn: Turn, damages: u64) {
    with_server(512, 1024, |server| {
        let (mut pump, mut app) = (FramedPump::new(5), App::default());
        let mut is_shut_down = false;
        while app.steps.is_empty() {
            match turn(&mut pump, server, peer) {
                None => peer.now += 1,
                Some(status) => _ = app.handle(status, server),
            }
            if !is_shut_down && !app.calls.is_empty() {
                server.shutdown(peer.time());
                (is_shut_down, peer.damages, peer.count) = (true, damages, 0);
            }
        }
        assert_eq!(app.steps, [PumpStatus::Closed]);
    });
}

#[test]
fn last_response_is_received_before_the_pump_closes() {
    for form in FORMS {
        for damages in (83..140).chain([u64::MAX]) {
            let mut peer = Peer::new(&[INITIALIZE, &call(1, "hello")].concat(), u64::MAX);
            shut_down(&mut peer, form, damages);
            assert_eq!(peer.output, [MARK, WELCOME, &answer(1, "Hello!")].concat(), "{damages}");
        }
    }
}

#[test]
fn lost_peer_delays_the_end_for_a_limited_time() {
    for form in FORMS {
        let mut peer = Peer::new(&[INITIALIZE, &call(1, "hello")].concat(), u64::MAX);
        shut_down(&mut peer, form, 1);
        // The server waits for two grace periods, and the pump for two seconds.
        assert!((6000..6100).contains(&peer.now), "{}", peer.now);
    }
}

#[test]
fn last_frame_is_written_after_the_end_of_the_input() {
    for form in FORMS {
        with_server(512, 1024, |server| {
            let (mut pump, mut peer) = (FramedPump::new(5), Peer::new(&ping(1), u64::MAX));
            let status = (0..1000).find_map(|_| {
                // The input ends after the request, while the line accepts no bytes.
                if peer.input.is_empty() && peer.link.is_idle() && !peer.ends {
                    peer.ends = true;
                    peer.errors = VecDeque::from([ErrorKind::TimedOut; 5]);
                }
                peer.now += 1;
                form(&mut pump, server, &mut peer).filter(|status| *status != PumpStatus::Moved)
            });
            assert_eq!((status, peer.output), (Some(PumpStatus::Closed), [MARK, &pong(1)].concat()));
        });
    }
}

#[test]
fn blocking_pump_is_idle_after_the_end_only_if_a_write_timed_out() {
    for refusals in 0..10 {
        with_server(512, 1024, |server| {
            let (mut pump, mut peer) = (FramedPump::new(5), Peer::new(&ping(1), u64::MAX));
            (peer.ends, peer.refusals) = (true, refusals);
            while peer.now < 100 {
                let now = peer.time();
                match pump.run(server, &mut Blocking(&mut peer), &mut || now) {
                    PumpStatus::Closed => break,
                    status => assert!(!peer.is_ended || peer.last_write.is_err(), "{status:?} {refusals}"),
                }
                peer.now += 1;
            }
            assert_eq!(peer.output, [MARK, &pong(1)].concat(), "{refusals}");
        });
    }
}

/// Steps until the pump returns a status that the caller must see. Returns `Idle(None)` if there is none in 5,000
/// steps.
fn step(pump: &mut FramedPump, server: &mut Server<'_>, peer: &mut Peer) -> PumpStatus {
    for _ in 0..5000 {
        let now = peer.time();
        match pump.step(server, peer, now) {
            PumpStatus::Moved => {}
            PumpStatus::Idle(_) => peer.now += 1,
            status => return status,
        }
    }
    PumpStatus::Idle(None)
}

#[test]
fn new_peer_starts_a_new_session() {
    with_server(512, 1024, |server| {
        let (mut pump, mut peer) = (FramedPump::new(5), Peer::new(&ping(1), u64::MAX));
        assert!(!pump.is_connected());
        assert_eq!(step(&mut pump, server, &mut peer), PumpStatus::Idle(None));
        assert!(pump.is_connected());
        assert_eq!(peer.output, [MARK, &pong(1)].concat());
        let mut next = Peer::new(&ping(2), u64::MAX);
        assert_eq!(step(&mut pump, server, &mut next), PumpStatus::NewSession);
        server.reset();
        assert_eq!(step(&mut pump, server, &mut next), PumpStatus::Idle(None));
        assert_eq!((next.output, next.resets), (pong(2), 0));
    });
}

#[test]
fn new_session_of_the_pump_is_reported_to_the_peer() {
    with_server(512, 1024, |server| {
        let (mut pump, mut peer) = (FramedPump::new(5), Peer::new(&ping(1), u64::MAX));
        step(&mut pump, server, &mut peer);
        pump.new_session();
        server.reset();
        step(&mut pump, server, &mut peer);
        peer.input.extend(ping(2).bytes());
        step(&mut pump, server, &mut peer);
        assert_eq!((peer.resets, peer.output.ends_with(&pong(2))), (1, true));
    });
}

/// If the pump were idle, the caller would sleep, and never see that the line is lost.
#[test]
fn lost_line_is_reported_although_no_byte_was_written() {
    for form in FORMS {
        with_server(512, 1024, |server| {
            let (mut pump, mut peer) = (FramedPump::new(5), Peer::new("", u64::MAX));
            peer.errors = VecDeque::from([ErrorKind::BrokenPipe; 5]);
            let mut statuses = (0..5).map_while(|_| form(&mut pump, server, &mut peer));
            let lost = PumpStatus::LinkLost(ErrorKind::BrokenPipe);
            assert_eq!(statuses.find(|status| *status != PumpStatus::Moved), Some(lost));
        });
    }
}

#[test]
fn errors_of_the_line_are_classified() {
    with_server(512, 1024, |server| {
        let (mut pump, mut peer) = (FramedPump::new(5), Peer::new(&ping(1), u64::MAX));
        peer.errors = VecDeque::from([ErrorKind::TimedOut, ErrorKind::Other]);
        assert_eq!(step(&mut pump, server, &mut peer), PumpStatus::NotWritten(ErrorKind::Other));
        assert_eq!(step(&mut pump, server, &mut peer), PumpStatus::Idle(None));
        assert_eq!(peer.output, [MARK, &pong(1)].concat());
        peer.errors = VecDeque::from([ErrorKind::BrokenPipe]);
        peer.input.extend(ping(2).bytes());
        assert_eq!(step(&mut pump, server, &mut peer), PumpStatus::LinkLost(ErrorKind::BrokenPipe));
        assert_eq!(step(&mut pump, server, &mut peer), PumpStatus::Closed);
    });
}

#[test]
fn end_of_the_line_closes_the_connection() {
    with_server(512, 1024, |server| {
        let (mut pump, mut peer) = (FramedPump::new(5), Peer::new("", u64::MAX));
        peer.ends = true;
        assert_eq!(step(&mut pump, server, &mut peer), PumpStatus::Closed);
    });
}

/// The output of the async pump on a line that accepts bytes at once.
struct Ready<'p, 'c>(&'p std::cell::RefCell<&'c mut Peer>);

impl ErrorType for Ready<'_, '_> {
    type Error = ErrorKind;
}

impl embedded_io_async::Write for Ready<'_, '_> {
    async fn write(&mut self, bytes: &[u8]) -> Result<usize, ErrorKind> {
        self.0.borrow_mut().write(bytes)
    }

    async fn flush(&mut self) -> Result<(), ErrorKind> {
        Ok(())
    }
}

#[test]
fn last_frame_is_acknowledged_before_an_event() {
    with_server(512, 1024, |server| {
        let (mut pump, mut peer) = (FramedPump::new(5), Peer::new("", u64::MAX));
        while !(pump.is_connected() && peer.link.is_connected()) {
            wait(&mut pump, server, &mut peer);
            peer.now += 1;
        }
        peer.input.extend(call(1, "hello").bytes());
        let (time, shared) = (Cell::new(peer.now), std::cell::RefCell::new(&mut peer));
        let (mut input, mut output, mut clock) = (Half(&shared), Ready(&shared), TestClock(&time));
        let mut future = pin!(pump.wait(server, &mut input, &mut output, &mut clock));
        let mut context = Context::from_waker(Waker::noop());
        let mut polls = (0..10).map(|_| future.as_mut().poll(&mut context));
        assert_eq!(polls.find(Poll::is_ready), Some(Poll::Ready(PumpStatus::Event)));
        assert!(shared.borrow().link.is_idle(), "the peer waits for an acknowledgment");
    });
}

#[test]
fn async_pump_writes_nothing_to_a_lost_line() {
    with_server(512, 1024, |server| {
        let mut peer = Peer::new(&[INITIALIZE, &call(1, "slow")].concat(), u64::MAX);
        let (mut pump, mut app) = (FramedPump::new(5), App::default());
        while app.slow.is_none() {
            wait(&mut pump, server, &mut peer).map(|status| app.handle(status, server));
        }
        peer.input.extend(ping(2).bytes());
        peer.errors = VecDeque::from([ErrorKind::BrokenPipe; 1000]);
        let status = (0..100).find_map(|_| wait(&mut pump, server, &mut peer));
        assert_eq!(status, Some(PumpStatus::LinkLost(ErrorKind::BrokenPipe)));
        // The call is in flight, so the connection stays open until the end of the grace period.
        assert_eq!(wait(&mut pump, server, &mut peer), None);
        assert_eq!(peer.errors.len(), 999);
    });
}

/// A line without another end: each write is accepted, and no byte arrives.
struct Silent;

impl Link for Silent {
    fn receive(&mut self, _: &mut [u8]) -> Result<Option<usize>, ErrorKind> {
        Ok(None)
    }

    fn transmit(&mut self, bytes: &[u8]) -> Result<usize, ErrorKind> {
        Ok(bytes.len())
    }
}

#[test]
fn client_of_a_silent_server_fails_at_its_time_limit() {
    let config = ClientConfig::new("c", "1").connect(Connect::Handshake);
    let config = config.timeouts(Timeouts { initialize: Millis(5000), ..Timeouts::DEFAULT });
    let (mut rx, mut tx) = ([0; 512], [0; 512]);
    let mut client = Client::new(&config, &mut rx, &mut tx).unwrap();
    let (mut pump, mut now, mut failed_at) = (FramedPump::new(5), Millis(0), None);
    loop {
        match pump.step(&mut client, &mut Silent, now) {
            PumpStatus::Event => {
                let event = client.event();
                assert!(matches!(event, Some(Event::ConnectFailed(ConnectFailure::TimedOut))), "{event:?}");
                failed_at = Some(now);
            }
            PumpStatus::Closed => break,
            PumpStatus::Idle(deadline) => now = deadline.unwrap(),
            _ => {}
        }
    }
    assert_eq!(failed_at, Some(Millis(5000)));
    assert!(now <= Millis(5000 + 2000), "{now:?}");
}
