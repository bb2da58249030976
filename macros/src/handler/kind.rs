//! The kinds of handlers, one for each attribute.

/// The kind of a handler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Tool,
    Prompt,
    Resource,
    Complete,
}

impl Kind {
    /// Returns the name of the attribute.
    pub(crate) fn attribute(self) -> &'static str {
        match self {
            Kind::Tool => "tool",
            Kind::Prompt => "prompt",
            Kind::Resource => "resource",
            Kind::Complete => "complete",
        }
    }

    /// Returns the items of the attribute.
    pub(crate) fn items(self) -> &'static [&'static str] {
        match self {
            Kind::Tool => &[
                "name",
                "title",
                "description",
                "icons",
                "meta",
                "output_schema",
                "streamed",
                "read_only",
                "destructive",
                "idempotent",
                "open_world",
                "task_support",
                "blocking",
                "crate",
            ],
            Kind::Prompt => &["name", "title", "description", "icons", "meta", "values", "blocking", "crate"],
            Kind::Resource => &[
                "name",
                "title",
                "description",
                "icons",
                "meta",
                "mime",
                "annotations",
                "size",
                "blocking",
                "crate",
            ],
            Kind::Complete => &["prompt", "resource", "argument", "blocking", "crate"],
        }
    }

    /// Returns the name of the request's type.
    pub(crate) fn request(self) -> &'static str {
        match self {
            Kind::Tool => "Call",
            Kind::Prompt => "GetPrompt",
            Kind::Resource => "ReadResource",
            Kind::Complete => "Complete",
        }
    }

    /// Returns the error for a handler with a second parameter for a value. Returns `None` if a handler may have
    /// several such parameters.
    pub(crate) fn one_value(self) -> Option<&'static str> {
        match self {
            Kind::Tool => Some("a tool has one parameter for its arguments: put all of them into one struct"),
            Kind::Prompt => {
                Some("a prompt has one parameter for its arguments: put all of them into one struct")
            }
            Kind::Resource => None,
            Kind::Complete => Some("a completion has one parameter for the typed text"),
        }
    }
}
