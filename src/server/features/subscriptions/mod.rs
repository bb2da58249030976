//! Feature `Subscriptions`: `subscriptions/listen`, `resources/subscribe`, `resources/unsubscribe`.
//!
//! In the handshake era the server reports changes of every list for which it declares `listChanged`, and changes of
//! resources to which the client subscribed. In the stateless era the server reports the changes that a
//! `subscriptions/listen` request in flight selects.
//!
//! Specification: *Resources*, *Subscriptions*; 2026-07-28, *Subscriptions*.

pub(crate) mod authorized;
pub(crate) mod notify;
pub(crate) mod registry;

use crate::error::{ConfigError, ProtocolError};
use crate::framing::LineDecoder;
use crate::framing::outbound_message::{OutboundMessageKind, Routing};
use crate::json::{Json, Kind, Str, Writer, text_of};
use crate::peer::Peer;
use crate::peer::slots::Ticket;
use crate::protocol::methods::{self, Method};
use crate::protocol::revision::WireFeature;
use crate::server::change_set::ChangeSet;
use crate::server::event::{Event, MakeFeatureEvent, part, spans_of};
use crate::server::feature::{Change, Feature, OwnResults, Received, Request, Sealed};
use crate::server::features::resources::{declares_subscribe, may_exist, not_found};
use crate::server::features::subscriptions::notify::{
    LIST_MEMBERS, Listening, write_acknowledged, write_ended, write_updated,
};
use crate::server::features::subscriptions::registry::{
    AddError, Owner, Subject, SubjectKind, SubscriptionRegistry,
};
use crate::server::features::tasks::{is_declared, refuse_undeclared};
use crate::server::pending_event::{PendingEvent, RequestKind};
use crate::server::reply::Pending;
use crate::server::server_state::{RequestTable, ServerState, Shape};
use crate::server::tasks::hooks::TaskHooks;
use crate::server::tasks::table::TaskStorage;

/// The feature *subscriptions*: clients subscribe to changes of lists and resources.
///
/// - `2026-07-28`, `subscriptions/listen`: the server reports changed lists and resources only while this request is in
///   flight. The request takes one of the slots of [`Server::in_flight`](crate::Server::in_flight) and has no deadline.
///   The request ends when the client cancels the request or closes the request's stream, when the application calls
///   [`Server::end_subscription`](crate::Server::end_subscription), or when the connection ends. The acknowledgment
///   omits changes that the server did not declare. After an empty acknowledgment, the server sends no change
///   notifications to the subscription.
/// - Up to `2025-11-25`, `resources/subscribe` and `resources/unsubscribe`: the server supports these requests if it
///   declared `resources.subscribe`.
///
/// This feature declares no capability: the features with changing lists and resources declare their own capabilities.
/// Configure `Subscriptions` in addition to those features. Otherwise the server cannot notify clients of `2026-07-28`.
///
/// [`AuthorizedSubscriptions`](crate::server::AuthorizedSubscriptions) is the same feature for an application that
/// refuses some subscriptions.
///
/// Clients can subscribe to resources only if the caller provides a buffer for the URIs: see
/// [`Server::subscription_buffer`](crate::Server::subscription_buffer).
#[derive(Debug, Clone, Copy, Default)]
pub struct Subscriptions;

// Indices in `methods`.
const LISTEN: usize = 0;
const SUBSCRIBE: usize = 1;

impl Feature for Subscriptions {}

impl Sealed for Subscriptions {
    fn methods(&self) -> &'static [Method] {
        &[methods::SUBSCRIPTIONS_LISTEN, methods::RESOURCES_SUBSCRIBE, methods::RESOURCES_UNSUBSCRIBE]
    }

    fn handle<'b>(&'b self, method: usize, request: &mut Request<'_, 'b>) -> Received {
        match method {
            LISTEN => listen(request, &mut |_| true),
            _ if !declares_subscribe(request.state.config) => refuse_subscription(request),
            SUBSCRIBE => subscribe(request, &mut |_| true),
            _ => unsubscribe(request),
        }
    }

    fn record_change(&self, state: &mut ServerState<'_>, change: Change<'_>) {
        notify::record_change(state, change);
    }

    fn write_notifications(&self, state: &mut ServerState<'_>) {
        notify::write_pending(state);
    }

    fn check(&self, results: &mut OwnResults<'_>) -> Result<(), ConfigError> {
        let (revision, config) = (results.revision, results.config);
        if revision.has(WireFeature::Subscriptions) {
            // The measured length is larger than the message: each closure writes a complete message, and `measure`
            // adds the start and the end of a response.
            results.measure(Shape::Result, &mut |out: &mut Writer<'_>| {
                write_acknowledged(out, &[], config.declared_lists(), &mut |_: &mut Writer<'_>| {});
                (0..config.limits.id).for_each(|_| out.token("0"));
            });
            results.measure(Shape::Result, &mut |out: &mut Writer<'_>| {
                write_ended(out, &[], config, revision);
                (0..config.limits.id).for_each(|_| out.token("0"));
            });
        }
        Ok(())
    }
}

