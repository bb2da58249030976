//! Tools and policy of the tests.

use mcp_proto::server::{Feature, Logging, Resource, Resources, ServerConfig, Subscriptions, Tool, Tools};
use mcp_proto_http::server::{Challenge, Policy, RequestHead, Verdict};

/// Schema of the tool `marked`, with arguments that header fields repeat.
pub(crate) const MARKED: &str = r#"{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"a_property_whose_name_is_longer_than_a_name_of_an_http_header_field_of_which_each_has_at_most_96_bytes":{"type":"string","x-mcp-header":"Long"},"deep":{"type":"object","properties":{"count":{"type":"integer","x-mcp-header":"Count"},"on":{"type":"boolean","x-mcp-header":"On"}}}}}"#;

static TOOLS: Tools<'static> = Tools::new(&[
    Tool::new("echo", "{}"),
    Tool::new("progress", "{}"),
    Tool::new("defer", "{}"),
    Tool::new("large", "{}"),
    Tool::new("needs", "{}"),
    Tool::new("ask", "{}"),
    Tool::new("marked", MARKED),
    Tool::new("write", r#"{"type":"object","properties":{"data":{"type":"string"}}}"#).streamed("data"),
])
.list_changed();

static RESOURCES: Resources<'static> = Resources::new(&[Resource::new("file:///é", "a")]).subscribe();

static FEATURES: [&dyn Feature; 4] = [&TOOLS, &RESOURCES, &Subscriptions, &Logging];

pub(crate) static CONFIG: ServerConfig<'static> =
    ServerConfig::new("s", "1").features(&FEATURES).anonymous_results();

/// Text of the tool `large`.
pub(crate) const LARGE: &str = match std::str::from_utf8(&[b'x'; 1500]) {
    Ok(text) => text,
    Err(_) => "",
};

/// A policy with a counter for randomness, and users named by `Authorization`.
#[derive(Default)]
pub(crate) struct TestPolicy {
    pub(crate) counter: u8,
    pub(crate) needs_token: bool,
    /// The accepted tokens. If there are none, any text in `Authorization` but `Bearer narrow` names a user.
    pub(crate) tokens: &'static [&'static str],
    pub(crate) metadata: Option<&'static str>,
    pub(crate) key: u8,
    /// Whether only the last random byte changes from call to call.
    pub(crate) is_predictable: bool,
}

impl Policy for TestPolicy {
    fn authorize(&mut self, head: &RequestHead<'_>) -> Verdict {
        let challenge =
            Challenge::new(r#"Bearer resource_metadata="https://x/.well-known/oauth-protected-resource""#);
        if !self.tokens.is_empty() {
            return match head.bearer_user(self.tokens.iter().copied()) {
                Some(user) => Verdict::Allow { user },
                None => Verdict::Deny { status: 401, challenge },
            };
        }
        match head.fields.field("authorization") {
            Some(b"Bearer narrow") => Verdict::Deny { status: 403, challenge },
            Some(token) => Verdict::Allow { user: token.iter().map(|byte| u64::from(*byte)).sum() },
            None if self.needs_token => Verdict::Deny { status: 401, challenge },
            None => Verdict::Allow { user: 0 },
        }
    }

    fn resource_metadata(&self) -> Option<&str> {
        self.metadata
    }

    fn random(&mut self) -> [u8; 16] {
        self.counter = self.counter.wrapping_add(1);
        let mut bytes = [if self.is_predictable { 1 } else { self.counter }; 16];
        bytes[15] = self.counter;
        bytes
    }

    fn input_schema(&self, tool: &str) -> Option<&str> {
        (tool == "marked").then_some(MARKED)
    }

    fn sign(&self, data: &[u8]) -> Option<[u8; 16]> {
        let mut sum = [self.key; 16];
        for (index, byte) in data.iter().enumerate() {
            sum[index % 16] = sum[index % 16].wrapping_mul(31).wrapping_add(*byte);
        }
        Some(sum)
    }
}
