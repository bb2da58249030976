//! Types whose derive must not compile.

use mcp_proto::ToolArguments;

#[derive(ToolArguments)]
#[serde(rename = "other")]
struct Rename {}

#[derive(ToolArguments)]
#[serde(rename_all = "Title Case")]
struct NoSuchCase {}

#[derive(ToolArguments)]
#[serde(tag = "kind")]
struct TaggedStruct {}

#[derive(ToolArguments)]
#[serde(from = "u8")]
struct From {}

#[derive(ToolArguments)]
#[serde(transparent)]
struct Transparent {
    a: u8,
}

#[derive(ToolArguments)]
#[serde(deny_unknown_fields)]
#[tool(allow_unknown_fields)]
struct DeniedAndAllowed {}

#[derive(ToolArguments)]
struct GenericTree<T> {
    value: T,
    children: Vec<GenericTree<T>>,
}

#[derive(ToolArguments)]
struct LimitedParameter<T> {
    #[tool(range = 0..=5)]
    a: Option<T>,
}

#[derive(ToolArguments)]
struct LimitOfParameters<T> {
    #[tool(range = 0..=Self::MOST)]
    a: u8,
    b: T,
}

#[derive(ToolArguments)]
struct BorrowedList<'a> {
    a: Option<&'a [u8]>,
}

#[derive(ToolArguments)]
struct Tuple(u8, u8);

#[derive(ToolArguments)]
struct Named(#[serde(rename = "a")] u8);

#[derive(ToolArguments)]
union Union {
    a: u8,
}

fn main() {}
