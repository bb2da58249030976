//! Mistakes in attributes. Each mistake is the only error, although other code uses the type or the function.

use mcp_proto::input::Form;
use mcp_proto::server::{Router, Structured};
use mcp_proto::{FormContent, Schema, ToolArguments, complete, prompt, resource, router, tool};

#[derive(ToolArguments)]
struct Arguments<'a> {
    #[tool(maximun = 5)]
    level: u8,
    name: &'a str,
}

#[derive(ToolArguments)]
struct Outer<'a> {
    arguments: Arguments<'a>,
    #[tool(default = Speed::Slow)]
    speed: Speed,
}

#[derive(ToolArguments)]
enum Speed {
    #[serde(other)]
    Slow,
    Fast,
}

#[derive(Schema, serde::Serialize)]
struct Reading {
    #[tool(minimun = 0)]
    value: u8,
}

#[derive(FormContent)]
struct Shirt {
    #[tool(header = "Size")]
    size: u8,
}

static FORM: Form = Form::with_content::<Shirt>("Which?");

#[tool]
fn set(Outer { arguments, .. }: Outer<'_>) -> u8 {
    arguments.level
}

#[tool]
fn read() -> Structured<Reading> {
    Structured(Reading { value: 1 })
}

#[tool(readonly)]
fn misspelt() {}

#[prompt(mime = "text/plain")]
fn topic(_: Arguments<'_>) -> &'static str {
    ""
}

#[complete(prompt = "topic", argument = "name")]
fn names() -> [u8; 1] {
    [1]
}

#[resource("note:///{id")]
fn note(id: u8) -> u8 {
    id
}

struct State;

impl State {
    #[tool]
    fn consumes(self) {}
}

static ROUTER: Router<State> = router![set, read, misspelt, topic, names, note, State::consumes];

fn main() {
    let _ = mcp_proto::json::decode_in_place::<Outer>(&mut []);
}
