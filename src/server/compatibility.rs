//! Compatibility with nonconforming clients. `docs/compatibility.md` lists all cases.

use crate::framing::outbound_message::SessionKey;
use crate::json::{Json, Str, Writer};
use crate::peer::lifecycle::Trigger;
use crate::server::config::ServerConfig;
use crate::server::feature::{Received, Request};
use crate::server::server_state::ServerState;

impl ServerConfig<'_> {
    /// Accepts messages without the member `jsonrpc`. The server still refuses a value other than `"2.0"`.
    ///
    /// By default the server also refuses a message without the member (-32600).
    #[must_use]
    pub const fn tolerate_missing_jsonrpc(mut self) -> Self {
        self.missing_jsonrpc = true;
        self
    }

    /// Sets whether the session accepts `shutdown` and `exit` of LSP. Default: `true`.
    ///
    /// MCP does not have these methods of the Language Server Protocol (LSP), but some clients send them. The server
    /// responds to `shutdown` with an empty result. The server then refuses new requests (-32600). The application may
    /// respond to requests in flight until the [grace](crate::server::Limits::grace) period expires. The notification
    /// `exit` ends the input. Without `exit`, the server ends the connection after the grace period. Before
    /// `initialize`, and in messages of `2026-07-28`, the server treats both methods like unknown methods. A server of
    /// [several sessions](crate::server::Session), such as one over HTTP, always treats both like unknown methods,
    /// because the methods would end all sessions.
    #[must_use]
    pub const fn lsp_shutdown(mut self, understood: bool) -> Self {
        self.lsp_shutdown = understood;
        self
    }
}

/// Returns whether the configuration accepts `shutdown` and `exit`, and the server has only one session. With several
/// sessions, a client could end the sessions of other clients with these methods.
fn accepts_lsp_shutdown(state: &ServerState<'_>) -> bool {
    state.config.lsp_shutdown && state.session_key == SessionKey::NONE
}

/// Returns whether the method of a session's request is `shutdown`, and the server accepts this method.
pub(crate) fn is_shutdown(state: &ServerState<'_>, method: Str<'_>) -> bool {
    accepts_lsp_shutdown(state) && method == "shutdown"
}

/// Responds to `shutdown` and starts draining. The client sends `exit` next, or disconnects.
#[cold]
pub(crate) fn shutdown(request: &mut Request<'_, '_>) -> Received {
    let answered = request.result(&mut |_: &mut Writer<'_>| {});
    request.state.peer.lifecycle.apply(Trigger::Shutdown);
    request.state.awaits_exit = true;
    answered
}

/// Returns whether a notification is `exit`, and the server accepts this method. A notification whose `_meta` names a
/// revision of the stateless era belongs to no session, and is not accepted.
pub(crate) fn is_exit(state: &mut ServerState<'_>, method: Str<'_>, params: Json<'_>) -> bool {
    if !accepts_lsp_shutdown(state) || state.peer.session.is_none() || method != "exit" {
        return false;
    }
    let cache = &mut state.request_cache;
    let names_revision =
        |meta| state.config.stateless.is_some_and(|era| (era.parse_meta)(cache, meta).is_some());
    !params.get("_meta").is_some_and(names_revision)
}
