//! Results whose schema is not possible.

use mcp_proto::{Schema, ToolArguments};

#[derive(Schema)]
struct Unit;

#[derive(Schema)]
struct Default {
    #[tool(default = 3)]
    a: u8,
}

#[derive(Schema)]
struct HeaderOfResult {
    #[tool(header = "Region")]
    a: u8,
}

#[derive(Schema)]
struct Written {
    #[serde(serialize_with = "function")]
    a: u8,
}

#[derive(Schema)]
#[serde(into = "u8")]
struct Into {
    a: u8,
}

#[derive(Schema)]
struct Flatten {
    #[serde(flatten)]
    a: Written,
}

#[derive(Schema)]
#[serde(untagged)]
enum Untagged {
    A,
}

#[derive(ToolArguments)]
struct Read {
    #[serde(with = "function")]
    a: u8,
}

fn main() {}
