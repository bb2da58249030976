//! What a host may ask of the server, and how it takes that back.

use crate::error::SendError;
use crate::json::Writer;
use crate::peer::slots::Ticket;
use crate::protocol::capabilities::{ClientCapabilities, ServerCapabilities};
use crate::protocol::methods;
use crate::protocol::revision::Era;

use crate::client::Client;
use crate::client::lists::List;
use crate::client::options::Options;
use crate::client::server_requests::ServerRequestReply;

impl Client<'_> {
    /// Calls a tool. `arguments` writes them: an object.
    ///
    /// # Errors
    /// [`SendError::NotConnected`]: not yet, or not any more. [`SendError::Unsupported`]: the server has no tools.
    /// [`SendError::Full`]: no slot is free. [`SendError::Busy`]: there is no room yet; [`Event::Writable`](crate::client::Event::Writable) says when there is.
    /// [`SendError::Unwritable`]: the arguments are larger than the transmit buffer, or not valid JSON.
    pub fn call_with(
        &mut self,
        tool: &str,
        options: Options<'_>,
        arguments: impl FnMut(&mut Writer<'_>),
    ) -> Result<Ticket, SendError> {
        let mut arguments = arguments;
        self.call_dyn(tool, options, &mut |out| {
            out.value_checked(&mut arguments).is_ok() && (out.overflowed() || out.ends_with(b'}'))
        })
    }

    /// Calls a tool with arguments of any type that serializes to an object.
    ///
    /// # Errors
    /// As [`call_with`](Client::call_with).
    #[cfg(feature = "serde")]
    pub fn call<T: serde_core::Serialize + ?Sized>(
        &mut self,
        tool: &str,
        arguments: &T,
        options: Options<'_>,
    ) -> Result<Ticket, SendError> {
        self.call_dyn(tool, options, &mut |out| match out.serialize(arguments) {
            Ok(()) => out.ends_with(b'}'),
            Err(_) => out.overflowed(),
        })
    }

    /// Calls a tool with arguments that are JSON text: an object.
    ///
    /// # Errors
    /// As [`call_with`](Client::call_with).
    pub fn call_json(
        &mut self,
        tool: &str,
        arguments: &str,
        options: Options<'_>,
    ) -> Result<Ticket, SendError> {
        self.call_dyn(tool, options, &mut |out| {
            out.raw(arguments).is_ok() && (out.overflowed() || out.ends_with(b'}'))
        })
    }

    fn call_dyn(
        &mut self,
        tool: &str,
        options: Options<'_>,
        arguments: &mut dyn FnMut(&mut Writer<'_>) -> bool,
    ) -> Result<Ticket, SendError> {
        self.needs(ServerCapabilities::TOOLS)?;
        self.core.begin(methods::TOOLS_CALL.name, options, &mut |out| {
            write_name(out, tool);
            arguments(out)
        })
    }

    /// Lists the tools, page by page: [`Event::Tools`](crate::client::Event::Tools) for each, the next one is asked for by
    /// itself. So one request lists everything; it ends with the page that [is the last](crate::client::ToolsPage::is_last).
    ///
    /// To look for one tool only, [`find`](crate::client::ToolsPage::find) it on each page, and [`cancel`](Client::cancel)
    /// the request when it is there: before the next poll this costs nothing, because the next page is not asked for yet.
    ///
    /// # Errors
    /// As [`call_with`](Client::call_with).
    pub fn list_tools(&mut self, options: Options<'_>) -> Result<Ticket, SendError> {
        self.list(List::Tools, options)
    }

    /// Asks whether the server is there. With `2026-07-28`, which has no `ping`, this is `server/discover`.
    ///
    /// # Errors
    /// As [`call_with`](Client::call_with).
    pub fn ping(&mut self, options: Options<'_>) -> Result<Ticket, SendError> {
        let stateless = self.core.era() == Some(Era::Stateless);
        let method = if stateless { methods::SERVER_DISCOVER.name } else { methods::PING.name };
        self.core.begin(method, options, &mut |_| true)
    }

    /// Sends any other request. `params` writes its members, keys and values; `_meta` is the machine's.
    ///
    /// One whose method the client knows is that request, whoever has named it: a `tools/call` may
    /// [need input](crate::client::InputRequired), and ends with a [`tool_result`](crate::client::Response::tool_result).
    /// Only the pages of a list do not follow by themselves.
    ///
    /// # Errors
    /// As [`call_with`](Client::call_with), except that no capability is asked for.
    pub fn request(
        &mut self,
        method: &str,
        options: Options<'_>,
        params: impl FnMut(&mut Writer<'_>),
    ) -> Result<Ticket, SendError> {
        let mut params = params;
        self.core.begin(method, options, &mut |out| out.members_checked(&mut params).is_ok())
    }

    /// Cancels a request. Its ticket is gone; the server is told.
    ///
    /// # Errors
    /// [`SendError::Gone`]: it has ended already.
    pub fn cancel(&mut self, ticket: Ticket, reason: &str) -> Result<(), SendError> {
        self.core.open(ticket).ok_or(SendError::Gone)?;
        self.core.give_up(ticket, reason);
        Ok(())
    }

    /// The right to answer a request of the server's that was [deferred](crate::client::ServerRequest::defer), now.
    ///
    /// # Errors
    /// [`SendError::Gone`]: it was answered, cancelled, took too long, or its connection is over. [`SendError::Busy`]: there is
    /// no room for an answer yet; [`Event::Writable`](crate::client::Event::Writable) says when there is.
    pub fn reply(&mut self, ticket: Ticket) -> Result<ServerRequestReply<'_>, SendError> {
        self.core.reply(ticket)
    }

    /// Says that the roots have changed. The server is told as soon as there is room, once for any number of changes.
    ///
    /// # Errors
    /// [`SendError::NotConnected`]: not yet, or not any more. [`SendError::Unsupported`]: the client has not declared
    /// [`ROOTS_LIST_CHANGED`](crate::ClientCapabilities::ROOTS_LIST_CHANGED), or the revision has no such message
    /// (`2026-07-28`: servers ask for the roots when they need them).
    pub fn roots_changed(&mut self) -> Result<(), SendError> {
        if !self.core.is_connected() {
            return Err(SendError::NotConnected);
        }
        if !self.core.declared().has(ClientCapabilities::ROOTS_LIST_CHANGED) {
            return Err(SendError::Unsupported);
        }
        self.core.owes_roots = true;
        Ok(())
    }

    pub(crate) fn needs(&self, capability: ServerCapabilities) -> Result<(), SendError> {
        match self.core.is_connected() {
            false => Err(SendError::NotConnected),
            true if self.core.can(capability) => Ok(()),
            true => Err(SendError::Unsupported),
        }
    }
}

/// `"name":…,"arguments":` at the start of an object.
pub(crate) fn write_name(out: &mut Writer<'_>, tool: &str) {
    out.field_string("name", tool);
    out.key("arguments");
}
