//! Async pump: `Pump::wait`, full duplex over `embedded-io-async`, on any executor.

use core::future::{Future, pending, poll_fn};
use core::pin::{Pin, pin};
use core::task::Poll;

use embedded_io::{Error, ErrorKind};
use embedded_io_async::{Read, Write};
use mcp_proto::{Action, Machine, Millis};

use crate::pump::Pump;
use crate::status::{PumpStatus, accept_unsupported, filter_reportable, is_unflushed_after, reject_zero};

/// The clock and the timer of an async executor.
///
/// An implementation for embassy:
///
/// ```
/// # mod embassy_time {
/// #     pub struct Instant(u64);
/// #     impl Instant {
/// #         pub fn now() -> Instant { Instant(0) }
/// #         pub fn as_millis(&self) -> u64 { self.0 }
/// #         pub fn from_millis(millis: u64) -> Instant { Instant(millis) }
/// #     }
/// #     pub struct Timer;
/// #     impl Timer { pub async fn at(_: Instant) {} }
/// # }
/// use embassy_time::{Instant, Timer};
/// use mcp_proto::Millis;
///
/// struct Embassy;
///
/// impl mcp_proto_embedded::Timer for Embassy {
///     fn now(&mut self) -> Millis { Millis(Instant::now().as_millis()) }
///     async fn until(&mut self, at: Millis) { Timer::at(Instant::from_millis(at.0)).await }
/// }
/// ```
pub trait Timer {
    /// Returns the time since a fixed moment. This time never decreases.
    fn now(&mut self) -> Millis;

    /// Waits until `at`. The pump may drop the future before `at`.
    fn until(&mut self, at: Millis) -> impl Future<Output = ()>;
}

/// Maximum time between two attempts of a flush, after the pump has reported [`PumpStatus::NotWritten`].
const FLUSH_AGAIN: Millis = Millis(100);

impl Pump {
    /// Moves bytes in both directions until the caller has something to do.
    ///
    /// Never returns [`PumpStatus::Moved`] or [`PumpStatus::Idle`]. After the machine has closed, returns
    /// [`PumpStatus::Closed`] when the output is flushed, when the flush has failed, or after two seconds. A flush that
    /// times out has not failed: the pump repeats the flush.
    ///
    /// The future is cancel-safe if the driver's futures are cancel-safe, and may then be a branch of a `select`. The
    /// pump itself also drops pending futures of the driver. It drops a read, write or flush when the operation in the
    /// other direction completes, or when a deadline passes. Before the pump returns an event, it drops a flush that
    /// does not complete at once.
    ///
    /// The traits of `embedded-io-async` recommend cancel safety but do not require it. Pipes, sockets and drivers with
    /// a ring buffer are usually safe. A driver whose DMA uses the pump's buffers directly is not safe: when the pump
    /// drops its future, the driver loses bytes or sends them twice.
    pub async fn wait<R: Read, W: Write, T: Timer>(
        &mut self,
        machine: &mut dyn Machine,
        input: &mut R,
        output: &mut W,
        timer: &mut T,
    ) -> PumpStatus {
        loop {
            let now = timer.now();
            let io = match machine.poll(now) {
                Action::Event => {
                    self.begin_flush(output).await;
                    return PumpStatus::Event;
                }
                Action::Closed => {
                    if self.unflushed {
                        let until = self.closing(now);
                        flush_until(output, timer, until).await;
                    }
                    return self.closed();
                }
                Action::Io(io) => io,
            };
            let mut deadline = io.deadline();
            let (transmit, receive) = io.split();
            match self.feed(receive) {
                Some(PumpStatus::Moved) => continue,
                Some(step) => return step,
                None => {}
            }
            let bytes = self.output(&transmit);
            let flushes = bytes.is_empty() && self.unflushed;
            if flushes && self.flush_error.is_some() {
                deadline = deadline.into_iter().chain([now.plus(FLUSH_AGAIN)]).min();
            }
            let reads = self.wants_more();
            let write = write_or_flush(output, bytes, flushes, self.flush_error.is_some());
            let read = read_if(input, self.read_buffer(), reads);
            let (written, arrived) = first(pin!(write), pin!(read), pin!(sleep(timer, deadline))).await;
            if let Some(flushed) = written.filter(|_| flushes) {
                self.unflushed = is_unflushed_after(flushed);
            }
            let sent = written.and_then(|written| self.record_write(transmit, written));
            let arrived = arrived.and_then(|arrived| self.record_read(arrived.map(Some)));
            if let Some(step) = filter_reportable(arrived).or(filter_reportable(sent)) {
                if let PumpStatus::NotWritten(kind) = step {
                    self.flush_error = Some(kind);
                }
                return step;
            }
        }
    }

