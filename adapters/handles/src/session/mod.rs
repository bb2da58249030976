//! The event loop's side of a client: sends requests and dispatches events.

use std::collections::{HashMap, VecDeque};
use std::mem;
use std::sync::Arc;

use mcp_proto::client::Event;
use mcp_proto::json::Json;
use mcp_proto::{Client, Millis, Outcome, RequestFailure, SendError, Ticket};

use crate::Wake;
use crate::client_shared::{ClientShared, Command};
use crate::error::{CallError, ConnectError, LongerThan, PeerError};
use crate::header_mismatch::HeaderMismatches;
use crate::http_failure::HttpFailure;
use crate::input_response::RequiredInput;
use crate::owned::{Notification, Progress, ServerDetails};
use crate::pending::{RequestState, ResponseBody};
use crate::reconnect::{ClosedStream, Reconnect};
use crate::request::Request;
use crate::server_request::{HandlerCall, InputResponse, ServerRequestHandler};

/// Maximum number of concurrent server requests, and of required inputs per response.
pub(crate) const MAX_SERVER_REQUESTS: usize = 32;

/// The event loop's side of a client.
///
/// The owner of the [`Client`] runs this loop:
///
/// ```ignore
/// loop {
///     let until = session.process_commands(&mut client, now());
///     match /* move bytes, at the latest until `until` */ {
///         PumpStatus::Closed => break,
///         PumpStatus::Woken if session.is_overdue(now()) => break,
///         PumpStatus::Woken => {}
///         PumpStatus::Event => match session.handle_event(&mut client, None) {
///             Some(connected_or_failed) => /* report it */,
///             None => {}
///         }
///     }
/// }
/// ```
///
/// Dropping the session completes every pending request with [`CallError::Closed`]. Exception: a call that waits for a
/// new list of tools, because the server has refused its header fields, fails with the server's error.
pub struct ClientSession {
    pub(crate) shared: Arc<ClientShared>,
    /// Passes requests of the server to the application. `None` if the application handles no requests.
    pub(crate) handler: Option<ServerRequestHandler>,
    /// Unsent requests, each with the time at which it expires.
    unsent: VecDeque<(Arc<RequestState>, Millis)>,
    /// The earliest time at which an unsent request may expire.
    unsent_deadline: Option<Millis>,
    /// Whether unsent messages wait for space in the transmit buffer or for a new connection.
    pub(crate) is_blocked: bool,
    /// Whether the handshake of the first connection, or of the next connection after a loss, is not complete. Over
    /// HTTP, also set when the server has ended the session.
    pub(crate) is_connecting: bool,
    pub(crate) was_lost: bool,
    /// The settings with which the owner replaces a lost connection. `None` if the owner replaces no connection.
    pub(crate) reconnect: Option<Reconnect>,
    /// The remaining attempts to reconnect, with the pause before the next attempt.
    pub(crate) attempts: Option<Reconnect>,
    /// The time of the first call of `process_commands` after the handshake. `None` before that call.
    pub(crate) connected_at: Option<Millis>,
    /// Returns whether the transport permits calls of a tool.
    permits_tool: fn(Json<'_>) -> bool,
    /// Whether the application has closed the client.
    pub(crate) is_closing: bool,
    pub(crate) sent: HashMap<Ticket, SentRequest>,
    /// Requests to send again, because their required input is complete.
    pub(crate) resumable: Vec<Ticket>,
    /// Server requests that have no response of the application yet.
    pub(crate) server_requests: HashMap<Ticket, HandlerCall>,
    /// Responses of the application that have not been sent yet.
    pub(crate) responses: VecDeque<(Ticket, InputResponse)>,
    /// The time at which the connection ends even if messages are unsent.
    close_deadline: Option<Millis>,
    /// Subscriptions that the session sends again, because their HTTP streams have closed.
    pub(crate) closed_streams: Vec<ClosedStream>,
    /// Calls that the session repeats, because the server refused their header fields.
    pub(crate) mismatches: HeaderMismatches,
    /// The `failure` argument of `handle_event`, while the event is handled.
    http_failure: Option<HttpFailure>,
    /// The time that the server demands before the next attempt to connect.
    pub(crate) retry_after: Millis,
}

/// A request that was sent and has no result yet.
pub(crate) struct SentRequest {
    pub(crate) state: Arc<RequestState>,
    /// The entries of the list pages received so far.
    entries: Vec<String>,
    /// The input that the server requires before it responds.
    pub(crate) inputs: Vec<RequiredInput>,
}

impl ClientSession {
    /// Creates the session of a new connection.
    ///
    /// `wake` must make the owner call [`process_commands`](ClientSession::process_commands). If `handler` is `None`,
    /// the session refuses requests of the server.
    #[must_use]
    pub fn new(
        shared: &Arc<ClientShared>,
        wake: Wake,
        handler: Option<ServerRequestHandler>,
    ) -> ClientSession {
        shared.open_connection(wake);
        ClientSession {
            shared: Arc::clone(shared),
            handler,
            unsent: VecDeque::new(),
            unsent_deadline: None,
            is_blocked: false,
            is_connecting: true,
            was_lost: false,
            reconnect: None,
            attempts: None,
            connected_at: None,
            permits_tool: |_| true,
            is_closing: false,
            sent: HashMap::new(),
            resumable: Vec::new(),
            server_requests: HashMap::new(),
            responses: VecDeque::new(),
            close_deadline: None,
            closed_streams: Vec::new(),
            mismatches: HeaderMismatches::default(),
            http_failure: None,
            retry_after: Millis::ZERO,
        }
    }

