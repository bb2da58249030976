//! For whom something is, and how much it matters.
//!
//! Specification: *Server features*, *Resources*, *Annotations*.

use crate::json::{Decimal, Json, Writer};
use crate::protocol::revision::Revision;

/// Who speaks in a conversation, or whom something is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// The person.
    User,
    /// The model.
    Assistant,
}

impl Role {
    /// Its name in messages.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Role::User => "user",
            Role::Assistant => "assistant",
        }
    }

    pub(crate) fn from_json(json: Json<'_>) -> Option<Role> {
        let text = json.string()?;
        [Role::User, Role::Assistant].into_iter().find(|role| text == role.as_str())
    }
}

/// What clients may go by when they show or use a resource or a piece of content.
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
    /// None yet.
    #[must_use]
    pub const fn new() -> Annotations<'n> {
        Annotations { audience: &[], priority: None, last_modified: None }
    }

    /// Whom it is for. Everybody, if this is not called.
    #[must_use]
    pub const fn audience(mut self, audience: &'n [Role]) -> Self {
        self.audience = audience;
        self
    }

    /// How important it is, from 0 (can be left out) to 1 (needed). What lies outside is taken for the nearer of both.
    #[must_use]
    pub const fn priority(mut self, priority: Decimal) -> Self {
        self.priority = Some(priority);
        self
    }

    /// When it changed last, as ISO 8601 writes it (from `2025-06-18` on): `2026-01-31T12:00:00Z`.
    #[must_use]
    pub const fn last_modified(mut self, time: &'n str) -> Self {
        self.last_modified = Some(time);
        self
    }

    /// The member `annotations`, if there are any that the revision has.
    pub(crate) fn write(&self, revision: Revision, out: &mut Writer<'_>) {
        let last_modified = self.last_modified.filter(|_| revision >= Revision::V2025_06_18);
        if self.audience.is_empty() && self.priority.is_none() && last_modified.is_none() {
            return;
        }
        out.key("annotations");
        out.begin_object();
        if !self.audience.is_empty() {
            out.key("audience");
            out.begin_array();
            self.audience.iter().for_each(|role| out.string(role.as_str()));
            out.end_array();
        }
        if let Some(priority) = self.priority {
            out.key("priority");
            out.decimal(priority.max(Decimal::ZERO).min(Decimal::new(1, 0)));
        }
        out.field_optional("lastModified", last_modified);
        out.end_object();
    }
}
