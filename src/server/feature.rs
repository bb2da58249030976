//! The trait `Feature`: a group of methods with its capability.

use crate::error::{ConfigError, ProtocolError};
use crate::framing::outbound_message::StreamId;
use crate::json::{Json, Kind, Span, Str, WriteBody, WriteText, Writer};
use crate::peer::inbound::Source;
use crate::platform::cold_path;
use crate::protocol::methods::Method;
use crate::protocol::revision::Revision;
use crate::rpc::{self, Object};
use crate::server::argument_chunks::ArgumentHook;
use crate::server::change_set::ChangeSet;
use crate::server::config::ServerConfig;
pub(crate) use crate::server::dispatch::Received;
use crate::server::event::MakeEvent;
use crate::server::features::catalog::{Catalog, Found};
pub(crate) use crate::server::min_buffer_size::OwnResults;
use crate::server::pending_event::{PendingEvent, RequestKind, Spans};
use crate::server::reply::Pending;
use crate::server::server_state::{ServerState, Shape};
#[cfg(feature = "alloc")]
use crate::server::tasks::TaskTable;

/// A group of methods with its capability, such as tools or logging. A server links only the features that its
/// configuration names.
///
/// Implemented by [`Tools`](crate::server::Tools),
/// [`Resources`](crate::server::Resources), [`Prompts`](crate::server::Prompts),
/// [`Completion`](crate::server::Completion), [`Subscriptions`](crate::server::Subscriptions),
/// [`AuthorizedSubscriptions`](crate::server::AuthorizedSubscriptions),
/// [`Logging`](crate::server::Logging), [`Skills`](crate::server::Skills), [`Tasks`](crate::server::Tasks),
/// [`Extensions`](crate::server::Extensions) and
/// [`Experimental`](crate::server::Experimental). Name the features of a server in
/// [`ServerConfig::features`](crate::server::ServerConfig::features).
#[expect(private_bounds, reason = "only this crate implements features")]
pub trait Feature: Sync + Sealed {}

/// The interface between the dispatcher and a feature. The dispatcher calls features only through this trait.
pub(crate) trait Sealed {
    /// Writes the members of `capabilities` that declare the feature.
    fn write_capability(&self, _: &ServerConfig<'_>, _: Revision, _: &mut Writer<'_>) {}

    /// Returns the methods of the feature, without those that the application defines: see `has_extension_method`.
    fn methods(&self) -> &'static [Method] {
        &[]
    }

    /// Handles a request for the method with this index in `methods`. For a method that the application defines, the
    /// index is `usize::MAX`.
    fn handle<'b>(&'b self, _method: usize, _: &mut Request<'_, 'b>) -> Received {
        Received::Done
    }

    /// Returns whether the application has defined this method of an extension in the feature. `_is_request`
    /// distinguishes methods of requests from methods of notifications.
    fn has_extension_method(&self, _: Str<'_>, _is_request: bool) -> bool {
        false
    }

    /// Emits a notification of an extension. The caller has set the span `subject` to the method, and the span
    /// `arguments` to the parameters.
    fn emit_notification(&self, _: &mut ServerState<'_>) -> Received {
        Received::Done
    }

    /// Finds the first entry of this catalog whose key satisfies the predicate. Returns `Found::Dynamic` for a dynamic
    /// list. Ignores the predicate for a [`Catalog`] that is not a list.
    fn find(&self, _: Catalog, _: &dyn Fn(&str) -> bool) -> Found<'_> {
        Found::Absent
    }

    /// Returns the entry of a static catalog at this index. If there is no such entry, returns the number of entries as
    /// the error.
    #[cfg(feature = "alloc")]
    fn entry(&self, _: Catalog, _index: usize) -> Result<Found<'_>, usize> {
        Err(0)
    }

    /// Returns the code that handles [streamed](crate::server::Tool::streamed) arguments. Returns `None` if no tool
    /// of the feature has a streamed argument.
    fn argument_hook(&self) -> Option<ArgumentHook> {
        None
    }

    /// Returns the flag of the feature's list, and the method of the notification that reports changes of this list.
    /// Returns `None` if the feature does not declare `listChanged`.
    fn change_notification(&self) -> Option<(ChangeSet, &'static str)> {
        None
    }

    /// Records a change for which the feature itself writes notifications. The feature sets
    /// `ChangeSet::FEATURE_PENDING` in `ServerState::pending_changes` to schedule `write_notifications`.
    fn record_change(&self, _: &mut ServerState<'_>, _: Change<'_>) {}

    /// Writes the feature's pending notifications while the output has space.
    fn write_notifications(&self, _: &mut ServerState<'_>) {}

    /// Writes the feature's members of a `subscriptions/listen` filter into the acknowledgment of the subscription.
    fn write_filter(&self, _filter: Json<'_>, _: &mut Writer<'_>) {}

    /// Returns whether the feature declares `resources.subscribe`.
    fn declares_subscribe(&self) -> bool {
        false
    }

    /// Returns whether a resource with this URI may exist. Returns `None` if only other features can decide.
    fn contains_uri(&self, _: Str<'_>) -> Option<bool> {
        None
    }

    /// Creates a table of tasks that grows on the heap. Returns `None` for all features except `Tasks`, so that servers
    /// without this feature do not link tables.
    #[cfg(feature = "alloc")]
    fn grown_tasks(&self, _limit: usize, _text: usize) -> Option<TaskTable<'static>> {
        None
    }

    /// Validates the configuration of the feature for a revision.
    ///
    /// Measures each result that the server itself writes for the feature.
    fn check(&self, _: &mut OwnResults<'_>) -> Result<(), ConfigError> {
        Ok(())
    }
}

