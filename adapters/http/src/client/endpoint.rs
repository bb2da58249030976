//! The URL of the endpoint that a server of HTTP+SSE names.

/// Resolves the endpoint that a server of HTTP+SSE has named: see [`Request::endpoint`](super::Request::endpoint).
///
/// Returns the URL of the endpoint in three parts: origin, folder and rest. Returns `None` if `url` is not an absolute
/// URL, or if the path in `endpoint` has the segment `..`. Also returns `None` if `endpoint` begins with `//` or names
/// another origin, because another origin must not receive messages and credentials.
///
/// ```
/// use mcp_proto_http::client::resolve_endpoint;
///
/// let url = "https://example.com/sse";
/// assert_eq!(resolve_endpoint(url, "/messages?id=1").unwrap().concat(), "https://example.com/messages?id=1");
/// assert_eq!(resolve_endpoint(url, "https://example.org/messages"), None);
/// ```
#[must_use]
pub fn resolve_endpoint<'a>(url: &'a str, endpoint: &'a str) -> Option<[&'a str; 3]> {
    let (origin, path) = split_origin(url)?;
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let (folder, rest) = match split_origin(endpoint) {
        Some((given, rest)) if given.eq_ignore_ascii_case(origin) => ("", rest),
        Some(_) => return None,
        None if endpoint.starts_with("//") => return None,
        None if endpoint.starts_with('/') => ("", endpoint),
        None if endpoint.starts_with('?') && !path.is_empty() => (path, endpoint),
        None => (path.rfind('/').and_then(|end| path.get(..=end)).unwrap_or("/"), endpoint),
    };
    let has_parent = rest.split('?').next().unwrap_or_default().split('/').any(|segment| segment == "..");
    (!has_parent).then_some([origin, folder, rest])
}

/// Splits an absolute URL after its authority. Returns `None` for a relative reference.
fn split_origin(url: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = url.split_once("://")?;
    if scheme.is_empty() || !scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    let authority = rest.split(['/', '?', '#']).next()?;
    url.split_at_checked(scheme.len().saturating_add(3).saturating_add(authority.len()))
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;

    /// Rule A-C2 of `docs/http-rules.md`: another origin is refused.
    #[test]
    fn endpoint_is_resolved_on_the_origin_of_the_url() {
        for (url, endpoint, expected) in [
            ("http://a:1/sse", "/messages?s=1", Some("http://a:1/messages?s=1")),
            ("http://a:1/v1/sse?x=/y", "messages", Some("http://a:1/v1/messages")),
            ("http://a:1/v1/sse", "?s=1", Some("http://a:1/v1/sse?s=1")),
            ("http://a:1", "messages", Some("http://a:1/messages")),
            ("http://a:1?x", "?s=1", Some("http://a:1/?s=1")),
            ("http://a:1/sse", "http://A:1/m", Some("http://a:1/m")),
            ("http://a:1/sse", "m?to=http://b/", Some("http://a:1/m?to=http://b/")),
            ("http://a:1/sse", "http://a:1", Some("http://a:1")),
            ("http://a:1/sse", "http://a:2/m", None),
            ("http://a:1/sse", "https://a:1/m", None),
            ("http://a:1/sse", "http://a:1.b/m", None),
            ("http://a:1/sse", "http://a:1@b/m", None),
            ("http://a:1/sse", "//b/m", None),
            ("http://a:1/v1/sse", "../m", None),
            ("http://a:1/v1/sse", "/v1/../m", None),
            ("a:1/sse", "/m", None),
        ] {
            let resolved = resolve_endpoint(url, endpoint).map(|parts| parts.concat());
            assert_eq!(resolved.as_deref(), expected, "{url} {endpoint}");
        }
    }
}
