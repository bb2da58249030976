//! Async HTTP pump: `HttpPump::serve` in one task for each connection, over `embedded-io-async`, on any executor.

use core::cell::RefCell;
use core::future::poll_fn;
use core::mem;
use core::pin::pin;
use core::task::{Poll, Waker};

use embedded_io_async::{Read, Write};
use mcp_proto::{Millis, Server};
use mcp_proto_http::server::{HttpServer, Policy, RESPONSE_SPACE, Step};

use super::{HttpPump, HttpStatus, ignore_timeout};
use crate::asynch::{Timer, first, flush_until, read_if, sleep, write_or_flush};

/// Maximum number of bytes in one write.
const WRITE_SIZE: usize = 128;

/// The [`HttpServer`] and its core server, a [`Server`], which the tasks of all connections share on one executor.
///
/// `N` is the number of tasks: one for each connection, one that handles events, and each other task that calls
/// [`wait_for`](HttpShared::wait_for). A task that changes the servers wakes the other tasks. If more than `N` tasks
/// wait, they wake each other again and again, so the executor never sleeps.
///
/// ```
/// use embedded_io_async::{Read, Write};
/// use mcp_proto::server::Event;
/// use mcp_proto_embedded::{HttpPump, HttpShared, Timer};
/// use mcp_proto_http::server::Policy;
///
/// trait Socket: Read + Write {
///     async fn accept(&mut self);
///     async fn close(&mut self);
/// #   fn split(&mut self) -> (impl Read, impl Write);
/// }
///
/// /// The task of a connection.
/// async fn connection<P: Policy, const N: usize>(
///     shared: &HttpShared<'_, '_, P, N>,
///     pump: &mut HttpPump<'_>,
///     socket: &mut impl Socket,
///     timer: &mut impl Timer,
/// ) {
///     loop {
///         socket.accept().await;
///         let (mut input, mut output) = socket.split();
///         pump.serve(shared, &mut input, &mut output, timer).await;
///         drop((input, output));
///         socket.close().await;
/// #       if true { return }
///     }
/// }
///
/// /// The task that handles events.
/// async fn events<P: Policy, const N: usize>(shared: &HttpShared<'_, '_, P, N>, timer: &mut impl Timer) {
///     while shared.event(timer).await {
///         shared.with(|_, server| match server.event() {
///             Some(Event::Call(call)) => call.text("Hello!"),
///             _ => {}
///         });
///     }
/// }
/// ```
pub struct HttpShared<'a, 'b, P, const N: usize>(RefCell<Machines<'a, 'b, P, N>>);

struct Machines<'a, 'b, P, const N: usize> {
    http: &'a mut HttpServer<'b, P>,
    server: &'a mut Server<'b>,
    wakers: [Option<Waker>; N],
    /// Number of changes, wrapping. A woken future compares this number with the number at its last check. If the
    /// numbers are equal, no change has woken this future: futures that are joined in one task have the same waker.
    change: u32,
    /// Whether the core server was closed when [`advance`](HttpShared::advance) last polled it.
    is_closed: bool,
}

impl<P, const N: usize> Machines<'_, '_, P, N> {
    /// Counts a change, and wakes all tasks whose wakers are stored.
    fn wake(&mut self) {
        self.change = self.change.wrapping_add(1);
        self.wakers.iter_mut().filter_map(Option::take).for_each(Waker::wake);
    }

    /// Stores the waker of a task until the next [`wake`](Machines::wake).
    fn register(&mut self, waker: &Waker) {
        if self.wakers.iter().flatten().any(|known| known.will_wake(waker)) {
            return;
        }
        match self.wakers.iter_mut().find(|place| place.is_none()) {
            Some(place) => *place = Some(waker.clone()),
            // More than `N` tasks wait. A task whose waker is not stored would wait forever, so wake all tasks. They
            // check for changes, and store their wakers again.
            None => {
                self.wake();
                waker.wake_by_ref();
            }
        }
    }
}

impl<'a, 'b, P: Policy, const N: usize> HttpShared<'a, 'b, P, N> {
    /// Creates a value that the tasks share, from both servers.
    #[must_use]
    pub const fn new(http: &'a mut HttpServer<'b, P>, server: &'a mut Server<'b>) -> Self {
        HttpShared(RefCell::new(Machines {
            http,
            server,
            wakers: [const { None }; N],
            change: 0,
            is_closed: false,
        }))
    }

