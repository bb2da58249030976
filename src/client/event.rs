//! What a client hears: answers, pages of lists, progress, and what the server says by itself.

use crate::fault::Fault;
use crate::inflight::Ticket;
use crate::json::{Json, Str};
use crate::outcome::{Outcome, RpcError};

use super::connect::Connected;
use super::request::Method;
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
    Changed(Listed),
    /// The server says that a resource has changed that was subscribed to: it may be read again.
    Updated(Updated<'a>),
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

impl core::fmt::Display for Failure<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Failure::NoRevision => f.write_str("the client is set up without a revision to ask for"),
            Failure::NoCommonRevision(answer) => {
                write!(f, "the server speaks no revision that the client does; it answered {answer}")
            }
            Failure::Refused(error) => write!(f, "the server refused to connect: {error}"),
            Failure::InvalidAnswer => {
                f.write_str("the server's answer to the connection request is not valid")
            }
            Failure::TimedOut => f.write_str("the server did not answer in time"),
            Failure::Closed => f.write_str("the connection ended before the server answered"),
        }
    }
}

/// A request that has ended.
#[derive(Debug, Clone, Copy)]
pub struct Finished<'a> {
    pub(crate) ticket: Ticket,
    pub(crate) method: Method,
    pub(crate) outcome: Outcome<'a>,
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

    /// The result of a tool, if the request was a call and has one.
    #[must_use]
    pub fn tool_result(&self) -> Option<ToolResult<'a>> {
        match (self.method, self.outcome) {
            (Method::CallTool, Outcome::Result(result)) => Some(ToolResult::of(result)),
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
