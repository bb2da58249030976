//! Subscriptions of 2026-07-28 (`subscriptions/listen`): filter, acknowledgment, notifications.
//!
//! Specification: 2026-07-28, *Subscriptions*.

use crate::error::{ProtocolError, SendError};
use crate::json::{Json, Kind, Span, Str, Writer};
use crate::peer::outbound::IssuedId;
use crate::peer::request::{Outbound, OutboundState};
use crate::peer::response::RequestFailure;
use crate::peer::slots::Ticket;
use crate::protocol::meta;
use crate::protocol::methods;
use crate::protocol::objects::view::list;
use crate::protocol::revision::WireFeature;
use crate::rpc;
use crate::time::Millis;

use crate::client::Client;
use crate::client::capabilities::RawMembers;
use crate::client::client_state::ClientState;
use crate::client::event::Listed;
use crate::client::method_properties::Method;
use crate::client::options::Options;
use crate::client::pending_event::PendingEvent;
use crate::client::request_data::SentRequest;

/// The changes that a subscription reports.
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
    tasks: &'f [&'f str],
    members: RawMembers<'f>,
}

impl<'f> Filter<'f> {
    /// An empty filter.
    pub const NOTHING: Filter<'static> =
        Filter { tools: false, prompts: false, resources: false, uris: &[], tasks: &[], members: &[] };

    /// Adds changes of the list of tools.
    #[must_use]
    pub const fn tools(mut self) -> Filter<'f> {
        self.tools = true;
        self
    }

    /// Adds changes of the list of prompts.
    #[must_use]
    pub const fn prompts(mut self) -> Filter<'f> {
        self.prompts = true;
        self
    }

    /// Adds changes of the list of resources.
    #[must_use]
    pub const fn resources(mut self) -> Filter<'f> {
        self.resources = true;
        self
    }

    /// Sets the resources whose changes the filter covers.
    #[must_use]
    pub const fn uris<'n>(self, uris: &'n [&'n str]) -> Filter<'n>
    where
        'f: 'n,
    {
        Filter { uris, ..self }
    }

    /// Sets the ids of the tasks that the filter covers.
    ///
    /// The configuration must enable [tasks](crate::client::ClientConfig::tasks). If the client follows one of
    /// these tasks, the client handles a notification about it like the response to a poll.
    #[must_use]
    pub const fn tasks<'n>(self, ids: &'n [&'n str]) -> Filter<'n>
    where
        'f: 'n,
    {
        Filter { tasks: ids, ..self }
    }

    /// Sets the members of extensions. Each pair is a name and JSON text, such as `("drawingsListChanged", "true")`.
    ///
    /// The server ignores members that it does not know. [`Acknowledged::raw`] has the members that the server
    /// accepted, and [`Event::Notification`](crate::client::Event::Notification) reports the notifications of an
    /// extension.
    #[must_use]
    pub const fn members<'n>(self, members: &'n [(&'n str, &'n str)]) -> Filter<'n>
    where
        'f: 'n,
    {
        Filter { members, ..self }
    }

    /// Writes the filter. Returns `false` if a member of an extension is not valid JSON.
    fn write(&self, out: &mut Writer<'_>) -> bool {
        out.begin_object();
        let lists = [(TOOLS, self.tools), (PROMPTS, self.prompts), (RESOURCES, self.resources)];
        for (name, _) in lists.into_iter().filter(|(_, wanted)| *wanted) {
            out.field_boolean(name, true);
        }
        for (name, texts) in [(URIS, self.uris), (TASKS, self.tasks)] {
            if !texts.is_empty() {
                out.begin_array_at(name);
                texts.iter().for_each(|text| out.string(text));
                out.end_array();
            }
        }
        let mut valid = true;
        for (name, value) in self.members {
            out.key(name);
            valid &= out.raw(value).is_ok();
        }
        out.end_object();
        valid
    }
}

const TOOLS: &str = "toolsListChanged";
const PROMPTS: &str = "promptsListChanged";
const RESOURCES: &str = "resourcesListChanged";
const URIS: &str = "resourceSubscriptions";
const TASKS: &str = "taskIds";

/// The server's acknowledgment of a subscription. The server may acknowledge only a part of the requested filter.
#[derive(Debug, Clone, Copy)]
pub struct Acknowledged<'a> {
    pub(crate) ticket: Ticket,
    pub(crate) params: Json<'a>,
}

impl<'a> Acknowledged<'a> {
    /// Returns the ticket of the subscription.
    #[must_use]
    pub fn ticket(&self) -> Ticket {
        self.ticket
    }

    /// Returns whether the acknowledged filter covers changes of the list of tools.
    #[must_use]
    pub fn tools(&self) -> bool {
        self.has(TOOLS)
    }

    /// Returns whether the acknowledged filter covers changes of the list of prompts.
    #[must_use]
    pub fn prompts(&self) -> bool {
        self.has(PROMPTS)
    }

