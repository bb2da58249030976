//! Time, as an interrupt counts it.

use core::sync::atomic::{AtomicU32, Ordering};

use mcp_proto::Millis;

/// Milliseconds, counted by an interrupt. They begin anew after 49 days.
static TICKS: AtomicU32 = AtomicU32::new(0);

/// A millisecond has passed. Only the interrupt of the clock calls it.
pub fn tick() {
    // Nobody else writes, so nothing is lost between the two. Not every chip can do both at once.
    TICKS.store(TICKS.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
}

/// A clock that does not begin anew, if it is asked every 49 days.
#[derive(Clone, Copy, Default)]
pub struct Ticks {
    now: Millis,
}

impl Ticks {
    /// The time since the start.
    pub fn now(&mut self) -> Millis {
        let passed = TICKS.load(Ordering::Relaxed).wrapping_sub(self.now.0 as u32);
        self.now = self.now.plus(Millis(passed.into()));
        self.now
    }
}
