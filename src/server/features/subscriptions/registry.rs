//! Registry of subscribed URIs and task ids, in one buffer. A `subscriptions/listen` itself is a request in a slot.
//!
//! This slot stores which list changes the client wants, and which of them are pending (`RequestKind::Listen`).
//!
//! The entries form a binary trie: bit `n` of an entry's hash selects the child at depth `n`, and the first entry is
//! the root. So the registry finds an entry in O(log n) without a separate index. The hash uses the seed of
//! [`Server::seed`](crate::Server::seed). If the seed is random, a client cannot choose URIs that collide.
//!
//! An entry is valid until its removal, or until the end of its owner. A removed entry stays in the trie. If the buffer
//! has no space, `add` compacts the entries, which takes O(n log n).
#![allow(clippy::as_conversions, reason = "a key of a session has 16 bits, and a kind is a flag")]

use crate::buffer::Buffer;
use crate::framing::outbound_message::SessionKey;
use crate::json::{Str, text_of};
use crate::peer::request::Inbound;
use crate::peer::slots::Ticket;
use crate::platform::move_down;
use crate::rpc::hash_text;
use crate::server::change_set::ChangeSet;
use crate::server::server_state::RequestTable;

/// The owner of an entry. For a subscription (`subscriptions/listen`), this is the ticket of the request. For a session
/// (`resources/subscribe`), this is a ticket that no request has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Owner(Ticket);

/// The slot number that marks a session as the owner. No slot has this number, because a table has at most 65,535
/// slots.
const SESSION: u32 = 0xFFFF;

impl Owner {
    pub(crate) fn session(key: SessionKey) -> Owner {
        Owner(Ticket { slot: SESSION, generation: key.0.into() })
    }

    pub(crate) fn listener(ticket: Ticket) -> Owner {
        Owner(ticket)
    }

    /// Returns the ticket of a subscription. Returns `None` for a session.
    pub(crate) fn ticket(self) -> Option<Ticket> {
        (self.0.slot != SESSION).then_some(self.0)
    }

    /// Returns the key of a session. For a subscription, the result has no meaning.
    pub(crate) fn session_key(self) -> SessionKey {
        SessionKey(self.0.generation as u16)
    }

    /// Returns the slot and the generation as one number. The seed of an entry's hash includes the number of its owner.
    fn key(self) -> u64 {
        u64::from(self.0.slot) << 32 | u64::from(self.0.generation)
    }

    pub(crate) fn is_active(self, in_flight: &RequestTable<'_>) -> bool {
        // The flag `SUBSCRIBED` of a subscription means that its response is written. No notification may follow.
        self.ticket().is_none_or(|ticket| {
            let subscription = in_flight.inbound(ticket).and_then(Inbound::subscription);
            subscription.is_some_and(|[_, flags]| !flags.any(ChangeSet::SUBSCRIBED))
        })
    }
}

/// The reason why the registry does not add an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AddError {
    /// The buffer has no space for the entry, or the URI or task id of the entry is longer than 65,535 bytes.
    Full,
    /// The notification about the resource would not fit into the transmit buffer.
    TooLong,
    /// The application refuses the subscription.
    Refused,
}

pub(crate) struct SubscriptionRegistry<'b> {
    buffer: Buffer<'b>,
    used: usize,
}

/// Size of an entry's header, in bytes. The header has the owner's slot (2) and generation (4), the flags (1), the
/// length of the URI or task id (2), and two child offsets (3 each). The URI or task id follows the header.
pub(crate) const HEADER: usize = 15;

/// Offset of the flags in an entry.
const FLAGS: usize = 6;
const CHANGED: u8 = 1;
/// Flag of an entry whose subject is a task.
const TASK: u8 = 2;
/// Flag of a removed entry.
const REMOVED: u8 = 4;

/// The positions, in an entry, of the offsets of its two children. The stored offset 0 means that there is no child,
/// because the entry at offset 0 is the root, which is no child.
const CHILDREN: [usize; 2] = [9, 12];

/// Stands for the link to the root, which is not stored.
const ROOT: usize = usize::MAX;

/// Maximum number of bytes that the registry uses, so that three bytes hold the offset of each child.
const MAX_SIZE: usize = 1 << 24;

/// The kind of an entry's subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum SubjectKind {
    /// A resource, by its URI.
    Resource = 0,
    /// A task, by its id.
    Task = TASK,
}

/// An entry, with the offset of the next entry.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry<'w> {
    pub(crate) owner: Owner,
    flags: u8,
    /// The URI of the resource, or the id of the task.
    pub(crate) uri: &'w str,
    pub(crate) next: usize,
}

