//! A client with the protocol written by hand, at the other end of a stream; and streams that are hard to deal with.
#![allow(dead_code, reason = "each test uses what it needs")]

#[path = "../../../handles/fixtures/lines.rs"]
mod lines;

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

pub(crate) use lines::*;

/// Longer than anything here takes. Where the clock is paused, it costs nothing.
pub(crate) const SOON: Duration = Duration::from_secs(60);

pub(crate) type Served = JoinHandle<Result<(), ServeError>>;

pub(crate) struct Peer {
    pub(crate) output: WriteHalf<DuplexStream>,
    pub(crate) lines: BufReader<ReadHalf<DuplexStream>>,
}

impl Peer {
    /// The other end of a server that has just begun.
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

    /// A session with a client that has these capabilities.
    pub(crate) async fn connect(
        info: &'static ServerConfig<'static>,
        workers: usize,
        (revision, capabilities): (&str, &str),
        handler: impl FnMut(Event<'_>, &ServerHandle) + Send + 'static,
    ) -> (Peer, Served) {
        let (mut peer, server) = Peer::start(Serve::new(info).workers(workers), 64 * 1024, handler);
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

    /// Hangs up, and waits for the server to end.
    pub(crate) async fn end(self, server: Served) {
        drop(self);
        timeout(SOON, server).await.unwrap().unwrap().unwrap();
    }
}

/// A stream that moves one byte at a time, and is not ready before each of them.
pub(crate) struct Drops<S> {
    pub(crate) stream: S,
    ready: [bool; 3],
}

impl<S> Drops<S> {
    pub(crate) fn new(stream: S) -> Drops<S> {
        Drops { stream, ready: [false; 3] }
    }

    fn is_ready(&mut self, direction: usize, context: &mut Context<'_>) -> bool {
        self.ready[direction] = !self.ready[direction];
        if self.ready[direction] {
            context.waker().wake_by_ref();
        }
        !self.ready[direction]
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Drops<S> {
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

impl<S: AsyncWrite + Unpin> AsyncWrite for Drops<S> {
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
