//! Enums whose derive must not compile.

use mcp_proto::ToolArguments;

#[derive(ToolArguments)]
enum Untagged {
    A { a: u8 },
}

#[derive(ToolArguments)]
#[serde(untagged)]
enum WithoutTag {
    A { a: u8 },
}

#[derive(ToolArguments)]
#[serde(tag = "kind", content = "value")]
enum Adjacent {
    A { a: u8 },
}

#[derive(ToolArguments)]
enum Other {
    A,
    #[serde(other)]
    B,
}

#[derive(ToolArguments)]
enum Alias {
    #[serde(alias = "b")]
    A,
}

#[derive(ToolArguments)]
#[serde(tag = "kind")]
enum Tuple {
    A(u8, u8),
}

#[derive(ToolArguments)]
#[serde(tag = "kind", default)]
enum Default {
    A,
}

#[derive(ToolArguments)]
enum SameName {
    A,
    #[serde(rename = "A")]
    B,
}

#[derive(ToolArguments)]
enum Empty {}

fn main() {}
