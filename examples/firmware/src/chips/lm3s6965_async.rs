//! Async driver for the LM3S6965, with interrupts as wakers.
//!
//! The driver has no `async fn`, because each `async fn` contains a panic for a poll after completion.

use core::future::poll_fn;
use core::sync::atomic::{AtomicU32, Ordering};
use core::task::Poll;

use embassy_sync::waitqueue::AtomicWaker;
use embedded_io::ErrorKind;
use embedded_io_async::{ErrorType, Read, Write};
use mcp_proto::Millis;
use mcp_proto_embedded::Timer;

use super::lm3s6965_interrupts as chip;
use super::ticks::{self, Ticks};

/// The waker of the only task. The task waits for the UART, the clock, or both.
static TASK: AtomicWaker = AtomicWaker::new();
/// Milliseconds until the clock wakes the task; 0 without a timer.
static LEFT: AtomicU32 = AtomicU32::new(0);

/// Handles the interrupt of the clock.
pub fn tick() {
    ticks::tick();
    match LEFT.load(Ordering::Relaxed) {
        0 => {}
        left => {
            LEFT.store(left - 1, Ordering::Relaxed);
            if left == 1 {
                TASK.wake();
            }
        }
    }
}

/// Handles the interrupt of the UART.
pub fn uart() {
    chip::uart();
    TASK.wake();
}

/// The receiving half of the UART.
pub struct Receiver(());
/// The transmitting half of the UART.
pub struct Transmitter(());
/// The clock: time since the start.
#[derive(Clone, Copy, Default)]
pub struct Clock(Ticks);

/// Starts the UART and the clock. Returns both halves of the UART, and the clock.
pub fn start() -> (Receiver, Transmitter, Clock) {
    chip::start();
    (Receiver(()), Transmitter(()), Clock::default())
}

impl ErrorType for Receiver {
    type Error = ErrorKind;
}

impl Read for Receiver {
    fn read(&mut self, space: &mut [u8]) -> impl Future<Output = Result<usize, ErrorKind>> {
        poll_fn(move |context| {
            TASK.register(context.waker());
            match chip::receive(space) {
                Ok(None) => Poll::Pending,
                Ok(Some(count)) => Poll::Ready(Ok(count)),
                Err(error) => Poll::Ready(Err(error)),
            }
        })
    }
}

impl ErrorType for Transmitter {
    type Error = ErrorKind;
}

impl Write for Transmitter {
    fn write(&mut self, bytes: &[u8]) -> impl Future<Output = Result<usize, ErrorKind>> {
        poll_fn(move |context| {
            TASK.register(context.waker());
            match chip::transmit(bytes) {
                0 if !bytes.is_empty() => Poll::Pending,
                count => Poll::Ready(Ok(count)),
            }
        })
    }

    /// Completes immediately, because the UART sends the bytes in its FIFO without further calls.
    fn flush(&mut self) -> impl Future<Output = Result<(), ErrorKind>> {
        poll_fn(|_| Poll::Ready(Ok(())))
    }
}

impl Timer for Clock {
    fn now(&mut self) -> Millis {
        self.0.now()
    }

    fn until(&mut self, at: Millis) -> impl Future<Output = ()> {
        poll_fn(move |context| {
            TASK.register(context.waker());
            let left = at.0.saturating_sub(self.now().0);
            if left == 0 {
                return Poll::Ready(());
            }
            // The earliest deadline suffices, because a woken task polls all its timers again.
            let left = u32::try_from(left).unwrap_or(u32::MAX);
            cortex_m::interrupt::free(|_| {
                let sooner = LEFT.load(Ordering::Relaxed).wrapping_sub(1).min(left - 1);
                LEFT.store(sooner + 1, Ordering::Relaxed);
            });
            Poll::Pending
        })
    }
}