/// Writes the capability of a feature with a list. Declares `listChanged` if `list_changed` is `true`.
pub(crate) fn write_list_capability(key: &str, list_changed: bool, out: &mut Writer<'_>) {
    out.begin_object_at(key);
    if list_changed {
        out.field_boolean("listChanged", true);
    }
    out.end_object();
}

/// A change that the application reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
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

/// An inbound request while a feature handles it, with methods to respond.
pub(crate) struct Request<'r, 'b> {
    pub(crate) state: &'r mut ServerState<'b>,
    /// The spans of the event, if the request causes an event. [`find_members`](Self::find_members) sets the spans to
    /// those of frequent members of `params`; for example, `subject` is the span of `name`.
    pub(crate) spans: &'r mut Spans,
    pub(crate) params: Object<'r>,
    pub(crate) method: Span,
    pub(crate) pending: Pending<'r>,
}

impl<'r, 'b> Request<'r, 'b> {
    /// Finds the frequent members of `params` in one search. A separate search for each member would visit all members
    /// each time.
    ///
    /// The caller constructs the request in its final place and then calls this function. A copy of the request would
    /// read several fields with one load, right after their writes. The processor would then wait for the writes. The
    /// caller must not have set the spans of these members.
    pub(crate) fn find_members(&mut self) {
        let params = self.params;
        let spans = &mut *self.spans;
        let keys = &["_meta", "name", "arguments", "inputResponses", "requestState"];
        let Spans { meta, subject, arguments, responses, state, .. } = &mut *spans;
        match params.index() {
            // Stores the spans in place, without copies of an array. Missing members keep `Span::MISSING`.
            Some(index) => index.find(params.line(), keys, [meta, subject, arguments, responses, state]),
            None => [*meta, *subject, *arguments, *responses, *state] = params.spans(keys),
        }
        if rpc::kind(params.line(), spans.meta) != Kind::Object {
            spans.meta = Span::MISSING;
        }
    }

