//! A millisecond clock that a timer interrupt counts.

use core::sync::atomic::{AtomicU32, Ordering};

use mcp_proto::Millis;

/// Milliseconds counted by the interrupt. Wraps after 49 days.
static TICKS: AtomicU32 = AtomicU32::new(0);

/// Counts a millisecond. Only the clock's interrupt handler may call this function.
pub fn tick() {
    advance(1);
}

/// Counts some milliseconds. Only the clock's interrupt handler may call this function.
pub fn advance(milliseconds: u32) {
    // A separate load and store suffice, because only the interrupt handler writes. Some chips lack an atomic
    // increment.
    TICKS.store(TICKS.load(Ordering::Relaxed).wrapping_add(milliseconds), Ordering::Relaxed);
}

/// A clock that does not wrap.
///
/// The caller must read the clock at least every 49 days.
#[derive(Clone, Copy, Default)]
pub struct Ticks {
    now: Millis,
}

impl Ticks {
    /// Creates a clock.
    pub const fn new() -> Ticks {
        Ticks { now: Millis::ZERO }
    }

    /// Returns the time since the start.
    pub fn now(&mut self) -> Millis {
        let passed = TICKS.load(Ordering::Relaxed).wrapping_sub(self.now.0 as u32);
        self.now = self.now.plus(Millis(passed.into()));
        self.now
    }
}
