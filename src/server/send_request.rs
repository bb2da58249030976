//! Requests that the server sends in the handshake era: roots, elicitation, sampling, ping, and methods of extensions.
//!
//! These requests share the slots of deferred requests. The first request, or the first call of
//! `Server::replace_session`, sets the `OutboundHooks`, which handle the responses. A program without such a request or
//! call does not link the hooks.
//!
//! Specification: up to 2025-11-25, *Client features*; *Utilities*, *Ping*.

use crate::error::SendError;
use crate::framing::outbound_message::{OutboundMessageKind, Routing, SessionKey};
use crate::json::{Json, WriteBody, Writer};
use crate::peer::lifecycle::State;
use crate::peer::request::{Flags, Outbound, Request};
use crate::peer::response::{Outcome, RpcError};
use crate::peer::slots::Ticket;
use crate::protocol::input::{Input, To};
use crate::protocol::meta;
use crate::protocol::methods;
use crate::protocol::revision::Era;
use crate::rpc;
use crate::server::Server;
use crate::server::in_flight_hooks::WITH_OUTBOUND;
use crate::server::pending_event::ResponseKind;
use crate::server::server_state::{NegotiatedSession, ServerState};
use crate::server::session::OutboundSession;
use crate::time::Millis;

/// Options of a request that the server sends.
///
/// ```
/// use mcp_proto::{Millis, server::RequestOptions};
/// let patient = RequestOptions::DEFAULT.timeout(Millis::seconds(600));
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct RequestOptions {
    timeout: Option<Millis>,
    during: Option<Ticket>,
    progress: bool,
}

impl RequestOptions {
    /// The default options: the timeout of the server's [limits](crate::server::Limits), no related request, no
    /// progress.
    pub const DEFAULT: RequestOptions = RequestOptions { timeout: None, during: None, progress: false };

    /// Sets the timeout, in milliseconds. Allow minutes for a form that the user fills in.
    #[must_use]
    pub const fn timeout(mut self, time: Millis) -> Self {
        self.timeout = Some(time);
        self
    }

    /// Relates the request to the client's deferred request with this ticket. The request goes to the session of the
    /// deferred request. In message mode the server sends the request on the stream of the deferred request.
    ///
    /// The request continues when the deferred request ends. After
    /// [`Event::Cancelled`](crate::server::Event::Cancelled) or [`Event::Expired`](crate::server::Event::Expired),
    /// [cancel](Server::cancel) the request, because it takes a slot, and the client may still show the question to its
    /// user.
    #[must_use]
    pub const fn during(mut self, request: Ticket) -> Self {
        self.during = Some(request);
        self
    }

    /// Requests progress: [`Event::Progress`](crate::server::Event::Progress). Progress does not extend the timeout.
    #[must_use]
    pub const fn with_progress(mut self) -> Self {
        self.progress = true;
        self
    }
}

/// The outcome of a request that the server sent. The ticket of the request is no longer valid.
#[derive(Debug, Clone, Copy)]
pub struct Response<'a> {
    ticket: Ticket,
    outcome: Outcome<'a>,
}

impl<'a> Response<'a> {
    pub(crate) fn new(ticket: Ticket, kind: ResponseKind, value: Json<'a>) -> Response<'a> {
        let outcome = match kind {
            // Some clients send `null` for a result without members.
            ResponseKind::Result if value.is_null() => Outcome::Result(Json::EMPTY_OBJECT),
            ResponseKind::Result => Outcome::Result(value),
            ResponseKind::Error => Outcome::Error(RpcError { error: value, era: Some(Era::Handshake) }),
            ResponseKind::Failed(failure) => Outcome::Failed(failure),
        };
        Response { ticket, outcome }
    }

    /// Returns the ticket of the request.
    #[must_use]
    pub fn ticket(&self) -> Ticket {
        self.ticket
    }

    /// Returns the result, error or failure of the request.
    ///
    /// Read a result with [`RootsView::from_json`](crate::input::RootsView::from_json),
    /// [`ElicitResultView::from_json`](crate::input::ElicitResultView::from_json) or
    /// [`SampledView::from_json`](crate::input::SampledView::from_json).
    #[must_use]
    pub fn outcome(&self) -> Outcome<'a> {
        self.outcome
    }
}

/// The session that gets a request, with its revision and capabilities.
struct Recipient {
    session: SessionKey,
    routing: Routing,
    to: To,
}

