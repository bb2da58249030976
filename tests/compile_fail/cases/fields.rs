//! Structs with unsupported fields.

use mcp_proto::ToolArguments;

#[derive(ToolArguments)]
struct Flatten {
    #[serde(flatten)]
    inner: Inner,
}

#[derive(ToolArguments)]
struct Inner {
    a: u8,
}

#[derive(ToolArguments)]
struct Alias {
    #[serde(alias = "b")]
    a: u8,
}

#[derive(ToolArguments)]
struct With {
    #[serde(deserialize_with = "function")]
    a: u8,
}

#[derive(ToolArguments)]
struct Unknown {
    #[serde(something = "new")]
    a: u8,
}

#[derive(ToolArguments)]
struct Misspelt {
    #[tool(maximun = 5)]
    a: u8,
}

#[derive(ToolArguments)]
struct Excluded {
    #[tool(range = 0..5)]
    a: u8,
}

#[derive(ToolArguments)]
struct NoLiteral {
    #[tool(default = 2 + 3)]
    a: u8,
}

#[derive(ToolArguments)]
struct NoValue {
    #[tool(default)]
    a: u8,
}

#[derive(ToolArguments)]
struct NoVariant {
    #[tool(default = u8::MAX)]
    a: u8,
}

#[derive(ToolArguments)]
struct SkippedFormat {
    #[tool(format = "date")]
    #[serde(skip)]
    a: String,
}

#[derive(ToolArguments)]
struct Both {
    #[tool(range = 0.., max_length = 5)]
    a: u8,
}

#[derive(ToolArguments)]
struct Twice {
    #[tool(range = 0..=3, maximum = 5)]
    a: u8,
}

#[derive(ToolArguments)]
struct TwoDefaults {
    #[tool(default = 3)]
    #[serde(default)]
    a: u8,
}

#[derive(ToolArguments)]
struct Skipped {
    #[tool(range = 0..=3)]
    #[serde(skip)]
    a: u8,
}

#[derive(ToolArguments)]
struct SameName {
    a: u8,
    #[serde(rename = "a")]
    b: u8,
}

#[derive(ToolArguments)]
struct Documented {
    #[doc = concat!("a", "b")]
    a: u8,
}

#[derive(ToolArguments)]
struct NoRange {
    #[tool(range = 0.5..=0.25)]
    a: f32,
}

#[derive(ToolArguments)]
struct DefaultOutside {
    #[tool(minimum = -0.5, default = -1.0)]
    a: f32,
}

#[derive(ToolArguments)]
struct HeaderIsNoText {
    #[tool(header = Region)]
    a: u8,
}

#[derive(ToolArguments)]
struct SkippedHeader {
    #[tool(header = "Region")]
    #[serde(skip)]
    a: u8,
}

#[derive(ToolArguments)]
struct HeaderOfNewtype(#[tool(header = "Region")] u8);

#[derive(ToolArguments)]
struct DefaultIsConstant {
    #[tool(default = Limits::MAX)]
    a: u8,
}

fn main() {}
