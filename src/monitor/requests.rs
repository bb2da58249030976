//! Requests of one sender: the requests in flight, and the ids and progress tokens of earlier requests.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};

use super::session::is_declared;
use crate::json::Json;
use crate::protocol::level::Level;
use crate::protocol::revision::Revision;
use crate::time::Millis;

/// The maximum number of entries in each table. Beyond this limit, the monitor no longer judges unknown ids and tokens.
const LIMIT: usize = 100_000;

/// Returns the key of an id or token: the decoded text, with a leading quote for a string.
pub(super) fn key(id: Json<'_>) -> String {
    id.string().map_or_else(|| id.raw().to_string(), |text| format!("\"{text}"))
}

/// Returns the key of the same id with the other type: `1` for `"1"`, and `"1"` for `1`.
pub(super) fn other_type(key: &str) -> String {
    key.strip_prefix('"').map_or_else(|| format!("\"{key}"), String::from)
}

/// A request in flight.
#[derive(Debug, Default, Clone)]
pub(super) struct Request {
    /// The id as JSON.
    pub(super) id: String,
    pub(super) method: String,
    pub(super) revision: Option<Revision>,
    pub(super) is_stateless: bool,
    /// Whether this is a stateless request in a session without discovery. The server may ignore the metadata of such a
    /// request.
    pub(super) is_era_unclear: bool,
    /// Number of responses to come: one for each use of the id.
    pub(super) responses: u32,
    /// Whether a response may belong to another request with the same id.
    pub(super) is_ambiguous: bool,
    /// The time of the cancellation, if any.
    pub(super) cancelled: Option<Millis>,
    /// The time from which the receiver may have refused the request in an error without its id, if any.
    pub(super) refused: Option<Millis>,
    pub(super) token: Option<String>,
    /// The last progress, as JSON.
    pub(super) progress: Option<String>,
    /// The level of log messages that the request sets. For `logging/setLevel`, this level is the lowest level of all
    /// such requests that were in flight at the same time.
    pub(super) level: Option<Level>,
    /// The capabilities that a stateless request declares, as JSON.
    pub(super) capabilities: String,
    /// The name of the tool or prompt, or the URI.
    pub(super) target: String,
    /// The cursor of a list.
    pub(super) cursor: Option<String>,
    /// Whether the request has the member `task`. The receiver may then create a task.
    pub(super) wants_task: bool,
    /// The flaw of the request. Most flaws require an error response.
    pub(super) flaw: Option<Flaw>,
    pub(super) subscription: Option<Subscription>,
}

/// A flaw of a request. The flaw decides which response the monitor expects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flaw {
    /// The message is not a valid request.
    Message,
    Method,
    Meta,
    Version,
    Capability,
    Cursor,
    Level,
    Tool,
    Prompt,
}

impl Request {
    /// Returns the time at which the sender cancelled the request, or the receiver refused the request or ended the
    /// subscription. From then on, another request may use the id.
    pub(super) fn freed_at(&self) -> Option<Millis> {
        self.cancelled
            .or(self.refused)
            .or(self.subscription.as_ref().and_then(|subscription| subscription.ended))
    }

    /// Returns whether the request is an open subscription whose acknowledgment includes changes of this kind.
    pub(super) fn receives(&self, filter: &str) -> bool {
        let subscription = self.subscription.as_ref().filter(|_| self.freed_at().is_none());
        let acknowledged = subscription.and_then(|subscription| subscription.acknowledged.as_deref());
        acknowledged.is_some_and(|acknowledged| is_declared(acknowledged, filter))
    }
}

/// A subscription of the stateless era.
#[derive(Debug, Clone)]
pub(super) struct Subscription {
    /// The filter as JSON.
    pub(super) filter: String,
    /// The filter of the server's acknowledgment, as JSON.
    pub(super) acknowledged: Option<String>,
    /// The time at which the server cancelled the subscription, if any.
    pub(super) ended: Option<Millis>,
}

