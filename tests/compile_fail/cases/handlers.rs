//! Functions that cannot be tools.

use mcp_proto::server::{Call, Router};
use mcp_proto::{ToolArguments, prompt, resource, router, tool};

#[derive(ToolArguments)]
struct Step {
    by: i64,
}

struct State;

#[tool]
fn two_arguments(_: Step, _: Step) {}

#[tool]
fn two_states(_: &State, _: &State) {}

#[tool]
fn two_calls(first: Call<'_>, second: Call<'_>) {}

#[tool]
fn generic<T>() {}

#[resource("a://b")]
fn sized<'a, const N: usize>() -> &'a str {
    ""
}

#[tool]
async fn exclusive_state(_: &mut State) {}

#[tool]
async fn async_call(call: Call<'_>) {}

#[tool(blocking)]
async fn blocking_async() {}

#[tool]
async fn asynchronous() {}

#[tool(blocking)]
fn blocking() {}

#[derive(ToolArguments)]
struct Borrowed<'a> {
    name: &'a str,
}

#[tool(blocking)]
fn borrowed_arguments(_: Borrowed<'_>) {}

#[prompt]
async fn borrowed_prompt(Borrowed { name }: Borrowed<'_>) -> String {
    name.into()
}

#[tool]
async fn borrowed_result(_: &State) -> Result<&str, &'static str> {
    Ok("")
}

#[resource("file:///{name}")]
async fn owned(name: &str) -> String {
    name.into()
}

#[tool]
fn responds_twice(call: Call<'_>) -> i64 {
    1
}

#[tool(nmae = "x")]
fn misspelt() {}

#[tool]
struct NoFunction;

impl State {
    #[tool]
    fn consumes(self) {}
}

#[tool]
fn no_arguments(_: i64) {}

#[tool]
fn no_result() -> State {
    State
}

#[tool]
fn no_error() -> Result<i64, State> {
    Err(State)
}

#[tool]
fn other_state(_: &mut State) {}

static OTHER: Router<i64> = router![other_state];

// The core router has no threads or tasks, so it refuses functions that wait.
static BOARD: Router<i64> = router![asynchronous, blocking];

static NO_PATH: Router<State> = router![crate];

static LATE_CRATE: Router<State> = router![other_state, crate = mcp_proto];

static NO_FUNCTION: Router<State> = router![other_state, 7];

fn main() {}
