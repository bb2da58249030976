//! Types that cannot be forms, and attributes that only forms or only arguments have.

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
