//! Pending change notifications, as flags.
//!
//! Recording a change only sets a flag, so it cannot fail. The notification is written when the output has space.

use crate::framing::outbound_message::About;
use crate::peer::transmit_buffer::Overflow;
use crate::server::feature::Change;
use crate::server::server_state::ServerState;

/// A set of pending changes: one bit for each list of the session, and two bits for features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct ChangeSet(u8);

impl ChangeSet {
    pub(crate) const NONE: ChangeSet = ChangeSet(0);
    pub(crate) const TOOLS: ChangeSet = ChangeSet(1);
    pub(crate) const RESOURCES: ChangeSet = ChangeSet(2);
    pub(crate) const PROMPTS: ChangeSet = ChangeSet(4);
    /// Subscriptions of the stateless era exist, or have existed.
    pub(crate) const LISTENED: ChangeSet = ChangeSet(64);
    /// A feature has pending notifications of its own.
    pub(crate) const NOTICES: ChangeSet = ChangeSet(128);

    pub(crate) const TO_FEATURES: ChangeSet = ChangeSet(64 | 128);

    pub(crate) fn of_bits(bits: u8) -> ChangeSet {
        ChangeSet(bits)
    }

    pub(crate) fn bits(self) -> u8 {
        self.0
    }

    pub(crate) fn any(self, of: ChangeSet) -> bool {
        self.0 & of.0 != 0
    }

    pub(crate) fn add(&mut self, other: ChangeSet) {
        self.0 |= other.0;
    }

    pub(crate) fn remove(&mut self, other: ChangeSet) {
        self.0 &= !other.0;
    }
}

impl Change<'_> {
    /// The flag of the changed list, or an empty set for a single resource.
    pub(crate) fn list(&self) -> ChangeSet {
        match self {
            Change::Tools => ChangeSet::TOOLS,
            Change::Resources => ChangeSet::RESOURCES,
            Change::Prompts => ChangeSet::PROMPTS,
            Change::Resource(_) => ChangeSet::NONE,
        }
    }
}

impl ServerState<'_> {
    /// Records a change, if a feature declared that it can happen.
    pub(crate) fn set_changed(&mut self, change: Change<'_>) {
        self.tells_changes();
        let info = self.info;
        for feature in info.features {
            if feature.change_notice().is_some_and(|(kind, _)| kind == change) {
                self.changed.add(change.list());
            }
            feature.note_change(self, change);
        }
    }

    /// Links and enables the writing of change notifications.
    pub(crate) fn tells_changes(&mut self) {
        self.telling = Some(|core| core.tell_all());
    }

    /// Writes pending change notifications while the output has space.
    pub(crate) fn write_changes(&mut self) {
        if let Some(tell) = self.telling {
            tell(self);
        }
    }

    /// Writes notifications for the session, and has features write those for subscriptions.
    fn tell_all(&mut self) {
        let info = self.info;
        if self.session_hears() {
            for feature in info.features {
                if let Some((change, method)) = feature.change_notice()
                    && self.changed.any(change.list())
                    && self.write_notice(method).is_ok()
                {
                    self.changed.remove(change.list());
                }
            }
        }
        if self.changed.any(ChangeSet::TO_FEATURES) {
            for feature in info.features {
                feature.write_notices(self);
            }
        }
    }

    /// Writes a notification if a whole response would fit, too.
    ///
    /// The notification then precedes the next response, no matter how the output drains.
    fn write_notice(&mut self, method: &str) -> Result<(), Overflow> {
        if !self.has_room() {
            return Err(Overflow);
        }
        let room = self.output.reply_room();
        self.output.write(About::NOTIFICATION, room, &mut |out| {
            out.token(r#"{"jsonrpc":"2.0","method":"#);
            out.string(method);
            out.token("}");
        })
    }
}
