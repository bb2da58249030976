//! What a server takes from clients that were written by a crib sheet and not by the specification: `docs/compatibility.md`
//! has all of it.

use crate::json::{Json, Str};
use crate::peer::lifecycle::Trigger;
use crate::protocol::meta::RequestMeta;
use crate::server::config::ServerConfig;
use crate::server::feature::{Received, Request};
use crate::server::server_state::ServerState;

/// The switches.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tolerance {
    pub(crate) missing_jsonrpc: bool,
    pub(crate) lsp_shutdown: bool,
}

impl Tolerance {
    pub(crate) const DEFAULT: Tolerance = Tolerance { missing_jsonrpc: false, lsp_shutdown: true };
}

impl ServerConfig<'_> {
    /// Takes messages without `jsonrpc`, as if they said `"2.0"`. Another value is still refused, and so is its absence
    /// (-32600) if this is not called.
    #[must_use]
    pub const fn tolerate_missing_jsonrpc(mut self) -> Self {
        self.tolerance.missing_jsonrpc = true;
        self
    }

    /// Whether a session understands `shutdown` and `exit`, which MCP does not have, but some clients learned from the
    /// Language Server Protocol: `true` if this is not called.
    ///
    /// The request `shutdown` is answered with an empty result. From then on new requests are refused (-32600), and what is
    /// in flight may be finished for as long as the [grace](crate::server::Limits::grace) lasts. The notification `exit`
    /// ends the input; so does the end of the grace behind a `shutdown`. Without a session, and with `2026-07-28`, both are
    /// unknown.
    #[must_use]
    pub const fn lsp_shutdown(mut self, understood: bool) -> Self {
        self.tolerance.lsp_shutdown = understood;
        self
    }
}

/// Whether this is the `shutdown` of a session.
pub(crate) fn is_shutdown(core: &ServerState<'_>, method: Str<'_>) -> bool {
    core.info.tolerance.lsp_shutdown && method == "shutdown"
}

/// The client wants to end: it says `exit` next, or just goes.
pub(crate) fn shutdown(request: &mut Request<'_, '_>) -> Received {
    let answered = request.result(&mut |_| {});
    request.core.life.step(Trigger::Shutdown);
    request.core.awaits_exit = true;
    answered
}

/// Whether this notification is the `exit` of a session.
pub(crate) fn is_exit(core: &ServerState<'_>, method: Str<'_>, params: Option<Json<'_>>) -> bool {
    let stateless =
        || params.and_then(|params| params.get("_meta")).and_then(RequestMeta::from_json).is_some();
    core.info.tolerance.lsp_shutdown && core.session.is_some() && method == "exit" && !stateless()
}
