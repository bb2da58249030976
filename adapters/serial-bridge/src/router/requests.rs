//! The client's requests that have no response yet.

use std::collections::{HashMap, VecDeque};
use std::time::Instant;

use mcp_proto::rpc::Message;
use mcp_proto::{Revision, methods};

use crate::message::{self, id_key};

const STATELESS: &str = "io.modelcontextprotocol/protocolVersion";
/// Maximum number of ended requests whose late responses are expected.
const MAX_ENDED: usize = 64;

/// The purposes of requests that the bridge distinguishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    Initialize,
    Discover,
    Ping,
    SetLevel,
    Subscribe,
    Unsubscribe,
    /// A subscription of 2026-07-28. The board responds only when the subscription ends.
    Listen,
    /// Any other method of the protocol. The result of such a method is not empty.
    Other,
    /// A method that the protocol does not define.
    Extension,
}

impl Purpose {
    fn from_method(method: &str) -> Purpose {
        match method {
            "initialize" => Purpose::Initialize,
            "server/discover" => Purpose::Discover,
            "ping" => Purpose::Ping,
            "logging/setLevel" => Purpose::SetLevel,
            "resources/subscribe" => Purpose::Subscribe,
            "resources/unsubscribe" => Purpose::Unsubscribe,
            "subscriptions/listen" => Purpose::Listen,
            _ if methods::ALL.iter().any(|known| known.name() == method) => Purpose::Other,
            _ => Purpose::Extension,
        }
    }
}

/// A request in flight.
#[derive(Debug)]
pub(crate) struct Request {
    /// The JSON text of the id.
    pub(crate) id: String,
    /// The whole message.
    pub(crate) line: Vec<u8>,
    pub(crate) purpose: Purpose,
    /// Whether the request names its revision, and therefore needs no session.
    pub(crate) is_stateless: bool,
    /// Whether the request must be sent again when the board is ready.
    pub(crate) resend: bool,
    /// Number of times that the request was sent again because of damage or a missing session.
    pub(crate) resent: u32,
    /// The number of probes that the board has not answered.
    pub(crate) probes: u32,
    /// Whether the board has refused a probe. The refusal may also have been the response to the request.
    pub(crate) is_refused: bool,
    /// The time at which the request or its last probe was sent.
    pub(crate) checked: Instant,
    /// The later of two times: the last check of this request by the module `silence`, and the last start of its time
    /// limit.
    pub(crate) confirmed_at: Instant,
    /// The number of checks of this request by the module `silence` since its time limit last began.
    pub(crate) silent_probes: u32,
    /// The key of the progress token: see [`id_key`].
    pub(crate) progress_token: Option<String>,
    /// The position in the order in which the client sent its requests.
    order: u64,
}

impl Request {
    /// Begins the time limit again, for example after a sign that the board has the request.
    pub(crate) fn confirm(&mut self, now: Instant) {
        (self.confirmed_at, self.silent_probes) = (now, 0);
    }

    /// Returns whether the request is `initialize` or `server/discover`. The client needs the response, and a
    /// repetition is safe.
    pub(crate) fn is_handshake(&self) -> bool {
        matches!(self.purpose, Purpose::Initialize | Purpose::Discover)
    }

    /// Returns whether the protocol defines an empty result for the request, as for a `ping`. A repetition of such a
    /// request changes nothing.
    pub(crate) fn has_empty_result(&self) -> bool {
        matches!(self.purpose, Purpose::Ping | Purpose::SetLevel | Purpose::Subscribe | Purpose::Unsubscribe)
    }
}

/// Returns the revision that a request of the stateless era names, or `None` if the request names no known revision.
pub(super) fn stateless_revision(request: &Message<'_>) -> Option<Revision> {
    message::revision(request.params()?.get("_meta")?.get(STATELESS)?)
}

/// The requests in flight by the keys of their ids.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    in_flight: HashMap<String, Request>,
    /// Keys of ended requests that the board may still answer: abandoned requests, and those with an unanswered probe.
    ended: VecDeque<String>,
    next_order: u64,
}

impl Requests {
    /// Records a message with an id and a method.
    pub(crate) fn insert(&mut self, message: &Message<'_>, now: Instant) {
        let Some(id) = message.id() else { return };
        let method = message.method().and_then(|method| method.string());
        let method = method.and_then(|method| method.as_str()).unwrap_or_default();
        let meta = message.params().and_then(|params| params.get("_meta"));
        let request = Request {
            id: id.raw().to_owned(),
            line: message.bytes().to_owned(),
            purpose: Purpose::from_method(method),
            is_stateless: meta.is_some_and(|meta| meta.get(STATELESS).is_some()),
            resend: false,
            resent: 0,
            probes: 0,
            is_refused: false,
            checked: now,
            confirmed_at: now,
            silent_probes: 0,
            progress_token: meta.and_then(|meta| meta.get("progressToken")).map(id_key),
            order: self.next_order,
        };
        self.next_order += 1;
        self.in_flight.insert(id_key(id), request);
    }

    pub(crate) fn get(&mut self, key: &str) -> Option<&mut Request> {
        self.in_flight.get_mut(key)
    }

    /// Removes and returns a request that the board has answered. Returns `None` if the request is not in flight.
    pub(crate) fn answered(&mut self, key: &str) -> Option<Request> {
        let request = self.in_flight.remove(key)?;
        if request.probes > 0 {
            self.remember(key);
        }
        Some(request)
    }

    /// Removes and returns a request that the board may still answer. Returns `None` if the request is not in flight.
    pub(crate) fn abandon(&mut self, key: &str) -> Option<Request> {
        let request = self.in_flight.remove(key)?;
        self.remember(key);
        Some(request)
    }

    fn remember(&mut self, key: &str) {
        if self.ended.len() == MAX_ENDED {
            self.ended.pop_front();
        }
        self.ended.push_back(key.to_owned());
    }

    /// Returns whether a late response to an ended request with this key is expected.
    pub(crate) fn has_ended(&self, key: &str) -> bool {
        self.ended.iter().any(|ended| ended == key)
    }

    /// Removes and returns the requests for which `has_failed` returns `true`, in the order in which the
    /// client sent them.
    pub(crate) fn take_failed(&mut self, has_failed: impl Fn(&Request) -> bool) -> Vec<Request> {
        let mut failed: Vec<Request> =
            self.in_flight.extract_if(|_, request| has_failed(request)).map(|(_, request)| request).collect();
        failed.sort_by_key(|request| request.order);
        failed
    }

    /// Returns all requests, in any order.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Request> {
        self.in_flight.values()
    }

    /// Returns all requests in the order in which the client sent them.
    pub(crate) fn in_order(&mut self) -> Vec<&mut Request> {
        let mut requests: Vec<&mut Request> = self.in_flight.values_mut().collect();
        requests.sort_by_key(|request| request.order);
        requests
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.in_flight.is_empty()
    }

    /// Returns the number of requests in flight that are not subscriptions. When the client has disconnected, the
    /// bridge waits for the responses to these requests before it exits.
    pub(crate) fn awaited(&self) -> usize {
        self.in_flight.values().filter(|request| request.purpose != Purpose::Listen).count()
    }
}
