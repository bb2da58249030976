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
    /// Returns the ticket of the request.
    #[must_use]
    pub fn ticket(&self) -> Ticket {
        self.ticket
    }

    /// Returns the current progress.
    #[must_use]
    pub fn progress(&self) -> Decimal {
        number(self.params, "progress").unwrap_or(Decimal::ZERO)
    }

    /// Returns the total. Returns `None` if the peer sent no valid total.
    #[must_use]
    pub fn total(&self) -> Option<Decimal> {
        number(self.params, "total")
    }

    /// Returns the message about the current step. Returns `None` if the peer sent no valid message.
    #[must_use]
    pub fn message(&self) -> Option<Str<'a>> {
        text(self.params, "message")
    }

    /// Returns the `_meta` object. Returns `None` if the peer sent no such object.
    #[must_use]
    pub fn meta(&self) -> Option<Json<'a>> {
        object(self.params, "_meta")
    }

    /// Returns the whole parameters, as the peer wrote them.
    #[must_use]
    pub fn raw(&self) -> Json<'a> {
        self.params
    }
}
