//! Table of sessions of the handshake era.

use mcp_proto::server::Session;
use mcp_proto::{Millis, SessionKey};

use super::slot_table::Slots;

/// Index that stands for no session.
const NONE: u16 = u16::MAX;

/// Storage for one session. The caller lends an array: `[SessionSlot::EMPTY; 100]`.
#[derive(Debug, Clone, Copy)]
pub struct SessionSlot {
    id: [u8; 16],
    user: u64,
    last_used: Millis,
    session: Session,
    state: SlotState,
    /// Number of exchanges of the session, including its general streams.
    open: u16,
    /// Number of messages that wait for an event stream.
    held: u16,
    /// First session in a hash bucket. The bucket has the same index as this slot, but no other relation to the session
    /// in the slot.
    bucket: u16,
    next_in_bucket: u16,
    older: u16,
    newer: u16,
}

const _: () = assert!(size_of::<SessionSlot>() <= 128, "an idle session takes at most 128 bytes");

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SlotState {
    Free,
    Open,
    /// The core server does not know yet that the session has ended.
    Ending,
}

impl SessionSlot {
    /// A slot without a session.
    pub const EMPTY: SessionSlot = SessionSlot {
        id: [0; 16],
        user: 0,
        last_used: Millis::ZERO,
        session: Session::new(SessionKey::NONE),
        state: SlotState::Free,
        open: 0,
        held: 0,
        bucket: NONE,
        next_in_bucket: NONE,
        older: NONE,
        newer: NONE,
    };
}

/// The sessions, in the order of their last use.
pub(super) struct Sessions<'b> {
    slots: Slots<'b, SessionSlot>,
    oldest: u16,
    newest: u16,
    /// First free slot. Free slots are linked by `newer`.
    free: u16,
    /// First session that the core server has to remove. These sessions are linked by `newer`.
    ending: u16,
    /// The key of the session in the core server.
    current: SessionKey,
    /// Number of dropped messages: see [`HttpServer::dropped_messages`](super::HttpServer::dropped_messages).
    dropped: u16,
}

/// Returns the key of the session in a slot.
fn key_of(index: u16) -> SessionKey {
    SessionKey(index.wrapping_add(1))
}

