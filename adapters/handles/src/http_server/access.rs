//! `HttpAccess`: hosts, origins and authorization of a server over HTTP.

use std::fmt;

use mcp_proto::server::Tools;
use mcp_proto_http::server::{HttpConfig, Policy, RequestHead, Verdict};

/// An authorization of requests: see [`HttpAccess::authorize`].
type Authorize<'a> = Box<dyn FnMut(&RequestHead<'_>) -> Verdict + Send + 'a>;

/// A message authentication code of session ids: see [`HttpAccess::sign`].
type Sign<'a> = Box<dyn Fn(&[u8]) -> [u8; 16] + Send + 'a>;

/// Access to a server: hosts, origins and authorization.
///
/// ```
/// # use mcp_proto_handles::HttpAccess;
/// # use mcp_proto_http::server::{HttpConfig, Verdict};
///
/// static CONFIG: HttpConfig = HttpConfig::new().path("/mcp");
/// let access = HttpAccess::new(&CONFIG).authorize(|head| match head.fields.field("authorization") {
///     Some(b"Bearer secret") => Verdict::Allow { user: 1 },
///     _ => Verdict::Deny { status: 401, challenge: "Bearer" },
/// });
/// ```
pub struct HttpAccess<'a> {
    config: &'a HttpConfig<'a>,
    authorize: Option<Authorize<'a>>,
    sign: Option<Sign<'a>>,
    tools: Option<&'a Tools<'a>>,
}

impl<'a> HttpAccess<'a> {
    /// Permits all requests that the configuration permits.
    #[must_use]
    pub fn new(config: &'a HttpConfig<'a>) -> HttpAccess<'a> {
        HttpAccess { config, authorize: None, sign: None, tools: None }
    }

    /// Returns the configuration.
    #[must_use]
    pub fn config(&self) -> &'a HttpConfig<'a> {
        self.config
    }

    /// Compares the header fields `Mcp-Param-*` with the arguments of a call, for properties that the input schema of
    /// its tool marks with `x-mcp-header`.
    #[must_use]
    pub fn check_parameters(mut self, tools: &'a Tools<'a>) -> HttpAccess<'a> {
        self.tools = Some(tools);
        self
    }

    /// Decides about each request by its head.
    #[must_use]
    pub fn authorize(
        mut self,
        authorize: impl FnMut(&RequestHead<'_>) -> Verdict + Send + 'a,
    ) -> HttpAccess<'a> {
        self.authorize = Some(Box::new(authorize));
        self
    }

    /// Signs session ids, for [`SessionMode::Sealed`]. `sign` returns a message authentication code, such as a truncated
    /// HMAC with a key that all servers of a cluster share. Without it, `initialize` creates no session.
    ///
    /// [`SessionMode::Sealed`]: mcp_proto_http::server::SessionMode::Sealed
    #[must_use]
    pub fn sign(mut self, sign: impl Fn(&[u8]) -> [u8; 16] + Send + 'a) -> HttpAccess<'a> {
        self.sign = Some(Box::new(sign));
        self
    }
}

impl fmt::Debug for HttpAccess<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpAccess").field("config", &self.config).finish_non_exhaustive()
    }
}

impl Policy for HttpAccess<'_> {
    fn authorize(&mut self, head: &RequestHead<'_>) -> Verdict {
        self.authorize.as_mut().map_or(Verdict::Allow { user: 0 }, |authorize| authorize(head))
    }

    fn input_schema(&self, tool: &str) -> Option<&str> {
        let schema = self.tools?.get(tool)?.input_schema();
        Some(schema).filter(|schema| schema.contains("x-mcp-header"))
    }

    fn sign(&self, data: &[u8]) -> Option<[u8; 16]> {
        self.sign.as_ref().map(|sign| sign(data))
    }

    #[expect(clippy::expect_used, reason = "without randomness, a client could guess the sessions of others")]
    fn random(&mut self) -> [u8; 16] {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).expect("the operating system has randomness");
        bytes
    }
}
