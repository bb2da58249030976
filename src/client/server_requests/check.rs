//! Validation of input requests against the declared capabilities.
//!
//! Specification: *Sampling*, *Elicitation*, *Roots*: *Error handling*; 2025-11-25 and later, *Sampling*, *Message
//! content constraints*.

use crate::error::ProtocolError;
use crate::json::{Json, Kind, Str};
use crate::protocol::capabilities::ClientCapabilities as Declared;
use crate::protocol::elicitation::OpenUrlView;
use crate::protocol::objects::annotations::Role;
use crate::protocol::objects::view::{has_text, text};
use crate::protocol::sampling::message::SampleMessageView;
use crate::rpc::hash_text;

use crate::client::server_requests::input_request::InputKind;

/// Returns the kind of input that a method requests. Returns `None` if the method requests no input, or the client
/// did not declare the capability. For `elicitation/create`, the kind is always `Form`.
pub(crate) fn kind_of_method(method: Str<'_>, declared: Declared) -> Option<InputKind> {
    let has_elicitation = declared.has(Declared::ELICITATION_FORM) || declared.has(Declared::ELICITATION_URL);
    let kinds = [
        (InputKind::Roots, declared.has(Declared::ROOTS)),
        (InputKind::Sample, declared.has(Declared::SAMPLING)),
        (InputKind::Form, has_elicitation),
    ];
    kinds.into_iter().find(|(kind, may)| *may && method == *kind.method()).map(|(kind, _)| kind)
}

/// Returns the kind of a validated input request. `is_method` returns whether the method of the request has a given
/// name. Returns `None` if the protocol defines no input request with this method.
pub(crate) fn kind_of(is_method: &dyn Fn(&str) -> bool, params: Json<'_>) -> Option<InputKind> {
    let kinds = [InputKind::Roots, InputKind::Sample, InputKind::Form];
    let kind = kinds.into_iter().find(|kind| is_method(kind.method()))?;
    let is_url = has_text(params, "mode", "url");
    Some(if kind == InputKind::Form && is_url { InputKind::Url } else { kind })
}

/// Validates the parameters of a request, and returns its kind: `kind`, or `Url` instead of `Form` for an elicitation
/// in the mode `url`. Returns `InvalidParams` if the parameters are not valid. `seed` is the hash seed for tool-use
/// ids.
pub(crate) fn check(
    kind: InputKind,
    params: Option<Json<'_>>,
    declared: Declared,
    seed: u64,
) -> Result<InputKind, ProtocolError> {
    let params = params.unwrap_or(Json::EMPTY_OBJECT);
    if params.kind() != Kind::Object {
        return Err(ProtocolError::InvalidParams);
    }
    match kind {
        InputKind::Roots | InputKind::Other | InputKind::Task => Ok(kind),
        InputKind::Sample => {
            check_sampling(params, declared, seed).then_some(kind).ok_or(ProtocolError::InvalidParams)
        }
        InputKind::Form | InputKind::Url => {
            check_elicitation(params, declared).ok_or(ProtocolError::InvalidParams)
        }
    }
}

/// Validates an elicitation, and returns its kind. The default mode is `form`. Returns `None` if the parameters are
/// not valid, or the client did not declare the mode.
fn check_elicitation(params: Json<'_>, declared: Declared) -> Option<InputKind> {
    let [mode, message, schema] = params.pick(["mode", "message", "requestedSchema"]);
    let mode = mode.filter(|mode| !mode.is_null());
    if mode.is_none_or(|mode| mode.string().is_some_and(|mode| mode == "form")) {
        let written = message?.kind() == Kind::String && schema?.kind() == Kind::Object;
        return (written && declared.has(Declared::ELICITATION_FORM)).then_some(InputKind::Form);
    }
    let is_url = has_text(params, "mode", "url") && declared.has(Declared::ELICITATION_URL);
    (is_url && OpenUrlView::is_valid(params)).then_some(InputKind::Url)
}

fn check_sampling(params: Json<'_>, declared: Declared, seed: u64) -> bool {
    let [messages, most, tools, choice] = params.pick(["messages", "maxTokens", "tools", "toolChoice"]);
    let present = |value: Option<Json<'_>>| value.is_some_and(|value| !value.is_null());
    let with_tools = present(tools) || present(choice);
    messages.is_some_and(|messages| messages.kind() == Kind::Array && tool_uses_match(messages, seed))
        && most.and_then(Json::unsigned).is_some()
        && (!with_tools || declared.has(Declared::SAMPLING_TOOLS))
}

