//! A lock-free byte queue between an interrupt and the main loop.

use core::fmt;
use core::hint::spin_loop;
use core::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};

use embedded_io::{Error, ErrorKind, ErrorType, Read, ReadReady, Write, WriteReady};

/// A queue of `N` bytes with one producer and one consumer.
///
/// One side is an interrupt, and the other side is the main loop. Either side can be the producer. `N` is a power of
/// two. A shared reference to a `static` queue implements the driver traits:
///
/// ```
/// use mcp_proto_embedded::{Halves, Queue};
///
/// static RECEIVED: Queue<256> = Queue::new();
/// static TO_SEND: Queue<256> = Queue::new();
///
/// // The receive interrupt, and the transmit interrupt:
/// RECEIVED.push(b'{');
/// if let Some(byte) = TO_SEND.pop() { /* to the data register */ }
/// // The main loop:
/// let mut uart = Halves(&RECEIVED, &TO_SEND);
/// ```
///
/// A receive interrupt should check [`free`](Queue::free) before it takes a byte. While the queue is full, the bytes
/// then stay in the UART. With flow control, the UART stops the sender. Without flow control, the UART reports an
/// overrun when its own buffer is full. In the following example, a break pushes a session mark, so the queue must keep
/// space for a mark. Without this space, the interrupt handler disables its interrupt. The main loop enables the
/// interrupt again after a step has made space:
///
/// ```
/// use mcp_proto_embedded::{Queue, SESSION_MARK};
/// # struct Word { byte: u8, is_break: bool, is_damaged: bool }
/// # struct Uart { arrived: std::collections::VecDeque<Word>, interrupt: bool }
/// # impl Uart {
/// #     fn has_data(&self) -> bool { !self.arrived.is_empty() }
/// #     fn read(&mut self) -> Word { self.arrived.pop_front().unwrap() }
/// #     fn enable_receive_interrupt(&mut self, is_enabled: bool) { self.interrupt = is_enabled }
/// # }
///
/// static RECEIVED: Queue<256> = Queue::new();
///
/// /// The interrupt handler. `Uart` stands for the registers.
/// fn on_receive(uart: &mut Uart) {
///     while uart.has_data() {
///         // The next word may be a break, which needs space for a whole session mark.
///         if RECEIVED.free() < SESSION_MARK.len() {
///             return uart.enable_receive_interrupt(false);
///         }
///         let word = uart.read();
///         if word.is_break {
///             RECEIVED.push_all(SESSION_MARK);
///         } else if word.is_damaged {
///             RECEIVED.lost();
///         } else {
///             RECEIVED.push(word.byte);
///         }
///     }
/// }
///
/// /// The main loop, after each step of the pump.
/// fn after_step(uart: &mut Uart) {
///     if RECEIVED.free() >= SESSION_MARK.len() {
///         uart.enable_receive_interrupt(true);
///     }
/// }
/// # let arrived = (0..300).map(|number| Word { byte: number as u8, is_break: number == 9, is_damaged: false });
/// # let mut uart = Uart { arrived: arrived.collect(), interrupt: true };
/// # on_receive(&mut uart);
/// # assert_eq!((RECEIVED.len(), uart.arrived.len(), uart.interrupt), (251, 54, false));
/// # (0..10).for_each(|_| _ = RECEIVED.pop());
/// # after_step(&mut uart);
/// # on_receive(&mut uart);
/// # assert_eq!((RECEIVED.len(), uart.arrived.len(), uart.interrupt), (251, 44, false));
/// ```
///
/// The queue records a gap, the position of lost bytes, if a push finds the queue full, or if the interrupt calls
/// [`lost`](Queue::lost) after a hardware error. A read returns [`BytesLost`] at the gap. If a break on the line starts
/// a new session, the interrupt pushes a [session mark](crate::SESSION_MARK).
///
/// [`Read`] and [`Write`] spin until the interrupt makes progress possible. [`Pump::step`](crate::Pump::step) checks
/// readiness first, and never spins. The queue uses only atomic loads and stores, and needs no compare-and-swap
/// instruction.
pub struct Queue<const N: usize> {
    bytes: [AtomicU8; N],
    /// Number of bytes ever taken out, wrapping.
    taken: AtomicUsize,
    /// Number of bytes ever put in, wrapping.
    put: AtomicUsize,
    /// Value of `put` when bytes were lost: bytes are missing after this number of bytes. Valid while `has_gap` is set.
    gap: AtomicUsize,
    /// Whether bytes are missing at `gap`. The producer sets this flag, and the consumer clears it.
    has_gap: AtomicBool,
    /// Whether there is a second gap, at the end of the queue. The queue then accepts no byte until the consumer clears
    /// the first gap. Used by the producer only.
    has_later_gap: AtomicBool,
}