    /// Calls `act` with both servers, for example to handle an event or to answer a deferred call. Then wakes all
    /// tasks, and returns the result of `act`.
    ///
    /// Returns `None` without calling `act` if this call is made inside the function that was passed to `with` or
    /// [`wait_for`](HttpShared::wait_for).
    pub fn with<R>(&self, act: impl FnOnce(&mut HttpServer<'b, P>, &mut Server<'b>) -> R) -> Option<R> {
        let mut machines = self.0.try_borrow_mut().ok()?;
        let Machines { http, server, .. } = &mut *machines;
        let result = act(http, server);
        machines.wake();
        Some(result)
    }

    /// Waits until `check` returns a value, and returns this value.
    ///
    /// Calls `check` at once, and again after changes of the servers, such as new output of an exchange. A program with
    /// another HTTP library uses this method in place of [`HttpPump::serve`].
    pub async fn wait_for<R>(
        &self,
        mut check: impl FnMut(&HttpServer<'b, P>, &Server<'b>) -> Option<R>,
    ) -> R {
        poll_fn(|context| {
            if let Ok(machines) = self.0.try_borrow()
                && let Some(value) = check(machines.http, machines.server)
            {
                return Poll::Ready(value);
            }
            self.register(context.waker());
            Poll::Pending
        })
        .await
    }

    /// Waits until the core server has an event, and returns `true`. Returns `false` if the core server is closed.
    ///
    /// One task must call this method in a loop, because [`HttpPump::serve`] polls the servers only after the client
    /// has ended its output.
    pub async fn event<T: Timer>(&self, timer: &mut T) -> bool {
        loop {
            let deadline = match self.advance(timer.now()) {
                Ok(deadline) => deadline,
                Err(has_event) => return has_event,
            };
            let change = self.change();
            self.wait_for_change(change, sleep(timer, deadline)).await;
        }
    }

    /// Waits until the number of changes differs from `change`, or `sleep` completes.
    async fn wait_for_change(&self, change: u32, sleep: impl Future<Output = ()>) {
        let mut sleep = pin!(sleep);
        poll_fn(|context| {
            if self.change() != change || sleep.as_mut().poll(context).is_ready() {
                return Poll::Ready(());
            }
            self.register(context.waker());
            Poll::Pending
        })
        .await;
    }

    /// Returns whether the core server was closed at the last poll by [`event`](HttpShared::event) or
    /// [`HttpPump::serve`].
    ///
    /// Exchanges of a closed server get no further output. When the server closes, all tasks are woken. The function
    /// that is passed to [`wait_for`](HttpShared::wait_for) may call this method. Inside the function that is passed to
    /// [`with`](HttpShared::with), this method always returns `false`.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.0.try_borrow().is_ok_and(|machines| machines.is_closed)
    }

    /// Polls the servers until they wait. Returns their next deadline.
    ///
    /// # Errors
    /// `true`: the core server has an event. `false`: the core server is closed.
    fn advance(&self, now: Millis) -> Result<Option<Millis>, bool> {
        let Ok(mut machines) = self.0.try_borrow_mut() else { return Ok(None) };
        let Machines { http, server, .. } = &mut *machines;
        let mut has_output = false;
        let result = loop {
            match http.poll(server, now) {
                Step::Event => break Err(true),
                Step::Closed => break Err(false),
                Step::Output(_) => has_output = true,
                Step::Wait(deadline) => break Ok(deadline),
            }
        };
        let was_closed = mem::replace(&mut machines.is_closed, result == Err(false));
        if has_output || was_closed != machines.is_closed {
            machines.wake();
        }
        result
    }

    fn change(&self) -> u32 {
        self.0.try_borrow().map_or(0, |machines| machines.change)
    }

    fn register(&self, waker: &Waker) {
        match self.0.try_borrow_mut() {
            Ok(mut machines) => machines.register(waker),
            // The function that was passed to `with` or `wait_for` is running, and polls the future of this waker. The
            // waker cannot be stored now, so wake the task to poll the future again.
            Err(_) => waker.wake_by_ref(),
        }
    }
}

impl<P, const N: usize> core::fmt::Debug for HttpShared<'_, '_, P, N> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("HttpShared").finish_non_exhaustive()
    }
}

