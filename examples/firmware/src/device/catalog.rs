//! Tables of the device's tools, resources and prompts, in flash.

use mcp_proto::ToolArguments;
use mcp_proto::server::{
    Completion, Limits, Logging, Prompt, PromptArgument, Prompts, Resource, ResourceTemplate, Resources,
    SecondInitialize, ServerConfig, Subscriptions, Tool, Tools,
};

use super::questions::AskArguments;

/// URI of the settings, a text of up to 1 KiB.
pub const SETTINGS: &str = "board://settings";
/// URI of the temperature, in degrees Celsius.
pub const TEMPERATURE: &str = "board://temperature";
/// The pin names for `board://pin/{name}`.
pub const PINS: [&str; 3] = ["led", "rx", "tx"];

/// Turns the LED on or off.
#[derive(ToolArguments)]
pub(super) struct LedSet {
    pub(super) on: bool,
}

/// Writes a text at a byte offset of the settings, and removes everything after the text.
#[derive(ToolArguments)]
pub(super) struct SettingsWrite<'a> {
    pub(super) text: &'a str,
    /// The byte offset; 0 by default
    #[tool(range = 0..=1024, default = 0)]
    pub(super) at: u16,
}

static TOOLS: Tools = Tools::new(&[
    Tool::with_arguments::<LedSet>("led_set").idempotent(true),
    Tool::new("temperature", "{}")
        .description("Measures the temperature")
        .output_schema(
            r#"{"type":"object","properties":{"celsius":{"type":"number"}},"required":["celsius"]}"#,
        )
        .read_only(true),
    Tool::with_arguments::<SettingsWrite>("settings_write"),
    Tool::new("self_test", "{}").description("Tests the whole board, in ten steps"),
    Tool::with_arguments::<AskArguments>("ask"),
]);

static RESOURCES: Resources = Resources::new(&[
    Resource::new(SETTINGS, "settings").mime_type("text/plain"),
    Resource::new(TEMPERATURE, "temperature").mime_type("text/plain"),
])
.templates(&[ResourceTemplate::new("board://pin/{name}", "pin").mime_type("text/plain")])
.subscribe();

static PROMPTS: Prompts = Prompts::new(&[Prompt::new("diagnose")
    .description("Diagnoses a symptom of the board")
    .arguments(&[PromptArgument::new("symptom").required().values(&["is too hot", "does not answer"])])]);

/// The server's configuration. A UART has no connections, so every `initialize` starts a new session.
pub static CONFIG: ServerConfig = ServerConfig::new("board", env!("CARGO_PKG_VERSION"))
    .features(&[&TOOLS, &RESOURCES, &PROMPTS, &Completion, &Logging, &Subscriptions])
    .limits(Limits::DEFAULT.with_depth(16))
    .second_initialize(SecondInitialize::Restart);
