//! `MemberCache`: the text of members of the last message, for the next message that repeats these members.

use super::Writer;
use crate::platform::copy;

/// Maximum length of stored members, in bytes.
const CAPACITY: usize = 512;

/// The last members that a pure function wrote, and the input of the function. Empty on 32-bit targets, which have
/// little memory.
#[derive(Debug)]
pub(crate) struct MemberCache {
    entry: [Entry; ENTRIES],
}
const ENTRIES: usize = if usize::BITS < 64 { 0 } else { 1 };

#[derive(Debug)]
struct Entry {
    /// The input of the function. `None` if nothing is stored.
    key: Option<u32>,
    length: usize,
    text: [u8; CAPACITY],
}

impl MemberCache {
    pub(crate) const fn new() -> MemberCache {
        MemberCache { entry: [const { Entry { key: None, length: 0, text: [0; CAPACITY] } }; ENTRIES] }
    }

    fn text(&self, key: u32) -> Option<&[u8]> {
        let entry = self.entry.first().filter(|entry| entry.key == Some(key))?;
        entry.text.get(..entry.length)
    }

    fn store(&mut self, key: u32, members: &[u8]) {
        let Some(entry) = self.entry.first_mut() else { return };
        if let Some(text) = entry.text.get_mut(..members.len()) {
            copy(text, members);
            (entry.key, entry.length) = (Some(key), members.len());
        }
    }
}

impl Writer<'_> {
    /// Writes the first members of an object. For the same `key`, `members` must always write the same text.
    pub(crate) fn cached_members(
        &mut self,
        cache: &mut MemberCache,
        key: u32,
        members: impl FnOnce(&mut Writer<'_>),
    ) {
        if let Some(text) = cache.text(key) {
            return self.push(text);
        }
        let from = self.len();
        members(self);
        if let Some(written) = self.written().get(from..).filter(|_| !self.overflowed()) {
            cache.store(key, written);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::Buffer;
    use std::string::String;
    use std::vec::Vec;

    /// Writes an object with members for `key`, into `size` bytes. Returns the object if it fits.
    fn write(cache: &mut MemberCache, key: u32, more: usize, size: usize) -> Option<String> {
        let mut space: Vec<u8> = std::vec![0; size];
        let mut buffer = Buffer::from(&mut space[..]);
        let mut out = Writer::new(buffer.reborrow(), 0, size);
        out.begin_object();
        out.cached_members(cache, key, |out| {
            out.field_string("a", &"\"".repeat(more));
            out.field_integer("key", key.into());
        });
        out.field_integer("b", 1);
        out.end_object();
        let end = out.finish()?;
        Some(String::from_utf8(space[..end].to_vec()).unwrap())
    }

    #[test]
    fn cached_members_equal_written_members() {
        let mut cache = MemberCache::new();
        for key in [1, 1, 2, 2, 1] {
            let first = write(&mut MemberCache::new(), key, 3, 100);
            assert_eq!(write(&mut cache, key, 3, 100), first);
            assert_eq!(first.unwrap(), std::format!(r#"{{"a":"\"\"\"","key":{key},"b":1}}"#));
            // The members do not fit into 20 bytes, even if they are in the cache.
            assert_eq!(write(&mut cache, key, 3, 20), None);
        }
    }

    #[test]
    fn overflow_and_large_members_are_not_stored() {
        let mut cache = MemberCache::new();
        assert_eq!(write(&mut cache, 1, 3, 20), None);
        assert_eq!(write(&mut cache, 1, 3, 100), write(&mut MemberCache::new(), 1, 3, 100));
        let mut cache = MemberCache::new();
        for _ in 0..2 {
            assert!(write(&mut cache, 1, CAPACITY, 2000).unwrap().len() > 2 * CAPACITY);
        }
    }
}
