//! Parses the second line of a transcript: the machine and its configuration.

use mcp_proto::client::{ClientConfig, Connect, TaskLimits, Timeouts};
use mcp_proto::server::{Limits, SecondInitialize, ServerConfig, UnknownVersion};
use mcp_proto::{ClientCapabilities, KeepAlive, Millis, Revision, Revisions};

use crate::server;

/// The machine and its configuration.
#[derive(Debug, Clone)]
pub struct Setup {
    pub(crate) role: Role,
    words: Vec<(String, String)>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Role {
    Server(&'static ServerConfig<'static>),
    Client(&'static ClientConfig<'static>),
}

/// The valid words: for both roles, for a server, for a client.
const WORDS: [&[&str]; 3] = [
    &["session", "line", "answer", "depth", "slots", "revisions", "grace", "ping", "tolerant", "exact"],
    &[
        "client", "batches", "watches", "strict", "reject", "restart", "offers", "deferred", "asked", "id",
        "lsp",
    ],
    &[
        "server",
        "connect",
        "declares",
        "probe",
        "initialize",
        "request",
        "maximum",
        "input_limit",
        "pages",
        "cursors",
        "asked",
        "tasks",
    ],
];

impl Setup {
    /// Parses a setup line, such as `server word=value word`.
    pub(crate) fn parse(text: &str, at: &str) -> Setup {
        let mut words = text.split_whitespace();
        let role = words.next().unwrap_or_default();
        let words: Vec<(String, String)> = words
            .map(|word| word.split_once('=').unwrap_or((word, "")))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        let own = WORDS[match role {
            "server" => 1,
            "client" => 2,
            _ => panic!("{at}: the setup line must start with server or client"),
        }];
        for (word, _) in &words {
            assert!(own.contains(&&**word) || WORDS[0].contains(&&**word), "{at}: unknown word {word}");
        }
        let mut setup = Setup { role: Role::Server(&server::NOTHING), words };
        setup.role = match role {
            "server" => Role::Server(Box::leak(Box::new(setup.server()))),
            _ => Role::Client(Box::leak(Box::new(setup.client()))),
        };
        setup
    }

    pub(crate) fn is_server(&self) -> bool {
        matches!(self.role, Role::Server(_))
    }

    /// Returns the value of this word in the setup line, or `None` if the word is missing. A word without a value
    /// has an empty value.
    #[must_use]
    pub fn word(&self, name: &str) -> Option<&str> {
        self.words.iter().find(|(word, _)| word == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn number(&self, name: &str) -> Option<usize> {
        self.word(name).map(|value| value.parse().unwrap_or_else(|_| panic!("{name}={value}: not a number")))
    }

    fn time(&self, name: &str, otherwise: Millis) -> Millis {
        self.number(name).map_or(otherwise, |time| Millis(time as u64))
    }

    pub(crate) fn pings(&self) -> Option<KeepAlive> {
        let time = Millis(self.number("ping")? as u64);
        Some(KeepAlive { interval: time, timeout: time, close: true })
    }

    fn revisions(&self) -> Revisions {
        match self.word("revisions") {
            None => Revisions::ALL,
            Some("handshake") => Revisions::HANDSHAKE,
            Some("stateless") => Revisions::STATELESS,
            Some(list) => list.split(',').fold(Revisions::NONE, |all, text| {
                all.with(Revision::parse(text).unwrap_or_else(|| panic!("unknown revision {text}")))
            }),
        }
    }

    fn server(&self) -> ServerConfig<'static> {
        let limits = Limits::DEFAULT
            .with_depth(self.number("depth").unwrap_or(64) as u8)
            .with_id(self.number("id").unwrap_or(64))
            .with_deferred_timeout(self.time("deferred", Millis::seconds(60)))
            .with_request_timeout(self.time("asked", Millis::seconds(60)))
            .with_grace(self.time("grace", Millis(300)));
        let mut info = match self.word("offers") {
            None => server::EVERYTHING,
            Some("tools") => server::ONLY_TOOLS,
            Some("structured") => server::STRUCTURED,
            Some("nothing") => server::NOTHING,
            Some(other) => panic!("unknown value offers={other}"),
        };
        info = info.limits(limits).revisions(self.revisions());
        if self.word("strict").is_some() {
            info = info.strict_handshake();
        }
        if self.word("reject").is_some() {
            info = info.unknown_version(UnknownVersion::Reject);
        }
        if self.word("restart").is_some() {
            info = info.second_initialize(SecondInitialize::Restart);
        }
        if self.word("tolerant").is_some() {
            info = info.tolerate_missing_jsonrpc();
        }
        if self.word("lsp") == Some("off") {
            info = info.lsp_shutdown(false);
        }
        info
    }

    fn client(&self) -> ClientConfig<'static> {
        let timeouts = Timeouts {
            probe: self.time("probe", Timeouts::DEFAULT.probe.plus(Millis::seconds(20))),
            initialize: self.time("initialize", Timeouts::DEFAULT.initialize),
            request: self.time("request", Timeouts::DEFAULT.request),
            maximum: self.time("maximum", Timeouts::DEFAULT.maximum),
            grace: self.time("grace", Millis(300)),
        };
        let connect = match (self.word("connect"), self.word("session")) {
            (Some("automatic"), _) | (None, None | Some("2026-07-28")) => Connect::Automatic,
            (Some("stateless"), _) => Connect::Stateless,
            (Some("handshake") | None, _) => Connect::Handshake,
            (Some(other), _) => panic!("unknown value connect={other}"),
        };
        let mut info = ClientConfig::new("c", "1")
            .connect(connect)
            .revisions(self.revisions())
            .timeouts(timeouts)
            .capabilities(self.declared())
            .depth(self.number("depth").unwrap_or(64) as u8)
            .input_limit(self.number("input_limit").unwrap_or(10) as u32)
            .pages(self.number("pages").unwrap_or(1000) as u32);
        if let Some(interval) = self.number("tasks") {
            let interval = Millis(interval as u64);
            info = info.tasks(TaskLimits { interval, shortest_interval: interval, ..TaskLimits::DEFAULT });
        }
        if self.word("cursors").is_some() {
            info = info.empty_cursors();
        }
        if self.word("tolerant").is_some() {
            info = info.tolerate_missing_jsonrpc();
        }
        info
    }

