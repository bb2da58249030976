//! The severity of log messages.

use crate::json::Str;

/// The severity of a log message. The levels are in ascending order.
///
/// Specification: *Logging*; RFC 5424 (names).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Level {
    /// Details for debugging.
    Debug,
    /// Information on normal operation.
    Info,
    /// A normal but significant event.
    Notice,
    /// A possible problem.
    Warning,
    /// An error.
    Error,
    /// A failure of a part of the system.
    Critical,
    /// A condition that requires immediate action.
    Alert,
    /// An unusable system.
    Emergency,
}

impl Level {
    /// All levels, least severe first.
    pub const ALL: [Level; 8] = [
        Level::Debug,
        Level::Info,
        Level::Notice,
        Level::Warning,
        Level::Error,
        Level::Critical,
        Level::Alert,
        Level::Emergency,
    ];

    /// Returns the name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Level::Debug => "debug",
            Level::Info => "info",
            Level::Notice => "notice",
            Level::Warning => "warning",
            Level::Error => "error",
            Level::Critical => "critical",
            Level::Alert => "alert",
            Level::Emergency => "emergency",
        }
    }

    pub(crate) fn from_json(text: Str<'_>) -> Option<Level> {
        Level::ALL.into_iter().find(|level| text == *level.as_str())
    }
}
