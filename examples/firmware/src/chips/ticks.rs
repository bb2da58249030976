//! A millisecond clock that a timer interrupt counts.

use core::sync::atomic::{AtomicU32, Ordering};

use cortex_m::asm::wfi;
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

    /// Returns the time since the interrupt began to count.
    pub fn now(&mut self) -> Millis {
        let passed = TICKS.load(Ordering::Relaxed).wrapping_sub(self.now.0 as u32);
        self.now = self.now.plus(Millis(passed.into()));
        self.now
    }

    /// Sleeps until `is_ready` returns `true`, or until `until`. Each interrupt causes a check.
    pub(super) fn sleep(&mut self, until: Millis, is_ready: impl Fn() -> bool) {
        while self.now() < until {
            // The check and the sleep are in one critical section, so that no interrupt is lost between them. A pending
            // interrupt still ends `wfi`.
            let is_ready = cortex_m::interrupt::free(|_| {
                let is_ready = is_ready();
                if !is_ready {
                    wfi();
                }
                is_ready
            });
            if is_ready {
                return;
            }
        }
    }
}
