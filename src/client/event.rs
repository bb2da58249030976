//! What a client hears: answers, pages of lists, progress, and what the server says by itself.

use crate::fault::Fault;
use crate::inflight::Ticket;
use crate::json::{Json, Str, Text, prints};
use crate::outcome::{Outcome, RpcError};

use super::asked::Asked;
use super::connect::Connected;
use super::listen::Acknowledged;
use super::members::{Members, Noted};
use super::method::Method;
use super::rounds::InputRequired;
use super::views::{
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
    Failed(Failure<'a>),
    /// A request has ended: exactly once for each ticket, but for those that the host cancelled, and lists, which
    /// end with their last page.
    Finished(Finished<'a>),
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
    Asked(Asked<'a>),
    /// A request of the server's that was [deferred](Asked::defer) is taken back: stop working on it. It gets no answer,
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
    /// There is room again for what was refused as [`NotNow::Busy`](crate::NotNow::Busy).
    Room,
    /// The server does not answer pings.
    Silent,
    /// Something went wrong, and was dealt with.
    Fault(Fault),
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
pub enum Failure<'a> {
    /// The client was set up without a revision that it could ask for.
    NoRevision,
    /// The server speaks no revision that the client does. With its answer.
    NoCommonRevision(Json<'a>),
    /// The server has refused to connect.
    Refused(RpcError<'a>),
    /// The server's answer is none.
    InvalidAnswer,
    /// The server has not answered in time.
    TimedOut,
    /// The connection ended first.
    Closed,
}

impl Text for Failure<'_> {
    fn pieces(&self, put: &mut dyn FnMut(&str)) {
        put(match self {
            Failure::NoRevision => "the client is set up without a revision to ask for",
            Failure::NoCommonRevision(answer) => {
                return ("the server speaks no revision that the client does; it answered ", answer)
                    .pieces(put);
            }
            Failure::Refused(error) => return ("the server refused to connect: ", error).pieces(put),
            Failure::InvalidAnswer => "the server's answer to the connection request is not valid",
            Failure::TimedOut => "the server did not answer in time",
            Failure::Closed => "the connection ended before the server answered",
        });
    }
}

prints!(Failure<'_>);

/// A request that has ended.
#[derive(Clone, Copy)]
pub struct Finished<'a> {
    pub(crate) ticket: Ticket,
    pub(crate) method: Method,
    pub(crate) outcome: Outcome<'a>,
    /// The [member](Method::member) of the result.
    pub(crate) member: Option<Json<'a>>,
    /// What is known of where its other members stand.
    pub(crate) noted: Option<Noted<'a>>,
}

/// What was found in the result is nobody's business.
impl core::fmt::Debug for Finished<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Finished { ticket, method, outcome, .. } = self;
        let mut out = f.debug_struct("Finished");
        out.field("ticket", ticket).field("method", method).field("outcome", outcome).finish()
    }
}

impl<'a> Finished<'a> {
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
    pub fn may_be_retried(&self) -> bool {
        matches!(self.outcome, Outcome::Lost(_)) && self.method.is_repeatable()
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
            (Method::ReadResource, Outcome::Result(result)) => Some(ReadResult::of(result)),
            _ => None,
        }
    }

    /// What a prompt says, if the request was to get one and has a result.
    #[must_use]
    pub fn prompt(&self) -> Option<PromptResult<'a>> {
        match (self.method, self.outcome) {
            (Method::GetPrompt, Outcome::Result(result)) => Some(PromptResult::of(result)),
            _ => None,
        }
    }

    /// What is proposed for an argument, if the request was to complete one and has a result.
    #[must_use]
    pub fn completion(&self) -> Option<Completion<'a>> {
        match (self.method, self.outcome) {
            (Method::Complete, Outcome::Result(result)) => Some(Completion::of(result)),
            _ => None,
        }
    }
}
