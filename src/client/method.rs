//! What a request is by its method, whoever named it: what its result has, whether the server may ask back before it
//! answers, and whether doing it twice does harm.

use crate::json::{Json, Kind};
use crate::protocol::methods;

use crate::client::lists::List;

/// What a request is by its method, as far as anything depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    /// A list whose pages the client asks for by itself.
    List(List),
    CallTool,
    ReadResource,
    GetPrompt,
    Complete,
    Listen,
    /// Something else that only looks: a ping, or one page of a list.
    Look,
    Other,
}

/// The methods of which more is known than that they are requests.
const KNOWN: [(&str, Method); 11] = [
    (methods::TOOLS_CALL.name, Method::CallTool),
    (methods::RESOURCES_READ.name, Method::ReadResource),
    (methods::PROMPTS_GET.name, Method::GetPrompt),
    (methods::COMPLETION_COMPLETE.name, Method::Complete),
    (methods::SUBSCRIPTIONS_LISTEN.name, Method::Listen),
    (methods::TOOLS_LIST.name, Method::Look),
    (methods::PROMPTS_LIST.name, Method::Look),
    (methods::RESOURCES_LIST.name, Method::Look),
    (methods::RESOURCES_TEMPLATES_LIST.name, Method::Look),
    (methods::PING.name, Method::Look),
    (methods::SERVER_DISCOVER.name, Method::Look),
];

impl Method {
    pub(crate) fn from_name(name: &str) -> Method {
        KNOWN.into_iter().find(|(known, _)| *known == name).map_or(Method::Other, |(_, method)| method)
    }

    /// The name of a request that the server may answer with questions (`2026-07-28`).
    pub(crate) fn may_ask(self) -> Option<&'static str> {
        match self {
            Method::CallTool => Some(methods::TOOLS_CALL.name),
            Method::ReadResource => Some(methods::RESOURCES_READ.name),
            Method::GetPrompt => Some(methods::PROMPTS_GET.name),
            _ => None,
        }
    }

    /// Whether doing it twice does no harm.
    pub(crate) fn is_repeatable(self) -> bool {
        !matches!(self, Method::CallTool | Method::Other)
    }

    /// The member that every result of the method has, if there is one.
    #[inline]
    pub(crate) fn member(self) -> Option<&'static str> {
        match self {
            Method::Listen | Method::Look | Method::Other => None,
            Method::List(list) => Some(list.member()),
            Method::CallTool => Some("content"),
            Method::ReadResource => Some("contents"),
            Method::GetPrompt => Some("messages"),
            Method::Complete => Some("completion"),
        }
    }

    /// Whether a result is what every result of the method is. `member` is that [member](Method::member) of it.
    pub(crate) fn fits(self, result: Json<'_>, member: Option<Json<'_>>) -> bool {
        if result.kind() != Kind::Object {
            // `null` is what some send for a result without members.
            return self.member().is_none() && result.is_null();
        }
        let is_array = |value: Option<Json<'_>>| value.is_some_and(|value| value.kind() == Kind::Array);
        match self {
            Method::Listen | Method::Look | Method::Other => true,
            Method::List(_) | Method::ReadResource | Method::GetPrompt => is_array(member),
            // Some servers leave an empty one out.
            Method::CallTool => is_array(member) || member.is_none_or(Json::is_null),
            Method::Complete => is_array(member.and_then(|completion| completion.get("values"))),
        }
    }
}
