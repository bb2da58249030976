//! What a client hears: answers, pages of lists, progress, and what the server says by itself.

use crate::fault::Fault;
use crate::inflight::Ticket;
use crate::json::{Decimal, Json, Kind, Str};
use crate::outcome::{Outcome, RpcError};
use crate::types::level::Level;

use super::asked::Asked;
use super::connect::Connected;
use super::listen::Acknowledged;
use super::nature::Nature;
use super::request::Method;
use super::rounds::InputRequired;

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
    /// A request makes progress.
    Progress(Progress<'a>),
    /// The server has logged something.
    Log(LogMessage<'a>),
    /// The server says that a list has changed.
    Changed {
        /// Which list.
        listed: Listed,
        /// The subscription under which it says so (`2026-07-28`).
        subscription: Option<Ticket>,
    },
    /// The server says that a resource has changed, which was subscribed to.
    Updated {
        /// Its URI, or that of a part of what was subscribed to.
        uri: Str<'a>,
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
    pub(crate) nature: Nature,
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

    /// Whether it was lost, and sending it again can do no harm: it only looks, as lists, reads and completions do. Of a
    /// call of a tool nobody knows.
    #[must_use]
    pub fn may_be_retried(&self) -> bool {
        matches!(self.outcome, Outcome::Lost(_)) && self.nature.is_repeatable()
    }

    /// The result of a tool, if the request was a call and has one.
    #[must_use]
    pub fn tool_result(&self) -> Option<ToolResult<'a>> {
        match (self.method, self.outcome) {
            (Method::CallTool, Outcome::Result(result)) => Some(ToolResult { result }),
            _ => None,
        }
    }
}

/// The result of a tool.
///
/// Specification: *Tools*, *Tool result*.
#[derive(Debug, Clone, Copy)]
pub struct ToolResult<'a> {
    result: Json<'a>,
}

/// A piece of content.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Content<'a> {
    /// Text.
    Text(Str<'a>),
    /// Something else, as the server wrote it.
    Other(Json<'a>),
}

impl<'a> ToolResult<'a> {
    /// Whether the tool says that it failed.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.result.get("isError").and_then(Json::boolean) == Some(true)
    }

    /// Its content, piece by piece.
    pub fn content(&self) -> impl Iterator<Item = Content<'a>> {
        self.result.get("content").unwrap_or(Json::NULL).elements().map(|block| {
            let [kind, text] = block.pick(["type", "text"]);
            let is_text = kind.and_then(Json::string).is_some_and(|kind| kind == "text");
            match text.filter(|_| is_text).and_then(Json::string) {
                Some(text) => Content::Text(text),
                None => Content::Other(block),
            }
        })
    }

    /// The first piece of text.
    #[must_use]
    pub fn text(&self) -> Option<Str<'a>> {
        self.content().find_map(|content| match content {
            Content::Text(text) => Some(text),
            Content::Other(_) => None,
        })
    }

    /// The structured content.
    #[must_use]
    pub fn structured(&self) -> Option<Json<'a>> {
        self.result.get("structuredContent")
    }

    /// The whole result.
    #[must_use]
    pub fn raw(&self) -> Json<'a> {
        self.result
    }
}

/// A page of the list of tools.
#[derive(Debug, Clone, Copy)]
pub struct ToolsPage<'a> {
    pub(crate) ticket: Ticket,
    pub(crate) result: Json<'a>,
    pub(crate) last: bool,
}

impl<'a> ToolsPage<'a> {
    /// Which request.
    #[must_use]
    pub fn ticket(&self) -> Ticket {
        self.ticket
    }

    /// Whether this is the end of the list. If not, the next page is asked for by itself; should that not go on,
    /// [`Event::Finished`] says why.
    #[must_use]
    pub fn is_last(&self) -> bool {
        self.last
    }

    /// The tools of the page.
    pub fn tools(&self) -> impl Iterator<Item = Tool<'a>> {
        let tools = self.result.get("tools").unwrap_or(Json::NULL);
        tools.elements().filter(|entry| entry.kind() == Kind::Object).map(|entry| Tool { entry })
    }

    /// The whole result.
    #[must_use]
    pub fn raw(&self) -> Json<'a> {
        self.result
    }
}

/// A tool, as the server describes it.
#[derive(Debug, Clone, Copy)]
pub struct Tool<'a> {
    entry: Json<'a>,
}

impl<'a> Tool<'a> {
    pub(crate) fn of(entry: Json<'a>) -> Tool<'a> {
        Tool { entry }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> Option<Str<'a>> {
        self.entry.get("name")?.string()
    }

    /// Its name for people: its title, or that of its annotations, or its name.
    #[must_use]
    pub fn title(&self) -> Option<Str<'a>> {
        let title = self.entry.get("title").and_then(Json::string);
        let annotated = || self.entry.get("annotations")?.get("title")?.string();
        title.or_else(annotated).or_else(|| self.name())
    }

    /// What it does.
    #[must_use]
    pub fn description(&self) -> Option<Str<'a>> {
        self.entry.get("description")?.string()
    }

    /// The JSON Schema of its arguments.
    #[must_use]
    pub fn input_schema(&self) -> Option<Json<'a>> {
        self.entry.get("inputSchema")
    }

    /// The JSON Schema of its structured results.
    #[must_use]
    pub fn output_schema(&self) -> Option<Json<'a>> {
        self.entry.get("outputSchema")
    }

    /// The whole entry.
    #[must_use]
    pub fn raw(&self) -> Json<'a> {
        self.entry
    }
}

/// Progress of a request.
#[derive(Debug, Clone, Copy)]
pub struct Progress<'a> {
    pub(crate) ticket: Ticket,
    pub(crate) params: Json<'a>,
}

impl<'a> Progress<'a> {
    /// Which request.
    #[must_use]
    pub fn ticket(&self) -> Ticket {
        self.ticket
    }

    /// How far it is.
    #[must_use]
    pub fn progress(&self) -> Decimal {
        self.number("progress").unwrap_or(Decimal::ZERO)
    }

    /// Where it ends, if that is known.
    #[must_use]
    pub fn total(&self) -> Option<Decimal> {
        self.number("total")
    }

    /// What it is doing.
    #[must_use]
    pub fn message(&self) -> Option<Str<'a>> {
        self.params.get("message")?.string()
    }

    fn number(&self, name: &str) -> Option<Decimal> {
        Decimal::parse(self.params.get(name)?.number()?)
    }
}

/// A log message of the server's.
#[derive(Debug, Clone, Copy)]
pub struct LogMessage<'a> {
    pub(crate) params: Json<'a>,
}

impl<'a> LogMessage<'a> {
    /// How severe it is, if the server says so by a known name.
    #[must_use]
    pub fn level(&self) -> Option<Level> {
        Level::of(self.params.get("level")?.string()?)
    }

    /// Which part of the server it comes from.
    #[must_use]
    pub fn logger(&self) -> Option<Str<'a>> {
        self.params.get("logger")?.string()
    }

    /// What it says: any value, often a string.
    #[must_use]
    pub fn data(&self) -> Json<'a> {
        self.params.get("data").unwrap_or(Json::NULL)
    }
}
