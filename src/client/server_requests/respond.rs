//! Responses to requests of the server: immediate, deferred, or an error.

use crate::client::client_state::{ClientState, Session};
use crate::error::{ProtocolError, SendError};
use crate::framing::outbound_message::{OutboundMessageKind, Routing, StreamId};
use crate::json::{Json, SortKey, Str, WriteBody, Writer};
use crate::peer::Peer;
use crate::peer::inbound::{END, Source, begin_error, write_response};
use crate::peer::slots::Ticket;
use crate::protocol::capabilities::ClientCapabilities;
use crate::time::Millis;

use crate::client::server_requests::input_request::InputKind;
use crate::client::server_requests::{Context, Pending, RequestTask, ServerRequest, check};

/// Code for requests of the server. Only `ClientConfig::capabilities` and `ClientConfig::methods` refer to this code,
/// so clients that call neither do not link the code.
#[derive(Debug)]
pub(crate) struct ServerRequests {
    /// Returns the kind of a request of the server with this method. Returns `None` for an unknown method, and if the
    /// client did not declare the required capability.
    pub(crate) kind_of_method: fn(&ClientState<'_>, Str<'_>) -> Option<InputKind>,
    /// Validates a request of the server for input of this kind, and returns the properties that determine its
    /// response.
    pub(crate) check:
        fn(&ClientState<'_>, InputKind, Option<Json<'_>>, StreamId) -> Result<Context, ProtocolError>,
    /// Counts the input requests of an object: see `ClientState::count_requests`.
    pub(crate) count: fn(&ClientState<'_>, Json<'_>) -> Option<u32>,
}

impl ServerRequests {
    pub(crate) const CODE: ServerRequests = ServerRequests {
        kind_of_method: |state, method| state.kind_of_method(method),
        check: |state, kind, params, stream| state.check_server_request(kind, params, stream),
        count: |state, requests| state.count_input_requests(requests),
    };
}

