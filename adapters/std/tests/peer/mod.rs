//! A client with the protocol written by hand, at the other end of a socket.
#![allow(dead_code, reason = "no test needs all of it")]

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use mcp_proto::server::{Event, ServerInfo};
use mcp_proto_std::{Serve, ServerHandle};

pub(crate) struct Peer {
    pub(crate) stream: UnixStream,
    lines: BufReader<UnixStream>,
}

impl Peer {
    /// A session with a client that has these capabilities.
    pub(crate) fn connect(
        info: &'static ServerInfo<'static>,
        workers: usize,
        client: (&str, &str),
        handler: impl FnMut(Event<'_>, &ServerHandle) + Send + 'static,
    ) -> (Peer, JoinHandle<()>) {
        Peer::of(Serve::new(info).workers(workers).waiting(0), client, handler)
    }

    /// A session of this server.
    pub(crate) fn of(
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

pub(crate) fn initialize(revision: &str, capabilities: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{revision}","capabilities":{capabilities},"clientInfo":{{"name":"c","version":"1"}}}}}}"#
    ) + "\n{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"
}

pub(crate) fn call(id: u32, tool: &str, arguments: &str) -> String {
    let token = format!(r#""_meta":{{"progressToken":{id}}}"#);
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{{token},"name":"{tool}","arguments":{arguments}}}}}"#
    ) + "\n"
}

/// A call of the stateless era.
pub(crate) fn stateless_call(id: u32, tool: &str, arguments: &str) -> String {
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{{meta},"name":"{tool}","arguments":{arguments}}}}}"#
    ) + "\n"
}
