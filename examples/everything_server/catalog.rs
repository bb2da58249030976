//! The tables of tools and resources that clients can list.

use mcp_proto::TaskSupport;
use mcp_proto::server::{Resource, ResourceTemplate, Resources, Tool, Tools};

use crate::skills::TAKE_NOTES;
use crate::tasks::{Greet, SlowCompute};
use crate::tools::{Add, Deploy, Echo, Log, RemoveNote, Slow, WriteNote};

/// The first tool needs no arguments, because a scenario of the conformance suite calls it without arguments.
pub(crate) static TOOLS: Tools = Tools::new(&[
    Tool::new("test_simple_text", "{}").description("Returns a text"),
    Tool::with_arguments::<Echo>("echo").read_only(true),
    Tool::with_arguments::<Add>("add")
        .read_only(true)
        .output_schema(r#"{"type":"object","properties":{"sum":{"type":"integer"}},"required":["sum"]}"#),
    Tool::with_arguments::<Slow>("slow").read_only(true),
    Tool::with_arguments::<Log>("log").read_only(true),
    Tool::new("show_content", "{}").description("Returns content of every kind").read_only(true),
    Tool::with_arguments::<WriteNote>("write_note").idempotent(true).open_world(false),
    Tool::with_arguments::<RemoveNote>("remove_note").destructive(true).open_world(false),
    Tool::new("tick", "{}").description("Advances the resource clock://ticks by one"),
    Tool::new("ask_form", "{}").description("Asks the user to fill in a form"),
    Tool::new("ask_page", "{}").description("Asks the user to open a web page"),
    Tool::new("ask_model", "{}").description("Asks the client's model something"),
    Tool::new("ask_roots", "{}").description("Asks which folders it may work in"),
    Tool::new("test_image_content", "{}").description("Returns an image"),
    Tool::new("test_audio_content", "{}").description("Returns sound"),
    Tool::new("test_embedded_resource", "{}").description("Returns a resource"),
    Tool::new("test_multiple_content_types", "{}").description("Returns several kinds of content"),
    Tool::new("test_error_handling", "{}").description("Fails"),
    Tool::new("test_tool_with_progress", "{}").description("Reports progress"),
    Tool::new("test_tool_with_logging", "{}").description("Sends log messages"),
    Tool::new("test_logging_tool", "{}")
        .description("Sends a log message, if the client requested its level"),
    Tool::new("test_sampling", PROMPT).description("Asks the client's model"),
    Tool::new("test_elicitation", MESSAGE).description("Asks the user"),
    Tool::new("test_elicitation_sep1034_defaults", "{}").description("A form with defaults"),
    Tool::new("test_elicitation_sep1330_enums", "{}").description("A form with choices of every kind"),
    Tool::new("json_schema_2020_12_tool", DIALECT).description("Has a schema with many keywords"),
    Tool::new("test_missing_capability", "{}").description("Needs a client that offers sampling"),
    Tool::new("test_streaming_elicitation", "{}").description("Asks the user for a name"),
    Tool::new("test_trigger_tool_change", "{}")
        .description("Notifies the client that the list of tools has changed"),
    Tool::new("test_trigger_prompt_change", "{}")
        .description("Notifies the client that the list of prompts has changed"),
    Tool::new("test_reconnection", "{}").description("Closes its connection before it answers"),
    Tool::with_arguments::<Deploy>("test_x_mcp_header"),
    Tool::new("test_input_required_result_elicitation", "{}").description("Asks the user for a name"),
    Tool::new("test_input_required_result_sampling", "{}").description("Asks the client's model"),
    Tool::new("test_input_required_result_list_roots", "{}").description("Asks for the roots"),
    Tool::new("test_input_required_result_request_state", "{}")
        .description("Requires input with a request state"),
    Tool::new("test_input_required_result_multiple_inputs", "{}")
        .description("Requires three inputs together"),
    Tool::new("test_input_required_result_multi_round", "{}")
        .description("Requires inputs in several rounds"),
    Tool::new("test_input_required_result_tampered_state", "{}")
        .description("Rejects a tampered request state"),
    Tool::new("test_input_required_result_capabilities", "{}")
        .description("Requires only inputs that the client supports"),
    Tool::with_arguments::<Greet>("greet"),
    Tool::with_arguments::<SlowCompute>("slow_compute").task_support(TaskSupport::Optional),
    Tool::new("failing_job", "{}").description("A task whose tool fails").task_support(TaskSupport::Required),
    Tool::new("protocol_error_job", "{}")
        .description("A task with a protocol error")
        .task_support(TaskSupport::Required),
    Tool::new("confirm_delete", "{}")
        .description("A task that asks the user for a confirmation")
        .task_support(TaskSupport::Required),
    Tool::new("multi_input", "{}")
        .description("A task that asks the user two questions")
        .task_support(TaskSupport::Required),
    Tool::new("test_tool_with_task", "{}")
        .description("Requires input, then becomes a task")
        .task_support(TaskSupport::Required),
])
.list_changed();

const PROMPT: &str = r#"{"type":"object","properties":{"prompt":{"type":"string"}},"required":["prompt"]}"#;
const MESSAGE: &str =
    r#"{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}"#;
const DIALECT: &str = r##"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"contactMethod":{"type":"string","enum":["phone","email"]},"phone":{"type":"string"},"email":{"type":"string"}},"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},"then":{"required":["phone"]},"else":{"required":["email"]},"additionalProperties":false}"##;

/// Resources with a dynamic list, because clients add notes.
///
/// `resources::list` supplies the list: first `FIXED`, then the notes.
pub(crate) static RESOURCES: Resources =
    Resources::dynamic_list().templates(&TEMPLATES).list_changed().subscribe();

pub(crate) static FIXED: [Resource; 5] = [
    Resource::new("test://static-text", "static text").mime_type("text/plain"),
    Resource::new("test://static-binary", "static bytes").mime_type("image/png"),
    Resource::new("test://watched-resource", "watched").mime_type("text/plain"),
    Resource::new("clock://ticks", "ticks")
        .description("A counter that the tool tick advances")
        .mime_type("text/plain"),
    TAKE_NOTES.resource(),
];

static TEMPLATES: [ResourceTemplate; 2] = [
    ResourceTemplate::new("note://{name}", "note")
        .description("A note written by write_note")
        .mime_type("text/plain"),
    ResourceTemplate::new("test://template/{id}/data", "data").mime_type("application/json"),
];
