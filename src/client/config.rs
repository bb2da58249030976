//! Who the client is, how it connects, and how long it waits.

use crate::json::{DEPTH_LIMIT, Json, Writer};
use crate::protocol::capabilities::ClientCapabilities;
use crate::protocol::icon::{Icon, Icons};
use crate::protocol::implementation::Identity;
use crate::protocol::meta;
use crate::protocol::revision::{Era, Revision, Revisions};
use crate::time::Millis;

use crate::client::capabilities::RawMembers;
use crate::client::options::Meta;

/// Who a client is and how it behaves. Made to be a `static`.
///
/// ```
/// use mcp_proto::client::{ClientConfig, Connect};
/// static INFO: ClientConfig = ClientConfig::new("my-host", "1.2.0").connect(Connect::Automatic);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct ClientConfig<'i> {
    pub(crate) identity: Identity<'i>,
    pub(crate) capabilities: ClientCapabilities,
    pub(crate) extensions: RawMembers<'i>,
    pub(crate) experimental: RawMembers<'i>,
    pub(crate) connect: Connect,
    pub(crate) revisions: Revisions,
    pub(crate) timeouts: Timeouts,
    pub(crate) depth: u8,
    pub(crate) pages: u32,
    pub(crate) empty_cursors: bool,
    pub(crate) missing_jsonrpc: bool,
    pub(crate) rounds: u32,
}

/// Which era a client tries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Connect {
    /// Asks the server with `server/discover`, and shakes hands if it is of the era that needs it: if it answers
    /// with anything but an error of the stateless era, or not at all within the probe's time.
    #[default]
    Automatic,
    /// Only `2026-07-28`. It still asks first, because a careless server of the other era might otherwise run a
    /// request that was not meant for it.
    Stateless,
    /// Only the revisions with a handshake.
    Handshake,
}

/// How long a client waits, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// For the answer to `server/discover`, before a server counts as one of the handshake era. Three seconds. A server that
    /// turns out to be slow and not old is asked once more.
    pub probe: Millis,
    /// For the answer to `initialize`, or to `server/discover` where no handshake can follow. Thirty seconds.
    pub initialize: Millis,
    /// For the answer to a request, if it does not say otherwise. Progress starts it anew. One minute.
    pub request: Millis,
    /// For the answer to a request, whatever progress it makes; and for the host's answer to a request of the server's that
    /// it [defers](crate::client::ServerRequest::defer). Ten minutes.
    pub maximum: Millis,
    /// For what is unsent when the client shuts down. Two seconds.
    pub grace: Millis,
}

impl Timeouts {
    /// The times that are used if none are given.
    pub const DEFAULT: Timeouts = Timeouts {
        probe: Millis::seconds(3),
        initialize: Millis::seconds(30),
        request: Millis::seconds(60),
        maximum: Millis::seconds(600),
        grace: Millis::seconds(2),
    };
}

impl Default for Timeouts {
    fn default() -> Self {
        Timeouts::DEFAULT
    }
}

impl<'i> ClientConfig<'i> {
    /// A client with this name and version.
    #[must_use]
    pub const fn new(name: &'i str, version: &'i str) -> Self {
        ClientConfig {
            identity: Identity::new(name, version),
            capabilities: ClientCapabilities::NONE,
            extensions: &[],
            experimental: &[],
            connect: Connect::Automatic,
            revisions: Revisions::ALL,
            timeouts: Timeouts::DEFAULT,
            depth: DEPTH_LIMIT,
            pages: 1000,
            empty_cursors: false,
            missing_jsonrpc: false,
            rounds: 10,
        }
    }

    /// A name for people (from `2025-06-18` on).
    #[must_use]
    pub const fn title(mut self, title: &'i str) -> Self {
        self.identity = self.identity.title(title);
        self
    }

    /// Images to show beside its name (from `2025-11-25` on). In `2026-07-28` they are part of every request.
    #[must_use]
    pub const fn icons(mut self, icons: &'i [Icon<'i>]) -> Self {
        self.identity = self.identity.icons(Icons::new(icons));
        self
    }

    /// What the client is for (from `2025-11-25` on).
    #[must_use]
    pub const fn description(mut self, description: &'i str) -> Self {
        self.identity = self.identity.description(description);
        self
    }

    /// The address of its website (from `2025-11-25` on).
    #[must_use]
    pub const fn website(mut self, url: &'i str) -> Self {
        self.identity = self.identity.website(url);
        self
    }

    /// Which era it tries. [`Connect::Automatic`] if this is not called.
    #[must_use]
    pub const fn connect(mut self, connect: Connect) -> Self {
        self.connect = connect;
        self
    }

    /// The revisions that it speaks: all of them if this is not called. The newest is asked for.
    #[must_use]
    pub const fn revisions(mut self, revisions: Revisions) -> Self {
        self.revisions = revisions;
        self
    }

    /// Other times to wait.
    #[must_use]
    pub const fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// The deepest nesting of a message, 128 at most: the default.
    #[must_use]
    pub const fn depth(mut self, levels: u8) -> Self {
        self.depth = levels;
        self
    }

    /// The most pages that a list may have. A thousand if this is not called.
    #[must_use]
    pub const fn pages(mut self, limit: u32) -> Self {
        self.pages = limit;
        self
    }

    /// An empty cursor is a cursor like any other, as it always is in `2026-07-28`. If this is not called, a list of an
    /// earlier revision ends there: some servers say so in that way.
    #[must_use]
    pub const fn empty_cursors(mut self) -> Self {
        self.empty_cursors = true;
        self
    }

    /// Takes messages without `jsonrpc`, as if they said `"2.0"`. Another value is still refused, and so is its absence if
    /// this is not called.
    #[must_use]
    pub const fn tolerate_missing_jsonrpc(mut self) -> Self {
        self.missing_jsonrpc = true;
        self
    }

    /// How often a server may ask for input before it answers a request (`2026-07-28`). Ten times if this is not called.
    #[must_use]
    pub const fn rounds(mut self, limit: u32) -> Self {
        self.rounds = limit;
        self
    }

    /// `_meta` of a request: what the stateless era wants in each, and what belongs to this one.
    pub(crate) fn write_meta(&self, revision: Revision, meta: Meta<'_>, out: &mut Writer<'_>) {
        let stateless = revision.era() == Era::Stateless;
        if !stateless && meta.token.is_none() && meta.more.is_none() {
            return;
        }
        out.key("_meta");
        out.begin_object();
        if stateless {
            out.field_string(meta::PROTOCOL_VERSION, revision.as_str());
            out.key(meta::CLIENT_INFO);
            self.identity.write(revision, out);
            out.key(meta::CLIENT_CAPABILITIES);
            self.write_capabilities(revision, out);
        }
        if let Some(token) = meta.token {
            out.key(meta::PROGRESS_TOKEN);
            out.unsigned(token);
        }
        if let Some(level) = meta.level.filter(|_| stateless) {
            out.field_string(meta::LOG_LEVEL, level.as_str());
        }
        for (name, value) in meta.more.into_iter().flat_map(Json::members) {
            out.text(name);
            out.token(":");
            out.json(value);
        }
        out.end_object();
    }
}
