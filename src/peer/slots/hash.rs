//! HalfSipHash-1-3: a keyed hash in 32-bit arithmetic, for ids that a peer chose.
//!
//! Published by J.-P. Aumasson and D. J. Bernstein with SipHash. A peer that does not know the key cannot choose ids that
//! all fall into one chain.
#![allow(clippy::as_conversions, reason = "the two halves of a seed")]

/// Incremental hasher.
pub(crate) struct Hasher {
    state: State,
    word: u32,
    length: u32,
}

impl Hasher {
    pub(crate) fn new(seed: u64) -> Hasher {
        let (key0, key1) = (seed as u32, (seed >> 32) as u32);
        let state = State([key0, key1, 0x6c79_6765 ^ key0, 0x7465_6462 ^ key1]);
        Hasher { state, word: 0, length: 0 }
    }

    pub(crate) fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.word |= u32::from(*byte).wrapping_shl(self.length.wrapping_mul(8) & 31);
            self.length = self.length.wrapping_add(1);
            if self.length.is_multiple_of(4) {
                self.state.absorb(self.word);
                self.word = 0;
            }
        }
    }

    pub(crate) fn finish(mut self) -> u32 {
        self.state.absorb(self.word | self.length.wrapping_shl(24));
        self.state.finish()
    }
}

struct State([u32; 4]);

impl State {
    fn absorb(&mut self, word: u32) {
        let State([_, _, _, v3]) = self;
        *v3 ^= word;
        self.round();
        let State([v0, ..]) = self;
        *v0 ^= word;
    }

    fn finish(mut self) -> u32 {
        let State([_, _, v2, _]) = &mut self;
        *v2 ^= 0xff;
        for _ in 0..3 {
            self.round();
        }
        let State([_, v1, _, v3]) = self;
        v1 ^ v3
    }

    fn round(&mut self) {
        let State([v0, v1, v2, v3]) = self;
        *v0 = v0.wrapping_add(*v1);
        *v1 = v1.rotate_left(5) ^ *v0;
        *v0 = v0.rotate_left(16);
        *v2 = v2.wrapping_add(*v3);
        *v3 = v3.rotate_left(8) ^ *v2;
        *v0 = v0.wrapping_add(*v3);
        *v3 = v3.rotate_left(7) ^ *v0;
        *v2 = v2.wrapping_add(*v1);
        *v1 = v1.rotate_left(13) ^ *v2;
        *v2 = v2.rotate_left(16);
    }
}
