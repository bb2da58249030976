//! SHA-256 (FIPS 180-4) as a `const fn`, for digests at compile time.
#![allow(clippy::as_conversions, reason = "`usize` has at most 64 bits")]
#![allow(
    clippy::arithmetic_side_effects,
    reason = "sums of five words fit into 64 bits; rotations are below 32"
)]

/// Returns the SHA-256 digest of some bytes, for example for
/// [`SkillFile::by_application`](crate::server::SkillFile::by_application).
///
/// ```
/// const DIGEST: [u8; 32] = mcp_proto::sha256(b"abc");
/// assert_eq!(DIGEST[..4], [0xba, 0x78, 0x16, 0xbf]);
/// ```
///
/// In a `const` or `static`, the compiler computes the digest. If `bytes` are much more than 100 KiB, allow the
/// compiler's lint `long_running_const_eval`.
#[must_use]
pub const fn sha256(bytes: &[u8]) -> [u8; 32] {
    let (mut blocks, tail) = bytes.as_chunks::<64>();
    let mut state = INITIAL;
    while let [block, rest @ ..] = blocks {
        (state, blocks) = (compress(state, block), rest);
    }
    let (last, extra) = padded(tail, (bytes.len() as u64).wrapping_mul(8));
    state = compress(state, &last);
    if let Some(extra) = extra {
        state = compress(state, &extra);
    }
    let mut digest = [0; 32];
    let (mut words, mut target): (&[u32], &mut [u8]) = (&state, &mut digest);
    while let ([word, rest @ ..], Some((bytes, after))) = (words, target.split_first_chunk_mut::<4>()) {
        *bytes = word.to_be_bytes();
        (words, target) = (rest, after);
    }
    digest
}

/// Returns the last one or two blocks: `tail`, a 1 bit, zeros, and `bits`, the length of all hashed bytes in bits.
const fn padded(tail: &[u8], bits: u64) -> ([u8; 64], Option<[u8; 64]>) {
    let (mut first, mut second) = ([0; 64], [0; 64]);
    if let Some((text, [mark, ..])) = first.split_at_mut_checked(tail.len()) {
        text.copy_from_slice(tail);
        *mark = 0x80;
    }
    let needs_second = tail.len() >= 56;
    let last = if needs_second { &mut second } else { &mut first };
    if let Some(length) = last.last_chunk_mut::<8>() {
        *length = bits.to_be_bytes();
    }
    (first, if needs_second { Some(second) } else { None })
}

const fn compress(state: [u32; 8], block: &[u8; 64]) -> [u32; 8] {
    // The next 16 words of the message schedule.
    let mut words = [0; 16];
    let (mut bytes, mut target): (&[[u8; 4]], &mut [u32]) = (block.as_chunks::<4>().0, &mut words);
    while let ([bytes_of_word, rest @ ..], [word, after @ ..]) = (bytes, target) {
        *word = u32::from_be_bytes(*bytes_of_word);
        (bytes, target) = (rest, after);
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = state;
    let mut constants: &[u32] = &CONSTANTS;
    while let [constant, rest @ ..] = constants {
        constants = rest;
        let [w0, w1, w2, w3, w4, w5, w6, w7, w8, w9, w10, w11, w12, w13, w14, w15] = words;
        let choice = (e & f) ^ (!e & g);
        let majority = (a & b) ^ (a & c) ^ (b & c);
        let left = sum([h, rotations(e, [6, 11, 25]), choice, *constant, w0]);
        let right = sum([rotations(a, [2, 13, 22]), majority, left, 0, 0]);
        (h, g, f, e) = (g, f, e, sum([d, left, 0, 0, 0]));
        (d, c, b, a) = (c, b, a, right);
        let early = rotations(w1, [7, 18, 3]) ^ (w1 << 29);
        let late = rotations(w14, [17, 19, 10]) ^ (w14 << 22);
        let next = sum([w0, early, w9, late, 0]);
        words = [w1, w2, w3, w4, w5, w6, w7, w8, w9, w10, w11, w12, w13, w14, w15, next];
    }
    let [s0, s1, s2, s3, s4, s5, s6, s7] = state;
    let sums = [[a, s0], [b, s1], [c, s2], [d, s3], [e, s4], [f, s5], [g, s6], [h, s7]];
    let (mut rest, mut state): (&[[u32; 2]], [u32; 8]) = (&sums, state);
    let mut target: &mut [u32] = &mut state;
    while let ([[left, right], tail @ ..], [word, after @ ..]) = (rest, target) {
        *word = sum([*left, *right, 0, 0, 0]);
        (rest, target) = (tail, after);
    }
    state
}

// The compiler limits the number of function calls at compile time, so `rotations` and `sum` use only operators.

/// Returns the exclusive or of three rotations to the right.
#[expect(clippy::manual_rotate, reason = "operators instead of calls")]
const fn rotations(word: u32, [x, y, z]: [u32; 3]) -> u32 {
    ((word >> x) | (word << (32 - x)))
        ^ ((word >> y) | (word << (32 - y)))
        ^ ((word >> z) | (word << (32 - z)))
}

/// Returns the low 32 bits of the sum.
#[expect(clippy::cast_possible_truncation, reason = "the carry is dropped")]
const fn sum([a, b, c, d, e]: [u32; 5]) -> u32 {
    (a as u64 + b as u64 + c as u64 + d as u64 + e as u64) as u32
}

/// The first 32 bits of the fractional parts of the square roots of the first 8 primes.
const INITIAL: [u32; 8] =
    [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];

/// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
#[rustfmt::skip]
const CONSTANTS: [u32; 64] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
    0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
    0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
    0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
    0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
    0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
    0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
];

/// Encodes a digest as text: `sha256:` and 64 lowercase hexadecimal digits.
pub(crate) fn digest_text(digest: &[u8; 32]) -> [u8; 71] {
    let mut text = *b"sha256:################################################################";
    let digits = text.last_chunk_mut::<64>().map(|digits| digits.as_chunks_mut::<2>().0);
    for (digits, byte) in digits.into_iter().flatten().zip(digest) {
        *digits = [digit(byte >> 4), digit(byte & 15)];
    }
    text
}

const fn digit(value: u8) -> u8 {
    value.wrapping_add(if value < 10 { b'0' } else { b'a'.wrapping_sub(10) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::String;

    fn text(bytes: &[u8]) -> String {
        String::from_utf8(digest_text(&sha256(bytes)).into()).unwrap()
    }

    #[test]
    fn digests_are_those_of_the_standard() {
        let cases: [(&[u8], &str); 4] = [
            (b"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            (b"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
            ),
            (&[b'a'; 1_000_000], "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
        ];
        for (bytes, expected) in cases {
            assert_eq!(text(bytes), std::format!("sha256:{expected}"), "{} bytes", bytes.len());
        }
    }

    /// Hashes the digests of 201 texts, one of each length from 0 to 200 bytes. The expected result comes from an
    /// independent implementation.
    #[test]
    fn padding_of_every_length_is_that_of_the_standard() {
        let digests: std::vec::Vec<u8> =
            (0..=200).flat_map(|length| sha256(&[b'x'; 200][..length])).collect();
        assert_eq!(text(&digests), "sha256:2e9fcf76499976b60177466c31b8ab5caa7d4c6dd8dd97c8ce7b574af689ec94");
    }

    #[test]
    fn digest_is_computed_at_compile_time() {
        const DIGEST: [u8; 32] = sha256(&[7; 128 << 10]);
        assert_eq!(DIGEST, sha256(&[7; 128 << 10]));
    }
}
