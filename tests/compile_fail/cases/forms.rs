//! Types that cannot be forms, and an attribute that only forms have.

use mcp_proto::{FormContent, ToolArguments};

#[derive(FormContent)]
struct Generic<T> {
    a: T,
}

#[derive(FormContent)]
enum Choice {
    A,
}

#[derive(FormContent)]
struct Newtype(u8);

#[derive(ToolArguments)]
struct TitleOfArgument {
    #[tool(title = "A")]
    a: u8,
}

fn main() {}
