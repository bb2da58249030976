//! `HttpAccess`: hosts, origins and authorization of a server over HTTP.

use std::borrow::Cow;
use std::fmt;

use mcp_proto::server::Tools;
use mcp_proto_http::server::{Challenge, HttpConfig, Policy, RequestHead, Verdict};

/// The authorization of requests.
enum Authorization<'a> {
    /// Every request is allowed. The user is that of [`HttpAccess::set_user`].
    None,
    /// See [`HttpAccess::bearer`].
    Tokens(Vec<String>),
    /// See [`HttpAccess::authorize`].
    Function(Box<dyn FnMut(&RequestHead<'_>) -> Verdict + Send + 'a>),
}

/// The metadata of a protected resource: see [`HttpAccess::resource_metadata`].
struct ResourceMetadata<'a> {
    url: Cow<'a, str>,
    document: Cow<'a, str>,
}

/// Computes the message authentication code of a session id: see [`HttpAccess::sign`].
type Sign<'a> = Box<dyn Fn(&[u8]) -> [u8; 16] + Send + 'a>;

/// Access to a server: hosts, origins and authorization.
///
/// ```
/// # use mcp_proto_handles::HttpAccess;
/// # use mcp_proto_http::server::{HttpConfig, SessionMode};
///
/// static HTTP: HttpConfig = HttpConfig::new().path("/mcp").sessions(SessionMode::Sessions);
/// let access = HttpAccess::new(&HTTP).bearer(["token of a user", "token of another user"]);
/// ```
pub struct HttpAccess<'a> {
    config: &'a HttpConfig<'a>,
    authorization: Authorization<'a>,
    user: u64,
    metadata: Option<ResourceMetadata<'a>>,
    sign: Option<Sign<'a>>,
    tools: Option<&'a Tools<'a>>,
}

