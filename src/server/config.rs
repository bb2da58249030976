//! Configuration of a server: identity, features, revisions, limits and their defaults.

use crate::json::{DEPTH_LIMIT, Writer};
use crate::protocol::methods::Method;
use crate::protocol::objects::icon::{Icon, Icons};
use crate::protocol::objects::implementation::Implementation;
use crate::protocol::revision::{Revision, Revisions};
use crate::rpc::code;
use crate::server::change_set::ChangeSet;
use crate::server::feature::Feature;
use crate::server::features::catalog::JOINS;
use crate::server::handshake::{self, HandshakeEra};
use crate::server::server_state::ServerState;
use crate::server::stateless::StatelessEra;
use crate::server::write_message::refuse_revision;
use crate::time::Millis;

/// The configuration of a server: its identity, features, limits and policies.
///
/// The constructor and all setters are `const`, so a configuration can be a `static` in the flash of a board.
///
/// ```
/// use mcp_proto::server::{ServerConfig, Tool, Tools};
/// static TOOLS: Tools = Tools::new(&[Tool::new("led_set", r#"{"type":"object"}"#)]);
/// static CONFIG: ServerConfig = ServerConfig::new("blinky", "0.1.0").features(&[&TOOLS]);
/// ```
#[derive(Clone, Copy)]
pub struct ServerConfig<'i> {
    pub(crate) identity: Implementation<'i>,
    pub(crate) instructions: Option<&'i str>,
    pub(crate) features: &'i [&'i dyn Feature],
    pub(crate) revisions: Revisions,
    pub(crate) limits: Limits,
    /// Code of the handshake era, if `revisions` has a revision of this era.
    pub(crate) handshake: Option<&'static HandshakeEra>,
    /// Code of the stateless era, if `revisions` has a revision of this era.
    pub(crate) stateless: Option<&'static StatelessEra>,
    /// The function that restarts the session for a second `initialize`. `None`: the server refuses this
    /// `initialize`.
    pub(crate) restart: Option<fn(&mut ServerState<'_>)>,
    /// The function that refuses an `initialize` with an unsupported version. `None`: the server offers its newest
    /// revision of the handshake era.
    pub(crate) reject_version: Option<handshake::RejectVersion>,
    pub(crate) strict_handshake: bool,
    pub(crate) refuse_when_full: bool,
    pub(crate) identify: bool,
    pub(crate) fresh_for: Millis,
    pub(crate) shared_cache: bool,
    /// Whether the server accepts messages without the member `jsonrpc`.
    pub(crate) missing_jsonrpc: bool,
    pub(crate) lsp_shutdown: bool,
}

/// The limits and timeouts of a server.
///
/// Start with [`DEFAULT`](Limits::DEFAULT). Each `with_…` method changes one limit and keeps the others.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Limits {
    /// The maximum length of a request id as JSON text, in bytes. For a string, the length includes the quotes.
    /// Default: 64. In an oversized line, an id may have at most 65,535 bytes, even if this limit is higher.
    ///
    /// A request with a longer id gets an error without an id. To be deferred, a request needs an id that also fits
    /// into the text of a slot.
    pub id: usize,
    /// The maximum nesting of a message. Default and upper bound: 128.
    pub depth: u8,
    /// The timeout, in milliseconds, of a deferred request for which the application sets no timeout. Each chunk of a
    /// [chunked](crate::server::Call::chunked) response restarts the timeout. With the feature `alloc` of this crate,
    /// progress also restarts the timeout.
    ///
    /// Default: `None`. With `None`, the timeout is one minute if the caller lends the slots, so that a forgotten
    /// request does not take a slot forever. With slots on the heap, there is no timeout.
    pub deferred_timeout: Option<Millis>,
    /// The default timeout, in milliseconds, of a request that the server sends. The default applies if
    /// [`RequestOptions`](crate::server::RequestOptions) sets no timeout. Default: one minute.
    pub request_timeout: Millis,
    /// The grace period of an ending connection, in milliseconds. Default: two seconds.
    ///
    /// The period starts at the end of the input, at [`Server::shutdown`](crate::Server::shutdown), or at the client's
    /// `shutdown` request. Requests in flight may finish until the period expires. The client then has a second period
    /// of the same length to read the remaining output. The second period restarts whenever the client reads. In the
    /// second period, the server accepts no further input.
    ///
    /// If a received line still waits for transmit space at the end of the input, the first period starts only after
    /// this line. A separate period of the same length limits the wait, and restarts whenever the client reads.
    pub grace: Millis,
    /// The maximum number of consecutive error responses without an id. Default: eight.
    ///
    /// The error response to an invalid message has no id if the id of the message is missing, invalid or too long.
    /// After the limit, the server sends no further error responses without an id. A valid message resets the count,
    /// unless the message is an error without an id. Invalid members of a batch do not count. In message mode only
    /// messages with [`StreamId::NONE`](crate::StreamId::NONE) count.
    pub invalid_in_a_row: u8,
}

