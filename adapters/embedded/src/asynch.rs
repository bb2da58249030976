//! Async links: full duplex on any executor.

use core::future::{Future, pending, poll_fn};
use core::pin::pin;
use core::task::Poll;

use embedded_io::{Error, ErrorKind};
use embedded_io_async::{Read, Write};
use mcp_proto::{Action, Machine, Millis};

use crate::pump::Pump;
use crate::status::{PumpStatus, told, whole};

/// The clock of an executor.
///
/// For embassy it is this:
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
    /// The time since any moment, by a clock that never runs backwards.
    fn now(&mut self) -> Millis;

    /// Waits until that time. It may be dropped before.
    fn until(&mut self, at: Millis) -> impl Future<Output = ()>;
}

impl Pump {
    /// Moves bytes in both directions until there is something to do for the host: never [`PumpStatus::Moved`] or
    /// [`PumpStatus::Idle`].
    ///
    /// The future may be dropped whenever one likes, so it can stand in a `select` beside other work. Nothing is lost by
    /// that as long as the futures of the driver may be dropped as well. It drops them itself when the other direction
    /// has moved, or time has passed. The traits of `embedded-io-async` ask for that, but do not insist: a driver that
    /// reads or writes by DMA straight from what it is lent loses bytes, or sends them twice. Drivers with a ring
    /// buffer, pipes and sockets do not.
    pub async fn wait<R: Read, W: Write, T: Timer>(
        &mut self,
        machine: &mut dyn Machine,
        input: &mut R,
        output: &mut W,
        timer: &mut T,
    ) -> PumpStatus {
        loop {
            let io = match machine.poll(timer.now()) {
                Action::Event => return PumpStatus::Event,
                Action::Closed => {
                    if core::mem::take(&mut self.unflushed) {
                        _ = output.flush().await;
                    }
                    return self.closed();
                }
                Action::Io(io) => io,
            };
            let deadline = io.deadline();
            let (transmit, receive) = io.split();
            match self.feed(receive) {
                Some(PumpStatus::Moved) => continue,
                Some(step) => return step,
                None => {}
            }
            let bytes = self.output(&transmit);
            let flushes = bytes.is_empty() && self.unflushed;
            let reads = self.wants_more();
            let (written, arrived) = {
                let mut write = pin!(put(output, bytes, flushes));
                let mut read = pin!(get(input, self.chunk(), reads));
                let mut sleep = pin!(sleep(timer, deadline));
                poll_fn(|context| {
                    let written = ready(write.as_mut().poll(context));
                    let arrived = ready(read.as_mut().poll(context));
                    let is_due = sleep.as_mut().poll(context).is_ready();
                    if written.is_none() && arrived.is_none() && !is_due {
                        return Poll::Pending;
                    }
                    Poll::Ready((written, arrived))
                })
                .await
            };
            self.unflushed &= !(flushes && written.is_some());
            let sent = written.and_then(|written| self.sent(transmit, written));
            let arrived = arrived.and_then(|arrived| self.arrived(arrived.map(Some)));
            if let Some(step) = told(arrived).or(told(sent)) {
                return step;
            }
        }
    }
}

fn ready<T>(poll: Poll<T>) -> Option<T> {
    match poll {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

/// Writes, or flushes, or waits for ever.
async fn put<W: Write>(output: &mut W, bytes: &[u8], flushes: bool) -> Result<usize, ErrorKind> {
    if !bytes.is_empty() {
        return whole(output.write(bytes).await.map_err(|error| error.kind()));
    }
    if !flushes {
        pending::<()>().await;
    }
    output.flush().await.map(|()| 0).map_err(|error| error.kind())
}

async fn get<R: Read>(input: &mut R, space: &mut [u8], reads: bool) -> Result<usize, ErrorKind> {
    if !reads {
        pending::<()>().await;
    }
    input.read(space).await.map_err(|error| error.kind())
}

async fn sleep<T: Timer>(timer: &mut T, deadline: Option<Millis>) {
    match deadline {
        Some(at) => timer.until(at).await,
        None => pending().await,
    }
}
