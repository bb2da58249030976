//! Completion: the reference to a prompt or template, and the proposed values.
//!
//! Specification: *Completion*.
#![allow(clippy::as_conversions, reason = "`usize` has at most 64 bits")]

use crate::json::{Json, Str, WriteBody, Writer};
use crate::protocol::objects::view::{is_true, list, member, text, view};

/// The prompt or resource template with the argument to complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reference<'r> {
    /// The prompt with this name.
    Prompt(&'r str),
    /// The resource template with this URI template.
    Resource(&'r str),
}

impl Reference<'_> {
    /// Writes the member `ref`.
    pub(crate) fn write(self, out: &mut Writer<'_>) {
        let (kind, member, name) = match self {
            Reference::Prompt(name) => ("ref/prompt", "name", name),
            Reference::Resource(uri) => ("ref/resource", "uri", uri),
        };
        out.begin_object_at("ref");
        out.field_string("type", kind);
        out.field_string(member, name);
        out.end_object();
    }
}

/// The prompt or resource template with the argument to complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReferenceView<'a> {
    /// The prompt with this name.
    Prompt(Str<'a>),
    /// The resource template with this URI template.
    Resource(Str<'a>),
}

impl<'a> ReferenceView<'a> {
    pub(crate) fn from_json(params: Json<'a>) -> Option<ReferenceView<'a>> {
        let reference = params.get("ref")?;
        let kind = text(reference, "type")?;
        if kind == "ref/prompt" {
            text(reference, "name").map(ReferenceView::Prompt)
        } else if kind == "ref/resource" {
            text(reference, "uri").map(ReferenceView::Resource)
        } else {
            None
        }
    }
}

/// Maximum number of values in one response.
const MAX_VALUES: usize = 100;

/// Bytes reserved for the part of a response that follows the last value. The longest such part is
/// `],"total":18446744073709551615,"hasMore":false}` followed by the closing brackets of the response.
const TAIL: usize = 56;

/// Writes the member `completion`. Calls `next` for each value until `next` returns `false`. Also stops at the first
/// value beyond the maximum number, or at a value that does not fit into the message, and discards this value.
pub(crate) fn write_completion(out: &mut Writer<'_>, total: Option<u64>, next: &mut dyn WriteBody) {
    out.members(r#""completion":{"values":["#);
    let mut count = 0usize;
    let cut = loop {
        let before = out.mark();
        if !next.write(out) {
            break false;
        }
        if count >= MAX_VALUES || out.overflowed() || out.remaining() < TAIL {
            out.rollback(before);
            break true;
        }
        count = count.wrapping_add(1);
    };
    out.end_array();
    let total = total.map(|total| total.max(count as u64));
    if let Some(total) = total {
        out.field_unsigned("total", total);
    }
    if cut || total.is_some() {
        out.field_boolean("hasMore", cut || total.is_some_and(|total| total > count as u64));
    }
    out.end_object();
}

view! {
    /// The result of `completion/complete`: proposed values of an argument.
    ///
    /// Specification: *Completion*.
    CompletionView with meta
}

impl<'a> CompletionView<'a> {
    fn inner(&self) -> Json<'a> {
        member(self.json, "completion")
    }

    /// Returns the proposed values, starting with the best. The specification allows at most 100 values.
    pub fn values(&self) -> impl Iterator<Item = Str<'a>> + use<'a> {
        list(self.inner(), "values").filter_map(Json::string)
    }

    /// Returns the total number of values, if the server reports this number.
    #[must_use]
    pub fn total(&self) -> Option<u64> {
        self.inner().get("total")?.unsigned()
    }

    /// Returns whether the server has more values.
    #[must_use]
    pub fn has_more(&self) -> bool {
        is_true(self.inner(), "hasMore")
    }
}