impl Limits {
    /// The default limits.
    pub const DEFAULT: Limits = Limits {
        id: 64,
        depth: DEPTH_LIMIT,
        deferred_timeout: None,
        request_timeout: Millis::seconds(60),
        grace: Millis::seconds(2),
        invalid_in_a_row: 8,
    };

    /// Sets the maximum length of an id, in bytes.
    #[must_use]
    pub const fn with_id(mut self, bytes: usize) -> Self {
        self.id = bytes;
        self
    }

    /// Sets the maximum nesting of a message.
    #[must_use]
    pub const fn with_depth(mut self, levels: u8) -> Self {
        self.depth = levels;
        self
    }

    /// Sets the timeout of deferred requests: see [`deferred_timeout`](Limits::deferred_timeout).
    #[must_use]
    pub const fn with_deferred_timeout(mut self, time: Millis) -> Self {
        self.deferred_timeout = Some(time);
        self
    }

    /// Sets the timeout of requests that the server sends.
    #[must_use]
    pub const fn with_request_timeout(mut self, time: Millis) -> Self {
        self.request_timeout = time;
        self
    }

    /// Sets the grace period of an ending connection.
    #[must_use]
    pub const fn with_grace(mut self, time: Millis) -> Self {
        self.grace = time;
        self
    }

    /// Sets the maximum number of consecutive error responses without an id.
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

/// The policy for a second `initialize` on an open session.
///
/// Under both policies, a client may repeat `initialize` until `notifications/initialized`, or until the session
/// handles a request other than `ping` and `logging/setLevel`. A request with an unknown method does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecondInitialize {
    /// The server refuses the request with an error (-32600), and the session continues.
    Refuse,
    /// The server restarts the session. The server drops all requests in flight, and sends no responses to these
    /// requests. The server also removes all tasks, unless the table
    /// [keeps](crate::server::TaskTable::keep_on_reset) its tasks.
    ///
    /// This policy is for a UART, which has no connections: a new client sends the second `initialize`. The new client
    /// may reuse the id of a request in flight. Before the handshake is complete, an `initialize` with the id of a
    /// request in flight also restarts the session.
    ///
    /// A server of [several sessions](crate::server::Session), such as one over HTTP, refuses a second `initialize`
    /// under both policies, because the restart would drop the requests of all sessions. If a transport without
    /// sessions accepts [pieces](crate::Server::accept_pieces), a restart drops open responses without a last piece:
    /// [`request_id_on`](crate::Server::request_id_on) then returns `None` for their streams.
    Restart,
}

/// The policy for an `initialize` with an unsupported revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnknownVersion {
    /// The server responds with its newest revision of the handshake era. The specification requires this response.
    CounterOffer,
    /// The server responds with an error (-32602) that names the supported revisions of the handshake era. The
    /// specification shows this response as an example.
    Reject,
}

impl<'i> ServerConfig<'i> {
    /// Creates a configuration with this name and version, and no features.
    ///
    /// A server without features only connects: it declares no capability, and refuses requests such as `tools/list`.
    /// Add [`features`](ServerConfig::features).
    #[must_use]
    pub const fn new(name: &'i str, version: &'i str) -> Self {
        ServerConfig {
            identity: Implementation::new(name, version),
            instructions: None,
            features: &[],
            revisions: Revisions::ALL,
            limits: Limits::DEFAULT,
            handshake: HandshakeEra::in_revisions(Revisions::ALL),
            stateless: StatelessEra::in_revisions(Revisions::ALL),
            restart: None,
            reject_version: None,
            strict_handshake: false,
            refuse_when_full: false,
            identify: true,
            fresh_for: Millis::ZERO,
            shared_cache: false,
            missing_jsonrpc: false,
            lsp_shutdown: true,
        }
    }

