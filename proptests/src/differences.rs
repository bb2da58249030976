//! Intended differences between this crate and `serde_json` (with `arbitrary_precision` and `float_roundtrip`), for
//! every test that compares them. `tests/differences.rs` shows that each exists.

use mcp_proto::json::{DEPTH_LIMIT, Json, Kind};

/// A difference. The first two depend on the text, the others on the requested type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Difference {
    /// 128 open containers are our limit. The limit of `serde_json` is 127.
    DeepestLevel,
    /// An object begins with the name that `serde_json` gives its own numbers. There it is a number or an error, here an
    /// object like any other.
    PrivateName,
    /// `-0` is an integer here, as it is to JSON Schema. There it is a float, to all but `i128`.
    MinusZero,
    /// A struct with named fields, or a struct variant, is an object here. There an array will do.
    StructFromArray,
    /// The name of a member that is read as a number may be spelled with escapes here.
    EscapedNumberName,
    /// Where serde keeps a value for later (untagged, internally tagged, flattened), a fraction is a float here. There
    /// `arbitrary_precision` makes it an object, which no float is read from.
    BufferedFraction,
    /// A number without a type of its own (`serde_json::Value`) is a `u64`, an `i64` or an `f64` here. There it keeps its text.
    NumberText,
    /// To a type with `derive(ToolArguments)`, `1.0` is an integer, as it is to JSON Schema.
    WholeFraction,
    /// The member that tells the variants of such a type apart may stand anywhere here. There it has to come first.
    TagAnywhere,
    /// A text with escapes can be borrowed here, where it is decoded in place.
    BorrowedEscape,
    /// No text at all is an empty object here, because a call may leave its arguments out.
    NoText,
    /// What a type passes over is as deep as it likes there. Here the whole message is looked at first.
    DeepIgnored,
    /// What a type passes over, or takes as bytes, may have half a surrogate pair there. Here it is no JSON.
    LoneSurrogateIgnored,
}

impl Difference {
    /// Each of them.
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

    /// Why `serde_json` does not take this text as a `Value`, or takes it as another one, although it is JSON here. What is no
    /// JSON here is none there.
    #[must_use]
    pub fn of_text(text: &[u8]) -> Option<Difference> {
        if deepest(text) == u32::from(DEPTH_LIMIT) {
            return Some(Difference::DeepestLevel);
        }
        let json = Json::parse(text).ok()?;
        has_private_name(json).then_some(Difference::PrivateName)
    }
}

/// The most containers that are open at once.
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
