//! A group of methods that a server may offer: tools, logging and so on. What is not offered is not linked.

use crate::error::{ConfigError, ProtocolError};
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

/// A group of methods with its capability. Implemented by [`Tools`](crate::server::Tools),
/// [`Resources`](crate::server::Resources), [`Prompts`](crate::server::Prompts),
/// [`Completion`](crate::server::Completion), [`Subscriptions`](crate::server::Subscriptions),
/// [`Logging`](crate::server::Logging), [`Extensions`](crate::server::Extensions) and
/// [`Experimental`](crate::server::Experimental); name those that a server offers in
/// [`ServerConfig::features`](crate::server::ServerConfig::features).
#[expect(private_bounds, reason = "features are ours")]
pub trait Feature: Sync + Sealed {}

/// What the dispatcher knows of a feature: it never names one.
pub(crate) trait Sealed {
    /// Writes the members that declare it in `capabilities`.
    fn write_capability(&self, revision: Revision, out: &mut Writer<'_>);

    /// Its methods.
    fn methods(&self) -> &'static [Method] {
        &[]
    }

    /// Deals with a request for the method at this place among them.
    fn handle<'b>(&'b self, _method: usize, _: &mut Request<'_, 'b>) -> Received {
        Received::Done
    }

    /// An entry of one of its catalogues: the first whose key `is` accepts.
    fn find(&self, _: Catalogue, _: &dyn Fn(&str) -> bool) -> Found<'_> {
        Found::Nothing
    }

    /// The notification that says that its list has changed, if it declared that.
    fn change_notice(&self) -> Option<(Change<'static>, &'static str)> {
        None
    }

    /// Notes a change that it tells of by itself: `write_notices` is called if it flags that in `ServerState::changed`.
    fn note_change(&self, _: &mut ServerState<'_>, _: Change<'_>) {}

    /// Writes what it has to tell, as far as there is room.
    fn write_notices(&self, _: &mut ServerState<'_>) {}

    /// Whether it declared that single resources can be watched.
    fn can_watch(&self) -> bool {
        false
    }

    /// Whether there is a resource with this URI. `None`: it cannot say.
    fn knows_uri(&self, _: Str<'_>) -> Option<bool> {
        None
    }

    /// Whether it allows log messages.
    fn is_logging(&self) -> bool {
        false
    }

    /// Checks what the host wrote into it, and hands every result that it writes by itself to `measure`, which finds
    /// out how much room they need.
    fn check(
        &self,
        revision: Revision,
        info: &ServerConfig<'_>,
        measure: Measure<'_>,
    ) -> Result<(), ConfigError>;
}

/// Takes the members of a result, and finds out how long the whole answer would be.
pub(crate) type Measure<'m> = &'m mut dyn FnMut(Shape, &mut dyn FnMut(&mut Writer<'_>));

/// What the host can say has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change<'a> {
    /// The list of tools.
    Tools,
    /// The list of resources, or that of their templates.
    Resources,
    /// The list of prompts.
    Prompts,
    /// What the resource with this URI contains.
    Resource(&'a str),
}

/// A request that the machine looks at: its parts, and the way to answer it.
pub(crate) struct Request<'r, 'b> {
    pub(crate) core: &'r mut ServerState<'b>,
    pub(crate) line: &'r [u8],
    pub(crate) places: &'r mut Spans,
    pub(crate) params: Option<Json<'r>>,
    /// Where their members stand, if that is known.
    pub(crate) known: Option<&'r MemberIndex>,
    /// The members of the parameters that most requests have: found together, since each look goes through all of them.
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

    /// Whether a request with its id is in flight.
    pub(crate) fn is_duplicate(&self) -> bool {
        self.core.in_flight.find(Json::trusted(self.id())).is_some()
    }

    /// Finds the members of the parameters that most requests have.
    pub(crate) fn look(&mut self) {
        let [meta, name, arguments] = self.pick(["_meta", "name", "arguments"]);
        self.meta = meta.filter(|meta| meta.kind() == Kind::Object);
        (self.name, self.arguments) = (name, arguments);
    }

    /// Another member of the parameters; `null` counts as absent.
    pub(crate) fn param(&self, name: &str) -> Option<Json<'r>> {
        let [found] = self.pick([name]);
        found.filter(|value| !value.is_null())
    }

    /// Several members of the parameters, found by the scanner's index or, without one, by a walk.
    fn pick<const N: usize>(&self, keys: [&str; N]) -> [Option<Json<'r>>; N] {
        match self.known {
            Some(known) => known.pick(self.line, keys),
            None => self.params.unwrap_or(Json::NULL).pick(keys),
        }
    }

    /// Answers with a result.
    pub(crate) fn result(&mut self, body: &mut dyn FnMut(&mut Writer<'_>)) -> Received {
        self.respond(Shape::Result, body)
    }

    /// Answers with a result that clients may keep.
    pub(crate) fn list(&mut self, body: &mut dyn FnMut(&mut Writer<'_>)) -> Received {
        self.respond(Shape::List, body)
    }

    pub(crate) fn respond(&mut self, shape: Shape, body: &mut dyn FnMut(&mut Writer<'_>)) -> Received {
        let mut body = |out: &mut Writer<'_>| {
            body(out);
            true
        };
        match self.core.respond(&self.pending, shape, &mut body) {
            Ok(()) => Received::Done,
            Err(fault) => Received::ProtocolError(fault),
        }
    }

    /// Answers with an error of which `body` writes the members.
    pub(crate) fn refuse_with(
        &mut self,
        fault: ProtocolError,
        body: &mut dyn FnMut(&mut Writer<'_>),
    ) -> Received {
        match self.respond(Shape::Error, body) {
            Received::Done => Received::ProtocolError(fault),
            worse => worse,
        }
    }

    /// Answers with an error that says what it is about.
    pub(crate) fn refuse(&mut self, fault: ProtocolError, detail: &dyn WriteText) -> Received {
        self.core.write_fault(&self.pending, fault, Some(detail));
        Received::ProtocolError(fault)
    }

    /// Leaves the answer to the host, unless it has too much to do already.
    pub(crate) fn hand_out(
        &mut self,
        kind: RequestKind,
        event: MakeEvent,
        subject: Option<Json<'_>>,
        arguments: Option<Json<'_>>,
    ) -> Received {
        let limit = self.core.in_flight.limit();
        if self.core.info.refuse_when_full && limit > 0 && self.core.in_flight.len() >= limit {
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
        *self.places = Spans {
            id: self.places.id,
            subject: span_of(subject),
            arguments: span_of(arguments),
            meta: span_of(self.meta),
            responses: span_of(responses),
            state: span_of(state),
        };
        let context = Context { kind, ..self.pending.context };
        self.core.emit(PendingEvent::Request { kept: PackedContext::new(&context), event })
    }
}
