//! `AcceptRetry`: decides whether a listener tries a failed `accept` again.

use std::io::{self, ErrorKind};
use std::time::Duration;

/// Decides how a listener continues after a failed `accept`.
#[derive(Debug, Default)]
pub struct AcceptRetry {
    failures: u32,
}

/// Maximum number of consecutive failures that need a pause.
const MAX_FAILURES: u32 = 100;

impl AcceptRetry {
    /// Pause after a failure. The cause may disappear during the pause. For example, the process has reached its limit
    /// of open files, and then closes some files.
    pub const PAUSE: Duration = Duration::from_millis(100);

    /// Time for open connections to finish when the listener stops because of failures.
    pub const FINISH_TIME: Duration = Duration::from_secs(2);

    /// Records an accepted connection.
    pub fn succeeded(&mut self) {
        self.failures = 0;
    }

    /// Records a failure. Returns the pause before the next attempt, which may be zero.
    ///
    /// # Errors
    /// `accept` has failed 101 times without a success (about ten seconds), or the socket no longer listens. A failure
    /// that needs no pause does not count.
    pub fn failed(&mut self, error: io::Error) -> io::Result<Duration> {
        use ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted, InvalidInput, WouldBlock};
        match error.kind() {
            // The connection was closed before it was accepted, a signal interrupted the call, or no connection is
            // pending.
            ConnectionAborted | ConnectionReset | Interrupted | WouldBlock => Ok(Duration::ZERO),
            // The program has shut down the listener, for example.
            InvalidInput => Err(error),
            _ if self.failures >= MAX_FAILURES => Err(error),
            _ => {
                self.failures += 1;
                Ok(AcceptRetry::PAUSE)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accept_fails_after_a_hundred_failures_in_a_row_and_if_nothing_listens() {
        let mut retry = AcceptRetry::default();
        let full = || io::Error::other("too many open files");
        (0..MAX_FAILURES).for_each(|_| assert_eq!(retry.failed(full()).unwrap(), AcceptRetry::PAUSE));
        assert_eq!(retry.failed(ErrorKind::ConnectionAborted.into()).unwrap(), Duration::ZERO);
        assert!(retry.failed(full()).is_err());
        retry.succeeded();
        assert!(retry.failed(full()).is_ok());
        assert!(retry.failed(ErrorKind::InvalidInput.into()).is_err());
    }
}
