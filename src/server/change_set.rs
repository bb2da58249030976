//! What has changed and was not told yet: flags, written as room comes, so that saying it cannot fail.

use crate::framing::outbound_message::About;
use crate::peer::transmit_buffer::Overflow;
use crate::server::feature::Change;
use crate::server::server_state::ServerState;

/// What is to be told: a bit for each list of the session, and two that features set for themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct ChangeSet(u8);

impl ChangeSet {
    pub(crate) const NONE: ChangeSet = ChangeSet(0);
    pub(crate) const TOOLS: ChangeSet = ChangeSet(1);
    pub(crate) const RESOURCES: ChangeSet = ChangeSet(2);
    pub(crate) const PROMPTS: ChangeSet = ChangeSet(4);
    /// Clients listen, or have done so.
    pub(crate) const LISTENED: ChangeSet = ChangeSet(64);
    /// A feature has something to tell by itself.
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
    /// The list that it is about; none if it is about one resource.
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
    /// Notes what has changed, as far as a feature declared that it can.
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

    /// There is something to tell, or will be.
    pub(crate) fn tells_changes(&mut self) {
        self.telling = Some(|core| core.tell_all());
    }

    /// Tells what has changed, as far as there is room.
    pub(crate) fn write_changes(&mut self) {
        if let Some(tell) = self.telling {
            tell(self);
        }
    }

    /// An open session hears it by notifications that belong to nothing, and others from the feature that knows of them.
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

    /// A notification that nobody waits for: written if a whole answer would have room, too, so that it comes before
    /// the next answer whether output drains in small pieces or at once.
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
