//! JSON Schemas of arguments and results, generated at compile time from types.
//!
//! From one type, [`derive(ToolArguments)`](macro@crate::ToolArguments) generates the constant `INPUT_SCHEMA` and an
//! implementation of serde's `Deserialize`. The implementation accepts the same values as the schema, with the
//! exceptions below.
//!
//! ```
//! use mcp_proto::server::Tool;
//! use mcp_proto::{ToolArguments, json};
//!
//! /// Sets one of the lights.
//! #[derive(Debug, PartialEq, ToolArguments)]
//! struct SetLight<'a> {
//!     /// Which one.
//!     #[tool(min_length = 1)]
//!     name: &'a str,
//!     #[tool(range = 0..=100)]
//!     percent: u8,
//!     /// How long it takes, in milliseconds.
//!     fade: Option<u32>,
//! }
//!
//! static SET_LIGHT: Tool = Tool::with_arguments::<SetLight>("set_light");
//! assert_eq!(
//!     SetLight::INPUT_SCHEMA,
//!     concat!(
//!         r#"{"type":"object","properties":{"#,
//!         r#""name":{"type":"string","description":"Which one.","minLength":1},"#,
//!         r#""percent":{"type":"integer","minimum":0,"maximum":100},"#,
//!         r#""fade":{"type":["integer","null"],"description":"How long it takes, in milliseconds.","#,
//!         r#""minimum":0,"maximum":4294967295}"#,
//!         r#"},"required":["name","percent"],"additionalProperties":false}"#,
//!     )
//! );
//! let mut text = *br#"{"name":"kitchen","percent":40}"#;
//! let light: SetLight = json::decode_in_place(&mut text)?;
//! assert_eq!(light, SetLight { name: "kitchen", percent: 40, fade: None });
//!
//! let mut text = *br#"{"name":"kitchen","percent":101}"#;
//! let error = json::decode_in_place::<SetLight>(&mut text).unwrap_err();
//! assert_eq!(error.to_string(), "`percent`: expected an integer from 0 to 100");
//! # Ok::<(), json::TypedError>(())
//! ```
//!
//! # Accepted values
//!
//! - The decoder refuses duplicates of known members, but accepts duplicates in maps. The decoder also refuses unknown
//!   members, unless the type allows unknown fields.
//! - `1.0` and `1e2` are integers, as in JSON Schema.
//! - A field of the type [`Option`] may be missing or `null`. If the field has the attribute `header`, the schema does
//!   not permit `null`, but the decoder accepts `null`.
//! - The schema does not contain the limits of a floating-point type, but the decoder refuses a number that the type of
//!   the field cannot hold. The decoder compares bounds after the conversion. For example, an `f32` field reads
//!   0.50000000001 as 0.5.
//! - A [`Decimal`] keeps the first 18 or 19 digits of a number. In arguments and in structured results, a `Decimal`
//!   links no floating-point code. The bounds and the default of a `Decimal` are literals with a decimal point, as
//!   for floats.
//!
//!   ```
//!   use mcp_proto::{Decimal, ToolArguments, json};
//!
//!   #[derive(ToolArguments)]
//!   struct SetTarget {
//!       #[tool(range = 5.0..=30.5, default = 21.5)]
//!       celsius: Decimal,
//!   }
//!   assert!(SetTarget::INPUT_SCHEMA.contains(r#"{"type":"number","minimum":5.0,"maximum":30.5,"default":21.5}"#));
//!   let target: SetTarget = json::decode_in_place(&mut *br#"{"celsius":20.25}"#.to_vec())?;
//!   assert_eq!(target.celsius, Decimal::new(2025, -2));
//!   # Ok::<(), json::TypedError>(())
//!   ```
//!
//! - A set accepts a repeated element, although its schema has `uniqueItems`. An IP address is a string, and the
//!   decoder refuses a string that is no address.
//!
//! # Any JSON
//!
//! A field of the type [`Json`] accepts any value and borrows its text, without a heap. With a heap, a field may also
//! have a type of another crate, such as `serde_json::Value`, and the attribute `#[tool(schema = Node::Any)]`.
//!
//! ```
//! use mcp_proto::ToolArguments;
//! use mcp_proto::json::{Json, decode_in_place};
//!
//! #[derive(ToolArguments)]
//! struct Publish<'a> {
//!     topic: &'a str,
//!     payload: Json<'a>,
//! }
//! assert!(Publish::INPUT_SCHEMA.contains(r#""payload":{}"#));
//! let mut text = *br#"{"topic":"lamp","payload":{"on":true}}"#;
//! let publish: Publish = decode_in_place(&mut text)?;
//! assert_eq!(publish.payload.get("on").and_then(Json::boolean), Some(true));
//! # Ok::<(), mcp_proto::json::TypedError>(())
//! ```
//!
//! # Maps, formats, generic and recursive types
//!
//! A `BTreeMap` or `HashMap` accepts any member names that its key type accepts. The last of duplicate members counts.
//! A type may contain itself in a `Box`, a `Vec` or a map. The decoder accepts up to
//! [`DEPTH_LIMIT`](crate::json::DEPTH_LIMIT) nested containers.
//!
//! ```
//! # #[cfg(feature = "alloc")] {
//! use mcp_proto::ToolArguments;
//! use std::collections::BTreeMap;
//!
//! #[derive(ToolArguments)]
//! struct Folder {
//!     #[tool(format = "date-time")]
//!     changed: String,
//!     sizes: BTreeMap<String, u32>,
//!     folders: Page<Box<Folder>>,
//! }
//!
//! #[derive(ToolArguments)]
//! struct Page<T> {
//!     items: Vec<T>,
//!     #[tool(default = Order::Name)]
//!     order: Order,
//! }
//!
//! #[derive(ToolArguments)]
//! #[serde(rename_all = "lowercase")]
//! enum Order {
//!     Name,
//!     Size,
//! }
//! for part in [
//!     r#""changed":{"type":"string","format":"date-time"}"#,
//!     r#""sizes":{"type":"object","additionalProperties":{"type":"integer","minimum":0,"maximum":4294967295}}"#,
//!     r##""items":{"type":"array","items":{"$ref":"#"}}"##,
//!     r#""order":{"type":"string","enum":["name","size"],"default":"name"}"#,
//! ] {
//!     assert!(Folder::INPUT_SCHEMA.contains(part));
//! }
//! # }
//! ```
//!
//! Two types that contain each other do not compile (E0391, "cycle detected"), because each schema would need the
//! other. The attribute `schema` on one of the fields breaks the cycle. The attribute does not change the decoder, but
//! the schema is less precise:
//!
//! ```
//! # #[cfg(feature = "alloc")] {
//! use mcp_proto::ToolArguments;
//! use mcp_proto::schema::Node;
//!
//! #[derive(ToolArguments)]
//! struct Chapter {
//!     #[tool(schema = Node::array(&Node::Any, 0, None))] // without this line: error E0391
//!     quotes: Vec<Book>,
//! }
//!
//! #[derive(ToolArguments)]
//! struct Book {
//!     chapters: Vec<Chapter>,
//! }
//! # assert!(Book::INPUT_SCHEMA.contains(r#""quotes":{"type":"array","items":{}}"#));
//! # }
//! ```
//!
//! ```compile_fail,E0391
//! # use mcp_proto::ToolArguments;
//! # #[derive(ToolArguments)]
//! # struct Chapter {
//! #    quotes: Vec<Book>,
//! # }
//! # #[derive(ToolArguments)]
//! # struct Book {
//! #    chapters: Vec<Chapter>,
//! # }
//! ```
//!
//! The feature `schemars` of the adapters for hosts accepts types that contain each other.
//!
//! # Lists, strings and maps without a heap
//!
//! With the feature `heapless`, a field may be a `Vec`, a `String`, a `LinearMap` or an `IndexMap` of the crate
//! `heapless`. The schema contains the capacity of the field.
//!
//! ```
//! # #[cfg(feature = "heapless")] {
//! use mcp_proto::ToolArguments;
//!
//! #[derive(ToolArguments)]
//! struct Greet {
//!     name: heapless::String<32>,
//!     #[tool(min_items = 1)]
//!     colors: heapless::Vec<u8, 3>,
//! }
//! assert!(Greet::INPUT_SCHEMA.contains(r#""name":{"type":"string","maxLength":32}"#));
//! assert!(Greet::INPUT_SCHEMA.contains(r#""minItems":1,"maxItems":3}"#));
//! # }
//! ```
//!
//! A field for a map of any size has the type [`Json`], which has no capacity: it borrows the text of the object. The
//! application reads the members in order. The decoder does not check the members, so the application must check the
//! members:
//!
//! ```
//! use mcp_proto::ToolArguments;
//! use mcp_proto::json::{Json, Str};
//! use mcp_proto::schema::Node;
//!
//! const NAME: Node = Node::string(1, None);
//! const LEVEL: Node = Node::integer(0, 100);
//!
//! #[derive(ToolArguments)]
//! struct SetLevels<'a> {
//!     #[tool(schema = Node::map(&NAME, &LEVEL, None))]
//!     levels: Json<'a>,
//! }
//! # assert!(SetLevels::INPUT_SCHEMA.contains(r#""additionalProperties":{"type":"integer","minimum":0,"maximum":100}"#));
//!
//! fn set_levels(SetLevels { levels }: SetLevels<'_>, mut set: impl FnMut(Str<'_>, u64)) -> Result<(), &'static str> {
//!     for (name, level) in levels.members() {
//!         let level = level.unsigned().filter(|level| *level <= 100).ok_or("a level is a number from 0 to 100")?;
//!         set(name, level);
//!     }
//!     Ok(())
//! }
//! ```
//!
//! A schema counts characters, but the capacity of a `heapless::String` counts bytes. The decoder refuses a string with
//! more bytes than the capacity, even if the schema permits its number of characters. A character has up to four bytes,
//! so a `max_length` of a quarter of the capacity avoids the difference.
//!
//! # Sets, tuples, paths and addresses
//!
//! A `BTreeSet` or `HashSet` is an array. A tuple of two to four values is an array with a type for each element; for
//! elements of one type, `[T; 2]` has the simpler schema. A path is a string. `Cow`, `Box`, `Rc` and `Arc` have the
//! schema of their content; to decode an `Rc` or `Arc`, enable the feature `rc` of serde.
//!
//! ```
//! # #[cfg(feature = "std")] {
//! use mcp_proto::ToolArguments;
//! use std::collections::BTreeSet;
//! use std::net::IpAddr;
//! use std::path::PathBuf;
//!
//! #[derive(ToolArguments)]
//! struct Export {
//!     file: PathBuf,
//!     tags: BTreeSet<String>,
//!     /// A name and a number of copies.
//!     pages: Vec<(String, u8)>,
//!     printer: Option<IpAddr>,
//! }
//! assert!(Export::INPUT_SCHEMA.contains(r#""tags":{"type":"array","items":{"type":"string"},"uniqueItems":true}"#));
//! # }
//! ```
//!
//! A `Duration` has no schema, because serde decodes it from an object of seconds and nanoseconds. Take a number whose
//! name has the unit, such as `timeout_ms: u32`.
//!
//! # Types of other crates
//!
//! With the attribute `schema`, a field may have any type that implements `Deserialize`. The value of the attribute is
//! a [`Node`] that describes the accepted values. For an `Option`, the node describes the values in it, and the schema
//! also accepts `null` and the absence of the field. The decoder does not compare values with this description:
//!
//! ```
//! use mcp_proto::ToolArguments;
//! use mcp_proto::schema::Node;
//!
//! #[derive(ToolArguments)]
//! struct Dial {
//!     #[tool(schema = Node::string(9, Some(21)))]
//!     address: core::net::SocketAddrV4,
//!     #[tool(schema = Node::integer(1, 65535))]
//!     port: Option<core::num::NonZeroU16>,
//! }
//! # assert!(Dial::INPUT_SCHEMA.contains(r#""address":{"type":"string","minLength":9,"maxLength":21}"#));
//! # assert!(Dial::INPUT_SCHEMA.contains(r#""port":{"type":["integer","null"],"minimum":1,"maximum":65535}"#));
//! ```
#![allow(clippy::as_conversions, reason = "evaluated only at compile time, and `From` is not constant")]

