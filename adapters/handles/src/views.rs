//! Owned copies of list entries and results, as JSON with typed views.

use mcp_proto::client;
use mcp_proto::json::{Json, ScanError, TypedError};
use serde_core::de::DeserializeOwned;

use crate::owned::view;

macro_rules! owned_json {
    ($(#[$docs:meta])* $name:ident as $view:ident) => {
        $(#[$docs])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $name {
            json: String,
        }

        impl $name {
            pub(crate) fn from_valid_json(json: String) -> $name {
                $name { json }
            }

            /// Returns the value as a typed view with access to all members.
            #[must_use]
            pub fn view(&self) -> client::$view<'_> {
                client::$view::from_json(self.json())
            }

            /// Returns the value as JSON.
            #[must_use]
            pub fn json(&self) -> Json<'_> {
                view(&self.json)
            }

            /// Converts the value into JSON text.
            #[must_use]
            pub fn into_json(self) -> String {
                self.json
            }
        }
    };
}

owned_json! {
    /// The result of a tool call.
    ///
    /// ```
    /// # use mcp_proto_handles::CallResult;
    /// let result = CallResult::from_json(r#"{"content":[{"type":"text","text":"hi"}]}"#)?;
    /// assert_eq!(result.text().as_deref(), Some("hi"));
    /// assert!(!result.is_error());
    /// # Ok::<(), mcp_proto::json::ScanError>(())
    /// ```
    CallResult as ToolResultView
}

owned_json! {
    /// The server's description of a resource.
    ResourceDescription as ResourceView
}

owned_json! {
    /// The server's description of a resource template.
    TemplateDescription as ResourceTemplateView
}

owned_json! {
    /// The server's description of a prompt.
    PromptDescription as PromptView
}

owned_json! {
    /// The server's description of a skill and its files.
    SkillDescription as SkillView
}

owned_json! {
    /// The contents of a resource.
    ReadResult as ReadResultView
}

owned_json! {
    /// The messages of a prompt.
    PromptResult as PromptResultView
}

owned_json! {
    /// Completions for the value of an argument.
    CompleteResult as CompletionView
}

impl CallResult {
    /// Creates a result from stored JSON text.
    ///
    /// # Errors
    /// The text is not valid JSON.
    pub fn from_json(json: impl Into<String>) -> Result<CallResult, ScanError> {
        let json = json.into();
        Json::parse(json.as_bytes())?;
        Ok(CallResult { json })
    }

    /// Returns the `resultType` that an extension defines, or `None` for an ordinary result: see
    /// [`ClientConfig::result_types`](client::ClientConfig::result_types). A result of an extension need not have
    /// content.
    #[must_use]
    pub fn result_type(&self) -> Option<String> {
        let result_type = self.json().get("resultType")?.string()?;
        Some(result_type.to_string()).filter(|result_type| result_type != "complete")
    }

    /// Returns whether the tool reported a failure (`isError`).
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.view().is_error()
    }

    /// Iterates over the content blocks.
    pub fn content(&self) -> impl Iterator<Item = client::ContentView<'_>> {
        self.view().content()
    }

    /// Returns the text of the first text block, or `None` if there is no text block.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        self.view().text().map(|text| text.to_string())
    }

    /// Returns the structured content, or `None` if there is none.
    #[must_use]
    pub fn structured(&self) -> Option<Json<'_>> {
        self.view().structured()
    }

    /// Decodes the structured content.
    ///
    /// # Errors
    /// The result has no structured content, or the content does not fit the type. A failed call
    /// ([`is_error`](CallResult::is_error)) need not have structured content.
    pub fn structured_as<T: DeserializeOwned>(&self) -> Result<T, TypedError> {
        self.view().structured_as()
    }
}

impl ResourceDescription {
    /// Returns the URI, or an empty string if the server sends none.
    #[must_use]
    pub fn uri(&self) -> String {
        to_owned(self.view().uri())
    }
}

impl TemplateDescription {
    /// Returns the URI template (RFC 6570), or an empty string if the server sends none.
    #[must_use]
    pub fn uri_template(&self) -> String {
        to_owned(self.view().uri_template())
    }
}

impl PromptDescription {
    /// Returns the name, or an empty string if the server sends none.
    #[must_use]
    pub fn name(&self) -> String {
        to_owned(self.view().name())
    }
}

impl SkillDescription {
    /// Returns the URI of `SKILL.md`, or an empty string if the server sends none.
    #[must_use]
    pub fn uri(&self) -> String {
        to_owned(self.view().uri())
    }
}

impl ReadResult {
    /// Returns the text of the first text content, or `None` if there is no text content.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        self.view().text().map(|text| text.to_string())
    }
}

impl CompleteResult {
    /// Returns the values in the order of the server.
    #[must_use]
    pub fn values(&self) -> Vec<String> {
        self.view().values().map(|value| value.to_string()).collect()
    }
}

fn to_owned(text: Option<mcp_proto::json::Str<'_>>) -> String {
    text.map(|text| text.to_string()).unwrap_or_default()
}
