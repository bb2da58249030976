//! Authorization of requests: verdicts, challenges, bearer tokens and the path of the resource metadata.

#[cfg(feature = "alloc")]
use alloc::{borrow::Cow, string::String};

use subtle::{ConditionallySelectable, ConstantTimeEq};

use super::request::RequestHead;

/// Verdict on the authorization of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The request is allowed. A session belongs to the `user` that created it, and so does a task. Handlers and hooks
    /// get the `user`: see [`HttpServer::user`](super::HttpServer::user).
    Allow {
        /// A number that identifies the user, such as the key in a database, or a keyed hash of the subject. 0 stands
        /// for no user.
        user: u64,
    },
    /// The request is refused.
    Deny {
        /// The status code of the response. The status should be 400, 401 or 403.
        status: u16,
        /// The value of `WWW-Authenticate`, or [`Challenge::NONE`].
        challenge: Challenge,
    },
}

/// The value of `WWW-Authenticate`.
///
/// The value is a constant. With the feature `alloc`, the value can also be a `String`.
///
/// ```
/// use mcp_proto_http::server::Challenge;
/// const CHALLENGE: Challenge = Challenge::new(r#"Bearer scope="files:read""#);
/// assert_eq!(Challenge::from("Bearer").as_str(), "Bearer");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Challenge(
    #[cfg(feature = "alloc")] Cow<'static, str>,
    #[cfg(not(feature = "alloc"))] &'static str,
);

impl Challenge {
    /// No challenge: the response has no field `WWW-Authenticate`.
    pub const NONE: Challenge = Challenge::new("");

    /// Creates a challenge from a constant text.
    #[must_use]
    pub const fn new(text: &'static str) -> Challenge {
        #[cfg(feature = "alloc")]
        return Challenge(Cow::Borrowed(text));
        #[cfg(not(feature = "alloc"))]
        Challenge(text)
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        #[cfg(feature = "alloc")]
        return &self.0;
        #[cfg(not(feature = "alloc"))]
        self.0
    }
}

impl From<&'static str> for Challenge {
    fn from(text: &'static str) -> Challenge {
        Challenge::new(text)
    }
}

#[cfg(feature = "alloc")]
impl From<String> for Challenge {
    fn from(text: String) -> Challenge {
        Challenge(Cow::Owned(text))
    }
}

impl core::fmt::Debug for Challenge {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.as_str().fmt(f)
    }
}

/// The path of the metadata document of a protected resource, without the path of the endpoint: see section 3 of
/// RFC 9728.
///
/// The document of the endpoint `/mcp` has the path `/.well-known/oauth-protected-resource/mcp`.
pub const RESOURCE_METADATA_PATH: &str = "/.well-known/oauth-protected-resource";

impl RequestHead<'_> {
    /// Returns the position of the request's bearer token in `tokens`, counted from 1. See RFC 6750, section 2.1.
    ///
    /// Returns `None` if the request has no bearer token, if the token is empty or not in `tokens`, or if the field
    /// `Authorization` is repeated. The comparison takes the same time for all tokens of the same length. So the time
    /// of a response reveals no byte of a token in `tokens`.
    ///
    /// ```
    /// use mcp_proto_http::server::{Challenge, RequestHead, Verdict};
    /// fn authorize(head: &RequestHead<'_>) -> Verdict {
    ///     match head.bearer_user(["token of the first user", "token of the second user"]) {
    ///         Some(user) => Verdict::Allow { user },
    ///         None => Verdict::Deny { status: 401, challenge: Challenge::new("Bearer") },
    ///     }
    /// }
    /// ```
    #[must_use]
    pub fn bearer_user<'t>(&self, tokens: impl IntoIterator<Item = &'t str>) -> Option<u64> {
        let token = self.bearer_token()?;
        let (mut user, mut position) = (0u64, 0u64);
        for known in tokens {
            position = position.saturating_add(1);
            user.conditional_assign(&position, known.as_bytes().ct_eq(token));
        }
        (user > 0).then_some(user)
    }

    fn bearer_token(&self) -> Option<&[u8]> {
        let (scheme, token) = self.field("authorization")?.split_at_checked("Bearer ".len())?;
        let is_bearer = scheme.eq_ignore_ascii_case(b"Bearer ") && !self.fields.is_repeated("authorization");
        Some(token.trim_ascii_start()).filter(|token| is_bearer && !token.is_empty())
    }
}
