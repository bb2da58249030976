//! The task that runs the state machines at their deadlines, and when a `ServerHandle` has queued a command.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};
use std::time::Duration;

use mcp_proto::Millis;
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::shared::Shared;

/// Maximum duration of a sleep.
const MAX_SLEEP: Millis = Millis::seconds(3600);

/// Runs the machines until the server closes, or the last service and the last response are dropped.
pub(crate) async fn run(shared: Weak<Shared>, signal: Arc<Notify>) {
    loop {
        let Some(shared) = shared.upgrade() else { return };
        let run =
            || shared.with(|machines, now| (machines.run_timer(&shared, now), machines.core.is_closed()));
        // After a panic, such as one of an observer, the machines do not repeat the message. The panic hook has already
        // reported the panic.
        let Ok((next, is_closed)) = catch_unwind(AssertUnwindSafe(run)) else { continue };
        if is_closed {
            return;
        }
        let left = next.since(shared.clock.now()).0.min(MAX_SLEEP.0);
        // Hold no strong reference during the sleep, because it would keep the server alive.
        drop(shared);
        let _ = timeout(Duration::from_millis(left), signal.notified()).await;
    }
}
