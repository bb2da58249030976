//! A queue of bytes between an interrupt and the main loop.

use core::fmt;
use core::hint::spin_loop;
use core::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};

use embedded_io::{Error, ErrorKind, ErrorType, Read, ReadReady, Write, WriteReady};

/// A queue of `N` bytes, for one side that puts bytes in and one that takes them out: an interrupt and the main loop, in
/// either direction. `N` is a power of two.
///
/// It lives in a `static`, and a shared reference to it is a driver:
///
/// ```
/// use mcp_proto_embedded::{Halves, Queue};
///
/// static RECEIVED: Queue<256> = Queue::new();
/// static TO_SEND: Queue<256> = Queue::new();
///
/// // The interrupt that a byte has come, and the one that the next may go:
/// RECEIVED.push(b'{');
/// if let Some(byte) = TO_SEND.pop() { /* to the data register */ }
/// // The main loop:
/// let mut uart = Halves(&RECEIVED, &TO_SEND);
/// ```
///
/// Bytes that find no room are lost, and so is what the hardware has lost, if the interrupt says so with
/// [`lost`](Queue::lost). The main loop hears of it at the place where they are missing. A break on the line may begin a
/// new session: push a [session mark](crate::SESSION_MARK) for it.
///
/// Reading and writing through [`Read`] and [`Write`] wait for the interrupt if they have to. A
/// [`Pump`](crate::Pump) asks before, and never does. It only takes atomic loads and stores, which all
/// processors have.
pub struct Queue<const N: usize> {
    bytes: [AtomicU8; N],
    /// How many bytes were taken out, and put in, since the start, modulo the size of the numbers.
    taken: AtomicUsize,
    put: AtomicUsize,
    /// Bytes are missing behind this many: valid while `has_gap` says so. The one side sets it, the other takes it back.
    gap: AtomicUsize,
    has_gap: AtomicBool,
    /// Bytes are missing behind the last one, too, while an earlier gap has not been heard of. Used by one side only.
    drops: AtomicBool,
}

impl<const N: usize> Queue<N> {
    /// A queue with nothing in it.
    ///
    /// # Panics
    /// If `N` is not a power of two. In a `static` the compiler says so.
    #[must_use]
    pub const fn new() -> Queue<N> {
        const { assert!(N.is_power_of_two(), "the size of a queue is a power of two") };
        Queue {
            bytes: [const { AtomicU8::new(0) }; N],
            taken: AtomicUsize::new(0),
            put: AtomicUsize::new(0),
            gap: AtomicUsize::new(0),
            has_gap: AtomicBool::new(false),
            drops: AtomicBool::new(false),
        }
    }

    /// Puts a byte in. `false`: there was no room, and it is lost.
    pub fn push(&self, byte: u8) -> bool {
        if self.drops.load(Ordering::Relaxed) {
            if self.has_gap.load(Ordering::Acquire) {
                return false;
            }
            self.drops.store(false, Ordering::Relaxed);
            self.lost();
        }
        let put = self.put.load(Ordering::Relaxed);
        if put.wrapping_sub(self.taken.load(Ordering::Acquire)) >= N {
            self.lost();
            return false;
        }
        if let Some(place) = self.place(put) {
            place.store(byte, Ordering::Relaxed);
        }
        self.put.store(put.wrapping_add(1), Ordering::Release);
        true
    }

    /// Puts bytes in, and says how many there was room for. The others are lost.
    pub fn push_slice(&self, bytes: &[u8]) -> usize {
        bytes.iter().filter(|byte| self.push(**byte)).count()
    }

    /// Says that bytes are missing here: an overrun, a framing or a parity error of the hardware. Called by the side that
    /// puts bytes in.
    pub fn lost(&self) {
        let put = self.put.load(Ordering::Relaxed);
        if !self.has_gap.load(Ordering::Acquire) {
            self.gap.store(put, Ordering::Relaxed);
            self.has_gap.store(true, Ordering::Release);
        } else if self.gap.load(Ordering::Relaxed) != put {
            self.drops.store(true, Ordering::Relaxed);
        }
    }

    /// Takes a byte out, if there is one: for an interrupt that sends. Nothing is said of bytes that were lost before it.
    pub fn pop(&self) -> Option<u8> {
        match self.take(true) {
            Err(BytesLost) => self.take(true).ok()?,
            Ok(byte) => byte,
        }
    }

    /// Takes a byte out or, if `over_gap`, the gap that is there before it.
    fn take(&self, over_gap: bool) -> Result<Option<u8>, BytesLost> {
        let taken = self.taken.load(Ordering::Relaxed);
        // Loaded before the gap is looked for: whoever sees a byte has to see the gap before it.
        let put = self.put.load(Ordering::Acquire);
        if self.at_gap(taken) {
            if !over_gap {
                return Ok(None);
            }
            self.has_gap.store(false, Ordering::Release);
            return Err(BytesLost);
        }
        if taken == put {
            return Ok(None);
        }
        let byte = self.place(taken).map(|place| place.load(Ordering::Relaxed));
        self.taken.store(taken.wrapping_add(1), Ordering::Release);
        Ok(byte)
    }

    /// How many bytes are in it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.put.load(Ordering::Acquire).wrapping_sub(self.taken.load(Ordering::Acquire)).min(N)
    }

    /// Whether no byte is in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many bytes find room.
    #[must_use]
    pub fn free(&self) -> usize {
        N.saturating_sub(self.len())
    }

    fn place(&self, count: usize) -> Option<&AtomicU8> {
        self.bytes.get(count & N.wrapping_sub(1))
    }

    /// Whether bytes are missing behind the first `taken`.
    fn at_gap(&self, taken: usize) -> bool {
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

/// Bytes were lost: the [`Queue`] was full, or the hardware has lost them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct BytesLost;

impl fmt::Display for BytesLost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bytes were lost: the queue was full, or the hardware has lost them")
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
        Ok(!self.is_empty() || self.at_gap(self.taken.load(Ordering::Relaxed)))
    }
}

impl<const N: usize> Read for &Queue<N> {
    fn read(&mut self, space: &mut [u8]) -> Result<usize, BytesLost> {
        if space.is_empty() {
            return Ok(0);
        }
        loop {
            let mut count = 0usize;
            for place in &mut *space {
                match self.take(count == 0) {
                    Ok(Some(byte)) => *place = byte,
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
        Ok(self.free() > 0)
    }
}

impl<const N: usize> Write for &Queue<N> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, BytesLost> {
        while self.free() == 0 {
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
