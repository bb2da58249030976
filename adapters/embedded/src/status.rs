//! `PumpStatus`: the result of one pump step, and the classification of link errors.

use embedded_io::ErrorKind;
use mcp_proto::Millis;

/// The result of a method of [`Pump`](crate::Pump): what has happened, or what the caller must do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum PumpStatus {
    /// The machine has an event: call its `event()`.
    Event,
    /// Bytes have moved. More work may be ready, so take another step before sleeping.
    Moved,
    /// No work is due until a byte arrives, output can be written, the caller uses the machine, or this deadline
    /// passes. `None` means no deadline.
    Idle(Option<Millis>),
    /// The peer has started a new session: reset the machine. See [`Pump::session_marks`](crate::Pump::session_marks).
    NewSession,
    /// Input bytes were lost. The machine discards a partly received line. If the received part of that line shows a
    /// request and its id, a server sends an error response. The connection stays open.
    LineBroken(ErrorKind),
    /// A write or flush failed with a temporary error. The next step repeats the write or flush. If a flush fails
    /// again, this status is not returned again before the next write.
    NotWritten(ErrorKind),
    /// The link is closed in at least one direction. The machine is informed, and [`PumpStatus::Closed`] follows.
    LinkLost(ErrorKind),
    /// The connection is closed. To reuse the machine and the pump, reset the machine and call
    /// [`Pump::new_session`](crate::Pump::new_session).
    Closed,
}

/// The effect of an error on the link that has reported it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ErrorClass {
    /// No byte was lost, and no byte has moved.
    TimedOut,
    /// Bytes were lost or not written, but the link still works.
    Temporary,
    /// The link no longer works.
    Gone,
}

/// Classifies an error by its kind.
pub(crate) fn classify(kind: ErrorKind) -> ErrorClass {
    match kind {
        ErrorKind::TimedOut => ErrorClass::TimedOut,
        ErrorKind::NotConnected
        | ErrorKind::BrokenPipe
        | ErrorKind::ConnectionReset
        | ErrorKind::ConnectionAborted
        | ErrorKind::ConnectionRefused
        | ErrorKind::WriteZero => ErrorClass::Gone,
        _ => ErrorClass::Temporary,
    }
}

/// Returns whether the output is still unflushed after a flush with this result. A closed link is not flushed again.
pub(crate) fn is_unflushed_after<T>(flushed: Result<T, ErrorKind>) -> bool {
    flushed.is_err_and(|kind| classify(kind) != ErrorClass::Gone)
}

/// Turns `Unsupported` into success, because a driver that cannot flush keeps no output.
pub(crate) fn accept_unsupported(flushed: Result<(), ErrorKind>) -> Result<(), ErrorKind> {
    match flushed {
        Err(ErrorKind::Unsupported) => Ok(()),
        flushed => flushed,
    }
}

/// Replaces [`PumpStatus::Moved`] with `None`, because every other status has priority.
pub(crate) fn filter_reportable(status: Option<PumpStatus>) -> Option<PumpStatus> {
    status.filter(|status| *status != PumpStatus::Moved)
}

/// Turns a write of 0 bytes into an error. A driver that waits for space returns 0 only if it can never write again.
pub(crate) fn reject_zero(written: Result<usize, ErrorKind>) -> Result<usize, ErrorKind> {
    match written {
        Ok(0) => Err(ErrorKind::WriteZero),
        written => written,
    }
}

/// Checks that the types that an application logs implement `defmt::Format`.
#[cfg(all(test, feature = "defmt"))]
const _: () = {
    const fn has_format<T: defmt::Format>() {}
    has_format::<(PumpStatus, mcp_proto::ProtocolError, mcp_proto::ConfigError, mcp_proto::SendError)>();
    has_format::<(mcp_proto::Ticket, mcp_proto::Level, mcp_proto::State, mcp_proto::Revision, Millis)>();
};
