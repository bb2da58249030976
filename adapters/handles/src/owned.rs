//! Owned copies of server data: tools, server details, notifications.

use mcp_proto::client::{self, Connected, Listed, TaskView};
use mcp_proto::json::{Json, Writer};
use mcp_proto::{Decimal, Level, ProtocolError, Revision, ServerCapabilities, TaskStatus};

use crate::http_failure::HttpFailure;

/// Parses JSON text. Returns `null` if the text is not valid.
pub(crate) fn view(json: &str) -> Json<'_> {
    Json::parse(json.as_bytes()).unwrap_or(Json::NULL)
}

/// Writes the members of an object.
pub(crate) fn write_members(object: Json<'_>, out: &mut Writer<'_>) {
    object.members().for_each(|(name, value)| out.field_json(&name.to_string(), value));
}

/// The server's description of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolDescription {
    /// The name.
    pub name: String,
    /// The display name: the title, or the name if there is no title.
    pub title: String,
    /// The description.
    pub description: Option<String>,
    /// The JSON Schema of the arguments. If the server sends no schema or an empty one, this schema accepts any
    /// object.
    pub input_schema: String,
    /// The JSON Schema of structured results.
    pub output_schema: Option<String>,
    /// The complete list entry, as JSON.
    pub json: String,
}

impl ToolDescription {
    /// Returns the tool as a typed view with access to all members.
    #[must_use]
    pub fn view(&self) -> client::ToolView<'_> {
        client::ToolView::from_json(view(&self.json))
    }

    /// Copies a list entry. Returns `None` if the entry has no name.
    pub(crate) fn from_json(json: &str) -> Option<ToolDescription> {
        let tool = client::ToolView::from_json(view(json));
        let name = tool.name()?.to_string();
        Some(ToolDescription {
            title: tool.display_name().map_or_else(|| name.clone(), |title| title.to_string()),
            name,
            description: tool.description().map(|text| text.to_string()),
            input_schema: tool.input_schema().to_string(),
            output_schema: tool.output_schema().map(|schema| schema.to_string()),
            json: json.to_owned(),
        })
    }
}

/// The server that a client is connected to. Except for the revision, all values come from the server and are not
/// verified.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerDetails {
    /// The negotiated revision.
    pub revision: Revision,
    /// The server's capabilities.
    pub capabilities: ServerCapabilities,
    /// The name. Empty if the server sent none.
    pub name: String,
    /// The version. Empty if the server sent none.
    pub version: String,
    /// Instructions for the model.
    pub instructions: Option<String>,
    /// The server's description of itself (`serverInfo`), as JSON. `{}` if the server sent none.
    pub info_json: String,
    /// The server's capabilities (`capabilities`), as JSON.
    pub capabilities_json: String,
}

impl ServerDetails {
    pub(crate) fn new(connected: Connected<'_>) -> ServerDetails {
        let info = connected.server_info().unwrap_or(Json::EMPTY_OBJECT);
        let member =
            |name| info.get(name).and_then(Json::string).map(|text| text.to_string()).unwrap_or_default();
        ServerDetails {
            revision: connected.revision(),
            capabilities: connected.capabilities(),
            name: member("name"),
            version: member("version"),
            instructions: connected.instructions().map(|text| text.to_string()),
            info_json: info.to_string(),
            capabilities_json: connected.raw_capabilities().to_string(),
        }
    }
}

/// A progress notification of a request, or a new status of its task.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// The progress so far.
    pub progress: Decimal,
    /// The total, if it is known.
    pub total: Option<Decimal>,
    /// A message for the user.
    pub message: Option<String>,
    /// The task of the call, if this value reports a new status of the task. The progress is then zero.
    pub task: Option<TaskUpdate>,
}

/// A task and its status.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskUpdate {
    /// The id. Pass it to [`ClientHandle::resume_task`](crate::ClientHandle::resume_task) after a restart of
    /// the application.
    pub id: String,
    /// The status, if its name is known.
    pub status: Option<TaskStatus>,
}

impl Progress {
    pub(crate) fn from_task(task: TaskView<'_>) -> Progress {
        Progress {
            progress: Decimal::ZERO,
            total: None,
            message: task.message().map(|text| text.to_string()),
            task: Some(TaskUpdate {
                id: task.id().map(|id| id.to_string()).unwrap_or_default(),
                status: task.status(),
            }),
        }
    }

    pub(crate) fn new(progress: mcp_proto::Progress<'_>) -> Progress {
        Progress {
            progress: progress.progress(),
            total: progress.total(),
            message: progress.message().map(|text| text.to_string()),
            task: None,
        }
    }
}

/// A notification of the server, or a change of the connection.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notification {
    /// A log message.
    Log {
        /// The level, if its name is known.
        level: Option<Level>,
        /// The logger within the server.
        logger: Option<String>,
        /// The data as JSON, often a string.
        data: String,
    },
    /// A list has changed.
    Changed(Listed),
    /// A subscribed resource has changed. Contains the resource's URI.
    Updated(String),
    /// A notification with any other method.
    Other {
        /// The method.
        method: String,
        /// The parameters, as JSON.
        params: Option<String>,
    },
    /// A new connection has replaced a lost one. Over HTTP, also: a new stream has replaced the lost stream of a
    /// subscription. Each [`Subscription`](crate::Subscription) continues, but the server did not report the changes
    /// that occurred in between.
    Reconnected,
    /// Over HTTP, the server did not accept a response of the application to a request of the server, for example
    /// because the response is too long. The client sends an error response in its place.
    ResponseRefused(Box<HttpFailure>),
    /// The server does not respond to pings.
    PeerUnresponsive,
    /// The client handled a protocol error.
    ProtocolError(ProtocolError),
    /// The number of notifications that were dropped because the queue was full.
    Missed(usize),
}
