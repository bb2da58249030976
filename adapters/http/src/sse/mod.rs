//! Server-sent events: a decoder and a writer (WHATWG HTML, section "Server-sent events").
//!
//! [`SseDecoder`] takes the body of a `text/event-stream` response in pieces of any size. [`SseWriter`] writes the
//! body, event by event. Both use a buffer of the caller.
//!
//! ```
//! use mcp_proto_http::sse::{SseDecoder, SseItem, SseWriter};
//!
//! let mut text = [0; 64];
//! let text = SseWriter::new(&mut text).id("7").data(b"{}").finish()?;
//! assert_eq!(text, b"id: 7\ndata: {}\n\n");
//!
//! let mut buffer = [0; 64];
//! let mut decoder = SseDecoder::new(&mut buffer);
//! let step = decoder.decode(text);
//! let Some(SseItem::Event(event)) = step.item else { panic!("the input has a whole event") };
//! assert_eq!((event.name, event.data, event.last_event_id), (&b"message"[..], &b"{}"[..], &b"7"[..]));
//! assert_eq!(step.consumed, text.len());
//! # Ok::<(), mcp_proto_http::WriteError>(())
//! ```

mod decoder;
mod event_buffer;
mod writer;

pub use decoder::{SseDecoder, SseEvent, SseItem, SseStep};
pub use writer::{DATA_END, KEEP_ALIVE, SseWriter};
