//! `ServerCommand`: work that a handle of a server queues for its event loop.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

use mcp_proto::json::{self, Kind, Writer};
use mcp_proto::rpc::code;
use mcp_proto::server::{Reply, TaskTicket};
use mcp_proto::{Decimal, Level, SendError, Server, Ticket};
use serde_core::Serialize;

use crate::chunk_writer::{Chunk, OpenFn, Outcome};
use crate::hook::RequestOutcome;
use crate::outbound_request::{OutboundRequest, RequestError};
use crate::owned::{view, write_members};
use crate::promise::Promise;
use crate::request_record::RequestRecord;
use crate::server_shared::ServerShared;

pub(crate) type ReplyFn = Box<dyn FnOnce(Reply<'_>) + Send>;

/// Error message for a request whose worker (a thread or a task) ended without a response.
pub(crate) const NO_RESPONSE: &str = "Internal error: the worker ended without a response";

/// Error message for a request or a task whose worker panicked, or whose closure panicked in the event loop.
pub(crate) const PANICKED: &str = "Internal error: the worker panicked";

/// A queued command for the server.
///
/// Each kind of command is a closure. The linker therefore removes the code of commands that an application never
/// sends.
pub(crate) struct ServerCommand {
    apply: Box<Apply>,
    /// The request that this command responds to.
    pub(crate) responds_to: Option<Ticket>,
    /// The record of the request in `responds_to`, for hooks and tracing.
    pub(crate) record: Option<Box<RequestRecord>>,
    /// The request in whose session the server must apply the command. `None` if no session must be selected.
    pub(crate) session_of: Option<Ticket>,
    /// Whether the command goes to the front of the queue. Such a command needs no space in the transmit buffer, or
    /// belongs to the open chunked response, for whose end other commands wait.
    pub(crate) is_urgent: bool,
}

type Apply = dyn FnMut(&mut Server<'_>, &ServerShared) -> Delivery + Send;

/// Result of applying a command.
#[derive(PartialEq)]
pub(crate) enum Delivery {
    Done,
    /// The transmit buffer is full, or the server has other work first. The command must be applied again later.
    Blocked,
    /// The open chunked response accepts no more data now. The event loop may apply other commands.
    Paused {
        /// Whether the response has accepted a part of the data.
        has_written: bool,
    },
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
        ServerCommand {
            apply: Box::new(apply),
            responds_to: None,
            record: None,
            session_of: None,
            is_urgent: false,
        }
    }

    pub(crate) fn apply(&mut self, server: &mut Server<'_>, shared: &ServerShared) -> Delivery {
        if self.record.is_some() {
            // Discard the status of an earlier response, which would otherwise count for this request.
            let _ = server.take_response_status();
        }
        (self.apply)(server, shared)
    }

    /// Ends the record after the command. If the server sent no response, the outcome is
    /// [`RequestOutcome::Cancelled`].
    pub(crate) fn finish_record(&mut self, server: &mut Server<'_>) {
        if let Some(record) = self.record.take() {
            let status = server.take_response_status().map(RequestOutcome::from);
            record.finish(status.unwrap_or(RequestOutcome::Cancelled));
        }
    }

    /// Creates the command that responds to a deferred request.
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
                reply.error(code::INTERNAL_ERROR, PANICKED);
            }
            Delivery::Done
        });
        ServerCommand { responds_to: Some(ticket), ..command }
    }

    /// Creates the command that opens a chunked response.
    pub(crate) fn open_chunks(ticket: Ticket, open: OpenFn, outcome: Outcome) -> ServerCommand {
        let mut open = Some(open);
        ServerCommand::new(move |server, _| {
            let opened = match server.reply(ticket) {
                Err(SendError::Busy) => return Delivery::Blocked,
                Err(error) => Err(error),
                // The closure is application code: a panic must fail this request only.
                Ok(reply) => catch_unwind(AssertUnwindSafe(|| open.take().map(|open| open(reply))))
                    .unwrap_or_default()
                    .unwrap_or(Err(SendError::Invalid)),
            };
            // Check that the closure has opened the response.
            outcome.resolve(opened.and_then(|_| server.chunks(ticket).map(drop)));
            Delivery::Done
        })
    }

    /// Creates the command that writes a part of a chunked response.
    pub(crate) fn write_chunk(ticket: Ticket, chunk: Chunk, outcome: Outcome) -> ServerCommand {
        let mut at = 0;
        let command = ServerCommand::new(move |server, _| {
            match chunk.write(server, ticket, at) {
                Ok((end, false)) => {
                    return Delivery::Paused { has_written: mem::replace(&mut at, end) < end };
                }
                written => outcome.resolve(written.map(|_| ())),
            }
            Delivery::Done
        });
        ServerCommand { is_urgent: true, ..command }
    }

    /// Creates the command that ends a chunked response. `failure` is the reason if the response ends as a failure. If
    /// the response is not open, the command responds with an error.
    pub(crate) fn end_chunks(ticket: Ticket, failure: Option<String>) -> ServerCommand {
        let command = ServerCommand::new(move |server, _| {
            match (server.chunks(ticket), &failure) {
                (Ok(chunks), Some(reason)) => chunks.fail(reason.as_str()),
                (Ok(chunks), None) => chunks.end(),
                (Err(_), _) => {
                    let refused =
                        server.reply(ticket).map(|reply| reply.error(code::INTERNAL_ERROR, NO_RESPONSE));
                    return Delivery::from_send_result(refused);
                }
            }
            Delivery::Done
        });
        ServerCommand { responds_to: Some(ticket), is_urgent: true, ..command }
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

    /// Creates the command that sends a log message. The message belongs to the request of `ticket`, or to no request
    /// if `ticket` is `None`. Returns `None` if the data does not serialize.
    pub(crate) fn log<T: Serialize + ?Sized>(
        ticket: Option<Ticket>,
        level: Level,
        logger: Option<&str>,
        data: &T,
    ) -> Option<ServerCommand> {
        let (logger, data) = (logger.map(str::to_owned), json::to_string(data).ok()?);
        let command = ServerCommand::new(move |server, _| {
            let (logger, write) = (logger.as_deref(), |out: &mut Writer<'_>| out.json(view(&data)));
            Delivery::from_send_result(match ticket {
                Some(ticket) => {
                    server.reply(ticket).map(|mut reply| _ = reply.log_with(level, logger, write))
                }
                None => server.log_with(level, logger, write),
            })
        });
        Some(ServerCommand { session_of: ticket, ..command })
    }

    /// Creates the command that sends a notification of an extension. The notification belongs to the request of
    /// `ticket`, or to the session if `ticket` is `None`. Returns `None` if `params` serializes neither to an object
    /// nor to `null`.
    pub(crate) fn notify<T: Serialize + ?Sized>(
        ticket: Option<Ticket>,
        method: &str,
        params: &T,
    ) -> Option<ServerCommand> {
        let is_valid = |params: &String| matches!(view(params).kind(), Kind::Object | Kind::Null);
        let params = json::to_string(params).ok().filter(is_valid)?;
        let method = method.to_owned();
        Some(ServerCommand::new(move |server, _| {
            let write_params = |out: &mut Writer<'_>| write_members(view(&params), out);
            Delivery::from_send_result(match ticket {
                Some(ticket) => server.notify_subscription(ticket, &method, write_params),
                None => server.notify(&method, write_params),
            })
        }))
    }

    /// Creates the command that sends the client a request.
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

    /// Creates the command that releases the HTTP connection of a request.
    pub(crate) fn release_connection(ticket: Ticket) -> ServerCommand {
        ServerCommand::new(move |_, shared| {
            shared.add_released(ticket);
            Delivery::Done
        })
    }

    /// Creates the command that cancels a request to the client, if the request has no response yet.
    pub(crate) fn cancel(ticket: Ticket) -> ServerCommand {
        ServerCommand::new(move |server, _| {
            let _ = server.cancel(ticket, "");
            Delivery::Done
        })
    }

    pub(crate) fn is_watched(uri: String, promise: Promise<bool, RequestError>) -> ServerCommand {
        let command = ServerCommand::new(move |server, _| {
            promise.resolve(Ok(server.is_watched(&uri)));
            Delivery::Done
        });
        ServerCommand { is_urgent: true, ..command }
    }

    /// Creates the command that updates or ends a task that has not ended.
    pub(crate) fn task(
        ticket: TaskTicket,
        mut update: impl FnMut(mcp_proto::server::Task<'_>) -> Result<(), SendError> + Send + 'static,
    ) -> ServerCommand {
        let mut has_panicked = false;
        ServerCommand::new(move |server, _| {
            if !has_panicked {
                // The closure is application code: a panic must fail this task only.
                let run = || server.task(ticket).and_then(&mut update);
                match catch_unwind(AssertUnwindSafe(run)) {
                    Ok(updated) => return Delivery::from_send_result(updated),
                    Err(_) => has_panicked = true,
                }
            }
            Delivery::from_send_result(
                server.task(ticket).and_then(|task| task.fail(code::INTERNAL_ERROR, PANICKED)),
            )
        })
    }

    pub(crate) fn end_subscription(ticket: Ticket) -> ServerCommand {
        ServerCommand::new(move |server, _| {
            let _ = server.end_subscription(ticket);
            Delivery::Done
        })
    }

    /// Creates the command that notifies the client of a completed elicitation in URL mode. If the request of `ticket`
    /// has ended, the command sends nothing, because the server may then serve another session.
    pub(crate) fn elicitation_complete(ticket: Option<Ticket>, id: String) -> ServerCommand {
        let command = ServerCommand::new(move |server, _| {
            let is_in_flight = ticket.map_or(Ok(()), |ticket| server.reply(ticket).map(drop));
            Delivery::from_send_result(is_in_flight.and_then(|()| server.elicitation_complete(&id)))
        });
        ServerCommand { session_of: ticket, ..command }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::sync::Arc;

    use mcp_proto::server::{Event, ServerConfig, Tool, Tools};
    use mcp_proto::{Action, Buffer, Millis, Next};

    use super::*;

    static TOOLS: Tools = Tools::new(&[Tool::new("open", "{}")]);
    static CONFIG: ServerConfig = ServerConfig::new("test", "1").features(&[&TOOLS]);
    const INPUT: &[u8] = br#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{"url":{}}},"clientInfo":{"name":"c","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"open"}}
"#;

    /// Moves all input and output, and defers a call. Returns the output, and the ticket of the call.
    fn run(server: &mut Server<'_>, mut input: &[u8]) -> (String, Option<Ticket>) {
        let (mut output, mut ticket) = (Vec::new(), None);
        loop {
            match server.poll(Millis(0)) {
                Action::Io(io) => match io.next() {
                    Next::Write(out) => {
                        let length = out.bytes().len();
                        output.extend_from_slice(out.bytes());
                        out.sent(length);
                    }
                    Next::Read(mut receive) if !input.is_empty() => {
                        let length = input.read(receive.space()).unwrap();
                        receive.filled(length);
                    }
                    _ => return (String::from_utf8(output).unwrap(), ticket),
                },
                Action::Event => {
                    if let Some(Event::Call(call)) = server.event() {
                        ticket = call.defer(None).ok();
                    }
                }
                Action::Closed => panic!("closed"),
            }
        }
    }

    #[test]
    fn elicitation_is_not_completed_after_its_request() {
        let shared = ServerShared::new(Arc::new(|| {}), || Millis(0), 1, None, Vec::new());
        let server = Server::new(&CONFIG, Buffer::grown(4096), Buffer::grown(4096)).unwrap();
        let mut server = server.in_flight_grown(1).unwrap();
        let ticket = run(&mut server, INPUT).1.unwrap();
        let is_completed = |server: &mut Server<'_>| {
            let mut command = ServerCommand::elicitation_complete(Some(ticket), "e1".into());
            assert!(command.apply(server, &shared) == Delivery::Done);
            run(server, b"").0.contains("notifications/elicitation/complete")
        };
        assert!(is_completed(&mut server));
        server.reply(ticket).unwrap().error(code::INTERNAL_ERROR, "failed");
        assert!(run(&mut server, b"").0.contains(r#""id":1,"error""#));
        assert!(!is_completed(&mut server));
    }

    #[test]
    fn elicitation_is_completed_after_a_full_buffer() {
        let shared = ServerShared::new(Arc::new(|| {}), || Millis(0), 1, None, Vec::new());
        let server = Server::new(&CONFIG, Buffer::grown(4096), vec![0; 4096].leak()).unwrap();
        let mut server = server.in_flight_grown(2).unwrap();
        let ticket = run(&mut server, INPUT).1.unwrap();
        server.ping(mcp_proto::server::RequestOptions::DEFAULT).unwrap();
        let mut command = ServerCommand::elicitation_complete(Some(ticket), "e1".into());
        assert!(command.apply(&mut server, &shared) == Delivery::Blocked);
        run(&mut server, b"");
        assert!(command.apply(&mut server, &shared) == Delivery::Done);
        assert!(run(&mut server, b"").0.contains("notifications/elicitation/complete"));
    }
}
