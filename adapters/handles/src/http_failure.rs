//! The failure of one HTTP request.

use std::fmt;

use mcp_proto::Millis;

use crate::printable::Printable;

/// The failure of one HTTP request: a status that refuses the request, or no usable response.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpFailure {
    /// The URL, without its user, query and fragment, which may hold secrets.
    pub url: String,
    /// The status of a response that refuses the request. `None` for any other failure, such as a broken connection
    /// or a response without a message for the request.
    pub status: Option<u16>,
    /// The response's field `WWW-Authenticate`: with 401 and 403, the authorization that is missing. If the response
    /// has several lines of this field, they are joined with `, `.
    pub challenge: Option<String>,
    /// The response's field `Retry-After`: with 429 and 503, the time to wait, in seconds or as a date.
    pub retry_after: Option<String>,
    /// The description of a failure without a status, or of the end of a session; empty otherwise.
    pub reason: String,
}

/// The [`reason`](HttpFailure::reason) if the server refused the request because the session has ended.
const SESSION_LOST: &str = "the server has ended the session";

/// The [`reason`](HttpFailure::reason) if the response is complete, but contains no message for the request.
const NO_MESSAGE: &str = "the response contains no message for the request";

impl HttpFailure {
    /// Creates the failure of a request that a response with this status refuses. `field` returns the value of the
    /// response's header field with a name in lower case, or `None` if the field is missing.
    #[must_use]
    pub fn from_status(url: &str, status: u16, field: &dyn Fn(&str) -> Option<String>) -> HttpFailure {
        HttpFailure {
            status: Some(status),
            challenge: field("www-authenticate"),
            retry_after: field("retry-after"),
            ..HttpFailure::from_reason(url, String::new())
        }
    }

    /// Creates the failure of a request without a usable response. `reason` describes the failure.
    #[must_use]
    pub fn from_reason(url: &str, reason: String) -> HttpFailure {
        HttpFailure { url: public_url(url), status: None, challenge: None, retry_after: None, reason }
    }

    /// Creates the failure of a request whose response is complete, but contains no message for the request.
    #[cfg(feature = "http")]
    pub(crate) fn no_message(url: &str) -> HttpFailure {
        HttpFailure::from_reason(url, NO_MESSAGE.into())
    }

    /// Creates the failure of a request that the server refused with this status because the session has ended.
    #[cfg(feature = "http")]
    pub(crate) fn session_lost(url: &str, status: u16) -> HttpFailure {
        HttpFailure { status: Some(status), ..HttpFailure::from_reason(url, SESSION_LOST.into()) }
    }

    /// Returns whether the server refused the request because the session has ended. Such a request was not processed.
    pub(crate) fn is_session_lost(&self) -> bool {
        self.reason == SESSION_LOST
    }

    /// Returns the time to wait before the next request, at most five minutes. Returns zero if the server names no time
    /// in seconds.
    pub(crate) fn wait_time(&self) -> Millis {
        #[cfg(feature = "http")]
        if let Some(value) = &self.retry_after {
            return mcp_proto_http::client::retry_after(value.as_bytes());
        }
        Millis::ZERO
    }

    /// Returns whether the response is complete, but contains no message for the request.
    pub(crate) fn is_no_message(&self) -> bool {
        self.reason == NO_MESSAGE
    }
}

/// Returns a URL without its user, query and fragment, which may hold secrets.
#[must_use]
pub fn public_url(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = url.split_at(url.find("://").map_or(0, |at| at + 3));
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    format!("{scheme}{}{path}", authority.rsplit('@').next().unwrap_or_default())
}

impl fmt::Display for HttpFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.url)?;
        match self.status {
            Some(status) if self.reason.is_empty() => write!(f, "status {status}")?,
            Some(status) => write!(f, "status {status}, {}", Printable(&self.reason))?,
            None => write!(f, "{}", Printable(&self.reason))?,
        }
        if let Some(challenge) = &self.challenge {
            write!(f, ", WWW-Authenticate: {}", Printable(challenge))?;
        }
        if let Some(time) = &self.retry_after {
            write!(f, ", Retry-After: {}", Printable(time))?;
        }
        Ok(())
    }
}

impl std::error::Error for HttpFailure {}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "http")]
    #[test]
    fn wait_time_is_bounded_and_ignores_dates() {
        for (retry_after, expected) in [
            (None, 0),
            (Some("7"), 7_000),
            (Some(" 007 "), 7_000),
            (Some("301"), 300_000),
            (Some("99999999999999999999999"), 300_000),
            (Some("Wed, 21 Oct 2099 07:28:00 GMT"), 0),
            (Some("+7"), 0),
            (Some(""), 0),
        ] {
            let failure = HttpFailure::from_status("localhost", 503, &|name| {
                retry_after.filter(|_| name == "retry-after").map(str::to_owned)
            });
            assert_eq!(failure.wait_time(), Millis(expected), "{retry_after:?}");
        }
    }

    #[test]
    fn failure_names_url_status_and_fields_without_secrets() {
        let url = "https://user:secret@example.com:1/mcp?token=secret#x";
        let field = |name: &str| (name == "www-authenticate").then(|| "Bearer scope=\"a\"".to_owned());
        for (failure, expected) in [
            (
                HttpFailure::from_status(url, 401, &field),
                "https://example.com:1/mcp: status 401, WWW-Authenticate: Bearer scope=\"a\"",
            ),
            (
                HttpFailure::from_status(url, 503, &|name| (name == "retry-after").then(|| "5".into())),
                "https://example.com:1/mcp: status 503, Retry-After: 5",
            ),
            (HttpFailure::from_reason("localhost", "refused\u{1b}".into()), "localhost: refused\\u{1b}"),
            (
                HttpFailure::from_status("localhost", 429, &|name| {
                    (name == "retry-after").then(|| "\u{202e}5".into())
                }),
                "localhost: status 429, Retry-After: \\u{202e}5",
            ),
        ] {
            assert_eq!(failure.to_string(), expected);
        }
    }
}
