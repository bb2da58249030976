//! What those who deal with requests send to whoever owns the server's machine.

use std::panic::{AssertUnwindSafe, catch_unwind};

use mcp_proto::server::Reply;
use mcp_proto::{Decimal, Level, NotNow, Server, Ticket};

use crate::ask::{Asked, Question};
use crate::told::Look;

pub(crate) type Answer = Box<dyn FnOnce(Reply<'_>) + Send>;

pub(crate) enum Mail {
    Answer(Ticket, Answer),
    Progress { ticket: Ticket, progress: Decimal, total: Option<Decimal>, message: String },
    LogOf { ticket: Ticket, level: Level, text: String },
    Log { level: Level, text: String },
    Ask(Question),
    Withdraw(Ticket),
    Look(Look),
    EndSubscription(Ticket),
    Complete(String),
}

/// What became of mail.
pub(crate) enum Delivered {
    Done,
    /// The client was asked something.
    Asked(Ticket, Asked),
    /// There is no room yet; the machine says when there is.
    NotYet(Mail),
}

impl Mail {
    /// Hands it to the machine. What nobody wants is dropped.
    pub(crate) fn deliver(self, server: &mut Server<'_>) -> Delivered {
        match self {
            Mail::Answer(ticket, answer) => match server.reply(ticket) {
                // What it runs is the host's. A panic there costs this request, and nobody else anything.
                Ok(reply) => {
                    if catch_unwind(AssertUnwindSafe(|| answer(reply))).is_err()
                        && let Ok(reply) = server.reply(ticket)
                    {
                        reply.error(-32603, "Internal error: the worker ended without an answer");
                    }
                }
                Err(NotNow::Busy) => return Delivered::NotYet(Mail::Answer(ticket, answer)),
                Err(_) => {}
            },
            Mail::Progress { ticket, progress, total, message } => match server.reply(ticket) {
                Ok(mut reply) => drop(reply.progress(progress, total, &message)),
                Err(NotNow::Busy) => {
                    return Delivered::NotYet(Mail::Progress { ticket, progress, total, message });
                }
                Err(_) => {}
            },
            Mail::LogOf { ticket, level, text } => match server.reply(ticket) {
                Ok(mut reply) => drop(reply.log(level, None, text)),
                Err(NotNow::Busy) => return Delivered::NotYet(Mail::LogOf { ticket, level, text }),
                Err(_) => {}
            },
            Mail::Log { level, text } => {
                if server.log(level, None, &text) == Err(NotNow::Busy) {
                    return Delivered::NotYet(Mail::Log { level, text });
                }
            }
            Mail::Ask(question) => match question.send(server) {
                Ok(Some((ticket, asked))) => return Delivered::Asked(ticket, asked),
                Ok(None) => {}
                Err(question) => return Delivered::NotYet(Mail::Ask(question)),
            },
            // If it has been answered meanwhile, nothing is left to withdraw.
            Mail::Withdraw(ticket) => drop(server.cancel(ticket, "")),
            Mail::Look(look) => look.answer(server),
            Mail::EndSubscription(ticket) => drop(server.end_subscription(ticket)),
            Mail::Complete(id) => {
                if server.elicitation_complete(&id) == Err(NotNow::Busy) {
                    return Delivered::NotYet(Mail::Complete(id));
                }
            }
        }
        Delivered::Done
    }
}
