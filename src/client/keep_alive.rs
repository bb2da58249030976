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
use crate::json::Json;
use crate::json::writer::member_cache::MemberCache;
use crate::peer::LineEvent;
use crate::peer::keep_alive::Due;
use crate::protocol::methods;
use crate::protocol::revision::Era;
use crate::time::Millis;

pub(crate) trait KeepAliveHooks: Sync {
    /// Sends a due ping. If the server is unresponsive, emits `PeerUnresponsive` and returns `true`. In this case, also
    /// closes the input if the settings demand this.
    fn advance(&self, client: &mut Client<'_>) -> bool;

    /// Returns the time of the next ping, or the deadline of the current ping. Returns `None` if the client is not
    /// connected, or has no such time.
    fn deadline(&self, state: &ClientState<'_>) -> Option<Millis>;

    /// Records a response to a ping. Returns `false` if no ping had this id.
    fn record_response(&self, state: &mut ClientState<'_>, id: Json<'_>) -> bool;
}

struct Hooks;

/// The hooks. A client refers to this value with a `&&dyn`, which takes one word instead of two.
pub(crate) static KEEP_ALIVE_HOOKS: &dyn KeepAliveHooks = &Hooks;

impl KeepAliveHooks for Hooks {
    fn advance(&self, client: &mut Client<'_>) -> bool {
        let state = &mut client.state;
        if !state.is_connected() {
            return false;
        }
        let follows_event = state.peer.line_event == LineEvent::Handled;
        match state.peer.keep_alive.due(state.peer.now, follows_event) {
            Due::Nothing => false,
            Due::Ping => {
                write_ping(state);
                false
            }
            Due::PeerUnresponsive { close } => {
                if close {
                    client.input.close();
                }
                state.emit(PendingEvent::PeerUnresponsive);
                true
            }
        }
    }

    fn deadline(&self, state: &ClientState<'_>) -> Option<Millis> {
        state.peer.keep_alive.deadline(state.peer.now).filter(|_| state.is_connected())
    }

    fn record_response(&self, state: &mut ClientState<'_>, id: Json<'_>) -> bool {
        state.peer.keep_alive.accept_any_response(id)
    }
}

/// Sends a keep-alive request: `ping`, or `server/discover` in the stateless era.
fn write_ping(state: &mut ClientState<'_>) {
    let Some(Session { revision, .. }) = state.peer.session else { return };
    let config = state.config;
    state.peer.write_ping(&mut |out| match revision.era() {
        Era::Handshake => out.field_string("method", methods::PING.name),
        Era::Stateless => {
            out.field_string("method", methods::SERVER_DISCOVER.name);
            out.key("params");
            out.begin_object();
            config.write_meta(revision, Meta::default(), &mut MemberCache::new(), out);
            out.end_object();
        }
    });
}
