//! Intended differences between this crate and `serde_json`.
//!
//! Tests that compare them use this list. `serde_json` has the features `arbitrary_precision` and `float_roundtrip`.
//! `tests/differences.rs` shows that each difference exists.

use mcp_proto::json::{DEPTH_LIMIT, Json, Kind};

/// A difference in a text, or in the type that is requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Difference {
    /// Our limit is 128 open containers; the limit of `serde_json` is 127.
    DeepestLevel,
    /// `serde_json` reads an object with its private name as a number, or rejects it. Here it is an ordinary object.
    PrivateName,
    /// `-0` is an integer here, as in JSON Schema. `serde_json` reads it as a float, except for `i128`.
    MinusZero,
    /// Structs and struct variants require an object here. `serde_json` also accepts an array.
    StructFromArray,
    /// Here, a member name that is decoded as a number may contain escapes.
    EscapedNumberName,
    /// Where serde buffers a value (untagged, internally tagged, flattened), a fraction is a float here. In
    /// `serde_json` with `arbitrary_precision` it is an object, which does not decode as a float.
    BufferedFraction,
    /// A number in a `serde_json::Value` is a `u64`, an `i64` or an `f64` here. `serde_json` keeps its text.
    NumberText,
    /// For a type with `derive(ToolArguments)`, `1.0` is an integer, as in JSON Schema.
    WholeFraction,
    /// The tag of a derived enum may be any member here. In `serde_json` it must be the first.
    TagAnywhere,
    /// A string with escapes can be borrowed here, because it is decoded in place.
    BorrowedEscape,
    /// An empty text decodes as an empty object here, because a call may omit its arguments.
    NoText,
    /// Ignored values may have any depth in `serde_json`. Here the scanner checks the depth of the whole message
    /// first.
    DeepIgnored,
    /// `serde_json` accepts unpaired surrogates in values that it ignores or reads as bytes. Here they are invalid
    /// JSON.
    LoneSurrogateIgnored,
}

impl Difference {
    /// All differences.
    pub const ALL: [Difference; 13] = [
        Difference::DeepestLevel,
        Difference::PrivateName,
        Difference::MinusZero,
        Difference::StructFromArray,
        Difference::EscapedNumberName,
        Difference::BufferedFraction,
        Difference::NumberText,
        Difference::WholeFraction,
        Difference::TagAnywhere,
        Difference::BorrowedEscape,
        Difference::NoText,
        Difference::DeepIgnored,
        Difference::LoneSurrogateIgnored,
    ];

    /// Returns the reason why `serde_json` rejects a valid text as a `Value`, or reads another value.
    ///
    /// Every text that is invalid JSON here is also invalid in `serde_json`.
    #[must_use]
    pub fn of_text(text: &[u8]) -> Option<Difference> {
        if deepest(text) == u32::from(DEPTH_LIMIT) {
            return Some(Difference::DeepestLevel);
        }
        let json = Json::parse(text).ok()?;
        has_private_name(json).then_some(Difference::PrivateName)
    }
}

/// The maximum nesting depth of a text.
#[must_use]
pub fn deepest(text: &[u8]) -> u32 {
    let (mut depth, mut most, mut in_string, mut escaped) = (0u32, 0, false, false);
    for byte in text {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => depth += 1,
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        most = most.max(depth);
    }
    most
}

fn has_private_name(json: Json<'_>) -> bool {
    match json.kind() {
        Kind::Array => json.elements().any(has_private_name),
        Kind::Object => {
            let first = json.members().next();
            first.is_some_and(|(name, _)| name == "$serde_json::private::Number")
                || json.members().any(|(_, value)| has_private_name(value))
        }
        _ => false,
    }
}