impl Entry<'_> {
    pub(crate) fn is_of_kind(&self, kind: SubjectKind) -> bool {
        self.flags & TASK == kind as u8
    }

    /// Returns whether a notification is pending.
    pub(crate) fn is_changed(&self) -> bool {
        self.flags & CHANGED != 0
    }

    pub(crate) fn is_removed(&self) -> bool {
        self.flags & REMOVED != 0
    }
}

/// The part of an entry by which the registry finds the entry.
#[derive(Clone, Copy)]
pub(crate) struct Subject<'s> {
    pub(crate) owner: Owner,
    pub(crate) kind: SubjectKind,
    /// The URI of the resource, or the id of the task.
    pub(crate) uri: Str<'s>,
}

impl<'b> SubscriptionRegistry<'b> {
    pub(crate) fn new(buffer: Buffer<'b>) -> SubscriptionRegistry<'b> {
        SubscriptionRegistry { buffer, used: 0 }
    }

    pub(crate) fn limit(&self) -> usize {
        self.buffer.limit().min(MAX_SIZE)
    }

    /// Removes the entries of a session.
    pub(crate) fn remove_session(&mut self, key: SessionKey) {
        let mut at = 0;
        while let Some(Entry { owner, next, .. }) = self.at(at) {
            if owner == Owner::session(key) {
                self.set_removed(at);
            }
            at = next;
        }
    }

    /// Removes all entries.
    pub(crate) fn clear(&mut self) {
        self.used = 0;
    }

    /// Returns the entry that begins at `at`, even a removed entry. Returns `None` at the end of the entries.
    pub(crate) fn at(&self, at: usize) -> Option<Entry<'_>> {
        self.entry(at, self.used)
    }

