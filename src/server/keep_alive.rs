//! Keep-alive: pings an idle client and reports one that does not answer.
//!
//! It is reached through the trait [`Pinging`], so that a server without keep-alive does not link it.
//!
//! Specification: up to 2025-11-25, *Utilities*, *Ping*.

use crate::framing::outbound_message::About;
use crate::json::Json;
use crate::peer::keep_alive::{Due, ID_PREFIX};
use crate::peer::lifecycle::State;
use crate::server::Server;
use crate::server::pending_event::PendingEvent;
use crate::server::server_state::ServerState;
use crate::time::Millis;

pub(crate) trait Pinging: Sync {
    /// Sends a ping if one is due. Returns `true` if the client is unresponsive, which is then the pending event.
    fn ping(&self, server: &mut Server<'_>) -> bool;

    /// The time of the next ping or of its timeout.
    fn deadline(&self, core: &ServerState<'_>) -> Option<Millis>;

    /// Whether a response with this id answers the ping. Records it.
    fn answered(&self, core: &mut ServerState<'_>, id: Json<'_>) -> bool;
}

struct Pinger;

/// A thin reference to it takes one word.
pub(crate) static PINGER: &dyn Pinging = &Pinger;

impl Pinging for Pinger {
    fn ping(&self, server: &mut Server<'_>) -> bool {
        let core = &mut server.core;
        if core.life.state() != State::Ready {
            return false;
        }
        match core.keep_alive.due(core.now) {
            Due::Nothing => false,
            Due::Ping if !core.has_room() => false,
            Due::Ping => {
                let number = core.keep_alive.next();
                let sent = core.output.write(About::REQUEST, usize::MAX, &mut |out| {
                    out.token(r#"{"jsonrpc":"2.0","id":"#);
                    out.display(&(ID_PREFIX, number));
                    out.token(r#","method":"ping"}"#);
                });
                if sent.is_ok() {
                    core.keep_alive.asked(core.now);
                }
                false
            }
            Due::PeerUnresponsive { close } => {
                if close {
                    server.lose();
                }
                server.core.plan = Some(PendingEvent::PeerUnresponsive);
                true
            }
        }
    }

    fn deadline(&self, core: &ServerState<'_>) -> Option<Millis> {
        core.keep_alive.deadline(core.now).filter(|_| core.life.state() == State::Ready)
    }

    fn answered(&self, core: &mut ServerState<'_>, id: Json<'_>) -> bool {
        core.keep_alive.answered(id)
    }
}