    /// Sets the function that returns whether the transport permits calls of a tool. Lists omit the tools for which
    /// the function returns `false`.
    pub fn set_tool_filter(&mut self, permits_tool: fn(Json<'_>) -> bool) {
        self.permits_tool = permits_tool;
    }

    /// Executes the commands of the handles, and sends messages that fit into the transmit buffer.
    ///
    /// Call this method after every event, after a wake-up, and at the returned time. Returns `None` if nothing waits
    /// for a time.
    pub fn process_commands(&mut self, client: &mut Client<'_>, now: Millis) -> Option<Millis> {
        let attempt = self.send_subscriptions_again(now);
        for command in self.shared.take_commands() {
            self.execute(client, command, now);
        }
        self.record_connected(now);
        self.remove_expired(now);
        self.send_pending(client);
        self.check_list();
        self.unsent_deadline.into_iter().chain(self.close_deadline).chain(attempt).min()
    }

    /// Returns whether the time for unsent messages, which [`ClientShared::close`] limits, has expired. Returns `false`
    /// if no limit is set.
    #[must_use]
    pub fn is_overdue(&self, now: Millis) -> bool {
        self.close_deadline.is_some_and(|at| at <= now)
    }

    /// Handles the client's event, if there is one. Returns the result of a connection attempt if the event reports
    /// this result, and `None` otherwise.
    ///
    /// `failure` is the failure of the last closed HTTP stream. If the event reports that a request or a connection
    /// attempt ended with a closed connection, `failure` becomes the error. Exception: if the response to a connection
    /// attempt contains no message, the error stays [`ConnectError::Closed`].
    pub fn handle_event(
        &mut self,
        client: &mut Client<'_>,
        failure: Option<HttpFailure>,
    ) -> Option<Result<ServerDetails, ConnectError>> {
        self.http_failure = failure;
        match (self.dispatch_event(client), self.http_failure.take()) {
            // If the response contains no message, the error stays `Closed`: the server may support only earlier
            // revisions, so the owner connects again.
            (Some(Err(ConnectError::Closed(_))), Some(failure)) if !failure.is_no_message() => {
                self.retry_after = failure.wait_time();
                Some(Err(ConnectError::Http(failure.into())))
            }
            (outcome, _) => outcome,
        }
    }

    fn dispatch_event(&mut self, client: &mut Client<'_>) -> Option<Result<ServerDetails, ConnectError>> {
        let longest_line = client.longest_line();
        match client.event()? {
            Event::Connected(connected) => {
                let details = ServerDetails::new(connected);
                self.mark_connected();
                return Some(Ok(details));
            }
            Event::ConnectFailed(failure) => return Some(Err(ConnectError::from_failure(failure))),
            Event::Writable => self.is_blocked = false,
            Event::ProtocolError(error) if self.is_connecting => {
                self.shared.record_invalid_line(client.line());
                self.dispatch(Event::ProtocolError(error), longest_line);
            }
            event => self.dispatch(event, longest_line),
        }
        None
    }

    fn execute(&mut self, client: &mut Client<'_>, command: Command, now: Millis) {
        match command {
            Command::Start(state) => {
                // An unsent subscription that is sent again needs no timeout, because the number of its attempts is
                // limited.
                if state.has_attempts() {
                    return self.unsent.push_front((state, Millis::MAX));
                }
                let until = now.plus(Millis::from(state.options.timeout));
                self.unsent_deadline = self.unsent_deadline.into_iter().chain([until]).min();
                self.unsent.push_back((state, until));
                // Cancelled requests do not count against the limit, so they must not accumulate.
                if self.unsent.len() > self.shared.request_limit().saturating_mul(2) {
                    self.remove_ended();
                }
            }
            Command::Cancel(ticket, reason) => {
                // An error means that the request has ended meanwhile.
                let _ = client.cancel(ticket, &reason);
                if let Some(sent) = self.sent.remove(&ticket) {
                    self.shared.release_slot(&sent.state);
                }
            }
            Command::Respond(target, response) => self.accept_response(client, target, response),
            // An error means that the client cannot send this notification. The server can still request the roots.
            Command::RootsChanged => _ = client.roots_changed(),
            Command::Close(within) => {
                // After the shutdown, the client accepts no requests.
                self.send_pending(client);
                client.shutdown(now);
                self.is_closing = true;
                self.close_deadline = within.map(|time| now.plus(Millis::from(time))).or(self.close_deadline);
            }
        }
    }

    /// Fails the unsent requests that have expired, and removes all unsent requests that have ended. Does nothing
    /// before the earliest time at which a request may expire. The state machine tracks the timeouts of sent requests.
    fn remove_expired(&mut self, now: Millis) {
        // The queue can be long, so it is searched only when a request may have expired.
        if self.unsent_deadline.is_none_or(|at| at > now) {
            return;
        }
        for (state, _) in self.unsent.iter().filter(|(_, until)| *until <= now) {
            state.complete(Err(CallError::TimedOut));
        }
        self.remove_ended();
        self.unsent_deadline = self.unsent.iter().map(|(_, until)| *until).min();
    }

    /// Removes unsent requests that were cancelled or have a result.
    fn remove_ended(&mut self) {
        self.unsent.retain(|(state, _)| {
            let is_awaited = state.is_awaited();
            if !is_awaited {
                self.shared.release_slot(state);
            }
            is_awaited
        });
    }

    /// Sends responses and requests, unless they wait for space in the transmit buffer or for a connection.
    fn send_pending(&mut self, client: &mut Client<'_>) {
        if !self.is_blocked && !self.is_connecting {
            self.is_blocked = self.send_unsent(client);
        }
    }

    /// Sends responses, and requests up to the limit of requests in flight. Returns `true` if a message could not be
    /// sent because the transmit buffer is full or the connection is lost.
    fn send_unsent(&mut self, client: &mut Client<'_>) -> bool {
        if self.send_responses(client) || self.resume_requests(client) {
            return true;
        }
        while self.sent.len() < self.shared.in_flight_limit()
            && let Some((state, until)) = self.unsent.pop_front()
        {
            if !state.is_awaited() {
                self.shared.release_slot(&state);
                continue;
            }
            let resumes_task = matches!(state.request, Request::Task(_));
            let options = state.options.client_options(resumes_task);
            match state.request.send(client, options) {
                Ok(None) => {
                    state.complete(Ok(ResponseBody::Json("{}".into())));
                    self.shared.release_slot(&state);
                }
                Ok(Some(ticket)) if state.mark_sent(ticket) => {
                    let sent = SentRequest { state, entries: Vec::new(), inputs: Vec::new() };
                    self.sent.insert(ticket, sent);
                }
                Ok(Some(ticket)) => {
                    let _ = client.cancel(ticket, "");
                }
                Err(error) if self.must_retry(error) => {
                    self.unsent.push_front((state, until));
                    return true;
                }
                Err(error) => {
                    state.complete(Err(match error {
                        SendError::Unwritable | SendError::Invalid => {
                            CallError::Invalid(state.request.unwritable(error))
                        }
                        error => call_error(error),
                    }));
                    self.shared.release_slot(&state);
                }
            }
        }
        false
    }

    /// Handles an event: updates or completes its request, passes a server request to the application, or pushes a
    /// notification to the queues.
    fn dispatch(&mut self, event: Event<'_>, longest_line: usize) {
        let notification = match event {
            Event::Response(response) => {
                let result = match response.outcome() {
                    Outcome::Result(result) => Ok(ResponseBody::Json(result.to_string())),
                    Outcome::Error(error) => Err(CallError::Server(PeerError::from_rpc(error))),
                    Outcome::Failed(RequestFailure::Ended) => Ok(ResponseBody::Ended),
                    Outcome::Failed(RequestFailure::TimedOut) => Err(CallError::TimedOut),
                    Outcome::Failed(RequestFailure::TaskCancelled) => Err(CallError::Cancelled),
                    Outcome::Failed(RequestFailure::Closed) => Err(match self.http_failure.take() {
                        Some(failure) => CallError::Http(failure.into()),
                        None => CallError::Closed,
                    }),
                    Outcome::Failed(RequestFailure::TooLong) => {
                        Err(CallError::Invalid(format!("the response {}", LongerThan(longest_line))))
                    }
                    Outcome::Failed(failure) => Err(CallError::Invalid(failure.to_string())),
                    _ => Err(CallError::Invalid("unknown kind of response".into())),
                };
                return self.complete(response.ticket(), result);
            }
            Event::Tools(page) => {
                let permits_tool = self.permits_tool;
                let tools = page.tools().map(|tool| tool.raw()).filter(|tool| permits_tool(*tool));
                return self.add_page(page.ticket(), page.is_last(), tools);
            }
            Event::Resources(page) => {
                return self.add_page(
                    page.ticket(),
                    page.is_last(),
                    page.resources().map(|entry| entry.raw()),
                );
            }
            Event::Templates(page) => {
                return self.add_page(
                    page.ticket(),
                    page.is_last(),
                    page.templates().map(|entry| entry.raw()),
                );
            }
            Event::Prompts(page) => {
                return self.add_page(page.ticket(), page.is_last(), page.prompts().map(|entry| entry.raw()));
            }
            Event::Skills(page) => {
                return self.add_page(page.ticket(), page.is_last(), page.skills().map(|entry| entry.raw()));
            }
            Event::Progress(progress) => {
                if let Some(sent) = self.sent.get(&progress.ticket()) {
                    sent.state.progress(Progress::new(progress));
                }
                return;
            }
            Event::Task { ticket, task } => {
                if let Some(sent) = self.sent.get(&ticket) {
                    sent.state.progress(Progress::from_task(task));
                }
                return;
            }
            Event::Acknowledged(acknowledged) => return self.handle_acknowledgment(acknowledged),
            Event::InputRequired(required) => return self.request_inputs(&required),
            Event::ServerRequest(request) => return self.handle_server_request(request),
            Event::Cancelled { ticket, .. } | Event::Expired(ticket) => {
                self.server_requests.remove(&ticket);
                return;
            }
            Event::Log(log) => Notification::Log {
                level: log.level(),
                logger: log.logger().map(|logger| logger.to_string()),
                data: log.data().to_string(),
            },
            Event::Changed { listed, subscription } => {
                self.notify_subscription(subscription, Notification::Changed(listed))
            }
            Event::Updated { resource, subscription } => {
                let uri = resource.uri().map(|uri| uri.to_string()).unwrap_or_default();
                self.notify_subscription(subscription, Notification::Updated(uri))
            }
            Event::Notification { method, params, subscription } => {
                let params = params.map(|params| params.to_string());
                let notification = Notification::Other { method: method.to_string(), params };
                self.notify_subscription(subscription, notification)
            }
            Event::PeerUnresponsive => Notification::PeerUnresponsive,
            Event::ProtocolError(error) => Notification::ProtocolError(error),
            _ => return,
        };
        self.shared.broadcast(&notification);
    }

    /// Adds a page to a list request. The last page completes the request. A search for a tool also ends at the page
    /// that contains the tool.
    fn add_page<'a>(&mut self, ticket: Ticket, is_last: bool, entries: impl Iterator<Item = Json<'a>>) {
        let Some(sent) = self.sent.get_mut(&ticket) else { return };
        let matches = |entry: &Json<'a>| match &sent.state.request {
            Request::Find(name) => {
                entry.get("name").and_then(|known| known.string()).is_some_and(|known| known == **name)
            }
            _ => true,
        };
        sent.entries.extend(entries.filter(matches).map(|entry| entry.to_string()));
        let is_found = matches!(sent.state.request, Request::Find(_)) && !sent.entries.is_empty();
        if is_found && !is_last {
            // Further pages are not needed.
            self.shared.send(Command::Cancel(ticket, String::new()));
        }
        if is_last || is_found {
            let entries = mem::take(&mut sent.entries);
            self.complete(ticket, Ok(ResponseBody::List(entries)));
        }
    }

