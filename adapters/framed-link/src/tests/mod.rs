//! Tests of the link: frames, protocol, an adversary on the line, calls of tools, all states of small models.

mod adversary;
mod calls;
mod explore;
mod frames;
mod line;
mod protocol;

/// Pseudorandom numbers from a seed (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit
    }
}
