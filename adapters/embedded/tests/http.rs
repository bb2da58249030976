//! Tests of the pump for HTTP/1.1: polled, blocking and async.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use crate::common::{On, TestClock, Uart};
use embedded_io::{ErrorKind, ErrorType};
use mcp_proto::server::{Event, ServerConfig, Slot, Tool, Tools};
use mcp_proto::{Millis, Server, Ticket};
use mcp_proto_embedded::{HttpPump, HttpShared, HttpStatus};
use mcp_proto_http::server::{ExchangeSlot, HttpConfig, HttpServer, Policy, Step};

static TOOLS: Tools<'static> = Tools::new(&[Tool::new("hello", "{}"), Tool::new("slow", "{}")]);
static CONFIG: ServerConfig<'static> = ServerConfig::new("board", "1.0.0").features(&[&TOOLS]);
static HTTP: HttpConfig<'static> = HttpConfig::new();

pub(crate) struct Open;

impl Policy for Open {
    const HANDSHAKE: bool = false;

    fn random(&mut self) -> [u8; 16] {
        [0; 16]
    }
}

type Http<'b> = HttpServer<'b, Open>;

/// Calls a function with an HTTP server and the MCP server behind it.
pub(crate) fn with_servers<R>(act: impl for<'b> FnOnce(&mut Http<'b>, &mut Server<'b>) -> R) -> R {
    let (mut rx, mut tx, mut slots, mut text) = ([0; 1024], [0; 1024], [Slot::EMPTY; 2], [0; 128]);
    let server = Server::new(&CONFIG, &mut rx, &mut tx).unwrap().message_mode().unwrap();
    let mut server = server.in_flight(&mut slots, &mut text).unwrap();
    let (mut exchanges, mut output, mut bodies) = ([ExchangeSlot::EMPTY; 2], [0; 4096], vec![0; 2 * 65_536]);
    let http = HttpServer::new(&HTTP, Open, &mut exchanges, &mut output);
    act(&mut http.body_buffer(bodies.as_mut_slice()), &mut server)
}

/// Handles an event. Returns the ticket of a deferred call, or `None` after other events.
pub(crate) fn handle(server: &mut Server<'_>) -> Option<Ticket> {
    match server.event() {
        Some(Event::Call(mut call)) if call.name() == "slow" => {
            let _ = call.progress(1, None, "");
            call.defer(None).ok()
        }
        Some(Event::Call(call)) => {
            call.text("Hello!");
            None
        }
        _ => None,
    }
}

