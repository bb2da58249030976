//! The prompts, and completion of their arguments.

use mcp_proto::input::{ElicitResultView, Field, Form};
use mcp_proto::json::Json;
use mcp_proto::server::{Complete, GetPrompt};

use crate::World;
use crate::content::PNG;
use crate::resources::uri_of;

pub(crate) fn answer(prompt: GetPrompt<'_>, world: &World) {
    // The server has already rejected requests without a required argument.
    let argument = |name| prompt.argument(name).map(|text| text.to_string()).unwrap_or_default();
    match prompt.name() {
        "discuss_note" => {
            let (uri, mood) = (uri_of(&argument("name")), argument("mood"));
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
        "test_simple_prompt" => {
            prompt.messages(|messages| messages.user().text("This is a simple prompt for testing."));
        }
        "test_prompt_with_arguments" => {
            let (arg1, arg2) = (argument("arg1"), argument("arg2"));
            prompt.messages(|messages| {
                messages.user().text(format_args!("Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"));
            });
        }
        "test_prompt_with_embedded_resource" => {
            let uri = argument("resourceUri");
            prompt.messages(|messages| {
                messages.user().resource_text(&uri, None, "Embedded resource content for testing.");
                messages.user().text("Please process the embedded resource above.");
            });
        }
        "test_prompt_with_image" => prompt.messages(|messages| {
            messages.user().image(PNG, "image/png");
            messages.user().text("Please analyze the image above.");
        }),
        _ => with_context(prompt),
    }
}

static CONTEXT: [Field; 1] = [Field::text("context").required()];
static FORM: Form = Form::new("What context should the prompt use?", &CONTEXT);

/// A prompt that requires input from the client.
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

/// Completes names of notes, for the prompt and for the template. The server itself completes arguments with fixed values.
pub(crate) fn complete(request: Complete<'_>, world: &World) {
    let typed = request.value().to_string();
    let names = world.notes.keys().filter_map(|uri| uri.strip_prefix("note://"));
    let is_note = request.argument() == "name";
    request.values(names.filter(|name| is_note && name.starts_with(&typed)));
}