impl Server<'_> {
    /// Sends a request to a client of the handshake era.
    ///
    /// The request ends with exactly one [`Event::Response`](crate::server::Event::Response), unless
    /// [`cancel`](Server::cancel) or [`reset`](Server::reset) ends it without an event. If the session ends or
    /// restarts, the outcome is [`RequestFailure::Closed`](crate::RequestFailure::Closed).
    ///
    /// To send a request with a method of an extension, pass an [`OtherRequest`](crate::input::OtherRequest).
    ///
    /// If a call of the client needs the response, [defer](crate::server::Call::defer) the call. In `2026-07-28`
    /// servers send no requests: see [`Call::require_input`](crate::server::Call::require_input).
    ///
    /// ```no_run
    /// use mcp_proto::input::{ElicitResultView, Field, Form};
    /// use mcp_proto::server::{RequestOptions, Event};
    /// use mcp_proto::{SendError, Outcome, Server, Ticket};
    ///
    /// static FIELDS: [Field; 1] = [Field::text("name").required()];
    /// static FORM: Form = Form::new("Who are you?", &FIELDS);
    ///
    /// fn ask_for_the_name(server: &mut Server<'_>, call: Ticket) -> Result<Ticket, SendError> {
    ///     server.request(&FORM, RequestOptions::DEFAULT.during(call))
    /// }
    ///
    /// fn on_event(event: Event<'_>) {
    ///     let Event::Response(response) = event else { return };
    ///     if let Outcome::Result(result) = response.outcome()
    ///         && let Some(name) = ElicitResultView::from_json(result).and_then(|result| result.field("name"))
    ///     {
    ///         println!("the user is {}", name.raw());
    ///     }
    /// }
    /// ```
    ///
    /// # Errors
    /// [`SendError::NotConnected`]: the connection is ending, or the handshake of the current
    /// [session](Server::replace_session) is not complete. If the related request belongs to another session, the
    /// server does not check the handshake, because the server does not have the state of that session.
    /// [`SendError::Unsupported`], in three cases: the client did not declare the capability that the input needs; the
    /// revision of the client or of the related request does not have the request; the related call has become a task
    /// [automatically](crate::server::Tasks::automatic). [`SendError::Gone`]: the related request has ended, or its
    /// response is [chunked](crate::server::Call::chunked). [`SendError::Full`]: every slot is taken.
    /// [`SendError::Busy`]: the transmit buffer has no space, or the space is reserved for other messages;
    /// [`Event::Writable`](crate::server::Event::Writable) reports new space. [`SendError::Unwritable`]: the request
    /// exceeds the size limit of a response. [`SendError::Invalid`]: the request is not valid.
    pub fn request(&mut self, input: &dyn Input, options: RequestOptions) -> Result<Ticket, SendError> {
        let recipient = self.recipient(options, self.ready_session())?;
        let to = recipient.to;
        if !input.fits(to.revision, to.client) {
            return Err(SendError::Unsupported);
        }
        self.send_request(recipient, input.method(), options, &mut |out: &mut Writer<'_>| {
            input.write(to, out)
        })
    }

    /// Pings a client of the handshake era. Allowed as soon as the server has responded to `initialize`.
    ///
    /// Any response, even an error, shows that the client is alive.
    ///
    /// # Errors
    /// The errors of [`request`](Server::request), with two differences. The handshake need not be complete:
    /// [`SendError::NotConnected`] means that the server has not responded to `initialize`, or that the connection is
    /// ending. [`SendError::Unsupported`] means that the related request belongs to the stateless era, or has become a
    /// task.
    pub fn ping(&mut self, options: RequestOptions) -> Result<Ticket, SendError> {
        let connected = matches!(self.state(), State::Negotiated | State::Serving | State::Ready);
        let current = self.state.peer.session.filter(|_| connected).ok_or(SendError::NotConnected);
        let recipient = self.recipient(options, current)?;
        self.send_request(recipient, methods::PING.name, options, &mut |_: &mut Writer<'_>| true)
    }

    /// Cancels a request that the server sent. The ticket becomes invalid. The server sends `notifications/cancelled`
    /// as soon as there is transmit space, unless the response arrives first.
    ///
    /// # Errors
    /// [`SendError::Gone`]: the request has ended, or the ticket belongs to a request of the client.
    pub fn cancel(&mut self, ticket: Ticket, reason: &str) -> Result<(), SendError> {
        let outbound = self.state.peer.in_flight.outbound(ticket);
        outbound.filter(|outbound| outbound.state.awaits_response()).ok_or(SendError::Gone)?;
        self.state.peer.queue_cancellation(ticket, reason);
        // A pending response may have reserved the transmit space. A later poll then writes the cancellation.
        if !self.state.has_pending_response() {
            self.state.write_queued();
        }
        Ok(())
    }

    /// Returns the session, or [`SendError::NotConnected`] if the handshake is not complete or the connection is
    /// ending.
    pub(super) fn ready_session(&self) -> Result<NegotiatedSession, SendError> {
        self.state.peer.session.filter(|_| self.state() == State::Ready).ok_or(SendError::NotConnected)
    }

    /// Returns the recipient of a request: the session of the related request, or the current session. `current` is the
    /// state of the current session, or the error if this session cannot get the request.
    ///
    /// The server does not have the state of other sessions. The related request shows that its session is open.
    fn recipient(
        &mut self,
        options: RequestOptions,
        current: Result<NegotiatedSession, SendError>,
    ) -> Result<Recipient, SendError> {
        const KIND: OutboundMessageKind = OutboundMessageKind::Request;
        let (mut session, mut routing) = (self.state.session_key, self.state.session_routing(KIND));
        if let Some(during) = options.during {
            let Some(inbound) = self.state.peer.in_flight.deferred(during) else {
                // For a ticket without a deferred request, `reply` succeeds only if a call with this ticket has become
                // a task. Refuse the request in this case, because it would need the metadata of the task.
                return Err(self.reply(during).err().unwrap_or(SendError::Unsupported));
            };
            // In the stateless era servers send no requests.
            if inbound.context.revision().era() == Era::Stateless {
                return Err(SendError::Unsupported);
            }
            routing = Routing::on_stream(KIND, inbound.stream);
            if inbound.owner() != session.stream() {
                if matches!(self.state(), State::Draining | State::Closed) {
                    return Err(SendError::NotConnected);
                }
                session = inbound.owner().session();
                let to = To { revision: inbound.context.revision(), client: inbound.context.capabilities };
                return Ok(Recipient { session, routing, to });
            }
        }
        let NegotiatedSession { revision, capabilities, .. } = current?;
        Ok(Recipient { session, routing, to: To { revision, client: capabilities } })
    }

    fn send_request(
        &mut self,
        recipient: Recipient,
        method: &str,
        options: RequestOptions,
        params: &mut dyn WriteBody,
    ) -> Result<Ticket, SendError> {
        let Recipient { session, routing, .. } = recipient;
        self.state.ensure_message_space()?;
        let timeout = options.timeout.unwrap_or(self.state.config.limits.request_timeout);
        let flags = if options.progress { Flags::PROGRESS } else { Flags::NONE };
        let outbound = Outbound::new(timeout, flags, OutboundSession::new(session));
        self.state.write_request(routing, outbound, method, &mut |id, out| {
            let valid = params.write(out);
            if options.progress {
                meta::write_progress_token(id, out);
            }
            valid
        })
    }
}

impl ServerState<'_> {
    /// Writes a request. The caller must have reserved the space. `params` gets the id, writes the parameters, and
    /// returns whether the parameters are valid.
    pub(crate) fn write_request(
        &mut self,
        routing: Routing,
        outbound: Outbound<OutboundSession>,
        method: &str,
        params: &mut dyn FnMut(u64, &mut Writer<'_>) -> bool,
    ) -> Result<Ticket, SendError> {
        // The timeout does not run yet. With the deadline 0, the next poll handles this request and starts its timeout.
        let request = Request::Outbound(outbound);
        let ticket = self.peer.in_flight.take(request, Some(Millis::ZERO)).ok_or(SendError::Full)?;
        let id = self.peer.id_of(ticket);
        let written = self.peer.output.write_message(routing, &mut |out: &mut Writer<'_>| {
            out.token(r#"{"jsonrpc":"2.0","id":"#);
            out.unsigned(id);
            let valid = rpc::write_request(out, method, &mut |out: &mut Writer<'_>| params(id, out));
            out.token("}");
            valid
        });
        if let Err(error) = written {
            self.peer.in_flight.release(ticket);
            return Err(error);
        }
        self.in_flight_hooks = Some(&WITH_OUTBOUND);
        Ok(ticket)
    }
}
