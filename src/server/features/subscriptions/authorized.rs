//! Feature `AuthorizedSubscriptions`: the application accepts or refuses subscriptions before the server responds.

use crate::error::ConfigError;
use crate::json::{Json, Span, Str, WriteText};
use crate::peer::slots::Ticket;
use crate::protocol::methods::{self, Method};
use crate::protocol::revision::WireFeature;
use crate::rpc::Object;
use crate::server::event::RequestParts;
use crate::server::feature::{Change, Feature, OwnResults, Received, Request, Sealed};
use crate::server::features::resources::{declares_subscribe, may_exist, not_found};
use crate::server::features::subscriptions::{
    Accept, LISTEN, SUBSCRIBE, Subscriptions, listen, parse_filter, refuse_missing_uri, refuse_subscription,
    subject_uri, subscribe,
};
use crate::server::pending_event::{PendingEvent, RequestKind, Spans};
use crate::server::reply::{Pending, Reply};
use crate::server::request_methods::{request_event, request_properties};
use crate::server::response_status::ResponseStatus;
use crate::server::server_state::ServerState;

/// The feature [`Subscriptions`], for an application that decides which client may subscribe to which resource.
///
/// For a valid `resources/subscribe` or `subscriptions/listen`, the server emits
/// [`Event::SubscriptionRequest`](crate::server::Event::SubscriptionRequest) before it responds. After the response,
/// the server emits neither [`Event::Subscribed`](crate::server::Event::Subscribed) nor
/// [`Event::Listening`](crate::server::Event::Listening).
///
/// ```
/// use mcp_proto::server::{AuthorizedSubscriptions, Event, Resource, Resources, ServerConfig};
///
/// static RESOURCES: Resources =
///     Resources::new(&[Resource::new("log://public", "public"), Resource::new("log://audit", "audit")]).subscribe();
/// static CONFIG: ServerConfig =
///     ServerConfig::new("logs", "1.0.0").features(&[&RESOURCES, &AuthorizedSubscriptions]);
///
/// fn on_event(event: Event<'_>, is_auditor: bool) {
///     match event {
///         Event::SubscriptionRequest(request) => {
///             request.accept_if(|uri| is_auditor || uri != "log://audit");
///         }
///         _ => {}
///     }
/// }
/// # let _ = on_event;
/// ```
///
/// Name this feature instead of [`Subscriptions`]: both in one configuration cause
/// [`ConfigError::RepeatedSubscriptions`].
#[derive(Debug, Clone, Copy, Default)]
pub struct AuthorizedSubscriptions;

impl Feature for AuthorizedSubscriptions {}

impl Sealed for AuthorizedSubscriptions {
    fn methods(&self) -> &'static [Method] {
        Subscriptions.methods()
    }

    fn handle<'b>(&'b self, method: usize, request: &mut Request<'_, 'b>) -> Received {
        match method {
            LISTEN => {
                if let Err(refused) = parse_filter(request) {
                    return refused;
                }
            }
            _ if !declares_subscribe(request.state.config) => return refuse_subscription(request),
            SUBSCRIBE => match subject_uri(request) {
                None => return refuse_missing_uri(request),
                Some(uri) if !may_exist(request.state.config, uri) => return not_found(request, uri),
                Some(_) => {}
            },
            _ => return super::unsubscribe(request),
        }
        request.emit_with_params(RequestKind::Internal, Span::MISSING, SubscriptionRequest::event)
    }

    fn record_change(&self, state: &mut ServerState<'_>, change: Change<'_>) {
        Subscriptions.record_change(state, change);
    }

    fn write_notifications(&self, state: &mut ServerState<'_>) {
        Subscriptions.write_notifications(state);
    }

    fn check(&self, results: &mut OwnResults<'_>) -> Result<(), ConfigError> {
        let listen = methods::SUBSCRIPTIONS_LISTEN.name;
        let has_listen =
            |feature: &&&dyn Feature| feature.methods().first().is_some_and(|first| first.name == listen);
        if results.config.features.iter().filter(has_listen).count() > 1 {
            return Err(ConfigError::RepeatedSubscriptions);
        }
        Subscriptions.check(results)
    }
}

/// A request for subscriptions (`resources/subscribe`, `subscriptions/listen`), before the server has responded.
///
/// Every response method consumes the request. If the application drops the request, the next poll responds with an
/// error (-32603). The application must respond during the event: the request cannot be deferred.
///
/// Specification: up to 2025-11-25 the section *Subscriptions* of *Resources*, in 2026-07-28 the page *Subscriptions*.
#[must_use = "a request needs a response"]
#[derive(Debug)]
pub struct SubscriptionRequest<'a> {
    parts: RequestParts<'a>,
}

