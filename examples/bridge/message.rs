//! Parts of messages that the bridge reads, and ids and tokens that it replaces.

use mcp_proto::json::{Json, Kind, Str};
use mcp_proto::rpc::Message;

// Members of `_meta`.
/// The revision of a request of the stateless era.
pub(crate) const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// The capabilities of the client that sends a request of the stateless era.
pub(crate) const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// The minimum level of log messages that a request of the stateless era requests.
pub(crate) const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
/// The request id of the subscription that a notification belongs to, or that a result ends.
pub(crate) const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";
/// The progress token of a request.
pub(crate) const PROGRESS_TOKEN: &str = "progressToken";

/// Returns the id for an error response, or `None` without a valid id.
pub(crate) fn id<'m>(message: &Message<'m>) -> Option<Json<'m>> {
    message.id().filter(|id| id.kind() == Kind::String || id.is_integer_text())
}

/// Returns whether the message has this method.
pub(crate) fn has_method(message: &Message<'_>, name: &str) -> bool {
    message.method().and_then(Json::string).is_some_and(|method| method == *name)
}

/// Returns the member `key` of `_meta` in the parameters, if any.
pub(crate) fn meta<'m>(message: &Message<'m>, key: &str) -> Option<Json<'m>> {
    message.params()?.get("_meta")?.get(key)
}

/// Returns the parameter that `Mcp-Name` repeats, or `None` if the method has no such parameter, or the parameter is no
/// string.
pub(crate) fn name<'m>(message: &Message<'m>) -> Option<Str<'m>> {
    let is_named = ["tools/call", "prompts/get"].iter().any(|method| has_method(message, method));
    let key = if is_named { "name" } else { "uri" };
    let is_repeated = is_named || has_method(message, "resources/read");
    message.params().filter(|_| is_repeated)?.get(key)?.string()
}

/// Returns the parameter `progressToken`, if any. Only progress notifications have this parameter.
pub(crate) fn token<'m>(message: &Message<'m>) -> Option<Json<'m>> {
    message.params()?.get(PROGRESS_TOKEN)
}

/// Returns the request id of the subscription that a result ends, if any.
pub(crate) fn ended_subscription<'m>(message: &Message<'m>) -> Option<Json<'m>> {
    message.result()?.get("_meta")?.get(SUBSCRIPTION)
}

/// Returns the message with some parts replaced. The order of `places` does not matter, and `None` has no effect.
///
/// Each part must be a slice of the message. The parts must not overlap.
pub(crate) fn replace(message: &Message<'_>, places: &[(Option<Json<'_>>, &[u8])]) -> Vec<u8> {
    let (text, mut result, mut done) = (message.bytes(), Vec::new(), 0);
    let mut places: Vec<_> =
        places.iter().filter_map(|(part, value)| Some(((*part)?.bytes(), value))).collect();
    // A part is a slice of the text, so its address gives its position.
    places.sort_by_key(|(part, _)| part.as_ptr().addr());
    for (part, value) in places {
        let start = part.as_ptr().addr() - text.as_ptr().addr();
        result.extend_from_slice(&text[done..start]);
        result.extend_from_slice(value);
        done = start + part.len();
    }
    result.extend_from_slice(&text[done..]);
    result
}

/// Returns an error response, without an id if `id` is empty. `reason` must not contain characters that JSON escapes.
pub(crate) fn error(id: &[u8], code: i32, reason: &str) -> Vec<u8> {
    let id = String::from_utf8_lossy(id);
    let id = if id.is_empty() { String::new() } else { format!(r#""id":{id},"#) };
    format!(r#"{{"jsonrpc":"2.0",{id}"error":{{"code":{code},"message":"{reason}"}}}}"#).into_bytes()
}
