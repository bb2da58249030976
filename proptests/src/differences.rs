//! Intended differences between `mcp-proto` and `serde_json`.
//!
//! Tests that compare the two libraries use this list. `serde_json` has the features `arbitrary_precision` and
//! `float_roundtrip`. `tests/differences.rs` shows that each difference exists.

use mcp_proto::json::{DEPTH_LIMIT, Json, Kind};

/// A difference that occurs for some texts, or for some requested types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Difference {
    /// This crate allows 128 open containers, and `serde_json` allows 127.
    DeepestLevel,
    /// An object with the private name that `serde_json` uses for numbers. This crate reads an ordinary object.
    /// `serde_json` reads a number, or rejects the object.
    PrivateName,
    /// `-0` is an integer here, as in JSON Schema. `serde_json` reads `-0` as a float, except for `i128` and `Value`.
    MinusZero,
    /// Structs and struct variants require an object here. `serde_json` also accepts an array.
    StructFromArray,
    /// Here, a member name that decodes as a number may contain escapes.
    EscapedNumberName,
    /// A fraction in a buffered value is a float here. In `serde_json` with `arbitrary_precision` the fraction is an
    /// object, which does not decode as a float. Serde buffers untagged, internally tagged and flattened values.
    BufferedFraction,
    /// Here, a number in a `Value` is a `u64`, `i64` or `f64`. `serde_json` keeps the text of the number.
    NumberText,
    /// With `derive(ToolArguments)`, `1.0` is an integer here, as in JSON Schema. `serde_json` rejects `1.0` for an
    /// integer type.
    WholeFraction,
    /// The tag of a derived enum may be any member here. In `serde_json` the tag must be the first member.
    TagAnywhere,
    /// A string with escapes can be borrowed here, because this crate decodes the string in place.
    BorrowedEscape,
    /// An empty text decodes as an empty object here, because a call may omit its arguments.
    NoText,
    /// Ignored values may have any depth in `serde_json`. In this crate the scanner first checks the depth of the whole
    /// message.
    DeepIgnored,
    /// `serde_json` accepts unpaired surrogates in strings that it ignores, or reads as bytes. Here, unpaired
    /// surrogates are invalid JSON.
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

    /// Returns the difference that a text may show: `serde_json` may reject the text as a `Value`, or read a different
    /// value. `None` means that both libraries read the same value, or both reject the text.
    ///
    /// Every text that is invalid JSON here is also invalid as a `Value` of `serde_json`.
    #[must_use]
    pub fn of_text(text: &[u8]) -> Option<Difference> {
        if deepest(text) == u32::from(DEPTH_LIMIT) {
            return Some(Difference::DeepestLevel);
        }
        let json = Json::parse(text).ok()?;
        has_private_name(json).then_some(Difference::PrivateName)
    }
}

/// Returns the maximum nesting depth of a text.
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