    fn entry(&self, at: usize, end: usize) -> Option<Entry<'_>> {
        let entry = self.buffer.bytes().get(at..end)?;
        let (header, rest) = entry.split_first_chunk::<HEADER>()?;
        let [s0, s1, g0, g1, g2, g3, flags, l0, l1, ..] = *header;
        let length = usize::from(u16::from_le_bytes([l0, l1]));
        Some(Entry {
            owner: Owner(Ticket {
                slot: u16::from_le_bytes([s0, s1]).into(),
                generation: u32::from_le_bytes([g0, g1, g2, g3]),
            }),
            flags,
            uri: text_of(rest.get(..length)?),
            next: at.wrapping_add(HEADER).wrapping_add(length),
        })
    }

    /// Returns the entries of resources, without removed entries. Entries of ended subscriptions may be included.
    pub(crate) fn resources(&self) -> impl Iterator<Item = Entry<'_>> {
        self.iter().filter(|entry| entry.is_of_kind(SubjectKind::Resource))
    }

    /// Returns the entries of resources and tasks, without removed entries. Entries of ended subscriptions may be
    /// included.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Entry<'_>> {
        let mut at = 0;
        let entries = core::iter::from_fn(move || {
            let entry = self.at(at)?;
            at = entry.next;
            Some(entry)
        });
        entries.filter(|entry| !entry.is_removed())
    }

    /// Adds an entry. Returns `Ok(false)` if the owner already has this entry.
    ///
    /// `check` gets the decoded URI or id, and may refuse the entry, even if the entry exists.
    ///
    /// # Errors
    /// [`AddError::Full`], and the errors of `check`.
    pub(crate) fn add(
        &mut self,
        subject: &Subject<'_>,
        in_flight: &RequestTable<'_>,
        check: &mut dyn FnMut(&str) -> Result<(), AddError>,
    ) -> Result<bool, AddError> {
        let (length, seed) = (subject.uri.len(), in_flight.seed());
        let taken = HEADER.wrapping_add(length);
        let mut found = self.find(subject, seed);
        if found.is_err() && self.used.wrapping_add(taken) > self.limit() {
            self.compact(in_flight);
            found = self.find(subject, seed);
        }
        let link = match found {
            Ok(at) => {
                check(self.at(at).map_or("", |entry| entry.uri))?;
                return Ok(self.restore(at));
            }
            Err(link) => link,
        };
        let (start, end) = (self.used, self.used.wrapping_add(taken));
        let header = encode_header(subject, u16::try_from(length).map_err(|_| AddError::Full)?);
        if end > self.limit() {
            return Err(AddError::Full);
        }
        let mut space = self.buffer.reborrow();
        let target = space.ensure(end).and_then(|all| all.get_mut(start..end)).ok_or(AddError::Full)?;
        let (first, text) = target.split_first_chunk_mut().ok_or(AddError::Full)?;
        *first = header;
        check(subject.uri.copy_to(text).map_err(|_| AddError::Full)?)?;
        self.used = end;
        self.set_child(link, start);
        Ok(true)
    }

    /// Removes an entry. Returns `false` if the owner has no such entry.
    pub(crate) fn remove(&mut self, subject: &Subject<'_>, seed: u64) -> bool {
        let Ok(at) = self.find(subject, seed) else { return false };
        let was_removed = self.at(at).is_some_and(|entry| entry.is_removed());
        self.set_removed(at);
        !was_removed
    }

    /// Finds an entry, even a removed entry. If there is no such entry, returns the link for a new entry as the error.
    fn find(&self, subject: &Subject<'_>, seed: u64) -> Result<usize, usize> {
        let Subject { owner, kind, uri } = *subject;
        self.descend(hash_text(seed ^ owner.key(), &uri), &|entry| {
            entry.owner == owner && entry.is_of_kind(kind) && uri == *entry.uri
        })
    }

    /// Follows the bits of `hash` to the entry that `is_found` accepts, or to an absent child.
    fn descend(&self, mut hash: u32, is_found: &dyn Fn(&Entry<'_>) -> bool) -> Result<usize, usize> {
        let (mut at, mut link) = (0, ROOT);
        while let Some(entry) = &self.at(at) {
            if is_found(entry) {
                return Ok(at);
            }
            let [left, right] = CHILDREN;
            link = at.wrapping_add(if hash & 1 == 0 { left } else { right });
            hash >>= 1;
            at = match self.buffer.bytes().get(link..).and_then(<[u8]>::first_chunk) {
                Some(&[0, 0, 0]) | None => break,
                Some(&[b0, b1, b2]) => usize::try_from(u32::from_le_bytes([b0, b1, b2, 0])).unwrap_or(ROOT),
            };
        }
        Err(link)
    }

    // Not inlined, to save flash.
    #[inline(never)]
    fn set_child(&mut self, link: usize, offset: usize) {
        if let Some(child) = self.buffer.bytes_mut().get_mut(link..).and_then(<[u8]>::first_chunk_mut::<3>) {
            let [b0, b1, b2, ..] = offset.to_le_bytes();
            *child = [b0, b1, b2];
        }
    }

    /// Marks all entries of a resource or task as changed, except removed entries. Returns `false` if it marks none.
    pub(crate) fn mark_changed(&mut self, kind: SubjectKind, uri: &str) -> bool {
        let (mut at, mut marked) = (0, false);
        while let Some(entry) = self.at(at) {
            let (same, next) =
                (!entry.is_removed() && entry.is_of_kind(kind) && entry.uri == uri, entry.next);
            if same {
                self.set_changed(at, true);
                marked = true;
            }
            at = next;
        }
        marked
    }

    pub(crate) fn set_changed(&mut self, at: usize, changed: bool) {
        if let Some(flags) = self.flags(at) {
            *flags = if changed { *flags | CHANGED } else { *flags & !CHANGED };
        }
    }

    pub(crate) fn set_removed(&mut self, at: usize) {
        if let Some(flags) = self.flags(at) {
            *flags = *flags & TASK | REMOVED;
        }
    }

    /// Clears the flag of a removed entry. Returns `false` if the entry was not removed.
    fn restore(&mut self, at: usize) -> bool {
        let Some(flags) = self.flags(at) else { return false };
        let was_removed = *flags & REMOVED != 0;
        *flags &= !REMOVED;
        was_removed
    }

    fn flags(&mut self, at: usize) -> Option<&mut u8> {
        self.buffer.bytes_mut().get_mut(at.wrapping_add(FLAGS))
    }

    /// Drops removed entries and entries of ended subscriptions, and builds a new trie from the remaining entries.
    fn compact(&mut self, in_flight: &RequestTable<'_>) {
        let (mut at, all) = (0, core::mem::take(&mut self.used));
        while let Some(entry) = &self.entry(at, all) {
            let (from, next) = (at, entry.next);
            at = next;
            if entry.is_removed() || !entry.owner.is_active(in_flight) {
                continue;
            }
            let hash = hash_text(in_flight.seed() ^ entry.owner.key(), &entry.uri);
            let link = self.descend(hash, &|_| false).unwrap_or_else(|link| link);
            let to = self.used;
            move_down(self.buffer.bytes_mut(), from, to, next.wrapping_sub(from));
            CHILDREN.iter().for_each(|child| self.set_child(to.wrapping_add(*child), 0));
            self.set_child(link, to);
            self.used = to.wrapping_add(next.wrapping_sub(from));
        }
    }
}

fn encode_header(subject: &Subject<'_>, length: u16) -> [u8; HEADER] {
    let [g0, g1, g2, g3, s0, s1, ..] = subject.owner.key().to_le_bytes();
    let [l0, l1] = length.to_le_bytes();
    [s0, s1, g0, g1, g2, g3, subject.kind as u8, l0, l1, 0, 0, 0, 0, 0, 0]
}

impl core::fmt::Debug for SubscriptionRegistry<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_list().entries(self.resources().map(|entry| entry.uri)).finish()
    }
}
