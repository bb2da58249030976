//! Time as an input: milliseconds of any monotonic clock.
#![allow(clippy::as_conversions, reason = "the conversion widens, and `From` is not usable in constants")]

use core::time::Duration;

/// A point in time or a duration, in milliseconds.
///
/// All points in time must come from one clock that never runs backwards. The origin of the clock does not matter,
/// because the machine uses only differences between points. The machine never reads a clock. The same input at the
/// same times therefore gives the same output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Millis(pub u64);

/// Returns the earliest of several times. Returns `None` if all are `None`.
#[cfg(feature = "alloc")]
#[inline]
pub(crate) fn earliest<const N: usize>(times: [Option<Millis>; N]) -> Option<Millis> {
    times.into_iter().flatten().min()
}

impl Millis {
    /// The duration of zero, or the point of origin.
    pub const ZERO: Millis = Millis(0);

    /// The longest duration: a timeout that never expires.
    pub const MAX: Millis = Millis(u64::MAX);

    /// Converts seconds to milliseconds.
    #[must_use]
    pub const fn seconds(seconds: u32) -> Millis {
        Millis((seconds as u64).saturating_mul(1000))
    }

    /// Adds the duration `span` to a point or a duration. Saturates at the maximum.
    #[must_use]
    pub const fn plus(self, span: Millis) -> Millis {
        Millis(self.0.saturating_add(span.0))
    }

    /// Returns the duration from `earlier` to this point. Returns zero if `earlier` is later than this point.
    #[must_use]
    pub const fn since(self, earlier: Millis) -> Millis {
        Millis(self.0.saturating_sub(earlier.0))
    }
}

/// Saturates at [`Millis::MAX`], and cuts off fractions of a millisecond.
impl From<Duration> for Millis {
    fn from(time: Duration) -> Millis {
        Millis(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
    }
}

impl From<Millis> for Duration {
    fn from(time: Millis) -> Duration {
        Duration::from_millis(time.0)
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
    /// Starts a clock at zero.
    #[must_use]
    pub fn start() -> Clock {
        Clock(std::time::Instant::now())
    }

    /// Returns the time since the start.
    #[must_use]
    pub fn now(&self) -> Millis {
        self.0.elapsed().into()
    }
}

#[cfg(feature = "std")]
impl Default for Clock {
    fn default() -> Self {
        Clock::start()
    }
}