    /// Sets the features. A server links only the features that its configuration names.
    ///
    /// With the feature `alloc` of this crate, the server joins features of one kind, so a server can consist of parts.
    /// A list then has the entries of all parts, in order. [`Server::new`](crate::Server::new) refuses a configuration
    /// in which two parts have an entry with the same name or URI. Without `alloc`, name one feature of each kind.
    ///
    /// ```
    /// use mcp_proto::server::{ServerConfig, Tool, Tools};
    /// static LED: Tools = Tools::new(&[Tool::new("led_set", "{}")]);
    /// static SENSOR: Tools = Tools::new(&[Tool::new("temperature", "{}")]);
    /// static CONFIG: ServerConfig = ServerConfig::new("board", "1.0.0").features(&[&LED, &SENSOR]);
    /// ```
    #[must_use]
    pub const fn features(mut self, features: &'i [&'i dyn Feature]) -> Self {
        self.features = features;
        self
    }

    /// Sets the display name (since `2025-06-18`).
    #[must_use]
    pub const fn title(mut self, title: &'i str) -> Self {
        self.identity = self.identity.title(title);
        self
    }

    /// Sets the description (since `2025-11-25`).
    #[must_use]
    pub const fn description(mut self, description: &'i str) -> Self {
        self.identity = self.identity.description(description);
        self
    }

    /// Sets the URL of the website (since `2025-11-25`).
    #[must_use]
    pub const fn website(mut self, url: &'i str) -> Self {
        self.identity = self.identity.website(url);
        self
    }

    /// Sets the icons (since `2025-11-25`).
    ///
    /// In `2026-07-28` the icons are part of every result. If the server supports this revision, use short links or
    /// [anonymous results](ServerConfig::anonymous_results).
    #[must_use]
    pub const fn icons(mut self, icons: &'i [Icon<'i>]) -> Self {
        self.identity = self.identity.icons(Icons::new(icons));
        self
    }

    /// Sets the instructions for the model.
    #[must_use]
    pub const fn instructions(mut self, instructions: &'i str) -> Self {
        self.instructions = Some(instructions);
        self
    }

    /// Sets the supported revisions. Default: all. A server without revisions of one era does not link the code of that
    /// era.
    ///
    /// Revision `2025-03-26` has batches: see [`Server::batch_buffer`](crate::Server::batch_buffer).
    #[must_use]
    pub const fn revisions(mut self, revisions: Revisions) -> Self {
        self.revisions = revisions;
        self.handshake = HandshakeEra::in_revisions(revisions);
        self.stateless = StatelessEra::in_revisions(revisions);
        self
    }

    /// Sets the limits. Default: [`Limits::DEFAULT`].
    #[must_use]
    pub const fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the policy for a second `initialize`. Default: [`SecondInitialize::Refuse`].
    #[must_use]
    pub const fn second_initialize(mut self, policy: SecondInitialize) -> Self {
        self.restart = match policy {
            SecondInitialize::Refuse => None,
            SecondInitialize::Restart => Some(|state| state.restart_session()),
        };
        self
    }

    /// Sets the policy for an unsupported version in `initialize`. Default: [`UnknownVersion::CounterOffer`].
    #[must_use]
    pub const fn unknown_version(mut self, policy: UnknownVersion) -> Self {
        self.reject_version = match policy {
            UnknownVersion::CounterOffer => None,
            UnknownVersion::Reject => Some(|request, requested, offer| {
                refuse_revision(request, code::INVALID_PARAMS, requested, offer)
            }),
        };
        self
    }

    /// Refuses requests of the session between `initialize` and `notifications/initialized`. The server still accepts
    /// `ping`, `logging/setLevel` and the [`shutdown`](ServerConfig::lsp_shutdown) of LSP.
    ///
    /// By default the server accepts requests before the notification, because several clients send them.
    #[must_use]
    pub const fn strict_handshake(mut self) -> Self {
        self.strict_handshake = true;
        self
    }

    /// While every slot is taken, refuses each request to which the application would respond. The error (-32603)
    /// contains the number of slots.
    ///
    /// By default the server emits these requests: the application can still respond immediately, or call
    /// [`busy`](crate::server::Call::busy). A server without slots always emits requests.
    #[must_use]
    pub const fn refuse_when_full(mut self) -> Self {
        self.refuse_when_full = true;
        self
    }

    /// Omits the server's identity from results of `2026-07-28`. Only the result of `server/discover` still contains
    /// the identity.
    ///
    /// The identity, with name and version, takes space in each result. The specification only recommends this member.
    #[must_use]
    pub const fn anonymous_results(mut self) -> Self {
        self.identify = false;
        self
    }

    /// Sets the cache lifetime of lists and other cacheable results (`2026-07-28`). `shared` allows a cache to share a
    /// result between users.
    ///
    /// Default: zero and not shared.
    #[must_use]
    pub const fn cache(mut self, fresh_for: Millis, shared: bool) -> Self {
        self.fresh_for = fresh_for;
        self.shared_cache = shared;
        self
    }

    /// Creates a table of tasks that grows on the heap: see [`TaskTable::grown`](crate::server::TaskTable::grown).
    /// Returns `None` if the configuration does not name the feature [`Tasks`](crate::server::Tasks). A server without
    /// this feature does not link the code of tasks.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn grown_tasks(&self, limit: usize, text: usize) -> Option<crate::server::TaskTable<'static>> {
        self.features.iter().find_map(|feature| feature.grown_tasks(limit, text))
    }

    /// Writes the capabilities of all features.
    pub(crate) fn write_capabilities(&self, revision: Revision, out: &mut Writer<'_>) {
        out.begin_object_at("capabilities");
        for (index, feature) in self.features.iter().enumerate() {
            // The first feature of a kind declares the capability for all features of this kind.
            if !JOINS || self.is_first_of_kind(index, *feature) {
                feature.write_capability(self, revision, out);
            }
        }
        out.end_object();
    }

    /// Returns the lists for which a feature declares `listChanged`.
    pub(crate) fn declared_lists(&self) -> ChangeSet {
        let mut lists = ChangeSet::NONE;
        for (list, _) in self.features.iter().filter_map(|feature| feature.change_notification()) {
            lists.add(list);
        }
        lists
    }

    fn is_first_of_kind(&self, index: usize, feature: &dyn Feature) -> bool {
        let earlier = self.features.get(..index).unwrap_or_default();
        match feature.methods().first() {
            Some(method) => !has_feature(earlier, method.name),
            // A feature without methods of the specification, such as `Extensions`. The list of features may contain
            // one value of this type twice, unless the value has filter members.
            None => !earlier.iter().any(|other| core::ptr::addr_eq(*other, feature)),
        }
    }

    /// Returns whether to declare `listChanged` for this list. `own` is the setting of the feature that writes the
    /// capability. If the server joins features, one feature with the setting is sufficient.
    pub(crate) fn declares_changes(&self, own: bool, list: ChangeSet) -> bool {
        own || JOINS && self.declared_lists().any(list)
    }

    /// Returns whether the server has a feature whose first method is `first`.
    pub(crate) fn has_feature(&self, first: Method) -> bool {
        has_feature(self.features, first.name)
    }

    pub(crate) fn write_instructions(&self, out: &mut Writer<'_>) {
        if let Some(instructions) = self.instructions {
            out.key("instructions");
            out.string(instructions);
        }
    }
}

/// Returns whether the first method of one of the features has the name `first`.
fn has_feature(features: &[&dyn Feature], first: &str) -> bool {
    let mut names = features.iter().filter_map(|feature| feature.methods().first());
    names.any(|method| method.name == first)
}

impl core::fmt::Debug for ServerConfig<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("ServerConfig").field("identity", &self.identity).finish_non_exhaustive()
    }
}
