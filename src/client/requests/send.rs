//! Client functions that call tools, send requests with any method, cancel requests, and reply to the server.

use crate::error::SendError;
use crate::json::{WriteBody, Writer};
use crate::peer::slots::Ticket;
use crate::platform::cold_path;
use crate::protocol::capabilities::{ClientCapabilities, ServerCapabilities};
use crate::protocol::methods;
use crate::protocol::revision::Era;

use crate::client::Client;
use crate::client::lists::List;
use crate::client::options::Options;
use crate::client::server_requests::ServerRequest;

impl Client<'_> {
    /// Calls a tool. `arguments` writes the arguments of the tool as one JSON object.
    ///
    /// # Errors
    /// [`SendError::NotConnected`]: the client is not connected. [`SendError::Unsupported`]: the server has no tools.
    /// [`SendError::Full`]: no slot is free. [`SendError::Busy`]: the transmit buffer lacks space, or reserves the
    /// space for a response. [`Event::Writable`](crate::client::Event::Writable) reports new space.
    /// [`SendError::Unwritable`]: the request does not fit into the empty transmit buffer. [`SendError::Invalid`]: the
    /// arguments or the `_meta` are not valid.
    pub fn call_with(
        &mut self,
        tool: &str,
        options: Options<'_>,
        arguments: impl FnMut(&mut Writer<'_>),
    ) -> Result<Ticket, SendError> {
        let mut arguments = arguments;
        self.call_dyn(tool, options, &mut |out: &mut Writer<'_>| {
            out.value_checked(&mut arguments).is_ok() && (out.overflowed() || out.ends_with(b'}'))
        })
    }

    /// Calls a tool with any arguments that serialize to an object.
    ///
    /// # Errors
    /// Same as [`call_with`](Client::call_with).
    #[cfg(feature = "serde")]
    pub fn call<T: serde_core::Serialize + ?Sized>(
        &mut self,
        tool: &str,
        arguments: &T,
        options: Options<'_>,
    ) -> Result<Ticket, SendError> {
        self.call_dyn(tool, options, &mut |out: &mut Writer<'_>| match out.serialize(arguments) {
            Ok(()) => out.ends_with(b'}'),
            Err(_) => out.overflowed(),
        })
    }

    /// Calls a tool with the JSON text of an object as arguments.
    ///
    /// # Errors
    /// Same as [`call_with`](Client::call_with).
    pub fn call_json(
        &mut self,
        tool: &str,
        arguments: &str,
        options: Options<'_>,
    ) -> Result<Ticket, SendError> {
        self.call_dyn(tool, options, &mut |out: &mut Writer<'_>| out.raw_object(arguments))
    }

    fn call_dyn(
        &mut self,
        tool: &str,
        options: Options<'_>,
        arguments: &mut dyn WriteBody,
    ) -> Result<Ticket, SendError> {
        self.require_capability(ServerCapabilities::TOOLS)?;
        let task = self.state.config.tasks.zip(options.task);
        let session = self.state.peer.session;
        self.state.begin_request(methods::TOOLS_CALL.name, options, &mut |out: &mut Writer<'_>| {
            write_name(out, tool);
            let is_valid = arguments.write(out);
            if let (Some((tasks, ttl)), Some(session)) = (task, session) {
                (tasks.hooks.write_request)(session, ttl, out);
            }
            is_valid
        })
    }

    /// Lists the tools. The client emits an [`Event::Tools`](crate::client::Event::Tools) for each page. The client
    /// requests the next page by itself, so the application calls this function only once.
    /// [`is_last`](crate::client::ToolsPage::is_last) marks the end of the list.
    ///
    /// To search for one tool, call [`find`](crate::client::ToolsPage::find) on each page, and
    /// [`cancel`](Client::cancel) the request after a match. A cancellation before the next poll sends nothing, because
    /// the client has not requested the next page yet.
    ///
    /// # Errors
    /// Same as [`list_resources`](Client::list_resources). [`SendError::Unsupported`]: the server has no tools.
    pub fn list_tools(&mut self, options: Options<'_>) -> Result<Ticket, SendError> {
        self.list(List::Tools, options)
    }

    /// Sends a request that has no effect, to check that the server responds. The method is `ping`, or
    /// `server/discover` in `2026-07-28`, which has no `ping`.
    ///
    /// # Errors
    /// Same as [`call_with`](Client::call_with), but the client does not check the server's capabilities.
    pub fn ping(&mut self, options: Options<'_>) -> Result<Ticket, SendError> {
        let stateless = self.state.era() == Some(Era::Stateless);
        let method = if stateless { methods::SERVER_DISCOVER.name } else { methods::PING.name };
        self.state.begin_request(method, options, &mut |_: &mut Writer<'_>| true)
    }

    /// Sends a request with any method. `params` writes the keys and values of the parameters, except `_meta`. The
    /// client itself writes `_meta`.
    ///
    /// If the client has a function for the method, the request causes the same events as that function. A
    /// `tools/call`, for example, may [require input](crate::client::InputRequired), and ends with a
    /// [`tool_result`](crate::client::Response::tool_result). Lists are an exception: the client does not request
    /// further pages, and the request ends with an [`Event::Response`](crate::client::Event::Response).
    ///
    /// # Errors
    /// Same as [`call_with`](Client::call_with), but the client does not check the server's capabilities.
    pub fn request(
        &mut self,
        method: &str,
        options: Options<'_>,
        params: impl FnMut(&mut Writer<'_>),
    ) -> Result<Ticket, SendError> {
        let mut params = params;
        self.state.begin_request(method, options, &mut |out: &mut Writer<'_>| {
            out.members_checked(&mut params).is_ok()
        })
    }

    /// Cancels a request. The ticket becomes invalid.
    ///
    /// The client notifies the server, unless the server has already responded, or the request waits for transmission
    /// on a new connection. A task is cancelled only if the server supports `tasks/cancel`. If the server turns the
    /// call into a task before it handles the cancellation, the client cancels this task when the late response
    /// arrives. If the transmit buffer then lacks space, the task continues until the end of its time to live.
    ///
    /// # Errors
    /// [`SendError::Gone`]: the request has already ended, or is a request of the server.
    pub fn cancel(&mut self, ticket: Ticket, reason: &str) -> Result<(), SendError> {
        self.state.open_request(ticket).ok_or(SendError::Gone)?;
        self.state.abandon(ticket, reason);
        Ok(())
    }

    /// Returns a [deferred](ServerRequest::defer) request of the server, for the response.
    ///
    /// # Errors
    /// [`SendError::Gone`]: the request has a response, was cancelled or has expired, its connection has ended, or the
    /// application sent the request. [`SendError::Busy`]: the transmit buffer lacks space for a response or reserves
    /// the space for another response, or queued messages must precede the response.
    /// [`Event::Writable`](crate::client::Event::Writable) reports new space.
    pub fn reply(&mut self, ticket: Ticket) -> Result<ServerRequest<'_>, SendError> {
        self.state.reply(ticket)
    }

    /// Notifies the server that the roots have changed. The client sends the notification as soon as the transmit
    /// buffer has space. Until then, further calls cause no further notification.
    ///
    /// # Errors
    /// [`SendError::NotConnected`]: the client is not connected. [`SendError::Unsupported`]: the client has not
    /// declared [`ROOTS_LIST_CHANGED`](crate::ClientCapabilities::ROOTS_LIST_CHANGED), or the revision has no such
    /// notification. In `2026-07-28`, a server requests the roots on demand.
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
        if !self.state.is_connected() {
            cold_path();
            return Err(SendError::NotConnected);
        }
        if !self.state.has_server_capability(capability) {
            cold_path();
            return Err(SendError::Unsupported);
        }
        Ok(())
    }
}

/// Writes the first members of the parameters: `"name":…,"arguments":`.
#[inline]
pub(crate) fn write_name(out: &mut Writer<'_>, tool: &str) {
    out.token(r#""name":""#);
    out.inside_text(tool);
    out.token(r#"","arguments":"#);
}
