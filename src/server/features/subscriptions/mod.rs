//! Feature `Subscriptions`: `subscriptions/listen`, `resources/subscribe`, `resources/unsubscribe`.
//!
//! In the handshake era a client is notified of every list with `listChanged`, and of the resources that it subscribed to.
//! In the stateless era it is notified of the changes that a `subscriptions/listen` request in flight names.
//!
//! Specification: *Resources*, *Subscriptions*; 2026-07-28, *Subscriptions*.

pub(crate) mod notify;
pub(crate) mod registry;

use crate::error::{ConfigError, ProtocolError};
use crate::framing::outbound_message::About;
use crate::json::{Json, Kind, SortKey, Str, Writer};
use crate::peer::slots::Ticket;
use crate::protocol::meta;
use crate::protocol::methods::{self, Method};
use crate::protocol::revision::{Era, Revision};
use crate::rpc::code;
use crate::server::change_set::ChangeSet;
use crate::server::config::ServerConfig;
use crate::server::feature::{Change, Feature, Measure, Received, Request, Sealed, span_of};
use crate::server::features::resources::not_found;
use crate::server::features::subscriptions::notify::{write_acknowledged, write_ended, write_updated};
use crate::server::features::subscriptions::registry::{NotWatched, Owner, SubscriptionRegistry};
use crate::server::inbound_request::InboundRequest;
use crate::server::pending_event::PendingEvent;
use crate::server::server_state::{ServerState, Shape};

/// The feature *subscriptions*: clients select the changes to be notified of.
///
/// - `2026-07-28`, `subscriptions/listen`: a client is notified of changed lists and resources only while this request
/// is in flight. It takes one of the slots of [`Server::in_flight`](crate::Server::in_flight) and has no deadline. It
/// ends when the client cancels it, [`Server::end_subscription`](crate::Server::end_subscription) is called, or the
/// connection ends. The acknowledgment omits changes that the server did not declare. If none remain, the
/// acknowledgment is empty and the subscription receives no notifications.
/// - up to `2025-11-25`, `resources/subscribe` and `resources/unsubscribe`, if the server declared `resources.subscribe`.
///
/// This feature declares no capability. The features with changing lists and resources do. Name it together with them, or
/// clients of `2026-07-28` cannot be notified.
///
/// To watch resources, lend storage for their URIs: [`Server::subscription_buffer`](crate::Server::subscription_buffer).
#[derive(Debug, Clone, Copy, Default)]
pub struct Subscriptions;

// Indices in `methods`.
const LISTEN: usize = 0;
const SUBSCRIBE: usize = 1;

const TASKS: &str = "io.modelcontextprotocol/tasks";

impl Feature for Subscriptions {}

impl Sealed for Subscriptions {
    fn write_capability(&self, _: Revision, _: &mut Writer<'_>) {}

    fn methods(&self) -> &'static [Method] {
        &[methods::SUBSCRIPTIONS_LISTEN, methods::RESOURCES_SUBSCRIBE, methods::RESOURCES_UNSUBSCRIBE]
    }

    fn handle<'b>(&'b self, method: usize, request: &mut Request<'_, 'b>) -> Received {
        match method {
            LISTEN => listen(request),
            _ if !can_watch(request.core.info) => {
                request.refuse(ProtocolError::UnknownMethod, &"resources cannot be watched here")
            }
            SUBSCRIBE => subscribe(request),
            _ => unsubscribe(request),
        }
    }

    fn note_change(&self, core: &mut ServerState<'_>, change: Change<'_>) {
        notify::note(core, change);
    }

    fn write_notices(&self, core: &mut ServerState<'_>) {
        notify::write(core);
    }

    fn check(
        &self,
        revision: Revision,
        info: &ServerConfig<'_>,
        measure: Measure<'_>,
    ) -> Result<(), ConfigError> {
        if revision.era() == Era::Stateless {
            // Measured as results, which is an upper bound.
            measure(Shape::Result, &mut |out| {
                write_acknowledged(out, &[], listed(info), &mut |_| {});
                (0..info.limits.id).for_each(|_| out.token("0"));
            });
            measure(Shape::Result, &mut |out| {
                write_ended(out, &[], info, revision);
                (0..info.limits.id).for_each(|_| out.token("0"));
            });
        }
        Ok(())
    }
}