pub(crate) fn call(tool: &str, fields: &str) -> String {
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}","_meta":{{"progressToken":1,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
    );
    format!(
        "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {tool}\r\n{fields}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// Takes steps until no byte moves and the script has no more input, or until the connection is closed. Returns the
/// last status, and the ticket of the last deferred call.
pub(crate) fn steps(
    pump: &mut HttpPump<'_>,
    http: &mut Http<'_>,
    server: &mut Server<'_>,
    uart: &mut Uart,
) -> (HttpStatus, Option<Ticket>) {
    let mut ticket = None;
    for _ in 0..10_000 {
        let status = pump.step(http, server, uart, Millis(0));
        let step = http.poll(server, Millis(0));
        match (step, status) {
            (Step::Event, _) => ticket = handle(server).or(ticket),
            (Step::Output(_), _) | (_, HttpStatus::Moved) => {}
            (_, status) if uart.script.is_empty() || status == HttpStatus::Closed => {
                return (status, ticket);
            }
            _ => {}
        }
    }
    panic!("the pump makes no progress");
}

#[test]
fn steps_serve_requests_in_pieces_of_any_size() {
    let requests = [call("hello", ""), call("hello", "Connection: close\r\n")].concat();
    for (reads, writes) in [(1, 1), (7, 3), (64, 1000), (1000, 64)] {
        let mut uart = Uart::text(&requests);
        (uart.reads, uart.writes) = (reads, writes);
        let mut head = [0; 300];
        let mut pump = HttpPump::new(&mut head);
        let status = with_servers(|http, server| steps(&mut pump, http, server, &mut uart).0);
        assert_eq!(uart.sent().matches("HTTP/1.1 200 OK").count(), 2, "{reads} {writes}: {}", uart.sent());
        assert!(matches!(status, HttpStatus::Closing(Some(_))), "{status:?}");
    }
}

#[test]
fn lost_connection_closes_the_exchange() {
    for end in [On::End, On::Error(ErrorKind::ConnectionReset), On::Error(ErrorKind::Other)] {
        let mut head = [0; 300];
        let mut pump = HttpPump::new(&mut head);
        with_servers(|http, server| {
            let mut uart = Uart::text(&call("slow", ""));
            let (status, ticket) = steps(&mut pump, http, server, &mut uart);
            assert!(matches!(status, HttpStatus::Idle(_)) && ticket.is_some());
            assert_eq!(http.open_exchanges(), 1);
            uart.script.push_back(On::Error(ErrorKind::TimedOut));
            assert!(matches!(steps(&mut pump, http, server, &mut uart).0, HttpStatus::Idle(_)));
            uart.script.push_back(end);
            assert_eq!(steps(&mut pump, http, server, &mut uart).0, HttpStatus::Closed);
            pump.new_connection(http);
            while http.poll(server, Millis(0)) == Step::Event {
                handle(server);
            }
            assert_eq!(http.open_exchanges(), 0);
            assert!(server.reply(ticket.unwrap()).is_err(), "the call is cancelled");
            // The pump serves another connection.
            let mut uart = Uart::text(&call("hello", ""));
            steps(&mut pump, http, server, &mut uart);
            assert!(uart.sent().contains("Hello!"));
        });
    }
}

#[test]
fn failed_write_closes_the_connection() {
    let mut uart = Uart::text(&call("hello", ""));
    uart.write_errors.push_back(ErrorKind::BrokenPipe);
    let mut head = [0; 300];
    let mut pump = HttpPump::new(&mut head);
    let status = with_servers(|http, server| steps(&mut pump, http, server, &mut uart).0);
    assert_eq!((status, uart.sent()), (HttpStatus::Closed, String::new()));
}

#[test]
fn run_serves_a_blocking_connection() {
    let requests = [call("hello", ""), call("slow", ""), call("hello", "Connection: close\r\n")].concat();
    let mut uart = Uart::text(&requests);
    let mut head = [0; 300];
    let mut pump = HttpPump::new(&mut head);
    let (mut idles, mut ticket) = (0, None);
    with_servers(|http, server| {
        loop {
            match pump.run(http, server, &mut uart, &mut || Millis(0)) {
                HttpStatus::Event => ticket = handle(server).or(ticket),
                // The second request waits for the application.
                HttpStatus::Idle(_) => {
                    idles += 1;
                    server.reply(ticket.take().unwrap()).unwrap().text("late");
                }
                HttpStatus::Closing(_) => break,
                status => panic!("{status:?}"),
            }
        }
    });
    let sent = uart.sent();
    assert_eq!((idles, sent.matches("200 OK").count(), uart.flushed), (1, 3, uart.sent.len()), "{sent}");
    assert!(sent.contains("late") && sent.ends_with('}'), "{sent}");
}

#[test]
fn run_drops_input_after_the_last_response() {
    let mut head = [0; 300];
    let mut pump = HttpPump::new(&mut head);
    with_servers(|http, server| {
        // The server refuses the request before the body arrives.
        let mut uart = Uart::text(
            "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 70000\r\n\r\n",
        );
        let mut run = |uart: &mut Uart, now| pump.run(http, server, uart, &mut || Millis(now));
        let closing = run(&mut uart, 0);
        assert!(matches!(closing, HttpStatus::Closing(Some(_))), "{closing:?}");
        assert!(uart.sent().starts_with("HTTP/1.1 413"), "{}", uart.sent());
        uart.script.push_back(On::Bytes(vec![b'x'; 1000]));
        assert_eq!(run(&mut uart, 1), closing);
        assert_eq!(uart.script.len(), 0);
        uart.script.push_back(On::End);
        assert_eq!(run(&mut uart, 2), HttpStatus::Closed);
        uart.script = [On::Bytes(vec![b'x'; 1000])].into();
        assert_eq!(run(&mut uart, 10_000), HttpStatus::Closed);
    });
}

/// One direction of a connection in memory. Each write wakes the reader.
#[derive(Default)]
pub(crate) struct Pipe {
    bytes: RefCell<VecDeque<u8>>,
    is_closed: Cell<bool>,
    waker: Cell<Option<Waker>>,
    write_error: Cell<Option<ErrorKind>>,
    flush_error: Cell<Option<ErrorKind>>,
    /// Whether a flush never completes.
    is_stuck: Cell<bool>,
    is_flushed: Cell<bool>,
}

impl Pipe {
    pub(crate) fn push(&self, bytes: &[u8]) {
        self.bytes.borrow_mut().extend(bytes);
        self.wake();
    }

    pub(crate) fn close(&self) {
        self.is_closed.set(true);
        self.wake();
    }

    fn wake(&self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

pub(crate) struct End<'p>(pub(crate) &'p Pipe);

impl ErrorType for End<'_> {
    type Error = ErrorKind;
}

impl embedded_io_async::Read for End<'_> {
    async fn read(&mut self, space: &mut [u8]) -> Result<usize, ErrorKind> {
        poll_fn(|context| {
            let mut bytes = self.0.bytes.borrow_mut();
            if bytes.is_empty() && !self.0.is_closed.get() {
                self.0.waker.set(Some(context.waker().clone()));
                return Poll::Pending;
            }
            let n = space.len().min(bytes.len()).min(50);
            space.iter_mut().zip(bytes.drain(..n)).for_each(|(place, byte)| *place = byte);
            Poll::Ready(Ok(n))
        })
        .await
    }
}