    /// Returns whether the acknowledged filter covers changes of the list of resources.
    #[must_use]
    pub fn resources(&self) -> bool {
        self.has(RESOURCES)
    }

    /// Returns the resources whose changes the acknowledged filter covers.
    pub fn uris(&self) -> impl Iterator<Item = Str<'a>> {
        list(self.raw(), URIS).filter_map(Json::string)
    }

    /// Returns the ids of the tasks that the acknowledged filter covers.
    pub fn tasks(&self) -> impl Iterator<Item = Str<'a>> {
        granted_tasks(self.params)
    }

    /// Returns the acknowledged filter, as raw JSON.
    #[must_use]
    pub fn raw(&self) -> Json<'a> {
        filter_of(self.params)
    }

    fn has(&self, name: &str) -> bool {
        self.raw().get(name).and_then(Json::boolean) == Some(true)
    }
}

fn filter_of(params: Json<'_>) -> Json<'_> {
    params.get("notifications").unwrap_or(Json::EMPTY_OBJECT)
}

/// Returns the ids of tasks in an acknowledgment.
pub(crate) fn granted_tasks<'a>(params: Json<'a>) -> impl Iterator<Item = Str<'a>> {
    list(filter_of(params), TASKS).filter_map(Json::string)
}

impl Client<'_> {
    /// Subscribes to the changes in `filter` (`2026-07-28`). [`Event::Acknowledged`] reports the part of the filter
    /// that the server supports. The subscription then remains open until the application [cancels](Client::cancel) the
    /// request, or the server ends the subscription ([`Event::Response`]). Several subscriptions may be open at the
    /// same time. The timeout limits the wait for the acknowledgment. The client ignores the options for the maximum
    /// duration and for progress.
    ///
    /// If the text of a slot can hold the filter and the `_meta` of the options, the subscription continues on the next
    /// connection: see [`reconnect`](Client::reconnect).
    ///
    /// # Errors
    /// [`SendError::Unsupported`]: the filter has tasks, but the configuration does not enable tasks; or the server is
    /// of the handshake era. A server of this era reports changes of lists without a subscription, and changes of
    /// resources after [`subscribe`](Client::subscribe). Other errors: as for [`call_with`](Client::call_with).
    ///
    /// [`Event::Acknowledged`]: crate::client::Event::Acknowledged
    /// [`Event::Response`]: crate::client::Event::Response
    pub fn listen(&mut self, filter: Filter<'_>, options: Options<'_>) -> Result<Ticket, SendError> {
        let is_supported = self.state.has(WireFeature::Subscriptions)
            && (filter.tasks.is_empty() || self.state.config.tasks.is_some());
        if self.state.is_connected() && !is_supported {
            return Err(SendError::Unsupported);
        }
        let options = Options { progress: false, ..options.maximum(Millis::MAX) };
        let ticket = self.state.begin_request(LISTEN, options, &mut |out: &mut Writer<'_>| {
            out.key("notifications");
            filter.write(out)
        })?;
        let in_flight = &mut self.state.peer.in_flight;
        let meta = in_flight.outbound(ticket).map_or(0, |outbound| outbound.data.meta_length.into());
        in_flight.write_text(ticket, meta, &mut |out: &mut Writer<'_>| _ = filter.write(out));
        Ok(ticket)
    }
}

pub(crate) const LISTEN: &str = methods::SUBSCRIPTIONS_LISTEN.name;