    pub(crate) fn id(&self) -> &'r [u8] {
        match self.pending.source {
            Source::Line { id, .. } => id,
            Source::Slot(_) => b"",
        }
    }

    /// Returns whether another request with the same id is in flight. Searches the requests of `owner`: the stream of
    /// the request, or that of the session.
    #[inline]
    pub(crate) fn is_duplicate(&self, owner: StreamId) -> bool {
        self.state.find_in_flight(Json::exact(self.id()), owner).is_some()
    }

    /// Returns the value at a span of the line.
    pub(crate) fn view(&self, span: Span) -> Json<'r> {
        rpc::view(self.params.line(), span)
    }

    /// Returns the kind of the value at a span of the line. The kind of a missing value is `null`.
    pub(crate) fn kind(&self, span: Span) -> Kind {
        rpc::kind(self.params.line(), span)
    }

    /// Returns a member of `params`. A missing member is `null`.
    pub(crate) fn param(&self, name: &str) -> Json<'r> {
        self.view(self.param_span(name))
    }

    /// Returns the span of a member of `params`. `null` counts as missing.
    pub(crate) fn param_span(&self, name: &str) -> Span {
        self.present(self.params.member(name))
    }

    /// Returns whether `arguments` is an object or missing. Replaces the span of `null` by a missing span.
    pub(crate) fn check_arguments(&mut self) -> bool {
        let arguments = self.present(self.spans.arguments);
        self.spans.arguments = arguments;
        arguments.is_missing() || self.kind(arguments) == Kind::Object
    }

    pub(crate) fn present(&self, span: Span) -> Span {
        if rpc::is_null(self.params.line(), span) { Span::MISSING } else { span }
    }

    /// Responds with a result.
    pub(crate) fn result(&mut self, body: &mut dyn WriteBody) -> Received {
        self.respond(Shape::Result, body)
    }

    /// Responds with a result that clients may cache.
    pub(crate) fn list(&mut self, body: &mut dyn WriteBody) -> Received {
        self.respond(Shape::List, body)
    }

    pub(crate) fn respond(&mut self, shape: Shape, body: &mut dyn WriteBody) -> Received {
        self.state.respond(&self.pending, shape, body)
    }

    /// Responds with an error. `body` writes the members after the code.
    #[cold]
    pub(crate) fn refuse_with(
        &mut self,
        error: ProtocolError,
        code: i32,
        body: &mut dyn WriteBody,
    ) -> Received {
        match self.respond(Shape::Error(code), body) {
            Received::Done => self.state.fail(error),
            worse => worse,
        }
    }

    /// Responds with an error whose message includes `detail`.
    #[cold]
    pub(crate) fn refuse(&mut self, error: ProtocolError, detail: &dyn WriteText) -> Received {
        self.state.write_error_response(&self.pending, error, Some(detail));
        self.state.fail(error)
    }

    /// Responds with an error whose message includes this text.
    #[cold]
    pub(crate) fn refuse_text(&mut self, error: ProtocolError, text: &str) -> Received {
        self.refuse(error, &text)
    }

    /// Responds that the parameters are not valid.
    #[cold]
    pub(crate) fn invalid_params(&mut self, why: &str) -> Received {
        self.refuse_text(ProtocolError::InvalidParams, why)
    }

    /// Responds that there is no such method.
    #[cold]
    pub(crate) fn unknown_method(&mut self, method: Str<'_>) -> Received {
        self.refuse(ProtocolError::UnknownMethod, &method)
    }

    /// Responds that no slot accepts the request: every slot is taken or, if a slot is free, the id does not fit into
    /// the text of a slot. The latter error also reports that a growing table gets no memory.
    #[cold]
    pub(crate) fn refuse_full(&mut self) -> Received {
        let in_flight = &self.state.peer.in_flight;
        let limit = in_flight.limit();
        let error = match in_flight.len() < limit {
            true => ProtocolError::IdTooLong { limit: in_flight.text_limit() },
            false => ProtocolError::TooManyInFlight { limit },
        };
        self.state.write_error_response(&self.pending, error, None);
        self.state.fail(error)
    }

    /// Sets the spans `subject` and `arguments` of the event.
    pub(crate) fn set_parts(&mut self, subject: Span, arguments: Span) {
        (self.spans.subject, self.spans.arguments) = (subject, arguments);
    }

    /// Emits the request as an event that exposes all parameters: see `RequestParts::params`.
    pub(crate) fn emit_with_params(
        &mut self,
        kind: RequestKind,
        subject: Span,
        event: MakeEvent,
    ) -> Received {
        self.set_parts(subject, Span::MISSING);
        let received = self.emit_request(kind, event);
        // The parameters use the span `responses`, because the span `arguments` is decoded in place. The parameters
        // contain `_meta`, which must not change.
        self.spans.responses = self.params.span();
        received
    }

    /// Emits the request as an event. Refuses invalid input responses if a request of this kind may have them. If
    /// `refuse_when_full` is set and the server has slots, also refuses a request while every slot is taken.
    #[inline]
    pub(crate) fn emit_request(&mut self, kind: RequestKind, event: MakeEvent) -> Received {
        let (limit, taken) = (self.state.peer.in_flight.limit(), self.state.peer.in_flight.len());
        if self.state.config.refuse_when_full && limit > 0 && taken >= limit {
            return self.refuse_full();
        }
        if let Some(era) = self.state.config.stateless
            && kind.can_require_input(self.pending.context.revision())
            && let Some(refused) = (era.check_input)(self)
        {
            cold_path();
            return refused;
        }
        self.state.emit(PendingEvent::Request { context: self.pending.context.with_kind(kind), event })
    }
}
