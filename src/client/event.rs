//! Events of the client: responses, list pages, progress, notifications, errors.

use crate::error::ProtocolError;
use crate::json::{Json, Kind, MemberIndex, Str, WriteText, prints};
use crate::peer::progress_event::Progress;
use crate::peer::response::{Outcome, RpcError};
use crate::peer::slots::Ticket;
use crate::rpc::{Object, kind, view};

use crate::client::chunks::ChunkData;
use crate::client::connect::Connected;
use crate::client::input_required::InputRequired;
use crate::client::method_properties::Method;
use crate::client::notification::Updated;
use crate::client::page::{PromptsPage, ResourcesPage, SkillsPage, TemplatesPage, ToolsPage};
use crate::client::pending_event::{PendingOutcome, PendingResponse};
use crate::client::server_requests::ServerRequest;
use crate::client::subscriptions::Acknowledged;
use crate::protocol::objects::completion::CompletionView;
use crate::protocol::objects::log_message::LogMessage;
use crate::protocol::objects::prompt_result::PromptResultView;
use crate::protocol::objects::resource_contents::ReadResultView;
use crate::protocol::objects::skill_view::{DirectoryView, SkillView};
use crate::protocol::objects::task::TaskView;
use crate::protocol::objects::tool_result::ToolResultView;
use crate::protocol::revision::Era;

