//! JSON-RPC messages: kinds, and parsing and comparison of request ids.
//!
//! Specification: every revision, *Base protocol*, *Messages*; JSON-RPC 2.0.

use crate::json::{DEPTH_LIMIT, Envelope, Json, Kind, Member, ScanError, Scanner, Shape, Span, Str};

pub mod code;

/// One scanned message: valid JSON with its envelope members located, without copies.
///
/// A router, proxy or fuzzer inspects a message before the client or server does. It parses the message once, and
/// passes it on with [`Receive::parsed`](crate::Receive::parsed).
///
/// ```
/// use mcp_proto::rpc::{Message, MessageKind};
/// let message = Message::parse(br#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#)?;
/// assert_eq!(message.kind(), MessageKind::Request);
/// assert_eq!(message.id().unwrap().raw(), "7");
/// assert!(message.method().unwrap().string().unwrap() == "ping");
/// # Ok::<(), mcp_proto::json::ScanError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Message<'m> {
    bytes: &'m [u8],
    envelope: Envelope,
}

/// The kind of a message, derived from its members.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MessageKind {
    /// A method and an id.
    Request,
    /// A method and no id.
    Notification,
    /// An id with either a result or an error, or an error without an id.
    Response,
    /// A JSON array: a batch (`2025-03-26` only).
    Batch,
    /// None of these.
    Invalid,
}

impl<'m> Message<'m> {
    /// Scans one message.
    ///
    /// # Errors
    /// The text is not valid JSON, or nested deeper than [`DEPTH_LIMIT`].
    pub fn parse(bytes: &'m [u8]) -> Result<Message<'m>, ScanError> {
        let mut scanner = Scanner::new(DEPTH_LIMIT);
        scanner.feed(bytes);
        Ok(Message { bytes, envelope: scanner.finish()? })
    }

    /// The whole text.
    #[must_use]
    pub fn bytes(&self) -> &'m [u8] {
        self.bytes
    }

    pub(crate) fn envelope(&self) -> Envelope {
        self.envelope
    }

    /// The kind of the message.
    #[must_use]
    pub fn kind(&self) -> MessageKind {
        match classify(self, false) {
            Class::Request { .. } => MessageKind::Request,
            Class::Notification { .. } => MessageKind::Notification,
            Class::Response { .. } | Class::ErrorWithoutId { .. } => MessageKind::Response,
            Class::Invalid { why: Invalid::Batch, .. } => MessageKind::Batch,
            Class::Invalid { .. } => MessageKind::Invalid,
        }
    }

    /// The member `id`, whatever its type.
    #[must_use]
    pub fn id(&self) -> Option<Json<'m>> {
        self.view(self.envelope.id)
    }

    /// The member `method`, whatever its type.
    #[must_use]
    pub fn method(&self) -> Option<Json<'m>> {
        self.view(self.envelope.method)
    }

    /// The member `params`.
    #[must_use]
    pub fn params(&self) -> Option<Json<'m>> {
        self.view(self.envelope.params)
    }

    /// The member `result`.
    #[must_use]
    pub fn result(&self) -> Option<Json<'m>> {
        self.view(self.envelope.result)
    }

    /// The member `error`.
    #[must_use]
    pub fn error(&self) -> Option<Json<'m>> {
        self.view(self.envelope.error)
    }

    fn view(&self, span: Option<Span>) -> Option<Json<'m>> {
        Some(view(self.bytes, span?))
    }
}

impl Envelope {
    /// Whether it has a result or an error, and no method.
    pub(crate) fn looks_like_response(&self) -> bool {
        self.method.is_none() && (self.result.is_some() || self.error.is_some())
    }

    /// Drops an unreliable id of a message that was truncated at `at`. An id that ends there may be incomplete. An id
    /// without a method, result or error may belong to a request or to a response.
    pub(crate) fn cut(&mut self, at: usize) {
        let known = self.method.or(self.result).or(self.error).is_some();
        self.id = self.id.filter(|id| id.end < at && known);
    }
}

/// The value at `span` of a scanned text.
pub(crate) fn view(bytes: &[u8], span: Span) -> Json<'_> {
    Json::exact(bytes.get(span.range()).unwrap_or_default())
}

/// The method of a request, compared with names that have no backslash.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MethodName<'m> {
    /// The text of the string, with its escapes.
    text: &'m [u8],
}

impl<'m> MethodName<'m> {
    fn from_json(value: Json<'m>) -> Option<MethodName<'m>> {
        match value.bytes() {
            [b'"', text @ .., b'"'] => Some(MethodName { text }),
            _ => None,
        }
    }

    pub(crate) fn string(self) -> Str<'m> {
        Str::trusted(self.text)
    }
}