/// The lists with `listChanged`.
fn listed(info: &ServerConfig<'_>) -> ChangeSet {
    let mut lists = ChangeSet::NONE;
    for (change, _) in info.features.iter().filter_map(|feature| feature.change_notice()) {
        lists.add(change.list());
    }
    lists
}

fn can_watch(info: &ServerConfig<'_>) -> bool {
    info.features.iter().any(|feature| feature.can_watch())
}

fn may_exist(info: &ServerConfig<'_>, uri: Str<'_>) -> bool {
    let mut said = info.features.iter().filter_map(|feature| feature.knows_uri(uri));
    said.next().is_none_or(|first| first || said.any(|known| known))
}

fn subscribe(request: &mut Request<'_, '_>) -> Received {
    let Some(uri) = uri_of(request) else { return no_uri(request) };
    if !may_exist(request.core.info, uri) {
        return not_found(request, uri);
    }
    let ServerState { watches, in_flight, output, .. } = &mut *request.core;
    let room = output.reply_room().saturating_sub(output.overhead());
    let added = watches.add(Owner::Session, uri, in_flight, &|uri| fits(None, uri, room));
    let limit = watches.limit();
    match added {
        Ok(new) => settle(request, new.then_some(PendingEvent::Watched { on: true })),
        Err(NotWatched::Full) => request.refuse(
            ProtocolError::TooManyWatched { limit },
            &("their URIs have at most ", limit, " bytes; unsubscribe from some"),
        ),
        Err(NotWatched::TooLong) => {
            request.refuse(ProtocolError::InvalidParams, &"`uri` is too long to be told of its changes")
        }
    }
}

fn unsubscribe(request: &mut Request<'_, '_>) -> Received {
    let Some(uri) = uri_of(request) else { return no_uri(request) };
    let was = request.core.watches.remove(Owner::Session, uri);
    settle(request, was.then_some(PendingEvent::Watched { on: false }))
}

/// Returns the URI of a request, and makes it the subject of the event.
fn uri_of<'r>(request: &mut Request<'r, '_>) -> Option<Str<'r>> {
    let uri = request.param("uri")?;
    request.places.subject = span_of(request.line, uri.bytes());
    uri.string()
}

fn no_uri(request: &mut Request<'_, '_>) -> Received {
    request.refuse(ProtocolError::InvalidParams, &"`uri` must be a string")
}

fn settle(request: &mut Request<'_, '_>, plan: Option<PendingEvent>) -> Received {
    match (request.result(&mut |_| {}), plan) {
        (Received::Done, Some(plan)) => request.core.emit(plan),
        (refused, _) => refused,
    }
}

/// Whether the notification about a resource fits into `room` bytes.
fn fits(id: Option<&[u8]>, uri: &str, room: usize) -> bool {
    let mut out = Writer::measure();
    write_updated(&mut out, id, uri);
    out.len() <= room
}

/// Handles `subscriptions/listen`: the request stays in flight, and its response ends the subscription.
fn listen(request: &mut Request<'_, '_>) -> Received {
    let (filter, uris) = match wanted(request) {
        Ok(wanted) => wanted,
        Err(refused) => return refused,
    };
    let Some(ticket) = take(request, filter) else {
        let limit = request.core.in_flight.limit();
        return request.refuse(ProtocolError::TooManyInFlight { limit }, &("at most ", limit));
    };
    if !acknowledge(request, ticket, filter, uris) {
        request.core.in_flight.release(ticket);
        let limit = request.core.output.reply_room();
        return request.refuse(ProtocolError::ReplyTooLarge { limit }, &"the acknowledgment");
    }
    request.core.tells_changes();
    request.core.changed.add(ChangeSet::LISTENED);
    request.core.emit(PendingEvent::Listening(ticket))
}

