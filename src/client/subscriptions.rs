//! Subscriptions of the stateless era: one request that stays open, and what the server says under its id.
//!
//! Specification: 2026-07-28, *Subscriptions*.

use crate::error::{ProtocolError, SendError};
use crate::json::{Json, Kind, Span, Str, Writer};
use crate::peer::response::RequestFailure;
use crate::peer::slots::Ticket;
use crate::protocol::meta;
use crate::protocol::methods;
use crate::protocol::revision::Era;
use crate::rpc;
use crate::time::Millis;

use crate::client::Client;
use crate::client::client_state::ClientState;
use crate::client::event::Listed;
use crate::client::method::Method;
use crate::client::options::Options;
use crate::client::outbound_request::{OutboundRequest, Stage};
use crate::client::pending_event::{OutcomePlan, PendingEvent};

/// What a client wants to hear of.
///
/// ```
/// use mcp_proto::client::Filter;
/// let filter = Filter::NOTHING.tools().resources().uris(&["file:///project/config.json"]);
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Filter<'f> {
    tools: bool,
    prompts: bool,
    resources: bool,
    uris: &'f [&'f str],
}

impl<'f> Filter<'f> {
    /// Nothing yet.
    pub const NOTHING: Filter<'static> = Filter { tools: false, prompts: false, resources: false, uris: &[] };

    /// That the list of tools has changed.
    #[must_use]
    pub const fn tools(mut self) -> Filter<'f> {
        self.tools = true;
        self
    }

    /// That the list of prompts has changed.
    #[must_use]
    pub const fn prompts(mut self) -> Filter<'f> {
        self.prompts = true;
        self
    }

    /// That the list of resources has changed.
    #[must_use]
    pub const fn resources(mut self) -> Filter<'f> {
        self.resources = true;
        self
    }

    /// That one of these resources has changed.
    #[must_use]
    pub const fn uris<'n>(self, uris: &'n [&'n str]) -> Filter<'n> {
        Filter { tools: self.tools, prompts: self.prompts, resources: self.resources, uris }
    }

    fn write(&self, out: &mut Writer<'_>) {
        out.begin_object();
        let lists = [(TOOLS, self.tools), (PROMPTS, self.prompts), (RESOURCES, self.resources)];
        for (name, _) in lists.into_iter().filter(|(_, wanted)| *wanted) {
            out.field_boolean(name, true);
        }
        if !self.uris.is_empty() {
            out.key(URIS);
            out.begin_array();
            self.uris.iter().for_each(|uri| out.string(uri));
            out.end_array();
        }
        out.end_object();
    }
}

const TOOLS: &str = "toolsListChanged";
const PROMPTS: &str = "promptsListChanged";
const RESOURCES: &str = "resourcesListChanged";
const URIS: &str = "resourceSubscriptions";

/// A server has taken up a subscription, or the part of it that it can: what it leaves out will not be told.
#[derive(Debug, Clone, Copy)]
pub struct Acknowledged<'a> {
    pub(crate) ticket: Ticket,
    pub(crate) params: Json<'a>,
}

impl<'a> Acknowledged<'a> {
    /// Which subscription.
    #[must_use]
    pub fn ticket(&self) -> Ticket {
        self.ticket
    }

    /// Whether it will tell that the list of tools has changed.
    #[must_use]
    pub fn tools(&self) -> bool {
        self.has(TOOLS)
    }

    /// Whether it will tell that the list of prompts has changed.
    #[must_use]
    pub fn prompts(&self) -> bool {
        self.has(PROMPTS)
    }

    /// Whether it will tell that the list of resources has changed.
    #[must_use]
    pub fn resources(&self) -> bool {
        self.has(RESOURCES)
    }

    /// The resources of which it will tell that they have changed.
    pub fn uris(&self) -> impl Iterator<Item = Str<'a>> {
        self.raw().get(URIS).unwrap_or(Json::NULL).elements().filter_map(Json::string)
    }

    /// The filter that it honours, as it wrote it.
    #[must_use]
    pub fn raw(&self) -> Json<'a> {
        self.params.get("notifications").unwrap_or(Json::EMPTY_OBJECT)
    }

    fn has(&self, name: &str) -> bool {
        self.raw().get(name).and_then(Json::boolean) == Some(true)
    }
}

