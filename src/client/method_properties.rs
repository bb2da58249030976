//! Properties of each method for the client: result member, input requests, repeatability.

use crate::json::{Kind, Span};
use crate::platform::cold_path;
use crate::protocol::methods;
use crate::rpc::{self, Object};

use crate::client::lists::List;

/// The kind of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    /// A list whose pages the client requests by itself.
    List(List),
    CallTool,
    ReadResource,
    GetPrompt,
    Complete,
    GetSkill,
    ReadDirectory,
    Listen,
    /// A subscription that the client itself opens to follow a task.
    TaskListen,
    /// A poll of a task (`tasks/get`), or the time between two polls.
    TaskGet,
    /// The input responses for a task (`tasks/update`).
    TaskUpdate,
    /// The request of a task's result (`tasks/result`).
    TaskResult,
    /// Any other known request without side effects, such as a ping.
    ReadOnly,
    Other,
}

/// The kinds of method names. The kind of any other name is [`Method::Other`].
const KNOWN: [(&str, Method); 14] = [
    (methods::TOOLS_CALL.name, Method::CallTool),
    (methods::RESOURCES_READ.name, Method::ReadResource),
    (methods::PROMPTS_GET.name, Method::GetPrompt),
    (methods::COMPLETION_COMPLETE.name, Method::Complete),
    (methods::SKILLS_GET.name, Method::GetSkill),
    (methods::RESOURCES_DIRECTORY_READ.name, Method::ReadDirectory),
    (methods::SUBSCRIPTIONS_LISTEN.name, Method::Listen),
    (methods::TOOLS_LIST.name, Method::ReadOnly),
    (methods::PROMPTS_LIST.name, Method::ReadOnly),
    (methods::RESOURCES_LIST.name, Method::ReadOnly),
    (methods::RESOURCES_TEMPLATES_LIST.name, Method::ReadOnly),
    (methods::SKILLS_LIST.name, Method::ReadOnly),
    (methods::PING.name, Method::ReadOnly),
    (methods::SERVER_DISCOVER.name, Method::ReadOnly),
];

impl Method {
    pub(crate) fn from_name(name: &str) -> Method {
        KNOWN.into_iter().find(|(known, _)| *known == name).map_or(Method::Other, |(_, method)| method)
    }

    /// Returns the method name, if the server may respond to the request with input requests (`2026-07-28`).
    pub(crate) fn resumable_name(self) -> Option<&'static str> {
        match self {
            Method::CallTool => Some(methods::TOOLS_CALL.name),
            Method::ReadResource => Some(methods::RESOURCES_READ.name),
            Method::GetPrompt => Some(methods::PROMPTS_GET.name),
            _ => None,
        }
    }

    /// Returns whether the request belongs to a call that has become a task. A subscription to a task does not.
    pub(crate) fn is_task(self) -> bool {
        matches!(self, Method::TaskGet | Method::TaskUpdate | Method::TaskResult)
    }

    /// Returns the kind that events report. For a request about a task, this kind is the call that became the task.
    pub(crate) fn in_events(self) -> Method {
        if self.is_task() { Method::CallTool } else { self }
    }

    /// Returns whether the application can repeat the request without side effects.
    pub(crate) fn is_repeatable(self) -> bool {
        !matches!(self, Method::CallTool | Method::Other)
    }

    /// Returns the required member of the method's result, if there is one.
    #[inline]
    pub(crate) fn member(self) -> Option<&'static str> {
        match self {
            Method::Listen | Method::TaskListen | Method::ReadOnly | Method::Other => None,
            Method::TaskGet | Method::TaskUpdate | Method::TaskResult => None,
            Method::List(list) => Some(list.properties().member),
            Method::CallTool => Some("content"),
            Method::ReadResource => Some("contents"),
            Method::GetPrompt => Some("messages"),
            Method::Complete => Some("completion"),
            Method::GetSkill => Some("skill"),
            Method::ReadDirectory => Some("resources"),
        }
    }

    /// Returns whether a result is valid for the method. `member` is the [required member](Method::member) of the
    /// result.
    #[inline]
    pub(crate) fn accepts_result(self, result: Object<'_>, member: Span) -> bool {
        if result.kind() != Kind::Object {
            cold_path();
            // Some servers send `null` for a result without members.
            return self.member().is_none() && result.is_null();
        }
        match (self, result.line().get(member.start)) {
            (Method::GetSkill, first) => first == Some(&b'{'),
            (Method::Complete, _) => {
                let values = rpc::view(result.line(), member).get("values");
                values.is_some_and(|values| values.kind() == Kind::Array)
            }
            // Some servers omit an empty content array, or send `null`.
            (Method::CallTool, None | Some(b'n')) => true,
            (_, first) => first == Some(&b'[') || self.member().is_none(),
        }
    }
}
