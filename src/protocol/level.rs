//! The severity of log messages.

use crate::protocol::named_values::named_values;

named_values! {
    /// The severity of a log message. The levels are in ascending order.
    ///
    /// Specification: *Logging*; RFC 5424 (names).
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[cfg_attr(feature = "defmt", derive(defmt::Format))]
    pub enum Level {
        /// Details for debugging.
        Debug = "debug",
        /// Information on normal operation.
        Info = "info",
        /// A normal but significant event.
        Notice = "notice",
        /// A possible problem.
        Warning = "warning",
        /// An error.
        Error = "error",
        /// A failure of a part of the system.
        Critical = "critical",
        /// A condition that requires immediate action.
        Alert = "alert",
        /// An unusable system.
        Emergency = "emergency",
    }

    /// All levels, least severe first.
    pub const ALL;
    pub(crate) fn from_json;
}
