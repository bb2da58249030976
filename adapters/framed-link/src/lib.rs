//! A reliable byte stream in both directions of a serial line that damages, drops and inserts bytes.
//!
//! A [`FramedLink`] at each end of the line splits the stream into frames. Each of these frames contains at most
//! [`PAYLOAD`] bytes of the stream, a checksum (CRC-16) and a sequence number. COBS removes zeros from a frame, so that
//! zeros separate frames. The receiver acknowledges each frame, and the sender repeats a lost frame. The link does no
//! I/O, has no clock, and needs no heap:
//!
//! - [`output`](FramedLink::output) returns bytes for the line, and [`input`](FramedLink::input) takes bytes from the
//!   line.
//! - [`send`](FramedLink::send) takes bytes of the stream, and [`received`](FramedLink::received) returns these bytes
//!   at the other end.
//! - [`deadline`](FramedLink::deadline) returns the time at which `output` repeats a frame.
//!
//! **Guarantee.** Bytes are received in the order in which they were sent, without gaps or duplicates, until an end
//! begins a new session. Then [`take_reset`](FramedLink::take_reset) reports the new session at the other end, and
//! bytes in transit are lost. The exception is damage that the CRC does not detect. A frame with more than 3 wrong
//! bits passes with a probability of 1 in 65,536.
//!
//! **Text.** [`input`](FramedLink::input) passes text outside of frames, such as log lines of a board, to a callback.
//!
//! ```
//! use mcp_proto::Millis;
//! use mcp_proto_framed_link::FramedLink;
//!
//! /// Moves the output of one link to the other one, over a line that damages the byte at `damaged`.
//! fn transfer(from: &mut FramedLink, to: &mut FramedLink, now: Millis, damaged: usize) {
//!     let mut bytes = from.output(now).to_vec();
//!     from.written(bytes.len(), now);
//!     if let Some(byte) = bytes.get_mut(damaged) {
//!         *byte ^= 1;
//!     }
//!     to.input(&bytes, now, |_text| {});
//! }
//!
//! let (mut bridge, mut board) = (FramedLink::new(0x1234), FramedLink::new(1));
//! let mut now = Millis(0);
//! let mut received: Vec<u8> = Vec::new();
//! while received != b"hello" {
//!     bridge.send(&b"hello"[received.len()..]);
//!     transfer(&mut bridge, &mut board, now, usize::MAX);
//!     // The first answers of the board are damaged.
//!     transfer(&mut board, &mut bridge, now, if now < Millis(300) { 3 } else { usize::MAX });
//!     received.extend(board.received());
//!     board.consume(board.received().len());
//!     now = now.plus(Millis(10));
//! }
//! ```
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(elided_lifetimes_in_paths)]
// The peer and line noise control the input of this code, so this code must not panic.
#![cfg_attr(
    not(test),
    deny(
        clippy::indexing_slicing,
        clippy::string_slice,
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::unreachable,
        clippy::todo,
        clippy::unimplemented,
        clippy::arithmetic_side_effects,
        clippy::as_conversions
    )
)]

#[cfg(test)]
extern crate std;

mod endpoint;
mod frame;
mod link;
mod segments;
#[cfg(test)]
mod tests;
mod timer;

pub use crate::link::FramedLink;

/// Maximum number of bytes of the stream in a frame.
///
/// Longer frames have less overhead on a line without damage. On a line that damages 1 % of the bytes, half of the
/// frames of this length arrive undamaged.
pub const PAYLOAD: usize = 64;
