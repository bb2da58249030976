//! Newline framing, message mode and batches: converts bytes to messages.
//!
//! A line ends with LF. The decoder tolerates a CR before the LF, blank lines and a byte order mark. The decoder
//! scans each byte once, on arrival. For clients, the decoder scans the elements of a batch a second time. The
//! decoder discards an oversized line and keeps only the text of its `id`.
//!
//! Specification: every revision, *Transports*, *stdio*.

mod batch;
mod fill;
mod flags;
mod line_decoder;
mod message_mode;
pub(crate) mod outbound_message;
mod oversized_line;
mod partial_line;

pub(crate) use line_decoder::{InputSink, LineDecoder, LineKind};

#[cfg(test)]
mod tests;
