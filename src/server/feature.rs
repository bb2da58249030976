//! The trait `Feature`: a group of methods with its capability.

use crate::error::{ConfigError, ProtocolError};
use crate::framing::outbound_message::StreamId;
use crate::json::{Json, Kind, MemberIndex, Span, Str, WriteText, Writer};
use crate::protocol::methods::Method;
use crate::protocol::revision::Revision;
pub(crate) use crate::rpc::span_of;
use crate::server::config::ServerConfig;
pub(crate) use crate::server::dispatch::Received;
use crate::server::event::MakeEvent;
use crate::server::features::catalogue::{Catalogue, Found};
use crate::server::inbound_request::PackedContext;
use crate::server::pending_event::{PendingEvent, RequestKind, Spans};
use crate::server::reply::{Context, Pending, Source};
use crate::server::server_state::{ServerState, Shape};

/// A group of methods with its capability, such as tools or logging. A server links only the features that its
/// configuration names.
///
/// Implemented by [`Tools`](crate::server::Tools),
/// [`Resources`](crate::server::Resources), [`Prompts`](crate::server::Prompts),
/// [`Completion`](crate::server::Completion), [`Subscriptions`](crate::server::Subscriptions),
/// [`Logging`](crate::server::Logging), [`Extensions`](crate::server::Extensions) and
/// [`Experimental`](crate::server::Experimental). Name the features of a server in
/// [`ServerConfig::features`](crate::server::ServerConfig::features).
#[expect(private_bounds, reason = "only this crate implements features")]
pub trait Feature: Sync + Sealed {}

/// The interface between the dispatcher and a feature. The dispatcher names no feature.
pub(crate) trait Sealed {
    /// Writes the members of `capabilities` that declare the feature.
    fn write_capability(&self, revision: Revision, out: &mut Writer<'_>);

    /// The methods of the feature.
    fn methods(&self) -> &'static [Method] {
        &[]
    }

    /// Handles a request for the method with this index in `methods`.
    fn handle<'b>(&'b self, _method: usize, _: &mut Request<'_, 'b>) -> Received {
        Received::Done
    }

    /// Finds the first entry of one of its catalogues whose key `is` accepts.
    fn find(&self, _: Catalogue, _: &dyn Fn(&str) -> bool) -> Found<'_> {
        Found::Absent
    }

    /// The notification about changes of its list, or `None` if `listChanged` is not declared.
    fn change_notification(&self) -> Option<(Change<'static>, &'static str)> {
        None
    }

    /// Records a change that the feature reports itself. Setting the flag in `ServerState::pending_changes` schedules
    /// `write_notifications`.
    fn record_change(&self, _: &mut ServerState<'_>, _: Change<'_>) {}

    /// Writes its pending notifications while the output has space.
    fn write_notifications(&self, _: &mut ServerState<'_>) {}

    /// Whether it declares `resources.subscribe`.
    fn can_watch(&self) -> bool {
        false
    }

    /// Whether a resource with this URI exists. Returns `None` if the feature does not know.
    fn contains_uri(&self, _: Str<'_>) -> Option<bool> {
        None
    }

    /// Whether it enables log messages.
    fn is_logging(&self) -> bool {
        false
    }

    /// Validates the configuration of the feature.
    ///
    /// Passes each result that the server writes for it to `measure`, which determines the minimum buffer size.
    fn check(
        &self,
        revision: Revision,
        config: &ServerConfig<'_>,
        measure: Measure<'_>,
    ) -> Result<(), ConfigError>;
}

