//! State of a dialogue: session, capabilities of both sides, and lists of the server.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::requests::{Request, Requests};
use super::violation::Sender;
use crate::json::Json;
use crate::protocol::capabilities;
use crate::protocol::level::Level;
use crate::protocol::revision::{Revision, WireFeature};
use crate::time::Millis;

/// The session of the handshake era.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Session {
    #[default]
    None,
    /// The client has sent `initialize`.
    Requested,
    /// The server has sent its response to `initialize`.
    Answered(Revision),
    /// The client has sent `notifications/initialized`.
    Ready(Revision),
}

impl Session {
    pub(super) fn revision(self) -> Option<Revision> {
        match self {
            Session::Answered(revision) | Session::Ready(revision) => Some(revision),
            Session::None | Session::Requested => None,
        }
    }
}

/// One side of the dialogue.
#[derive(Debug, Default)]
pub(super) struct Party {
    /// The start of a line whose newline has not arrived.
    pub(super) partial: Vec<u8>,
    pub(super) is_oversized: bool,
    pub(super) has_ended: bool,
    /// The requests that this side has sent.
    pub(super) requests: Requests,
    /// The capabilities that this side has declared in the handshake, as JSON.
    pub(super) capabilities: Option<String>,
    /// Number of messages of this side whose id may be unreadable, and that have no response. The other side may
    /// respond to such messages without an id.
    pub(super) unreadable: u32,
}

impl Party {
    pub(super) fn add_unreadable(&mut self) {
        self.unreadable = self.unreadable.saturating_add(1);
    }
}

/// A list of the server, collected from its pages.
#[derive(Debug, Default)]
pub(super) struct Catalog {
    /// The name of each entry, and the output schema as JSON if the entry has one.
    pub(super) names: BTreeMap<String, Option<String>>,
    /// The total length of the stored output schemas.
    pub(super) schema_bytes: usize,
    /// Whether all pages have arrived, and all their names are stored.
    pub(super) is_complete: bool,
    /// The cursor of the next page.
    pub(super) next_cursor: Option<String>,
    /// The end of the lifetime, from `ttlMs`.
    pub(super) expires: Millis,
    /// Whether [`Dialogue::announces`] returned `true` for this list when each page arrived.
    pub(super) is_announced: bool,
}

impl Catalog {
    /// Returns whether the complete list has no entry of this name.
    pub(super) fn lacks(&self, name: &str) -> bool {
        self.is_complete && !self.names.contains_key(name)
    }
}

/// The maximum number of stored cursors. Beyond this limit, the monitor no longer judges unknown cursors.
const CURSOR_LIMIT: usize = 10_000;

/// The state of both sides.
#[derive(Debug, Default)]
pub(super) struct Dialogue {
    pub(super) client: Party,
    pub(super) server: Party,
    pub(super) session: Session,
    /// The revision of the last stateless request.
    pub(super) stateless: Option<Revision>,
    /// Whether the server has shown that it knows the stateless era. Until then, a stateless request may be a probe,
    /// and the server may know only the handshake.
    pub(super) serves_stateless: bool,
    /// The capabilities in the result of `server/discover`, as JSON.
    pub(super) discovered: Option<String>,
    pub(super) tools: Catalog,
    pub(super) prompts: Catalog,
    /// Each cursor that the server has issued, with its method.
    pub(super) cursors: BTreeSet<String>,
    /// The log level of the session.
    pub(super) level: Option<Level>,
    /// Whether the client has subscribed to a resource in the session.
    pub(super) has_subscribed: bool,
    /// Whether a message was too long or nested too deeply for the monitor. The other side may have read the message, so
    /// a missing request, response, subscription, session or cursor then proves nothing.
    pub(super) has_unread: bool,
}

impl Dialogue {
    pub(super) fn party(&mut self, sender: Sender) -> &mut Party {
        match sender {
            Sender::Client => &mut self.client,
            Sender::Server => &mut self.server,
        }
    }

    /// Records a message of `sender` that is too long or nested too deeply for the monitor.
    pub(super) fn add_unread(&mut self, sender: Sender) {
        self.party(sender).add_unreadable();
        self.has_unread = true;
        for requests in [&mut self.client.requests, &mut self.server.requests] {
            requests.set_incomplete();
        }
    }

    /// Returns the revision of a message without metadata.
    pub(super) fn revision(&self) -> Option<Revision> {
        self.session.revision().or(self.stateless)
    }

    /// Returns whether messages without metadata belong to the stateless era.
    pub(super) fn is_stateless(&self) -> bool {
        self.session == Session::None && self.serves_stateless && self.stateless.is_some()
    }

    /// Returns the capabilities that a side has declared for messages of this era. Returns `None` if the
    /// capabilities are unknown.
    pub(super) fn capabilities(&self, side: Sender, is_stateless: bool) -> Option<&str> {
        match (side, is_stateless) {
            (Sender::Client, false) => self.client.capabilities.as_deref(),
            (Sender::Server, false) => self.server.capabilities.as_deref(),
            (Sender::Server, true) => self.discovered.as_deref(),
            (Sender::Client, true) => None,
        }
    }

