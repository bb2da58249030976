//! Commands from a server's handles to its event loop.

use std::panic::{AssertUnwindSafe, catch_unwind};

use mcp_proto::server::{Reply, TaskTicket};
use mcp_proto::{Decimal, Level, SendError, Server, Ticket};

use crate::outbound_request::OutboundRequest;
use crate::query::WatchQuery;
use crate::server_shared::ServerShared;

pub(crate) type ReplyFn = Box<dyn FnOnce(Reply<'_>) + Send>;

/// Error message for a request whose worker ended without a response.
pub(crate) const NO_RESPONSE: &str = "Internal error: the worker ended without a response";

/// A queued command for the server.
///
/// Each kind of command is a closure. The linker therefore removes the code of commands that an application never
/// sends.
pub(crate) struct ServerCommand {
    apply: Box<Apply>,
    /// The request that this command responds to.
    pub(crate) responds_to: Option<Ticket>,
    /// The request whose session the server must serve before the command.
    pub(crate) session_of: Option<Ticket>,
    /// Whether the command goes to the front of the queue, because it needs no space in the transmit buffer.
    pub(crate) is_urgent: bool,
}

type Apply = dyn FnMut(&mut Server<'_>, &ServerShared) -> Delivery + Send;

/// Result of applying a command.
#[derive(PartialEq)]
pub(crate) enum Delivery {
    Done,
    /// The transmit buffer is full. The server emits an event when the buffer has space.
    Blocked,
}

impl Delivery {
    /// Converts the result of a send. Every error other than `Busy` counts as done, because a retry cannot succeed.
    fn from_send_result<T>(sent: Result<T, SendError>) -> Delivery {
        match sent {
            Err(SendError::Busy) => Delivery::Blocked,
            _ => Delivery::Done,
        }
    }
}

impl ServerCommand {
    fn new(apply: impl FnMut(&mut Server<'_>, &ServerShared) -> Delivery + Send + 'static) -> ServerCommand {
        ServerCommand { apply: Box::new(apply), responds_to: None, session_of: None, is_urgent: false }
    }

    pub(crate) fn apply(&mut self, server: &mut Server<'_>, shared: &ServerShared) -> Delivery {
        (self.apply)(server, shared)
    }

    /// Responds to a deferred request.
    pub(crate) fn reply(ticket: Ticket, reply_fn: ReplyFn) -> ServerCommand {
        let mut reply_fn = Some(reply_fn);
        let command = ServerCommand::new(move |server, _| {
            let reply = match server.reply(ticket) {
                Ok(reply) => reply,
                refused => return Delivery::from_send_result(refused),
            };
            // The closure is application code: a panic must fail this request only.
            let run = || {
                if let Some(reply_fn) = reply_fn.take() {
                    reply_fn(reply);
                }
            };
            if catch_unwind(AssertUnwindSafe(run)).is_err()
                && let Ok(reply) = server.reply(ticket)
            {
                reply.error(-32603, NO_RESPONSE);
            }
            Delivery::Done
        });
        ServerCommand { responds_to: Some(ticket), ..command }
    }

    pub(crate) fn progress(
        ticket: Ticket,
        progress: Decimal,
        total: Option<Decimal>,
        message: String,
    ) -> ServerCommand {
        ServerCommand::new(move |server, _| {
            Delivery::from_send_result(
                server.reply(ticket).map(|mut reply| _ = reply.progress(progress, total, &message)),
            )
        })
    }

    /// Sends a log message that belongs to a request.
    pub(crate) fn request_log(ticket: Ticket, level: Level, text: String) -> ServerCommand {
        let command = ServerCommand::new(move |server, _| {
            Delivery::from_send_result(
                server.reply(ticket).map(|mut reply| _ = reply.log(level, None, &text)),
            )
        });
        ServerCommand { session_of: Some(ticket), ..command }
    }

    /// Sends a log message that belongs to no request.
    pub(crate) fn log(level: Level, text: String) -> ServerCommand {
        ServerCommand::new(move |server, _| Delivery::from_send_result(server.log(level, None, &text)))
    }

    /// Sends the client a request.
    pub(crate) fn request(request: OutboundRequest) -> ServerCommand {
        let session_of = request.during;
        let mut request = Some(request);
        let command = ServerCommand::new(move |server, shared| {
            match request.take().map(|request| request.send(server)) {
                Some(Ok(Some((ticket, pending)))) => shared.request_sent(ticket, pending),
                Some(Err(unsent)) => {
                    request = Some(unsent);
                    return Delivery::Blocked;
                }
                _ => {}
            }
            Delivery::Done
        });
        ServerCommand { session_of, ..command }
    }

    /// Releases the HTTP connection of a request.
    pub(crate) fn release_connection(ticket: Ticket) -> ServerCommand {
        ServerCommand::new(move |_, shared| {
            shared.add_released(ticket);
            Delivery::Done
        })
    }

    /// Cancels a request to the client, if it has no response yet.
    pub(crate) fn cancel(ticket: Ticket) -> ServerCommand {
        ServerCommand::new(move |server, _| {
            let _ = server.cancel(ticket, "");
            Delivery::Done
        })
    }

    pub(crate) fn is_watched(query: WatchQuery) -> ServerCommand {
        let mut query = Some(query);
        let command = ServerCommand::new(move |server, _| {
            if let Some(query) = query.take() {
                query.resolve(server);
            }
            Delivery::Done
        });
        ServerCommand { is_urgent: true, ..command }
    }

    /// Updates or ends a task that has not ended.
    pub(crate) fn task(
        ticket: TaskTicket,
        mut update: impl FnMut(mcp_proto::server::Task<'_>) -> Result<(), SendError> + Send + 'static,
    ) -> ServerCommand {
        ServerCommand::new(move |server, _| {
            // The closure is application code: a panic must not end the connection.
            let run = || server.task(ticket).and_then(&mut update);
            catch_unwind(AssertUnwindSafe(run)).map_or(Delivery::Done, Delivery::from_send_result)
        })
    }

    pub(crate) fn end_subscription(ticket: Ticket) -> ServerCommand {
        ServerCommand::new(move |server, _| {
            let _ = server.end_subscription(ticket);
            Delivery::Done
        })
    }

    /// Notifies the client that an elicitation in URL mode is complete.
    pub(crate) fn elicitation_complete(id: String) -> ServerCommand {
        ServerCommand::new(move |server, _| Delivery::from_send_result(server.elicitation_complete(&id)))
    }
}
