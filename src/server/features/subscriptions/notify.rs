//! Messages of subscriptions: acknowledgment, changes, end.

use crate::error::SendError;
use crate::framing::LineDecoder;
use crate::framing::outbound_message::{OutboundMessageKind, Routing, StreamId};
use crate::json::{Json, WriteBody, Writer};
use crate::peer::Peer;
use crate::peer::lifecycle::State;
use crate::peer::request::Inbound;
use crate::peer::slots::Ticket;
use crate::protocol::revision::Revision;
use crate::protocol::{meta, methods};
use crate::rpc::begin_notification;
use crate::server::change_set::ChangeSet;
use crate::server::config::ServerConfig;
use crate::server::event::{Event, part, spans_of};
use crate::server::feature::Change;
use crate::server::features::subscriptions::registry::{Owner, SubjectKind, SubscriptionRegistry};
use crate::server::request_context::Context;
use crate::server::server_state::{RequestTable, ServerState};

/// A new subscription (`subscriptions/listen`). The server has acknowledged the subscription.
///
/// If the client cancels the request or closes its stream, the server emits [`Event::Cancelled`]. Other ends of the
/// subscription cause no event of their own.
#[derive(Clone, Copy)]
pub struct Listening<'a> {
    pub(crate) ticket: Ticket,
    pub(crate) filter: Json<'a>,
    pub(crate) in_flight: &'a RequestTable<'a>,
    pub(crate) registry: &'a SubscriptionRegistry<'a>,
}

impl<'a> Listening<'a> {
    /// Returns the event of a subscription. The span `arguments` is the filter.
    pub(crate) fn event<'e>(
        input: &'e LineDecoder<'_>,
        state: &'e ServerState<'_>,
        ticket: Ticket,
    ) -> Option<Event<'e>> {
        Some(Event::Listening(Listening {
            ticket,
            filter: part(input, spans_of(input).arguments),
            in_flight: &state.peer.in_flight,
            registry: &state.registry,
        }))
    }

    /// Returns the ticket of the subscription, for [`Server::end_subscription`](crate::Server::end_subscription).
    #[must_use]
    pub fn ticket(&self) -> Ticket {
        self.ticket
    }

    /// Returns whether the subscription includes this change.
    ///
    /// Returns `true` if the acknowledged filter has the changed list, or if [`uris`](Self::uris) has the changed
    /// resource.
    #[must_use]
    pub fn includes(&self, change: Change<'_>) -> bool {
        match change {
            Change::Resource(uri) => self.uris().any(|known| known == uri),
            list => self
                .inbound()
                .and_then(Inbound::subscription)
                .is_some_and(|[filter, _]| filter.any(list.list())),
        }
    }

    /// Returns the URIs of the subscribed resources.
    pub fn uris(&self) -> impl Iterator<Item = &'a str> {
        let owner = Owner::listener(self.ticket);
        self.registry.resources().filter(move |entry| entry.owner == owner).map(|entry| entry.uri)
    }

    /// Returns the filter as the client sent it, including the members that extensions define.
    #[must_use]
    pub fn filter(&self) -> Json<'a> {
        self.filter
    }

    /// Returns the stream of the request. Returns `StreamId::NONE` outside message mode, and if the subscription has
    /// ended.
    #[must_use]
    pub fn stream(&self) -> StreamId {
        self.inbound().map_or(StreamId::NONE, |inbound| inbound.stream)
    }

    fn inbound(&self) -> Option<&'a Inbound<Context>> {
        self.in_flight.inbound(self.ticket)
    }
}

impl core::fmt::Debug for Listening<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Listening")
            .field("ticket", &self.ticket)
            .field("request", &self.inbound())
            .field("subscriptions", &self.registry)
            .finish()
    }
}

/// Flag of a subscription whose end is pending.
const ENDS: ChangeSet = ChangeSet::FEATURE_PENDING;
/// Flag of a subscription whose response is written: only `notifications/cancelled` is pending.
const ANSWERED: ChangeSet = ChangeSet::SUBSCRIBED;
const ENDS_AND_ANSWERED: ChangeSet = ChangeSet::FEATURE_FLAGS;

/// Finds the first subscription in flight at or after `slot`, and advances `slot` past it. Returns the ticket, the
/// filter and the pending changes, or `None` if there is no further subscription.
fn next_listener(state: &ServerState<'_>, slot: &mut u32) -> Option<(Ticket, ChangeSet, ChangeSet)> {
    loop {
        let ticket = state.peer.in_flight.next_from(slot)?;
        let subscription = state.peer.in_flight.inbound(ticket).and_then(Inbound::subscription);
        if let Some([filter, pending]) = subscription {
            return Some((ticket, filter, pending));
        }
    }
}