/// The outcome of a lookup by id.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Lookup {
    InFlight,
    Finished,
    /// A request has this id with the other type: a string instead of a number, or the reverse.
    OtherType,
    Unknown,
    /// Entries may be missing, so the lookup proves nothing.
    Unclear,
}

/// A request that was [freed](Request::freed_at), and whose id another request has used again.
#[derive(Debug)]
struct Replaced {
    /// The time at which the request was freed.
    at: Millis,
    /// Whether the monitor cannot attribute the responses with this id to one of the requests.
    is_unclear: bool,
}

/// The requests of one sender.
#[derive(Debug, Default)]
pub(super) struct Requests {
    in_flight: BTreeMap<String, Request>,
    /// Each id of a finished request, and whether such a request belonged to the session.
    finished: BTreeMap<String, bool>,
    finished_tokens: BTreeSet<String>,
    task_tokens: BTreeSet<String>,
    /// The last [freed](Request::freed_at) request of each id that a later request has used again.
    replaced: BTreeMap<String, Replaced>,
    /// Whether entries may be missing: a table has reached its limit, or a message was too long or nested too deeply
    /// for the monitor.
    is_incomplete: bool,
}

impl Requests {
    pub(super) fn lookup(&self, key: &str) -> Lookup {
        let other = other_type(key);
        if self.in_flight.contains_key(key) {
            Lookup::InFlight
        } else if self.is_incomplete {
            Lookup::Unclear
        } else if self.finished.contains_key(key) {
            Lookup::Finished
        } else if self.in_flight.contains_key(&other) || self.finished.contains_key(&other) {
            Lookup::OtherType
        } else {
            Lookup::Unknown
        }
    }

    /// Returns whether a finished request of the session had this id. Stateless requests belong to no session.
    pub(super) fn had_session_id(&self, key: &str) -> bool {
        self.finished.get(key) == Some(&true)
    }

    /// Adds a request. The request replaces a [freed](Request::freed_at) request with the same id. For a second request
    /// with an id in flight, adds one to the number of responses to come, and marks the earlier request as ambiguous.
    pub(super) fn insert(&mut self, key: String, request: Request) {
        if let Some(earlier) = self.in_flight.get(&key)
            && let Some(at) = earlier.freed_at()
        {
            if self.replaced.len() < LIMIT || self.replaced.contains_key(&key) {
                self.replaced.insert(key.clone(), Replaced { at, is_unclear: false });
            } else {
                self.is_incomplete = true;
            }
            self.in_flight.remove(&key);
        }
        if let Some(earlier) = self.in_flight.get_mut(&key) {
            earlier.responses = earlier.responses.saturating_add(1);
            earlier.is_ambiguous = true;
        } else if self.in_flight.len() < LIMIT {
            self.in_flight.insert(key, Request { responses: 1, ..request });
        } else {
            self.is_incomplete = true;
        }
    }

    /// Records one response. Returns the request, which stays in the table if more responses are to come. Returns
    /// `None` if no request with this key is in flight.
    pub(super) fn respond(&mut self, key: &str) -> Option<Request> {
        let request = self.in_flight.get_mut(key)?;
        request.responses = request.responses.saturating_sub(1);
        let request = request.clone();
        if request.responses == 0 {
            self.in_flight.remove(key);
            if self.finished.len() < LIMIT && self.finished_tokens.len() < LIMIT {
                *self.finished.entry(key.to_string()).or_default() |= !request.is_stateless;
                self.finished_tokens.extend(request.token.clone());
            } else {
                self.is_incomplete = true;
            }
        }
        Some(request)
    }

    /// Returns whether a message may belong to a request that was [freed](Request::freed_at) within `window` before
    /// `now`, and whose id another request has used again.
    pub(super) fn crosses_cancellation(&self, key: &str, now: Millis, window: Millis) -> bool {
        self.replaced.get(key).is_some_and(|replaced| now.since(replaced.at) <= window)
    }

