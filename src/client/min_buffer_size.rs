//! Minimum buffer sizes: the messages that the client itself writes must fit.

use crate::client::client_state::{ClientState, ID_LIMIT, RESERVE};
use crate::client::connect;
use crate::client::options::Meta;
use crate::json::Writer;
use crate::json::writer::member_cache::MemberCache;

/// Maximum size of the connecting request without its parameters and `_meta`.
const REQUEST_HEAD: usize = 96;

impl ClientState<'_> {
    /// Returns the maximum size, in bytes, of a message from the client itself.
    pub(crate) fn max_message_size(&self) -> usize {
        let mut largest = RESERVE;
        for revision in self.config.revisions.newest_first() {
            let mut out = Writer::measure();
            connect::write_params(self.config, revision, self.client_task_hooks(), &mut out);
            let meta = Meta { token: Some(u64::MAX), ..Meta::default() };
            self.config.write_meta(revision, meta, &mut MemberCache::new(), &mut out);
            largest = largest.max(out.len().saturating_add(REQUEST_HEAD));
        }
        largest.saturating_add(self.peer.output.overhead())
    }

    /// Returns the maximum size, in bytes, of a response from the client itself or about a task. The maximum reply size
    /// of the transmit buffer must be at least this size.
    pub(crate) fn min_reply_size(&self) -> usize {
        let tasks =
            self.client_task_hooks().map_or(0, |hooks| (hooks.max_response_size)(self.config.revisions));
        RESERVE.max(tasks.saturating_add(ID_LIMIT)).saturating_add(self.peer.output.overhead())
    }
}
