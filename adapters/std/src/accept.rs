//! Waiting for connections, for a place for one more of them, and for the end, all at once.

use std::io;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use mcp_proto_handles::lock;

use crate::listen::Listener;
use crate::sync::{wait, wait_for};

/// How many connections there are, and whether more may come. Clones are the same one.
#[derive(Clone)]
pub(crate) struct Gate {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    limit: usize,
}

struct State {
    open: usize,
    closed: bool,
    /// The door sees its other end, and that this one is gone.
    #[cfg(unix)]
    bell: Option<io::PipeWriter>,
}

impl Gate {
    /// For so many connections at once; for one at least.
    pub(crate) fn new(limit: usize) -> Gate {
        let state = State {
            open: 0,
            closed: false,
            #[cfg(unix)]
            bell: None,
        };
        let shared = Shared { state: Mutex::new(state), changed: Condvar::new(), limit: limit.max(1) };
        Gate { shared: Arc::new(shared) }
    }

    /// No more connections.
    pub(crate) fn close(&self) {
        let mut state = lock(&self.shared.state);
        state.closed = true;
        #[cfg(unix)]
        drop(state.bell.take());
        self.shared.changed.notify_all();
    }

    fn is_closed(&self) -> bool {
        lock(&self.shared.state).closed
    }

    /// Waits for a place for one more, or until it is closed.
    pub(crate) fn place(&self) -> Place {
        let mut state = lock(&self.shared.state);
        while state.open >= self.shared.limit && !state.closed {
            state = wait(&self.shared.changed, state);
        }
        state.open += 1;
        Place(Arc::clone(&self.shared))
    }

    /// Waits a while, or until it is closed.
    pub(crate) fn wait(&self, time: Duration) {
        let state = lock(&self.shared.state);
        if !state.closed {
            drop(wait_for(&self.shared.changed, state, time));
        }
    }
}

/// The right to be a connection.
pub(crate) struct Place(Arc<Shared>);

impl Drop for Place {
    fn drop(&mut self) {
        lock(&self.0.state).open -= 1;
        self.0.changed.notify_all();
    }
}

/// A listener behind a gate.
pub(crate) struct InputSink<L> {
    listener: L,
    gate: Gate,
    #[cfg(unix)]
    bell: io::PipeReader,
}

/// What comes next.
pub(crate) enum Next<S> {
    Stream(S),
    Closed,
}

impl<L: Listener> InputSink<L> {
    pub(crate) fn new(listener: L, gate: &Gate) -> io::Result<InputSink<L>> {
        listener.do_not_wait()?;
        let gate = gate.clone();
        #[cfg(unix)]
        {
            let (bell, ours) = io::pipe()?;
            lock(&gate.shared.state).bell = Some(ours);
            Ok(InputSink { listener, gate, bell })
        }
        #[cfg(not(unix))]
        Ok(InputSink { listener, gate })
    }

    /// Waits for a connection, or until the gate is closed.
    pub(crate) fn next(&self) -> io::Result<Next<L::Stream>> {
        loop {
            if self.gate.is_closed() {
                return Ok(Next::Closed);
            }
            match self.listener.take() {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.wait()?,
                stream => return stream.map(Next::Stream),
            }
        }
    }

    #[cfg(unix)]
    fn wait(&self) -> io::Result<()> {
        use rustix::event::{PollFd, PollFlags, poll};
        let mut fds = [PollFd::new(&self.listener, PollFlags::IN), PollFd::new(&self.bell, PollFlags::IN)];
        poll(&mut fds, None)?;
        Ok(())
    }

    /// The standard library cannot wait for two things at once.
    #[cfg(not(unix))]
    fn wait(&self) -> io::Result<()> {
        self.gate.wait(Duration::from_millis(20));
        Ok(())
    }
}