impl<'b> Sessions<'b> {
    pub(super) fn new(mut slots: Slots<'b, SessionSlot>) -> Sessions<'b> {
        slots.reset(SessionSlot::EMPTY);
        let mut sessions = Sessions {
            slots,
            oldest: NONE,
            newest: NONE,
            free: NONE,
            ending: NONE,
            current: SessionKey::NONE,
            dropped: 0,
        };
        sessions.put_back_all(0);
        sessions
    }

    /// Frees all slots from this index on.
    fn put_back_all(&mut self, from: usize) {
        for index in (from..self.slots.as_slice().len()).rev() {
            self.put_back(u16::try_from(index).unwrap_or(NONE));
        }
    }

    /// Grows the table, if possible, and assigns each session to a bucket again. Returns whether the table grew.
    fn grow(&mut self) -> bool {
        let Some(count) = self.slots.grow(SessionSlot::EMPTY) else { return false };
        self.put_back_all(count);
        self.slots.as_mut_slice().iter_mut().for_each(|slot| slot.bucket = NONE);
        for index in 0..u16::try_from(count).unwrap_or(NONE) {
            let Some(slot) = self.slot_mut(index).filter(|slot| slot.state == SlotState::Open) else {
                continue;
            };
            let id = slot.id;
            self.link_to_bucket(&id, index);
        }
        true
    }

    fn link_to_bucket(&mut self, id: &[u8; 16], index: u16) {
        let bucket = self.bucket_of(id);
        let Some(head) = self.slot_mut(bucket) else { return };
        let next = core::mem::replace(&mut head.bucket, index);
        if let Some(slot) = self.slot_mut(index) {
            slot.next_in_bucket = next;
        }
    }

    fn put_back(&mut self, index: u16) {
        let free = self.free;
        if let Some(slot) = self.slot_mut(index) {
            (slot.state, slot.newer) = (SlotState::Free, free);
            self.free = index;
        }
    }

    fn slot(&self, key: SessionKey) -> Option<&SessionSlot> {
        self.slots
            .as_slice()
            .get(usize::from(key.0.checked_sub(1)?))
            .filter(|slot| slot.state != SlotState::Free)
    }

    fn slot_mut(&mut self, index: u16) -> Option<&mut SessionSlot> {
        self.slots.as_mut_slice().get_mut(usize::from(index))
    }

    fn open_mut(&mut self, key: SessionKey) -> Option<&mut SessionSlot> {
        self.slot_mut(key.0.checked_sub(1)?).filter(|slot| slot.state == SlotState::Open)
    }

    fn bucket_of(&self, id: &[u8; 16]) -> u16 {
        let [a, b, c, d, ..] = *id;
        let count = u32::try_from(self.slots.as_slice().len()).unwrap_or(u32::MAX);
        u32::from_le_bytes([a, b, c, d]).checked_rem(count).and_then(|it| it.try_into().ok()).unwrap_or(NONE)
    }

    /// Returns the open session with this id that belongs to `user`, or `None` if there is no such session.
    pub(super) fn find(&self, id: &[u8; 16], user: u64) -> Option<SessionKey> {
        let mut index = self.slots.as_slice().get(usize::from(self.bucket_of(id)))?.bucket;
        while let Some(slot) = self.slots.as_slice().get(usize::from(index)) {
            if slot.id == *id {
                return (slot.state == SlotState::Open && slot.user == user).then_some(key_of(index));
            }
            index = slot.next_in_bucket;
        }
        None
    }

    /// Grows the table if no slot is free. Returns whether the table is full and cannot grow.
    pub(super) fn is_full(&mut self) -> bool {
        self.free == NONE && !self.grow()
    }

    /// Creates a session. Returns `None` if no slot is free and the table cannot grow.
    pub(super) fn create(&mut self, id: [u8; 16], user: u64, now: Millis) -> Option<SessionKey> {
        if self.is_full() {
            return None;
        }
        let index = self.free;
        let slot = self.slot_mut(index)?;
        let (key, bucket, free) = (key_of(index), slot.bucket, slot.newer);
        *slot = SessionSlot {
            id,
            user,
            last_used: now,
            session: Session::new(key),
            state: SlotState::Open,
            bucket,
            ..SessionSlot::EMPTY
        };
        self.free = free;
        self.link_to_bucket(&id, index);
        self.append_newest(index);
        Some(key)
    }

    fn append_newest(&mut self, index: u16) {
        let newest = self.newest;
        if let Some(slot) = self.slot_mut(index) {
            (slot.older, slot.newer) = (newest, NONE);
        }
        match self.slot_mut(newest) {
            Some(slot) => slot.newer = index,
            None => self.oldest = index,
        }
        self.newest = index;
    }

    fn unlink(&mut self, index: u16) {
        let Some((older, newer)) = self.slot_mut(index).map(|slot| (slot.older, slot.newer)) else { return };
        match self.slot_mut(older) {
            Some(slot) => slot.newer = newer,
            None => self.oldest = newer,
        }
        match self.slot_mut(newer) {
            Some(slot) => slot.older = older,
            None => self.newest = older,
        }
    }

    /// Records that a session was used, and adds `opened` (1, 0 or -1) to the number of its exchanges. Has no effect on
    /// a session that has ended.
    pub(super) fn touch(&mut self, key: SessionKey, now: Millis, opened: i8) {
        let Some(slot) = self.open_mut(key) else { return };
        slot.last_used = now;
        slot.open = match opened {
            1.. => slot.open.saturating_add(1),
            0 => slot.open,
            _ => slot.open.saturating_sub(1),
        };
        if let Some(index) = key.0.checked_sub(1).filter(|index| *index != self.newest) {
            self.unlink(index);
            self.append_newest(index);
        }
    }

    /// Returns the number of messages that wait for an event stream of a session.
    pub(super) fn held(&self, key: SessionKey) -> u16 {
        self.slot(key).map_or(0, |slot| slot.held)
    }

    /// Counts a held message. Returns `false` if the session has ended, or already holds `limit` messages.
    pub(super) fn add_held(&mut self, key: SessionKey, limit: usize) -> bool {
        let Some(slot) =
            self.open_mut(key).filter(|slot| usize::from(slot.held) < limit.min(u16::MAX.into()))
        else {
            return false;
        };
        slot.held = slot.held.saturating_add(1);
        true
    }

    /// Reduces the number of held messages by one.
    pub(super) fn remove_held(&mut self, key: SessionKey) {
        if let Some(slot) = self.open_mut(key) {
            slot.held = slot.held.saturating_sub(1);
        }
    }

    /// Reduces the number of held messages by one, and counts a dropped message.
    pub(super) fn drop_held(&mut self, key: SessionKey) {
        self.remove_held(key);
        self.count_dropped();
    }

    /// Counts a dropped message.
    pub(super) fn count_dropped(&mut self) {
        self.dropped = self.dropped.saturating_add(1);
    }

    /// Returns the number of dropped messages.
    pub(super) fn dropped(&self) -> u16 {
        self.dropped
    }

    /// Returns the session that has been unused for the longest time, among those without an exchange. Returns `None`
    /// if each session has an exchange.
    pub(super) fn longest_idle(&self) -> Option<SessionKey> {
        let mut index = self.oldest;
        while let Some(slot) = self.slots.as_slice().get(usize::from(index)) {
            if slot.open == 0 {
                return Some(key_of(index));
            }
            index = slot.newer;
        }
        None
    }

    /// Returns the session that has been unused for the longest time: its key, its last use, and whether it has an
    /// exchange. Returns `None` if no session is open.
    pub(super) fn oldest(&self) -> Option<(SessionKey, Millis, bool)> {
        let slot = self.slots.as_slice().get(usize::from(self.oldest))?;
        Some((key_of(self.oldest), slot.last_used, slot.open > 0))
    }

    /// Ends a session. Requests can no longer name the session by its id.
    pub(super) fn end(&mut self, key: SessionKey) {
        let ending = self.ending;
        let Some(slot) = self.open_mut(key) else { return };
        slot.state = SlotState::Ending;
        let id = slot.id;
        let Some(index) = key.0.checked_sub(1) else { return };
        self.unlink(index);
        self.unlink_from_bucket(&id, index);
        if let Some(slot) = self.slot_mut(index) {
            slot.newer = ending;
        }
        self.ending = index;
    }

    fn unlink_from_bucket(&mut self, id: &[u8; 16], index: u16) {
        let bucket = self.bucket_of(id);
        let behind = self.slot_mut(index).map_or(NONE, |slot| slot.next_in_bucket);
        let Some(head) = self.slot_mut(bucket) else { return };
        if head.bucket == index {
            head.bucket = behind;
            return;
        }
        let mut at = head.bucket;
        while let Some(slot) = self.slot_mut(at) {
            if slot.next_in_bucket == index {
                slot.next_in_bucket = behind;
                return;
            }
            at = slot.next_in_bucket;
        }
    }

    /// Returns a session that has ended, and that the core server has to remove. Returns `None` without such a
    /// session.
    pub(super) fn ending(&self) -> Option<SessionKey> {
        (self.ending != NONE).then(|| key_of(self.ending))
    }

    /// Returns whether the session has ended, and the core server has to remove it.
    pub(super) fn is_ending(&self, key: SessionKey) -> bool {
        self.slot(key).is_some_and(|slot| slot.state == SlotState::Ending)
    }

    /// Frees the slot of the first ending session, because the core server has accepted the end of the session.
    pub(super) fn forget_ending(&mut self) {
        let index = self.ending;
        if let Some(next) = self.slot_mut(index).map(|slot| slot.newer) {
            self.ending = next;
            self.put_back(index);
        }
    }

    /// Returns the key of the session in the core server.
    pub(super) fn current(&self) -> SessionKey {
        self.current
    }

    /// Returns the stored [`Session`] with this key. Returns `None` if there is no such session.
    pub(super) fn value(&self, key: SessionKey) -> Option<Session> {
        self.slot(key).map(|slot| slot.session)
    }

    /// Stores the [`Session`] that the core server has returned. `current` is the key of the session that replaces it.
    pub(super) fn replaced(&mut self, old: Session, current: SessionKey) {
        if let Some(slot) = self.open_mut(old.key()) {
            slot.session = old;
        }
        self.current = current;
    }

    pub(super) fn id(&self, key: SessionKey) -> Option<[u8; 16]> {
        self.slot(key).map(|slot| slot.id)
    }
}
