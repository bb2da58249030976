//! Events of the client: responses, list pages, progress, notifications, errors.

use crate::error::ProtocolError;
use crate::json::{Json, Str, WriteText, prints};
use crate::peer::progress_event::Progress;
use crate::peer::response::{Outcome, RpcError};
use crate::peer::slots::Ticket;
use crate::rpc::Object;

use crate::client::connect::Connected;
use crate::client::input_required::InputRequired;
use crate::client::method_properties::Method;
use crate::client::notification::Updated;
use crate::client::page::{PromptsPage, ResourcesPage, TemplatesPage, ToolsPage};
use crate::client::server_requests::ServerRequest;
use crate::client::subscriptions::Acknowledged;
use crate::protocol::objects::completion::CompletionView;
use crate::protocol::objects::log_message::LogMessage;
use crate::protocol::objects::prompt_result::PromptResultView;
use crate::protocol::objects::resource_contents::ReadResultView;
use crate::protocol::objects::tool_result::ToolResultView;

/// An event of the client. It borrows the client until the next poll.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The client is connected and accepts requests.
    Connected(Connected<'a>),
    /// Connecting has failed. The connection closes.
    ConnectFailed(ConnectFailure<'a>),
    /// A request has ended. The client emits this event exactly once for each request, with two exceptions. A request
    /// that the application cancelled has no such event. A complete list ends with its last page instead.
    Response(Response<'a>),
    /// A page of the list of tools.
    Tools(ToolsPage<'a>),
    /// A page of the list of resources.
    Resources(ResourcesPage<'a>),
    /// A page of the list of resource templates.
    Templates(TemplatesPage<'a>),
    /// A page of the list of prompts.
    Prompts(PromptsPage<'a>),
    /// Progress of a request.
    Progress(Progress<'a>),
    /// A log message of the server.
    Log(LogMessage<'a>),
    /// A list of the server has changed. Cached copies of the list are out of date.
    Changed {
        /// The changed list.
        listed: Listed,
        /// The subscription that reported the change (`2026-07-28`).
        subscription: Option<Ticket>,
    },
    /// A subscribed resource has changed. Cached copies of the resource are out of date.
    Updated {
        /// The changed resource, or the changed part of a subscribed resource.
        resource: Updated<'a>,
        /// The subscription that reported the change (`2026-07-28`).
        subscription: Option<Ticket>,
    },
    /// The server has acknowledged a subscription (`2026-07-28`).
    Acknowledged(Acknowledged<'a>),
    /// The server requires input before it completes a request (`2026-07-28`).
    InputRequired(InputRequired<'a>),
    /// The server requests input (up to `2025-11-25`). The client has declared the capability for this input.
    ServerRequest(ServerRequest<'a>),
    /// The server or the end of the connection has cancelled a [deferred](ServerRequest::defer) request. The client
    /// sends no response, and the ticket is invalid.
    Cancelled {
        /// The ticket of the request.
        ticket: Ticket,
        /// The reason, if the server gave one.
        reason: Option<Str<'a>>,
    },
    /// The deadline of a deferred server request expired. The client responds with an error, and the ticket is invalid.
    Expired(Ticket),
    /// Any other notification of the server.
    Notification {
        /// The method.
        method: Str<'a>,
        /// The parameters, if the notification has any.
        params: Option<Json<'a>>,
    },
    /// The transmit buffer has space again after a refusal with [`SendError::Busy`](crate::SendError::Busy).
    Writable,
    /// The server does not respond to pings.
    PeerUnresponsive,
    /// A protocol error that the client has handled.
    ProtocolError(ProtocolError),
}

/// A list of the server that can change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Listed {
    /// `notifications/tools/list_changed`
    Tools,
    /// `notifications/resources/list_changed`
    Resources,
    /// `notifications/prompts/list_changed`
    Prompts,
}

/// The reason of a failed connection attempt.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum ConnectFailure<'a> {
    /// The configuration has no revision that the client can request.
    NoRevision,
    /// Client and server have no revision in common. Contains the server's result or error.
    NoCommonRevision(Json<'a>),
    /// The server responded to the connecting request with an error.
    Refused(RpcError<'a>),
    /// The server's response is invalid.
    InvalidResponse,
    /// The server did not respond in time.
    TimedOut,
    /// The connection ended before the server responded.
    Closed,
}

impl WriteText for ConnectFailure<'_> {
    fn pieces(&self, put: &mut dyn FnMut(&str)) {
        put(match self {
            ConnectFailure::NoRevision => "the client is configured without a revision to request",
            ConnectFailure::NoCommonRevision(answer) => {
                return ("client and server have no revision in common; the server answered ", answer)
                    .pieces(put);
            }
            ConnectFailure::Refused(error) => {
                return ("the server refused the connection: ", error).pieces(put);
            }
            ConnectFailure::InvalidResponse => "the server's response to the connection request is not valid",
            ConnectFailure::TimedOut => "the server did not answer in time",
            ConnectFailure::Closed => "the connection ended before the server answered",
        });
    }
}

prints!(ConnectFailure<'_>);

/// The end of a request.
#[derive(Clone, Copy)]
pub struct Response<'a> {
    pub(crate) ticket: Ticket,
    pub(crate) method: Method,
    pub(crate) outcome: Outcome<'a>,
    /// The [required member](Method::member) of the result.
    pub(crate) member: Option<Json<'a>>,
    /// The result, for member lookup.
    pub(crate) result: Option<Object<'a>>,
}

/// Omits `member` and `result`, because both repeat the outcome.
impl core::fmt::Debug for Response<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Response { ticket, method, outcome, .. } = self;
        let mut out = f.debug_struct("Response");
        out.field("ticket", ticket).field("method", method).field("outcome", outcome).finish()
    }
}

impl<'a> Response<'a> {
    /// The ticket of the request.
    #[must_use]
    pub fn ticket(&self) -> Ticket {
        self.ticket
    }

    /// The outcome of the request.
    #[must_use]
    pub fn outcome(&self) -> Outcome<'a> {
        self.outcome
    }

    /// Whether the request [failed](Outcome::Failed) and the application may safely repeat it. Lists, reads, prompts,
    /// completions, pings and `subscriptions/listen` are retryable. Other requests, such as tool calls, are not,
    /// because they may have side effects.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        matches!(self.outcome, Outcome::Failed(_)) && self.method.is_repeatable()
    }

    /// The tool's result, if the request was a tool call and succeeded.
    #[must_use]
    pub fn tool_result(&self) -> Option<ToolResultView<'a>> {
        let result = self.result.filter(|_| self.method == Method::CallTool)?;
        Some(ToolResultView::with(result, self.member))
    }

    /// The contents of a resource, if the request was `resources/read` and succeeded.
    #[must_use]
    pub fn resource(&self) -> Option<ReadResultView<'a>> {
        match (self.method, self.outcome) {
            (Method::ReadResource, Outcome::Result(result)) => Some(ReadResultView::from_json(result)),
            _ => None,
        }
    }

    /// The messages of a prompt, if the request was `prompts/get` and succeeded.
    #[must_use]
    pub fn prompt(&self) -> Option<PromptResultView<'a>> {
        match (self.method, self.outcome) {
            (Method::GetPrompt, Outcome::Result(result)) => Some(PromptResultView::from_json(result)),
            _ => None,
        }
    }

    /// The proposed values of an argument, if the request was `completion/complete` and succeeded.
    #[must_use]
    pub fn completion(&self) -> Option<CompletionView<'a>> {
        match (self.method, self.outcome) {
            (Method::Complete, Outcome::Result(result)) => Some(CompletionView::from_json(result)),
            _ => None,
        }
    }
}