impl embedded_io_async::Write for End<'_> {
    async fn write(&mut self, bytes: &[u8]) -> Result<usize, ErrorKind> {
        self.0.write_error.take().map_or(Ok(()), Err)?;
        let n = bytes.len().min(20);
        self.0.push(&bytes[..n]);
        self.0.is_flushed.set(false);
        Ok(n)
    }

    async fn flush(&mut self) -> Result<(), ErrorKind> {
        self.0.flush_error.take().map_or(Ok(()), Err)?;
        poll_fn(|_| if self.0.is_stuck.get() { Poll::Pending } else { Poll::Ready(()) }).await;
        self.0.is_flushed.set(true);
        Ok(())
    }
}

/// A waker that records whether it was called.
#[derive(Default)]
pub(crate) struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A future, its waker, and its output.
pub(crate) type Task<'t> = (Pin<&'t mut dyn Future<Output = HttpStatus>>, Arc<Woken>, Option<HttpStatus>);

/// Polls each pending future once, and then only the woken ones, until none is woken.
pub(crate) fn run_tasks(tasks: &mut [Task<'_>]) {
    for (_, woken, _) in tasks.iter() {
        woken.0.store(true, Ordering::Relaxed);
    }
    loop {
        let active: Vec<bool> = tasks.iter().map(|(_, woken, _)| woken.0.load(Ordering::Relaxed)).collect();
        if !active.contains(&true) {
            return;
        }
        // Clear all flags before the first poll, because tasks may share a waker: a poll may set the flag of another
        // task.
        tasks.iter().for_each(|(_, woken, _)| woken.0.store(false, Ordering::Relaxed));
        for ((future, woken, result), is_active) in tasks.iter_mut().zip(active) {
            let waker = Waker::from(Arc::clone(woken));
            if result.is_none()
                && is_active
                && let Poll::Ready(status) = future.as_mut().poll(&mut Context::from_waker(&waker))
            {
                *result = Some(status);
            }
        }
    }
}

pub(crate) fn text_of(pipe: &Pipe) -> String {
    String::from_utf8(pipe.bytes.borrow_mut().drain(..).collect()).unwrap()
}

fn tasks_wake_each_other_with<const N: usize>(shares_waker: bool) {
    let pipes: [Pipe; 4] = std::array::from_fn(|_| Pipe::default());
    let [first_in, first_out, second_in, second_out] = &pipes;
    let (time, ticket) = (Cell::new(0), Cell::new(None));
    let (mut first_head, mut second_head) = ([0; 300], [0; 300]);
    let (mut first, mut second) = (HttpPump::new(&mut first_head), HttpPump::new(&mut second_head));
    with_servers(|http, server| {
        let shared: HttpShared<'_, '_, Open, N> = HttpShared::new(http, server);
        let mut clocks = [(); 3].map(|()| TestClock(&time));
        let [clock, first_clock, second_clock] = &mut clocks;
        let events = async {
            while shared.event(clock).await {
                shared.with(|_, server| ticket.set(handle(server).or(ticket.get())));
            }
            HttpStatus::Event
        };
        let (mut first_input, mut first_output) = (End(first_in), End(first_out));
        let (mut second_input, mut second_output) = (End(second_in), End(second_out));
        let first = first.serve(&shared, &mut first_input, &mut first_output, first_clock);
        let second = second.serve(&shared, &mut second_input, &mut second_output, second_clock);
        let (events, first, second) = (pin!(events), pin!(first), pin!(second));
        let wakers: [Arc<Woken>; 3] = match shares_waker {
            true => {
                let one = Arc::default();
                [Arc::clone(&one), Arc::clone(&one), one]
            }
            false => [(); 3].map(|()| Arc::default()),
        };
        let [a, b, c] = wakers;
        let mut tasks: [Task<'_>; 3] = [(events, a, None), (first, b, None), (second, c, None)];
        run_tasks(&mut tasks);
        first_in.push(call("slow", "Accept: application/json, text/event-stream\r\n").as_bytes());
        second_in.push(call("hello", "").as_bytes());
        run_tasks(&mut tasks);
        assert!(text_of(second_out).contains("Hello!"));
        let text = text_of(first_out);
        assert!(text.contains("notifications/progress") && !text.contains("late"), "{text}");
        // A response that is sent outside of the connection's task reaches the connection.
        shared.with(|_, server| server.reply(ticket.get().unwrap()).unwrap().text("late"));
        run_tasks(&mut tasks);
        let text = text_of(first_out);
        assert!(text.contains("late") && text.ends_with("0\r\n\r\n"), "{text}");
        // Two requests at once. The response to the second one closes the connection.
        let pipeline = [call("hello", ""), call("hello", "Connection: close\r\n")].concat();
        first_in.push(pipeline.as_bytes());
        second_in.close();
        run_tasks(&mut tasks);
        assert_eq!(text_of(first_out).matches("Hello!").count(), 2);
        assert!(matches!(tasks[1].2, Some(HttpStatus::Closing(_))), "{:?}", tasks[1].2);
        assert_eq!((tasks[0].2, tasks[2].2), (None, Some(HttpStatus::Closed)));
        assert_eq!(shared.with(|http, _| http.open_exchanges()), Some(0));
    });
}

#[test]
fn tasks_wake_each_other() {
    tasks_wake_each_other_with::<3>(false);
    // Here, the futures share a waker, as if they were joined in one task.
    tasks_wake_each_other_with::<1>(true);
}

#[test]
fn idle_client_is_disconnected() {
    let (input, output, time) = (Pipe::default(), Pipe::default(), Cell::new(0));
    let mut head = [0; 300];
    let mut pump = HttpPump::new(&mut head);
    with_servers(|http, server| {
        let shared: HttpShared<'_, '_, Open, 1> = HttpShared::new(http, server);
        let mut clock = TestClock(&time);
        let (mut reader, mut writer) = (End(&input), End(&output));
        let serve = pin!(pump.serve(&shared, &mut reader, &mut writer, &mut clock));
        let mut tasks: [Task<'_>; 1] = [(serve, Arc::default(), None)];
        run_tasks(&mut tasks);
        time.set(74_999);
        run_tasks(&mut tasks);
        assert_eq!(tasks[0].2, None);
        time.set(75_000);
        run_tasks(&mut tasks);
        assert_eq!(tasks[0].2, Some(HttpStatus::Closed));
    });
}

#[test]
fn closed_server_ends_all_connections() {
    let (first_in, first_out, second_in, second_out) =
        (Pipe::default(), Pipe::default(), Pipe::default(), Pipe::default());
    let time = Cell::new(0);
    let (mut first_head, mut second_head) = ([0; 300], [0; 300]);
    let (mut first, mut second) = (HttpPump::new(&mut first_head), HttpPump::new(&mut second_head));
    with_servers(|http, server| {
        let shared: HttpShared<'_, '_, Open, 3> = HttpShared::new(http, server);
        let [mut clock, mut first_clock, mut second_clock] = [(); 3].map(|()| TestClock(&time));
        let events = pin!(async {
            while shared.event(&mut clock).await {
                shared.with(|_, server| handle(server));
            }
            HttpStatus::Closed
        });
        let (mut first_in_end, mut first_out_end) = (End(&first_in), End(&first_out));
        let (mut second_in_end, mut second_out_end) = (End(&second_in), End(&second_out));
        let first = pin!(first.serve(&shared, &mut first_in_end, &mut first_out_end, &mut first_clock));
        let second = pin!(second.serve(&shared, &mut second_in_end, &mut second_out_end, &mut second_clock));
        let mut tasks: [Task<'_>; 3] =
            [(events, Arc::default(), None), (first, Arc::default(), None), (second, Arc::default(), None)];
        first_in.push(call("slow", "").as_bytes());
        second_in.push(call("hello", "").as_bytes());
        run_tasks(&mut tasks);
        assert!(text_of(&second_out).contains("Hello!"));
        shared.with(|_, server| server.shutdown(Millis(0)));
        run_tasks(&mut tasks);
        assert!(!shared.is_closed() && tasks.iter().all(|(_, _, status)| status.is_none()));
        for seconds in 1..60 {
            time.set(seconds * 1000);
            run_tasks(&mut tasks);
        }
        let end = Some(HttpStatus::Closed);
        assert_eq!((tasks[0].2, tasks[1].2, tasks[2].2), (end, end, end), "{}", text_of(&first_out));
        assert!(shared.is_closed());
    });
}

/// Serves a request over a connection whose first write and first flush fail. Returns the status, the output, and
/// whether the output was flushed.
fn serve_with_errors(write: ErrorKind, flush: ErrorKind) -> (Option<HttpStatus>, String, bool) {
    let (input, output, time) = (Pipe::default(), Pipe::default(), Cell::new(0));
    let mut head = [0; 300];
    let mut pump = HttpPump::new(&mut head);
    with_servers(|http, server| {
        let shared: HttpShared<'_, '_, Open, 2> = HttpShared::new(http, server);
        let mut clocks = [(); 2].map(|()| TestClock(&time));
        let [clock, event_clock] = &mut clocks;
        let events = pin!(async {
            while shared.event(event_clock).await {
                shared.with(|_, server| handle(server));
            }
            HttpStatus::Event
        });
        let (mut reader, mut writer) = (End(&input), End(&output));
        let serve = pin!(pump.serve(&shared, &mut reader, &mut writer, clock));
        let mut tasks: [Task<'_>; 2] = [(events, Arc::default(), None), (serve, Arc::default(), None)];
        input.push(call("hello", "").as_bytes());
        output.write_error.set(Some(write));
        output.flush_error.set(Some(flush));
        run_tasks(&mut tasks);
        (tasks[1].2, text_of(&output), output.is_flushed.get())
    })
}

#[test]
fn timed_out_write_is_repeated_and_other_errors_close() {
    use ErrorKind::{Other, TimedOut};
    let (status, text, is_flushed) = serve_with_errors(TimedOut, TimedOut);
    assert_eq!((status, is_flushed), (None, true));
    assert!(text.starts_with("HTTP/1.1 200 OK") && text.contains("Hello!"), "{text}");
    let (status, text, _) = serve_with_errors(Other, TimedOut);
    assert_eq!((status, &*text), (Some(HttpStatus::Closed), ""));
    let (status, text, _) = serve_with_errors(TimedOut, Other);
    assert!(status == Some(HttpStatus::Closed) && text.contains("Hello!"), "{status:?} {text}");
}

#[test]
fn next_future_flushes_output_of_a_dropped_one() {
    let (input, output, time) = (Pipe::default(), Pipe::default(), Cell::new(0));
    let mut head = [0; 300];
    let mut pump = HttpPump::new(&mut head);
    with_servers(|http, server| {
        let shared: HttpShared<'_, '_, Open, 1> = HttpShared::new(http, server);
        let (mut reader, mut writer, mut clock) = (End(&input), End(&output), TestClock(&time));
        input.push(b"POST /other HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n");
        for is_stuck in [true, false] {
            output.is_stuck.set(is_stuck);
            let serve = pin!(pump.serve(&shared, &mut reader, &mut writer, &mut clock));
            let mut tasks: [Task<'_>; 1] = [(serve, Arc::default(), None)];
            run_tasks(&mut tasks);
            assert_eq!((tasks[0].2, output.is_flushed.get()), (None, !is_stuck));
        }
        assert!(text_of(&output).starts_with("HTTP/1.1 4"));
    });
}

#[test]
fn future_polled_inside_with_is_woken() {
    with_servers(|http, server| {
        let shared: HttpShared<'_, '_, Open, 1> = HttpShared::new(http, server);
        let mut open = pin!(shared.wait_for(|http, _| Some(http.open_exchanges())));
        let woken = Arc::<Woken>::default();
        let waker = Waker::from(Arc::clone(&woken));
        let mut context = Context::from_waker(&waker);
        assert_eq!(shared.with(|_, _| open.as_mut().poll(&mut context)), Some(Poll::Pending));
        assert!(woken.0.load(Ordering::Relaxed));
        assert_eq!(open.as_mut().poll(&mut context), Poll::Ready(0));
    });
}
