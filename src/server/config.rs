//! Who the server is, what it offers, and its limits.

use crate::json::{DEPTH_LIMIT, Writer};
use crate::protocol::icon::{Icon, Icons};
use crate::protocol::implementation::Identity;
use crate::protocol::meta;
use crate::protocol::revision::{Revision, Revisions};
use crate::server::compat::Tolerance;
use crate::server::feature::Feature;
use crate::server::server_state::Shape;
use crate::time::Millis;

/// Who a server is, what it offers and how it behaves. Made to be a `static`, in flash on a board.
///
/// ```
/// use mcp_proto::server::{ServerConfig, Tool, Tools};
/// static TOOLS: Tools = Tools::new(&[Tool::new("led_set", r#"{"type":"object"}"#)]);
/// static INFO: ServerConfig = ServerConfig::new("blinky", "0.1.0").features(&[&TOOLS]);
/// ```
#[derive(Clone, Copy)]
pub struct ServerConfig<'i> {
    pub(crate) identity: Identity<'i>,
    pub(crate) instructions: Option<&'i str>,
    pub(crate) features: &'i [&'i dyn Feature],
    pub(crate) revisions: Revisions,
    pub(crate) limits: Limits,
    pub(crate) second_initialize: SecondInitialize,
    pub(crate) unknown_version: UnknownVersion,
    pub(crate) strict_handshake: bool,
    pub(crate) refuse_when_full: bool,
    pub(crate) identify: bool,
    pub(crate) fresh_for: Millis,
    pub(crate) shared_cache: bool,
    pub(crate) tolerance: Tolerance,
}

/// The bounds of a machine. Each has a defined answer when it is reached.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Limits {
    /// The longest id of a request, in bytes as it is written, quotes included. A longer one gets an error without an
    /// id. With slots for requests in flight, it is what a slot's text can hold, if that is less. 64.
    pub id: usize,
    /// The deepest nesting of a message, 128 at most: the default.
    pub depth: u8,
    /// How long a deferred request may take, in milliseconds, if `defer` does not say. One minute.
    pub deferred_timeout: Millis,
    /// How long a client may take to answer a request of the server's own, in milliseconds, if
    /// [`RequestOptions`](crate::server::RequestOptions) does not say. One minute.
    pub request_timeout: Millis,
    /// How long requests in flight may still take after the input has ended or `shutdown` was called, and then how long
    /// the client may take to read what is left. Two seconds.
    pub grace: Millis,
    /// How many messages in a row that are no messages are answered. Eight.
    pub invalid_in_a_row: u8,
}

impl Limits {
    /// The limits that are used if none are given.
    pub const DEFAULT: Limits = Limits {
        id: 64,
        depth: DEPTH_LIMIT,
        deferred_timeout: Millis::seconds(60),
        request_timeout: Millis::seconds(60),
        grace: Millis::seconds(2),
        invalid_in_a_row: 8,
    };

    /// The default, but ids of at most `bytes`.
    #[must_use]
    pub const fn with_id(mut self, bytes: usize) -> Self {
        self.id = bytes;
        self
    }

    /// The default, but nesting of at most `levels`.
    #[must_use]
    pub const fn with_depth(mut self, levels: u8) -> Self {
        self.depth = levels;
        self
    }

    /// The default, but this long for deferred requests.
    #[must_use]
    pub const fn with_deferred_timeout(mut self, time: Millis) -> Self {
        self.deferred_timeout = time;
        self
    }

    /// The default, but this long for the client to answer.
    #[must_use]
    pub const fn with_request_timeout(mut self, time: Millis) -> Self {
        self.request_timeout = time;
        self
    }

    /// The default, but this long to finish.
    #[must_use]
    pub const fn with_grace(mut self, time: Millis) -> Self {
        self.grace = time;
        self
    }

    /// The default, but this many answers to invalid messages in a row.
    #[must_use]
    pub const fn with_invalid_in_a_row(mut self, count: u8) -> Self {
        self.invalid_in_a_row = count;
        self
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits::DEFAULT
    }
}

/// What a second `initialize` on an open session does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecondInitialize {
    /// It is refused with -32600, and the session goes on.
    Refuse,
    /// The session starts over: requests in flight are cancelled and never answered. For a UART, which has no
    /// connection: a new client looks just like that. It may begin with the id of a request that is in flight; that
    /// alone tells a new client, too, where the old one has made no handshake.
    Restart,
}

/// What is answered to an `initialize` for a revision that the server does not speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnknownVersion {
    /// The newest revision of the handshake era that it does speak, as the specification demands.
    CounterOffer,
    /// -32602 with the revisions that it speaks, as the specification's own example shows.
    Reject,
}

impl<'i> ServerConfig<'i> {
    /// A server with this name and version, and no features yet.
    #[must_use]
    pub const fn new(name: &'i str, version: &'i str) -> Self {
        ServerConfig {
            identity: Identity::new(name, version),
            instructions: None,
            features: &[],
            revisions: Revisions::ALL,
            limits: Limits::DEFAULT,
            second_initialize: SecondInitialize::Refuse,
            unknown_version: UnknownVersion::CounterOffer,
            strict_handshake: false,
            refuse_when_full: false,
            identify: true,
            fresh_for: Millis::ZERO,
            shared_cache: false,
            tolerance: Tolerance::DEFAULT,
        }
    }

