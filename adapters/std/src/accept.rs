//! Accepts connections up to a limit, until a server is stopped.

use std::io;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use mcp_proto_handles::lock;

use crate::listen::Listener;
use crate::sync::{wait, wait_for};

/// Limit of open connections, and the switch that stops accepting. Clones share both.
#[derive(Clone)]
pub(crate) struct ConnectionLimit {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    limit: usize,
}

struct State {
    open: usize,
    is_closed: bool,
    /// Write end of the pipe whose read end the acceptor polls. Dropping the writer wakes the acceptor.
    #[cfg(unix)]
    close_pipe: Option<io::PipeWriter>,
}

impl ConnectionLimit {
    /// Creates a limit of `limit` connections. Zero counts as one.
    pub(crate) fn new(limit: usize) -> ConnectionLimit {
        let state = State {
            open: 0,
            is_closed: false,
            #[cfg(unix)]
            close_pipe: None,
        };
        let shared = Shared { state: Mutex::new(state), changed: Condvar::new(), limit: limit.max(1) };
        ConnectionLimit { shared: Arc::new(shared) }
    }

    /// Stops the acceptor, and ends the waits of all other methods.
    pub(crate) fn close(&self) {
        let mut state = lock(&self.shared.state);
        state.is_closed = true;
        #[cfg(unix)]
        drop(state.close_pipe.take());
        self.shared.changed.notify_all();
    }

    pub(crate) fn is_closed(&self) -> bool {
        lock(&self.shared.state).is_closed
    }

    /// Waits until the limit permits a connection. After [`close`](ConnectionLimit::close), returns a permit even if
    /// the limit is reached.
    pub(crate) fn acquire(&self) -> Permit {
        let mut state = lock(&self.shared.state);
        while state.open >= self.shared.limit && !state.is_closed {
            state = wait(&self.shared.changed, state);
        }
        state.open += 1;
        Permit(Arc::clone(&self.shared))
    }

    /// Waits for at most `time` until the limit permits a connection. Returns `None` if the limit still permits no
    /// connection, or if [`close`](ConnectionLimit::close) was called. The method can return `None` early, because
    /// another thread can take the permit first.
    #[cfg(feature = "http")]
    pub(crate) fn acquire_within(&self, time: Duration) -> Option<Permit> {
        let mut state = lock(&self.shared.state);
        if state.open >= self.shared.limit && !state.is_closed {
            state = wait_for(&self.shared.changed, state, time);
        }
        if state.open >= self.shared.limit || state.is_closed {
            return None;
        }
        state.open += 1;
        Some(Permit(Arc::clone(&self.shared)))
    }

    /// Waits until a connection ends or [`close`](ConnectionLimit::close) is called, but for at most `time`.
    pub(crate) fn pause(&self, time: Duration) {
        let state = lock(&self.shared.state);
        if !state.is_closed {
            drop(wait_for(&self.shared.changed, state, time));
        }
    }
}

/// A permit that counts as one open connection.
pub(crate) struct Permit(Arc<Shared>);

impl Drop for Permit {
    fn drop(&mut self) {
        lock(&self.0.state).open -= 1;
        self.0.changed.notify_all();
    }
}

/// A listener that accepts connections until [`ConnectionLimit::close`] is called.
pub(crate) struct Acceptor<L> {
    listener: L,
    connections: ConnectionLimit,
    #[cfg(unix)]
    close_pipe: io::PipeReader,
}

impl<L: Listener> Acceptor<L> {
    pub(crate) fn new(listener: L, connections: &ConnectionLimit) -> io::Result<Acceptor<L>> {
        listener.make_nonblocking()?;
        let connections = connections.clone();
        #[cfg(unix)]
        {
            let (close_pipe, writer) = io::pipe()?;
            lock(&connections.shared.state).close_pipe = Some(writer);
            Ok(Acceptor { listener, connections, close_pipe })
        }
        #[cfg(not(unix))]
        Ok(Acceptor { listener, connections })
    }

    /// Waits for a connection. Returns `None` after [`ConnectionLimit::close`].
    pub(crate) fn accept(&self) -> io::Result<Option<(L::Stream, L::Address)>> {
        loop {
            if self.connections.is_closed() {
                return Ok(None);
            }
            match self.listener.accept_stream() {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.wait()?,
                accepted => return accepted.map(Some),
            }
        }
    }

    #[cfg(unix)]
    fn wait(&self) -> io::Result<()> {
        use rustix::event::{PollFd, PollFlags, poll};
        let mut fds =
            [PollFd::new(&self.listener, PollFlags::IN), PollFd::new(&self.close_pipe, PollFlags::IN)];
        poll(&mut fds, None)?;
        Ok(())
    }

    /// Waits for a short interval, because the standard library cannot wait for a connection and for `close` at once.
    #[cfg(not(unix))]
    fn wait(&self) -> io::Result<()> {
        self.connections.pause(Duration::from_millis(20));
        Ok(())
    }
}
