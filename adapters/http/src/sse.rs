//! Server-sent events: a decoder and a writer.
