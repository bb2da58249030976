//! How a session answers what the server asks: with requests of its own (up to `2025-11-25`), or by asking back before it
//! answers one of the client's (`2026-07-28`).

use mcp_proto::client::{InputRequired, ServerRequest};
use mcp_proto::{Client, SendError, Ticket};

use crate::client_shared::Command;
use crate::error::CallError;
use crate::server_request::{Asking, InputResponse, Place};
use crate::session::{ASKED, Session, refusal};

/// Something that the server needs before it answers a request: the key of its answer, and that.
pub(crate) struct Needed {
    key: String,
    answer: Result<InputResponse, Option<Asking>>,
}

impl Session {
    /// The server asks. The host answers later.
    pub(crate) fn asks(&mut self, asked: ServerRequest<'_>) {
        let Some(ask) = self.ask.clone().filter(|_| self.asked.len() < ASKED) else {
            return asked.error(-32603, "The client is asked too much at once");
        };
        let input = asked.input();
        match asked.defer(None) {
            Ok(ticket) => {
                self.asked.insert(ticket, Asking::begin(&ask, &self.hub, Place::Asked(ticket), &input));
            }
            Err(asked) => asked.error(-32603, "The client is asked too much at once"),
        }
    }

    /// The server needs something before it answers a request.
    pub(crate) fn needs(&mut self, needs: &InputRequired<'_>) {
        let ticket = needs.ticket();
        // Each is a task or waits for one: a server that wants thousands gets none.
        if needs.requests().nth(ASKED).is_some() {
            self.hub.send(Command::Cancel(ticket, String::new()));
            return self
                .finish(ticket, Err(CallError::Invalid("the server asks for too much at once".into())));
        }
        let Some(waiting) = self.waiting.get_mut(&ticket) else { return };
        let (ask, hub) = (self.ask.as_ref(), &self.hub);
        let begin = |(at, (key, input))| Needed {
            key: ToString::to_string(&key),
            answer: Err(ask.map(|ask| Asking::begin(ask, hub, Place::Round(ticket, at), &input))),
        };
        waiting.round = needs.requests().enumerate().map(begin).collect();
        if waiting.round.is_empty() {
            self.again.push(ticket);
        }
    }

    /// The host has answered.
    pub(crate) fn answered(&mut self, client: &mut Client<'_>, place: Place, answer: InputResponse) {
        match place {
            Place::Asked(ticket) if self.asked.remove(&ticket).is_some() => {
                self.answers.push_back((ticket, answer));
            }
            // It was taken back meanwhile.
            Place::Asked(_) => {}
            Place::Round(ticket, at) => self.answered_round(client, ticket, at, answer),
        }
    }

    fn answered_round(&mut self, client: &mut Client<'_>, ticket: Ticket, at: usize, answer: InputResponse) {
        let Some(waiting) = self.waiting.get_mut(&ticket) else { return };
        if let Some(why) = answer.refusal() {
            let declined = CallError::Declined(why.into());
            let _ = client.cancel(ticket, why);
            return self.finish(ticket, Err(declined));
        }
        if let Some(needed) = waiting.round.get_mut(at) {
            needed.answer = Ok(answer);
        }
        if waiting.round.iter().all(|needed| needed.answer.is_ok()) {
            self.again.push(ticket);
        }
    }

    /// Sends the host's answers. `true`: there is no room for the rest.
    pub(crate) fn send_answers(&mut self, client: &mut Client<'_>) -> bool {
        while let Some((ticket, answer)) = self.answers.pop_front() {
            match client.reply(ticket) {
                Ok(reply) => answer.give(reply),
                Err(SendError::Busy) => {
                    self.answers.push_front((ticket, answer));
                    return true;
                }
                // It was taken back meanwhile.
                Err(_) => {}
            }
        }
        false
    }

    /// Sends requests again, with what the server needs. `true`: there is no room for the rest.
    pub(crate) fn send_again(&mut self, client: &mut Client<'_>) -> bool {
        while let Some(ticket) = self.again.pop() {
            let Some(waiting) = self.waiting.get(&ticket) else { continue };
            let sent = client.resume(
                ticket,
                |out| waiting.pending.request.write(out),
                |answers| {
                    for needed in &waiting.round {
                        if let Ok(answer) = &needed.answer {
                            answer.write(&needed.key, answers);
                        }
                    }
                },
            );
            match sent {
                Ok(()) | Err(SendError::Gone) => {}
                Err(SendError::Busy) => {
                    self.again.push(ticket);
                    return true;
                }
                Err(why) => {
                    let _ = client.cancel(ticket, "");
                    self.finish(ticket, Err(refusal(why)));
                }
            }
        }
        false
    }
}
