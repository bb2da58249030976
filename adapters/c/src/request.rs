//! Converts events of the core into events for C, and sends the responses of the C program.

use core::mem;

use mcp_proto::server::{Call, Event, ReadResource, Reply};
use mcp_proto::{Decimal, Millis, SendError, Ticket};

use crate::event::{MCP_NO_TICKET, mcp_event_kind_t as Kind, mcp_event_t, mcp_text_t};
use crate::io::Moves;
use crate::status::mcp_status_t;
use crate::table::Tables;

/// The value that the functions for C use between two polls: bytes to move, or a request that awaits its response.
pub(crate) enum Current<'a> {
    /// Neither bytes nor a request.
    Nothing,
    /// The bytes to move, after `MCP_EVENT_IO`.
    Moves(Moves<'a>),
    /// The tool call from the current event.
    Call(Call<'a>),
    /// The request to read a resource, from the current event.
    Read(ReadResource<'a>),
    /// The deferred request that `mcp_server_resume` returned.
    Deferred(Reply<'a>),
}

/// Converts a ticket for C. Inverts the bits: no ticket has only ones, so no result is `MCP_NO_TICKET`.
pub(crate) fn to_c(ticket: Ticket) -> u64 {
    !ticket.to_bits()
}

/// Converts a ticket from C.
pub(crate) fn from_c(ticket: u64) -> Ticket {
    Ticket::from_bits(!ticket)
}

/// Converts an event of the core into an event of C. Writes the kind and the numbers of the event to `out`, and returns
/// the next [`Current`] value. Returns `None` if the library has handled the event itself.
pub(crate) fn on_event<'a>(event: Event<'a>, tables: &Tables, out: &mut mcp_event_t) -> Option<Current<'a>> {
    out.kind = match event {
        Event::Call(call) => {
            let Some(index) = tables.tool_index(call.name()) else {
                call.unknown_tool();
                return None;
            };
            (out.kind, out.index) = (Kind::MCP_EVENT_CALL, index);
            return Some(Current::Call(call));
        }
        Event::ListTools(list) => {
            list.tools(|index| tables.tool(index));
            return None;
        }
        Event::Connected(_) => Kind::MCP_EVENT_CONNECTED,
        Event::Restarted => Kind::MCP_EVENT_RESTARTED,
        Event::Writable => Kind::MCP_EVENT_WRITABLE,
        Event::Cancelled { ticket, .. } => {
            out.ticket = to_c(ticket);
            Kind::MCP_EVENT_CANCELLED
        }
        Event::Expired(ticket) => {
            out.ticket = to_c(ticket);
            Kind::MCP_EVENT_EXPIRED
        }
        Event::ProtocolError(error) => {
            out.code = error.code().unwrap_or_default();
            Kind::MCP_EVENT_PROTOCOL_ERROR
        }
        event => {
            out.kind = Kind::MCP_EVENT_OTHER;
            return match tables.resources_feature {
                Some(resources) => (resources.handle)(event, tables, out),
                None => Some(Current::Nothing),
            };
        }
    };
    Some(Current::Nothing)
}

/// Converts an event of the feature *resources*, like [`on_event`]. Returns [`Current::Nothing`] for any other event.
/// Only servers with resources link this function.
pub(crate) fn on_resource_event<'a>(
    event: Event<'a>,
    tables: &Tables,
    out: &mut mcp_event_t,
) -> Option<Current<'a>> {
    match event {
        Event::ReadResource(request) => {
            let Some(index) = tables.resource_index(request.uri()) else {
                request.not_found();
                return None;
            };
            (out.kind, out.index) = (Kind::MCP_EVENT_READ, index);
            return Some(Current::Read(request));
        }
        Event::ListResources(list) => list.resources(|index| tables.resource(index)),
        Event::ListTemplates(list) => list.templates(|_| None),
        _ => return Some(Current::Nothing),
    }
    None
}