    /// Returns whether a response may belong to an earlier request with this id: see
    /// [`crosses_cancellation`](Self::crosses_cancellation). After such a response, this function also returns `true`
    /// for later responses with this id, because they may belong to either request.
    pub(super) fn is_unclear_response(&mut self, key: &str, now: Millis, window: Millis) -> bool {
        let crosses = self.crosses_cancellation(key, now, window);
        self.replaced.get_mut(key).is_some_and(|replaced| {
            replaced.is_unclear |= crosses;
            replaced.is_unclear
        })
    }

    pub(super) fn get_mut(&mut self, key: &str) -> Option<&mut Request> {
        self.in_flight.get_mut(key)
    }

    /// Lowers the level of each `logging/setLevel` in flight to at most `level`. Returns the lowest of these levels, or
    /// `level` if no such request is in flight.
    pub(super) fn lower_levels(&mut self, level: Level) -> Level {
        let requests = self.in_flight.values_mut().filter(|request| !request.is_stateless);
        let levels = requests.filter_map(|request| request.level.as_mut());
        levels.fold(level, |lowest, earlier| {
            *earlier = level.min(*earlier);
            lowest.min(*earlier)
        })
    }

    /// Records that entries may be missing, because a message was too long or nested too deeply for the monitor.
    pub(super) fn set_incomplete(&mut self) {
        self.is_incomplete = true;
    }

    /// Records that an error without a known id may refuse each stateless request in flight. Returns whether there is
    /// such a request.
    pub(super) fn refuse_stateless(&mut self, now: Millis) -> bool {
        let mut is_found = false;
        for request in self.in_flight.values_mut().filter(|request| request.is_stateless) {
            request.refused = request.refused.or(Some(now));
            is_found = true;
        }
        is_found
    }

    /// Returns the requests in flight.
    pub(super) fn in_flight(&self) -> impl Iterator<Item = &Request> {
        self.in_flight.values()
    }

    /// Returns the request in flight with this progress token. Returns a cancelled request only if no other request has
    /// the token.
    pub(super) fn by_token(&mut self, token: &str) -> Option<&mut Request> {
        let requests = self.in_flight.values_mut();
        let with_token = requests.filter(|request| request.token.as_deref() == Some(token));
        with_token.min_by_key(|request| request.cancelled.is_some())
    }

    /// Returns whether a finished request had this token. Returns `None` if entries may be missing, or if the token
    /// belongs to a task.
    pub(super) fn had_token(&self, token: &str) -> Option<bool> {
        let had = self.finished_tokens.contains(token);
        (!self.is_incomplete).then_some(had).filter(|_| !self.task_tokens.contains(token))
    }

    /// Keeps the progress token of a task, because the token remains valid after the response to its request.
    pub(super) fn keep_token(&mut self, token: &Option<String>) {
        if self.task_tokens.len() < LIMIT {
            self.task_tokens.extend(token.clone());
        } else {
            self.is_incomplete = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_tokens_have_a_limit() {
        let mut requests = Requests::default();
        for number in 0..=LIMIT {
            requests.insert(
                key(Json::trusted(b"1")),
                Request { token: Some(number.to_string()), ..Request::default() },
            );
            requests.respond("1");
        }
        assert_eq!(requests.finished_tokens.len(), LIMIT);
        assert_eq!(requests.had_token("0"), None, "the last token is missing, so no token is judged");
    }

    #[test]
    fn a_token_of_a_task_beyond_the_limit_is_not_judged() {
        let mut requests = Requests::default();
        requests.insert("1".to_string(), Request { token: Some("late".to_string()), ..Request::default() });
        requests.respond("1");
        (0..LIMIT).for_each(|number| requests.keep_token(&Some(number.to_string())));
        assert_eq!(requests.had_token("late"), Some(true));
        requests.keep_token(&Some("late".to_string()));
        assert_eq!(requests.had_token("late"), None);
    }
}
