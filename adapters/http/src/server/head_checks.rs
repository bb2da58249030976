//! Checks of a request head. Two tables list the checks in their order: before and after the authorization.

use mcp_proto::rpc::code;

use super::config::{HttpConfig, SessionMode};
use super::request::{Method, RequestHead};
use super::response::{Detail, Refusal};

/// The endpoint that a path names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Endpoint {
    /// The one endpoint of Streamable HTTP.
    Mcp,
    /// HTTP+SSE: the event stream.
    LegacyEvents,
    /// HTTP+SSE: messages.
    LegacyMessages,
}

type Check = fn(&HttpConfig<'_>, &RequestHead<'_>) -> Result<(), Refusal>;

/// Checks before the authorization of the request.
pub(super) const BEFORE_AUTHORIZATION: [Check; 5] = [path, method, repeated, host, origin];

/// Checks after the authorization of the request.
pub(super) const AFTER_AUTHORIZATION: [Check; 3] = [content_type, accept, length];

const fn refuse(status: u16, reason: &'static str) -> Refusal {
    Refusal::new(status, code::INVALID_REQUEST, reason)
}

/// Returns the endpoint of a request, or `None` if the path names no endpoint.
pub(super) fn endpoint(config: &HttpConfig<'_>, head: &RequestHead<'_>) -> Option<Endpoint> {
    if let Some(legacy) = &config.legacy {
        if head.path() == legacy.events {
            return Some(Endpoint::LegacyEvents);
        }
        if head.path() == legacy.messages {
            return Some(Endpoint::LegacyMessages);
        }
    }
    config.path.is_none_or(|expected| head.path() == expected).then_some(Endpoint::Mcp)
}

fn path(config: &HttpConfig<'_>, head: &RequestHead<'_>) -> Result<(), Refusal> {
    endpoint(config, head).map(|_| ()).ok_or(refuse(404, "no MCP endpoint has this path"))
}

fn method(config: &HttpConfig<'_>, head: &RequestHead<'_>) -> Result<(), Refusal> {
    let has_sessions = config.mode == SessionMode::Sessions;
    let (allowed, allow): (&[Method], _) = match endpoint(config, head) {
        Some(Endpoint::LegacyEvents) => (&[Method::Get], "GET"),
        Some(Endpoint::Mcp) if has_sessions => {
            (&[Method::Get, Method::Post, Method::Delete], "GET, POST, DELETE")
        }
        _ => (&[Method::Post], "POST"),
    };
    check_method(head, allowed, allow)
}

fn check_method(head: &RequestHead<'_>, allowed: &[Method], allow: &'static str) -> Result<(), Refusal> {
    if allowed.contains(&head.method) {
        return Ok(());
    }
    Err(Refusal { detail: Detail::Allow(allow), ..refuse(405, "the endpoint does not support this method") })
}

/// Checks a request for the metadata of the protected resource, which needs no authorization.
pub(super) fn check_metadata(config: &HttpConfig<'_>, head: &RequestHead<'_>) -> Result<(), Refusal> {
    check_method(head, &[Method::Get], "GET")?;
    repeated(config, head)?;
    host(config, head)?;
    origin(config, head)
}

fn repeated(_: &HttpConfig<'_>, head: &RequestHead<'_>) -> Result<(), Refusal> {
    match ["host", "origin", "mcp-session-id"].iter().any(|name| head.fields.is_repeated(name)) {
        true => Err(refuse(400, "`Host`, `Origin` or `Mcp-Session-Id` occurs twice")),
        false => Ok(()),
    }
}

fn host(config: &HttpConfig<'_>, head: &RequestHead<'_>) -> Result<(), Refusal> {
    match head.field("host") {
        Some(host) if !config.hosts.has_host(host) => {
            Err(refuse(403, "the server does not accept this `Host`"))
        }
        _ => Ok(()),
    }
}

