//! Methods of the client that send tool calls, lists and any request, or cancel a request.

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
    /// Calls a tool. `arguments` writes the arguments, an object.
    ///
    /// # Errors
    /// [`SendError::NotConnected`]: the client is not connected. [`SendError::Unsupported`]: the server has no tools.
    /// [`SendError::Full`]: no slot is free. [`SendError::Busy`]: there is no space yet;
    /// [`Event::Writable`](crate::client::Event::Writable) reports when there is. [`SendError::Unwritable`]: the
    /// arguments are larger than the transmit buffer, or not valid JSON.
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

    /// Calls a tool with arguments as JSON text, which must be an object.
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
        self.require_capability(ServerCapabilities::TOOLS)?;
        self.state.begin_request(methods::TOOLS_CALL.name, options, &mut |out| {
            write_name(out, tool);
            arguments(out)
        })
    }

    /// Lists the tools, page by page: [`Event::Tools`](crate::client::Event::Tools) for each page. The client requests
    /// the next page by itself, so one call lists everything. [`is_last`](crate::client::ToolsPage::is_last) marks the
    /// end of the list.
    ///
    /// To search for one tool, call [`find`](crate::client::ToolsPage::find) on each page, and
    /// [`cancel`](Client::cancel) the request after a match. Before the next poll the cancellation sends nothing,
    /// because the next page is not requested yet.
    ///
    /// # Errors
    /// As [`call_with`](Client::call_with).
    pub fn list_tools(&mut self, options: Options<'_>) -> Result<Ticket, SendError> {
        self.list(List::Tools, options)
    }

    /// Checks that the server answers. In `2026-07-28`, which has no `ping`, this sends `server/discover`.
    ///
    /// # Errors
    /// As [`call_with`](Client::call_with).
    pub fn ping(&mut self, options: Options<'_>) -> Result<Ticket, SendError> {
        let stateless = self.state.era() == Some(Era::Stateless);
        let method = if stateless { methods::SERVER_DISCOVER.name } else { methods::PING.name };
        self.state.begin_request(method, options, &mut |_| true)
    }

    /// Sends any other request. `params` writes its members, keys and values; the client writes `_meta`.
    ///
    /// A method that the client knows behaves as if sent by its own function. A `tools/call`, for example, may [require
    /// input](crate::client::InputRequired), and ends with a [`tool_result`](crate::client::Response::tool_result).
    /// Lists are the exception: the client does not request further pages.
    ///
    /// # Errors
    /// As [`call_with`](Client::call_with), except that no capability is required.
    pub fn request(
        &mut self,
        method: &str,
        options: Options<'_>,
        params: impl FnMut(&mut Writer<'_>),
    ) -> Result<Ticket, SendError> {
        let mut params = params;
        self.state.begin_request(method, options, &mut |out| out.members_checked(&mut params).is_ok())
    }

    /// Cancels a request and notifies the server. The ticket becomes invalid.
    ///
    /// # Errors
    /// [`SendError::Gone`]: the request has ended already.
    pub fn cancel(&mut self, ticket: Ticket, reason: &str) -> Result<(), SendError> {
        self.state.open_request(ticket).ok_or(SendError::Gone)?;
        self.state.abandon(ticket, reason);
        Ok(())
    }

    /// Returns the right to answer a [deferred](crate::client::ServerRequest::defer) request of the server now.
    ///
    /// # Errors
    /// [`SendError::Gone`]: the request was answered or cancelled, has expired, or its connection has ended.
    /// [`SendError::Busy`]: there is no space for a response yet; [`Event::Writable`](crate::client::Event::Writable)
    /// reports when there is.
    pub fn reply(&mut self, ticket: Ticket) -> Result<ServerRequestReply<'_>, SendError> {
        self.state.reply(ticket)
    }

    /// Notifies the server that the roots have changed, as soon as there is space. Changes before that are merged into
    /// one notification.
    ///
    /// # Errors
    /// [`SendError::NotConnected`]: the client is not connected. [`SendError::Unsupported`]: the client has not
    /// declared [`ROOTS_LIST_CHANGED`](crate::ClientCapabilities::ROOTS_LIST_CHANGED), or the revision has no such
    /// notification (in `2026-07-28` servers request the roots when they need them).
    pub fn roots_changed(&mut self) -> Result<(), SendError> {
        if !self.state.is_connected() {
            return Err(SendError::NotConnected);
        }
        if !self.state.declared().has(ClientCapabilities::ROOTS_LIST_CHANGED) {
            return Err(SendError::Unsupported);
        }
        self.state.roots_changed_pending = true;
        Ok(())
    }

    pub(crate) fn require_capability(&self, capability: ServerCapabilities) -> Result<(), SendError> {
        match self.state.is_connected() {
            false => Err(SendError::NotConnected),
            true if self.state.has_server_capability(capability) => Ok(()),
            true => Err(SendError::Unsupported),
        }
    }
}

/// Writes `"name":…,"arguments":`.
pub(crate) fn write_name(out: &mut Writer<'_>, tool: &str) {
    out.members(r#""name":"#);
    out.string(tool);
    out.token(r#","arguments":"#);
}
