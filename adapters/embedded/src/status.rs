//! What has come of a step, and what an error of a link means.

use embedded_io::ErrorKind;
use mcp_proto::Millis;

/// What a [`Pump`](crate::Pump) has done, or what the host has to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PumpStatus {
    /// The machine has an event: call its `event()`.
    Event,
    /// Bytes have moved. There may be more to do at once: a host that sleeps takes another step first.
    Moved,
    /// Nothing can be done before a byte comes, or goes, or this time has come: other work may be done, or none.
    Idle(Option<Millis>),
    /// The peer has begun a new session: reset the machine. See [`Pump::session_mark`](crate::Pump::session_mark).
    NewSession,
    /// Bytes were lost on their way in. If that was in the middle of a line, the line is given up: nothing of it is
    /// looked at but the id of its request, which gets an error. The connection goes on.
    LineBroken(ErrorKind),
    /// Nothing could be written, for a reason that may pass. It is tried again at the next step.
    NotWritten(ErrorKind),
    /// The link is gone in one direction at least, and the machine was told so: [`PumpStatus::Closed`] will follow.
    LinkLost(ErrorKind),
    /// The connection is over. To use the machine and the pump again, reset the one, and tell the other of a
    /// [new session](crate::Pump::new_session).
    Closed,
}

/// What an error means for the link that has reported it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// Nothing was lost, and nothing has moved.
    NotYet,
    /// Bytes were lost; the next ones may be right.
    Trouble,
    /// There is no link any more.
    Gone,
}

pub(crate) fn meaning(kind: ErrorKind) -> Meaning {
    match kind {
        ErrorKind::TimedOut => Meaning::NotYet,
        ErrorKind::NotConnected
        | ErrorKind::BrokenPipe
        | ErrorKind::ConnectionReset
        | ErrorKind::ConnectionAborted
        | ErrorKind::ConnectionRefused
        | ErrorKind::WriteZero => Meaning::Gone,
        _ => Meaning::Trouble,
    }
}

/// A step that the host has to hear of.
pub(crate) fn told(step: Option<PumpStatus>) -> Option<PumpStatus> {
    step.filter(|step| *step != PumpStatus::Moved)
}

/// What a driver has written that waits until it can write: nothing means that it never will.
pub(crate) fn whole(written: Result<usize, ErrorKind>) -> Result<usize, ErrorKind> {
    match written {
        Ok(0) => Err(ErrorKind::WriteZero),
        written => written,
    }
}