impl Current<'_> {
    /// Adds the texts of the request to the event: the name and the arguments of a tool call, or the URI of a resource.
    /// The arguments borrow from the request, so the request must not move while C uses the event.
    pub(crate) fn describe(&self, out: &mut mcp_event_t) {
        match self {
            Current::Call(call) => {
                (out.name, out.arguments) =
                    (mcp_text_t::new(call.name()), mcp_text_t::new(call.raw_arguments().raw()));
            }
            Current::Read(request) => out.name = mcp_text_t::new(request.uri()),
            Current::Nothing | Current::Moves(_) | Current::Deferred(_) => {}
        }
    }

    /// Responds to a tool call: with `to_call` to the call of the current event, or with `to_deferred` to a deferred
    /// call. Fails with `MCP_ERROR_GONE` if `self` is not a tool call.
    pub(crate) fn respond(
        &mut self,
        to_call: impl FnOnce(Call<'_>),
        to_deferred: impl FnOnce(Reply<'_>),
    ) -> Result<(), mcp_status_t> {
        match mem::replace(self, Current::Nothing) {
            Current::Call(call) => to_call(call),
            Current::Deferred(reply) if reply.is_tool_call() => to_deferred(reply),
            other => return Err(self.put_back(other)),
        }
        Ok(())
    }

    /// Responds to a request to read a resource, like [`respond`](Self::respond). Fails with `MCP_ERROR_GONE` if `self`
    /// is not such a request.
    pub(crate) fn respond_to_read(
        &mut self,
        to_read: impl FnOnce(ReadResource<'_>),
        to_deferred: impl FnOnce(Reply<'_>),
    ) -> Result<(), mcp_status_t> {
        match mem::replace(self, Current::Nothing) {
            Current::Read(request) => to_read(request),
            // C programs defer only tool calls and reads, so this request is a read.
            Current::Deferred(reply) if !reply.is_tool_call() => to_deferred(reply),
            other => return Err(self.put_back(other)),
        }
        Ok(())
    }

    /// Responds with a JSON-RPC error. Fails with `MCP_ERROR_GONE` if `self` is not a request.
    pub(crate) fn error(&mut self, code: i32, message: &str) -> Result<(), mcp_status_t> {
        match mem::replace(self, Current::Nothing) {
            Current::Call(call) => call.error(code, message),
            Current::Read(request) => request.error(code, message),
            Current::Deferred(reply) => reply.error(code, message),
            other => return Err(self.put_back(other)),
        }
        Ok(())
    }

    /// Sends a progress notification. Fails with [`SendError::Gone`] if `self` is not a request.
    pub(crate) fn progress(
        &mut self,
        progress: i64,
        total: Option<i64>,
        message: &str,
    ) -> Result<(), SendError> {
        let total = total.map(Decimal::from);
        match self {
            Current::Call(call) => call.progress(progress, total, message),
            Current::Read(request) => request.progress(progress, total, message),
            Current::Deferred(reply) => reply.progress(progress, total, message),
            Current::Nothing | Current::Moves(_) => Err(SendError::Gone),
        }
    }

    /// Defers the response to the request of the current event, and returns the ticket for C. `None` stands for the
    /// default timeout.
    ///
    /// # Errors
    /// `MCP_ERROR_FULL`: no slot is free, or the id of the request does not fit into a slot. `MCP_ERROR_GONE`: `self`
    /// is not a request, or the request is deferred already.
    pub(crate) fn defer(&mut self, timeout: Option<Millis>) -> Result<u64, mcp_status_t> {
        let (ticket, back) = match mem::replace(self, Current::Nothing) {
            Current::Call(call) => match call.defer(timeout) {
                Ok(ticket) => (to_c(ticket), Current::Nothing),
                Err(call) => (MCP_NO_TICKET, Current::Call(call)),
            },
            Current::Read(request) => match request.defer(timeout) {
                Ok(ticket) => (to_c(ticket), Current::Nothing),
                Err(request) => (MCP_NO_TICKET, Current::Read(request)),
            },
            other => return Err(self.put_back(other)),
        };
        *self = back;
        if ticket == MCP_NO_TICKET { Err(mcp_status_t::MCP_ERROR_FULL) } else { Ok(ticket) }
    }
}

impl<'a> Current<'a> {
    /// Returns the [`Moves`] of the last poll. Returns `None` if that poll did not return `MCP_EVENT_IO`, or if a later
    /// function has overwritten the `Moves`.
    pub(crate) fn moves(&mut self) -> Option<&mut Moves<'a>> {
        if let Current::Moves(moves) = self { Some(moves) } else { None }
    }

    /// Returns whether the request of the current event awaits its response.
    pub(crate) fn is_open_request(&self) -> bool {
        matches!(self, Current::Call(_) | Current::Read(_))
    }

    fn put_back(&mut self, other: Current<'a>) -> mcp_status_t {
        *self = other;
        mcp_status_t::MCP_ERROR_GONE
    }
}
