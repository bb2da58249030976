//! The pump without server or client handles: cancel safety, batching of writes, deadlines, wakers.

use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use crate::peer::{SOON, Trickle, call, initialize};
use mcp_proto::client::{ClientConfig, Connect, Options};
use mcp_proto::server::{Event, Limits, ServerConfig, Tool, Tools};
use mcp_proto::{Buffer, Client, Machine, Millis, Outcome, Server, client};
use mcp_proto_tokio::{CallError, CallOptions, Connector, Pump, PumpStatus};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, duplex, split};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::time::{Instant, sleep, timeout};

static TOOLS: Tools = Tools::new(&[Tool::new("echo", "{}"), Tool::new("later", "{}")]);
static CONFIG: ServerConfig = ServerConfig::new("test", "1")
    .features(&[&TOOLS])
    .limits(Limits::DEFAULT.with_deferred_timeout(Millis(5000)).with_grace(Millis(1000)));

fn server() -> Server<'static> {
    let (rx, tx) = (Buffer::grown(1 << 22), Buffer::grown(1 << 22));
    Server::new(&CONFIG, rx, tx).unwrap().in_flight_grown(8).unwrap()
}

fn answer(event: Event<'_>) {
    match event {
        Event::Call(call) if call.name() == "later" => drop(call.defer(None).unwrap()),
        Event::Call(call) => {
            let arguments = call.raw_arguments().to_string();
            call.text(arguments);
        }
        _ => {}
    }
}

/// Runs the pump. Drops and recreates its future after `polls` polls, or never if `polls` is 0.
async fn run<R: AsyncRead + Unpin, W: AsyncWrite + Unpin>(
    pump: &mut Pump<R, W>,
    machine: &mut (dyn Machine + Send),
    polls: usize,
) -> PumpStatus {
    if polls == 0 {
        return pump.run(machine).await;
    }
    loop {
        let mut future = pin!(pump.run(machine));
        for _ in 0..polls {
            let mut polled = None;
            // Poll the future once, then wait until this task is woken, as an executor does.
            poll_fn(|context| match polled {
                None => {
                    polled = Some(future.as_mut().poll(context));
                    if polled.as_ref().is_some_and(Poll::is_ready) { Poll::Ready(()) } else { Poll::Pending }
                }
                Some(_) => Poll::Ready(()),
            })
            .await;
            if let Some(Poll::Ready(status)) = polled {
                return status;
            }
        }
    }
}

async fn serve<R: AsyncRead + Unpin, W: AsyncWrite + Unpin>(mut pump: Pump<R, W>, polls: usize) {
    let mut server = server();
    loop {
        match run(&mut pump, &mut server, polls).await {
            PumpStatus::Event => {
                if let Some(event) = server.event() {
                    answer(event);
                }
            }
            PumpStatus::Woken => {}
            PumpStatus::Closed => return,
        }
    }
}

/// Runs a client that makes calls one after the other, and returns the results.
async fn call_all<R: AsyncRead + Unpin, W: AsyncWrite + Unpin>(
    mut pump: Pump<R, W>,
    connect: Connect,
    arguments: &[String],
    polls: usize,
) -> Vec<String> {
    let config = ClientConfig::new("test", "1").connect(connect);
    let mut client = Client::new(&config, Buffer::grown(1 << 22), Buffer::grown(1 << 22)).unwrap();
    client = client.in_flight_grown(4);
    let (mut received, mut next) = (Vec::new(), arguments.iter());
    loop {
        let is_over = match run(&mut pump, &mut client, polls).await {
            PumpStatus::Closed => return received,
            PumpStatus::Woken => continue,
            PumpStatus::Event => match client.event() {
                Some(client::Event::Connected(_)) => false,
                Some(client::Event::Response(end)) => {
                    let Outcome::Result(result) = end.outcome() else { panic!("{:?}", end.outcome()) };
                    let result = client::ToolResultView::from_json(result);
                    received.push(result.text().unwrap().to_string());
                    received.len() == arguments.len()
                }
                event => panic!("{event:?}"),
            },
        };
        match next.next() {
            Some(arguments) => drop(client.call_json("echo", arguments, Options::DEFAULT).unwrap()),
            None if is_over => client.shutdown(pump.now()),
            None => {}
        }
    }
}

