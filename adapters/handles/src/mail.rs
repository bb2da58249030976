//! What those who deal with requests send to whoever owns the server's machine.

use std::panic::{AssertUnwindSafe, catch_unwind};

use mcp_proto::server::Reply;
use mcp_proto::{Decimal, Level, NotNow, Server, Ticket};

use crate::ask::Question;
use crate::desk::Desk;
use crate::told::Look;

pub(crate) type Answer = Box<dyn FnOnce(Reply<'_>) + Send>;

/// Something that waits to be handed to the machine. Each kind brings along how that is done, so that what a server never sends
/// is not linked.
pub(crate) struct Mail {
    deliver: Box<Deliver>,
    /// The request that it answers.
    pub(crate) answers: Option<Ticket>,
    /// What needs no room to be answered does not wait for any.
    pub(crate) is_urgent: bool,
}

type Deliver = dyn FnMut(&mut Server<'_>, &Desk) -> Delivered + Send;

/// What became of mail.
#[derive(PartialEq)]
pub(crate) enum Delivered {
    Done,
    /// There is no room yet; the machine says when there is.
    NotYet,
}

impl Delivered {
    /// What nobody wants is done, too.
    fn of<T>(sent: Result<T, NotNow>) -> Delivered {
        match sent {
            Err(NotNow::Busy) => Delivered::NotYet,
            _ => Delivered::Done,
        }
    }
}

impl Mail {
    fn new(deliver: impl FnMut(&mut Server<'_>, &Desk) -> Delivered + Send + 'static) -> Mail {
        Mail { deliver: Box::new(deliver), answers: None, is_urgent: false }
    }

    /// Hands it to the machine.
    pub(crate) fn deliver(&mut self, server: &mut Server<'_>, desk: &Desk) -> Delivered {
        (self.deliver)(server, desk)
    }

    pub(crate) fn answer(ticket: Ticket, answer: Answer) -> Mail {
        let mut answer = Some(answer);
        let mail = Mail::new(move |server, _| {
            let reply = match server.reply(ticket) {
                Ok(reply) => reply,
                gone => return Delivered::of(gone),
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
        Mail { answers: Some(ticket), ..mail }
    }

    pub(crate) fn progress(
        ticket: Ticket,
        progress: Decimal,
        total: Option<Decimal>,
        message: String,
    ) -> Mail {
        Mail::new(move |server, _| {
            Delivered::of(server.reply(ticket).map(|mut reply| _ = reply.progress(progress, total, &message)))
        })
    }

    /// A log message that belongs to a request.
    pub(crate) fn log_of(ticket: Ticket, level: Level, text: String) -> Mail {
        Mail::new(move |server, _| {
            Delivered::of(server.reply(ticket).map(|mut reply| _ = reply.log(level, None, &text)))
        })
    }

    pub(crate) fn log(level: Level, text: String) -> Mail {
        Mail::new(move |server, _| Delivered::of(server.log(level, None, &text)))
    }

    pub(crate) fn ask(question: Question) -> Mail {
        let mut question = Some(question);
        Mail::new(move |server, desk| {
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
    pub(crate) fn withdraw(ticket: Ticket) -> Mail {
        Mail::new(move |server, _| {
            let _ = server.cancel(ticket, "");
            Delivered::Done
        })
    }

    pub(crate) fn look(look: Look) -> Mail {
        let mut look = Some(look);
        let mail = Mail::new(move |server, _| {
            if let Some(look) = look.take() {
                look.answer(server);
            }
            Delivered::Done
        });
        Mail { is_urgent: true, ..mail }
    }

    pub(crate) fn end_subscription(ticket: Ticket) -> Mail {
        Mail::new(move |server, _| {
            let _ = server.end_subscription(ticket);
            Delivered::Done
        })
    }

    /// What the client was sent to a web page for is done.
    pub(crate) fn complete(id: String) -> Mail {
        Mail::new(move |server, _| Delivered::of(server.elicitation_complete(&id)))
    }
}
