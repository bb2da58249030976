//! What a client hears: answers, pages of lists, progress, and what the server says by itself.

use crate::error::ProtocolError;
use crate::json::{Json, Str, WriteText, prints};
use crate::peer::response::{Outcome, RpcError};
use crate::peer::slots::Ticket;

use crate::client::connect::Connected;
use crate::client::input_required::InputRequired;
use crate::client::members::{Members, Noted};
use crate::client::method::Method;
use crate::client::server_requests::ServerRequest;
use crate::client::subscriptions::Acknowledged;
use crate::client::views::{
    Completion, LogMessage, Progress, PromptResult, PromptsPage, ReadResult, ResourcesPage, TemplatesPage,
    ToolResult, ToolsPage, Updated,
};

/// What happened. It borrows the machine until the next poll.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The server is connected: requests may be sent.
    Connected(Connected<'a>),
    /// Connecting has failed. The connection closes.
    ConnectFailed(ConnectFailure<'a>),
    /// A request has ended: exactly once for each ticket, but for those that the host cancelled, and lists, which
    /// end with their last page.
    Response(Response<'a>),
    /// A page of the list of tools has come.
    Tools(ToolsPage<'a>),
    /// A page of the list of resources has come.
    Resources(ResourcesPage<'a>),
    /// A page of the list of resource templates has come.
    Templates(TemplatesPage<'a>),
    /// A page of the list of prompts has come.
    Prompts(PromptsPage<'a>),
    /// A request makes progress.
    Progress(Progress<'a>),
    /// The server has logged something.
    Log(LogMessage<'a>),
    /// The server says that a list has changed: it may be listed again.
    Changed {
        /// Which list.
        listed: Listed,
        /// The subscription under which it says so (`2026-07-28`).
        subscription: Option<Ticket>,
    },
    /// The server says that a resource has changed, which was subscribed to: it may be read again.
    Updated {
        /// Which one, or which part of what was subscribed to.
        resource: Updated<'a>,
        /// The subscription under which it says so (`2026-07-28`).
        subscription: Option<Ticket>,
    },
    /// The server has taken up a subscription (`2026-07-28`).
    Acknowledged(Acknowledged<'a>),
    /// The server needs something before it answers a request (`2026-07-28`).
    InputRequired(InputRequired<'a>),
    /// The server asks for something that the client has declared (up to `2025-11-25`).
    ServerRequest(ServerRequest<'a>),
    /// A request of the server's that was [deferred](ServerRequest::defer) is taken back: stop working on it. It gets no answer,
    /// and its ticket is gone. So it is when the connection ends.
    Cancelled {
        /// The request.
        ticket: Ticket,
        /// Why, if the server said so.
        reason: Option<Str<'a>>,
    },
    /// A request of the server's that was deferred took too long; it is answered with an error. Its ticket is gone.
    Expired(Ticket),
    /// Another notification of the server's.
    Notification {
        /// Its method.
        method: Str<'a>,
        /// Its parameters, if it has any.
        params: Option<Json<'a>>,
    },
    /// There is room again for what was refused as [`SendError::Busy`](crate::SendError::Busy).
    Writable,
    /// The server does not answer pings.
    PeerUnresponsive,
    /// Something went wrong, and was dealt with.
    ProtocolError(ProtocolError),
}

/// The lists of a server.
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

/// Why connecting has failed.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum ConnectFailure<'a> {
    /// The client was set up without a revision that it could ask for.
    NoRevision,
    /// The server speaks no revision that the client does. With its answer.
    NoCommonRevision(Json<'a>),
    /// The server has refused to connect.
    Refused(RpcError<'a>),
    /// The server's answer is none.
    InvalidResponse,
    /// The server has not answered in time.
    TimedOut,
    /// The connection ended first.
    Closed,
}

impl WriteText for ConnectFailure<'_> {
    fn pieces(&self, put: &mut dyn FnMut(&str)) {
        put(match self {
            ConnectFailure::NoRevision => "the client is set up without a revision to ask for",
            ConnectFailure::NoCommonRevision(answer) => {
                return ("the server speaks no revision that the client does; it answered ", answer)
                    .pieces(put);
            }
            ConnectFailure::Refused(error) => return ("the server refused to connect: ", error).pieces(put),
            ConnectFailure::InvalidResponse => "the server's answer to the connection request is not valid",
            ConnectFailure::TimedOut => "the server did not answer in time",
            ConnectFailure::Closed => "the connection ended before the server answered",
        });
    }
}

prints!(ConnectFailure<'_>);

/// A request that has ended.
#[derive(Clone, Copy)]
pub struct Response<'a> {
    pub(crate) ticket: Ticket,
    pub(crate) method: Method,
    pub(crate) outcome: Outcome<'a>,
    /// The [member](Method::member) of the result.
    pub(crate) member: Option<Json<'a>>,
    /// What is known of where its other members stand.
    pub(crate) noted: Option<Noted<'a>>,
}

/// What was found in the result is nobody's business.
impl core::fmt::Debug for Response<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Response { ticket, method, outcome, .. } = self;
        let mut out = f.debug_struct("Response");
        out.field("ticket", ticket).field("method", method).field("outcome", outcome).finish()
    }
}

impl<'a> Response<'a> {
    /// Which request.
    #[must_use]
    pub fn ticket(&self) -> Ticket {
        self.ticket
    }

    /// How it ended.
    #[must_use]
    pub fn outcome(&self) -> Outcome<'a> {
        self.outcome
    }

    /// Whether it was lost, and sending it again can do no harm: it only looks, as lists, reads and completions do. Of a
    /// call of a tool nobody knows.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        matches!(self.outcome, Outcome::Failed(_)) && self.method.is_repeatable()
    }

    /// The result of a tool, if the request was a call and has one.
    #[must_use]
    pub fn tool_result(&self) -> Option<ToolResult<'a>> {
        match (self.method, self.outcome) {
            (Method::CallTool, Outcome::Result(result)) => {
                Some(ToolResult::with(Members::noted(result, self.noted), self.member))
            }
            _ => None,
        }
    }

    /// What is in a resource, if the request was to read one and has a result.
    #[must_use]
    pub fn resource(&self) -> Option<ReadResult<'a>> {
        match (self.method, self.outcome) {
            (Method::ReadResource, Outcome::Result(result)) => Some(ReadResult::from_json(result)),
            _ => None,
        }
    }

    /// What a prompt says, if the request was to get one and has a result.
    #[must_use]
    pub fn prompt(&self) -> Option<PromptResult<'a>> {
        match (self.method, self.outcome) {
            (Method::GetPrompt, Outcome::Result(result)) => Some(PromptResult::from_json(result)),
            _ => None,
        }
    }

    /// What is proposed for an argument, if the request was to complete one and has a result.
    #[must_use]
    pub fn completion(&self) -> Option<Completion<'a>> {
        match (self.method, self.outcome) {
            (Method::Complete, Outcome::Result(result)) => Some(Completion::from_json(result)),
            _ => None,
        }
    }
}
