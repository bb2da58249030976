//! Ids of tasks: the slot, its generation and 128 random bits, as hexadecimal digits.
//!
//! The slot and the generation make each id unique in its table, even with bad randomness. The random bits make the ids
//! unguessable.

use crate::json::{Str, text_of};
use crate::peer::slots::Ticket;

/// Packs a ticket into six bytes.
pub(crate) fn packed(Ticket { slot, generation }: Ticket) -> [u8; 6] {
    let ([s0, s1, ..], [g0, g1, g2, g3]) = (slot.to_le_bytes(), generation.to_le_bytes());
    [s0, s1, g0, g1, g2, g3]
}

/// Returns the packed ticket at the start of a text. Returns `None` if the text is shorter than a packed ticket.
pub(crate) fn unpacked(text: &[u8]) -> Option<Ticket> {
    let [s0, s1, g0, g1, g2, g3] = *text.first_chunk()?;
    Some(Ticket {
        slot: u16::from_le_bytes([s0, s1]).into(),
        generation: u32::from_le_bytes([g0, g1, g2, g3]),
    })
}

/// 128 random bits, from the caller.
pub(crate) type Random = [u8; 16];

const BYTES: usize = 22;

/// Length of an id in characters.
pub(crate) const LENGTH: usize = 44;

/// The text of an id.
#[derive(Clone, Copy)]
pub(crate) struct TaskId([u8; LENGTH]);

impl TaskId {
    pub(crate) fn new(ticket: Ticket, random: Random) -> TaskId {
        let mut id = [0; LENGTH];
        for (digits, byte) in id.as_chunks_mut::<2>().0.iter_mut().zip(packed(ticket).iter().chain(&random)) {
            *digits = [digit(*byte >> 4), digit(*byte & 15)];
        }
        TaskId(id)
    }

    pub(crate) fn as_str(&self) -> &str {
        text_of(&self.0)
    }

    /// Parses an id. Returns the ticket and the random bits, or `None` for any other text.
    pub(crate) fn parse(text: Str<'_>) -> Option<(Ticket, Random)> {
        let (mut id, mut bytes) = ([0; LENGTH], [0; BYTES]);
        if text.copy_to(&mut id).ok()?.len() != LENGTH {
            return None;
        }
        for (byte, [high, low]) in bytes.iter_mut().zip(id.as_chunks::<2>().0) {
            *byte = value(*high)? << 4 | value(*low)?;
        }
        Some((unpacked(&bytes)?, *bytes.last_chunk()?))
    }
}

/// Compares random bits in constant time, so that the duration reveals no part of these bits.
pub(crate) fn is_same(left: &Random, right: &Random) -> bool {
    left.iter().zip(right).fold(0, |difference, (left, right)| difference | left ^ right) == 0
}

fn digit(value: u8) -> u8 {
    if value < 10 { b'0'.wrapping_add(value) } else { b'a'.wrapping_sub(10).wrapping_add(value) }
}

fn value(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit.wrapping_sub(b'0')),
        b'a'..=b'f' => Some(digit.wrapping_sub(b'a').wrapping_add(10)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Json;
    use std::format;

    fn parse(text: &str) -> Option<(Ticket, Random)> {
        TaskId::parse(Json::parse(format!("\"{text}\"").as_bytes()).unwrap().string().unwrap())
    }

    #[test]
    fn id_parses_back_and_any_other_text_is_refused() {
        let random = core::array::from_fn(|at| at as u8 * 17);
        for (slot, generation) in [(0, 0), (1, 7), (65534, u32::MAX)] {
            let ticket = Ticket { slot, generation };
            let id = TaskId::new(ticket, random);
            assert_eq!(parse(id.as_str()), Some((ticket, random)));
            let upper = id.as_str().to_uppercase();
            for wrong in [&id.as_str()[1..], &format!("{}0", id.as_str()), &upper, "", "786512e2"] {
                assert_eq!(parse(wrong), None, "{wrong}");
            }
        }
    }

    #[test]
    fn random_bits_differ_if_any_bit_differs() {
        let random = [0xA5; 16];
        assert!(is_same(&random, &random));
        for bit in 0..128 {
            let mut other = random;
            other[bit / 8] ^= 1 << (bit % 8);
            assert!(!is_same(&random, &other), "{bit}");
        }
    }
}
