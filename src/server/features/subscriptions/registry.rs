//! Registry of the resources that a client watches, in one buffer.
//!
//! An entry is valid while its owner is active. If the buffer has no space, `add` removes the entries of ended
//! subscriptions.

use crate::buffer::Buffer;
use crate::framing::outbound_message::SessionKey;
use crate::json::{Str, text_of};
use crate::peer::request::Inbound;
use crate::peer::slots::Ticket;
use crate::platform::{copy, shift};
use crate::server::change_set::ChangeSet;
use crate::server::server_state::RequestTable;

/// The owner of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    /// A session (`resources/subscribe`).
    Session(SessionKey),
    /// A subscription (`subscriptions/listen`), by the ticket of its request.
    Listener(Ticket),
}

/// The slot number that marks the session as the owner. No slot has this number.
const SESSION: u32 = u32::MAX;

impl Owner {
    pub(crate) fn is_active(self, in_flight: &RequestTable<'_>) -> bool {
        match self {
            Owner::Session(_) => true,
            // A subscription receives no notification after its response.
            Owner::Listener(ticket) => in_flight
                .inbound(ticket)
                .and_then(Inbound::subscription)
                .is_some_and(|[_, flags]| !flags.any(ChangeSet::SUBSCRIBED)),
        }
    }
}

/// The reason why a resource cannot be watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WatchError {
    /// The buffer has no space for the URI of the resource.
    Full,
    /// The notification about the resource would not fit into the transmit buffer.
    TooLong,
}

pub(crate) struct SubscriptionRegistry<'b> {
    buffer: Buffer<'b>,
    used: usize,
}

/// Size of an entry's header in bytes. The header has the owner's slot and generation, the flags `CHANGED` and `TASK`, and
/// the length of the URI. The URI follows.
pub(crate) const HEADER: usize = 11;

const CHANGED: u8 = 1;
const TASK: u8 = 2;

/// The subject of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Watched {
    /// A resource, by its URI.
    Resource,
    /// A task, by its id.
    Task,
}

/// An entry, with the offset of the next entry.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Watch<'w> {
    pub(crate) owner: Owner,
    pub(crate) kind: Watched,
    /// Whether a notification is pending.
    pub(crate) changed: bool,
    /// The URI of the resource, or the id of the task.
    pub(crate) uri: &'w str,
    pub(crate) next: usize,
}

impl<'b> SubscriptionRegistry<'b> {
    pub(crate) fn new(buffer: Buffer<'b>) -> SubscriptionRegistry<'b> {
        SubscriptionRegistry { buffer, used: 0 }
    }

    pub(crate) fn limit(&self) -> usize {
        self.buffer.limit()
    }

    /// Removes the entries of a session.
    pub(crate) fn remove_session(&mut self, key: SessionKey) {
        let mut at = 0;
        while let Some(Watch { owner, next, .. }) = self.at(at) {
            match owner == Owner::Session(key) {
                true => self.remove_range(at, next),
                false => at = next,
            }
        }
    }

    /// Removes all entries.
    pub(crate) fn clear(&mut self) {
        self.used = 0;
    }

    /// The entry that begins at `at`.
    pub(crate) fn at(&self, at: usize) -> Option<Watch<'_>> {
        let entry = self.buffer.bytes().get(at..self.used)?;
        let (header, rest) = entry.split_first_chunk::<HEADER>()?;
        let [s0, s1, s2, s3, g0, g1, g2, g3, flags, l0, l1] = *header;
        let ticket = Ticket {
            slot: u32::from_le_bytes([s0, s1, s2, s3]),
            generation: u32::from_le_bytes([g0, g1, g2, g3]),
        };
        let length = usize::from(u16::from_le_bytes([l0, l1]));
        Some(Watch {
            owner: match ticket.slot {
                SESSION => Owner::Session(SessionKey(u16::from_le_bytes([g0, g1]))),
                _ => Owner::Listener(ticket),
            },
            kind: if flags & TASK != 0 { Watched::Task } else { Watched::Resource },
            changed: flags & CHANGED != 0,
            uri: text_of(rest.get(..length)?),
            next: at.wrapping_add(HEADER).wrapping_add(length),
        })
    }