pub(crate) mod arguments;
#[doc(hidden)]
pub mod definitions;
#[doc(hidden)]
pub mod derived;
pub(crate) mod form;
mod json_text;
mod node;
pub(crate) mod text;
mod types;

#[cfg(feature = "alloc")]
pub use crate::json::schema_check::{SchemaViolation, check};
use crate::json::{Decimal, Json};
pub use crate::schema::form::FormContent;
pub use crate::schema::node::{Field, Fields, Names, Node, OneOf, Variant, Whole};

/// A type with a JSON Schema for its values. Implement this trait manually for a type with a manual `Deserialize`.
///
/// ```
/// use mcp_proto::schema::{Node, Schema};
///
/// struct Percent(u8);
///
/// impl Schema for Percent {
///     const NODE: Node = Node::integer(0, 100);
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "there is no JSON Schema for `{Self}`",
    label = "has no schema",
    note = "derive `ToolArguments` for a type in arguments, or `Schema` for a type in results, or describe the values with `#[tool(schema = …)]`"
)]
pub trait Schema {
    /// The description of the type's values.
    const NODE: Node;

    /// The JSON Schema as text, without the description of the type.
    ///
    /// For a derived type without type and const parameters, the program contains only the text. For any other type,
    /// the program contains an array with unused bytes at its end. The length of the array is a power of two from 256
    /// bytes to 32 KiB. A longer schema is a compile error.
    const JSON_SCHEMA: &'static str = derived::padded_schema::<Self>();