impl<'a> SubscriptionRequest<'a> {
    /// Returns whether the request is `subscriptions/listen` (`2026-07-28`), which may name several resources.
    fn is_listen(&self) -> bool {
        self.revision().has(WireFeature::Subscriptions)
    }

    /// Returns the method: `resources/subscribe` or `subscriptions/listen`.
    #[must_use]
    pub fn method(&self) -> &'static str {
        match self.is_listen() {
            true => methods::SUBSCRIPTIONS_LISTEN.name,
            false => methods::RESOURCES_SUBSCRIBE.name,
        }
    }

    /// Returns the URI of `resources/subscribe`. Returns `None` for `subscriptions/listen`.
    #[must_use]
    pub fn uri(&self) -> Option<Str<'a>> {
        self.parts.params().get("uri").filter(|_| !self.is_listen())?.string()
    }

    /// Returns the filter that `subscriptions/listen` requests, with the URIs in `resourceSubscriptions`. Returns
    /// `None` for `resources/subscribe`.
    #[must_use]
    pub fn filter(&self) -> Option<Json<'a>> {
        self.parts.params().get("notifications").filter(|_| self.is_listen())
    }

    /// Returns the URIs of the resources, as the client sent them. The server may lack some of these resources.
    pub fn uris(&self) -> impl Iterator<Item = Str<'a>> + use<'a> {
        let several = self.filter().and_then(|filter| filter.get("resourceSubscriptions"));
        let several = several.unwrap_or(Json::NULL).elements().filter_map(Json::string);
        self.uri().into_iter().chain(several)
    }

    /// Accepts all requested resources that may exist, and all requested lists for which the server declares
    /// `listChanged`.
    ///
    /// Returns the ticket or `None`, as [`accept_if`](SubscriptionRequest::accept_if) does.
    pub fn accept(self) -> Option<Ticket> {
        self.accept_if(|_| true)
    }

    /// Accepts the resources whose URI satisfies the predicate.
    ///
    /// - `subscriptions/listen`: the acknowledgment omits the other resources. The server accepts all requested lists
    ///   for which it declares `listChanged`. Returns the ticket of the subscription, for
    ///   [`Server::end_subscription`](crate::Server::end_subscription). `None` means that the server has refused the
    ///   request: no slot is free, the id does not fit into the text of a slot, or the acknowledgment does not fit.
    /// - `resources/subscribe`: if the predicate rejects the resource, the server refuses the request like a request
    ///   for an unknown resource. The server then also ends an earlier subscription of the session to this resource.
    ///   Always returns `None`.
    ///
    /// The server calls the predicate only for resources that may exist, and only if the buffers have space for the
    /// URI.
    pub fn accept_if(self, mut accept: impl FnMut(&str) -> bool) -> Option<Ticket> {
        let (is_listen, params) = (self.is_listen(), self.parts.params());
        let Reply { state, pending, .. } = self.parts.reply;
        let mut ticket = None;
        state.with(&mut |state: &mut ServerState<'_>| {
            ticket = open(state, pending, is_listen, params, &mut accept)
        });
        ticket
    }

    /// Refuses the request with a JSON-RPC error. Choose application codes outside of -32768 to -32000.
    pub fn error(self, code: i32, message: impl WriteText) {
        self.parts.reply.error(code, message);
    }
}

request_event!(SubscriptionRequest, SubscriptionRequest);
request_properties!(SubscriptionRequest);

/// Handles the request. Returns the ticket of a new subscription, otherwise `None`.
fn open(
    state: &mut ServerState<'_>,
    pending: Pending<'_>,
    is_listen: bool,
    params: Json<'_>,
    accept: Accept<'_>,
) -> Option<Ticket> {
    let mut spans = Spans::NONE;
    let params = Object::from_json(params);
    let mut request =
        Request { state: &mut *state, spans: &mut spans, params, method: Span::MISSING, pending };
    request.find_members();
    let received = if is_listen { listen(&mut request, accept) } else { subscribe(&mut request, accept) };
    state.peer.response_pending = false;
    if received == Received::Failed {
        state.peer.drop_late_error();
    }
    // No event follows, because the application knows which resources it has accepted.
    match state.pending_event.take() {
        Some(PendingEvent::Feature { ticket, .. }) if is_listen => {
            state.record_status(ResponseStatus::Result);
            Some(ticket)
        }
        _ => None,
    }
}
