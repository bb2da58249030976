//! `Random`: deterministic pseudo-random numbers.

/// A generator of the family xorshift64*.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// Returns a number below `limit`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let number = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33;
        usize::try_from(number).unwrap() % limit
    }

    pub(crate) fn choose<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }

    /// Returns the lengths of three pieces, which may be empty.
    pub(crate) fn pieces(&mut self, length: usize) -> [usize; 3] {
        [0; 3].map(|_| self.below(length.min(40) + 1))
    }

    /// Changes the text up to three times: replaces, removes or inserts one byte, or duplicates up to 29 bytes.
    pub(crate) fn mutate(&mut self, text: &mut Vec<u8>, vocabulary: &[u8]) {
        for _ in 0..self.below(4) {
            if text.is_empty() {
                return;
            }
            let (at, byte) = (self.below(text.len()), vocabulary[self.below(vocabulary.len())]);
            match self.below(4) {
                0 => text[at] = byte,
                1 => _ = text.remove(at),
                2 => text.insert(at, byte),
                _ => {
                    let end = (at + self.below(30)).min(text.len());
                    let copy = text[at..end].to_vec();
                    let to = self.below(text.len());
                    text.splice(to..to, copy);
                }
            }
        }
    }
}
