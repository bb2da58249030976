//! Sends the server's pings, and reports a client that does not respond.
//!
//! The server calls this module only through [`KeepAliveHooks`], so that a server without keep-alive does not link the
//! module.
//!
//! Specification: up to 2025-11-25, *Utilities*, *Ping*.

use crate::json::{Json, Writer};
use crate::peer::lifecycle::State;
use crate::protocol::methods;
use crate::server::Server;
use crate::server::pending_event::PendingEvent;
use crate::server::server_state::ServerState;
use crate::time::Millis;

pub(crate) struct KeepAliveHooks {
    /// Sends a due ping if the output has space. If the client is unresponsive (see
    /// [`KeepAlive::timeout`](crate::KeepAlive::timeout)), sets the pending event, and returns `true`. The function
    /// then also disconnects, if the settings demand the end of the connection. Returns `false` in all other cases.
    pub(super) advance: fn(&mut Server<'_>) -> bool,

    /// Returns the time of the next ping, or of the current ping's timeout. Returns `None` if neither lies ahead, if
    /// the handshake is not complete, or if the connection is draining.
    pub(super) deadline: fn(&ServerState<'_>) -> Option<Millis>,

    /// Records a response to a ping. Returns `false` if no ping had this id.
    pub(super) record_response: fn(&mut ServerState<'_>, Json<'_>) -> bool,
}

/// The hooks of every server with keep-alive.
pub(super) static KEEP_ALIVE_HOOKS: KeepAliveHooks = KeepAliveHooks { advance, deadline, record_response };

fn advance(server: &mut Server<'_>) -> bool {
    let peer = &mut server.state.peer;
    // After the end of input, no response can arrive. Also, `advance_keep_alive` would clear the flag of sent bytes,
    // which `end_connection` reads.
    if peer.lifecycle.state() != State::Ready || server.input.is_ended() {
        return false;
    }
    let mut ping = |out: &mut Writer<'_>| out.field_string("method", methods::PING.name);
    let Some(close) = peer.advance_keep_alive(true, &mut ping) else { return false };
    if close {
        server.disconnect();
    }
    server.state.pending_event = Some(PendingEvent::PeerUnresponsive);
    true
}

fn deadline(state: &ServerState<'_>) -> Option<Millis> {
    state.peer.keep_alive.deadline(state.peer.now).filter(|_| state.peer.lifecycle.state() == State::Ready)
}

fn record_response(state: &mut ServerState<'_>, id: Json<'_>) -> bool {
    state.peer.keep_alive.accept_response(id)
}