/// A set of tool-use ids in one message. Stores only the number of ids and the sum of their hashes. The comparison of
/// two sets then takes constant time and memory, although the server controls the number of ids. The sum does not
/// depend on the order of the ids.
#[derive(Default, PartialEq, Eq)]
struct Ids {
    count: usize,
    sum: u64,
}

impl Ids {
    fn add(&mut self, id: Str<'_>, seed: u64) {
        let [high, low] = [seed, !seed].map(|seed| u64::from(hash_text(seed, &id)));
        self.count = self.count.saturating_add(1);
        self.sum = self.sum.wrapping_add((high << 32) | low);
    }
}

/// Returns whether tool uses and tool results match. Only the assistant may use tools. A message with tool results
/// must not come from the assistant, and must contain no other blocks. Each result must belong to a use in the
/// previous message. Each use must have a result in the next message.
fn tool_uses_match(messages: Json<'_>, seed: u64) -> bool {
    let mut wanted = Ids::default();
    for message in messages.elements().map(SampleMessageView::from_json) {
        if message.raw().kind() != Kind::Object {
            return false;
        }
        let (mut uses, mut results, mut blocks) = (Ids::default(), Ids::default(), 0usize);
        for block in message.blocks() {
            blocks = blocks.saturating_add(1);
            let block = block.raw();
            if has_text(block, "type", "tool_use") {
                uses.add(text(block, "id").unwrap_or_default(), seed);
            } else if has_text(block, "type", "tool_result") {
                results.add(text(block, "toolUseId").unwrap_or_default(), seed);
            }
        }
        let assistant = message.role() == Some(Role::Assistant);
        let is_pure = results.count == 0 || (results.count == blocks && !assistant);
        if !is_pure || results != wanted || (uses.count > 0 && !assistant) {
            return false;
        }
        wanted = uses;
    }
    wanted.count == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;
    use std::string::String;

    fn checked(method: &str, params: &str, declared: Declared) -> Result<InputKind, ProtocolError> {
        let method = format!("\"{method}\"");
        let method = Json::parse(method.as_bytes()).unwrap().string().unwrap();
        let kind = kind_of_method(method, declared).ok_or(ProtocolError::UnknownMethod)?;
        check(kind, Some(Json::parse(params.as_bytes()).unwrap()), declared, 7)
    }

    const ALL: Declared = Declared::ROOTS
        .with(Declared::SAMPLING)
        .with(Declared::SAMPLING_TOOLS)
        .with(Declared::ELICITATION_FORM)
        .with(Declared::ELICITATION_URL);

    #[test]
    fn undeclared_method_is_unknown_undeclared_mode_is_invalid() {
        const FORM: &str = r#"{"message":"m","requestedSchema":{}}"#;
        const URL: &str = r#"{"mode":"url","message":"m","url":"u","elicitationId":"i"}"#;
        const SAMPLE: &str = r#"{"messages":[],"maxTokens":1}"#;
        let (unknown, invalid) = (Err(ProtocolError::UnknownMethod), Err(ProtocolError::InvalidParams));
        let cases = [
            ("roots/list", "{}", Declared::ROOTS, Ok(InputKind::Roots)),
            ("roots/list", "{}", Declared::SAMPLING, unknown),
            ("roots/list", "[]", Declared::ROOTS, invalid),
            ("roots/destroy", "{}", ALL, unknown),
            ("elicitation/create", FORM, Declared::ELICITATION_FORM, Ok(InputKind::Form)),
            ("elicitation/create", FORM, Declared::ELICITATION_URL, invalid),
            ("elicitation/create", FORM, Declared::ROOTS, unknown),
            ("elicitation/create", URL, Declared::ELICITATION_URL, Ok(InputKind::Url)),
            ("elicitation/create", URL, Declared::ELICITATION_FORM, invalid),
            (
                "elicitation/create",
                r#"{"mode":"form","message":"m","requestedSchema":{}}"#,
                ALL,
                Ok(InputKind::Form),
            ),
            (
                "elicitation/create",
                r#"{"mode":null,"message":"m","requestedSchema":{}}"#,
                ALL,
                Ok(InputKind::Form),
            ),
            ("elicitation/create", r#"{"mode":"voice","message":"m","requestedSchema":{}}"#, ALL, invalid),
            ("elicitation/create", r#"{"mode":7,"message":"m","requestedSchema":{}}"#, ALL, invalid),
            ("elicitation/create", r#"{"message":"m"}"#, ALL, invalid),
            ("elicitation/create", r#"{"requestedSchema":{}}"#, ALL, invalid),
            ("elicitation/create", r#"{"mode":"url","message":"m"}"#, ALL, invalid),
            ("sampling/createMessage", SAMPLE, Declared::SAMPLING, Ok(InputKind::Sample)),
            ("sampling/createMessage", SAMPLE, Declared::ROOTS, unknown),
            ("sampling/createMessage", r#"{"messages":[]}"#, ALL, invalid),
            ("sampling/createMessage", r#"{"messages":[],"maxTokens":-1}"#, ALL, invalid),
            ("sampling/createMessage", r#"{"messages":{},"maxTokens":1}"#, ALL, invalid),
            ("sampling/createMessage", r#"{"messages":["x"],"maxTokens":1}"#, ALL, invalid),
            (
                "sampling/createMessage",
                r#"{"messages":[],"maxTokens":1,"tools":[]}"#,
                ALL,
                Ok(InputKind::Sample),
            ),
            (
                "sampling/createMessage",
                r#"{"messages":[],"maxTokens":1,"tools":[]}"#,
                Declared::SAMPLING,
                invalid,
            ),
            (
                "sampling/createMessage",
                r#"{"messages":[],"maxTokens":1,"toolChoice":{}}"#,
                Declared::SAMPLING,
                invalid,
            ),
            (
                "sampling/createMessage",
                r#"{"messages":[],"maxTokens":1,"tools":null}"#,
                Declared::SAMPLING,
                Ok(InputKind::Sample),
            ),
            (
                "sampling/createMessage",
                r#"{"messages":[],"maxTokens":1,"includeContext":"allServers"}"#,
                Declared::SAMPLING,
                Ok(InputKind::Sample),
            ),
        ];
        for (method, params, declared, expected) in cases {
            assert_eq!(checked(method, params, declared), expected, "{method} {params} {declared:?}");
        }
    }

    /// Builds a conversation with one message per word. A word is the role `u` or `a`, followed by blocks. A block is
    /// `t` (text), `+x` (tool use with the id `x`) or `-x` (result of this tool use).
    fn conversation(words: &str) -> String {
        let mut messages = String::new();
        for word in words.split(' ').filter(|word| !word.is_empty()) {
            let (role, rest) = word.split_at(1);
            let role = if role == "u" { "user" } else { "assistant" };
            let (mut blocks, mut pieces) = (String::new(), 0);
            let mut rest = rest.chars();
            while let Some(kind) = rest.next() {
                pieces += 1;
                blocks += if blocks.is_empty() { "" } else { "," };
                blocks += &match kind {
                    't' => String::from(r#"{"type":"text","text":"hello"}"#),
                    '+' => {
                        format!(
                            r#"{{"type":"tool_use","id":"{}","name":"n","input":{{}}}}"#,
                            rest.next().unwrap()
                        )
                    }
                    _ => format!(
                        r#"{{"type":"tool_result","toolUseId":"{}","content":[]}}"#,
                        rest.next().unwrap()
                    ),
                };
            }
            messages += if messages.is_empty() { "" } else { "," };
            // The test writes a single block without an array.
            let content = if pieces == 1 { blocks } else { format!("[{blocks}]") };
            messages += &format!(r#"{{"role":"{role}","content":{content}}}"#);
        }
        format!(r#"{{"messages":[{messages}],"maxTokens":1}}"#)
    }

    #[test]
    fn tool_use_requires_result_in_next_message() {
        let cases = [
            ("", true),
            ("ut at ut", true),
            ("utt", true),
            ("ut a+1 u-1", true),
            ("ut at+1+2 u-2-1 at", true),
            ("ut a+1 u-1 a+1 u-1", true),
            ("ut a+1", false),
            ("ut a+1 ut", false),
            ("ut a+1 u-2", false),
            ("ut a+1 u-1t", false),
            ("ut a+1 ut-1", false),
            ("ut a+1 u-1-1", false),
            ("ut a+1+2 u-1", false),
            ("ut a+1 at u-1", false),
            ("u-1", false),
            ("a-1", false),
            ("ut a+1 a-1", false),
            ("u+1 u-1", false),
            ("ut a+1 u-1 u-1", false),
        ];
        for (words, expected) in cases {
            let checked = checked("sampling/createMessage", &conversation(words), ALL);
            assert_eq!(checked.is_ok(), expected, "{words}");
        }
    }
}