    fn declared(&self) -> ClientCapabilities {
        let Some(declared) = self.word("declares") else { return ClientCapabilities::NONE };
        declared.split(',').fold(ClientCapabilities::NONE, |all, name| {
            all.with(match name {
                "roots" => ClientCapabilities::ROOTS,
                "roots-changed" => ClientCapabilities::ROOTS_LIST_CHANGED,
                "sampling" => ClientCapabilities::SAMPLING,
                "sampling-tools" => ClientCapabilities::SAMPLING_TOOLS,
                "form" => ClientCapabilities::ELICITATION_FORM,
                "url" => ClientCapabilities::ELICITATION_URL,
                other => panic!("unknown value declares={other}"),
            })
        })
    }

    /// Returns the steps that open the session.
    pub(crate) fn prelude(&self) -> String {
        let Some(revision) = self.word("session") else { return String::new() };
        if self.is_server() {
            let capabilities = self.word("client").unwrap_or("{}");
            return format!(
                "> {{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{{\"protocolVersion\":\"{revision}\",\
                 \"capabilities\":{capabilities},\"clientInfo\":{{\"name\":\"c\",\"version\":\"1\"}}}}}}\n\
                 < …\n! connected {revision} c {capabilities}\n\
                 > {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}}\n! ready\n"
            );
        }
        let everything = r#"{"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"prompts":{"listChanged":true},"completions":{},"logging":{}}"#;
        let capabilities = self.word("server").unwrap_or(everything);
        if revision == "2026-07-28" {
            format!(
                "< …\n> {{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{\"resultType\":\"complete\",\"supportedVersions\":[\"{revision}\"],\
                 \"capabilities\":{capabilities},\"ttlMs\":0,\"cacheScope\":\"private\"}}}}\n! connected {revision}\n"
            )
        } else {
            format!(
                "< …\n> {{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{\"protocolVersion\":\"{revision}\",\"capabilities\":{capabilities},\
                 \"serverInfo\":{{\"name\":\"s\",\"version\":\"1\"}}}}}}\n< …\n! connected {revision} to s\n"
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::WORDS;

    #[test]
    fn readme_explains_every_setup_word() {
        let readme = include_str!("../README.md");
        for word in WORDS.concat() {
            assert!(readme.contains(&format!("`{word}")), "README.md does not explain {word}");
        }
    }
}
