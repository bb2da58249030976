//! Newline framing, message mode and batches: bytes to messages.
//!
//! A line ends with LF. A CR before it, blank lines and a byte order mark are tolerated. Each byte is scanned once, on
//! arrival. An oversized line costs no memory: its bytes are scanned and discarded, and only the text of its `id` stays
//! in the buffer.
//!
//! Specification: every revision, *Transports*, *stdio*.

mod batch;
mod fill;
mod line_decoder;
mod message_mode;
pub(crate) mod outbound_message;
mod oversized_line;

pub(crate) use line_decoder::{Content, InputSink, Line, LineDecoder};

#[cfg(test)]
mod tests;