    /// What it offers. A feature that is not named here is not linked.
    #[must_use]
    pub const fn features(mut self, features: &'i [&'i dyn Feature]) -> Self {
        self.features = features;
        self
    }

    /// A name for people (from `2025-06-18` on).
    #[must_use]
    pub const fn title(mut self, title: &'i str) -> Self {
        self.identity = self.identity.title(title);
        self
    }

    /// What it is (from `2025-11-25` on).
    #[must_use]
    pub const fn description(mut self, description: &'i str) -> Self {
        self.identity = self.identity.description(description);
        self
    }

    /// Where to read about it (from `2025-11-25` on).
    #[must_use]
    pub const fn website(mut self, url: &'i str) -> Self {
        self.identity = self.identity.website(url);
        self
    }

    /// Images to show beside its name (from `2025-11-25` on). In `2026-07-28` they are part of every result, so they
    /// should be short links there, or results [anonymous](ServerConfig::anonymous_results).
    #[must_use]
    pub const fn icons(mut self, icons: &'i [Icon<'i>]) -> Self {
        self.identity = self.identity.icons(Icons::new(icons));
        self
    }

    /// How a model should use it.
    #[must_use]
    pub const fn instructions(mut self, instructions: &'i str) -> Self {
        self.instructions = Some(instructions);
        self
    }

    /// The revisions that it speaks: all of them if this is not called. One of them, `2025-03-26`, has batches: see
    /// [`Server::batch_buffer`](crate::Server::batch_buffer).
    #[must_use]
    pub const fn revisions(mut self, revisions: Revisions) -> Self {
        self.revisions = revisions;
        self
    }

    /// Other limits.
    #[must_use]
    pub const fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// What a second `initialize` does. [`SecondInitialize::Refuse`] if this is not called.
    #[must_use]
    pub const fn second_initialize(mut self, policy: SecondInitialize) -> Self {
        self.second_initialize = policy;
        self
    }

    /// What an unknown version in `initialize` gets. [`UnknownVersion::CounterOffer`] if this is not called.
    #[must_use]
    pub const fn unknown_version(mut self, policy: UnknownVersion) -> Self {
        self.unknown_version = policy;
        self
    }

    /// Refuses requests between `initialize` and `notifications/initialized`. Several clients send some there, so
    /// they are served if this is not called.
    #[must_use]
    pub const fn strict_handshake(mut self) -> Self {
        self.strict_handshake = true;
        self
    }

    /// Refuses calls (-32603, naming the limit) while as many are deferred as there are slots. If this is not called, they
    /// are handed out all the same: the host can still answer them at once, or say that it is
    /// [`busy`](crate::server::Call::busy).
    #[must_use]
    pub const fn refuse_when_full(mut self) -> Self {
        self.refuse_when_full = true;
        self
    }

    /// Leaves the server's name and version out of the results of `2026-07-28`, except of `server/discover`. That
    /// saves some hundred bytes of each answer, and the specification only recommends them.
    #[must_use]
    pub const fn anonymous_results(mut self) -> Self {
        self.identify = false;
        self
    }

    /// How long clients may use lists from their cache (`2026-07-28`), and whether a cache may serve them to other
    /// users. Zero and not, if this is not called.
    #[must_use]
    pub const fn cache(mut self, fresh_for: Millis, shared: bool) -> Self {
        self.fresh_for = fresh_for;
        self.shared_cache = shared;
        self
    }

    /// The members that every result of the stateless era begins with, and how long one may be kept.
    pub(crate) fn write_head(&self, shape: Shape, out: &mut Writer<'_>) {
        let kind = if shape == Shape::InputRequired { "input_required" } else { "complete" };
        out.field_string("resultType", kind);
        if self.identify || shape == Shape::Discovery {
            out.key("_meta");
            out.begin_object();
            out.key(meta::SERVER_INFO);
            self.identity.write(Revision::V2026_07_28, out);
            out.end_object();
        }
        if matches!(shape, Shape::List | Shape::Discovery) {
            out.key("ttlMs");
            out.unsigned(self.fresh_for.0);
            out.field_string("cacheScope", if self.shared_cache { "public" } else { "private" });
        }
    }

    /// The capabilities of all features.
    pub(crate) fn write_capabilities(&self, revision: Revision, out: &mut Writer<'_>) {
        out.key("capabilities");
        out.begin_object();
        for feature in self.features {
            feature.write_capability(revision, out);
        }
        out.end_object();
    }

    pub(crate) fn write_instructions(&self, out: &mut Writer<'_>) {
        if let Some(instructions) = self.instructions {
            out.key("instructions");
            out.string(instructions);
        }
    }
}

impl core::fmt::Debug for ServerConfig<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("ServerConfig").field("identity", &self.identity).finish_non_exhaustive()
    }
}
