//! Waits between attempts to reconnect.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use mcp_proto::{Client, Clock};
use mcp_proto_handles::ClientSession;
pub use mcp_proto_handles::Reconnect;

/// Waits until the next attempt is due. Meanwhile executes commands of the handles. Returns `false` if the client is
/// closing, does not reconnect, or has no attempt left.
pub(crate) fn wait_for_attempt(session: &mut ClientSession, client: &mut Client<'_>, clock: Clock) -> bool {
    let thread = thread::current();
    let wake = Arc::new(move || thread.unpark());
    let Some(pause) = session.begin_attempt(clock.now(), wake) else { return false };
    let until = clock.now().plus(pause);
    loop {
        let now = clock.now();
        let due = session.process_commands(client, now);
        if session.is_closing() || until <= now {
            return !session.is_closing();
        }
        thread::park_timeout(Duration::from_millis(due.map_or(until, |due| due.min(until)).since(now).0));
    }
}