/// Decides whether the client may subscribe to the resource with this URI.
type Accept<'f> = &'f mut dyn FnMut(&str) -> bool;

fn refuse_subscription(request: &mut Request<'_, '_>) -> Received {
    request.refuse_text(ProtocolError::UnknownMethod, "the server does not support resource subscriptions")
}

/// Handles `resources/subscribe`. If the application does not accept the resource, refuses the request like a request
/// for an unknown resource.
fn subscribe(request: &mut Request<'_, '_>, accept: Accept<'_>) -> Received {
    let Some(uri) = subject_uri(request) else { return refuse_missing_uri(request) };
    if !may_exist(request.state.config, uri) {
        return not_found(request, uri);
    }
    let owner = Owner::session(request.state.session_key);
    let subject = Subject { owner, kind: SubjectKind::Resource, uri };
    let ServerState { registry, peer: Peer { in_flight, output, .. }, .. } = &mut *request.state;
    let added = add_resource(registry, in_flight, &subject, None, output.max_reply_content(), accept);
    let limit = registry.limit();
    match added {
        Ok(new) => respond_and_emit(request, new, subscribed),
        Err(AddError::Full) => request
            .refuse(ProtocolError::TooManySubscriptions { limit }, &("at most ", limit, " bytes of URIs")),
        Err(AddError::TooLong) => request.invalid_params("`uri` is too long for a change notification"),
        Err(AddError::Refused) => {
            // End an earlier subscription, because the client may have lost the permission since.
            registry.remove(&subject, in_flight.seed());
            // The application has decided about the resource, so the server does not report the error.
            let pending_error = request.state.peer.pending_error;
            not_found(request, uri);
            request.state.peer.pending_error = pending_error;
            Received::Done
        }
    }
}

fn unsubscribe(request: &mut Request<'_, '_>) -> Received {
    let Some(uri) = subject_uri(request) else { return refuse_missing_uri(request) };
    let owner = Owner::session(request.state.session_key);
    let seed = request.state.peer.in_flight.seed();
    let was = request.state.registry.remove(&Subject { owner, kind: SubjectKind::Resource, uri }, seed);
    respond_and_emit(request, was, unsubscribed)
}

/// Returns the URI of a request, and makes this URI the subject of the event. Returns `None` if the URI is
/// missing or not a string.
fn subject_uri<'r>(request: &mut Request<'r, '_>) -> Option<Str<'r>> {
    request.spans.subject = request.param_span("uri");
    request.view(request.spans.subject).string()
}

fn refuse_missing_uri(request: &mut Request<'_, '_>) -> Received {
    request.invalid_params("`uri` must be a string")
}

/// Responds to a request. If the request changed a subscription, also emits the event.
fn respond_and_emit(request: &mut Request<'_, '_>, is_changed: bool, event: MakeFeatureEvent) -> Received {
    match request.result(&mut |_: &mut Writer<'_>| {}) {
        Received::Done if is_changed => {
            request.state.emit(PendingEvent::Feature { event, ticket: Ticket::NONE })
        }
        received => received,
    }
}

/// Returns the event of `resources/subscribe`. The span `subject` is the URI.
fn subscribed<'e>(input: &'e LineDecoder<'_>, _: &'e ServerState<'_>, _: Ticket) -> Option<Event<'e>> {
    Some(Event::Subscribed(text_of(part(input, spans_of(input).subject).bytes())))
}

/// Returns the event of `resources/unsubscribe`. The span `subject` is the URI.
fn unsubscribed<'e>(input: &'e LineDecoder<'_>, _: &'e ServerState<'_>, _: Ticket) -> Option<Event<'e>> {
    Some(Event::Unsubscribed(text_of(part(input, spans_of(input).subject).bytes())))
}

/// Adds a resource to the registry. Returns `Ok(false)` if the owner already has the resource. `id` is the id of
/// `subscriptions/listen`, or `None` in the handshake era.
///
/// # Errors
/// The registry has no space, the change notification of the resource has more than `space` bytes, or the application
/// does not accept the resource.
fn add_resource(
    registry: &mut SubscriptionRegistry<'_>,
    in_flight: &RequestTable<'_>,
    subject: &Subject<'_>,
    id: Option<&[u8]>,
    space: usize,
    accept: Accept<'_>,
) -> Result<bool, AddError> {
    registry.add(subject, in_flight, &mut |uri| {
        let mut out = Writer::measure();
        write_updated(&mut out, id, uri);
        match out.len() <= space {
            true if accept(uri) => Ok(()),
            true => Err(AddError::Refused),
            false => Err(AddError::TooLong),
        }
    })
}

