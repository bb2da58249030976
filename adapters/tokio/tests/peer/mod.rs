//! A hand-written client, and a stream that moves single bytes.
#![allow(dead_code, reason = "each test uses some of these")]

#[path = "../../../handles/fixtures/messages.rs"]
mod messages;

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use mcp_proto::server::{Event, ServerConfig};
use mcp_proto_tokio::{Serve, ServeError, ServerHandle};
use tokio::io::{
    AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream, ReadBuf, ReadHalf,
    WriteHalf, duplex, split,
};
use tokio::task::JoinHandle;
use tokio::time::timeout;

pub(crate) use messages::*;

/// A time limit for each wait. With a paused clock, waits take no real time.
pub(crate) const SOON: Duration = Duration::from_secs(60);

pub(crate) type Served = JoinHandle<Result<(), ServeError>>;

pub(crate) struct Peer {
    pub(crate) output: WriteHalf<DuplexStream>,
    pub(crate) lines: BufReader<ReadHalf<DuplexStream>>,
}

impl Peer {
    /// Starts a server and returns its peer.
    pub(crate) fn start(
        serve: Serve<'static>,
        width: usize,
        handler: impl FnMut(Event<'_>, &ServerHandle) + Send + 'static,
    ) -> (Peer, Served) {
        let (here, there) = duplex(width);
        let server = tokio::spawn(serve.stream(there, handler));
        let (input, output) = split(here);
        (Peer { output, lines: BufReader::new(input) }, server)
    }

    /// Starts a server and completes the handshake as a client with this revision and these capabilities.
    pub(crate) async fn connect(
        info: &'static ServerConfig<'static>,
        workers: usize,
        (revision, capabilities): (&str, &str),
        handler: impl FnMut(Event<'_>, &ServerHandle) + Send + 'static,
    ) -> (Peer, Served) {
        let (mut peer, server) =
            Peer::start(Serve::new(info).workers(workers).waiting(0), 64 * 1024, handler);
        peer.send(&initialize(revision, capabilities)).await;
        assert!(peer.line().await.contains("protocolVersion"));
        (peer, server)
    }

    pub(crate) async fn send(&mut self, text: &str) {
        timeout(SOON, self.output.write_all(text.as_bytes())).await.unwrap().unwrap();
    }

    pub(crate) async fn line(&mut self) -> String {
        let mut line = String::new();
        timeout(SOON, self.lines.read_line(&mut line)).await.unwrap().unwrap();
        line
    }

    /// Closes the connection and waits for the end of the server.
    pub(crate) async fn end(self, server: Served) {
        drop(self);
        timeout(SOON, server).await.unwrap().unwrap().unwrap();
    }
}

/// A stream that moves one byte at a time and is pending before each byte.
pub(crate) struct Trickle<S> {
    pub(crate) stream: S,
    ready: [bool; 3],
}

impl<S> Trickle<S> {
    pub(crate) fn new(stream: S) -> Trickle<S> {
        Trickle { stream, ready: [false; 3] }
    }

    fn is_ready(&mut self, direction: usize, context: &mut Context<'_>) -> bool {
        self.ready[direction] = !self.ready[direction];
        if self.ready[direction] {
            context.waker().wake_by_ref();
        }
        !self.ready[direction]
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Trickle<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        space: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.is_ready(0, context) {
            return Poll::Pending;
        }
        let mut byte = [0];
        let mut one = ReadBuf::new(&mut byte);
        let read = Pin::new(&mut self.stream).poll_read(context, &mut one);
        space.put_slice(one.filled());
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Trickle<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if !self.is_ready(1, context) {
            return Poll::Pending;
        }
        Pin::new(&mut self.stream).poll_write(context, &bytes[..1])
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.is_ready(2, context) {
            return Poll::Pending;
        }
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
