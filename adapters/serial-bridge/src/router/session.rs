//! The client's session in the handshake era, recorded for a replay.

use std::collections::BTreeMap;

use mcp_proto::rpc::Message;

use super::requests::{Purpose, Request};
use crate::message::request;

/// The messages of the client that a replay repeats. A request is recorded when the board has answered the request with
/// a result.
#[derive(Debug, Default)]
pub(crate) struct Session {
    /// The client's `initialize`.
    initialize: Option<Vec<u8>>,
    is_initialized: bool,
    /// The last `logging/setLevel`.
    level: Option<Vec<u8>>,
    /// The `resources/subscribe` of each subscription, by URI.
    subscriptions: BTreeMap<String, Vec<u8>>,
}

/// A line of a replay. A request has an id, and the replay waits for its response.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ReplayLine {
    pub(crate) id: Option<String>,
    pub(crate) is_initialize: bool,
    pub(crate) line: String,
}

impl Session {
    /// Returns whether the board has accepted an `initialize`.
    pub(crate) fn is_open(&self) -> bool {
        self.initialize.is_some()
    }

    /// Updates the session after the board has answered this request with a result.
    pub(crate) fn record(&mut self, request: &Request) {
        let line = || request.line.clone();
        match request.purpose {
            Purpose::Initialize => *self = Session { initialize: Some(line()), ..Session::default() },
            Purpose::SetLevel => self.level = Some(line()),
            Purpose::Subscribe => _ = self.subscriptions.insert(uri(&request.line), line()),
            Purpose::Unsubscribe => _ = self.subscriptions.remove(&uri(&request.line)),
            Purpose::Discover | Purpose::Ping | Purpose::Listen | Purpose::Other | Purpose::Extension => {}
        }
    }

    /// Records that the client has sent `notifications/initialized`, if the session is open.
    pub(crate) fn initialized(&mut self) {
        self.is_initialized = self.is_open();
    }

    /// Returns the lines that open the session again. Requests get new ids.
    pub(crate) fn replay(&self, mut next_id: impl FnMut() -> String) -> Vec<ReplayLine> {
        let mut repeat = |line: &[u8], method: &str| {
            let id = next_id();
            let params = Message::parse(line).ok().and_then(|message| message.params());
            let line = request(&format!("\"{id}\""), method, params);
            ReplayLine { id: Some(id), is_initialize: method == "initialize", line }
        };
        let Some(initialize) = &self.initialize else { return Vec::new() };
        let mut lines = vec![repeat(initialize, "initialize")];
        if self.is_initialized {
            let line = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n".into();
            lines.push(ReplayLine { id: None, is_initialize: false, line });
        }
        lines.extend(self.level.iter().map(|line| repeat(line, "logging/setLevel")));
        lines.extend(self.subscriptions.values().map(|line| repeat(line, "resources/subscribe")));
        lines
    }
}

/// Returns the JSON text of the URI in a request.
fn uri(line: &[u8]) -> String {
    let params = Message::parse(line).ok().and_then(|message| message.params());
    params.and_then(|params| params.get("uri")).map(|uri| uri.raw().to_owned()).unwrap_or_default()
}
