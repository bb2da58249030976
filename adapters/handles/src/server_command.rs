//! What those who deal with requests send to whoever owns the server's machine.

use std::panic::{AssertUnwindSafe, catch_unwind};

use mcp_proto::server::Reply;
use mcp_proto::{Decimal, Level, SendError, Server, Ticket};

use crate::outbound_request::OutboundRequest;
use crate::query::Look;
use crate::server_shared::ServerShared;

pub(crate) type Answer = Box<dyn FnOnce(Reply<'_>) + Send>;

/// Something that waits to be handed to the machine. Each kind brings along how that is done, so that what a server never sends
/// is not linked.
pub(crate) struct ServerCommand {
    deliver: Box<Deliver>,
    /// The request that it answers.
    pub(crate) answers: Option<Ticket>,
    /// What needs no room to be answered does not wait for any.
    pub(crate) is_urgent: bool,
}

type Deliver = dyn FnMut(&mut Server<'_>, &ServerShared) -> Delivered + Send;

/// What became of mail.
#[derive(PartialEq)]
pub(crate) enum Delivered {
    Done,
    /// There is no room yet; the machine says when there is.
    NotYet,
}

impl Delivered {
    /// What nobody wants is done, too.
    fn from_send_result<T>(sent: Result<T, SendError>) -> Delivered {
        match sent {
            Err(SendError::Busy) => Delivered::NotYet,
            _ => Delivered::Done,
        }
    }
}

impl ServerCommand {
    fn new(
        deliver: impl FnMut(&mut Server<'_>, &ServerShared) -> Delivered + Send + 'static,
    ) -> ServerCommand {
        ServerCommand { deliver: Box::new(deliver), answers: None, is_urgent: false }
    }

    /// Hands it to the machine.
    pub(crate) fn deliver(&mut self, server: &mut Server<'_>, desk: &ServerShared) -> Delivered {
        (self.deliver)(server, desk)
    }

    pub(crate) fn answer(ticket: Ticket, answer: Answer) -> ServerCommand {
        let mut answer = Some(answer);
        let mail = ServerCommand::new(move |server, _| {
            let reply = match server.reply(ticket) {
                Ok(reply) => reply,
                gone => return Delivered::from_send_result(gone),
            };
            // What it runs is the host's. A panic there costs this request, and nobody else anything.
            let run = || {
                if let Some(answer) = answer.take() {
                    answer(reply);
                }
            };
            if catch_unwind(AssertUnwindSafe(run)).is_err()
                && let Ok(reply) = server.reply(ticket)
            {
                reply.error(-32603, "Internal error: the worker ended without an answer");
            }
            Delivered::Done
        });
        ServerCommand { answers: Some(ticket), ..mail }
    }

    pub(crate) fn progress(
        ticket: Ticket,
        progress: Decimal,
        total: Option<Decimal>,
        message: String,
    ) -> ServerCommand {
        ServerCommand::new(move |server, _| {
            Delivered::from_send_result(
                server.reply(ticket).map(|mut reply| _ = reply.progress(progress, total, &message)),
            )
        })
    }

    /// A log message that belongs to a request.
    pub(crate) fn log_of(ticket: Ticket, level: Level, text: String) -> ServerCommand {
        ServerCommand::new(move |server, _| {
            Delivered::from_send_result(
                server.reply(ticket).map(|mut reply| _ = reply.log(level, None, &text)),
            )
        })
    }

    pub(crate) fn log(level: Level, text: String) -> ServerCommand {
        ServerCommand::new(move |server, _| Delivered::from_send_result(server.log(level, None, &text)))
    }

    pub(crate) fn request(question: OutboundRequest) -> ServerCommand {
        let mut question = Some(question);
        ServerCommand::new(move |server, desk| {
            match question.take().map(|question| question.send(server)) {
                Some(Ok(Some((ticket, asked)))) => desk.asked(ticket, asked),
                Some(Err(back)) => {
                    question = Some(back);
                    return Delivered::NotYet;
                }
                _ => {}
            }
            Delivered::Done
        })
    }

    /// If it has been answered meanwhile, nothing is left to withdraw.
    pub(crate) fn withdraw(ticket: Ticket) -> ServerCommand {
        ServerCommand::new(move |server, _| {
            let _ = server.cancel(ticket, "");
            Delivered::Done
        })
    }

    pub(crate) fn look(look: Look) -> ServerCommand {
        let mut look = Some(look);
        let mail = ServerCommand::new(move |server, _| {
            if let Some(look) = look.take() {
                look.answer(server);
            }
            Delivered::Done
        });
        ServerCommand { is_urgent: true, ..mail }
    }

    pub(crate) fn end_subscription(ticket: Ticket) -> ServerCommand {
        ServerCommand::new(move |server, _| {
            let _ = server.end_subscription(ticket);
            Delivered::Done
        })
    }

    /// What the client was sent to a web page for is done.
    pub(crate) fn complete(id: String) -> ServerCommand {
        ServerCommand::new(move |server, _| Delivered::from_send_result(server.elicitation_complete(&id)))
    }
}
