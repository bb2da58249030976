//! Valid and invalid requests of arbitrary clients.

use std::fmt;

use arbitrary::Arbitrary;
use mcp_proto_http::HeaderFields;
use mcp_proto_http::server::{Method, RequestHead};

use super::application::NAMES;

/// The user, session, revision, flaw and id of a request, as numbers.
#[derive(Debug, Clone, Copy, Arbitrary)]
pub(crate) struct Shape {
    pub(super) user: u8,
    pub(super) session: u8,
    pub(super) revision: u8,
    pub(super) flaw: u8,
    pub(super) id: u8,
}

/// The body of a POST. A number chooses a tool, a request to cancel, a request of the server to answer, or a text.
#[derive(Debug, Clone, Copy, Arbitrary)]
pub(crate) enum Body {
    Initialize,
    Initialized,
    Call(u8),
    OtherCall(u8),
    Ping,
    List,
    Listen,
    Batch(u8, u8),
    Cancel(u8),
    Respond(u8),
    Unknown,
    Notification,
    Garbage(u8),
    Large,
}

const VERSIONS: [&str; 5] = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2026-07-28"];

impl Shape {
    pub(super) fn is_modern(self) -> bool {
        self.version() == VERSIONS[0]
    }

    fn version(self) -> &'static str {
        VERSIONS[usize::from(self.revision) % VERSIONS.len()]
    }

    /// Returns the user, or `None` for an anonymous request. There are only a few users, so that some requests share a
    /// session.
    pub(super) fn user(self) -> Option<&'static str> {
        match self.user {
            0..160 => None,
            160..220 => Some("a"),
            220..250 => Some("b"),
            _ => Some("nobody"),
        }
    }
}

/// An HTTP request, with the ids of the JSON-RPC requests in its body.
#[derive(Clone)]
pub(crate) struct Request {
    pub(super) method: Method,
    pub(super) target: String,
    pub(super) fields: Vec<(&'static str, String)>,
    pub(super) body: Vec<u8>,
    pub(super) has_length: bool,
    /// The requests in the body: the id of each as JSON, and the text with which its result begins.
    pub(super) calls: Vec<(String, String)>,
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = String::from_utf8_lossy(&self.body);
        write!(f, "{:?} {} {:?} {text}", self.method, self.target, self.fields)
    }
}

impl HeaderFields for Request {
    fn field(&self, name: &str) -> Option<&[u8]> {
        self.fields.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_bytes())
    }

    fn is_repeated(&self, name: &str) -> bool {
        self.fields.iter().filter(|(known, _)| *known == name).count() > 1
    }
}

impl Request {
    /// Creates a request without a body.
    pub(super) fn new(method: Method, shape: Shape, session: Option<&str>) -> Request {
        let mut fields = vec![("accept", "application/json, text/event-stream".to_owned())];
        fields.extend(shape.user().map(|user| ("authorization", user.to_owned())));
        fields.extend(session.map(|session| ("mcp-session-id", session.to_owned())));
        let target = "/mcp".to_owned();
        let mut request =
            Request { method, target, fields, body: Vec::new(), has_length: true, calls: Vec::new() };
        request.spoil(shape.flaw);
        request
    }

    /// Creates a POST. No other request may use the number `token`. The second request of a batch uses `token + 1`.
    /// `asked` is the id of the server's request to which [`Body::Respond`] responds.
    pub(super) fn post(
        shape: Shape,
        session: Option<&str>,
        body: Body,
        token: usize,
        asked: Option<&str>,
    ) -> Request {
        let mut request = Request::new(Method::Post, shape, session);
        let mut text = Text { shape, calls: Vec::new(), token, name: None };
        let method = text.method(body);
        request.body = text.body(body, asked).into_bytes();
        request.fields.push(("content-type", "application/json".to_owned()));
        if !matches!(body, Body::Initialize) {
            request.fields.push(("mcp-protocol-version", shape.version().to_owned()));
        }
        if shape.is_modern() {
            request.fields.push(("mcp-method", method.to_owned()));
            request.fields.extend(text.name.map(|name| ("mcp-name", name.to_owned())));
            if text.name == Some("marked") {
                request.fields.push(("mcp-param-token", format!("k{token}")));
            }
        }
        request.calls = text.calls;
        request.spoil(shape.flaw);
        request
    }

