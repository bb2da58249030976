//! Client configuration: identity, revisions, timeouts, compatibility.

use crate::json::writer::member_cache::MemberCache;
use crate::json::{DEPTH_LIMIT, Json, Writer};
use crate::protocol::capabilities::ClientCapabilities;
use crate::protocol::meta;
use crate::protocol::objects::icon::{Icon, Icons};
use crate::protocol::objects::implementation::Implementation;
use crate::protocol::revision::{Era, Revision, Revisions, WireFeature};
use crate::time::Millis;

use crate::client::capabilities::RawMembers;
use crate::client::client_tasks::config::ClientTaskConfig;
use crate::client::connect::HandleConnectResponse;
use crate::client::handshake::handle_initialize_response;
use crate::client::options::Meta;
use crate::client::server_requests::respond::ServerRequests;
use crate::client::stateless::StatelessEra;
use crate::client::tasks::config::TaskConfig;

/// The identity and behavior of a client. The value is usually a `static`.
///
/// ```
/// use mcp_proto::client::{ClientConfig, Connect};
/// static CONFIG: ClientConfig = ClientConfig::new("my-host", "1.2.0").connect(Connect::Automatic);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct ClientConfig<'i> {
    pub(crate) identity: Implementation<'i>,
    pub(crate) capabilities: ClientCapabilities,
    pub(crate) extensions: RawMembers<'i>,
    pub(crate) experimental: RawMembers<'i>,
    pub(crate) methods: &'i [&'i str],
    pub(crate) server_requests: Option<&'static ServerRequests>,
    pub(crate) result_types: &'i [&'i str],
    pub(crate) connect: Connect,
    pub(crate) revisions: Revisions,
    /// Handles the response to `initialize`. `None` if the client does not connect in the handshake era.
    pub(crate) handshake: Option<HandleConnectResponse>,
    pub(crate) stateless: Option<&'static StatelessEra>,
    pub(crate) timeouts: Timeouts,
    pub(crate) depth: u8,
    pub(crate) pages: u32,
    pub(crate) empty_cursors: bool,
    pub(crate) missing_jsonrpc: bool,
    pub(crate) input_limit: u32,
    pub(crate) tasks: Option<TaskConfig>,
    pub(crate) client_tasks: Option<ClientTaskConfig>,
}

/// The era in which a client connects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Connect {
    /// Sends `server/discover`, and then `initialize` to a server of the handshake era.
    ///
    /// If all configured [revisions](ClientConfig::revisions) are of one era, the client connects only in this era.
    /// Otherwise the client assumes the handshake era if the server does not respond within the [probe
    /// timeout](Timeouts::probe), or if the HTTP exchange of `server/discover` ends without a response. The following
    /// responses also select the handshake era:
    /// - a result without `supportedVersions`,
    /// - a response whose common revisions all belong to the handshake era,
    /// - an error code that the stateless era does not define,
    /// - a response that is malformed, not valid JSON or nested too deeply.
    ///
    /// A response that [lost bytes](crate::Receive::filled), but not its id, selects no era. The client then sends
    /// `server/discover` a second time, but not a third time.
    ///
    /// A server that exits when it receives `server/discover` ends the connection, and thus selects no era:
    /// [`Client::set_connect`](crate::Client::set_connect) narrows the next connection to the handshake era.
    #[default]
    Automatic,
    /// Connects only in `2026-07-28`. The client still sends `server/discover` first, because a handshake server might
    /// execute a stateless request.
    Stateless,
    /// Connects only in the revisions with a handshake.
    Handshake,
}

/// The timeouts of a client, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// The timeout for the response to `server/discover`. Default: three seconds.
    ///
    /// When this timeout expires, the client assumes the handshake era. If the server then rejects `initialize` with
    /// the stateless era's error for unsupported revisions, the client sends `server/discover` once more.
    pub probe: Millis,
    /// The timeout for the response to `initialize`. Default: thirty seconds.
    ///
    /// This timeout also applies to the response to `server/discover` if the client cannot fall back to the handshake.
    pub initialize: Millis,
    /// The timeout for the response to a request whose [options](crate::client::Options::timeout) set no timeout.
    /// Requested progress restarts this timeout, unless the request [ignores
    /// progress](crate::client::Options::ignore_progress). Default: one minute.
    pub request: Millis,
    /// The maximum duration, regardless of progress, of a request whose options set no maximum. Default: ten minutes.
    ///
    /// This duration is also the default timeout for the application's response to a
    /// [deferred](crate::client::ServerRequest::defer) request of the server.
    pub maximum: Millis,
    /// The timeout for sending the remaining output after a shutdown or the end of input. Default: two seconds.
    pub grace: Millis,
}

impl Timeouts {
    /// The default timeouts.
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
    /// Creates a configuration for a client with this name and version.
    #[must_use]
    pub const fn new(name: &'i str, version: &'i str) -> Self {
        ClientConfig {
            identity: Implementation::new(name, version),
            capabilities: ClientCapabilities::NONE,
            extensions: &[],
            experimental: &[],
            methods: &[],
            server_requests: None,
            result_types: &[],
            connect: Connect::Automatic,
            revisions: Revisions::ALL,
            handshake: Some(handle_initialize_response),
            stateless: Some(&StatelessEra::CODE),
            timeouts: Timeouts::DEFAULT,
            depth: DEPTH_LIMIT,
            pages: 1000,
            empty_cursors: false,
            missing_jsonrpc: false,
            input_limit: 10,
            tasks: None,
            client_tasks: None,
        }
    }

