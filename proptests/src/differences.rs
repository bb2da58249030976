//! Intended differences between this crate and `serde_json`.
//!
//! Tests that compare them use this list. `serde_json` has the features `arbitrary_precision` and `float_roundtrip`.
//! `tests/differences.rs` shows that each difference exists.

use mcp_proto::json::{DEPTH_LIMIT, Json, Kind};

/// A difference. The first two depend on the text, the others on the requested type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Difference {
    /// 128 open containers are our limit. The limit of `serde_json` is 127.
    DeepestLevel,
    /// An object begins with the name that `serde_json` gives its own numbers. There it is a number or an error, here an
    /// object like any other.
    PrivateName,
    /// `-0` is an integer here, as in JSON Schema. In `serde_json` it is a float, except for `i128`.
    MinusZero,
    /// A struct with named fields, or a struct variant, is an object here. `serde_json` also accepts an array.
    StructFromArray,
    /// A member name that is read as a number may contain escapes here.
    EscapedNumberName,
    /// Where serde keeps a value for later (untagged, internally tagged, flattened), a fraction is a float here. There
    /// `arbitrary_precision` makes it an object, which no float is read from.
    BufferedFraction,
    /// A number without a type of its own (`serde_json::Value`) is a `u64`, an `i64` or an `f64` here. There it keeps its text.
    NumberText,
    /// For a type with `derive(ToolArguments)`, `1.0` is an integer, as in JSON Schema.
    WholeFraction,
    /// The tag of such a type may be any member here. In `serde_json` it must be the first.
    TagAnywhere,
    /// A string with escapes can be borrowed here, because it is decoded in place.
    BorrowedEscape,
    /// An empty text is an empty object here, because a call may omit its arguments.
    NoText,
    /// Ignored values may have any depth in `serde_json`. Here the depth of the whole message is checked first.
    DeepIgnored,
    /// A value that is ignored or read as bytes may contain an unpaired surrogate in `serde_json`. Here it is not JSON.
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

    /// The reason why `serde_json` rejects this text as a `Value`, or reads another value, although it is JSON here.
    ///
    /// A text that is not JSON here is not JSON in `serde_json` either.
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
