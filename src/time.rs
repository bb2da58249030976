//! Time is an input: milliseconds of any monotonic clock.
#![allow(clippy::as_conversions, reason = "it gets wider, and `From` is not constant")]

/// A point in time, or a span of it, in milliseconds.
///
/// Points come from any clock that never runs backwards and are only ever compared with each other, so it does
/// not matter where zero is. The machine never reads a clock: the same input at the same times gives the same output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Millis(pub u64);

impl Millis {
    /// No time at all; as a point, the start.
    pub const ZERO: Millis = Millis(0);

    /// `seconds` as milliseconds.
    #[must_use]
    pub const fn seconds(seconds: u32) -> Millis {
        Millis((seconds as u64).saturating_mul(1000))
    }

    /// The point `span` after this one, or the sum of two spans. Saturates at the end of time.
    #[must_use]
    pub const fn plus(self, span: Millis) -> Millis {
        Millis(self.0.saturating_add(span.0))
    }

    /// The time from `earlier` to this point; zero if it is later.
    #[must_use]
    pub const fn since(self, earlier: Millis) -> Millis {
        Millis(self.0.saturating_sub(earlier.0))
    }
}

/// A monotonic clock that counts from its own start.
///
/// ```
/// let clock = mcp_proto::Clock::start();
/// assert!(clock.now() < mcp_proto::Millis::seconds(60));
/// ```
#[cfg(feature = "std")]
#[derive(Debug, Clone, Copy)]
pub struct Clock(std::time::Instant);

#[cfg(feature = "std")]
impl Clock {
    /// A clock that reads zero now.
    #[must_use]
    pub fn start() -> Clock {
        Clock(std::time::Instant::now())
    }

    /// The time since the start.
    #[must_use]
    pub fn now(&self) -> Millis {
        Millis(u64::try_from(self.0.elapsed().as_millis()).unwrap_or(u64::MAX))
    }
}

#[cfg(feature = "std")]
impl Default for Clock {
    fn default() -> Self {
        Clock::start()
    }
}