#[tokio::test(start_paused = true)]
async fn dropping_the_future_at_any_time_loses_nothing() {
    let arguments: Vec<String> =
        (0..6).map(|n| format!(r#"{{"n":{n},"text":"{}"}}"#, "x".repeat(n * 37))).collect();
    for connect in [Connect::Handshake, Connect::Stateless] {
        for (client_polls, server_polls) in [(0, 0), (1, 0), (0, 1), (1, 1), (2, 1), (3, 2), (1, 7), (13, 5)]
        {
            let (here, there) = duplex(7);
            let (input, output) = tokio::io::split(Trickle::new(there));
            let server = tokio::spawn(serve(Pump::new(input, output), server_polls));
            let (input, output) = tokio::io::split(Trickle::new(here));
            let received =
                timeout(SOON, call_all(Pump::new(input, output), connect, &arguments, client_polls)).await;
            assert_eq!(received.unwrap(), arguments, "{client_polls} {server_polls}");
            timeout(SOON, server).await.unwrap().unwrap();
        }
    }
}

/// Records each write and counts the flushes.
#[derive(Clone, Default)]
struct Counted(Arc<Mutex<(Vec<Vec<u8>>, usize)>>);

impl AsyncWrite for Counted {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.0.lock().unwrap().0.push(bytes.to_vec());
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.lock().unwrap().1 += 1;
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[tokio::test]
async fn many_responses_are_sent_in_one_flushed_write() {
    let mut input = initialize("2025-11-25", "{}");
    for id in 1..=100 {
        input += &call(id, "echo", r#"{"a":1}"#);
    }
    let output = Counted::default();
    // More input follows, so the flush does not come from the end of the stream.
    let (mut more, rest) = duplex(64);
    let server = tokio::spawn(serve(
        Pump::new(AsyncReadExt::chain(io::Cursor::new(input.into_bytes()), rest), output.clone()),
        0,
    ));
    while output.0.lock().unwrap().1 == 0 {
        tokio::task::yield_now().await;
    }
    {
        let (writes, flushes) = &*output.0.lock().unwrap();
        assert_eq!(writes.concat().iter().filter(|byte| **byte == b'\n').count(), 101);
        assert_eq!((writes.len(), *flushes), (1, 1));
    }
    more.write_all(crate::peer::PING.as_bytes()).await.unwrap();
    drop(more);
    server.await.unwrap();
    assert_eq!(output.0.lock().unwrap().0.len(), 2);
}

#[tokio::test]
async fn megabytes_in_both_directions_do_not_deadlock() {
    let arguments = vec![format!(r#"{{"text":"{}"}}"#, "x".repeat(3 << 20)); 3];
    let (here, there) = duplex(4096);
    let (input, output) = tokio::io::split(there);
    let server = tokio::spawn(serve(Pump::new(input, output), 0));
    let mut lines = initialize("2025-11-25", "{}");
    for (id, arguments) in (1..).zip(&arguments) {
        lines += &call(id, "echo", arguments);
    }
    let (mut input, mut output) = tokio::io::split(here);
    // A separate task writes all calls, and does not wait for responses.
    let writer = tokio::spawn(async move {
        output.write_all(lines.as_bytes()).await.unwrap();
        output.shutdown().await.unwrap();
    });
    let mut received = String::new();
    timeout(SOON, input.read_to_string(&mut received)).await.unwrap().unwrap();
    assert_eq!(received.lines().count(), 4);
    writer.await.unwrap();
    server.await.unwrap();
}

#[tokio::test]
async fn responses_are_sent_during_constant_input() {
    // A peer that sends notifications endlessly, and occasional pings.
    struct Chatter(usize);
    impl AsyncRead for Chatter {
        fn poll_read(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            space: &mut tokio::io::ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            const NOTE: &str = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/roots/list_changed\"}\n";
            self.0 += 1;
            let text = match self.0 {
                1 => initialize("2025-11-25", "{}"),
                n if n % 100 == 0 => crate::peer::PING.to_owned(),
                _ => NOTE.to_owned(),
            };
            space.put_slice(text.as_bytes());
            Poll::Ready(Ok(()))
        }
    }
    let output = Counted::default();
    let server = tokio::spawn(serve(Pump::new(Chatter(0), output.clone()), 0));
    let pongs = || {
        let text = String::from_utf8(output.0.lock().unwrap().0.concat()).unwrap();
        text.matches("\"result\":{}}").count()
    };
    // The runtime has one thread, so this loop runs only if the pump yields.
    let received = async {
        while pongs() < 10 {
            tokio::task::yield_now().await;
        }
    };
    timeout(SOON, received).await.unwrap();
    server.abort();
}

#[tokio::test(start_paused = true)]
async fn deadlines_expire_on_time_and_nothing_else_wakes() {
    let (here, there) = duplex(1024);
    let (input, output) = tokio::io::split(there);
    let server = tokio::spawn(serve(Pump::new(input, output), 0));
    let (mut input, mut output) = tokio::io::split(here);
    output.write_all((initialize("2025-11-25", "{}") + &call(1, "later", "{}")).as_bytes()).await.unwrap();
    let start = Instant::now();
    let mut received = Vec::new();
    while !String::from_utf8_lossy(&received).contains("the request timed out") {
        input.read_buf(&mut received).await.unwrap();
    }
    assert_eq!(start.elapsed(), Duration::from_millis(5000));
    // Nothing is in flight, so a day passes without a wake-up.
    sleep(Duration::from_secs(86_400)).await;
    drop((input, output));
    server.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn waker_returns_once_per_wake() {
    let (_here, there) = duplex(64);
    let (input, output) = tokio::io::split(there);
    let (mut pump, mut server) = (Pump::new(input, output), server());
    let waker = pump.waker();
    waker.wake();
    assert_eq!(pump.run(&mut server).await, PumpStatus::Woken);
    tokio::spawn(async move {
        sleep(Duration::from_secs(1)).await;
        waker.wake();
    });
    assert_eq!(pump.run(&mut server).await, PumpStatus::Woken);
    assert!(
        timeout(Duration::from_secs(1), pump.run(&mut server)).await.is_err(),
        "one wake-up counted twice"
    );
}

#[tokio::test]
async fn constant_wakes_do_not_starve_requests() {
    let (mut here, there) = duplex(1024);
    let (input, output) = tokio::io::split(there);
    let pumped = tokio::spawn(async move {
        let (mut pump, mut server) = (Pump::new(input, output), server());
        let waker = pump.waker();
        waker.wake();
        for count in 0.. {
            assert!(count < 1_000_000, "the pump never yields");
            match pump.run(&mut server).await {
                PumpStatus::Woken => waker.wake(),
                PumpStatus::Event => drop(server.event()),
                PumpStatus::Closed => return,
            }
        }
    });
    let mut received = [0; 40];
    for _ in 0..3 {
        here.write_all(crate::peer::PING.as_bytes()).await.unwrap();
        assert_ne!(timeout(SOON, here.read(&mut received)).await.unwrap().unwrap(), 0);
    }
    drop(here);
    timeout(SOON, pumped).await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn stuck_output_shutdown_is_abandoned() {
    struct Stuck;
    impl AsyncWrite for Stuck {
        fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
            Poll::Ready(Ok(bytes.len()))
        }
        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Pending
        }
        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Pending
        }
    }
    let input = io::Cursor::new(initialize("2025-11-25", "{}").into_bytes());
    timeout(Duration::from_secs(3), serve(Pump::new(input, Stuck), 0)).await.unwrap();
}

/// An output whose shutdown never completes.
struct NeverEnds<W>(W);

impl<W: AsyncWrite + Unpin> AsyncWrite for NeverEnds<W> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Pending
    }
}

#[tokio::test(start_paused = true)]
async fn stuck_output_shutdown_does_not_exceed_the_time_to_close() {
    let (here, there) = duplex(4096);
    let (input, output) = split(there);
    tokio::spawn(serve(Pump::new(input, output), 0));
    let (input, output) = split(here);
    let connector = Connector::new("test", "1").connect(Connect::Handshake);
    let client = connector.streams(input, NeverEnds(output)).await.unwrap();
    let start = Instant::now();
    client.close_within(Duration::from_millis(10)).await;
    assert!(start.elapsed() <= Duration::from_millis(10), "{:?}", start.elapsed());
}

/// The output of a client whose server closes its input at the second call, and then responds to the first call.
struct StopsReading {
    responses: Option<UnboundedSender<String>>,
    /// The id of the first call.
    first: Option<String>,
    received: UnboundedSender<()>,
}

impl AsyncWrite for StopsReading {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let Some(sender) = self.responses.clone() else {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        };
        let respond =
            |id: &str, result: &str| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}\n");
        let text = String::from_utf8_lossy(bytes);
        if text.contains("\"initialize\"") {
            let result = r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}"#;
            sender.send(respond("1", result)).unwrap();
        }
        let call = text.lines().find(|line| line.contains("tools/call"));
        let id = call.map(|line| line.split("\"id\":").nth(1).unwrap().split(',').next().unwrap().to_owned());
        if let (Some(first), Some(_)) = (&self.first, &id) {
            let response = respond(first, r#"{"content":[]}"#);
            self.responses = None;
            tokio::spawn(async move {
                sleep(Duration::from_millis(50)).await;
                sender.send(response).unwrap();
            });
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        if id.is_some() {
            self.first = id;
            self.received.send(()).unwrap();
        }
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[tokio::test(start_paused = true)]
async fn response_after_failed_write_is_still_received() {
    for ends in [true, false] {
        let (mut here, input) = duplex(4096);
        let (responses, mut messages) = unbounded_channel::<String>();
        tokio::spawn(async move {
            while let Some(message) = messages.recv().await {
                here.write_all(message.as_bytes()).await.unwrap();
            }
            if !ends {
                sleep(SOON).await;
            }
        });
        let (received, mut is_received) = unbounded_channel();
        let output = StopsReading { responses: Some(responses), first: None, received };
        let connector = Connector::new("test", "1").connect(Connect::Handshake);
        let client = connector.streams(input, output).await.unwrap();
        let first = client.begin_json("t", "{}", CallOptions::new()).unwrap();
        is_received.recv().await.unwrap();
        let start = Instant::now();
        assert_eq!(client.call_json("t", "{}").await, Err(CallError::Closed));
        assert!(first.await.is_ok(), "the response was sent before the end");
        assert!(start.elapsed() <= Duration::from_millis(300), "{:?}", start.elapsed());
    }
}