/// Parses the filter: the declared lists that the client names, and the array of URIs. May refuse the request.
// Not inlined, so that its stack frame is gone while the response is written.
#[inline(never)]
fn wanted<'l>(request: &mut Request<'l, '_>) -> Result<(ChangeSet, Json<'l>), Received> {
    let Some(wanted) = request.param("notifications").filter(|wanted| wanted.kind() == Kind::Object) else {
        return Err(request.refuse(ProtocolError::InvalidParams, &"`notifications` must be an object"));
    };
    let [tools, prompts, resources, uris, tasks] = wanted.pick([
        "toolsListChanged",
        "promptsListChanged",
        "resourcesListChanged",
        "resourceSubscriptions",
        "taskIds",
    ]);
    if tasks.is_some_and(|tasks| !tasks.is_null()) && !declares_tasks(request) {
        return Err(needs_tasks(request));
    }
    let listed = listed(request.core.info);
    let mut filter = ChangeSet::NONE;
    for (asked, list) in
        [(tools, ChangeSet::TOOLS), (prompts, ChangeSet::PROMPTS), (resources, ChangeSet::RESOURCES)]
    {
        if listed.any(list) && asked.and_then(Json::boolean) == Some(true) {
            filter.add(list);
        }
    }
    let uris = uris.filter(|_| can_watch(request.core.info)).unwrap_or(Json::NULL);
    Ok((filter, uris))
}

/// Takes a slot for the subscription. Returns `None` if none is free.
fn take(request: &mut Request<'_, '_>, filter: ChangeSet) -> Option<Ticket> {
    let id = request.id();
    let mut incoming = InboundRequest::deferred(request.pending.context, SortKey::NONE);
    incoming.set_listens(filter, ChangeSet::NONE);
    let in_flight = &mut request.core.in_flight;
    let ticket = in_flight.take(incoming, None)?;
    if !in_flight.set_id(ticket, id, &[]) {
        in_flight.release(ticket);
        return None;
    }
    Some(ticket)
}

/// Registers the resources and writes the acknowledgment. Resources without space are omitted.
///
/// Returns `false` if the acknowledgment does not fit.
fn acknowledge(request: &mut Request<'_, '_>, ticket: Ticket, filter: ChangeSet, uris: Json<'_>) -> bool {
    let id = request.id();
    let ServerState { info, output, watches, in_flight, .. } = &mut *request.core;
    let room = output.reply_room();
    let longest = room.saturating_sub(output.overhead());
    let about = About::subscribed(request.pending.context.stream);
    let watch = |watches: &mut SubscriptionRegistry<'_>, uri| {
        may_exist(info, uri)
            && watches
                .add(Owner::Listener(ticket), uri, in_flight, &|uri| fits(Some(id), uri, longest))
                .is_ok_and(|new| new)
    };
    let mut resources = |out: &mut Writer<'_>| {
        let mut any = false;
        for uri in uris.elements().filter_map(Json::string) {
            let before = out.mark();
            if !any {
                out.key("resourceSubscriptions");
                out.begin_array();
            }
            out.text(uri);
            // The closing brackets of the message must still fit.
            if out.remaining() < "]}}}".len() || !watch(watches, uri) {
                out.rollback(before);
            } else {
                any = true;
            }
        }
        if any {
            out.end_array();
        }
    };
    output.write(about, room, &mut |out| write_acknowledged(out, id, filter, &mut resources)).is_ok()
}

fn declares_tasks(request: &Request<'_, '_>) -> bool {
    let declared =
        request.meta.and_then(|meta| meta.get(meta::CLIENT_CAPABILITIES)?.get("extensions")?.get(TASKS));
    declared.is_some_and(|declared| declared.kind() == Kind::Object)
}

fn needs_tasks(request: &mut Request<'_, '_>) -> Received {
    request.refuse_with(ProtocolError::MissingClientCapability, &mut |out| {
        out.field_integer("code", code::MISSING_CLIENT_CAPABILITY.into());
        out.key("message");
        out.display(&ProtocolError::MissingClientCapability.message());
        out.token(r#","data":{"requiredCapabilities":{"extensions":{"#);
        out.key(TASKS);
        out.token("{}}}}");
    })
}

#[cfg(test)]
mod tests;
