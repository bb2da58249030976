//! Functions that cannot be prompts, resources or completions.

use mcp_proto::server::{Complete, GetPrompt, ReadResource, Router};
use mcp_proto::{ToolArguments, complete, prompt, resource, router};

#[derive(ToolArguments)]
struct Topic {
    name: u8,
}

#[derive(ToolArguments)]
struct Topics {
    names: [u8; 2],
}

struct State;

#[prompt]
fn two_arguments(_: Topic, _: Topic) -> &'static str {
    ""
}

#[prompt]
fn no_text(_: Topics) -> &'static str {
    ""
}

#[prompt]
fn no_result() -> State {
    State
}

#[prompt]
fn responds_twice(request: GetPrompt<'_>) -> &'static str {
    ""
}

#[prompt(mime = "text/plain")]
fn prompt_with_mime() -> &'static str {
    ""
}

#[prompt]
fn topic(_: Topic) -> &'static str {
    ""
}

#[prompt(values(other = ["a"]))]
fn values_of_other(_: Topic) -> &'static str {
    ""
}

#[prompt(values(other = ["a"]))]
fn values_of_nothing() -> &'static str {
    ""
}

#[resource]
fn no_uri() -> &'static str {
    ""
}

#[resource("note:///{id}")]
fn other_name(number: u8) -> u8 {
    number
}

#[resource("note:///{id}")]
fn no_name(_: u8) -> u8 {
    1
}

#[resource("note:///{id")]
fn open_brace(id: u8) -> u8 {
    id
}

#[resource("note:///{id}}")]
fn closing_brace(id: u8) -> u8 {
    id
}

#[resource("note:///{id}", size = 5)]
fn template_with_size(id: u8) -> u8 {
    id
}

#[resource("note:///{id}")]
fn list_variable(id: [u8; 2]) -> u8 {
    1
}

#[resource("note://all")]
async fn asynchronous(_: ReadResource<'_>) {}

#[complete(prompt = "topic", argument = "name")]
async fn asks(ask: Ask) -> [u8; 1] {
    [1]
}

#[prompt(blocking)]
async fn blocking_async() -> &'static str {
    ""
}

#[resource("note://exclusive", blocking)]
fn exclusive_state(_: &mut State) -> &'static str {
    ""
}

#[prompt]
async fn in_a_task() -> &'static str {
    ""
}

// The core router has no threads or tasks, so it refuses functions that wait.
static BOARD: Router<()> = router![in_a_task];

#[resource("note://none")]
fn no_contents() -> State {
    State
}

#[resource("note://two")]
fn two_names_one() -> u8 {
    1
}

#[resource("note://two")]
fn two_names_two() -> u8 {
    2
}

#[complete(prompt = "topic")]
fn no_argument() -> [u8; 1] {
    [1]
}

#[complete(prompt = "topic", resource = "note:///{id}", argument = "name")]
fn two_references() -> [u8; 1] {
    [1]
}

#[complete(resource = "note:///{id}", argument = "number")]
fn no_variable() -> [u8; 1] {
    [1]
}

#[complete(prompt = "topic", argument = "names")]
fn unknown_argument() -> [u8; 1] {
    [1]
}

#[complete(prompt = "topic", argument = "name")]
fn names(_: Complete<'_>) {}

#[complete(prompt = "topic", argument = "name")]
fn more_names(_: Complete<'_>) {}

#[complete(resource = "note:///{id}", argument = "id")]
fn ids(_: Complete<'_>) {}

static UNKNOWN: Router<()> = router![topic, unknown_argument];
static WITHOUT_TEMPLATE: Router<()> = router![ids];
static WITHOUT_PROMPT: Router<()> = router![names];
static REPEATED: Router<()> = router![topic, names, more_names];
static SAME_URI: Router<()> = router![two_names_one, two_names_two];

fn main() {}
