//! A hand-written client of a server, over a socket.
#![allow(dead_code, reason = "each test uses some of these")]

#[path = "../../../handles/fixtures/messages.rs"]
mod messages;

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use mcp_proto::server::{Event, ServerConfig};
use mcp_proto_std::{Serve, ServerHandle};

pub(crate) use messages::*;

pub(crate) struct Peer {
    pub(crate) stream: UnixStream,
    lines: BufReader<UnixStream>,
}

impl Peer {
    /// Starts a server, and completes the handshake. `client` is the revision and the capabilities.
    pub(crate) fn connect(
        info: &'static ServerConfig<'static>,
        workers: usize,
        client: (&str, &str),
        handler: impl FnMut(Event<'_>, &ServerHandle) + Send + 'static,
    ) -> (Peer, JoinHandle<()>) {
        Peer::with_server(Serve::new(info).workers(workers).waiting(0), client, handler)
    }

    /// Starts this server, and completes the handshake with the revision and the capabilities of a client.
    pub(crate) fn with_server(
        serve: Serve<'static>,
        (revision, capabilities): (&str, &str),
        handler: impl FnMut(Event<'_>, &ServerHandle) + Send + 'static,
    ) -> (Peer, JoinHandle<()>) {
        let (here, there) = UnixStream::pair().unwrap();
        let server = thread::spawn(move || serve.stream(there, handler).unwrap());
        here.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let mut peer = Peer { lines: BufReader::new(here.try_clone().unwrap()), stream: here };
        peer.send(&initialize(revision, capabilities));
        assert!(peer.line().contains("protocolVersion"));
        (peer, server)
    }

    pub(crate) fn send(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).unwrap();
    }

    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        line
    }
}
