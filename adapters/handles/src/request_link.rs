//! `RequestLink`: a reference to a deferred request, through which handles send messages that belong to the request.

use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use mcp_proto::input::Input;
use mcp_proto::{ClientCapabilities, Decimal, Level, Revision, Ticket};

use crate::cancellation::{Cancellation, Task};
use crate::outbound_request::{ClientResponse, OutboundRequest, RequestError};
use crate::server_command::ServerCommand;
use crate::server_shared::ServerShared;

/// A reference to a deferred request, without the right to respond.
#[derive(Clone)]
pub(crate) struct RequestLink {
    pub(crate) shared: Arc<ServerShared>,
    pub(crate) ticket: Ticket,
    pub(crate) client: (Revision, ClientCapabilities),
    pub(crate) user: Option<u64>,
    pub(crate) task: Arc<Task>,
}

impl RequestLink {
    /// See [`Responder::progress`](crate::Responder::progress).
    pub(crate) fn progress<P: Into<Decimal>, M: Display>(
        &self,
        progress: P,
        total: Option<Decimal>,
        message: M,
    ) -> impl Future<Output = ()> + use<'_, P, M> {
        let (progress, message) = (progress.into(), message.to_string());
        let command = ServerCommand::progress(self.ticket, progress, total, message);
        self.shared.send(command, Some(&self.task))
    }

    /// See [`Responder::log`](crate::Responder::log).
    pub(crate) fn log<T: Display>(&self, level: Level, text: T) -> impl Future<Output = ()> + use<'_, T> {
        let command = ServerCommand::log(Some(self.ticket), level, None, &text.to_string());
        self.shared.send_notification(command, Some(&self.task))
    }

    /// See [`Responder::request`](crate::Responder::request).
    pub(crate) fn send_request<'r>(
        &'r self,
        input: &dyn Input,
        time: Option<Duration>,
    ) -> impl Future<Output = Result<ClientResponse, RequestError>> + use<'r> {
        let request = OutboundRequest::new(input, self.client, time, Some(self.ticket));
        self.shared.send_request(request, Some(&self.task))
    }

    pub(crate) fn cancellation(&self) -> Cancellation {
        Cancellation::new(&self.task)
    }
}

impl std::fmt::Debug for RequestLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RequestLink").field("ticket", &self.ticket).finish_non_exhaustive()
    }
}