impl HttpPump<'_> {
    /// Serves one connection until it ends. The caller then closes the socket.
    ///
    /// Returns [`HttpStatus::Closing`] if the server ends the connection after a response. Otherwise returns
    /// [`HttpStatus::Closed`], also when the core server is closed and the output of the connection is written. After
    /// `Closing`, the caller should end the output of the socket, and then read and drop input for a short time before
    /// it closes the socket. Unread input could reset the connection, and the client could lose the response.
    ///
    /// Before this method returns `Closing`, it waits for the last flush, but at most until the deadline of `Closing`.
    /// Before this method returns `Closed`, it polls the last flush only once, because a lost client acknowledges
    /// nothing.
    ///
    /// The driver's futures must be cancel-safe: see [`Pump::wait`](crate::Pump::wait). The pump drops a pending future
    /// of the driver when the operation in the other direction completes, when a deadline passes, or when another task
    /// changes the servers.
    ///
    /// If the caller drops the future of this method, the next call continues with the same connection. If the next
    /// call is for another connection, the caller must first call [`new_connection`](HttpPump::new_connection).
    pub async fn serve<P: Policy, R: Read, W: Write, T: Timer, const N: usize>(
        &mut self,
        shared: &HttpShared<'_, '_, P, N>,
        input: &mut R,
        output: &mut W,
        timer: &mut T,
    ) -> HttpStatus {
        let status = loop {
            let mut bytes = [0; WRITE_SIZE];
            let length = self.fill(shared, &mut bytes, timer.now());
            let change = shared.change();
            let status = self.status(false);
            let HttpStatus::Idle(deadline) = status else { break status };
            if length == 0 && (shared.is_closed() || self.is_lost_in(shared, timer.now())) {
                break HttpStatus::Closed;
            }
            let flushes = length == 0 && self.is_unflushed;
            let reads = self.wants_more();
            // Input after a request stays buffered until the response to this request is written.
            let has_input = self.fed < self.filled && self.connection.takes_input();
            let write = write_or_flush(output, bytes.get(..length).unwrap_or_default(), flushes, false);
            let read = read_if(input, &mut self.read_buffer, reads);
            let wake = async {
                if !has_input {
                    shared.wait_for_change(change, sleep(timer, deadline)).await;
                }
            };
            let (written, arrived) = first(pin!(write), pin!(read), pin!(wake)).await;
            let now = timer.now();
            match written {
                Some(Err(kind)) if ignore_timeout(kind).is_err() => break HttpStatus::Closed,
                Some(Ok(_)) if flushes => self.is_unflushed = false,
                Some(Ok(n)) => {
                    self.is_unflushed = true;
                    shared.with(|http, _| self.connection.sent(http, n.min(length), now));
                }
                Some(Err(_)) | None => {}
            }
            let read = arrived.map_or(Ok(None), |arrived| arrived.map(Some));
            if read != Ok(None) || has_input {
                let received = shared.with(|http, server| self.receive(http, server, read, now));
                if let Some(Err(_)) = received {
                    break HttpStatus::Closed;
                }
            }
        };
        if self.is_unflushed {
            let until = match status {
                HttpStatus::Closing(Some(deadline)) => deadline,
                _ => timer.now(),
            };
            flush_until(output, timer, until).await;
        }
        shared.with(|http, _| self.new_connection(http));
        status
    }

    /// Like [`is_lost`](HttpPump::is_lost), but returns `false` while an event is pending, because its handler may
    /// complete the response.
    fn is_lost_in<P: Policy, const N: usize>(&self, shared: &HttpShared<'_, '_, P, N>, now: Millis) -> bool {
        self.has_ended
            && shared.advance(now) != Err(true)
            && shared.0.try_borrow().is_ok_and(|machines| self.is_lost(machines.http))
    }

    /// Copies the next output into `bytes`. Returns the number of copied bytes, which is 0 if there is no output.
    fn fill<P: Policy, const N: usize>(
        &mut self,
        shared: &HttpShared<'_, '_, P, N>,
        bytes: &mut [u8; WRITE_SIZE],
        now: Millis,
    ) -> usize {
        let Ok(mut machines) = shared.0.try_borrow_mut() else { return 0 };
        let mut space = [0; RESPONSE_SPACE];
        let output = self.connection.output(machines.http, &mut space, now);
        bytes.iter_mut().zip(output).map(|(place, byte)| *place = *byte).count()
    }
}