impl PartialEq<&str> for MethodName<'_> {
    #[inline]
    fn eq(&self, name: &&str) -> bool {
        // Escaped text is longer than the name that it stands for.
        self.text == name.as_bytes() || self.text.len() > name.len() && self.string() == **name
    }
}

/// A classified message with its parts.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Class<'m> {
    Request {
        id: Json<'m>,
        method: MethodName<'m>,
        params: Option<Json<'m>>,
    },
    Notification {
        method: Str<'m>,
        params: Option<Json<'m>>,
    },
    Response {
        id: Json<'m>,
        outcome: Outcome<'m>,
    },
    /// An error response that matches no request.
    ErrorWithoutId {
        error: Json<'m>,
    },
    Invalid {
        /// The id for an error response, if it is valid.
        id: Option<Json<'m>>,
        why: Invalid,
        /// Whether an error response is allowed: never for a message that looks like a notification or a response.
        answerable: bool,
    },
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Outcome<'m> {
    Result(Json<'m>),
    Error(Json<'m>),
    /// Both members, neither, or an error that is not an object.
    Malformed,
}

/// The reason why a message is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Invalid {
    Batch,
    NotAnObject,
    Version,
    Id,
    Method,
}

/// The members of a scanned message.
pub(crate) trait Parts<'m> {
    fn shape(&self) -> Shape;
    /// The value of a member. `None` if the message has no such member.
    fn part(&self, member: Member) -> Option<Json<'m>>;
}

impl<'m> Parts<'m> for Message<'m> {
    fn shape(&self) -> Shape {
        self.envelope.shape
    }

    fn part(&self, member: Member) -> Option<Json<'m>> {
        match member {
            Member::Jsonrpc => self.view(self.envelope.jsonrpc),
            Member::Id => self.id(),
            Member::Method => self.method(),
            Member::Params => self.params(),
            Member::Result => self.result(),
            Member::Error => self.error(),
        }
    }
}

/// A scanner that has scanned `bytes`. It returns single members without an [`Envelope`] of all of them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scanned<'s, 'm> {
    pub(crate) scanner: &'s Scanner,
    pub(crate) bytes: &'m [u8],
}

impl<'m> Parts<'m> for Scanned<'_, 'm> {
    fn shape(&self) -> Shape {
        self.scanner.envelope().shape
    }

    #[inline]
    fn part(&self, member: Member) -> Option<Json<'m>> {
        let open = self.scanner.member(member)?;
        let end = open.end.unwrap_or_else(|| self.scanner.position());
        Some(view(self.bytes, Span { start: open.start, end }))
    }
}

/// Classifies a message, and optionally accepts a missing `jsonrpc`.
pub(crate) fn classify<'m>(message: &impl Parts<'m>, tolerates_missing_version: bool) -> Class<'m> {
    let invalid = |why, id, answerable| Class::Invalid { id, why, answerable };
    let version = message.part(Member::Jsonrpc);
    // Only an object has members.
    if version.is_none() {
        match message.shape() {
            Shape::Object => {}
            Shape::Array => return invalid(Invalid::Batch, None, true),
            Shape::Other => return invalid(Invalid::NotAnObject, None, true),
        }
    }
    let (raw_id, method) = (message.part(Member::Id), message.part(Member::Method));
    let id = raw_id.filter(|id| is_id(*id));
    let outcome = match method {
        None => (message.part(Member::Result), message.part(Member::Error)),
        Some(_) => (None, None),
    };
    let looks_like_response = matches!(outcome, (Some(_), _) | (_, Some(_)));
    if !version.map_or(tolerates_missing_version, is_version) {
        let notification = method.is_some() && raw_id.is_none();
        return invalid(Invalid::Version, id, !looks_like_response && !notification);
    }
    if looks_like_response {
        let (result, error) = outcome;
        return response(result, error, id);
    }
    let Some(method) = method.and_then(MethodName::from_json) else {
        return invalid(Invalid::Method, id, true);
    };
    let params = message.part(Member::Params).filter(|params| !params.is_null());
    match id {
        Some(id) => Class::Request { id, method, params },
        None if raw_id.is_none() => Class::Notification { method: method.string(), params },
        None => invalid(Invalid::Id, None, true),
    }
}

/// Whether a value is the string `2.0`.
fn is_version(value: Json<'_>) -> bool {
    MethodName::from_json(value).is_some_and(|text| text == "2.0")
}

