//! Copies of what a server says, to be kept and to be sent to other threads.

use mcp_proto::client::{self, Connected, Listed};
use mcp_proto::json::Json;
use mcp_proto::{Decimal, Level, ProtocolError, Revision, ServerCapabilities};

/// The result of a tool.
///
/// ```
/// use mcp_proto_handles::CallResult;
/// let result = CallResult::from_json(r#"{"content":[{"type":"text","text":"hi"}]}"#)?;
/// assert_eq!(result.text().as_deref(), Some("hi"));
/// assert!(!result.is_error());
/// # Ok::<(), mcp_proto::json::ScanError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallResult {
    json: String,
}

impl CallResult {
    /// A result that was kept as JSON.
    ///
    /// # Errors
    /// It is not valid JSON.
    pub fn from_json(json: impl Into<String>) -> Result<CallResult, mcp_proto::json::ScanError> {
        let json = json.into();
        Json::parse(json.as_bytes())?;
        Ok(CallResult { json })
    }

    pub(crate) fn trusted(json: String) -> CallResult {
        CallResult { json }
    }

    /// The whole result.
    #[must_use]
    pub fn json(&self) -> Json<'_> {
        view(&self.json)
    }

    /// Whether the tool says that it failed.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.view().is_error()
    }

    /// The result as the machine's own view: all there is to ask of it.
    #[must_use]
    pub fn view(&self) -> client::ToolResult<'_> {
        client::ToolResult::from_json(self.json())
    }

    /// Its content, piece by piece.
    pub fn content(&self) -> impl Iterator<Item = client::Content<'_>> {
        self.view().content()
    }

    /// The first piece of text.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        self.view().text().map(|text| text.to_string())
    }

    /// The structured content.
    #[must_use]
    pub fn structured(&self) -> Option<Json<'_>> {
        self.view().structured()
    }

    /// The result as JSON text.
    #[must_use]
    pub fn into_json(self) -> String {
        self.json
    }
}

/// A view of text that was valid when it was copied.
pub(crate) fn view(json: &str) -> Json<'_> {
    Json::parse(json.as_bytes()).unwrap_or(Json::NULL)
}

/// A tool, as the server describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolDescription {
    /// Its name.
    pub name: String,
    /// Its name for people: its title, or its name if it has none.
    pub title: String,
    /// What it does.
    pub description: Option<String>,
    /// The JSON Schema of its arguments; one that any object fits, if the server has none.
    pub input_schema: String,
    /// The JSON Schema of its structured results.
    pub output_schema: Option<String>,
    /// The whole entry, as JSON.
    pub json: String,
}

impl ToolDescription {
    /// The tool as the machine's own view: all there is to ask of it.
    #[must_use]
    pub fn view(&self) -> client::Tool<'_> {
        client::Tool::from_json(view(&self.json))
    }

    /// A tool without a name is none.
    pub(crate) fn from_json(json: &str) -> Option<ToolDescription> {
        let tool = client::Tool::from_json(view(json));
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

/// The server that a client is connected to. What it says of itself is not to be trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerDetails {
    /// The revision that both speak.
    pub revision: Revision,
    /// What it can do.
    pub capabilities: ServerCapabilities,
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// How a model should use it.
    pub instructions: Option<String>,
    /// All that it says of itself, as JSON: `serverInfo`.
    pub info_json: String,
    /// What it declared, as JSON: `capabilities`.
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

/// Progress of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// How far it is.
    pub progress: Decimal,
    /// Where it ends, if that is known.
    pub total: Option<Decimal>,
    /// What it is doing.
    pub message: Option<String>,
}

impl Progress {
    pub(crate) fn new(progress: client::Progress<'_>) -> Progress {
        Progress {
            progress: progress.progress(),
            total: progress.total(),
            message: progress.message().map(|text| text.to_string()),
        }
    }
}

/// What a server says by itself, and what went wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notification {
    /// It has logged something.
    Log {
        /// How severe it is, if it is said by a known name.
        level: Option<Level>,
        /// Which part of the server it comes from.
        logger: Option<String>,
        /// What it says: JSON, often a string.
        data: String,
    },
    /// A list has changed.
    Changed(Listed),
    /// A resource has changed that was subscribed to: its URI.
    Updated(String),
    /// Another notification.
    Other {
        /// Its method.
        method: String,
        /// Its parameters, as JSON.
        params: Option<String>,
    },
    /// The connection was lost, and there is a new one: subscriptions go on, and something may have changed meanwhile.
    Reconnected,
    /// It does not answer pings.
    PeerUnresponsive,
    /// Something went wrong, and was dealt with.
    ProtocolError(ProtocolError),
    /// So many notices came faster than they were taken, and were dropped.
    Missed(usize),
}
