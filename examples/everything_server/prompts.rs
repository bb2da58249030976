//! The prompts, and completion: for arguments of the prompts and for the resource template of the notes.

use mcp_proto::input::{ElicitResultView, Field, Form};
use mcp_proto::json::Json;
use mcp_proto::server::{Complete, GetPrompt, IntoPromptResult, PromptMessages, Prompts, Router};
use mcp_proto::{ToolArguments, complete, prompt, router};

use crate::World;
use crate::content::PNG;
use crate::resources::{Notes, uri_of};

pub(crate) static ROUTER: Router<World> = router![
    discuss_note,
    note_names,
    test_simple_prompt,
    test_prompt_with_arguments,
    test_prompt_with_embedded_resource,
    test_prompt_with_image,
    with_context,
];
pub(crate) static PROMPTS: Prompts = ROUTER.prompts().list_changed();

#[derive(ToolArguments)]
struct Discussion<'a> {
    /// Which note
    name: &'a str,
    mood: Option<&'a str>,
}

/// Discusses one of the notes
#[prompt(values(mood = ["critical", "curious", "friendly"]))]
fn discuss_note(world: &World, prompt: GetPrompt<'_>, Discussion { name, mood }: Discussion<'_>) {
    let (uri, mood) = (uri_of(name), mood.unwrap_or_default());
    let Some(note) = world.notes.get(&uri) else {
        return prompt.invalid(format_args!("there is no {uri}"));
    };
    prompt.messages(|messages| {
        messages.description("A note to talk about");
        messages.user().resource_text(&uri, None, note);
        messages.user().text(format_args!("What do you make of this note? {mood}"));
        messages.assistant().text("Let me think.");
    });
}

#[complete(prompt = "discuss_note", argument = "name")]
fn note_names(world: &World) -> impl Iterator<Item = &str> {
    names(&world.notes)
}

/// A text
#[prompt]
fn test_simple_prompt() -> &'static str {
    "This is a simple prompt for testing."
}

#[derive(ToolArguments)]
struct TwoArguments<'a> {
    /// The first argument
    arg1: &'a str,
    /// The second argument
    arg2: &'a str,
}

/// Takes two arguments
#[prompt(values(arg1 = ["paris", "park", "party"]))]
fn test_prompt_with_arguments(TwoArguments { arg1, arg2 }: TwoArguments<'_>) -> String {
    format!("Prompt with arguments: arg1='{arg1}', arg2='{arg2}'")
}

#[derive(ToolArguments)]
#[serde(rename_all = "camelCase")]
struct Embedded<'a> {
    /// Which resource
    resource_uri: &'a str,
}

/// Contains a resource
#[prompt]
fn test_prompt_with_embedded_resource(Embedded { resource_uri }: Embedded<'_>) -> impl IntoPromptResult {
    PromptMessages::new(move |messages| {
        messages.user().resource_text(resource_uri, None, "Embedded resource content for testing.");
        messages.user().text("Please process the embedded resource above.");
    })
}

/// Contains an image
#[prompt]
fn test_prompt_with_image() -> impl IntoPromptResult {
    PromptMessages::new(|messages| {
        messages.user().image(PNG, "image/png");
        messages.user().text("Please analyze the image above.");
    })
}

static CONTEXT: [Field; 1] = [Field::text("context").required()];
static FORM: Form = Form::new("What context should the prompt use?", &CONTEXT);

/// Asks the user first
#[prompt(name = "test_input_required_result_prompt")]
fn with_context(prompt: GetPrompt<'_>) {
    if !prompt.can_require_input() {
        return prompt.messages(|messages| messages.user().text("Please go on without a context."));
    }
    match prompt.input("user_context").and_then(ElicitResultView::from_json) {
        None => prompt.require_input(&[("user_context", &FORM)], None),
        Some(answer) => {
            let context = answer.field("context").unwrap_or(Json::NULL);
            prompt.messages(|messages| messages.user().text(format_args!("Please go on with {context}.")));
        }
    }
}

/// Completes the name in the resource template `note://{name}`.
pub(crate) fn complete_note(request: Complete<'_>, world: &World) {
    request.matching(names(&world.notes));
}

fn names(notes: &Notes) -> impl Iterator<Item = &str> {
    notes.keys().filter_map(|uri| uri.strip_prefix("note://"))
}
