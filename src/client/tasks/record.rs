//! The record of a task in the text of its slot.

use crate::client::client_state::ClientState;
use crate::client::tasks::config::TaskLimits;
use crate::json::{Json, Str, Writer};
use crate::peer::slots::Ticket;
use crate::rpc::hash_text;
use crate::time::Millis;

/// The length of the fixed part of a record.
pub(crate) const HEADER: usize = 18;

/// A stored task. The text consists of the fixed part, the id, and the hashes of keys.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Record<'t> {
    /// The sequence number of the call, which determines its request id. In `2025-11-25`, this id is the progress token
    /// of the task. For a resumed task, the number is that of the first `tasks/get`.
    pub(crate) sequence: u64,
    /// The time between polls, in milliseconds.
    interval: u32,
    /// The hash of the last reported status.
    pub(crate) digest: u32,
    /// The id, as JSON text.
    pub(crate) id: &'t [u8],
    /// The hashes of the keys of emitted input requests.
    pub(crate) keys: &'t [u8],
}

impl<'t> Record<'t> {
    /// Reads the text of a slot. Returns `None` if the text is too short for a record.
    pub(crate) fn parse(text: &'t [u8]) -> Option<Record<'t>> {
        let (sequence, rest) = text.split_first_chunk()?;
        let (interval, rest) = rest.split_first_chunk()?;
        let (digest, rest) = rest.split_first_chunk()?;
        let (length, rest) = rest.split_first_chunk()?;
        let (id, keys) = rest.split_at_checked(u16::from_le_bytes(*length).into())?;
        Some(Record {
            sequence: u64::from_le_bytes(*sequence),
            interval: u32::from_le_bytes(*interval),
            digest: u32::from_le_bytes(*digest),
            id,
            keys,
        })
    }

    /// Returns the fixed part of the text.
    fn header(sequence: u64, interval: Millis, digest: u32, id_length: usize) -> [u8; HEADER] {
        let interval = u32::try_from(interval.0).unwrap_or(u32::MAX);
        let length = u16::try_from(id_length).unwrap_or(u16::MAX);
        let bytes = sequence.to_le_bytes().into_iter().chain(interval.to_le_bytes());
        let bytes = bytes.chain(digest.to_le_bytes()).chain(length.to_le_bytes());
        let mut header = [0; HEADER];
        header.iter_mut().zip(bytes).for_each(|(target, byte)| *target = byte);
        header
    }

    /// Returns the time between polls.
    pub(crate) fn interval(&self) -> Millis {
        Millis(self.interval.into())
    }

    /// Writes the member `taskId`.
    pub(crate) fn write_id(&self, out: &mut Writer<'_>) {
        out.field_bytes("taskId", self.id);
    }

    /// Returns whether `id` is the id of the task.
    pub(crate) fn has_id(&self, id: Str<'_>) -> bool {
        Json::trusted(self.id).string() == Some(id)
    }
}

/// Hashes of the keys of input requests that the client does not emit again.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Keys<'t> {
    pub(crate) hashes: &'t [u8],
    pub(crate) seed: u64,
}

impl Keys<'_> {
    pub(crate) fn contains(&self, key: Str<'_>) -> bool {
        let (hashes, _) = self.hashes.as_chunks();
        !hashes.is_empty() && hashes.contains(&hash_text(self.seed, &key).to_le_bytes())
    }
}

