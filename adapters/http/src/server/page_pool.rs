//! `Pages`: a pool of pages, and chains of pages that hold unsent output.

use mcp_proto::Buffer;

use super::pool::{NO_PART as NONE, Pool};
use crate::bytes::write_at;

/// Size of the header of a page: the index of the next page and the number of bytes in use.
const HEADER: usize = 4;

/// Pool of pages in one buffer.
pub(super) struct Pages<'b>(Pool<'b>);

/// Chain of pages: bytes in the order in which they were pushed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chain {
    first: u16,
    last: u16,
    /// Number of consumed bytes in the first page.
    start: u16,
    length: u32,
}

impl Chain {
    pub(super) const EMPTY: Chain = Chain { first: NONE, last: NONE, start: 0, length: 0 };

    pub(super) fn is_empty(&self) -> bool {
        self.length == 0
    }

    pub(super) fn len(&self) -> usize {
        usize::try_from(self.length).unwrap_or(usize::MAX)
    }
}

impl<'b> Pages<'b> {
    pub(super) fn new(bytes: Buffer<'b>, page: usize) -> Pages<'b> {
        Pages(Pool::new(bytes, page.clamp(HEADER.saturating_add(1), u16::MAX.into())))
    }

    fn header(&self, index: u16) -> (u16, u16) {
        match self.0.part(index).first_chunk::<HEADER>() {
            Some([n0, n1, u0, u1]) => (u16::from_le_bytes([*n0, *n1]), u16::from_le_bytes([*u0, *u1])),
            None => (NONE, 0),
        }
    }

    fn set_header(&mut self, index: u16, next: u16, used: u16) {
        let ([n0, n1], [u0, u1]) = (next.to_le_bytes(), used.to_le_bytes());
        self.0.write(index, 0, &[n0, n1, u0, u1]);
    }

    fn data_size(&self) -> usize {
        self.0.size().saturating_sub(HEADER)
    }

    /// Returns whether all pages together can hold `length` bytes.
    pub(super) fn can_ever_hold(&self, length: usize) -> bool {
        self.0.limit().saturating_mul(self.data_size()) >= length
    }

    /// Returns whether `length` bytes can be appended to the chain now. Grows the buffer for these bytes if possible.
    pub(super) fn fits(&mut self, chain: &Chain, length: usize) -> bool {
        let last = if chain.last == NONE {
            0
        } else {
            self.data_size().saturating_sub(self.header(chain.last).1.into())
        };
        let free = self.0.released().saturating_mul(self.data_size());
        let missing = length.saturating_sub(last).saturating_sub(free);
        if missing == 0 {
            return true;
        }
        let data_size = self.data_size();
        let more = missing.saturating_add(data_size).saturating_sub(1).checked_div(data_size);
        self.0.reserve(more.unwrap_or(usize::MAX))
    }

    /// Returns the size of the pages of a chain, without their headers.
    pub(super) fn capacity(&self, chain: &Chain) -> usize {
        let used = chain.len().saturating_add(chain.start.into());
        used.checked_next_multiple_of(self.data_size()).unwrap_or(usize::MAX)
    }

    /// Appends bytes. The caller must check that the bytes fit.
    pub(super) fn push(&mut self, chain: &mut Chain, bytes: &[u8]) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let (next, used) = if chain.last == NONE { (NONE, u16::MAX) } else { self.header(chain.last) };
            if usize::from(used) >= self.data_size() {
                if !self.extend(chain) {
                    return;
                }
                continue;
            }
            let last = chain.last;
            let start = HEADER.saturating_add(used.into());
            let Some(space) = self.0.part_mut(last).get_mut(start..) else { return };
            let (now, later) = rest.split_at_checked(space.len()).unwrap_or((rest, &[]));
            _ = write_at(space, 0, now);
            rest = later;
            let count = u16::try_from(now.len()).unwrap_or(0);
            self.set_header(last, next, used.saturating_add(count));
            chain.length = chain.length.saturating_add(count.into());
        }
    }

    /// Appends an empty page. Returns `false` if no page is free.
    fn extend(&mut self, chain: &mut Chain) -> bool {
        let Some(index) = self.0.take() else { return false };
        self.set_header(index, NONE, 0);
        match chain.last {
            NONE => (chain.first, chain.start) = (index, 0),
            last => {
                let used = self.header(last).1;
                self.set_header(last, index, used);
            }
        }
        chain.last = index;
        true
    }

    /// Returns the first bytes of the chain: those in its first page.
    pub(super) fn front(&self, chain: &Chain) -> &[u8] {
        let end = HEADER.saturating_add(self.header(chain.first).1.into());
        self.0.part(chain.first).get(HEADER.saturating_add(chain.start.into())..end).unwrap_or_default()
    }

    /// Removes the first `n` bytes.
    pub(super) fn consume(&mut self, chain: &mut Chain, n: usize) {
        let mut rest = n.min(chain.len());
        while rest > 0 {
            let count = self.front(chain).len().min(rest);
            rest = rest.saturating_sub(count);
            let count = u16::try_from(count).unwrap_or(u16::MAX);
            chain.start = chain.start.saturating_add(count);
            chain.length = chain.length.saturating_sub(count.into());
            let (next, used) = self.header(chain.first);
            if chain.start >= used {
                self.0.release(chain.first);
                (chain.first, chain.start) = (next, 0);
                if next == NONE {
                    *chain = Chain::EMPTY;
                    return;
                }
            }
        }
    }

    /// Drops the chain.
    pub(super) fn release(&mut self, chain: &mut Chain) {
        while chain.first != NONE {
            let next = self.header(chain.first).0;
            self.0.release(chain.first);
            chain.first = next;
        }
        *chain = Chain::EMPTY;
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::vec::Vec;

    /// Random operations on three chains, compared with vectors.
    #[test]
    fn chains_hold_what_was_pushed() {
        let mut state = 7u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % below
        };
        let mut memory = [0; 200];
        let mut pages = Pages::new(memory.as_mut_slice().into(), 20);
        let (mut chains, mut model) = ([Chain::EMPTY; 3], [const { Vec::new() }; 3]);
        for round in 0..20_000 {
            let (index, count) = (random(3), random(60));
            let chain = &mut chains[index];
            match random(4) {
                0 | 1 => {
                    let bytes: Vec<u8> = (0..count).map(|byte| (byte + round) as u8).collect();
                    if pages.fits(chain, count) {
                        pages.push(chain, &bytes);
                        model[index].extend_from_slice(&bytes);
                    } else {
                        assert!(model.iter().map(Vec::len).sum::<usize>() + count > 160 - 3 * 30);
                    }
                }
                2 => {
                    let count = count.min(chain.len());
                    pages.consume(chain, count);
                    model[index].drain(..count);
                }
                _ if random(10) == 0 => {
                    let capacity = pages.capacity(chain);
                    let free = |pages: &mut Pages<'_>| (0..).find(|n| !pages.fits(&Chain::EMPTY, n + 1));
                    let before = free(&mut pages);
                    pages.release(chain);
                    assert_eq!(before.map(|before| before + capacity), free(&mut pages));
                    model[index].clear();
                }
                _ => {}
            }
            let front = pages.front(&chains[index]);
            assert_eq!(
                (chains[index].len(), chains[index].is_empty()),
                (model[index].len(), front.is_empty())
            );
            assert_eq!(front, &model[index][..front.len()]);
        }
        for chain in &mut chains {
            pages.release(chain);
        }
        assert!(pages.fits(&Chain::EMPTY, 160) && !pages.fits(&Chain::EMPTY, 161));
        assert!(pages.can_ever_hold(160) && !pages.can_ever_hold(161));
    }
}
