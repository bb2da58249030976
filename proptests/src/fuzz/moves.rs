//! Pseudo-random lengths of reads and writes.

use arbitrary::Arbitrary;

/// An endless sequence of lengths. Two input bytes determine the sequence, to save fuzzer input.
#[derive(Debug, Clone, Copy, Arbitrary)]
pub struct Moves(u16);

impl Moves {
    /// All bytes at once.
    pub const WHOLE: Moves = Moves(0);
    /// Byte by byte.
    pub const SINGLE: Moves = Moves(1);

    /// Returns the next length, at least 1.
    #[must_use]
    pub fn length(&mut self) -> usize {
        let Moves(word) = *self;
        // The two bits of the kind stay constant. The other bits run through a full-period pseudo-random sequence.
        let (kind, turn) = (word & 3, word >> 2);
        let turn = turn.wrapping_mul(12_421).wrapping_add(3_011) & 0x3fff;
        self.0 = turn << 2 | kind;
        let random = usize::from(turn >> 6);
        match kind {
            0 => usize::MAX,
            1 => 1,
            2 => 1 + random % 7,
            _ => 1 + random % 100,
        }
    }

    /// Splits a text into pieces of these lengths.
    pub fn pieces<'t>(mut self, text: &'t [u8]) -> impl Iterator<Item = &'t [u8]> + use<'t> {
        let mut rest = text;
        std::iter::from_fn(move || {
            let (piece, tail) = rest.split_at(self.length().min(rest.len()));
            rest = tail;
            (!piece.is_empty()).then_some(piece)
        })
    }
}
