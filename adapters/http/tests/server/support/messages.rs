//! Requests and responses of the tests.

use mcp_proto_http::HeaderFields;
use mcp_proto_http::server::{Method, REFUSAL_SIZE, Refusal, RequestHead, ResponseHead};
use std::collections::BTreeMap;

/// A request under construction.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: &'static str,
    pub(crate) target: String,
    pub(crate) fields: Vec<(String, String)>,
    pub(crate) body: String,
    pub(crate) announces_length: bool,
}

impl Request {
    pub(crate) fn new(method: &'static str) -> Request {
        let fields = vec![("accept".into(), "application/json, text/event-stream".into())];
        Request { method, target: "/mcp".into(), fields, body: String::new(), announces_length: true }
    }

    pub(crate) fn post(body: impl Into<String>) -> Request {
        let request = Request::new("POST").with("content-type", "application/json");
        Request { body: body.into(), ..request }
    }

    /// Creates a request of 2026-07-28 with its header fields. `members` are the members of `params` other than
    /// `_meta`.
    pub(crate) fn modern(id: impl std::fmt::Display, method: &str, members: &str) -> Request {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{members}{}"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}},"io.modelcontextprotocol/logLevel":"debug","progressToken":"t"}}}}}}"#,
            if members.is_empty() { "" } else { "," }
        );
        Request::post(body).with("mcp-protocol-version", "2026-07-28").with("mcp-method", method)
    }

    /// Creates a `tools/call` of 2026-07-28.
    pub(crate) fn call(id: impl std::fmt::Display, tool: &str) -> Request {
        Request::modern(id, "tools/call", &format!(r#""name":"{tool}""#)).with("mcp-name", tool)
    }

    /// Creates a POST of a message of the handshake era. An empty `session` names no session.
    pub(crate) fn old(body: impl Into<String>, session: &str) -> Request {
        Request::post(body).with("mcp-session-id", session)
    }

    /// Sets or, with an empty value, removes a header field.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Request {
        self.fields.retain(|(known, _)| known != name);
        if !value.is_empty() {
            self.fields.push((name.into(), value.into()));
        }
        self
    }
}

pub(crate) struct Fields<'r>(pub(crate) &'r [(String, String)]);

impl HeaderFields for Fields<'_> {
    fn is_repeated(&self, name: &str) -> bool {
        self.0.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name)).count() > 1
    }

    fn field(&self, name: &str) -> Option<&[u8]> {
        self.0.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_bytes())
    }
}

/// A response as far as it has arrived.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) fields: BTreeMap<String, String>,
    pub(crate) body: String,
    pub(crate) ended: bool,
    pub(crate) cut: bool,
}

impl Reply {
    pub(crate) fn read_head(&mut self, head: &ResponseHead) {
        self.status = head.status;
        head.fields(&mut |name, value| {
            assert!(self.fields.insert(name.into(), value.into()).is_none(), "{name} is there twice");
        });
    }

    pub(crate) fn field(&self, name: &str) -> &str {
        self.fields.get(name).map_or("", String::as_str)
    }

    pub(crate) fn is_stream(&self) -> bool {
        self.field("content-type") == "text/event-stream"
    }

    /// Returns the data of the events.
    pub(crate) fn events(&self) -> Vec<String> {
        let events = self.body.split("\n\n").filter_map(|event| {
            event
                .lines()
                .find_map(|line| line.strip_prefix("data:"))
                .map(|data| data.trim_start().to_string())
        });
        events.collect()
    }

    pub(crate) fn ids(&self) -> Vec<String> {
        self.body.lines().filter_map(|line| line.strip_prefix("id: ")).map(str::to_string).collect()
    }

    pub(crate) fn refused(refusal: &Refusal) -> Reply {
        let mut buffer = [0; REFUSAL_SIZE];
        let (head, body) = refusal.write(&mut buffer);
        let mut reply =
            Reply { body: String::from_utf8(body.to_vec()).unwrap(), ended: true, ..Reply::default() };
        reply.read_head(&head);
        reply
    }

    /// Returns the code of the JSON-RPC error in the body, or 0 without an error.
    pub(crate) fn code(&self) -> i64 {
        let json = mcp_proto::json::Json::parse(self.body.as_bytes()).unwrap();
        json.get("error").and_then(|error| error.get("code")).and_then(|code| code.integer()).unwrap_or(0)
    }
}

pub(crate) fn initialize(revision: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{revision}","capabilities":{{}},"clientInfo":{{"name":"c","version":"1"}}}}}}"#
    )
}

/// Returns the body of a `tools/call` of the handshake era.
pub(crate) fn old_call(id: u32, tool: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","_meta":{{"progressToken":"t"}}}}}}"#
    )
}

pub(crate) fn head_of<'r>(request: &'r Request, fields: &'r Fields<'r>) -> RequestHead<'r> {
    let body_length = request.announces_length.then_some(request.body.len() as u64);
    RequestHead {
        method: Method::from_bytes(request.method.as_bytes()),
        target: &request.target,
        body_length: body_length.filter(|_| request.method == "POST"),
        fields,
    }
}
