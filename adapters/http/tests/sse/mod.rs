//! Tests of `sse`: the decoder and the writer of event streams.

mod decode;
mod generated;
mod oracle;
mod write;