impl ClientState<'_> {
    /// Returns the capabilities that the client declared to this server. The set is empty until the client is
    /// connected.
    pub(crate) fn declared(&self) -> ClientCapabilities {
        self.peer.session.map_or(ClientCapabilities::NONE, |session| self.config.declared(session.revision))
    }

    fn kind_of_method(&self, method: Str<'_>) -> Option<InputKind> {
        let is_extension = || self.config.methods.iter().any(|known| method.is_name(known));
        let is_task = || self.client_task_hooks().is_some_and(|hooks| (hooks.accepts)(self, method));
        check::kind_of_method(method, self.declared())
            .or_else(|| is_extension().then_some(InputKind::Other))
            .or_else(|| is_task().then_some(InputKind::Task))
    }

    fn check_server_request(
        &self,
        kind: InputKind,
        params: Option<Json<'_>>,
        stream: StreamId,
    ) -> Result<Context, ProtocolError> {
        let session = self.peer.session.ok_or(ProtocolError::UnknownMethod)?;
        let kind = check::check(kind, params, self.declared(), self.peer.in_flight.seed())?;
        let context = Context { revision: session.revision, kind, stream };
        if let Some(hooks) = self.client_task_hooks() {
            (hooks.requested)(context, params.unwrap_or(Json::EMPTY_OBJECT))?;
        }
        Ok(context)
    }

    fn count_input_requests(&self, requests: Json<'_>) -> Option<u32> {
        let mut count = 0u32;
        for (_, request) in requests.members() {
            let [method, params] = request.pick(["method", "params"]);
            let kind = check::kind_of_method(method?.string()?, self.declared())?;
            check::check(kind, params, self.declared(), self.peer.in_flight.seed()).ok()?;
            count = count.saturating_add(1);
        }
        Some(count)
    }

    /// Creates the `ServerRequest` of an event from a validated request in the current line.
    pub(crate) fn server_request<'a>(
        &'a mut self,
        id: &'a [u8],
        method: Str<'_>,
        params: Option<Json<'a>>,
        context: Context,
    ) -> ServerRequest<'a> {
        let params = params.unwrap_or(Json::EMPTY_OBJECT);
        let meta = params.get("_meta").unwrap_or(Json::EMPTY_OBJECT);
        let source = Source::Line { id, meta: meta.bytes(), last_progress: SortKey::NONE };
        let methods = self.config.methods.iter().copied();
        let hooks = self.client_task_hooks();
        let ttl = hooks.and_then(|hooks| (hooks.requested)(context, params).ok().flatten());
        let task = ttl.map(|ttl| RequestTask::Requested { ttl });
        ServerRequest {
            method: methods.into_iter().find(|known| method.is_name(known)).unwrap_or_default(),
            params,
            state: self,
            pending: Pending { source, context, task },
        }
    }

    /// Returns whether a request of the server in the current line holds or awaits transmit space for its response.
    pub(crate) fn holds_reply_space(&self) -> bool {
        self.peer.response_pending || self.server_request_waits
    }

    /// Responds with an error to a request that the application dropped. The request is in the current line.
    #[cold]
    pub(crate) fn respond_to_dropped_request(&mut self, line: &[u8], stream: StreamId) {
        let id = line.get(self.request_id.range()).unwrap_or_default();
        self.respond_by_itself(id, stream, Some(ProtocolError::Unanswered));
        self.peer.pending_error = Some(ProtocolError::Unanswered);
    }

    /// Returns a deferred request: see [`Client::reply`](crate::Client::reply).
    pub(crate) fn reply(&mut self, ticket: Ticket) -> Result<ServerRequest<'_>, SendError> {
        if let Some((task, context)) = self.task_of(ticket) {
            return Ok(self.deferred_request(ticket, context, Some(RequestTask::Created(task))));
        }
        let deferred = self.peer.in_flight.deferred(ticket).ok_or(SendError::Gone)?;
        let (kind, stream) = (deferred.context, deferred.stream);
        // A deferred request ends with its connection, so the revision of the current connection applies.
        let Session { revision, .. } = self.peer.session.ok_or(SendError::Gone)?;
        let context = Context { revision, kind, stream };
        self.peer.reserve_reply(self.holds_reply_space())?;
        Ok(self.deferred_request(ticket, context, None))
    }

    fn deferred_request(
        &mut self,
        ticket: Ticket,
        context: Context,
        task: Option<RequestTask>,
    ) -> ServerRequest<'_> {
        let pending = Pending { source: Source::Slot(ticket), context, task };
        ServerRequest { method: "", params: Json::EMPTY_OBJECT, state: self, pending }
    }

    /// Writes an error response in a message of at most `space` bytes. Returns an error if the response does not fit.
    pub(crate) fn write_error(
        &mut self,
        source: &Source<'_>,
        stream: StreamId,
        error: ProtocolError,
        space: usize,
    ) -> Result<(), ProtocolError> {
        let code = error.response_code();
        let routing = Routing::on_stream(OutboundMessageKind::Error { code }, stream);
        let Peer { output, in_flight, .. } = &mut self.peer;
        let id = source.id(in_flight);
        write_response(output, routing, space, |out| {
            begin_error(out, id, code);
            out.field_display("message", &error.message());
            out.token(END);
            true
        })
        .map_err(|error| error.with_limit(output.max_reply_size()))
    }

    /// Sends the application's response, or stores the response if the request becomes or has become a task. If the
    /// request has not become a task yet, an error is sent directly, and the request does not become a task.
    ///
    /// `body` writes the members of the result. If `error` contains a code, `body` writes the members of the error
    /// after the code. `body` returns whether the members are valid.
    pub(crate) fn respond(&mut self, pending: &Pending<'_>, error: Option<i32>, body: &mut dyn WriteBody) {
        match pending.task.zip(self.client_task_hooks()) {
            Some((task, hooks)) => (hooks.respond)(self, pending, task, error, body),
            None => self.respond_directly(pending, error, body),
        }
    }

    /// Sends a response like [`respond`](ClientState::respond), but never stores the response for a task.
    pub(crate) fn respond_directly(
        &mut self,
        pending: &Pending<'_>,
        error: Option<i32>,
        body: &mut dyn WriteBody,
    ) {
        if let Err(error) = self.write_reply(pending, error, body) {
            self.refuse(pending, error);
        }
    }

    /// Writes a response, and closes its request. After an error, the request remains open.
    pub(crate) fn write_reply(
        &mut self,
        pending: &Pending<'_>,
        error: Option<i32>,
        body: &mut dyn WriteBody,
    ) -> Result<(), ProtocolError> {
        let Pending { source, context, .. } = pending;
        let kind = error.map_or(OutboundMessageKind::Result, |code| OutboundMessageKind::Error { code });
        let routing = Routing::on_stream(kind, context.stream);
        let space = self.peer.available();
        let Peer { output, in_flight, .. } = &mut self.peer;
        let id = source.id(in_flight);
        let related = self.config.tasks.filter(|_| error.is_none());
        write_response(output, routing, space, |out| {
            out.token(r#"{"jsonrpc":"2.0","id":"#);
            out.json_bytes(id);
            out.begin_object_at(if error.is_none() { "result" } else { "error" });
            if let Some(code) = error {
                out.field_integer("code", code.into());
            }
            let valid = body.write(out);
            if let Some(tasks) = related {
                (tasks.hooks.write_related)(source, in_flight, out);
            }
            out.token(END);
            valid
        })
        .map_err(|error| error.with_limit(output.max_reply_size()))?;
        self.peer.close(source);
        Ok(())
    }

    /// Responds with an error, and closes the request.
    pub(crate) fn respond_with_error(&mut self, pending: &Pending<'_>, error: ProtocolError) {
        let space = self.peer.available();
        let _ = self.write_error(&pending.source, pending.context.stream, error, space);
        self.peer.close(&pending.source);
    }

    /// Responds with an error. The next poll reports this error.
    pub(crate) fn refuse(&mut self, pending: &Pending<'_>, error: ProtocolError) {
        match pending.task {
            // The response to the request was the task, so the error ends the task.
            Some(RequestTask::Created(_)) => {
                self.respond(pending, Some(error.response_code()), &mut |out: &mut Writer<'_>| {
                    out.field_display("message", &error.message());
                })
            }
            _ => self.respond_with_error(pending, error),
        }
        self.peer.pending_error = Some(error);
    }

    /// Defers a request of the server. Returns `None` if no slot is free, if the id does not fit into a slot, or if the
    /// request is deferred already. For a request that becomes a task, also returns `None` if the table of tasks is
    /// full, or if the response with the task does not fit.
    pub(crate) fn defer(&mut self, pending: &Pending<'_>, time: Option<Millis>) -> Option<Ticket> {
        let Pending { source, context, task } = pending;
        let time = time.unwrap_or(self.config.timeouts.maximum);
        let ticket = self.peer.defer(source, context.stream, context.kind, Some(time))?;
        if let Some(tasks) = self.config.tasks {
            (tasks.hooks.on_deferred)(self, ticket, source);
        }
        if let Some((RequestTask::Requested { ttl }, hooks)) = task.zip(self.client_task_hooks())
            && !(hooks.on_deferred)(self, ticket, *context, ttl)
        {
            self.peer.in_flight.release(ticket);
            self.peer.response_pending = true;
            return None;
        }
        Some(ticket)
    }
}
