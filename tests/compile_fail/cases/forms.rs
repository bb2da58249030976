//! Types that cannot be forms, a title on the field of a newtype, and an attribute that only arguments have.

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
struct TitleOfNewtype(#[tool(title = "A")] u8);

#[derive(FormContent)]
struct HeaderOfForm {
    #[tool(header = "Region")]
    a: u8,
}

fn main() {}