    /// Returns whether a side, or a stateless request in flight, has declared extensions or experimental features. Both
    /// sides may then use unknown methods. Also returns `true` after an unread message, which may be such a
    /// declaration.
    pub(super) fn has_extensions(&self) -> bool {
        let sides = [&self.client.capabilities, &self.server.capabilities, &self.discovered];
        let requests = self.client.requests.in_flight().map(|request| &request.capabilities);
        self.has_unread
            || sides
                .into_iter()
                .flatten()
                .chain(requests)
                .any(|capabilities| declares_extensions(capabilities))
    }

    /// Returns whether the server announces changes of its `tools` or `prompts` to the client.
    pub(super) fn announces(&self, list: &str, is_stateless: bool) -> bool {
        if is_stateless {
            let filter = format!("{list}ListChanged");
            return self.client.requests.in_flight().any(|request| request.receives(&filter));
        }
        let declared = self.server.capabilities.as_deref().unwrap_or("{}");
        is_declared(declared, &format!("{list}.listChanged"))
    }

    /// Returns whether the stored list of `tools` or `prompts` is current: it has not expired, or the server announces
    /// changes. Any other list may have changed without a notification. After an unread message, no list counts as
    /// current, because that message may be the notification of a change.
    pub(super) fn is_current(&self, list: &str, request: &Request, now: Millis) -> bool {
        let catalog = if list == "tools" { &self.tools } else { &self.prompts };
        let is_valid = now < catalog.expires;
        !self.has_unread && (is_valid || catalog.is_announced && self.announces(list, request.is_stateless))
    }

    /// Adds a cursor that the server has issued.
    pub(super) fn add_cursor(&mut self, method: &str, cursor: Json<'_>) {
        if self.cursors.len() < CURSOR_LIMIT {
            self.cursors.insert(cursor_key(method, cursor));
        }
    }

    /// Returns whether the server has issued a cursor for this method.
    pub(super) fn issues_cursors(&self, method: &str) -> bool {
        self.cursors.iter().any(|cursor| cursor.split(' ').next() == Some(method))
    }

    /// Returns whether the server may have issued this cursor.
    pub(super) fn may_have_issued(&self, method: &str, cursor: Json<'_>) -> bool {
        self.has_unread
            || self.cursors.len() >= CURSOR_LIMIT
            || self.cursors.contains(&cursor_key(method, cursor))
    }

    /// Starts the session with the result of `initialize`. Forgets the log level, subscriptions, lists and cursors.
    pub(super) fn begin(&mut self, revision: Revision, capabilities: Option<Json<'_>>) {
        self.session = Session::Answered(revision);
        self.server.capabilities = capabilities.map(|json| json.to_string());
        (self.level, self.has_subscribed) = (None, false);
        (self.tools, self.prompts) = (Catalog::default(), Catalog::default());
        self.cursors.clear();
    }
}

fn cursor_key(method: &str, cursor: Json<'_>) -> String {
    let text = cursor.string().map(|text| text.to_string()).unwrap_or_default();
    format!("{method} {text}")
}

/// Returns whether capabilities declare extensions or experimental features.
pub(super) fn declares_extensions(capabilities: &str) -> bool {
    is_declared(capabilities, "experimental") || is_declared(capabilities, "extensions")
}

/// Returns whether capabilities declare a path such as `tools.listChanged`.
pub(super) fn is_declared(capabilities: &str, path: &str) -> bool {
    let whole = Json::trusted(capabilities.as_bytes());
    if path == "elicitation.form" {
        // An empty object declares the form mode.
        let url_only = is_declared(capabilities, "elicitation.url");
        return is_on_at(whole, "elicitation") && (!url_only || is_on_at(whole, path));
    }
    is_on_at(whole, path)
}

fn is_on_at(whole: Json<'_>, path: &str) -> bool {
    capabilities::is_declared(path.split('.').try_fold(whole, |value, key| value.get(key)))
}

/// Returns the side that must declare a capability for a method, and the path of the capability. Returns `None` if
/// the method requires no capability.
pub(super) fn required_capability(
    method: &crate::protocol::methods::Method,
    sender: Sender,
    revision: Revision,
) -> Option<(Sender, &'static str)> {
    let capability = method.capability?;
    if capability == "server.completions" && !revision.has(WireFeature::CompletionsCapability) {
        return None;
    }
    if let Some(path) = capability.strip_prefix("server.") {
        return Some((Sender::Server, path));
    }
    if let Some(path) = capability.strip_prefix("client.") {
        return Some((Sender::Client, path));
    }
    // The receiver of a request runs its task. The sender of a notification about a task runs the task.
    Some((if method.is_request { sender.peer() } else { sender }, capability))
}