impl ClientState<'_> {
    /// Returns the record of a task. Returns `None` if the request has ended or is not about a task.
    pub(crate) fn task(&self, ticket: Ticket) -> Option<Record<'_>> {
        self.open_request(ticket).filter(|it| it.data.method.is_task())?;
        Record::parse(self.peer.in_flight.text(ticket))
    }

    /// Finds a task. The search is linear in the number of slots.
    pub(super) fn find_task(&self, is_wanted: impl Fn(Ticket, Record<'_>) -> bool) -> Option<Ticket> {
        let mut tickets = self.peer.in_flight.requests().map(|(ticket, _)| ticket);
        tickets.find(|ticket| self.task(*ticket).is_some_and(|record| is_wanted(*ticket, record)))
    }

    /// Stores a task. Returns `false` if the id does not fit.
    ///
    /// If `id` is empty, the caller must write the `id_length` bytes of the id afterwards.
    pub(crate) fn store_task(
        &mut self,
        ticket: Ticket,
        sequence: u64,
        interval: Millis,
        id_length: usize,
        id: &[u8],
    ) -> bool {
        let header = Record::header(sequence, interval, 0, id_length);
        let in_flight = &mut self.peer.in_flight;
        id_length <= usize::from(u16::MAX)
            && in_flight.set_text_after(ticket, 0, &header)
            && in_flight.set_text_after(ticket, HEADER, id)
    }

    /// Updates the interval and the digest of a stored task. Returns whether the digest has changed, which covers the
    /// status, the status message and the update time. Returns `false` if there is no task.
    pub(crate) fn update_task(&mut self, ticket: Ticket, limits: &TaskLimits, task: Json<'_>) -> bool {
        let Some(record) = self.task(ticket) else { return false };
        let (sequence, before, length) = (record.sequence, record.digest, record.id.len());
        let digest = digest(self.peer.in_flight.seed(), task);
        let header = Record::header(sequence, limits.interval(task), digest, length);
        self.peer.in_flight.splice_text(ticket, 0..HEADER, &header);
        before != digest
    }

    /// Forgets the reported status of a task, so that the client emits an event for the next status.
    pub(crate) fn clear_digest(&mut self, ticket: Ticket) {
        let Some(record) = self.task(ticket) else { return };
        let header = Record::header(record.sequence, record.interval(), 0, record.id.len());
        self.peer.in_flight.splice_text(ticket, 0..HEADER, &header);
    }

    /// Appends the hashes of new keys of input requests to the record, and returns the number of new keys. Returns
    /// `None` if there is no task, or if a hash does not fit. The hashes that are already appended remain.
    pub(crate) fn add_keys(&mut self, ticket: Ticket, requests: Json<'_>) -> Option<u32> {
        let (seed, mut added) = (self.peer.in_flight.seed(), 0u32);
        for (key, _) in requests.members() {
            let hashes = self.task(ticket)?.keys;
            if (Keys { hashes, seed }).contains(key) {
                continue;
            }
            let end = self.peer.in_flight.text(ticket).len();
            let hash = hash_text(seed, &key).to_le_bytes();
            if !self.peer.in_flight.splice_text(ticket, end..end, &hash) {
                return None;
            }
            added = added.saturating_add(1);
        }
        Some(added)
    }

    /// Removes the keys of a task, so that the client emits the open input requests of the task again.
    pub(crate) fn clear_keys(&mut self, ticket: Ticket) {
        let Some(record) = self.task(ticket) else { return };
        let end = HEADER.saturating_add(record.id.len());
        let keys = end..end.saturating_add(record.keys.len());
        self.peer.in_flight.splice_text(ticket, keys, b"");
    }

    /// Returns the hashes of answered keys: all stored hashes except those of the pending input requests, which are
    /// last.
    pub(crate) fn answered_keys(&self, ticket: Ticket) -> Keys<'_> {
        let Some(record) = self.task(ticket) else { return Keys::default() };
        let current = self.open_request(ticket).map_or(0, |it| it.data.input_requests());
        let current = usize::try_from(current).unwrap_or(0).saturating_mul(4);
        let (hashes, _) = record.keys.split_at(record.keys.len().saturating_sub(current));
        Keys { hashes, seed: self.peer.in_flight.seed() }
    }
}

/// Hashes the status of a task, its message, and the time of its last update.
fn digest(seed: u64, task: Json<'_>) -> u32 {
    let members = task.pick(["status", "statusMessage", "lastUpdatedAt"]);
    let texts = members.into_iter().map(|member| member.and_then(Json::string).unwrap_or_default());
    // Zero means that no status was reported.
    texts.fold(0, |hash: u32, text| hash.rotate_left(5) ^ hash_text(seed, &text)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn record_is_read_as_it_was_written() {
        let header = Record::header(u64::MAX - 1, Millis(70_000), 7, 3);
        let text: std::vec::Vec<u8> = header.into_iter().chain(*b"\"a\"1234").collect();
        let record = Record::parse(&text).unwrap();
        assert_eq!((record.sequence, record.interval(), record.digest), (u64::MAX - 1, Millis(70_000), 7));
        assert_eq!((record.id, record.keys), (&b"\"a\""[..], &b"1234"[..]));
        assert!(record.has_id(Str::trusted(b"\\u0061")) && !record.has_id(Str::trusted(b"b")));
        for length in 0..HEADER + 3 {
            assert!(Record::parse(&text[..length]).is_none(), "{length}");
        }
        let long = Record::header(1, Millis(u64::MAX), 1, 0);
        assert_eq!(Record::parse(&long).unwrap().interval(), Millis(u32::MAX.into()));
    }
}
