//! Configuration of the modeled server: its features, and the sizes of its buffers.

use mcp_proto::TaskSupport;
use mcp_proto::server::{
    Completion, Extensions, Feature, Logging, Prompt, PromptArgument, Prompts, Resource, ResourceTemplate,
    Resources, Subscriptions, TaskOptions, Tasks, Tool, Tools,
};

use super::tasks;

/// Configuration of a modeled server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Setup {
    /// Length of the receive buffer; less than 400 means 400. If `None`, the buffer holds every line.
    pub rx: Option<u16>,
    /// Length of the transmit buffer, in addition to `room` and the minimum length.
    pub tx: u16,
    /// Guaranteed response space, in addition to the minimum space.
    pub room: u16,
    /// Whether the transmit buffer is on the heap.
    pub grown: bool,
    /// Maximum number of requests in flight, modulo 8.
    pub slots: u8,
    /// Whether the server accepts batches.
    pub batches: bool,
    /// Whether keep-alive is enabled.
    pub pings: bool,
    /// Whether a second `initialize` restarts the session.
    pub restarts: bool,
    /// Whether the server requires a complete handshake.
    pub strict: bool,
    /// Whether the application supplies the lists.
    pub has_dynamic_lists: bool,
    /// Configuration of tasks. If `None`, the server has no tasks.
    pub tasks: Option<tasks::Setup>,
}

impl Setup {
    /// Returns the features of the server.
    pub(super) fn features(self) -> Vec<&'static dyn Feature> {
        let mut features = Vec::from(if self.has_dynamic_lists { DYNAMIC_LISTS } else { OWN });
        if let Some(tasks) = self.tasks {
            features.push(if tasks.automatic { &AUTOMATIC } else { &TASKS });
        }
        features
    }
}

static TOOLS: Tools<'static> = Tools::new(&[
    Tool::new("answer", "{}"),
    Tool::new("error", "{}"),
    Tool::new("drop", "{}"),
    Tool::new("defer", "{}").task_support(TaskSupport::Optional),
    Tool::new("busy", "{}"),
    Tool::new("progress", "{}"),
    Tool::new("log", "{}"),
    Tool::new("change", "{}"),
    Tool::new("needs", "{}"),
    Tool::new("lacks", "{}"),
    Tool::new("large", "{}"),
    Tool::new("task", "{}").task_support(TaskSupport::Optional),
])
.list_changed();
static RESOURCES: Resources<'static> = Resources::new(&[Resource::new("m:log", "log")])
    .templates(&[ResourceTemplate::new("m:{name}", "any")])
    .list_changed()
    .subscribe();
static PROMPTS: Prompts<'static> = Prompts::new(&[
    Prompt::new("answer").arguments(&[PromptArgument::new("free")]),
    Prompt::new("error"),
    Prompt::new("drop"),
    Prompt::new("defer"),
    Prompt::new("needs"),
])
.list_changed();
static EXTENSIONS: Extensions<'static> = Extensions::new(&[("com.example/own", "{}")])
    .methods(&["example/own"])
    .notifications(&["notifications/example", "example/own"]);
static TASKS: Tasks = Tasks::new().list();
static AUTOMATIC: Tasks =
    Tasks::new().list().automatic(tasks::AFTER, || TaskOptions::new([7; 16]).ttl(tasks::TTL));
static OWN: [&dyn Feature; 7] =
    [&TOOLS, &RESOURCES, &PROMPTS, &Completion, &Logging, &Subscriptions, &EXTENSIONS];

static DYNAMIC_TOOLS: Tools<'static> = Tools::dynamic_list();
static DYNAMIC_RESOURCES: Resources<'static> = Resources::dynamic_list();
static DYNAMIC_PROMPTS: Prompts<'static> = Prompts::dynamic_list();
static DYNAMIC_LISTS: [&dyn Feature; 7] = [
    &DYNAMIC_TOOLS,
    &DYNAMIC_RESOURCES,
    &DYNAMIC_PROMPTS,
    &Completion,
    &Logging,
    &Subscriptions,
    &EXTENSIONS,
];
