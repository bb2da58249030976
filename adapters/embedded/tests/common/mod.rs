//! A simulated UART with scripted input and recorded output, a clock, and an application.
#![allow(dead_code, reason = "every test uses a part of it")]

use std::cell::Cell;
use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use embedded_io::{ErrorKind, ErrorType, Read, ReadReady, Write, WriteReady};
use mcp_proto::server::{Event, ServerConfig, Slot, Tool, Tools};
use mcp_proto::{Millis, ProtocolError, Server, Ticket};
use mcp_proto_embedded::{PumpStatus, Timer};

/// An entry of the script of a [`Uart`]: what its next reads return.
#[derive(Debug, Clone)]
pub(crate) enum On {
    Bytes(Vec<u8>),
    /// One read finds no bytes.
    Quiet,
    Error(ErrorKind),
    End,
}

/// A UART whose driver moves at most `reads` bytes per read, and `writes` bytes per write.
pub(crate) struct Uart {
    pub(crate) script: VecDeque<On>,
    pub(crate) sent: Vec<u8>,
    pub(crate) reads: usize,
    pub(crate) writes: usize,
    /// Whether every second `write_ready` returns `false`.
    pub(crate) alternates: bool,
    pub(crate) is_refusing: bool,
    /// Errors of the next writes.
    pub(crate) write_errors: VecDeque<ErrorKind>,
    /// Errors of the next flushes.
    pub(crate) flush_errors: VecDeque<ErrorKind>,
    pub(crate) flushed: usize,
    /// The length of the largest write.
    pub(crate) largest: usize,
}

impl Uart {
    pub(crate) fn new(script: impl IntoIterator<Item = On>) -> Uart {
        Uart {
            script: script.into_iter().collect(),
            sent: Vec::new(),
            reads: usize::MAX,
            writes: usize::MAX,
            alternates: false,
            is_refusing: false,
            write_errors: VecDeque::new(),
            flush_errors: VecDeque::new(),
            flushed: 0,
            largest: 0,
        }
    }

    pub(crate) fn text(bytes: &str) -> Uart {
        Uart::new([On::Bytes(bytes.into())])
    }

    pub(crate) fn sent(&self) -> String {
        String::from_utf8(self.sent.clone()).unwrap()
    }
}

impl ErrorType for Uart {
    type Error = ErrorKind;
}

impl ReadReady for Uart {
    fn read_ready(&mut self) -> Result<bool, ErrorKind> {
        match self.script.front() {
            Some(On::Quiet) => {
                self.script.pop_front();
                Ok(false)
            }
            None => Ok(false),
            Some(_) => Ok(true),
        }
    }
}

impl Read for Uart {
    fn read(&mut self, space: &mut [u8]) -> Result<usize, ErrorKind> {
        assert!(!space.is_empty(), "the pump reads into an empty slice");
        match self.script.front_mut() {
            Some(On::Bytes(bytes)) => {
                let n = bytes.len().min(space.len()).min(self.reads);
                space[..n].copy_from_slice(&bytes[..n]);
                bytes.drain(..n);
                if bytes.is_empty() {
                    self.script.pop_front();
                }
                Ok(n)
            }
            Some(On::Error(kind)) => {
                let kind = *kind;
                self.script.pop_front();
                Err(kind)
            }
            Some(On::End) => Ok(0),
            Some(On::Quiet) => {
                self.script.pop_front();
                Err(ErrorKind::TimedOut)
            }
            None => Err(ErrorKind::TimedOut),
        }
    }
}

impl WriteReady for Uart {
    fn write_ready(&mut self) -> Result<bool, ErrorKind> {
        self.is_refusing = self.alternates && !self.is_refusing;
        Ok(!self.is_refusing)
    }
}

impl Write for Uart {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, ErrorKind> {
        assert!(!bytes.is_empty(), "the pump writes an empty slice");
        if let Some(kind) = self.write_errors.pop_front() {
            return Err(kind);
        }
        self.largest = self.largest.max(bytes.len());
        let n = bytes.len().min(self.writes);
        self.sent.extend_from_slice(&bytes[..n]);
        Ok(n)
    }