impl<const N: usize> Queue<N> {
    /// Creates an empty queue.
    ///
    /// # Panics
    /// Fails to compile if `N` is not a power of two.
    #[must_use]
    pub const fn new() -> Queue<N> {
        const { assert!(N.is_power_of_two(), "the size of a queue is a power of two") };
        Queue {
            bytes: [const { AtomicU8::new(0) }; N],
            taken: AtomicUsize::new(0),
            put: AtomicUsize::new(0),
            gap: AtomicUsize::new(0),
            has_gap: AtomicBool::new(false),
            has_later_gap: AtomicBool::new(false),
        }
    }

    /// Puts a byte in. Returns `false` if the byte is lost. The queue loses bytes while it is full, or while it
    /// contains two gaps that the consumer has not reached.
    pub fn push(&self, byte: u8) -> bool {
        if !self.is_open() {
            return false;
        }
        let put = self.put.load(Ordering::Relaxed);
        if put.wrapping_sub(self.taken.load(Ordering::Acquire)) >= N {
            self.lost();
            return false;
        }
        if let Some(slot) = self.slot(put) {
            slot.store(byte, Ordering::Relaxed);
        }
        self.put.store(put.wrapping_add(1), Ordering::Release);
        true
    }

    /// Returns `false` while the queue contains two gaps: it then accepts no byte, even if a byte fits. If the consumer
    /// has cleared the first of two gaps, the second becomes the first.
    fn is_open(&self) -> bool {
        if self.has_later_gap.load(Ordering::Relaxed) {
            if self.has_gap.load(Ordering::Acquire) {
                return false;
            }
            self.has_later_gap.store(false, Ordering::Relaxed);
            self.lost();
        }
        true
    }

    /// Puts bytes in and returns the number of accepted bytes. The other bytes are lost.
    pub fn push_slice(&self, bytes: &[u8]) -> usize {
        bytes.iter().filter(|byte| self.push(**byte)).count()
    }

    /// Puts in all bytes and returns `true`. If the bytes do not fit, or the queue contains two gaps, puts in none,
    /// records a gap, and returns `false`.
    pub fn push_all(&self, bytes: &[u8]) -> bool {
        // Checked before the first byte. Otherwise the queue could take only the last bytes, if the consumer clears a
        // gap between two bytes.
        if !self.is_open() || self.free() < bytes.len() {
            self.lost();
            return false;
        }
        self.push_slice(bytes) == bytes.len()
    }

    /// Records that bytes are missing at the end of the queue.
    ///
    /// The producer calls this method after an overrun, a framing error or a parity error of the hardware.
    pub fn lost(&self) {
        let put = self.put.load(Ordering::Relaxed);
        if !self.has_gap.load(Ordering::Acquire) {
            self.gap.store(put, Ordering::Relaxed);
            self.has_gap.store(true, Ordering::Release);
        } else if self.gap.load(Ordering::Relaxed) != put {
            self.has_later_gap.store(true, Ordering::Relaxed);
        }
    }

    /// Takes a byte out, for an interrupt that transmits. Skips gaps without an error. Returns `None` if the queue is
    /// empty.
    pub fn pop(&self) -> Option<u8> {
        match self.take(true) {
            Err(BytesLost) => self.take(true).ok()?,
            Ok(byte) => byte,
        }
    }

