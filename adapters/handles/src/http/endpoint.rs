//! The URL of a server, and the settings of its connections.

use std::fmt;
use std::io;
use std::time::Duration;

use http::Uri;

use crate::http_failure::public_url;

/// The URL of a server, and the settings of the connections to the server.
///
/// ```
/// # use mcp_proto_handles::HttpEndpoint;
///
/// let endpoint = HttpEndpoint::new("https://example.com/mcp").header("Authorization", "Bearer …");
/// ```
#[derive(Clone)]
pub struct HttpEndpoint {
    pub(super) url: String,
    pub(super) fields: Vec<(String, String)>,
    connect_timeout: Duration,
    pub(super) listens: bool,
}

impl HttpEndpoint {
    /// Creates an endpoint for a URL that begins with `http://` or, with the feature `https` of the adapter, with
    /// `https://`.
    #[must_use]
    pub fn new(url: impl Into<String>) -> HttpEndpoint {
        HttpEndpoint {
            url: url.into(),
            fields: Vec::new(),
            connect_timeout: Duration::from_secs(10),
            listens: true,
        }
    }

    /// Adds a header field to every request, for example for authorization. A `User-Agent` replaces the default one.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> HttpEndpoint {
        self.fields.push((name.into(), value.into()));
        self
    }

    /// Sets the time limit for opening a connection. The default is 10 seconds.
    #[must_use]
    pub fn connect_timeout(mut self, time: Duration) -> HttpEndpoint {
        self.connect_timeout = time;
        self
    }

    /// Disables the stream for messages that the server sends without a request. Only sessions of the handshake era
    /// have such a stream.
    #[must_use]
    pub fn without_listening(mut self) -> HttpEndpoint {
        self.listens = false;
        self
    }

    /// Returns the time limit for opening a connection.
    #[must_use]
    pub fn connect_time(&self) -> Duration {
        self.connect_timeout
    }

    /// Parses the URL.
    ///
    /// # Errors
    /// The URL is invalid, has a scheme other than `http` and `https`, or needs TLS although `has_tls` is `false`.
    pub(super) fn parse(&self, has_tls: bool) -> io::Result<Uri> {
        let error = |kind: io::ErrorKind, cause: &dyn fmt::Display| {
            io::Error::new(kind, format!("{}: {cause}", public_url(&self.url)))
        };
        let scheme = self.url.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
        match scheme.as_deref() {
            Some("http") => {}
            Some("https") if has_tls => {}
            Some("https") => {
                let cause = "a URL with https needs the feature `https`";
                return Err(error(io::ErrorKind::Unsupported, &cause));
            }
            _ => {
                let cause = "the URL does not begin with http:// or https://";
                return Err(error(io::ErrorKind::InvalidInput, &cause));
            }
        }
        let uri = self.url.parse::<Uri>().map_err(|cause| error(io::ErrorKind::InvalidInput, &cause))?;
        let has_port =
            uri.authority().is_some_and(|authority| !authority.as_str().ends_with(authority.host()));
        match has_port && uri.port_u16().is_none() {
            true => Err(error(io::ErrorKind::InvalidInput, &"the port is not a number")),
            false => Ok(uri),
        }
    }
}

impl fmt::Debug for HttpEndpoint {
    /// Omits the header fields, because they may contain secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpEndpoint").field("url", &public_url(&self.url)).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_urls_are_named_without_their_secrets() {
        for (url, error) in [
            ("example.com/mcp", "example.com/mcp: the URL does not begin with http:// or https://"),
            ("", ": the URL does not begin with http:// or https://"),
            ("u:secret@h", "h: the URL does not begin with http:// or https://"),
            ("/mcp", "/mcp: the URL does not begin with http:// or https://"),
            (
                "ftp://u:secret@h/mcp?key=secret",
                "ftp://h/mcp: the URL does not begin with http:// or https://",
            ),
            ("https://h/mcp?key=secret", "https://h/mcp: a URL with https needs the feature `https`"),
        ] {
            let endpoint = HttpEndpoint::new(url).header("Authorization", "secret");
            assert_eq!(endpoint.parse(false).map_err(|error| error.to_string()), Err(error.into()));
            assert!(!format!("{endpoint:?}").contains("secret"));
        }
        for url in ["http://", "http://a b/mcp", "http://h:x/"] {
            let error = HttpEndpoint::new(url).parse(false).unwrap_err();
            assert!(error.to_string().starts_with(&format!("{url}: ")), "{error}");
        }
        assert!(HttpEndpoint::new("https://h/mcp").parse(true).is_ok());
        assert!(HttpEndpoint::new("HTTP://[::1]:80/mcp?key=1").parse(false).is_ok());
    }
}