    /// Changes one part of the request for some values of `flaw`. Most changes make the request invalid.
    fn spoil(&mut self, flaw: u8) {
        let mut set = |name, value: &str| {
            self.fields.retain(|(known, _)| *known != name);
            if !value.is_empty() {
                self.fields.push((name, value.to_owned()));
            }
        };
        match flaw {
            200 => set("accept", "application/json"),
            201 => set("accept", "text/event-stream"),
            202 => set("accept", ""),
            203 => set("accept", "image/png"),
            204 => set("content-type", "text/plain"),
            205 => set("origin", "http://evil.example"),
            206 => set("host", "evil.example"),
            207 => set("mcp-method", "tools/list"),
            208 => set("mcp-name", "other"),
            209 => set("mcp-name", ""),
            210 => set("mcp-protocol-version", ""),
            211 => set("mcp-protocol-version", "1999-01-01"),
            212 => set("mcp-param-token", "k"),
            213 => set("mcp-session-id", "00000000000000000000000000000000"),
            214 => self.fields.push(("mcp-method", "ping".to_owned())),
            215 => self.method = Method::Other,
            216..230 => self.has_length = false,
            _ => {}
        }
    }

    pub(super) fn head(&self) -> RequestHead<'_> {
        let has_body = self.method == Method::Post && self.has_length;
        let body_length = has_body.then_some(self.body.len() as u64);
        RequestHead { method: self.method, target: &self.target, body_length, fields: self }
    }

    pub(super) fn text_of(&self, name: &str) -> &str {
        self.field(name).and_then(|value| std::str::from_utf8(value).ok()).unwrap_or_default()
    }
}

/// The text of a body under construction.
struct Text {
    shape: Shape,
    calls: Vec<(String, String)>,
    token: usize,
    name: Option<&'static str>,
}

impl Text {
    fn method(&self, body: Body) -> &'static str {
        match body {
            Body::Initialize => "initialize",
            Body::Initialized => "notifications/initialized",
            Body::Ping => "ping",
            Body::List => "tools/list",
            Body::Listen => "subscriptions/listen",
            Body::Cancel(_) => "notifications/cancelled",
            Body::Notification => "notifications/other",
            Body::Unknown => "unknown",
            _ => "tools/call",
        }
    }

    fn body(&mut self, body: Body, asked: Option<&str>) -> String {
        let method = self.method(body);
        match body {
            Body::Initialize => {
                let version = if self.shape.is_modern() { "2025-11-25" } else { self.shape.version() };
                let members = format!(
                    r#""protocolVersion":"{version}","capabilities":{{}},"clientInfo":{{"name":"c","version":"1"}}"#
                );
                self.request(method, &members, "")
            }
            Body::Call(tool) | Body::OtherCall(tool) => self.call(tool, false),
            Body::Batch(first, second) => {
                let first = self.call(first, false);
                (self.token, self.shape.id) = (self.token + 1, self.shape.id.wrapping_add(1));
                let second = self.call(second, false);
                format!("[{first},{second}]")
            }
            Body::Listen => self.request(method, r#""notifications":{"toolsListChanged":true}"#, ""),
            Body::Ping | Body::List | Body::Unknown => self.request(method, "", ""),
            Body::Initialized | Body::Notification => {
                format!(r#"{{"jsonrpc":"2.0","method":"{method}"}}"#)
            }
            Body::Cancel(id) => {
                format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{{"requestId":{}}}}}"#, id % 4)
            }
            Body::Respond(_) => {
                format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{}}}}"#, asked.unwrap_or("99"))
            }
            Body::Garbage(which) => {
                let texts = ["", "{", "[]", "1", "[1]", "{}", r#"{"jsonrpc":"2.0","id":null}"#, "\u{1}"];
                texts[usize::from(which) % texts.len()].to_owned()
            }
            Body::Large => self.call(0, true),
        }
    }

    fn call(&mut self, tool: u8, is_large: bool) -> String {
        let name = NAMES[usize::from(tool) % NAMES.len()];
        self.name = Some(name);
        let padding = if is_large { "x".repeat(super::setup::BODY) } else { String::new() };
        let token = format!("k{}", self.token);
        let members = format!(r#""name":"{name}","arguments":{{"token":"{token}","padding":"{padding}"}}"#);
        self.request("tools/call", &members, &token)
    }

    fn request(&mut self, method: &str, members: &str, token: &str) -> String {
        let id = (self.shape.id % 4).to_string();
        let meta = match self.shape.is_modern() && method != "initialize" {
            true => {
                r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/logLevel":"debug","#
            }
            false => "",
        };
        let comma = if members.is_empty() { "" } else { "," };
        let text = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{members}{comma}"_meta":{{{meta}"progressToken":"t"}}}}}}"#
        );
        self.calls.push((id, token.to_owned()));
        text
    }
}
