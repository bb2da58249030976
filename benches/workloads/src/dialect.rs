//! The forms of a call of the tool `echo`, as official clients write them.

use crate::inputs::escape;
use crate::machine::HANDSHAKE;

/// `_meta` of 2026-07-28 from a host with all capabilities, in the order in which the official SDKs write it.
const STATELESS_META: &str = concat!(
    r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
    r#""io.modelcontextprotocol/clientInfo":{"name":"example-host","version":"1.0.0"},"#,
    r#""io.modelcontextprotocol/clientCapabilities":{"roots":{},"sampling":{"tools":{}},"#,
    r#""elicitation":{"form":{},"url":{}},"#,
    r#""extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}}"#,
);

/// The form of a call: its revision, its id, and the order of its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Revision 2025-11-25 with a number as the id, and without `_meta`.
    Handshake,
    /// `Handshake` with a progress token in `_meta`.
    ProgressToken,
    /// `Handshake` with a string as the id, as the Java SDK writes it.
    StringId,
    /// Revision 2026-07-28, as the Python SDK writes it.
    Stateless,
    /// Revision 2026-07-28, as the TypeScript SDK writes it: the method first, the id last.
    StatelessIdLast,
}

impl Dialect {
    /// All dialects.
    pub const ALL: [Dialect; 5] = [
        Dialect::Handshake,
        Dialect::ProgressToken,
        Dialect::StringId,
        Dialect::Stateless,
        Dialect::StatelessIdLast,
    ];

    /// Returns the name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Dialect::Handshake => "handshake",
            Dialect::ProgressToken => "progress token",
            Dialect::StringId => "string id",
            Dialect::Stateless => "2026-07-28",
            Dialect::StatelessIdLast => "2026-07-28, id last",
        }
    }

    /// Returns the dialect with this name, or `None` if the name is unknown.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Dialect> {
        Dialect::ALL.into_iter().find(|it| it.name() == name)
    }

    /// Returns whether calls are of revision 2026-07-28.
    #[must_use]
    pub fn is_stateless(self) -> bool {
        matches!(self, Dialect::Stateless | Dialect::StatelessIdLast)
    }

    /// Returns the messages with which a client opens the connection. The server responds once, with the id 0.
    #[must_use]
    pub fn opening(self) -> Vec<u8> {
        if self.is_stateless() {
            let params = format!(r#"{{"_meta":{{{STATELESS_META}}}}}"#);
            format!("{{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"server/discover\",\"params\":{params}}}\n")
                .into_bytes()
        } else {
            HANDSHAKE.to_vec()
        }
    }

    /// Returns a call of the tool `echo`, as one line without its line break.
    #[must_use]
    pub fn call(self, id: usize, text: &str) -> Vec<u8> {
        let head = match self {
            Dialect::StatelessIdLast => r#"{"method":"tools/call""#.into(),
            Dialect::StringId => format!(r#"{{"jsonrpc":"2.0","id":"5f3c9a1e-{id}","method":"tools/call""#),
            _ => format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call""#),
        };
        let meta = match self {
            Dialect::Handshake | Dialect::StringId => String::new(),
            Dialect::ProgressToken => format!(r#","_meta":{{"progressToken":{id}}}"#),
            Dialect::Stateless | Dialect::StatelessIdLast => format!(r#","_meta":{{{STATELESS_META}}}"#),
        };
        let tail = match self {
            Dialect::StatelessIdLast => format!(r#","jsonrpc":"2.0","id":{id}}}"#),
            _ => "}".into(),
        };
        let mut line = head.into_bytes();
        line.extend_from_slice(br#","params":{"name":"echo","arguments":{"text":""#);
        escape(&mut line, text);
        line.extend_from_slice(br#""}"#);
        line.extend_from_slice(meta.as_bytes());
        line.push(b'}');
        line.extend_from_slice(tail.as_bytes());
        line
    }
}
