//! JSON: scanner, views, writer.
mod scan;
mod swar;

pub use scan::{Envelope, Member, OpenSpan, ScanError, ScanErrorKind, Scanner, Shape, Span};

/// The most containers that may be open at once in any text.
pub const DEPTH_LIMIT: u8 = 128;