    /// Pushes a copy of the notification to the queue of the request `subscription`. Does not push if `subscription` is
    /// `None`, or if the request has ended or has no queue. Returns the notification.
    fn notify_subscription(&self, subscription: Option<Ticket>, notification: Notification) -> Notification {
        let sent = subscription.and_then(|ticket| self.sent.get(&ticket));
        if let Some(queue) = sent.and_then(|sent| sent.state.queue.as_ref()) {
            queue.push(notification.clone());
        }
        notification
    }

    /// Completes a request and releases its slot, unless the request must be sent again: a call (see
    /// [`HeaderMismatches`]), a subscription (see [`ClosedStream`]), or a request that the server refused because the
    /// session has ended.
    pub(crate) fn complete(&mut self, ticket: Ticket, result: Result<ResponseBody, CallError>) {
        let Some(sent) = self.sent.remove(&ticket) else { return };
        self.finish_list(&sent.state, &result);
        let result = match result {
            Err(error) => match self
                .repeat_later(&sent.state, error)
                .or_else(|error| self.listen_again_later(&sent.state, error))
                .or_else(|error| self.repeat_in_next_session(&sent.state, error))
            {
                Ok(()) => return,
                Err(error) => Err(error),
            },
            result => result,
        };
        self.shared.release_slot(&sent.state);
        sent.state.complete(result);
    }
}

impl std::fmt::Debug for ClientSession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientSession").finish_non_exhaustive()
    }
}

/// Completes every pending request, because its caller would otherwise wait forever.
impl Drop for ClientSession {
    fn drop(&mut self) {
        let not_started = self.shared.close_connection().into_iter().filter_map(|command| match command {
            Command::Start(state) => Some(state),
            _ => None,
        });
        let closed_streams = self.closed_streams.drain(..).map(|stream| stream.state);
        let unsent = self.unsent.drain(..).map(|(state, _)| state);
        for state in unsent.chain(not_started).chain(closed_streams) {
            state.complete(Err(CallError::Closed));
        }
        for (_, sent) in self.sent.drain() {
            sent.state.complete(Err(CallError::Closed));
        }
    }
}

pub(crate) fn call_error(error: SendError) -> CallError {
    match error {
        SendError::NotConnected => CallError::Closed,
        SendError::Full => CallError::Busy,
        SendError::Unsupported => CallError::Unsupported,
        error => CallError::Invalid(error.to_string()),
    }
}

#[cfg(test)]
mod tests;
