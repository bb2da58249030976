//! The severity of log messages.

use crate::json::Str;

/// How severe a log message is, least severe first.
///
/// Specification: *Logging*; the names are those of RFC 5424.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Detail for finding faults.
    Debug,
    /// What is going on.
    Info,
    /// Normal, but worth a look.
    Notice,
    /// Something may go wrong.
    Warning,
    /// Something went wrong.
    Error,
    /// A part of the system failed.
    Critical,
    /// Something has to be done at once.
    Alert,
    /// The system is unusable.
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

    /// The name on the wire.
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
