//! A client with the protocol written by hand, at the other end of a socket.
#![allow(dead_code, reason = "no test needs all of it")]

#[path = "../../../handles/fixtures/lines.rs"]
mod lines;

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use mcp_proto::server::{Event, ServerConfig};
use mcp_proto_std::{Serve, ServerHandle};

pub(crate) use lines::*;

pub(crate) struct Peer {
    pub(crate) stream: UnixStream,
    lines: BufReader<UnixStream>,
}

impl Peer {
    /// A session with a client that has these capabilities.
    pub(crate) fn connect(
        info: &'static ServerConfig<'static>,
        workers: usize,
        client: (&str, &str),
        handler: impl FnMut(Event<'_>, &ServerHandle) + Send + 'static,
    ) -> (Peer, JoinHandle<()>) {
        Peer::from_config(Serve::new(info).workers(workers).waiting(0), client, handler)
    }

    /// A session of this server.
    pub(crate) fn from_config(
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
