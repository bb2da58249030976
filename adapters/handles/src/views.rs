//! Owned copies of list entries and results, as JSON with typed views.

use mcp_proto::client;
use mcp_proto::json::Json;

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