    /// Returns the value of a missing field of this type that has no default. Returns `None` if such a field is
    /// required.
    #[doc(hidden)]
    fn absent() -> Option<Self>
    where
        Self: Sized,
    {
        None
    }
}

macro_rules! integers {
    ($($integer:ident)*) => {$(
        impl Schema for $integer {
            #[allow(clippy::unnecessary_cast, reason = "the cast is necessary only for some of the types")]
            const NODE: Node = Node::Integer {
                minimum: if $integer::MIN == 0 { Whole::ZERO } else { Whole::new($integer::MIN as i128) },
                maximum: Whole::positive($integer::MAX as u128),
            };
        }
    )*};
}

integers!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize);

impl Schema for bool {
    const NODE: Node = Node::Boolean;
}

impl Schema for f32 {
    const NODE: Node = Node::Number { minimum: None, maximum: None };
}

impl Schema for f64 {
    const NODE: Node = Node::Number { minimum: None, maximum: None };
}

impl Schema for Decimal {
    const NODE: Node = Node::Number { minimum: None, maximum: None };
}

impl Schema for Json<'_> {
    const NODE: Node = Node::Any;
}

impl Schema for char {
    const NODE: Node = Node::string(1, Some(1));
}

impl Schema for str {
    const NODE: Node = Node::string(0, None);
}

impl<T: Schema + ?Sized> Schema for &T {
    const NODE: Node = T::NODE;
}

impl<T: Schema> Schema for Option<T> {
    const NODE: Node = Node::Optional(&T::NODE);

    fn absent() -> Option<Self> {
        Some(None)
    }
}

impl<T: Schema> Schema for [T] {
    const NODE: Node = Node::array(&T::NODE, 0, None);
}

impl<T: Schema, const N: usize> Schema for [T; N] {
    const NODE: Node = Node::array(&T::NODE, N, Some(N));
}
