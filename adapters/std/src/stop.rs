//! Ending servers from outside, within a time.

use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mcp_proto_handles::lock;

/// Longer times may be too long for the clock.
const LONGEST: Duration = Duration::from_secs(365 * 86_400);

/// Ends servers from outside: from another thread, or when a signal comes. Clones are the same one. It may be given to
/// any number of servers ([`Serve::stopped_by`](crate::Serve::stopped_by)), before or after it was used.
///
/// ```
/// use std::net::TcpListener;
/// use std::time::Duration;
/// use mcp_proto::server::ServerConfig;
/// use mcp_proto_std::{Serve, Stop};
///
/// static INFO: ServerConfig = ServerConfig::new("example", "1.0.0");
/// let stop = Stop::new();
/// let listener = TcpListener::bind("127.0.0.1:0")?;
/// let server = Serve::new(&INFO).stopped_by(&stop);
/// let server = std::thread::spawn(move || server.listen(listener, |_, _| {}));
/// // What runs may take five more seconds.
/// stop.within(Duration::from_secs(5));
/// server.join().unwrap()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct Stop {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    until: Option<Instant>,
    last: u64,
    hearers: Vec<(u64, Hear)>,
}

type Hear = Box<dyn Fn(Duration) + Send>;

impl Stop {
    /// One that was not used yet.
    #[must_use]
    pub fn new() -> Stop {
        Stop::default()
    }

    /// Ends the servers: nothing new is accepted or begun. What runs may be finished within this time; then it is answered
    /// with an error. This comes back at once; the servers return when all is done, three seconds after that time at the
    /// most: clients have two of them to read the last answers, and workers one to notice that they are cancelled. Used
    /// once more, the last time counts.
    pub fn within(&self, time: Duration) {
        let mut state = lock(&self.state);
        let now = Instant::now();
        state.until = Some(now.checked_add(time).unwrap_or(now + LONGEST));
        state.hearers.iter().for_each(|(_, hear)| hear(time));
    }

    /// Whether it was used.
    #[must_use]
    pub fn is_used(&self) -> bool {
        lock(&self.state).until.is_some()
    }

    /// Calls this with the time that is left: when it is used, or now if it was used before. It must not wait.
    pub(crate) fn hear(&self, hear: impl Fn(Duration) + Send + 'static) -> Hearer {
        let mut state = lock(&self.state);
        if let Some(until) = state.until {
            hear(until.saturating_duration_since(Instant::now()));
        }
        state.last += 1;
        let number = state.last;
        state.hearers.push((number, Box::new(hear)));
        Hearer { stop: self.clone(), number }
    }
}

impl fmt::Debug for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stop").field("is_used", &self.is_used()).finish_non_exhaustive()
    }
}

/// Hears of the end, until it is dropped.
pub(crate) struct Hearer {
    stop: Stop,
    number: u64,
}

impl Drop for Hearer {
    fn drop(&mut self) {
        let number = self.number;
        let gone = {
            let mut state = lock(&self.stop.state);
            let at = state.hearers.iter().position(|(known, _)| *known == number);
            at.map(|at| state.hearers.swap_remove(at))
        };
        drop(gone);
    }
}