fn response<'m>(result: Option<Json<'m>>, error: Option<Json<'m>>, id: Option<Json<'m>>) -> Class<'m> {
    let outcome = match (result, error) {
        (Some(result), None) => Outcome::Result(result),
        (None, Some(error)) if error.kind() == Kind::Object => Outcome::Error(error),
        _ => Outcome::Malformed,
    };
    match (id, outcome) {
        (Some(id), outcome) => Class::Response { id, outcome },
        (None, Outcome::Error(error)) => Class::ErrorWithoutId { error },
        (None, _) => Class::Invalid { id: None, why: Invalid::Id, answerable: false },
    }
}

/// Whether a value is a valid request id: a string, or a number without fraction and exponent.
pub(crate) fn is_id(value: Json<'_>) -> bool {
    value.kind() == Kind::String || value.is_integer_text()
}

/// Whether two ids are equal: same type and same value, regardless of string escapes.
pub(crate) fn same_id(left: Json<'_>, right: Json<'_>) -> bool {
    match (left.string(), right.string()) {
        (Some(left), Some(right)) => left == right,
        (None, None) => left.raw() == right.raw(),
        _ => false,
    }
}

/// The span of `part` in `line`. `part` must be a subslice of `line`.
pub(crate) fn span_of(line: &[u8], part: &[u8]) -> Span {
    let start = part.as_ptr().addr().wrapping_sub(line.as_ptr().addr());
    Span { start, end: start.wrapping_add(part.len()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The classification table: the text of a message and its kind.
    #[test]
    fn message_kind_depends_on_members() {
        use MessageKind::{Batch, Invalid, Notification, Request, Response};
        let cases: &[(&str, MessageKind)] = &[
            (r#"{"jsonrpc":"2.0","id":1,"method":"m"}"#, Request),
            (r#"{"params":{},"method":"m","id":"","jsonrpc":"2.0"}"#, Request),
            (r#"{"jsonrpc":"2.0","id":0,"method":"m"}"#, Request),
            (r#"{"jsonrpc":"2.0","id":123456789012345678901234567890,"method":"m"}"#, Request),
            (r#"{"jsonrpc":"2.0","\u0069d":-7,"method":"m"}"#, Request),
            (r#"{"jsonrpc":"2.0","id":1,"method":"m","result":{}}"#, Request),
            (r#"{"jsonrpc":"2.\u0030","method":"m"}"#, Notification),
            (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, Response),
            (r#"{"jsonrpc":"2.0","id":1,"error":{}}"#, Response),
            (r#"{"jsonrpc":"2.0","id":1,"error":{},"result":{}}"#, Response),
            (r#"{"jsonrpc":"2.0","id":null,"error":{}}"#, Response),
            (r#"{"jsonrpc":"2.0","error":{}}"#, Response),
            (r#"{"jsonrpc":"2.0","result":{}}"#, Invalid),
            (r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#, Invalid),
            (r#"{"jsonrpc":"2.0","id":1.0,"method":"m"}"#, Invalid),
            (r#"{"jsonrpc":"2.0","id":1e0,"method":"m"}"#, Invalid),
            (r#"{"jsonrpc":"2.0","id":{},"method":"m"}"#, Invalid),
            (r#"{"jsonrpc":"2.0","id":true,"method":"m"}"#, Invalid),
            (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, Invalid),
            (r#"{"jsonrpc":"2.0","id":1}"#, Invalid),
            (r#"{"jsonrpc":"1.0","id":1,"method":"m"}"#, Invalid),
            (r#"{"jsonrpc":2.0,"id":1,"method":"m"}"#, Invalid),
            (r#"{"id":1,"method":"m"}"#, Invalid),
            (r#"{}"#, Invalid),
            (r#""text""#, Invalid),
            (r#"[]"#, Batch),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"m"}]"#, Batch),
        ];
        for (text, kind) in cases {
            assert_eq!(Message::parse(text.as_bytes()).unwrap().kind(), *kind, "{text}");
        }
    }

    #[test]
    fn error_codes_match_specifications() {
        use code::*;
        let of_json_rpc = [PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR];
        assert_eq!(of_json_rpc, [-32700, -32600, -32601, -32602, -32603]);
        assert_eq!([USER_REJECTED, RESOURCE_NOT_FOUND, URL_ELICITATION_REQUIRED], [-1, -32002, -32042]);
        let of_2026 = [HEADER_MISMATCH, MISSING_CLIENT_CAPABILITY, UNSUPPORTED_PROTOCOL_VERSION];
        assert_eq!(of_2026, [-32020, -32021, -32022]);
    }

    #[test]
    fn message_returns_members_of_any_type() {
        let text = br#"{"jsonrpc":"2.0","id":1.5,"method":2,"params":[3],"result":4,"error":"5"}"#;
        let message = Message::parse(text).unwrap();
        let members = [message.id(), message.method(), message.params(), message.result(), message.error()];
        assert_eq!(
            members.map(|member| member.map(Json::raw)),
            [Some("1.5"), Some("2"), Some("[3]"), Some("4"), Some("\"5\"")]
        );
        let message = Message::parse(b"{}").unwrap();
        let members = [message.id(), message.method(), message.params(), message.result(), message.error()];
        assert!(members.iter().all(Option::is_none));
    }

    #[test]
    fn truncated_message_keeps_complete_id_only() {
        let cases = [
            (r#"{"id":12,"method":"m"}"#, 9, true),
            (r#"{"method":"m","id":12}"#, 22, true),
            (r#"{"method":"m","id":12}"#, 21, false),
            (r#"{"result":1,"id":"x" }"#, 21, true),
            (r#"{"error":{},"id":"x" }"#, 20, false),
            (r#"{"params":{},"id":12 }"#, 22, false),
        ];
        for (text, at, counts) in cases {
            let mut envelope = Message::parse(text.as_bytes()).unwrap().envelope();
            envelope.cut(at);
            assert_eq!(envelope.id.is_some(), counts, "{text} at {at}");
        }
    }

    #[test]
    fn response_has_one_outcome() {
        let cases = [
            (r#"{"jsonrpc":"2.0","id":1,"result":7}"#, "result 7"),
            (r#"{"jsonrpc":"2.0","id":1,"error":{"code":1}}"#, "error {\"code\":1}"),
            (r#"{"jsonrpc":"2.0","id":1,"error":"no"}"#, "malformed"),
            (r#"{"jsonrpc":"2.0","id":1,"result":7,"error":{}}"#, "malformed"),
        ];
        for (text, expected) in cases {
            let message = Message::parse(text.as_bytes()).unwrap();
            let Class::Response { id, outcome } = classify(&message, false) else { panic!("{text}") };
            let found = match outcome {
                Outcome::Result(result) => std::format!("result {}", result.raw()),
                Outcome::Error(error) => std::format!("error {}", error.raw()),
                Outcome::Malformed => std::string::String::from("malformed"),
            };
            assert_eq!((id.raw(), found.as_str()), ("1", expected), "{text}");
        }
    }

    #[test]
    fn null_params_are_none() {
        let cases = [("null", None), ("{}", Some("{}")), ("[]", Some("[]"))];
        for (params, expected) in cases {
            let text = std::format!(r#"{{"jsonrpc":"2.0","method":"m","params":{params}}}"#);
            let message = Message::parse(text.as_bytes()).unwrap();
            let Class::Notification { params, .. } = classify(&message, false) else { panic!("{text}") };
            assert_eq!(params.map(Json::raw), expected);
        }
    }

    #[test]
    fn only_possible_requests_are_answerable() {
        let cases: &[(&str, bool, Option<&str>)] = &[
            (r#"{"id":1,"method":"m"}"#, true, Some("1")),
            (r#"{"method":"m"}"#, false, None),
            (r#"{"id":"x","result":{}}"#, false, Some("\"x\"")),
            (r#"{"jsonrpc":"2.0","id":1}"#, true, Some("1")),
            (r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#, true, None),
            (r#"{"jsonrpc":"2.0","method":1}"#, true, None),
            (r#"{"jsonrpc":"2.0","result":1}"#, false, None),
            (r#"[1]"#, true, None),
        ];
        for (text, expected, expected_id) in cases {
            let message = Message::parse(text.as_bytes()).unwrap();
            match classify(&message, false) {
                Class::Invalid { id, answerable, .. } => {
                    assert_eq!(answerable, *expected, "{text}");
                    assert_eq!(id.map(Json::raw), *expected_id, "{text}");
                }
                other => panic!("{text}: {other:?}"),
            }
        }
    }

    #[test]
    fn ids_are_equal_by_type_and_decoded_value() {
        let cases = [
            (r#"1"#, r#"1"#, true),
            (r#"1"#, r#""1""#, false),
            (r#""a""#, r#""\u0061""#, true),
            (r#""a""#, r#""b""#, false),
            (r#"10"#, r#"1"#, false),
        ];
        for (left, right, same) in cases {
            let parse = |text: &'static str| Json::parse(text.as_bytes()).unwrap();
            assert_eq!(same_id(parse(left), parse(right)), same, "{left} {right}");
        }
    }
}
