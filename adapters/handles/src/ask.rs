//! Asking the client while a request is dealt with, in the handshake era: what is asked, and what comes back.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mcp_proto::input::{ElicitAnswer, Input, Roots, Sampled};
use mcp_proto::json::Json;
use mcp_proto::server::{Answered, Ask};
use mcp_proto::{ClientCapabilities, Era, Lost, Millis, NotNow, Outcome, Revision, Server, Ticket};

use crate::error::PeerError;
use crate::options::millis;
use crate::owned::view;
use crate::tickets::Tickets;
use crate::watched::Watched;

/// What a client has answered: see [`Responder::ask`](crate::Responder::ask). All of it is the client's word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientAnswer {
    json: String,
}

impl ClientAnswer {
    /// The whole result.
    #[must_use]
    pub fn json(&self) -> Json<'_> {
        view(&self.json)
    }

    /// How the user has answered a form or a page. `None`: it is no such answer.
    #[must_use]
    pub fn elicited(&self) -> Option<ElicitAnswer<'_>> {
        ElicitAnswer::of(self.json())
    }

    /// What the model has said. `None`: it is no such answer.
    #[must_use]
    pub fn sampled(&self) -> Option<Sampled<'_>> {
        Sampled::of(self.json())
    }

    /// The client's roots. `None`: it is no such answer.
    #[must_use]
    pub fn roots(&self) -> Option<Roots<'_>> {
        Roots::of(self.json())
    }
}

/// Why a client has not answered what it was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum AskError {
    /// The client did not declare it, or the revision does not have it. In `2026-07-28` servers do not ask: a request
    /// is answered with what it [needs](mcp_proto::server::Call::needs_input).
    Unsupported,
    /// The client has answered with an error.
    Client(PeerError),
    /// It took too long. The client was told that it is cancelled.
    TimedOut,
    /// The request that it was asked for is cancelled, or took too long itself.
    Cancelled,
    /// There is no session, or the connection is over.
    Closed,
    /// As many requests are in flight as there may be.
    Busy,
    /// It cannot be sent as it is, or the answer cannot be used. With what is wrong.
    Invalid(&'static str),
}

impl fmt::Display for AskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AskError::Unsupported => f.write_str("the client does not support this"),
            AskError::Client(error) => error.fmt(f),
            AskError::TimedOut => f.write_str("the client did not answer in time"),
            AskError::Cancelled => f.write_str("cancelled"),
            AskError::Closed => f.write_str("there is no connection"),
            AskError::Busy => f.write_str("too many requests at once"),
            AskError::Invalid(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for AskError {}

/// Where an answer comes to whoever has asked.
#[derive(Debug, Default)]
pub(crate) struct Told {
    state: Watched<Telling>,
}

#[derive(Debug, Default)]
enum Telling {
    #[default]
    NotYet,
    Said(Result<ClientAnswer, AskError>),
    /// It was heard, or nobody wants to hear it.
    Over,
}

impl Told {
    fn tell(&self, answer: Result<ClientAnswer, AskError>) {
        self.state.change(|state| {
            if let Telling::NotYet = state {
                *state = Telling::Said(answer);
            }
        });
    }

    pub(crate) async fn answer(&self) -> Result<ClientAnswer, AskError> {
        let said = |state: &mut Telling| match std::mem::replace(state, Telling::Over) {
            Telling::Said(answer) => Some(answer),
            Telling::Over => Some(Err(AskError::Closed)),
            Telling::NotYet => {
                *state = Telling::NotYet;
                None
            }
        };
        self.state.until(said).await
    }

    pub(crate) fn is_over(&self) -> bool {
        self.state.look(|state| matches!(state, Telling::Over))
    }

    /// Nobody wants to hear the answer any more.
    pub(crate) fn give_up(&self) {
        self.state.look(|state| *state = Telling::Over);
    }
}

/// The duty to say how a question has ended. If it is dropped, the connection is over.
struct Teller(Arc<Told>);

impl Drop for Teller {
    fn drop(&mut self) {
        self.0.tell(Err(AskError::Closed));
    }
}

/// Something that waits to be asked.
pub(crate) struct Question {
    method: &'static str,
    params: String,
    timeout: Option<Millis>,
    during: Option<Ticket>,
    teller: Teller,
}

impl Question {
    /// What is asked of a client with these capabilities, and where its answer comes.
    pub(crate) fn new(
        input: &dyn Input,
        (revision, client): (Revision, ClientCapabilities),
        timeout: Option<Duration>,
        during: Option<Ticket>,
    ) -> Result<(Question, Arc<Told>), AskError> {
        if revision.era() == Era::Stateless || !input.fits(revision, client) {
            return Err(AskError::Unsupported);
        }
        let params = input.params(revision, client).ok_or(AskError::Invalid(UNWRITABLE))?;
        let told = Arc::default();
        let teller = Teller(Arc::clone(&told));
        Ok((Question { method: input.method(), params, timeout: timeout.map(millis), during, teller }, told))
    }

    /// Asks, if anybody still wants to know. It comes back if there is no room yet.
    pub(crate) fn send(self, server: &mut Server<'_>) -> Result<Option<(Ticket, Asked)>, Question> {
        let Question { method, params, timeout, during, teller } = &self;
        if teller.0.is_over() {
            return Ok(None);
        }
        let mut ask = Ask::DEFAULT;
        if let Some(timeout) = *timeout {
            ask = ask.timeout(timeout);
        }
        if let Some(during) = *during {
            ask = ask.during(during);
        }
        let sent = server.ask_raw(method, ask, |out| {
            for (key, value) in view(params).members() {
                out.field_json(key.raw(), value);
            }
        });
        let why = match sent {
            Ok(ticket) => return Ok(Some((ticket, Asked { during: self.during, teller: self.teller }))),
            Err(NotNow::Busy) => return Err(self),
            Err(NotNow::Full) => AskError::Busy,
            Err(NotNow::Gone) => AskError::Cancelled,
            Err(NotNow::NotConnected) => AskError::Closed,
            Err(_) => AskError::Invalid(UNWRITABLE),
        };
        teller.0.tell(Err(why));
        Ok(None)
    }
}

const UNWRITABLE: &str = "the question is not valid, or longer than an answer may be";

/// Something that was asked.
pub(crate) struct Asked {
    pub(crate) during: Option<Ticket>,
    teller: Teller,
}

impl Asked {
    /// Nobody wants to know any more.
    pub(crate) fn is_unheard(&self) -> bool {
        self.teller.0.is_over()
    }

    /// The request that it was asked for is over.
    pub(crate) fn cancel(self) {
        self.teller.0.tell(Err(AskError::Cancelled));
    }

    /// Passes on how it ended.
    pub(crate) fn end(self, answered: &Answered<'_>) {
        self.teller.0.tell(match answered.outcome() {
            Outcome::Result(result) => Ok(ClientAnswer { json: result.to_string() }),
            Outcome::Error(error) => Err(AskError::Client(PeerError::of(error))),
            Outcome::Lost(Lost::TimedOut) => Err(AskError::TimedOut),
            Outcome::Lost(Lost::TooLong) => Err(AskError::Invalid("the client's answer is too long")),
            Outcome::Lost(Lost::Invalid) => Err(AskError::Invalid("the client's answer is not valid")),
            _ => Err(AskError::Closed),
        });
    }
}

/// Takes out what was asked that nobody waits for any more.
pub(crate) fn withdraw(asked: &mut Tickets<Asked>, gone: impl Fn(&Asked) -> bool) -> Vec<(Ticket, Asked)> {
    asked.take_all(gone)
}