/// Handles `subscriptions/listen`. The request stays in flight until the subscription ends.
fn listen(request: &mut Request<'_, '_>, accept: Accept<'_>) -> Received {
    let filter = match parse_filter(request) {
        Ok(filter) => filter,
        Err(refused) => return refused,
    };
    let Some(ticket) = reserve_slot(request, filter) else {
        return request.refuse_full();
    };
    let hooks = request.state.tasks.as_ref().map(TaskStorage::hooks);
    if let Some(hooks) = hooks {
        let tasks = request.view(request.spans.arguments).get("taskIds");
        (hooks.register_tasks)(request, ticket, tasks.unwrap_or(Json::NULL));
    }
    if !write_acknowledgment(request, ticket, filter, hooks, accept) {
        request.state.peer.in_flight.release(ticket);
        let limit = request.state.peer.output.max_reply_size();
        return request.refuse(ProtocolError::ReplyTooLarge { limit }, &"the acknowledgment");
    }
    request.state.enable_change_writer();
    request.state.pending_changes.add(ChangeSet::SUBSCRIBED);
    request.state.emit(PendingEvent::Feature { event: Listening::event, ticket })
}

/// Parses the filter, or refuses the request. Returns the declared lists that the client selects.
// Not inlined, so that its stack frame does not exist while the server writes the response.
#[inline(never)]
fn parse_filter(request: &mut Request<'_, '_>) -> Result<ChangeSet, Received> {
    request.spans.arguments = request.param_span("notifications");
    let wanted = request.view(request.spans.arguments);
    if wanted.kind() != Kind::Object {
        return Err(request.invalid_params("`notifications` must be an object"));
    }
    if wanted.get("taskIds").is_some_and(|tasks| !tasks.is_null())
        && !is_declared(request.view(request.spans.meta))
    {
        return Err(refuse_undeclared(request));
    }
    let listed = request.state.config.declared_lists();
    let mut filter = ChangeSet::NONE;
    for (name, list) in &LIST_MEMBERS {
        if listed.any(*list) && wanted.get(name).and_then(Json::boolean) == Some(true) {
            filter.add(*list);
        }
    }
    Ok(filter)
}

/// Takes a slot for the subscription. Returns `None` if no slot is free, or if the id does not fit into the slot.
fn reserve_slot(request: &mut Request<'_, '_>, filter: ChangeSet) -> Option<Ticket> {
    let Pending { source, stream, context } = request.pending;
    let kind = RequestKind::Listen { filter, pending: ChangeSet::NONE };
    request.state.peer.defer(&source, stream, context.with_kind(kind), None)
}

/// Registers the resources and writes the acknowledgment.
///
/// Omits a resource that is unknown, that the filter repeats, or that the application does not accept. Also omits a
/// resource that does not fit into the registry or the acknowledgment, or whose change notification would not fit into
/// the transmit buffer. Omits a task that does not fit into the acknowledgment.
///
/// Returns `false` if the acknowledgment does not fit.
fn write_acknowledgment(
    request: &mut Request<'_, '_>,
    ticket: Ticket,
    filter: ChangeSet,
    hooks: Option<&TaskHooks>,
    accept: Accept<'_>,
) -> bool {
    let (id, requested) = (request.id(), request.view(request.spans.arguments));
    let ServerState { config, peer: Peer { output, in_flight, .. }, registry, .. } = &mut *request.state;
    let routing = Routing::on_subscription(OutboundMessageKind::Notification, request.pending.stream);
    let owner = Owner::listener(ticket);
    let space = output.max_reply_content();
    let mut resources = |out: &mut Writer<'_>| {
        let mut any = false;
        let uris = requested.get("resourceSubscriptions").filter(|_| declares_subscribe(config));
        for uri in uris.unwrap_or(Json::NULL).elements().filter_map(Json::string) {
            let before = out.mark();
            if !any {
                out.begin_array_at("resourceSubscriptions");
            }
            out.text(uri);
            let subject = Subject { owner, kind: SubjectKind::Resource, uri };
            // The closing brackets of the message must still fit.
            if out.remaining() >= "]}}}".len()
                && may_exist(config, uri)
                && add_resource(registry, in_flight, &subject, Some(id), space, accept) == Ok(true)
            {
                any = true;
            } else {
                out.rollback(before);
            }
        }
        if any {
            out.end_array();
        }
        if let Some(hooks) = hooks {
            (hooks.write_task_ids)(registry, owner, out);
        }
        config.features.iter().for_each(|feature| feature.write_filter(requested, out));
    };
    output
        .write_message(routing, &mut |out: &mut Writer<'_>| {
            write_acknowledged(out, id, filter, &mut resources)
        })
        .is_ok()
}

#[cfg(test)]
mod tests;
