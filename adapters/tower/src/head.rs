//! Heads of requests and responses, between the crate `http` and the state machine.

use http::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
use http::request::Parts;
use http::{HeaderMap, Response, StatusCode};
use mcp_proto_http::HeaderFields;
use mcp_proto_http::server::{MediaType, Method, REFUSAL_SIZE, Refusal, RequestHead, ResponseHead};

use crate::body::ResponseBody;

/// Header fields of a request.
pub(crate) struct Fields<'r> {
    headers: &'r HeaderMap,
    /// Fields that the state machine often reads: see [`index_of`]. A lookup in the map would hash the name of a field
    /// each time.
    known: [Option<&'r HeaderValue>; KNOWN_FIELDS],
    /// Bits of the known fields that occur more than once, except `Accept`.
    repeated: u16,
    /// The joined values of `Accept`, if this field occurs more than once.
    accept: Option<Vec<u8>>,
    /// Authority of the URI, which replaces the field `Host`. A request of HTTP/2 need not have the field `Host`.
    authority: Option<&'r str>,
}

impl<'r> Fields<'r> {
    pub(crate) fn new(head: &'r Parts) -> Fields<'r> {
        let (mut known, mut repeated) = ([None; KNOWN_FIELDS], 0);
        for (name, value) in &head.headers {
            let Some(index) = index_of(name.as_str()) else { continue };
            match known.get_mut(index) {
                Some(first @ None) => *first = Some(value),
                _ => repeated |= 1 << index,
            }
        }
        let accept = (repeated & ACCEPT_BIT != 0).then(|| {
            repeated &= !ACCEPT_BIT;
            let values: Vec<_> = head.headers.get_all(ACCEPT).iter().map(HeaderValue::as_bytes).collect();
            values.join(&b", "[..])
        });
        let authority = head.uri.authority().map(|authority| authority.as_str());
        Fields { headers: &head.headers, known, repeated, accept, authority }
    }
}

impl HeaderFields for Fields<'_> {
    fn field(&self, name: &str) -> Option<&[u8]> {
        if let (Some(authority), "host") = (self.authority, name) {
            return Some(authority.as_bytes());
        }
        if let (Some(accept), "accept") = (&self.accept, name) {
            return Some(accept);
        }
        let value = match index_of(name) {
            Some(index) => self.known.get(index).copied().flatten(),
            None => self.headers.get(name),
        };
        value.map(HeaderValue::as_bytes)
    }

    fn is_repeated(&self, name: &str) -> bool {
        match index_of(name) {
            Some(index) => self.repeated >> index & 1 == 1,
            None => self.headers.get_all(name).iter().nth(1).is_some(),
        }
    }
}

const KNOWN_FIELDS: usize = 10;

/// The bit of `Accept`, the only field of [`index_of`] whose value is a list.
const ACCEPT_BIT: u16 = 1;

/// Returns the index of a field that the state machine often reads, or `None` for any other field.
fn index_of(name: &str) -> Option<usize> {
    Some(match name {
        "accept" => 0,
        "authorization" => 1,
        "content-type" => 2,
        "host" => 3,
        "last-event-id" => 4,
        "mcp-method" => 5,
        "mcp-name" => 6,
        "mcp-protocol-version" => 7,
        "mcp-session-id" => 8,
        "origin" => 9,
        _ => return None,
    })
}

/// Converts the head of a request for the state machine.
pub(crate) fn request_head<'r>(
    head: &'r Parts,
    fields: &'r Fields<'r>,
    body_length: Option<u64>,
) -> RequestHead<'r> {
    RequestHead {
        method: Method::from_bytes(head.method.as_str().as_bytes()),
        target: head.uri.path_and_query().map_or("/", |target| target.as_str()),
        body_length,
        fields,
    }
}

/// Returns a response with this head. The HTTP server adds `Content-Length` for a body whose length is known.
pub(crate) fn response(head: &ResponseHead, body: ResponseBody) -> Response<ResponseBody> {
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(head.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    head.fields(&mut |name, value| match name {
        "content-length" => {}
        "content-type" if head.media_type == MediaType::Json => {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        _ => {
            if let (Ok(name), Ok(value)) =
                (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value))
            {
                headers.insert(name, value);
            }
        }
    });
    response
}

/// Returns the response to a request whose head was refused.
pub(crate) fn refusal(refusal: &Refusal) -> Response<ResponseBody> {
    let mut text = [0; REFUSAL_SIZE];
    let (head, body) = refusal.write(&mut text);
    response(&head, ResponseBody::full(body.to_vec().into()))
}

/// Returns a response without a body.
pub(crate) fn empty(status: StatusCode) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::full(bytes::Bytes::new()));
    *response.status_mut() = status;
    response
}