    /// Polls a flush of the written output once before an event, because the peer may wait for an earlier response
    /// while the caller handles the event.
    ///
    /// Does not wait until the flush completes, because the pump would not read in the meantime. If the peer reads only
    /// after the pump has read, neither side would continue.
    async fn begin_flush<W: Write>(&mut self, output: &mut W) {
        if self.unflushed {
            let mut flush = pin!(write_or_flush(output, b"", true, false));
            let flushed = poll_fn(|context| Poll::Ready(into_option(flush.as_mut().poll(context)))).await;
            self.unflushed = flushed.is_none_or(is_unflushed_after);
        }
    }
}

/// Waits until at least one of the three futures completes. Returns the results of `write` and `read`. The result of a
/// future that is not complete is `None`.
pub(crate) fn first<W, R>(
    mut write: Pin<&mut impl Future<Output = W>>,
    mut read: Pin<&mut impl Future<Output = R>>,
    mut wake: Pin<&mut impl Future<Output = ()>>,
) -> impl Future<Output = (Option<W>, Option<R>)> {
    poll_fn(move |context| {
        let written = into_option(write.as_mut().poll(context));
        let arrived = into_option(read.as_mut().poll(context));
        let is_woken = wake.as_mut().poll(context).is_ready();
        if written.is_none() && arrived.is_none() && !is_woken {
            return Poll::Pending;
        }
        Poll::Ready((written, arrived))
    })
}

pub(crate) fn into_option<T>(poll: Poll<T>) -> Option<T> {
    match poll {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

/// Writes `bytes`, and returns the number of written bytes. If `bytes` is empty and `flushes` is `true`, flushes the
/// output, and returns 0. If `bytes` is empty and `flushes` is `false`, never completes.
///
/// `has_failed` means that the pump has reported [`PumpStatus::NotWritten`] since the last successful write. If a flush
/// then fails with an error other than `TimedOut`, the future never completes. The pump drops the future, and repeats
/// the flush later. Without this rule, a task whose flushes always fail would never yield to the executor.
pub(crate) async fn write_or_flush<W: Write>(
    output: &mut W,
    bytes: &[u8],
    flushes: bool,
    has_failed: bool,
) -> Result<usize, ErrorKind> {
    if !bytes.is_empty() {
        return reject_zero(output.write(bytes).await.map_err(|error| error.kind()));
    }
    if !flushes {
        pending::<()>().await;
    }
    let flushed = accept_unsupported(output.flush().await.map_err(|error| error.kind()));
    if has_failed && flushed.is_err_and(|kind| kind != ErrorKind::TimedOut) {
        pending::<()>().await;
    }
    flushed.map(|()| 0)
}

/// Reads into `space`, and returns the number of bytes read. If `reads` is `false`, never completes.
pub(crate) async fn read_if<R: Read>(
    input: &mut R,
    space: &mut [u8],
    reads: bool,
) -> Result<usize, ErrorKind> {
    if !reads {
        pending::<()>().await;
    }
    input.read(space).await.map_err(|error| error.kind())
}

/// Flushes the last output of a connection, and repeats a flush that times out.
///
/// Returns at `until` at the latest, because a lost peer may never accept the output. If `until` has already passed,
/// polls the flush once.
pub(crate) async fn flush_until<W: Write, T: Timer>(output: &mut W, timer: &mut T, until: Millis) {
    loop {
        let has_timed_out = {
            let mut flush = pin!(output.flush());
            let mut sleep = pin!(timer.until(until));
            poll_fn(|context| match flush.as_mut().poll(context) {
                Poll::Ready(Err(error)) => Poll::Ready(error.kind() == ErrorKind::TimedOut),
                Poll::Ready(Ok(())) => Poll::Ready(false),
                Poll::Pending => sleep.as_mut().poll(context).map(|()| false),
            })
            .await
        };
        if !has_timed_out || timer.now() >= until {
            return;
        }
    }
}

pub(crate) async fn sleep<T: Timer>(timer: &mut T, deadline: Option<Millis>) {
    match deadline {
        Some(at) => timer.until(at).await,
        None => pending().await,
    }
}
