//! Progress of an outbound request, in the events of both roles.

use crate::json::{Decimal, Json, Str};
use crate::peer::slots::Ticket;
use crate::protocol::objects::view::{number, object, text};

/// Progress of a request.
#[derive(Debug, Clone, Copy)]
pub struct Progress<'a> {
    pub(crate) ticket: Ticket,
    pub(crate) params: Json<'a>,
}

impl<'a> Progress<'a> {
    /// The ticket of the request.
    #[must_use]
    pub fn ticket(&self) -> Ticket {
        self.ticket
    }

    /// The current progress.
    #[must_use]
    pub fn progress(&self) -> Decimal {
        number(self.params, "progress").unwrap_or(Decimal::ZERO)
    }

    /// The total, if it is known.
    #[must_use]
    pub fn total(&self) -> Option<Decimal> {
        number(self.params, "total")
    }

    /// A message about the current step.
    #[must_use]
    pub fn message(&self) -> Option<Str<'a>> {
        text(self.params, "message")
    }

    /// The `_meta` object.
    #[must_use]
    pub fn meta(&self) -> Option<Json<'a>> {
        object(self.params, "_meta")
    }

    /// The whole parameters, as the peer wrote them.
    #[must_use]
    pub fn raw(&self) -> Json<'a> {
        self.params
    }
}
