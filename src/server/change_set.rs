//! Pending change notifications, as flags.
//!
//! Recording a change only sets flags, and therefore cannot fail. The server writes the notification when the output
//! has space.

use crate::framing::outbound_message::OutboundMessageKind;
use crate::json::Writer;
use crate::peer::lifecycle::State;
use crate::server::Server;
use crate::server::feature::Change;
use crate::server::server_state::ServerState;

/// A set of flags: one for each changed list of the session, one for tasks, two for features, and two for the order of
/// messages and lines. The filter and the pending changes of a subscription are such sets, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct ChangeSet(u8);

impl ChangeSet {
    pub(crate) const NONE: ChangeSet = ChangeSet(0);
    pub(crate) const TOOLS: ChangeSet = ChangeSet(1);
    pub(crate) const RESOURCES: ChangeSet = ChangeSet(2);
    pub(crate) const PROMPTS: ChangeSet = ChangeSet(4);
    /// If set without `LINE_PASSED`: the received line waits for space, and no message has passed the line.
    pub(crate) const LINE_WAITING: ChangeSet = ChangeSet(8);
    /// A notification of a change, a message about a task, or a message of the application that is no response has
    /// passed the line: it took space for which the line waited. If `LINE_WAITING` is also set, a change has followed
    /// this message: the next space is for the line.
    pub(crate) const LINE_PASSED: ChangeSet = ChangeSet(16);
    /// Messages about tasks are pending.
    pub(crate) const TASKS_PENDING: ChangeSet = ChangeSet(32);
    /// Subscriptions of the stateless era exist, or have existed. In the pending changes of a subscription, this flag
    /// means that the response to the subscription is written.
    pub(crate) const SUBSCRIBED: ChangeSet = ChangeSet(64);
    /// A feature has pending notifications. In the pending changes of a subscription, this flag means that the
    /// subscription must end.
    pub(crate) const FEATURE_PENDING: ChangeSet = ChangeSet(128);

    /// Pending messages that the server writes before it handles a notification of the client.
    pub(crate) const ANY_PENDING: ChangeSet = ChangeSet(32 | 128);

    /// The flags of pending messages.
    const MESSAGES: ChangeSet = ChangeSet(1 | 2 | 4 | 32 | 128);

    /// The flags of the session. The other flags belong to the connection.
    const LISTS: ChangeSet = ChangeSet(1 | 2 | 4);

    /// The flags of the line. Together, they give the next space to the line.
    const LINE_FIRST: ChangeSet = ChangeSet(8 | 16);

    pub(crate) const FEATURE_FLAGS: ChangeSet = ChangeSet(64 | 128);

    pub(crate) fn any(self, other: ChangeSet) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) fn add(&mut self, other: ChangeSet) {
        self.0 |= other.0;
    }

    /// Records that a message takes space before the line that waits, if there is such a line.
    pub(crate) fn pass_line(&mut self, has_line: bool) {
        self.take_line();
        if has_line {
            self.add(ChangeSet::LINE_PASSED);
        }
    }

    /// Gives the next space to the line that waits, if a message has passed this line. Call this function for each
    /// change.
    pub(crate) fn schedule_line(&mut self) {
        self.0 |= (self.0 & ChangeSet::LINE_PASSED.0) >> 1;
    }

    /// Removes and returns the flags of the line.
    pub(crate) fn take_line(&mut self) -> ChangeSet {
        let flags = ChangeSet(self.0 & ChangeSet::LINE_FIRST.0);
        self.remove(flags);
        flags
    }

    /// Records that the line waits for space. `flags` are the flags that `take_line` returned.
    pub(crate) fn hold_line(&mut self, flags: ChangeSet) {
        self.add(if flags == ChangeSet::NONE { ChangeSet::LINE_WAITING } else { flags });
    }

    pub(crate) fn remove(&mut self, other: ChangeSet) {
        self.0 &= !other.0;
    }

    /// Replaces the flags of the session, and returns the previous flags of the session.
    pub(crate) fn replace_lists(&mut self, lists: ChangeSet) -> ChangeSet {
        let previous = ChangeSet(self.0 & ChangeSet::LISTS.0);
        self.remove(ChangeSet::LISTS);
        self.add(lists);
        previous
    }
}

