//! `Feed`: the messages of a session, for the pages that show the session.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mcp_proto::monitor::{Sender, Violation};
use mcp_proto::{Clock, Millis};

use super::entry;

/// The maximum length of all entries, in bytes. Beyond this length, the oldest entries are dropped, but never the
/// newest.
const LIMIT: usize = 64 << 20;

/// A bounded list of entries. A slow page never blocks a session that adds an entry. Clones share the list.
#[derive(Clone)]
pub(crate) struct Feed(Arc<Shared>);

struct Shared {
    clock: Clock,
    limit: usize,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    entries: VecDeque<Entry>,
    /// Length of all entries, in bytes.
    length: usize,
    /// Number of the last entry. The first has the number 1.
    last: u64,
    closed: Option<Millis>,
    /// Number of open pages, for which [`Feed::close`] waits.
    pages: usize,
}

/// An entry as JSON, with its number.
#[derive(Clone)]
pub(super) struct Entry {
    pub(super) number: u64,
    pub(super) json: Arc<str>,
}

/// The result of [`Feed::wait`].
pub(super) enum Update {
    /// Entries that the page does not have.
    Entries(Vec<Entry>),
    /// The session ended at this time, and the page has all entries.
    Closed(Millis),
    /// No entry arrived in time.
    Nothing,
}

impl Feed {
    /// Creates a feed whose time begins now.
    pub(crate) fn new() -> Feed {
        Feed::with_limit(LIMIT)
    }

    fn with_limit(limit: usize) -> Feed {
        let (state, changed) = (Mutex::default(), Condvar::new());
        Feed(Arc::new(Shared { clock: Clock::start(), limit, state, changed }))
    }

    pub(super) fn now(&self) -> Millis {
        self.0.clock.now()
    }

    /// Adds a message and its violations.
    pub(crate) fn message(&self, sender: Sender, line: &[u8], violations: &[Violation]) {
        self.push(|number, now| entry::message(number, now, sender, line, violations));
    }

    /// Adds the end of one direction.
    pub(crate) fn end(&self, sender: Sender, violations: &[Violation]) {
        self.push(|number, now| entry::end(number, now, sender, violations));
    }

    /// Ends the session. Waits until the open pages have received all entries, but for at most `timeout`.
    pub(crate) fn close(&self, timeout: Duration) {
        let mut state = self.lock();
        state.closed.get_or_insert(self.now());
        self.0.changed.notify_all();
        let waited = self.0.changed.wait_timeout_while(state, timeout, |state| state.pages > 0);
        drop(waited);
    }

    fn push(&self, write: impl FnOnce(u64, Millis) -> String) {
        let mut state = self.lock();
        state.last += 1;
        let entry = Entry { number: state.last, json: write(state.last, self.now()).into() };
        state.length += entry.json.len();
        state.entries.push_back(entry);
        while state.length > self.0.limit && state.entries.len() > 1 {
            let dropped = state.entries.pop_front().map_or(0, |entry| entry.json.len());
            state.length -= dropped;
        }
        self.0.changed.notify_all();
    }

    /// Waits for entries beyond the number `seen`, or for the end of the session, but for at most `time`.
    pub(super) fn wait(&self, seen: u64, time: Duration) -> Update {
        // With this limit, each call holds the lock only briefly, so that a session can soon add its next entry.
        const MAX_ENTRIES: usize = 64;
        let is_waiting = |state: &mut State| state.last <= seen && state.closed.is_none();
        let waited = self.0.changed.wait_timeout_while(self.lock(), time, is_waiting);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        // Numbers have no gaps. The oldest entries may be missing.
        let first = state.entries.front().map_or(0, |entry| entry.number);
        let skipped = usize::try_from(seen.saturating_add(1).saturating_sub(first)).unwrap_or(usize::MAX);
        let entries: Vec<Entry> = state.entries.iter().skip(skipped).take(MAX_ENTRIES).cloned().collect();
        match state.closed {
            _ if !entries.is_empty() => Update::Entries(entries),
            Some(at) => Update::Closed(at),
            None => Update::Nothing,
        }
    }

    /// Registers a page, for which [`close`](Feed::close) waits until the returned value is dropped.
    pub(super) fn open_page(&self) -> Page {
        self.lock().pages += 1;
        Page(self.clone())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A page that receives entries.
pub(super) struct Page(Feed);

impl Drop for Page {
    fn drop(&mut self) {
        self.0.lock().pages -= 1;
        self.0.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    /// Receives everything beyond `seen`. Returns the numbers, and whether the session has ended.
    fn receive(feed: &Feed, mut seen: u64) -> (Vec<u64>, bool) {
        let mut numbers = Vec::new();
        loop {
            match feed.wait(seen, Duration::ZERO) {
                Update::Entries(entries) => {
                    numbers.extend(entries.iter().map(|entry| entry.number));
                    seen = *numbers.last().unwrap();
                }
                Update::Closed(_) => return (numbers, true),
                Update::Nothing => return (numbers, false),
            }
        }
    }

    #[test]
    fn page_receives_each_entry_once_and_the_end() {
        let feed = Feed::new();
        assert_eq!(receive(&feed, 0), (vec![], false));
        (0..200).for_each(|_| feed.message(Sender::Client, b"{}", &[]));
        assert_eq!(receive(&feed, 0), ((1..=200).collect(), false));
        assert_eq!(receive(&feed, 198), (vec![199, 200], false));
        feed.end(Sender::Client, &[]);
        feed.close(Duration::ZERO);
        assert_eq!(receive(&feed, 200), (vec![201], true));
        assert_eq!(receive(&feed, u64::MAX), (vec![], true));
    }

    #[test]
    fn full_feed_drops_the_oldest_entries() {
        let feed = Feed::with_limit(1000);
        (0..100).for_each(|_| feed.message(Sender::Client, b"{}", &[]));
        let (numbers, _) = receive(&feed, 0);
        assert!(numbers.len() < 20 && numbers.last() == Some(&100), "{numbers:?}");
        assert_eq!(receive(&feed, 3).0, numbers);
        // An entry that is longer than the limit remains, because it is the newest.
        feed.message(Sender::Client, &[b'x'; 5000], &[]);
        assert_eq!(receive(&feed, 0).0, [101]);
    }

    #[test]
    fn close_waits_for_open_pages_but_not_forever() {
        let feed = Feed::new();
        let begin = Instant::now();
        feed.close(Duration::from_secs(60));
        assert!(begin.elapsed() < Duration::from_secs(30));
        let page = feed.open_page();
        let begin = Instant::now();
        feed.close(Duration::from_millis(20));
        assert!(begin.elapsed() >= Duration::from_millis(20));
        let waiting = std::thread::spawn(move || feed.close(Duration::from_secs(600)));
        drop(page);
        waiting.join().unwrap();
    }
}
