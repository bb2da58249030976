//! Features that are built at run time equal those that the compiler builds in constants.

use core::fmt::Debug;

use mcp_proto::client::ClientConfig;
use mcp_proto::server::{
    Prompt, Prompts, Resource, ResourceTemplate, Resources, TaskOptions, Tasks, Tool, Tools,
};
use mcp_proto::{ConfigError, Icon, Millis};

static STREAMED: [Tool; 1] =
    [Tool::new("t", r#"{"type":"object","properties":{"text":{"type":"string"}}}"#).streamed("text")];
static ENTRIES: [Resource; 1] = [Resource::new("x:r", "r")];
static TEMPLATES: [ResourceTemplate; 1] = [ResourceTemplate::new("x:{t}", "t")];
static PROMPT: [Prompt; 1] = [Prompt::new("p")];
static ICONS: [Icon; 1] = [Icon::new("data:,i")];

fn task_options() -> TaskOptions {
    TaskOptions::new([7; 16])
}

/// Returns the fields of a value as text, without addresses, because a function may have several addresses.
fn described(value: &dyn Debug) -> String {
    let text = format!("{value:?}");
    text.split("0x").map(|part| part.trim_start_matches(|digit: char| digit.is_ascii_hexdigit())).collect()
}

/// Builds each value at compile time and at run time, and compares both.
macro_rules! assert_equal {
    ($($name:ident: $type:ty = $value:expr;)*) => {
        $({
            const $name: $type = $value;
            assert_eq!(described(&$value), described(&$name), stringify!($name));
        })*
    };
}

#[test]
fn features_built_at_run_time_equal_those_in_constants() {
    assert_equal! {
        TOOLS: Result<Tools<'_>, ConfigError> = Tools::try_new(&STREAMED);
        LIST: Tools<'_> = Tools::new(&[]).always_structured_content().list_changed();
        PROMPTS: Prompts<'_> = Prompts::new(&PROMPT).list_changed().stringify();
        RESOURCES: Result<Resources<'_>, ConfigError> = Resources::try_new(&ENTRIES);
        WATCHED: Resources<'_> = Resources::new(&ENTRIES).templates(&TEMPLATES)
            .subscribe()
            .list_changed();
        TASKS: Tasks = Tasks::new().list().automatic(Millis(1), task_options);
        CLIENT: ClientConfig<'_> = ClientConfig::new("c", "1").icons(&ICONS);
    }
}
