//! Asking the client while a request is dealt with, in the handshake era: what is asked, and what comes back.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mcp_proto::input::{ElicitResult, Input, Roots, Sampled};
use mcp_proto::json::Json;
use mcp_proto::server::{RequestOptions, Response};
use mcp_proto::{
    ClientCapabilities, Era, Millis, Outcome, RequestFailure, Revision, SendError, Server, Ticket,
};

use crate::error::PeerError;
use crate::options::millis;
use crate::owned::view;
use crate::signal::Signal;
use crate::tickets::Tickets;

/// What a client has answered: see [`Responder::request`](crate::Responder::request). All of it is the client's word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientResponse {
    json: String,
}

impl ClientResponse {
    /// The whole result.
    #[must_use]
    pub fn json(&self) -> Json<'_> {
        view(&self.json)
    }

    /// How the user has answered a form or a page. `None`: it is no such answer.
    #[must_use]
    pub fn elicited(&self) -> Option<ElicitResult<'_>> {
        ElicitResult::from_json(self.json())
    }

    /// What the model has said. `None`: it is no such answer.
    #[must_use]
    pub fn sampled(&self) -> Option<Sampled<'_>> {
        Sampled::from_json(self.json())
    }

    /// The client's roots. `None`: it is no such answer.
    #[must_use]
    pub fn roots(&self) -> Option<Roots<'_>> {
        Roots::from_json(self.json())
    }
}

/// Why a client has not answered what it was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestError {
    /// The client did not declare it, or the revision does not have it. In `2026-07-28` servers do not ask: a request
    /// is answered with what it [needs](mcp_proto::server::Call::require_input).
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

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RequestError::Unsupported => f.write_str("the client does not support this"),
            RequestError::Client(error) => error.fmt(f),
            RequestError::TimedOut => f.write_str("the client did not answer in time"),
            RequestError::Cancelled => f.write_str("cancelled"),
            RequestError::Closed => f.write_str("there is no connection"),
            RequestError::Busy => f.write_str("too many requests at once"),
            RequestError::Invalid(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for RequestError {}

/// Where an answer comes to whoever has asked.
#[derive(Debug, Default)]
pub(crate) struct Told {
    state: Signal<Telling>,
}

#[derive(Debug, Default)]
enum Telling {
    #[default]
    NotYet,
    Said(Result<ClientResponse, RequestError>),
    /// It was heard, or nobody wants to hear it.
    Over,
}

impl Told {
    fn tell(&self, answer: Result<ClientResponse, RequestError>) {
        self.state.change(|state| {
            if let Telling::NotYet = state {
                *state = Telling::Said(answer);
            }
        });
    }

    pub(crate) async fn answer(&self) -> Result<ClientResponse, RequestError> {
        let said = |state: &mut Telling| match std::mem::replace(state, Telling::Over) {
            Telling::Said(answer) => Some(answer),
            Telling::Over => Some(Err(RequestError::Closed)),
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
        self.0.tell(Err(RequestError::Closed));
    }
}

/// Something that waits to be asked.
pub(crate) struct OutboundRequest {
    method: &'static str,
    params: String,
    timeout: Option<Millis>,
    during: Option<Ticket>,
    teller: Teller,
}

impl OutboundRequest {
    /// What is asked of a client with these capabilities, and where its answer comes.
    pub(crate) fn new(
        input: &dyn Input,
        (revision, client): (Revision, ClientCapabilities),
        timeout: Option<Duration>,
        during: Option<Ticket>,
    ) -> Result<(OutboundRequest, Arc<Told>), RequestError> {
        if revision.era() == Era::Stateless || !input.fits(revision, client) {
            return Err(RequestError::Unsupported);
        }
        let params = input.params(revision, client).ok_or(RequestError::Invalid(UNWRITABLE))?;
        let told = Arc::default();
        let teller = Teller(Arc::clone(&told));
        Ok((
            OutboundRequest { method: input.method(), params, timeout: timeout.map(millis), during, teller },
            told,
        ))
    }

    /// Asks, if anybody still wants to know. It comes back if there is no room yet.
    pub(crate) fn send(
        self,
        server: &mut Server<'_>,
    ) -> Result<Option<(Ticket, PendingResponse)>, OutboundRequest> {
        let OutboundRequest { method, params, timeout, during, teller } = &self;
        if teller.0.is_over() {
            return Ok(None);
        }
        let mut ask = RequestOptions::DEFAULT;
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
            Ok(ticket) => {
                return Ok(Some((ticket, PendingResponse { during: self.during, teller: self.teller })));
            }
            Err(SendError::Busy) => return Err(self),
            Err(SendError::Full) => RequestError::Busy,
            Err(SendError::Gone) => RequestError::Cancelled,
            Err(SendError::NotConnected) => RequestError::Closed,
            Err(_) => RequestError::Invalid(UNWRITABLE),
        };
        teller.0.tell(Err(why));
        Ok(None)
    }
}

const UNWRITABLE: &str = "the question is not valid, or longer than an answer may be";

/// Something that was asked.
pub(crate) struct PendingResponse {
    pub(crate) during: Option<Ticket>,
    teller: Teller,
}

impl PendingResponse {
    /// Nobody wants to know any more.
    pub(crate) fn is_unheard(&self) -> bool {
        self.teller.0.is_over()
    }

    /// The request that it was asked for is over.
    pub(crate) fn cancel(self) {
        self.teller.0.tell(Err(RequestError::Cancelled));
    }

    /// Passes on how it ended.
    pub(crate) fn end(self, answered: &Response<'_>) {
        self.teller.0.tell(match answered.outcome() {
            Outcome::Result(result) => Ok(ClientResponse { json: result.to_string() }),
            Outcome::Error(error) => Err(RequestError::Client(PeerError::from_rpc(error))),
            Outcome::Failed(RequestFailure::TimedOut) => Err(RequestError::TimedOut),
            Outcome::Failed(RequestFailure::TooLong) => {
                Err(RequestError::Invalid("the client's answer is too long"))
            }
            Outcome::Failed(RequestFailure::Invalid) => {
                Err(RequestError::Invalid("the client's answer is not valid"))
            }
            _ => Err(RequestError::Closed),
        });
    }
}

/// Takes out what was asked that nobody waits for any more.
pub(crate) fn withdraw(
    asked: &mut Tickets<PendingResponse>,
    gone: impl Fn(&PendingResponse) -> bool,
) -> Vec<(Ticket, PendingResponse)> {
    asked.take_all(gone)
}