fn origin(config: &HttpConfig<'_>, head: &RequestHead<'_>) -> Result<(), Refusal> {
    match head.field("origin") {
        Some(origin) if !config.origins.has_origin(origin) => {
            Err(refuse(403, "the server does not accept this `Origin`"))
        }
        _ => Ok(()),
    }
}

fn content_type(_: &HttpConfig<'_>, head: &RequestHead<'_>) -> Result<(), Refusal> {
    let is_json = |value: &[u8]| {
        value == b"application/json" || media_type(value).eq_ignore_ascii_case(b"application/json")
    };
    if head.method != Method::Post || head.field("content-type").is_some_and(is_json) {
        return Ok(());
    }
    Err(refuse(415, "`Content-Type` must be `application/json`"))
}

fn accept(config: &HttpConfig<'_>, head: &RequestHead<'_>) -> Result<(), Refusal> {
    let accepted = Accepted::from_head(head);
    let is_legacy_message = endpoint(config, head) == Some(Endpoint::LegacyMessages);
    match head.method {
        Method::Get if !accepted.takes_stream() => Err(refuse(406, "`Accept` must list `text/event-stream`")),
        Method::Post if is_legacy_message => Ok(()),
        Method::Post if config.is_accept_strict && !(accepted.json && accepted.event_stream) => {
            Err(refuse(406, "`Accept` must list `application/json` and `text/event-stream`"))
        }
        Method::Post if !(accepted.takes_json() || accepted.event_stream) => {
            Err(refuse(406, "`Accept` must list `application/json` or `text/event-stream`"))
        }
        _ => Ok(()),
    }
}

fn length(config: &HttpConfig<'_>, head: &RequestHead<'_>) -> Result<(), Refusal> {
    let limit = u64::try_from(config.limits.body).unwrap_or(u64::MAX);
    match head.body_length {
        Some(length) if length > limit => Err(Refusal::body_too_long(config.limits.body)),
        _ => Ok(()),
    }
}

/// The media types that `Accept` lists with a weight above 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Accepted {
    pub(super) json: bool,
    pub(super) event_stream: bool,
    /// `*/*`, or no `Accept` at all.
    pub(super) anything: bool,
}

impl Accepted {
    pub(super) fn from_head(head: &RequestHead<'_>) -> Accepted {
        let Some(value) = head.field("accept") else {
            return Accepted { anything: true, ..Accepted::default() };
        };
        // Fast path: most clients send this value.
        if value == b"application/json, text/event-stream" {
            return Accepted { json: true, event_stream: true, anything: false };
        }
        let mut accepted = Accepted::default();
        for range in value.split(|byte| *byte == b',') {
            let name = media_type(range);
            let is = |other: &[u8]| name.eq_ignore_ascii_case(other) && !has_zero_weight(range);
            accepted.json |= is(b"application/json") || is(b"application/*");
            accepted.event_stream |= is(b"text/event-stream") || is(b"text/*");
            accepted.anything |= is(b"*/*");
        }
        accepted
    }

    /// Returns whether the client accepts JSON. A wildcard counts as JSON.
    pub(super) fn takes_json(self) -> bool {
        self.json || self.anything
    }

    /// Returns whether the client of a GET accepts an event stream. A wildcard counts, because the response has no
    /// other media type.
    pub(super) fn takes_stream(self) -> bool {
        self.event_stream || self.anything
    }
}

/// Returns the media type before its parameters.
fn media_type(value: &[u8]) -> &[u8] {
    value.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii()
}

/// Returns whether the parameters contain a weight of 0, such as `q=0`.
fn has_zero_weight(range: &[u8]) -> bool {
    range.split(|byte| *byte == b';').skip(1).any(|parameter| {
        let weight = parameter.trim_ascii();
        let weight = weight.strip_prefix(b"q=").or_else(|| weight.strip_prefix(b"Q="));
        weight
            .is_some_and(|weight| !weight.is_empty() && weight.iter().all(|byte| matches!(byte, b'0' | b'.')))
    })
}
