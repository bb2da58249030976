//! HalfSipHash-1-3: a keyed 32-bit hash for ids and other texts that a peer chooses.
//!
//! HalfSipHash is a variant of SipHash by J.-P. Aumasson and D. J. Bernstein. A peer that does not know the key, which
//! is the `seed`, cannot choose texts whose hashes collide.
#![allow(clippy::as_conversions, reason = "a seed is split into two halves")]

/// Incremental hasher.
pub(crate) struct Hasher {
    state: [u32; 4],
    word: u32,
    length: u32,
}

impl Hasher {
    pub(crate) fn new(seed: u64) -> Hasher {
        let (key0, key1) = (seed as u32, (seed >> 32) as u32);
        Hasher { state: [key0, key1, 0x6c79_6765 ^ key0, 0x7465_6462 ^ key1], word: 0, length: 0 }
    }

    pub(crate) fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.word |= u32::from(*byte).wrapping_shl(self.length.wrapping_mul(8) & 31);
            self.length = self.length.wrapping_add(1);
            if self.length.is_multiple_of(4) {
                self.absorb();
            }
        }
    }

    pub(crate) fn finish(mut self) -> u32 {
        self.word |= self.length.wrapping_shl(24);
        self.absorb();
        let [_, _, v2, _] = &mut self.state;
        *v2 ^= 0xff;
        for _ in 0..3 {
            self.round();
        }
        let [_, v1, _, v3] = self.state;
        v1 ^ v3
    }

    /// Adds the complete word to the state.
    fn absorb(&mut self) {
        let [_, _, _, v3] = &mut self.state;
        *v3 ^= self.word;
        self.round();
        let [v0, ..] = &mut self.state;
        *v0 ^= core::mem::take(&mut self.word);
    }

    fn round(&mut self) {
        let [v0, v1, v2, v3] = &mut self.state;
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;
    use std::vec::Vec;

    /// The first published values of HalfSipHash-1-3, for inputs of 0 to 9 bytes.
    #[test]
    fn hash_equals_published_vectors() {
        let bytes: Vec<u8> = (0..9).collect();
        let hash = |length| {
            let mut hasher = Hasher::new(0x0706_0504_0302_0100);
            hasher.add(&bytes[..length]);
            hasher.finish()
        };
        let first = [0x5814_c896, 0xe7e8_64ca, 0xbc4b_0e30, 0x0153_9939, 0x7e05_9ea6];
        let next = [0x88e3_d89b, 0xa008_0b65, 0x9d38_d9d6, 0x5779_99b1, 0xc839_caed];
        assert_eq!([0, 1, 2, 3, 4].map(hash), first);
        assert_eq!([5, 6, 7, 8, 9].map(hash), next);
    }

    #[test]
    fn hash_is_independent_of_input_splits() {
        let bytes: Vec<u8> = (0..40u8).map(|n| n.wrapping_mul(37)).collect();
        for length in 0..bytes.len() {
            for cut in 0..=length {
                let [mut whole, mut in_two, mut one_by_one] = [(); 3].map(|()| Hasher::new(9));
                whole.add(&bytes[..length]);
                in_two.add(&bytes[..cut]);
                in_two.add(&bytes[cut..length]);
                bytes[..length].iter().for_each(|byte| one_by_one.add(&[*byte]));
                let expected = one_by_one.finish();
                assert_eq!((whole.finish(), in_two.finish()), (expected, expected), "{length} {cut}");
            }
        }
    }

    #[test]
    fn seed_determines_the_bucket_of_an_id() {
        let hash = |seed, text: &str| {
            let mut hasher = Hasher::new(seed);
            hasher.add(text.as_bytes());
            hasher.finish()
        };
        assert_eq!(hash(1, "id-1"), hash(1, "id-1"));
        let moved =
            (0..100u32).filter(|n| hash(1, &format!("{n}")) % 16 != hash(2, &format!("{n}")) % 16).count();
        assert!(moved > 70, "{moved}");
        let mut buckets = [0; 16];
        (0..1600u32).for_each(|n| buckets[(hash(7, &format!("{n}")) % 16) as usize] += 1);
        assert!(buckets.iter().all(|count| (60..=140).contains(count)), "{buckets:?}");
    }

    #[test]
    fn ids_that_collide_under_one_seed_spread_under_another() {
        let chain = |seed, id: u32| {
            let mut hasher = Hasher::new(seed);
            hasher.add(format!("{id}").as_bytes());
            (u64::from(hasher.finish()) * 64) >> 32
        };
        let chosen: Vec<u32> = (0..).filter(|id| chain(1, *id) == 5).take(640).collect();
        let mut chains = [0; 64];
        chosen.iter().for_each(|id| chains[chain(2, *id) as usize] += 1);
        assert!(chains.iter().all(|length| *length < 30), "{chains:?}");
    }
}
