//! Random numbers from a seed, or from a fuzzer's input until it is used up.

/// A reproducible source of choices.
pub struct Random {
    bytes: std::vec::IntoIter<u8>,
    state: u64,
}

impl Random {
    pub fn seeded(seed: u64, number: u64) -> Random {
        let mut random = Random {
            bytes: Vec::new().into_iter(),
            state: seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15),
        };
        random.next();
        random
    }

    pub fn from_bytes(bytes: &[u8]) -> Random {
        let hash =
            bytes.iter().fold(7u64, |hash, byte| hash.wrapping_mul(0x0100_0000_01b3) ^ u64::from(*byte));
        Random { bytes: bytes.to_vec().into_iter(), state: hash }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.state;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// Returns a number below the limit, which must not be 0.
    pub fn below(&mut self, limit: usize) -> usize {
        let byte = self.bytes.next().map(u64::from);
        let number = match byte {
            Some(byte) if limit <= 256 => byte,
            Some(byte) => byte << 8 | u64::from(self.bytes.next().unwrap_or(0)),
            None => self.next() >> 16,
        };
        (number % limit as u64) as usize
    }

    /// Returns `true` with this probability in percent.
    pub fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }

    pub fn pick_in<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        if from.is_empty() { None } else { from.get(self.below(from.len())) }
    }
}
