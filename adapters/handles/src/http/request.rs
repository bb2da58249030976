//! Requests in the types of the crate `http`.

use bytes::Bytes;
use http::header::{HeaderName, HeaderValue, USER_AGENT};
use http::{Method, Request, Uri};
use mcp_proto_http::client::{self, resolve_endpoint};

use super::endpoint::HttpEndpoint;

/// Maximum length of an encoded header field, in bytes.
const LONGEST_FIELD: usize = 64 * 1024;
/// The error text for an endpoint that is invalid or on another origin. The client refuses such an endpoint, so that
/// messages and credentials do not reach another origin.
const FOREIGN_ENDPOINT: &str = "the server names an endpoint for messages on another origin";
/// The default value of `User-Agent`: the name and the version of this library.
const AGENT: &str = concat!("mcp-proto/", env!("CARGO_PKG_VERSION"));

/// Converts a request to the type of the crate `http`, and adds the header fields of the endpoint.
///
/// # Errors
/// Returns the reason why the request cannot be sent: a field is invalid or too long, or the server named an endpoint
/// that is invalid or on another origin.
pub(super) fn to_http(
    request: &client::Request<'_>,
    uri: &Uri,
    endpoint: &HttpEndpoint,
) -> Result<Request<Bytes>, String> {
    let target = match request.endpoint() {
        None => uri.clone(),
        Some(named) => {
            let parts = resolve_endpoint(&endpoint.url, named).ok_or(FOREIGN_ENDPOINT)?;
            parts.concat().parse().map_err(|_| FOREIGN_ENDPOINT)?
        }
    };
    let body = request.body().map(Bytes::copy_from_slice).unwrap_or_default();
    let mut message = Request::new(body);
    *message.uri_mut() = target;
    *message.method_mut() = match request.method() {
        client::Method::Post => Method::POST,
        client::Method::Get => Method::GET,
        client::Method::Delete => Method::DELETE,
    };
    let headers = message.headers_mut();
    headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
    let mut invalid = None;
    let written = request.fields(&mut vec![0; LONGEST_FIELD], &mut |name, value| match (
        HeaderName::from_bytes(name.as_bytes()),
        HeaderValue::from_str(value),
    ) {
        (Ok(name), Ok(value)) => drop(headers.append(name, value)),
        _ => invalid = Some(format!("invalid header field {name}")),
    });
    written.map_err(|error| error.to_string())?;
    for (name, value) in &endpoint.fields {
        match (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value)) {
            (Ok(name), Ok(mut value)) => {
                // The value may be a secret, so the debug format must omit the value.
                value.set_sensitive(true);
                match name == USER_AGENT {
                    true => drop(headers.insert(name, value)),
                    false => drop(headers.append(name, value)),
                }
            }
            _ => invalid = Some(format!("invalid header field {name}")),
        }
    }
    invalid.map_or(Ok(message), Err)
}