/// An event of the client. The event borrows the client, so the application must drop the event before the next poll.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A completed connection. After this event, the application can send requests.
    Connected(Connected<'a>),
    /// A failed connection attempt. The client then closes the connection.
    ConnectFailed(ConnectFailure<'a>),
    /// The end of a request. The client emits this event exactly once for each request, unless the application cancels
    /// the request or [resets](crate::Client::reset) the client. A complete list ends with the event of its last page,
    /// and without this event. Subscriptions and tasks continue after [`reconnect`](crate::Client::reconnect).
    ///
    /// The result is valid until the next poll. An application that needs the result to respond to a deferred request
    /// of the server must copy the result, because [`Client::reply`](crate::Client::reply) can return
    /// [`SendError::Busy`](crate::SendError::Busy).
    Response(Response<'a>),
    /// A part of the content of a result that arrives in [chunks](crate::Client::receive_chunks).
    Chunk {
        /// The ticket of the request.
        ticket: Ticket,
        /// The index of the content block, or of the resource contents.
        block: u16,
        /// The part. The parts of a block, joined, are its content.
        data: ChunkData<'a>,
    },
    /// A page of the list of tools.
    Tools(ToolsPage<'a>),
    /// A page of the list of resources.
    Resources(ResourcesPage<'a>),
    /// A page of the list of resource templates.
    Templates(TemplatesPage<'a>),
    /// A page of the list of prompts.
    Prompts(PromptsPage<'a>),
    /// A page of the list of skills.
    Skills(SkillsPage<'a>),
    /// Progress of a request.
    Progress(Progress<'a>),
    /// A log message of the server.
    Log(LogMessage<'a>),
    /// A change of one of the server's lists. Cached copies of the list are out of date.
    Changed {
        /// The changed list.
        listed: Listed,
        /// The subscription that reported the change (`2026-07-28`), or `None` in earlier revisions.
        subscription: Option<Ticket>,
    },
    /// A change of a subscribed resource. Cached copies of the resource are out of date.
    Updated {
        /// The changed resource, or the changed part of a subscribed resource.
        resource: Updated<'a>,
        /// The subscription that reported the change (`2026-07-28`), or `None` in earlier revisions.
        subscription: Option<Ticket>,
    },
    /// The acknowledgment of a subscription by the server (`2026-07-28`).
    Acknowledged(Acknowledged<'a>),
    /// An input-required result: the server needs input for a request (`2026-07-28`).
    InputRequired(InputRequired<'a>),
    /// A call that has become a [task](crate::client::ClientConfig::tasks), or a task with a new status, status message
    /// or update time.
    ///
    /// [`Event::Response`] reports the end of the task.
    Task {
        /// The ticket of the call.
        ticket: Ticket,
        /// The task. The application may store the id of the task for [`resume_task`](crate::Client::resume_task).
        task: TaskView<'a>,
    },
    /// A request of the server for input (up to `2025-11-25`). The client has declared the capability for this input,
    /// or its configuration lists the [method](crate::client::ClientConfig::methods) of an extension.
    ServerRequest(ServerRequest<'a>),
    /// The cancellation of a [deferred](ServerRequest::defer) request.
    ///
    /// Either the server cancelled the request or the task that the request became, or the connection ended. The client
    /// sends no response, and the ticket is invalid.
    Cancelled {
        /// The ticket of the request.
        ticket: Ticket,
        /// The reason, if the server gave one.
        reason: Option<Str<'a>>,
    },
    /// The timeout of a deferred request of the server, or the expiry of the task that the request became. The client
    /// responds with an error, unless the request became a task. The ticket is invalid.
    Expired(Ticket),
    /// Any other notification of the server.
    Notification {
        /// The method.
        method: Str<'a>,
        /// The parameters, or `None` if the parameters are missing or `null`.
        params: Option<Json<'a>>,
        /// The request to which the notification belongs, according to the subscription id in its `_meta`. The request
        /// is a [subscription](crate::Client::listen), or a request of an extension. `None` if the notification names
        /// no request in flight.
        subscription: Option<Ticket>,
    },
    /// New space in the transmit buffer after a [`SendError::Busy`](crate::SendError::Busy), or after a
    /// [`SendError::Full`](crate::SendError::Full) that occurred while a queued message held a slot.
    Writable,
    /// A failed keep-alive: the server does not respond to pings, or reads nothing while the transmit buffer has no
    /// space for a ping.
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
    /// A configuration without a revision that the client can request.
    NoRevision,
    /// No revision that both client and server support. Contains the server's result.
    NoCommonRevision(Json<'a>),
    /// An error response to the connecting request.
    Refused(RpcError<'a>),
    /// An invalid response of the server.
    InvalidResponse,
    /// A response of the server that is longer than the receive buffer.
    ResponseTooLong {
        /// Maximum length of a line in bytes, including its newline.
        limit: usize,
    },
    /// No response within the timeout.
    TimedOut,
    /// The end of the connection, or of the stream of the connecting request, before a response of the server.
    ///
    /// Some servers of the handshake era exit when they receive `server/discover`. Start such a server again, and
    /// connect with [`Client::set_connect`](crate::Client::set_connect) and [`Connect::Handshake`].
    ///
    /// [`Connect::Handshake`]: crate::client::Connect::Handshake
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
            ConnectFailure::ResponseTooLong { limit } => {
                let start = "the server's response to the connection request is longer than the receive buffer (at most ";
                return (start, *limit, " bytes); the client needs a longer one").pieces(put);
            }
            ConnectFailure::TimedOut => "the server did not answer in time",
            ConnectFailure::Closed => "the connection ended before the server answered",
        });
    }
}

prints!(ConnectFailure<'_>);

/// The end of a request.
#[derive(Clone, Copy)]
pub struct Response<'a> {
    pub(crate) response: &'a PendingResponse,
    pub(crate) line: &'a [u8],
    /// The scanner's index of the result, if there is one.
    pub(crate) index: Option<&'a MemberIndex>,
    /// The era of the connection.
    pub(crate) era: Option<Era>,
}

impl core::fmt::Debug for Response<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let mut out = f.debug_struct("Response");
        out.field("ticket", &self.ticket()).field("method", &self.response.method);
        out.field("outcome", &self.outcome()).finish()
    }
}

impl<'a> Response<'a> {
    /// Returns the ticket of the request.
    #[must_use]
    pub fn ticket(&self) -> Ticket {
        self.response.ticket
    }

    /// Returns the outcome of the request.
    #[must_use]
    pub fn outcome(&self) -> Outcome<'a> {
        match self.response.outcome {
            // Some servers send `null` for a result without members.
            PendingOutcome::Result { result, .. } if kind(self.line, result) != Kind::Object => {
                Outcome::Result(Json::EMPTY_OBJECT)
            }
            PendingOutcome::Result { result, .. } => Outcome::Result(view(self.line, result)),
            PendingOutcome::Error(error) => {
                Outcome::Error(RpcError { error: view(self.line, error), era: self.era })
            }
            PendingOutcome::Failed(failure) => Outcome::Failed(failure),
        }
    }

    /// Returns the `resultType` of a result whose type an extension
    /// [defines](crate::client::ClientConfig::result_types). Such a result has no typed view. Returns `None` for any
    /// other result. In revisions before `2026-07-28`, results have no type.
    #[must_use]
    pub fn result_type(&self) -> Option<Str<'a>> {
        if self.era != Some(Era::Stateless) {
            return None;
        }
        let result_type = self.result()?.get("resultType")?.string()?;
        Some(result_type).filter(|result_type| !result_type.is_name("complete"))
    }

    /// Returns whether the request [failed](Outcome::Failed) and can be repeated safely.
    ///
    /// The application can repeat `subscriptions/listen`, and requests that only read, such as lists and completions.
    /// Other requests, such as tool calls, may have side effects.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        matches!(self.response.outcome, PendingOutcome::Failed(_)) && self.response.method.is_repeatable()
    }

    /// Returns the tool's result, if the request was a tool call and the server responded with a result.
    #[inline]
    #[must_use]
    pub fn tool_result(&self) -> Option<ToolResultView<'a>> {
        let result = self.result_of(Method::CallTool)?;
        Some(ToolResultView::with(result, self.member()))
    }

    /// Returns the contents of a resource, if the request was `resources/read` and succeeded.
    #[must_use]
    pub fn resource(&self) -> Option<ReadResultView<'a>> {
        Some(ReadResultView::from_json(self.result_of(Method::ReadResource)?.json()))
    }

    /// Returns the skill, if the request was `skills/get` and succeeded.
    #[must_use]
    pub fn skill(&self) -> Option<SkillView<'a>> {
        self.member().filter(|_| self.response.method == Method::GetSkill).map(SkillView::from_json)
    }

    /// Returns the page of a folder, if the request was `resources/directory/read` and succeeded.
    #[must_use]
    pub fn directory(&self) -> Option<DirectoryView<'a>> {
        Some(DirectoryView::from_json(self.result_of(Method::ReadDirectory)?.json()))
    }

    /// Returns the messages of a prompt, if the request was `prompts/get` and succeeded.
    #[must_use]
    pub fn prompt(&self) -> Option<PromptResultView<'a>> {
        Some(PromptResultView::from_json(self.result_of(Method::GetPrompt)?.json()))
    }

    /// Returns the proposed values, if the request was `completion/complete` and succeeded.
    #[must_use]
    pub fn completion(&self) -> Option<CompletionView<'a>> {
        Some(CompletionView::from_json(self.result_of(Method::Complete)?.json()))
    }

    /// Returns the result for the lookup of members, if the request succeeded.
    #[inline]
    fn result(&self) -> Option<Object<'a>> {
        match self.response.outcome {
            PendingOutcome::Result { result, is_nested, .. } => {
                Some(Object::new(self.line, result, self.index.filter(|_| !is_nested)))
            }
            _ => None,
        }
    }

    /// Returns the result, if the request has this method and succeeded.
    #[inline]
    fn result_of(&self, method: Method) -> Option<Object<'a>> {
        if self.response.method == method { self.result() } else { None }
    }

    /// Returns the [required member](Method::member) of the result, such as `content`. Returns `None` if the request
    /// did not succeed, or if the result lacks the member.
    #[inline]
    fn member(&self) -> Option<Json<'a>> {
        match self.response.outcome {
            PendingOutcome::Result { member, .. } if !member.is_missing() => Some(view(self.line, member)),
            _ => None,
        }
    }
}
