//! JSON without a heap: a resumable [`Scanner`], [`Json`] views and a [`Writer`].
//!
//! With the feature `serde`, the module reads and writes any `Deserialize` or `Serialize` type.
//!
//! The scanner validates a whole text once. Readers rely on this validation: views traverse the text without checks,
//! and decode a string only on request.
//!
//! ```
//! use mcp_proto::Decimal;
//! use mcp_proto::json::Json;
//! let json = Json::parse(br#"{"on":true,"levels":[1,2.50],"label":"a\tb"}"#)?;
//! assert_eq!(json.get("on").unwrap().boolean(), Some(true));
//! assert_eq!(json.get("label").unwrap().string().unwrap(), "a\tb");
//! let level = json.get("levels").unwrap().index(1).unwrap();
//! assert_eq!(Decimal::parse(level.raw()), Some(Decimal::new(25, -1)));
//! # Ok::<(), mcp_proto::json::ScanError>(())
//! ```

#[cfg(feature = "serde")]
pub(crate) mod de;
pub(crate) mod decimal;
pub(crate) mod partial;
pub(crate) mod scanner;
#[cfg(any(all(feature = "derive", feature = "alloc"), feature = "monitor"))]
pub(crate) mod schema_check;
mod search;
#[cfg(feature = "serde")]
mod ser;
mod skip;
pub(crate) mod string;
#[cfg(all(feature = "serde", feature = "alloc"))]
mod to_string;
mod value;
mod write_body;
pub(crate) mod write_text;
pub(crate) mod writer;

#[cfg(feature = "serde")]
pub use de::{TypedError, decode_in_place};
pub(crate) use decimal::{Decimal, SortKey, digit_bytes};
pub(crate) use scanner::{KNOWN_CAPACITY, KNOWN_OBJECTS, KnownObject, MemberIndex, Scanned, Shape, Span};
pub use scanner::{Member, OpenSpan, ScanError, ScanErrorKind, Scanner};
pub(crate) use search::{find, find_in_bytes};
#[cfg(feature = "serde")]
pub use ser::EncodeError;
pub use string::{Chars, Str, TooShort};
pub(crate) use string::{decode_in_place as decode_text_in_place, text_of};
#[cfg(all(feature = "serde", feature = "alloc"))]
pub use to_string::to_string;
pub use value::{Elements, Json, Kind, Members};
pub(crate) use value::{append_digit, magnitude, next_element};
pub(crate) use write_body::WriteBody;
pub(crate) use write_text::{WriteText, errors, print, prints};
pub(crate) use writer::fitting_prefix;
pub use writer::{Mark, Writer};

/// The maximum number of containers that are open at once in any text.
pub const DEPTH_LIMIT: u8 = 128;