/// Returns the id of the subscription to which a notification belongs, or `None` if the notification has no such id.
fn subscription_id(params: Json<'_>) -> Option<Json<'_>> {
    params.get("_meta")?.get(meta::SUBSCRIPTION_ID)
}

impl Outbound<SentRequest> {
    /// Returns whether this request is a subscription of the application that has not ended.
    pub(crate) fn is_subscription(&self) -> bool {
        let is_open = self.state.awaits_response()
            || matches!(self.state, OutboundState::Parked | OutboundState::Resubscribe);
        is_open && self.data.method == Method::Listen
    }
}

impl ClientState<'_> {
    /// Finds the subscription of a notification. The id must be a number, because the client sent a number.
    ///
    /// # Errors
    ///
    /// [`ProtocolError::LateNotification`]: a request had this id and has ended. The server may have sent the
    /// notification before this end. [`ProtocolError::UnknownSubscription`]: no subscription has this id and the state
    /// `state`.
    fn find_subscription(&self, params: Json<'_>, state: OutboundState) -> Result<Ticket, ProtocolError> {
        let ticket = self.find_by_subscription_id(params)?.ok_or(ProtocolError::UnknownSubscription)?;
        let open = self.peer.in_flight.outbound(ticket);
        open.filter(|it| matches!(it.data.method, Method::Listen | Method::TaskListen) && it.state == state)
            .map(|_| ticket)
            .ok_or(ProtocolError::UnknownSubscription)
    }

    /// Finds the open request whose id a notification carries. Returns `Ok(None)` if the notification has no numeric
    /// id, or if no request in a slot ever had this id. Returns `LateNotification` if the request has ended.
    fn find_by_subscription_id(&self, params: Json<'_>) -> Result<Option<Ticket>, ProtocolError> {
        let id = subscription_id(params).filter(|id| id.kind() == Kind::Number);
        let ticket = match id.map(|id| self.peer.find_issued(id)) {
            Some(IssuedId::Request(ticket)) => ticket,
            Some(IssuedId::Ended) => return Err(ProtocolError::LateNotification),
            _ => return Ok(None),
        };
        let state = self.peer.in_flight.outbound(ticket).map(|outbound| outbound.state);
        let has_ended = state.is_some_and(|it| it.is_closed() || matches!(it, OutboundState::Failed(_)));
        if has_ended { Err(ProtocolError::LateNotification) } else { Ok(Some(ticket)) }
    }

    /// Finds the request to which a notification of an extension belongs. Returns `Ok(None)` if the notification names
    /// no request. For an unknown or ended request, returns an error in `2026-07-28`, and `Ok(None)` in earlier
    /// revisions.
    ///
    /// The request is a subscription, or any other request that awaits its response.
    pub(crate) fn find_related_request(&self, params: Json<'_>) -> Result<Option<Ticket>, ProtocolError> {
        if subscription_id(params).is_none() {
            return Ok(None);
        }
        let ticket = self
            .find_by_subscription_id(params)
            .map(|ticket| ticket.filter(|it| self.peer.awaits_response(*it)));
        match ticket {
            Ok(None) if self.has(WireFeature::Subscriptions) => Err(ProtocolError::UnknownSubscription),
            Err(_) if !self.has(WireFeature::Subscriptions) => Ok(None),
            ticket => ticket,
        }
    }

    /// Handles an acknowledgment, and removes the deadline of the subscription.
    pub(crate) fn handle_acknowledgment(&mut self, line: &[u8], params: Span) -> Result<(), ProtocolError> {
        let ticket = self.find_subscription(rpc::view(line, params), OutboundState::AwaitingResponse)?;
        self.peer.in_flight.set_state(ticket, OutboundState::Listening);
        self.peer.in_flight.set_deadline(ticket, None);
        if let Some(tasks) = self.config.tasks
            && self.method_of(ticket) == Method::TaskListen
        {
            (tasks.hooks.on_watched)(self, ticket, rpc::view(line, params));
        } else {
            self.emit(PendingEvent::Acknowledged { ticket, params });
        }
        Ok(())
    }

    /// Finds the subscription of a change notification. Returns `Ok(None)` in revisions without `subscriptions/listen`.
    fn find_changed_subscription(&self, params: Json<'_>) -> Result<Option<Ticket>, ProtocolError> {
        if !self.has(WireFeature::Subscriptions) {
            return Ok(None);
        }
        self.find_subscription(params, OutboundState::Listening).map(Some)
    }

    pub(crate) fn handle_list_change(
        &mut self,
        params: Json<'_>,
        listed: Listed,
    ) -> Result<(), ProtocolError> {
        let subscription = self.find_changed_subscription(params)?;
        self.emit(PendingEvent::Changed { listed, subscription });
        Ok(())
    }

    pub(crate) fn handle_update(&mut self, line: &[u8], params: Span) -> Result<(), ProtocolError> {
        let view = rpc::view(line, params);
        let subscription = self.find_changed_subscription(view)?;
        view.get("uri").filter(|uri| uri.kind() == Kind::String).ok_or(ProtocolError::InvalidParams)?;
        self.emit(PendingEvent::Updated { params, subscription });
        Ok(())
    }

    /// Handles the server's cancellation of a subscription.
    pub(crate) fn end_subscription(&mut self, id: Json<'_>) -> Result<(), ProtocolError> {
        let open = self
            .peer
            .find_request(id)
            .and_then(|ticket| Some((ticket, *self.peer.in_flight.outbound(ticket)?)));
        match open {
            Some((ticket, outbound))
                if outbound.data.method == Method::TaskListen && !outbound.state.is_closed() =>
            {
                self.release_request(ticket);
                Ok(())
            }
            Some((ticket, outbound)) if outbound.is_subscription() => {
                self.peer.in_flight.release(ticket);
                self.emit_failure(ticket, Method::Listen, RequestFailure::Ended);
                Ok(())
            }
            // The server ended the subscription before the client sent the queued cancellation, so the cancellation is
            // dropped.
            Some((ticket, outbound))
                if matches!(outbound.data.method, Method::Listen | Method::TaskListen)
                    && outbound.state == OutboundState::CancelPending =>
            {
                self.peer.in_flight.set_state(ticket, OutboundState::Closed);
                Ok(())
            }
            // The server may send a cancellation after its response.
            None if self.peer.find_issued(id) != IssuedId::Unknown => Ok(()),
            _ => Err(ProtocolError::UnknownCancel),
        }
    }
}