/// Returns the pending changes of a subscription. Returns `None` if the ticket belongs to no subscription.
fn pending<'s>(state: &'s mut ServerState<'_>, ticket: Ticket) -> Option<&'s mut ChangeSet> {
    state.peer.in_flight.inbound_mut(ticket)?.pending_changes()
}

/// Marks a change as pending in all matching subscriptions and registry entries.
pub(crate) fn record_change(state: &mut ServerState<'_>, change: Change<'_>) {
    if let Change::Resource(uri) = change {
        if state.registry.mark_changed(SubjectKind::Resource, uri) {
            state.pending_changes.add(ChangeSet::FEATURE_PENDING);
        }
        return;
    }
    let (list, mut slot) = (change.list(), 0);
    while state.pending_changes.any(ChangeSet::SUBSCRIBED)
        && let Some((ticket, filter, _)) = next_listener(state, &mut slot)
    {
        if filter.any(list)
            && let Some(pending) = pending(state, ticket)
        {
            pending.add(list);
            state.pending_changes.add(ChangeSet::FEATURE_PENDING);
        }
    }
}

/// Writes pending messages while the output has space: first changes of lists, then changes of resources, then the
/// final messages of subscriptions.
pub(crate) fn write_pending(state: &mut ServerState<'_>) {
    if !state.pending_changes.any(ChangeSet::FEATURE_PENDING)
        && state.peer.lifecycle.state() != State::Draining
    {
        return;
    }
    if write_lists(state).is_some()
        && let Some(any_delayed) = write_resources(state)
        && write_ends(state).is_some()
        && !any_delayed
    {
        state.pending_changes.remove(ChangeSet::FEATURE_PENDING);
    }
}

/// Writes pending changes of lists. Returns `None` if the output has no space.
fn write_lists(state: &mut ServerState<'_>) -> Option<()> {
    let (config, mut slot) = (state.config, 0);
    while let Some((ticket, _, mut flags)) = next_listener(state, &mut slot) {
        for feature in config.features {
            let Some((list, method)) = feature.change_notification() else { continue };
            if flags.any(list) {
                send(state, ticket, &mut |out, id| {
                    begin_notification(out, method);
                    write_subscription_meta(out, id);
                    out.token("}}");
                })?;
                // Several features may have the same list: send its notification once.
                flags.remove(list);
                pending(state, ticket)?.remove(list);
            }
        }
    }
    Some(())
}

