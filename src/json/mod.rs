//! JSON: scanner, views, writer.

mod decimal;
mod path;
mod scan;
mod swar;
mod text;
mod view;
mod walk;
mod write;

pub use decimal::Decimal;
pub use path::{AccessError, At};
pub use scan::{Envelope, Member, OpenSpan, ScanError, ScanErrorKind, Scanner, Shape, Span};
pub use text::{Chars, Str, TooShort};
pub use view::{Elements, Json, Kind, Members};
pub use write::{Mark, Writer};

/// The most containers that may be open at once in any text.
pub const DEPTH_LIMIT: u8 = 128;
