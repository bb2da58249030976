//! Keep-alive of the client: sends pings, and reports a server that does not respond.
//!
//! The client calls this module only through [`KeepAliveHooks`], so that a client without keep-alive does not link the
//! module.
//!
//! Specification: up to 2025-11-25, *Utilities*, *Ping*.

use crate::client::Client;
use crate::client::client_state::{ClientState, Session};
use crate::client::options::Meta;
use crate::client::pending_event::PendingEvent;
use crate::json::writer::member_cache::MemberCache;
use crate::json::{Json, Writer};
use crate::protocol::methods;
use crate::protocol::revision::Era;
use crate::time::Millis;

/// Code of keep-alive.
pub(crate) struct KeepAliveHooks {
    /// Sends a due ping if it fits. If the server is unresponsive, emits `PeerUnresponsive`, closes the input if the
    /// settings demand the end of the connection, and returns `true`. Otherwise returns `false`.
    pub(crate) advance: fn(&mut Client<'_>) -> bool,
    /// Returns the time of the next ping, or the deadline of the current ping. Returns `None` if the client is not
    /// connected, if neither time is set, or if the time has passed.
    pub(crate) deadline: fn(&ClientState<'_>) -> Option<Millis>,
    /// Records a response to a ping. Returns `false` if no ping had this id.
    pub(crate) record_response: fn(&mut ClientState<'_>, Json<'_>) -> bool,
}

impl KeepAliveHooks {
    pub(crate) const CODE: KeepAliveHooks = KeepAliveHooks {
        advance,
        deadline: |state| state.peer.keep_alive.deadline(state.peer.now).filter(|_| state.is_connected()),
        record_response: |state, id| state.peer.keep_alive.accept_response(id),
    };
}

fn advance(client: &mut Client<'_>) -> bool {
    let state = &mut client.state;
    let session = state.peer.session.filter(|_| state.is_connected());
    let (Some(Session { revision, .. }), config) = (session, state.config) else { return false };
    // The ping of the stateless era is `server/discover`.
    let mut ping = |out: &mut Writer<'_>| match revision.era() {
        Era::Handshake => out.field_string("method", methods::PING.name),
        Era::Stateless => {
            out.field_string("method", methods::SERVER_DISCOVER.name);
            out.begin_object_at("params");
            config.write_meta(revision, Meta::default(), &mut MemberCache::new(), out);
            out.end_object();
        }
    };
    let Some(close) = state.peer.advance_keep_alive(false, &mut ping) else { return false };
    if close {
        client.input.close();
    }
    state.emit(PendingEvent::PeerUnresponsive);
    true
}