    /// Sets the title, a human-readable name (from `2025-06-18` on).
    #[must_use]
    pub const fn title(mut self, title: &'i str) -> Self {
        self.identity = self.identity.title(title);
        self
    }

    /// Sets the icons (from `2025-11-25` on). In `2026-07-28`, every request contains the icons.
    #[must_use]
    pub const fn icons(mut self, icons: &'i [Icon<'i>]) -> Self {
        self.identity = self.identity.icons(Icons::new(icons));
        self
    }

    /// Sets the description of the client (from `2025-11-25` on).
    #[must_use]
    pub const fn description(mut self, description: &'i str) -> Self {
        self.identity = self.identity.description(description);
        self
    }

    /// Sets the URL of the client's website (from `2025-11-25` on).
    #[must_use]
    pub const fn website(mut self, url: &'i str) -> Self {
        self.identity = self.identity.website(url);
        self
    }

    /// Sets the era in which the client connects. Default: [`Connect::Automatic`].
    #[must_use]
    pub const fn connect(mut self, connect: Connect) -> Self {
        self.connect = connect;
        self.with_eras()
    }

    /// Sets the supported revisions. The client requests the newest revision first. Default: all.
    #[must_use]
    pub const fn revisions(mut self, revisions: Revisions) -> Self {
        self.revisions = revisions;
        self.with_eras()
    }

    /// Selects the code of the eras in which the client may connect.
    const fn with_eras(mut self) -> Self {
        let handshake = !matches!(self.connect, Connect::Stateless);
        let stateless = !matches!(self.connect, Connect::Handshake);
        let handshake = handshake && self.revisions.intersects(Revisions::HANDSHAKE);
        let stateless = stateless && self.revisions.intersects(Revisions::STATELESS);
        self.handshake = if handshake { Some(handle_initialize_response) } else { None };
        self.stateless = if stateless { Some(&StatelessEra::CODE) } else { None };
        self
    }

    /// Sets the timeouts.
    #[must_use]
    pub const fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// Sets the maximum nesting depth of a message. Default and maximum: 128.
    #[must_use]
    pub const fn depth(mut self, levels: u8) -> Self {
        self.depth = levels;
        self
    }

    /// Sets the maximum number of pages of a list. A longer list fails with
    /// [`EndlessList`](crate::RequestFailure::EndlessList). Default: 1000.
    #[must_use]
    pub const fn pages(mut self, limit: u32) -> Self {
        self.pages = limit;
        self
    }

    /// Accepts an empty cursor in all revisions, not only in `2026-07-28`.
    ///
    /// By default, an empty cursor ends a list in earlier revisions, because some servers mark the last page in this
    /// way.
    #[must_use]
    pub const fn empty_cursors(mut self) -> Self {
        self.empty_cursors = true;
        self
    }

    /// Accepts messages without the member `jsonrpc`. The client still refuses a value other than `"2.0"`. By default,
    /// the client also refuses messages without this member.
    #[must_use]
    pub const fn tolerate_missing_jsonrpc(mut self) -> Self {
        self.missing_jsonrpc = true;
        self
    }

    /// Sets the maximum number of input-required results per request (`2026-07-28`). The next such result fails the
    /// request with [`TooManyInputRequests`](crate::RequestFailure::TooManyInputRequests). Default: ten.
    #[must_use]
    pub const fn input_limit(mut self, limit: u32) -> Self {
        self.input_limit = limit;
        self
    }

    /// Writes the `_meta` of a request.
    ///
    /// The `_meta` contains the members in `meta` and, in the stateless era, the members that all requests have. The
    /// function writes nothing if there are no members.
    #[inline]
    pub(crate) fn write_meta(
        &self,
        revision: Revision,
        meta: Meta<'_>,
        cache: &mut MemberCache,
        out: &mut Writer<'_>,
    ) {
        let stateless = self.stateless.filter(|_| revision.era() == Era::Stateless);
        if stateless.is_some() || meta.token.is_some() || meta.more.is_some() {
            self.write_meta_members(stateless, revision, meta, cache, out);
        }
    }

    fn write_meta_members(
        &self,
        stateless: Option<&StatelessEra>,
        revision: Revision,
        meta: Meta<'_>,
        cache: &mut MemberCache,
        out: &mut Writer<'_>,
    ) {
        out.members(r#""_meta":{"#);
        if let Some(era) = stateless {
            (era.write_meta)(self, revision, cache, out);
        }
        if let Some(token) = meta.token {
            out.members(r#""progressToken":"#);
            out.unsigned(token);
        }
        if let Some(level) = meta.level.filter(|_| revision.has(WireFeature::RequestLogLevel)) {
            out.field_string(meta::LOG_LEVEL, level.as_str());
        }
        if let Some(more) = meta.more {
            write_members(more, out);
        }
        out.token("}");
    }
}

/// Writes the members of `object` into the object that `out` has begun.
#[inline(never)]
fn write_members(object: Json<'_>, out: &mut Writer<'_>) {
    for (name, value) in object.members() {
        out.text(name);
        out.token(":");
        out.json(value);
    }
}
