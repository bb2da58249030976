//! Tests of `sse`.

mod decode;
mod generated;
mod oracle;
mod write;
