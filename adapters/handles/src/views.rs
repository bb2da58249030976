//! Copies of what a server offers and answers: JSON, with the machine's own views of it.

use mcp_proto::client;
use mcp_proto::json::Json;

use crate::owned::view;

macro_rules! copy {
    ($(#[$docs:meta])* $name:ident as $view:ident) => {
        $(#[$docs])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $name {
            json: String,
        }

        impl $name {
            pub(crate) fn trusted(json: String) -> $name {
                $name { json }
            }

            /// It as the machine's own view: all there is to ask of it.
            #[must_use]
            pub fn view(&self) -> client::$view<'_> {
                client::$view::from_json(self.json())
            }

            /// It as it is.
            #[must_use]
            pub fn json(&self) -> Json<'_> {
                view(&self.json)
            }

            /// It as JSON text.
            #[must_use]
            pub fn into_json(self) -> String {
                self.json
            }
        }
    };
}

copy! {
    /// A resource, as the server describes it.
    ResourceDescription as Resource
}

copy! {
    /// A family of resources, as the server describes it.
    TemplateDescription as ResourceTemplate
}

copy! {
    /// A prompt, as the server describes it.
    PromptDescription as Prompt
}

copy! {
    /// What is in a resource.
    ReadResult as ReadResult
}

copy! {
    /// What a prompt says.
    PromptResult as PromptResult
}

copy! {
    /// What the value of an argument may be.
    CompleteResult as Completion
}

impl ResourceDescription {
    /// Where it is; empty if the server does not say so.
    #[must_use]
    pub fn uri(&self) -> String {
        owned(self.view().uri())
    }
}

impl TemplateDescription {
    /// The URIs of the family: a template of RFC 6570; empty if the server does not say so.
    #[must_use]
    pub fn uri_template(&self) -> String {
        owned(self.view().uri_template())
    }
}

impl PromptDescription {
    /// Its name; empty if the server does not say so.
    #[must_use]
    pub fn name(&self) -> String {
        owned(self.view().name())
    }
}

impl ReadResult {
    /// The first part that is text.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        self.view().text().map(|text| text.to_string())
    }
}

impl CompleteResult {
    /// The values, the best one first.
    #[must_use]
    pub fn values(&self) -> Vec<String> {
        self.view().values().map(|value| value.to_string()).collect()
    }
}

fn owned(text: Option<mcp_proto::json::Str<'_>>) -> String {
    text.map(|text| text.to_string()).unwrap_or_default()
}