    /// The entries of resources.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Watch<'_>> {
        self.all().filter(|watch| watch.kind == Watched::Resource)
    }

    /// The entries of resources and tasks.
    pub(crate) fn all(&self) -> impl Iterator<Item = Watch<'_>> {
        let mut at = 0;
        core::iter::from_fn(move || {
            let watch = self.at(at)?;
            at = watch.next;
            Some(watch)
        })
    }

    /// Adds an entry. Returns `Ok(false)` if the owner already watches the resource.
    ///
    /// `fits` returns whether the notification with the decoded URI would fit into the transmit buffer.
    pub(crate) fn add(
        &mut self,
        owner: Owner,
        kind: Watched,
        uri: Str<'_>,
        in_flight: &RequestTable<'_>,
        fits: &dyn Fn(&str) -> bool,
    ) -> Result<bool, WatchError> {
        if self.find(owner, kind, uri).is_some() {
            return Ok(false);
        }
        let length = uri.len();
        let taken = HEADER.wrapping_add(length);
        if self.used.wrapping_add(taken) > self.limit() {
            self.remove_inactive(in_flight);
        }
        let end = self.used.wrapping_add(taken);
        let header = encode_header(owner, kind, u16::try_from(length).map_err(|_| WatchError::Full)?);
        let mut space = self.buffer.reborrow();
        let target = space.ensure(end).and_then(|all| all.get_mut(self.used..end)).ok_or(WatchError::Full)?;
        let (first, text) = target.split_at_mut_checked(HEADER).ok_or(WatchError::Full)?;
        copy(first, &header);
        let text = uri.copy_to(text).map_err(|_| WatchError::Full)?;
        if !fits(text) {
            return Err(WatchError::TooLong);
        }
        self.used = end;
        Ok(true)
    }

    /// Removes an entry. Returns `false` if the owner does not watch the resource.
    pub(crate) fn remove(&mut self, owner: Owner, uri: Str<'_>) -> bool {
        let Some((at, next)) = self.find(owner, Watched::Resource, uri) else { return false };
        self.remove_range(at, next);
        true
    }

    fn find(&self, owner: Owner, kind: Watched, uri: Str<'_>) -> Option<(usize, usize)> {
        let mut at = 0;
        while let Some(watch) = self.at(at) {
            if watch.owner == owner && watch.kind == kind && uri == *watch.uri {
                return Some((at, watch.next));
            }
            at = watch.next;
        }
        None
    }

    /// Sets `changed` in all entries of a resource or task. Returns `false` if there is no entry.
    pub(crate) fn mark_changed(&mut self, kind: Watched, uri: &str) -> bool {
        let (mut at, mut marked) = (0, false);
        while let Some(watch) = self.at(at) {
            let (same, next) = (watch.kind == kind && watch.uri == uri, watch.next);
            if same {
                self.set_changed(at, true);
                marked = true;
            }
            at = next;
        }
        marked
    }

    pub(crate) fn set_changed(&mut self, at: usize, changed: bool) {
        if let Some(flag) = self.buffer.bytes_mut().get_mut(at.wrapping_add(8)) {
            *flag = if changed { *flag | CHANGED } else { *flag & !CHANGED };
        }
    }

    /// Removes the entries of ended subscriptions.
    fn remove_inactive(&mut self, in_flight: &RequestTable<'_>) {
        let (mut at, mut end) = (0, 0usize);
        while let Some(watch) = self.at(at) {
            let (active, next) = (watch.owner.is_active(in_flight), watch.next);
            if active {
                if let Some(bytes) = self.buffer.bytes_mut().get_mut(end..next) {
                    shift(bytes, at.saturating_sub(end));
                }
                end = end.wrapping_add(next.saturating_sub(at));
            }
            at = next;
        }
        self.used = end;
    }

    fn remove_range(&mut self, from: usize, to: usize) {
        let by = to.saturating_sub(from);
        if let Some(bytes) = self.buffer.bytes_mut().get_mut(from..self.used) {
            shift(bytes, by);
        }
        self.used = self.used.saturating_sub(by);
    }
}

fn encode_header(owner: Owner, kind: Watched, length: u16) -> [u8; HEADER] {
    let ticket = match owner {
        Owner::Session(SessionKey(key)) => Ticket { slot: SESSION, generation: key.into() },
        Owner::Listener(ticket) => ticket,
    };
    let [s0, s1, s2, s3] = ticket.slot.to_le_bytes();
    let [g0, g1, g2, g3] = ticket.generation.to_le_bytes();
    let [l0, l1] = length.to_le_bytes();
    let flags = if kind == Watched::Task { TASK } else { 0 };
    [s0, s1, s2, s3, g0, g1, g2, g3, flags, l0, l1]
}

impl core::fmt::Debug for SubscriptionRegistry<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_list().entries(self.iter().map(|watch| watch.uri)).finish()
    }
}
