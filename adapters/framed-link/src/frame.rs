//! Frames: their layout, their checksum, and their encoding on the line.
//!
//! | kind | body |
//! |---|---|
//! | hello | kind, number of the sender (2 bytes), number of the receiver or 0 (2 bytes) |
//! | data | kind, sequence number, acknowledgment, payload |
//! | acknowledgment | kind, acknowledgment |
//! | repeat request | kind, acknowledgment |
//!
//! A CRC-16 follows the body. COBS removes the zeros from both. A zero before each frame and a zero after it separate
//! the frame from other bytes. Numbers are little-endian.

use cobs::{CobsEncoder, DecodeResult, DecoderState};
use crc::{CRC_16_IBM_3740, Crc, NoTable};

use crate::PAYLOAD;

// No kind is a byte of UTF-8, so no undamaged frame is text.
const HELLO: u8 = 0xF8;
const DATA: u8 = 0xF9;
const ACK: u8 = 0xFA;
const REPEAT: u8 = 0xFB;

/// The length of the longest frame without its delimiters. A data frame has 3 bytes before the payload, 2 bytes after
/// it, and 1 byte of COBS.
pub(crate) const SEGMENT: usize = PAYLOAD + 6;
/// The length of the longest frame with its delimiters.
pub(crate) const FRAME: usize = SEGMENT + 2;

// A table would cost 512 bytes of flash.
static CRC: Crc<u16, NoTable> = Crc::<u16, NoTable>::new(&CRC_16_IBM_3740);

/// The numbers of the sender and of the receiver. The checksum of a frame covers these numbers, so a frame of another
/// session is not valid.
pub(crate) type Session = [u8; 4];
/// Replaces the session in the checksum of a hello, which is valid in every session.
const NONE: Session = [0; 4];

/// A frame without its encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Frame<'f> {
    /// Begins a session between the ends with these numbers. The number of an unknown receiver is 0.
    Hello { sender: u16, receiver: u16 },
    /// A piece of the stream.
    Data { seq: u8, ack: u8, payload: &'f [u8] },
    /// The payloads of all frames before this sequence number were consumed.
    Ack { ack: u8 },
    /// Like `Ack`, after a damaged frame. The end that receives this request repeats its data frame in transit. Without
    /// such a frame, it sends an acknowledgment.
    Repeat { ack: u8 },
}

impl<'f> Frame<'f> {
    /// Encodes the frame with its delimiters. Returns the length.
    pub(crate) fn encode(&self, session: Session, space: &mut [u8; FRAME]) -> usize {
        let ([a, b], [c, d]) = match *self {
            Frame::Hello { sender, receiver } => (sender.to_le_bytes(), receiver.to_le_bytes()),
            _ => ([0; 2], [0; 2]),
        };
        let hello = [HELLO, a, b, c, d];
        let (head, payload, session): (&[u8], &[u8], _) = match *self {
            Frame::Hello { .. } => (&hello, &[], NONE),
            Frame::Data { seq, ack, payload } => (&[DATA, seq, ack], payload, session),
            Frame::Ack { ack } => (&[ACK, ack], &[], session),
            Frame::Repeat { ack } => (&[REPEAT, ack], &[], session),
        };
        let check = checksum(session, &[head, payload]).to_le_bytes();
        let [delimiter, encoded @ ..] = space;
        *delimiter = 0;
        let mut encoder = CobsEncoder::new(encoded);
        // The frame fits, because the payload is not longer than `PAYLOAD`.
        for part in [head, payload, &check] {
            _ = encoder.push(part);
        }
        let Ok(end) = encoder.finalize() else { return 0 };
        if let Some(delimiter) = encoded.get_mut(end) {
            *delimiter = 0;
        }
        end.saturating_add(2)
    }

    /// Decodes the bytes between two delimiters, in place. Returns `None` for a damaged frame and for a frame of
    /// another session. If `session` is `None`, only a hello is valid.
    pub(crate) fn decode(segment: &'f mut [u8], session: Option<Session>) -> Option<Frame<'f>> {
        let (mut decoder, mut len) = (DecoderState::Idle, 0_usize);
        for at in 0..segment.len() {
            if let DecodeResult::DataContinue(byte) = decoder.feed(*segment.get(at)?).ok()? {
                *segment.get_mut(len)? = byte;
                len = len.saturating_add(1);
            }
        }
        let Ok(DecodeResult::DataComplete) = decoder.feed(0) else { return None };
        let (body, check) = segment.get(..len)?.split_last_chunk()?;
        let (frame, session) = match *body {
            [HELLO, a, b, c, d] => {
                let (sender, receiver) = (u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]));
                (Frame::Hello { sender, receiver }, Some(NONE))
            }
            [DATA, seq, ack, ref payload @ ..] if (1..=PAYLOAD).contains(&payload.len()) => {
                (Frame::Data { seq, ack, payload }, session)
            }
            [ACK, ack] => (Frame::Ack { ack }, session),
            [REPEAT, ack] => (Frame::Repeat { ack }, session),
            _ => return None,
        };
        (checksum(session?, &[body]) == u16::from_le_bytes(*check)).then_some(frame)
    }
}

fn checksum(session: Session, parts: &[&[u8]]) -> u16 {
    let mut digest = CRC.digest();
    digest.update(&session);
    for part in parts {
        digest.update(part);
    }
    digest.finalize()
}
