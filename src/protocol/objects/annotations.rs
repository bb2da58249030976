//! Annotations of resources and content, and the roles of a conversation.
//!
//! Specification: *Server features*, *Resources*, *Annotations*.

use crate::json::{Decimal, Json, Str, Writer};
use crate::protocol::named_values::named_values;
use crate::protocol::objects::optional_members::{write_array_member, write_priority_member};
use crate::protocol::objects::view::{list, number, text, view};
use crate::protocol::revision::{Revision, WireFeature};

named_values! {
    /// The role of a speaker, or of an audience.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Role {
        /// The user.
        User = "user",
        /// The model.
        Assistant = "assistant",
    }

    const ALL;
    pub(crate) fn from_json;
}

/// Hints for the client about a resource or a content block.
///
/// ```
/// use mcp_proto::{Annotations, Decimal, Role};
/// static FOR_PEOPLE: Annotations =
///     Annotations::new().audience(&[Role::User]).priority(Decimal::new(8, -1)).last_modified("2026-01-31T12:00:00Z");
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Annotations<'n> {
    audience: &'n [Role],
    priority: Option<Decimal>,
    last_modified: Option<&'n str>,
}

impl<'n> Annotations<'n> {
    /// Creates empty annotations.
    #[must_use]
    pub const fn new() -> Annotations<'n> {
        Annotations { audience: &[], priority: None, last_modified: None }
    }

    /// Sets the audience. Default: all roles.
    #[must_use]
    pub const fn audience(mut self, audience: &'n [Role]) -> Self {
        self.audience = audience;
        self
    }

    /// Sets the importance, from 0 (optional) to 1 (required). The writer clamps values outside this range.
    #[must_use]
    pub const fn priority(mut self, priority: Decimal) -> Self {
        self.priority = Some(priority);
        self
    }

    /// Sets the time of the last change (from `2025-06-18` on). The format is ISO 8601, such as `2026-01-31T12:00:00Z`.
    #[must_use]
    pub const fn last_modified(mut self, time: &'n str) -> Self {
        self.last_modified = Some(time);
        self
    }

    /// Writes the member `annotations`. Omits the member if the revision supports none of the annotations that are set.
    pub(crate) fn write(&self, revision: Revision, out: &mut Writer<'_>) {
        let last_modified = self.last_modified.filter(|_| revision.has(WireFeature::LastModified));
        if self.audience.is_empty() && self.priority.is_none() && last_modified.is_none() {
            return;
        }
        out.begin_object_at("annotations");
        write_array_member("audience", self.audience, out, |role, out| out.string(role.as_str()));
        write_priority_member("priority", self.priority, out);
        out.field_optional("lastModified", last_modified);
        out.end_object();
    }
}

view! {
    /// Annotations: audience, priority and time of the last change. Each annotation is optional.
    ///
    /// Specification: *Resources*, *Annotations*.
    AnnotationsView
}

impl<'a> AnnotationsView<'a> {
    /// Returns the intended audience. The iterator is empty if the annotations specify no known role.
    pub fn audience(&self) -> impl Iterator<Item = Role> + use<'a> {
        list(self.json, "audience").filter_map(Json::string).filter_map(Role::from_json)
    }

    /// Returns whether the audience includes `role`. An audience without known roles includes all roles.
    #[must_use]
    pub fn is_for(&self, role: Role) -> bool {
        self.audience().next().is_none() || self.audience().any(|one| one == role)
    }

    /// Returns the importance, from 0 (entirely optional) to 1 (required). The peer may violate this range.
    #[must_use]
    pub fn priority(&self) -> Option<Decimal> {
        number(self.json, "priority")
    }

    /// Returns the time of the last change, in ISO 8601.
    #[must_use]
    pub fn last_modified(&self) -> Option<Str<'a>> {
        text(self.json, "lastModified")
    }
}