    fn flush(&mut self) -> Result<(), ErrorKind> {
        self.flush_errors.pop_front().map_or(Ok(()), Err)?;
        self.flushed = self.sent.len();
        Ok(())
    }
}

pub(crate) static TOOLS: Tools = Tools::new(&[Tool::new("hello", "{}"), Tool::new("slow", "{}")]);
pub(crate) static CONFIG: ServerConfig = ServerConfig::new("board", "1.0.0").features(&[&TOOLS]);

/// A session mark. A pump with session marks, such as each `FramedPump`, sends it first.
pub(crate) const MARK: &str = "\n\u{4}\u{4}\u{4}\u{4}\n";
pub(crate) const INITIALIZE: &str = concat!(
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"#,
    r#""clientInfo":{"name":"c","version":"1"}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    "\n"
);
pub(crate) const WELCOME: &str = concat!(
    r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"#,
    r#""serverInfo":{"name":"board","version":"1.0.0"}}}"#,
    "\n"
);

pub(crate) fn ping(id: u32) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n")
}

pub(crate) fn pong(id: u32) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}\n")
}

pub(crate) fn call(id: u32, tool: &str) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"{tool}\"}}}}\n"
    )
}

pub(crate) fn answer(id: u32, text: &str) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}}}\n"
    )
}

/// An application with two tools. The application records calls, protocol errors, and statuses other than `Event`,
/// `Moved` and `Idle`.
#[derive(Default)]
pub(crate) struct App {
    pub(crate) slow: Option<Ticket>,
    pub(crate) calls: Vec<String>,
    pub(crate) faults: Vec<ProtocolError>,
    pub(crate) steps: Vec<PumpStatus>,
    pub(crate) now: u64,
}

impl App {
    /// Handles a pump status. Returns `false` if the connection is closed or the pump is idle.
    pub(crate) fn handle(&mut self, step: PumpStatus, server: &mut Server<'_>) -> bool {
        match step {
            PumpStatus::Event => self.event(server),
            PumpStatus::Moved => {}
            PumpStatus::Idle(_) => return false,
            PumpStatus::NewSession => {
                server.reset();
                self.slow = None;
                self.steps.push(step);
            }
            step => {
                self.steps.push(step);
                return step != PumpStatus::Closed;
            }
        }
        true
    }

    fn event(&mut self, server: &mut Server<'_>) {
        match server.event() {
            Some(Event::Call(call)) => {
                self.calls.push(call.name().to_string());
                match call.name() {
                    "slow" => match call.defer(None) {
                        Ok(ticket) => self.slow = Some(ticket),
                        Err(call) => call.busy(),
                    },
                    _ => call.text("Hello!"),
                }
            }
            Some(Event::ProtocolError(fault)) => self.faults.push(fault),
            _ => {}
        }
    }

    pub(crate) fn now(&self) -> Millis {
        Millis(self.now)
    }
}

/// Calls `run` with a server on buffers of these sizes.
pub(crate) fn with_server<T>(rx: usize, tx: usize, run: impl FnOnce(&mut Server<'_>) -> T) -> T {
    let (mut rx, mut tx) = (vec![0; rx], vec![0; tx]);
    let (mut slots, mut text) = ([Slot::EMPTY; 2], [0; 256]);
    let server = Server::new(&CONFIG, &mut rx[..], &mut tx[..]).unwrap();
    run(&mut server.in_flight(&mut slots, &mut text).unwrap())
}

/// A clock that the test sets.
#[derive(Clone, Copy)]
pub(crate) struct TestClock<'c>(pub(crate) &'c Cell<u64>);

impl Timer for TestClock<'_> {
    fn now(&mut self) -> Millis {
        Millis(self.0.get())
    }

    async fn until(&mut self, at: Millis) {
        poll_fn(|_| if self.0.get() >= at.0 { Poll::Ready(()) } else { Poll::Pending }).await;
    }
}

/// Polls a future at most `times` times. Returns `None` if the future is still pending. In both cases, the future is
/// then dropped, unless the caller has passed only a pinned reference.
pub(crate) fn poll<T>(future: impl Future<Output = T>, times: u32) -> Option<T> {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    (0..times).find_map(|_| match future.as_mut().poll(&mut context) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    })
}
