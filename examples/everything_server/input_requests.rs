//! Tools that request input from the client: elicitation, sampling, roots.

use std::time::Duration;

use mcp_proto::input::{
    CreateMessage, ElicitResultView, Field, Form, Input, ListRoots, OpenUrl, RootsView, SampleMessage,
    SampledView,
};
use mcp_proto::json::Json;
use mcp_proto::server::Call;
use mcp_proto_std::ServerHandle;

/// Timeout of a request, long enough for a person to respond.
const PATIENCE: Duration = Duration::from_secs(600);

/// A request to the client. The request may move to another thread, so it owns its dynamic text.
pub(crate) enum ServerRequest {
    Fixed(&'static (dyn Input + Sync)),
    User(String, &'static [Field<'static>]),
    Model(String, u32),
}

impl ServerRequest {
    /// Calls `then` with the input request.
    pub(crate) fn with<T>(&self, then: impl FnOnce(&dyn Input) -> T) -> T {
        match self {
            ServerRequest::Fixed(input) => then(*input),
            ServerRequest::User(message, fields) => then(&Form::new(message, fields)),
            ServerRequest::Model(prompt, tokens) => {
                then(&CreateMessage::new(&[SampleMessage::user(prompt)], *tokens))
            }
        }
    }
}

/// Requests input from the client, and responds to the call. `read` converts the input to the text of the response, and
/// returns `None` if the input is malformed. Malformed input fails the call in the handshake era; in `2026-07-28` the
/// server requests the input again.
///
/// In the handshake era a worker thread sends the request and waits. In `2026-07-28` the server responds with an input
/// request. The client then repeats the call with the input, so the server keeps no state.
pub(crate) fn request_input(
    call: Call<'_>,
    server: &ServerHandle,
    key: &str,
    question: ServerRequest,
    read: fn(Json<'_>) -> Option<String>,
) {
    if call.can_require_input() {
        return match call.input(key).and_then(read) {
            Some(text) => call.text(text),
            None => question.with(|input| call.require_input(&[(key, input)], None)),
        };
    }
    server.run_within(PATIENCE, call, move |answer| {
        match question.with(|input| answer.request_within(PATIENCE, input)) {
            Ok(said) => match read(said.json()) {
                Some(text) => answer.text(text),
                None => answer.fail("the client's response is malformed"),
            },
            Err(why) => answer.fail(why),
        }
    });
}

static FIELDS: [Field; 3] = [
    Field::text("name").title("Your name").required(),
    Field::email("email").description("Only if you like"),
    Field::boolean("newsletter").default_boolean(false),
];
static FORM: Form = Form::new("Who are you?", &FIELDS);
static PAGE: OpenUrl = OpenUrl::new("Have a look", "https://modelcontextprotocol.io", "have-a-look");
static ROOTS: ListRoots = ListRoots;

pub(crate) const NAME: &[Field<'_>] = &[Field::text("name").required()];

static PERSON: [Field; 2] = [
    Field::text("username").description("User's response").required(),
    Field::text("email").description("User's email address").required(),
];
static DEFAULTS: Form = Form::raw(
    "Is all of this right?",
    r#"{"type":"object","properties":{"name":{"type":"string","default":"John Doe"},"age":{"type":"integer","default":30},"score":{"type":"number","default":95.5},"status":{"type":"string","enum":["active","inactive","pending"],"default":"active"},"verified":{"type":"boolean","default":true}}}"#,
);
/// The form is raw JSON, because `legacyEnum` has the older `enumNames`.
static CHOICES: Form = Form::raw(
    "Choose",
    r#"{"type":"object","properties":{"untitledSingle":{"type":"string","enum":["option1","option2","option3"]},"titledSingle":{"type":"string","oneOf":[{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"},{"const":"value3","title":"Third Option"}]},"legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],"enumNames":["Option One","Option Two","Option Three"]},"untitledMulti":{"type":"array","items":{"type":"string","enum":["option1","option2","option3"]}},"titledMulti":{"type":"array","items":{"anyOf":[{"const":"value1","title":"First Choice"},{"const":"value2","title":"Second Choice"},{"const":"value3","title":"Third Choice"}]}}}}"#,
);

/// Responds to calls of the tools in this module.
pub(crate) fn answer(call: Call<'_>, server: &ServerHandle) {
    let text = |name| call.raw_arguments().get(name).and_then(Json::string).map(|text| text.to_string());
    let (key, question, read): (_, _, fn(Json<'_>) -> Option<String>) = match call.name() {
        "ask_form" => ("form", ServerRequest::Fixed(&FORM), filled_in),
        "ask_page" => ("page", ServerRequest::Fixed(&PAGE), filled_in),
        "ask_model" => ("model", ServerRequest::Model("What is a state machine?".into(), 200), model_said),
        "ask_roots" => ("roots", ServerRequest::Fixed(&ROOTS), roots),
        "test_sampling" => {
            ("model", ServerRequest::Model(text("prompt").unwrap_or_default(), 100), model_said)
        }
        "test_elicitation" => {
            ("person", ServerRequest::User(text("message").unwrap_or_default(), &PERSON), filled_in)
        }
        "test_elicitation_sep1034_defaults" => ("defaults", ServerRequest::Fixed(&DEFAULTS), filled_in),
        "test_elicitation_sep1330_enums" => ("choices", ServerRequest::Fixed(&CHOICES), filled_in),
        "test_input_required_result_sampling" => (
            "capital_question",
            ServerRequest::Model("What is the capital of France?".into(), 100),
            model_said,
        ),
        "test_input_required_result_list_roots" => ("client_roots", ServerRequest::Fixed(&ROOTS), roots),
        _ => ("user_name", ServerRequest::User("What is your name?".into(), NAME), greeting),
    };
    request_input(call, server, key, question, read);
}

fn filled_in(answer: Json<'_>) -> Option<String> {
    let answer = ElicitResultView::from_json(answer)?;
    let action = format!("{:?}", answer.action()).to_lowercase();
    Some(format!("User response: action={action}, content={}", answer.content()))
}

fn greeting(answer: Json<'_>) -> Option<String> {
    let answer = ElicitResultView::from_json(answer)?;
    let name = answer.field("name").and_then(Json::string);
    Some(name.map_or("Hello, whoever you are!".into(), |name| format!("Hello, {name}!")))
}

fn model_said(answer: Json<'_>) -> Option<String> {
    let said = SampledView::from_json(answer)?;
    Some(format!("LLM response: {}", said.text()?))
}

fn roots(answer: Json<'_>) -> Option<String> {
    let uris: Vec<String> = RootsView::from_json(answer)?.map(|root| root.uri().to_string()).collect();
    Some(format!("Roots: {}", uris.join(", ")))
}
