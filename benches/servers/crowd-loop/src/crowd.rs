//! Connections of one thread: each has a socket, a machine and a deadline.

use std::collections::BTreeSet;
use std::io::{self, ErrorKind::WouldBlock, Read, Write};
use std::time::Duration;

use mcp_proto::{Action, Buffer, Clock, Millis, Server};
use mio::net::{UnixListener, UnixStream};
use mio::{Events, Interest, Poll, Token};

use crate::echo;

const MAX_LINE_LENGTH: usize = 8 << 20;
const LISTENER: Token = Token(usize::MAX);

pub(crate) struct Crowd {
    poll: Poll,
    events: Events,
    listener: UnixListener,
    clock: Clock,
    /// The token of a connection is its index. `None` marks a closed connection.
    connections: Vec<Option<Connection>>,
    /// The deadline and the index of each connection with a deadline.
    deadlines: BTreeSet<(Millis, usize)>,
}

struct Connection {
    server: Server<'static>,
    socket: UnixStream,
    deadline: Option<Millis>,
}

impl Crowd {
    pub(crate) fn bind(path: &str) -> io::Result<Crowd> {
        let (poll, mut listener) = (Poll::new()?, UnixListener::bind(path)?);
        poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
        Ok(Crowd {
            poll,
            events: Events::with_capacity(1024),
            listener,
            clock: Clock::start(),
            connections: Vec::new(),
            deadlines: BTreeSet::new(),
        })
    }

    /// Waits for sockets, for at most `time`. If `time` is `None`, waits at most until the first deadline. Then runs
    /// the connections that are ready or due.
    pub(crate) fn wait(&mut self, time: Option<Duration>) -> io::Result<()> {
        let due = self.deadlines.first().map(|(at, _)| Duration::from(at.since(self.clock.now())));
        self.poll.poll(&mut self.events, time.or(due))?;
        let now = self.clock.now();
        let ready: Vec<_> = self.events.iter().map(|event| event.token()).collect();
        for token in ready {
            if token == LISTENER { self.accept(now)? } else { self.run(token.0, now) }
        }
        while let Some((at, index)) = self.deadlines.first().copied()
            && at <= now
        {
            self.run(index, now);
        }
        Ok(())
    }

    /// Runs every connection, whether its socket is ready or not.
    pub(crate) fn run_all(&mut self) {
        let now = self.clock.now();
        (0..self.connections.len()).for_each(|index| self.run(index, now));
    }

    /// Polls every machine, and touches no socket. Panics if a machine has an event, is closed, or has an expired
    /// deadline.
    pub(crate) fn poll_all(&mut self) {
        let now = self.clock.now();
        for connection in self.connections.iter_mut().flatten() {
            let Action::Io(io) = connection.server.poll(now) else { panic!("an idle machine has no event") };
            assert!(io.deadline().is_none_or(|at| at > now));
        }
    }

    fn accept(&mut self, now: Millis) -> io::Result<()> {
        loop {
            let mut socket = match self.listener.accept() {
                Err(error) if error.kind() == WouldBlock => return Ok(()),
                accepted => accepted?.0,
            };
            let index = self.connections.len();
            // Edge triggered: the loop wakes when a socket becomes ready, and runs until the socket would block.
            let interest = Interest::READABLE | Interest::WRITABLE;
            self.poll.registry().register(&mut socket, Token(index), interest)?;
            let server =
                Server::new(&echo::CONFIG, Buffer::grown(MAX_LINE_LENGTH), Buffer::grown(MAX_LINE_LENGTH))
                    .map_err(io::Error::other)?;
            self.connections.push(Some(Connection { server, socket, deadline: None }));
            self.run(index, now);
        }
    }

    /// Runs a connection until its socket would block, and records its deadline.
    fn run(&mut self, index: usize, now: Millis) {
        let Some(connection) = &mut self.connections[index] else { return };
        let deadline = connection.run(now);
        let old = connection.deadline;
        if deadline == Some(old) {
            return;
        }
        if let Some(at) = old {
            self.deadlines.remove(&(at, index));
        }
        match deadline {
            Some(at) => {
                connection.deadline = at;
                self.deadlines.extend(at.map(|at| (at, index)));
            }
            None => self.connections[index] = None,
        }
    }
}

impl Connection {
    /// Moves bytes until the socket would block. Returns the deadline, or `None` if the connection is closed.
    fn run(&mut self, now: Millis) -> Option<Option<Millis>> {
        loop {
            let io = match self.server.poll(now) {
                Action::Io(io) => io,
                Action::Closed => return None,
                Action::Event => {
                    if let Some(event) = self.server.event() {
                        echo::handle(event);
                    }
                    continue;
                }
            };
            let deadline = io.deadline();
            let (out, mut input) = io.split();
            let mut has_moved = false;
            if !out.bytes().is_empty() {
                let written = self.socket.write(out.bytes());
                has_moved |= !would_block(&written);
                match written {
                    Ok(n) => out.sent(n),
                    Err(error) if error.kind() == WouldBlock => {}
                    Err(_) => out.broken(),
                }
            }
            if input.is_ready() {
                let read = self.socket.read(input.space());
                has_moved |= !would_block(&read);
                match read {
                    Ok(n @ 1..) => input.filled(n),
                    Err(error) if error.kind() == WouldBlock => {}
                    _ => input.eof(),
                }
            }
            if !has_moved {
                return Some(deadline);
            }
        }
    }
}

fn would_block(result: &io::Result<usize>) -> bool {
    matches!(result, Err(error) if error.kind() == WouldBlock)
}