impl Change<'_> {
    /// Returns the flag of the changed list. The set is empty for a single resource.
    pub(crate) fn list(&self) -> ChangeSet {
        match self {
            Change::Tools => ChangeSet::TOOLS,
            Change::Resources => ChangeSet::RESOURCES,
            Change::Prompts => ChangeSet::PROMPTS,
            Change::Resource(_) => ChangeSet::NONE,
        }
    }
}

impl Server<'_> {
    /// Writes pending change notifications and messages about tasks, while the output has space. Returns `true` if a
    /// task caused an event.
    pub(super) fn write_changes(&mut self) -> bool {
        self.state.change_writer.is_some_and(|write| write(self))
    }

    /// Writes pending messages, unless a line that waits for space has precedence. Returns `true` if a task caused an
    /// event.
    ///
    /// At first, pending messages precede a line that waits for space. After one of these messages, later changes wait
    /// until the line is handled. Without this rule, a line could wait forever, because the application may report
    /// changes faster than the client reads.
    fn write_changes_or_yield(&mut self) -> bool {
        let Server { input, state } = self;
        let state: &mut ServerState<'_> = state;
        let changes = &mut state.pending_changes;
        if changes.any(ChangeSet::MESSAGES) && state.peer.reserve_response() {
            if changes.0 & ChangeSet::LINE_FIRST.0 == ChangeSet::LINE_FIRST.0 {
                return false;
            }
            changes.pass_line(input.has_line());
        }
        state.write_all_changes()
    }
}

impl ServerState<'_> {
    /// Records a change, and passes the change to every feature. Sets the flag of a list only if a feature declares
    /// `listChanged` for the list. No effect while the connection ends, because changes could delay the end.
    pub(crate) fn record_change(&mut self, change: Change<'_>) {
        if self.peer.lifecycle.state() == State::Draining {
            return;
        }
        self.enable_change_writer();
        self.pending_changes.schedule_line();
        let config = self.config;
        for feature in config.features {
            if let Some((list, _)) = feature.change_notification()
                && list == change.list()
            {
                self.pending_changes.add(list);
            }
            feature.record_change(self, change);
        }
    }

    /// Enables the writer of change notifications and of messages about tasks. Servers that never call this function do
    /// not link the writer.
    pub(crate) fn enable_change_writer(&mut self) {
        self.change_writer = Some(|server| server.write_changes_or_yield());
    }

    /// Writes messages about tasks, list notifications for the session, then the notifications of features. Stops and
    /// returns `true` if a task causes an event.
    fn write_all_changes(&mut self) -> bool {
        if let Some(hooks) = self.task_hooks()
            && (hooks.advance)(self)
        {
            return true;
        }
        let config = self.config;
        if self.is_session_notified() {
            for feature in config.features {
                if let Some((list, method)) = feature.change_notification()
                    && self.pending_changes.any(list)
                    && self.write_notification(method)
                {
                    self.pending_changes.remove(list);
                }
            }
        }
        if self.pending_changes.any(ChangeSet::FEATURE_FLAGS) {
            for feature in config.features {
                feature.write_notifications(self);
            }
        }
        false
    }

    /// Writes a notification if the output has space for a whole response. Returns whether the server has written the
    /// notification.
    ///
    /// A line that needs a response waits for the same space. So a notification does not pass the line merely because
    /// the notification is shorter than a response. Only [`LINE_FIRST`](ChangeSet::LINE_FIRST) gives the next space to
    /// the line.
    fn write_notification(&mut self, method: &str) -> bool {
        let routing = self.session_routing(OutboundMessageKind::Notification);
        let mut write = |out: &mut Writer<'_>| {
            out.wrapped(r#"{"jsonrpc":"2.0","method":""#, method.as_bytes(), "\"}");
        };
        self.peer.reserve_response() && self.peer.output.write_message(routing, &mut write).is_ok()
    }
}