/// Measures the response whose members the inner function writes.
pub(crate) type Measure<'m> = &'m mut dyn FnMut(Shape, &mut dyn FnMut(&mut Writer<'_>));

/// A change that the application reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change<'a> {
    /// The list of tools.
    Tools,
    /// The list of resources or the list of resource templates.
    Resources,
    /// The list of prompts.
    Prompts,
    /// The contents of the resource with this URI.
    Resource(&'a str),
}

/// An inbound request while a feature handles it: its parts, and methods to respond.
pub(crate) struct Request<'r, 'b> {
    pub(crate) state: &'r mut ServerState<'b>,
    pub(crate) line: &'r [u8],
    pub(crate) spans: &'r mut Spans,
    pub(crate) params: Option<Json<'r>>,
    /// The scanner's index of the members of `params`, if it has one.
    pub(crate) index: Option<&'r MemberIndex>,
    /// Frequent members of `params`, found together, because each search visits all members.
    pub(crate) meta: Option<Json<'r>>,
    pub(crate) name: Option<Json<'r>>,
    pub(crate) arguments: Option<Json<'r>>,
    pub(crate) pending: Pending<'r>,
}

impl<'r, 'b> Request<'r, 'b> {
    pub(crate) fn id(&self) -> &'r [u8] {
        match self.pending.source {
            Source::Line { id, .. } => id,
            Source::Slot(_) => b"",
        }
    }

    /// Whether another request of this owner with the same id is in flight.
    pub(crate) fn is_duplicate(&self, owner: StreamId) -> bool {
        self.state.in_flight.find(Json::trusted(self.id()), owner).is_some()
    }

    /// Finds the frequent members of `params`.
    pub(crate) fn find_params(&mut self) {
        let [meta, name, arguments] = self.pick(["_meta", "name", "arguments"]);
        self.meta = meta.filter(|meta| meta.kind() == Kind::Object);
        (self.name, self.arguments) = (name, arguments);
    }

    /// Returns a member of `params`. `null` counts as absent.
    pub(crate) fn param(&self, name: &str) -> Option<Json<'r>> {
        let [found] = self.pick([name]);
        found.filter(|value| !value.is_null())
    }

    /// Returns several members of `params`, from the scanner's index or, without one, by a search.
    fn pick<const N: usize>(&self, keys: [&str; N]) -> [Option<Json<'r>>; N] {
        match self.index {
            Some(index) => index.pick(self.line, keys),
            None => self.params.unwrap_or(Json::NULL).pick(keys),
        }
    }

    /// Responds with a result.
    pub(crate) fn result(&mut self, body: &mut dyn FnMut(&mut Writer<'_>)) -> Received {
        self.respond(Shape::Result, body)
    }

    /// Responds with a result that clients may cache.
    pub(crate) fn list(&mut self, body: &mut dyn FnMut(&mut Writer<'_>)) -> Received {
        self.respond(Shape::List, body)
    }

    pub(crate) fn respond(&mut self, shape: Shape, body: &mut dyn FnMut(&mut Writer<'_>)) -> Received {
        let mut body = |out: &mut Writer<'_>| {
            body(out);
            true
        };
        match self.state.respond(&self.pending, shape, &mut body) {
            Ok(()) => Received::Done,
            Err(error) => Received::ProtocolError(error),
        }
    }

    /// Responds with an error whose members after the code `body` writes.
    pub(crate) fn refuse_with(
        &mut self,
        error: ProtocolError,
        code: i32,
        body: &mut dyn FnMut(&mut Writer<'_>),
    ) -> Received {
        match self.respond(Shape::Error(code), body) {
            Received::Done => Received::ProtocolError(error),
            worse => worse,
        }
    }

    /// Responds with an error whose message includes `detail`.
    pub(crate) fn refuse(&mut self, error: ProtocolError, detail: &dyn WriteText) -> Received {
        self.state.write_error_response(&self.pending, error, Some(detail));
        Received::ProtocolError(error)
    }

    /// Emits the request as an event, unless every slot is taken and the configuration refuses requests then.
    pub(crate) fn emit_request(
        &mut self,
        kind: RequestKind,
        event: MakeEvent,
        subject: Option<Json<'_>>,
        arguments: Option<Json<'_>>,
    ) -> Received {
        let limit = self.state.in_flight.limit();
        if self.state.config.refuse_when_full && limit > 0 && self.state.in_flight.len() >= limit {
            return self.refuse(ProtocolError::TooManyInFlight { limit }, &("at most ", limit));
        }
        let (mut responses, mut state) = (None, None);
        if kind.can_require_input(self.pending.context.revision) {
            (responses, state) = (self.param("inputResponses"), self.param("requestState"));
            let wrong = |part: Option<Json<'_>>, kind| part.is_some_and(|part| part.kind() != kind);
            if wrong(responses, Kind::Object) || wrong(state, Kind::String) {
                let what = &"`inputResponses` must be an object, and `requestState` a string";
                return self.refuse(ProtocolError::InvalidParams, what);
            }
        }
        let span_of =
            |part: Option<Json<'_>>| part.map_or(Span::EMPTY, |part| span_of(self.line, part.bytes()));
        *self.spans = Spans {
            id: self.spans.id,
            subject: span_of(subject),
            arguments: span_of(arguments),
            meta: span_of(self.meta),
            responses: span_of(responses),
            state: span_of(state),
        };
        let context = Context { kind, ..self.pending.context };
        self.state.emit(PendingEvent::Request { context: PackedContext::new(&context), event })
    }
}
