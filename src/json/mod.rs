//! JSON: scanner, views, writer.

mod path;
mod scan;
mod swar;
mod text;
mod view;
mod walk;

pub use path::{AccessError, At};
pub use scan::{Envelope, Member, OpenSpan, ScanError, ScanErrorKind, Scanner, Shape, Span};
pub(crate) use text::decode_in_place;
pub use text::{Chars, Str, TooShort};
pub use view::{Elements, Json, Kind, Members};

/// The most containers that may be open at once in any text.
pub const DEPTH_LIMIT: u8 = 128;