impl<'a> HttpAccess<'a> {
    /// Creates an `HttpAccess` without authorization. The hosts and origins of `config` still apply.
    #[must_use]
    pub fn new(config: &'a HttpConfig<'a>) -> HttpAccess<'a> {
        HttpAccess {
            config,
            authorization: Authorization::None,
            user: 0,
            metadata: None,
            sign: None,
            tools: None,
        }
    }

    /// Returns the configuration.
    #[must_use]
    pub fn config(&self) -> &'a HttpConfig<'a> {
        self.config
    }

    /// Makes the server compare the header fields `Mcp-Param-*` with the arguments of each call of one of `tools`
    /// (`2026-07-28`). The server refuses a call whose fields differ from its arguments. Such a field repeats an
    /// argument that the input schema of the tool marks with `x-mcp-header`.
    #[must_use]
    pub fn check_parameters(mut self, tools: &'a Tools<'a>) -> HttpAccess<'a> {
        self.tools = Some(tools);
        self
    }

    /// Allows only requests with one of these tokens: `Authorization: Bearer TOKEN`. Other requests get 401 with a
    /// challenge.
    ///
    /// Each session belongs to the user of a token. The number of the user is the position of the token in `tokens`,
    /// counted from 1. The comparison takes the same time for all tokens of the same length: see
    /// [`RequestHead::bearer_user`]. An empty token is never accepted.
    /// `bearer` replaces an earlier [`authorize`](HttpAccess::authorize).
    #[must_use]
    pub fn bearer(mut self, tokens: impl IntoIterator<Item = impl AsRef<str>>) -> HttpAccess<'a> {
        let tokens = tokens.into_iter().map(|token| token.as_ref().to_owned());
        self.authorization = Authorization::Tokens(tokens.collect());
        self
    }

    /// Serves the metadata of the protected resource (RFC 9728), which names the authorization servers to a client.
    ///
    /// `document` is JSON. The server sends the document without authorization at
    /// `/.well-known/oauth-protected-resource`, and at that path followed by the path of the endpoint. `url` is the
    /// URL of the document, for the challenge of [`bearer`](HttpAccess::bearer): `Bearer resource_metadata="URL"`.
    ///
    /// ```
    /// # use mcp_proto_handles::HttpAccess;
    /// # use mcp_proto_http::server::HttpConfig;
    /// # static HTTP: HttpConfig = HttpConfig::new().path("/mcp");
    /// const URL: &str = "https://example.com/.well-known/oauth-protected-resource/mcp";
    /// const METADATA: &str =
    ///     r#"{"resource":"https://example.com/mcp","authorization_servers":["https://auth.example.com"]}"#;
    /// let access = HttpAccess::new(&HTTP).bearer(["token"]).resource_metadata(URL, METADATA);
    /// ```
    #[must_use]
    pub fn resource_metadata(
        mut self,
        url: impl Into<Cow<'a, str>>,
        document: impl Into<Cow<'a, str>>,
    ) -> HttpAccess<'a> {
        self.metadata = Some(ResourceMetadata { url: url.into(), document: document.into() });
        self
    }

    /// Sets the function that permits or refuses each request by its head. `authorize` replaces an earlier
    /// [`bearer`](HttpAccess::bearer). With `mcp-proto-std`, the connection closes without a response if the head of
    /// the refusing response exceeds 16 KiB.
    ///
    /// ```
    /// # use mcp_proto_handles::HttpAccess;
    /// # use mcp_proto_http::server::{HttpConfig, Verdict};
    /// # static HTTP: HttpConfig = HttpConfig::new();
    /// # fn user_of(token: Option<&[u8]>) -> Result<u64, String> { Err("invalid_token".into()) }
    /// let access = HttpAccess::new(&HTTP).authorize(|head| match user_of(head.fields.field("authorization")) {
    ///     Ok(user) => Verdict::Allow { user },
    ///     Err(error) => Verdict::Deny { status: 401, challenge: format!("Bearer error=\"{error}\"").into() },
    /// });
    /// ```
    #[must_use]
    pub fn authorize(
        mut self,
        authorize: impl FnMut(&RequestHead<'_>) -> Verdict + Send + 'a,
    ) -> HttpAccess<'a> {
        self.authorization = Authorization::Function(Box::new(authorize));
        self
    }

    /// Sets the user of the following requests, or 0 for no user. The method has no effect together with
    /// [`bearer`](HttpAccess::bearer) or [`authorize`](HttpAccess::authorize), which identify the user of each request.
    ///
    /// An adapter calls this method before each request if a layer in front of the server authenticates the users.
    pub fn set_user(&mut self, user: u64) {
        self.user = user;
    }

    /// Sets the function that signs session ids, for [`SessionMode::Sealed`]. `sign` returns a message authentication
    /// code, such as a truncated HMAC with a key that all servers of a cluster share. If no function is set,
    /// `initialize` creates no session in this mode.
    ///
    /// [`SessionMode::Sealed`]: mcp_proto_http::server::SessionMode::Sealed
    #[must_use]
    pub fn sign(mut self, sign: impl Fn(&[u8]) -> [u8; 16] + Send + 'a) -> HttpAccess<'a> {
        self.sign = Some(Box::new(sign));
        self
    }
}

impl HttpAccess<'_> {
    /// Returns the challenge for a request without a known token. See RFC 6750, section 3, and RFC 9728, section 5.1.
    /// The challenge has an error code only if the request has a bearer token.
    fn challenge(&self, head: &RequestHead<'_>) -> Challenge {
        let scheme = head.fields.field("authorization").and_then(|value| value.trim_ascii().get(..7));
        let has_token = scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case(b"bearer "));
        let error = has_token.then(|| r#"error="invalid_token""#.to_owned());
        let url = self.metadata.as_ref().map(|it| format!(r#"resource_metadata="{}""#, it.url));
        let parameters = error.into_iter().chain(url).collect::<Vec<_>>().join(", ");
        format!("Bearer {parameters}").trim_end().to_owned().into()
    }
}

impl fmt::Debug for HttpAccess<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpAccess").field("config", &self.config).finish_non_exhaustive()
    }
}

impl Policy for HttpAccess<'_> {
    fn authorize(&mut self, head: &RequestHead<'_>) -> Verdict {
        match &mut self.authorization {
            Authorization::None => Verdict::Allow { user: self.user },
            Authorization::Function(authorize) => authorize(head),
            Authorization::Tokens(tokens) => match head.bearer_user(tokens.iter().map(String::as_str)) {
                Some(user) => Verdict::Allow { user },
                None => Verdict::Deny { status: 401, challenge: self.challenge(head) },
            },
        }
    }

    fn resource_metadata(&self) -> Option<&str> {
        Some(&self.metadata.as_ref()?.document)
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