impl Client<'_> {
    /// Subscribes to what `filter` says (`2026-07-28`). [`Event::Acknowledged`] says what of it the server will tell;
    /// then it stays open, for as long as it takes, until [`cancel`](Client::cancel), or until the server ends it
    /// ([`Event::Response`]). There may be several. Of the options only the timeout counts: for the acknowledgment.
    ///
    /// If the text of a slot can keep the filter, the subscription outlives its connection: see
    /// [`reconnect`](Client::reconnect).
    ///
    /// # Errors
    /// [`SendError::Unsupported`]: the server is of the handshake era, where changes of lists are told unasked, and those of
    /// resources after `resources/subscribe`. Otherwise as [`call_with`](Client::call_with).
    ///
    /// [`Event::Acknowledged`]: crate::client::Event::Acknowledged
    /// [`Event::Response`]: crate::client::Event::Response
    pub fn listen(&mut self, filter: Filter<'_>, options: Options<'_>) -> Result<Ticket, SendError> {
        if self.core.era() == Some(Era::Handshake) && self.core.is_connected() {
            return Err(SendError::Unsupported);
        }
        let mut options = options.maximum(Millis(u64::MAX));
        options.progress = false;
        let ticket = self.core.begin(LISTEN, options, &mut |out| {
            out.key("notifications");
            filter.write(out);
            true
        })?;
        self.core.in_flight.write_text(ticket, &mut |out| filter.write(out));
        Ok(ticket)
    }
}

pub(crate) const LISTEN: &str = methods::SUBSCRIPTIONS_LISTEN.name;

impl OutboundRequest {
    /// Whether it is a subscription that has not ended.
    pub(crate) fn is_subscription(&self) -> bool {
        self.method == Method::Listen
            && matches!(self.stage, Stage::Waiting | Stage::Listening | Stage::Kept | Stage::Relisten)
    }
}

impl ClientState<'_> {
    /// The subscription that a notification belongs to. Its id has to be what was sent, type and all.
    fn subscription(&self, params: Json<'_>, stage: Stage) -> Result<Ticket, ProtocolError> {
        let id = params.get("_meta").and_then(|meta| meta.get(meta::SUBSCRIPTION_ID));
        id.filter(|id| id.kind() == Kind::Number)
            .and_then(|id| self.find(id))
            .filter(|ticket| {
                let open = self.in_flight.get(*ticket);
                open.is_some_and(|it| it.method == Method::Listen && it.stage == stage)
            })
            .ok_or(ProtocolError::UnknownSubscription)
    }

    /// The server has taken up a subscription: from now on it has no deadline.
    pub(crate) fn acknowledged(&mut self, line: &[u8], params: Span) -> Result<PendingEvent, ProtocolError> {
        let ticket = self.subscription(rpc::view(line, params), Stage::Waiting)?;
        self.set_stage(ticket, Stage::Listening);
        self.in_flight.set_deadline(ticket, None);
        Ok(PendingEvent::Acknowledged { ticket, params })
    }

    /// Which subscription says that something has changed. In the handshake era it belongs to none.
    fn told_by(&self, params: Json<'_>) -> Result<Option<Ticket>, ProtocolError> {
        match self.era() {
            Some(Era::Stateless) => self.subscription(params, Stage::Listening).map(Some),
            _ => Ok(None),
        }
    }

    pub(crate) fn list_changed(
        &self,
        params: Json<'_>,
        listed: Listed,
    ) -> Result<PendingEvent, ProtocolError> {
        Ok(PendingEvent::Changed { listed, subscription: self.told_by(params)? })
    }

    pub(crate) fn resource_updated(
        &self,
        line: &[u8],
        params: Json<'_>,
    ) -> Result<PendingEvent, ProtocolError> {
        let subscription = self.told_by(params)?;
        params.get("uri").filter(|uri| uri.kind() == Kind::String).ok_or(ProtocolError::InvalidParams)?;
        Ok(PendingEvent::Updated { params: rpc::span_of(line, params.bytes()), subscription })
    }

    /// The server ends a subscription without an answer.
    pub(crate) fn subscription_ended(&mut self, id: Json<'_>) -> Result<Option<PendingEvent>, ProtocolError> {
        let ticket = self.find(id);
        let open = ticket.and_then(|ticket| Some((ticket, *self.in_flight.get(ticket)?)));
        match open {
            Some((ticket, outgoing)) if outgoing.is_subscription() => {
                self.in_flight.release(ticket);
                let (method, outcome) = (outgoing.method, OutcomePlan::Failed(RequestFailure::Ended));
                Ok(Some(PendingEvent::Response { ticket, method, outcome }))
            }
            // Ended before the cancellation left: nothing is left to cancel.
            Some((ticket, OutboundRequest { method: Method::Listen, stage: Stage::Cancelled, .. })) => {
                self.set_stage(ticket, Stage::Over);
                Ok(None)
            }
            // It may say so behind its answer, too.
            None if self.place_of(id).is_some() => Ok(None),
            _ => Err(ProtocolError::UnknownCancel),
        }
    }
}