    /// Takes a byte out, or returns `Ok(None)` if the queue is empty. At a gap, returns `Ok(None)` if `over_gap` is
    /// `false`; otherwise clears the gap and returns `Err`.
    fn take(&self, over_gap: bool) -> Result<Option<u8>, BytesLost> {
        let taken = self.taken.load(Ordering::Relaxed);
        // Load `put` before `has_gap`, so that a consumer that sees a byte also sees the gap before that byte.
        let put = self.put.load(Ordering::Acquire);
        if self.is_at_gap(taken) {
            if !over_gap {
                return Ok(None);
            }
            self.has_gap.store(false, Ordering::Release);
            return Err(BytesLost);
        }
        if taken == put {
            return Ok(None);
        }
        let byte = self.slot(taken).map(|slot| slot.load(Ordering::Relaxed));
        self.taken.store(taken.wrapping_add(1), Ordering::Release);
        Ok(byte)
    }

    /// Returns the number of bytes in the queue.
    #[must_use]
    pub fn len(&self) -> usize {
        self.put.load(Ordering::Acquire).wrapping_sub(self.taken.load(Ordering::Acquire)).min(N)
    }

    /// Returns whether the queue is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of bytes that still fit. While the queue contains two gaps, it accepts none of them.
    #[must_use]
    pub fn free(&self) -> usize {
        N.saturating_sub(self.len())
    }

    /// Returns the slot of byte number `count`. `None` never occurs, because the index is masked.
    fn slot(&self, count: usize) -> Option<&AtomicU8> {
        self.bytes.get(count & N.wrapping_sub(1))
    }

    /// Returns whether bytes are missing after the first `taken` bytes.
    fn is_at_gap(&self, taken: usize) -> bool {
        self.has_gap.load(Ordering::Acquire) && self.gap.load(Ordering::Relaxed) == taken
    }
}

impl<const N: usize> Default for Queue<N> {
    fn default() -> Queue<N> {
        Queue::new()
    }
}

impl<const N: usize> fmt::Debug for Queue<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").field("len", &self.len()).finish_non_exhaustive()
    }
}

/// Bytes were lost, because the [`Queue`] was full or the hardware lost them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct BytesLost;

impl fmt::Display for BytesLost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bytes were lost: the queue or the hardware overflowed")
    }
}

impl core::error::Error for BytesLost {}

impl Error for BytesLost {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Other
    }
}

impl<const N: usize> ErrorType for &Queue<N> {
    type Error = BytesLost;
}

impl<const N: usize> ReadReady for &Queue<N> {
    fn read_ready(&mut self) -> Result<bool, BytesLost> {
        Ok(!self.is_empty() || self.is_at_gap(self.taken.load(Ordering::Relaxed)))
    }
}

impl<const N: usize> Read for &Queue<N> {
    fn read(&mut self, space: &mut [u8]) -> Result<usize, BytesLost> {
        if space.is_empty() {
            return Ok(0);
        }
        loop {
            let mut count = 0usize;
            for slot in &mut *space {
                match self.take(count == 0) {
                    Ok(Some(byte)) => *slot = byte,
                    Ok(None) => break,
                    Err(lost) => return Err(lost),
                }
                count = count.saturating_add(1);
            }
            if count > 0 {
                return Ok(count);
            }
            spin_loop();
        }
    }
}

impl<const N: usize> WriteReady for &Queue<N> {
    fn write_ready(&mut self) -> Result<bool, BytesLost> {
        Ok(self.is_open() && self.free() > 0)
    }
}

impl<const N: usize> Write for &Queue<N> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, BytesLost> {
        while !self.is_open() || self.free() == 0 {
            spin_loop();
        }
        let count = bytes.len().min(self.free());
        Ok(self.push_slice(bytes.get(..count).unwrap_or_default()))
    }

    fn flush(&mut self) -> Result<(), BytesLost> {
        while !self.is_empty() {
            spin_loop();
        }
        Ok(())
    }
}