/// Writes pending changes of resources.
///
/// Returns `None` if the output has no space. Returns `Some(true)` if a change stays pending until the handshake
/// completes.
fn write_resources(state: &mut ServerState<'_>) -> Option<bool> {
    let ending = state.peer.lifecycle.state() == State::Draining;
    let (current, is_notified) = (Owner::session(state.session_key), state.is_session_notified());
    let ServerState { registry, peer, .. } = state;
    let (mut at, mut any_delayed) = (0, false);
    while let Some(entry) = &registry.at(at) {
        let (here, owner) = (at, entry.owner);
        at = entry.next;
        if !entry.is_changed() || entry.is_of_kind(SubjectKind::Task) {
            continue;
        }
        if owner == current && !is_notified {
            any_delayed |= !ending;
            continue;
        }
        if owner.is_active(&peer.in_flight) {
            if !peer.reserve_response() {
                return None;
            }
            let Peer { in_flight, output, .. } = &mut *peer;
            let kind = OutboundMessageKind::Notification;
            let (routing, id) = match owner.ticket() {
                None => (Routing::in_session(kind, owner.session_key()), None),
                Some(ticket) => {
                    let stream = in_flight.inbound(ticket)?.stream;
                    (Routing::on_subscription(kind, stream), Some(in_flight.id(ticket)))
                }
            };
            let _ =
                output.write_message(routing, &mut |out: &mut Writer<'_>| write_updated(out, id, entry.uri));
        }
        registry.set_changed(here, false);
    }
    Some(any_delayed)
}

/// Sends the final messages of ending subscriptions. Returns `None` if the output has no space, or if messages about
/// tasks are pending.
///
/// A subscription with the flag `ENDS` ends. While draining, all subscriptions end.
///
/// Outside message mode, the server sends the response and then `notifications/cancelled`. One page of the
/// specification requires the response, another page requires the cancellation.
fn write_ends(state: &mut ServerState<'_>) -> Option<()> {
    // Notifications of tasks precede the end. These notifications wait while a batch is in the line.
    if state.pending_changes.any(ChangeSet::TASKS_PENDING) {
        return None;
    }
    let all = state.peer.lifecycle.state() == State::Draining;
    let (config, mut slot, mut left) = (state.config, 0, false);
    while let Some((ticket, _, flags)) = next_listener(state, &mut slot) {
        if !all && !flags.any(ENDS) {
            left = true;
            continue;
        }
        let inbound = state.peer.in_flight.inbound(ticket)?;
        let (revision, stream) = (inbound.context.revision(), inbound.stream);
        if !flags.any(ANSWERED) {
            let routing = Routing::on_subscription(OutboundMessageKind::Result, stream);
            send_as(state, ticket, routing, &mut |out, id| write_ended(out, id, config, revision))?;
            // No change notification may follow the response, even if a change occurs before the server sends the
            // cancellation.
            state.peer.in_flight.inbound_mut(ticket)?.set_subscription(ChangeSet::NONE, ENDS_AND_ANSWERED);
        }
        if !state.peer.output.is_message_mode() {
            send(state, ticket, &mut |out, id| {
                begin_notification(out, methods::CANCELLED.name);
                out.wrapped(r#""requestId":"#, id, "}}");
            })?;
        }
        state.peer.in_flight.release(ticket);
    }
    if !left {
        state.pending_changes.remove(ChangeSet::SUBSCRIBED);
    }
    Some(())
}

fn send(
    state: &mut ServerState<'_>,
    ticket: Ticket,
    body: &mut dyn FnMut(&mut Writer<'_>, &[u8]),
) -> Option<()> {
    let stream = state.peer.in_flight.inbound(ticket)?.stream;
    send_as(state, ticket, Routing::on_subscription(OutboundMessageKind::Notification, stream), body)
}

fn send_as(
    state: &mut ServerState<'_>,
    ticket: Ticket,
    routing: Routing,
    body: &mut dyn FnMut(&mut Writer<'_>, &[u8]),
) -> Option<()> {
    if !state.peer.reserve_response() {
        return None;
    }
    let Peer { in_flight, output, .. } = &mut state.peer;
    let id = in_flight.id(ticket);
    // The message fits, because `Server::new` checks the buffer size.
    let _ = output.write_message(routing, &mut |out: &mut Writer<'_>| body(out, id));
    Some(())
}

/// Writes `"_meta":{…}` with the id of the subscription.
pub(crate) fn write_subscription_meta(out: &mut Writer<'_>, id: &[u8]) {
    out.members(r#""_meta":{"#);
    out.field_bytes(meta::SUBSCRIPTION_ID, id);
    out.end_object();
}

/// The members of a filter that select lists.
pub(crate) const LIST_MEMBERS: [(&str, ChangeSet); 3] = [
    ("toolsListChanged", ChangeSet::TOOLS),
    ("promptsListChanged", ChangeSet::PROMPTS),
    ("resourcesListChanged", ChangeSet::RESOURCES),
];

/// Writes the acknowledgment, the first message of a subscription.
pub(crate) fn write_acknowledged(
    out: &mut Writer<'_>,
    id: &[u8],
    filter: ChangeSet,
    resources: &mut dyn WriteBody,
) {
    begin_notification(out, methods::SUBSCRIPTIONS_ACKNOWLEDGED.name);
    write_subscription_meta(out, id);
    out.token(r#","notifications":{"#);
    for (name, list) in &LIST_MEMBERS {
        if filter.any(*list) {
            out.field_boolean(name, true);
        }
    }
    resources.write(out);
    out.token("}}}");
}

/// Writes the notification of a changed resource. `id` is the subscription id, or `None` in the handshake era.
pub(crate) fn write_updated(out: &mut Writer<'_>, id: Option<&[u8]>, uri: &str) {
    begin_notification(out, methods::RESOURCES_UPDATED.name);
    if let Some(id) = id {
        write_subscription_meta(out, id);
    }
    out.field_string("uri", uri);
    out.token("}}");
}

/// Writes the response to `subscriptions/listen`, which ends the subscription.
pub(crate) fn write_ended(out: &mut Writer<'_>, id: &[u8], config: &ServerConfig<'_>, revision: Revision) {
    out.wrapped(r#"{"jsonrpc":"2.0","id":"#, id, r#","result":{"resultType":"complete","_meta":{"#);
    out.field_bytes(meta::SUBSCRIPTION_ID, id);
    if config.identify {
        out.key(meta::SERVER_INFO);
        config.identity.write(revision, out);
    }
    out.token("}}}");
}

impl ServerState<'_> {
    /// Marks the end of a subscription as pending. Fails if the ticket belongs to no subscription in flight.
    pub(crate) fn end_subscription(&mut self, ticket: Ticket) -> Result<(), SendError> {
        pending(self, ticket).ok_or(SendError::Gone)?.add(ENDS);
        self.pending_changes.add(ChangeSet::FEATURE_PENDING);
        Ok(())
    }
}
