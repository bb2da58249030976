//! Tests of `http1`: heads, bodies, and the writer of heads.

mod body;
mod generated;
mod head_oracle;
pub(crate) mod random;
mod requests;
mod responses;
mod smuggling;
mod write;

use mcp_proto_http::HeaderFields;
use mcp_proto_http::http1::{
    BodyDecoder, BodyFraming, HttpError, HttpVersion, RequestDecoder, ResponseDecoder,
};

/// All fields that a head of any kind keeps, and some that it drops.
const NAMES: [&str; 22] = [
    "host",
    "origin",
    "content-type",
    "accept",
    "content-length",
    "transfer-encoding",
    "connection",
    "expect",
    "authorization",
    "mcp-session-id",
    "mcp-protocol-version",
    "mcp-method",
    "mcp-name",
    "last-event-id",
    "mcp-param-region",
    "mcp-param-x",
    "retry-after",
    "www-authenticate",
    "allow",
    "cookie",
    "user-agent",
    "mcp-param-",
];

/// A complete head.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Head {
    method: String,
    target: String,
    path: String,
    query: Option<String>,
    status: u16,
    version: HttpVersion,
    fields: Vec<(&'static str, String)>,
    body: BodyFraming,
    keeps_alive: bool,
    expects_continue: bool,
}

impl Head {
    fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }
}

/// A complete head and the number of consumed bytes, `None` for an incomplete head, or the error.
type Parsed = Result<Option<(Head, usize)>, HttpError>;

fn fields(head: &dyn HeaderFields) -> Vec<(&'static str, String)> {
    let value = |name: &&'static str| {
        Some((*name, head.field(name)?.iter().map(|byte| char::from(*byte)).collect::<String>()))
    };
    NAMES.iter().filter_map(value).collect()
}

/// Passes all pieces to `feed`, and checks that `feed` consumes nothing after the end of the head. Returns the number
/// of consumed bytes.
fn feed_all<'i>(
    pieces: impl IntoIterator<Item = &'i [u8]>,
    mut feed: impl FnMut(&[u8]) -> Result<usize, HttpError>,
) -> Result<usize, HttpError> {
    let mut consumed = 0;
    let mut is_complete = false;
    for piece in pieces {
        let n = feed(piece)?;
        assert!(n == piece.len() || n < piece.len() && !is_complete || n == 0, "{n}");
        is_complete |= n < piece.len();
        consumed += n;
    }
    Ok(consumed)
}

fn request<'i>(buffer: usize, limit: usize, pieces: impl IntoIterator<Item = &'i [u8]>) -> Parsed {
    let mut buffer = vec![0xEE; buffer];
    let mut decoder = RequestDecoder::new(&mut buffer).with_limit(limit);
    let consumed = feed_all(pieces, |piece| {
        let result = decoder.feed(piece);
        assert!(result.is_ok() || decoder.feed(b"x") == result, "errors are permanent");
        result
    })?;
    let Some(head) = decoder.head() else { return Ok(None) };
    let owned = Head {
        method: head.method().to_owned(),
        target: head.target().to_owned(),
        path: head.path().to_owned(),
        query: head.query().map(str::to_owned),
        status: 0,
        version: head.version(),
        fields: fields(&head),
        body: head.body(),
        keeps_alive: head.keeps_alive(),
        expects_continue: head.expects_continue(),
    };
    Ok(Some((owned, consumed)))
}

fn response<'i>(buffer: usize, limit: usize, pieces: impl IntoIterator<Item = &'i [u8]>) -> Parsed {
    let mut buffer = vec![0xEE; buffer];
    let mut decoder = ResponseDecoder::new(&mut buffer).with_limit(limit);
    let consumed = feed_all(pieces, |piece| {
        let result = decoder.feed(piece);
        assert!(result.is_ok() || decoder.feed(b"x") == result, "errors are permanent");
        result
    })?;
    let Some(head) = decoder.head() else { return Ok(None) };
    let owned = Head {
        method: String::new(),
        target: String::new(),
        path: String::new(),
        query: None,
        status: head.status(),
        version: head.version(),
        fields: fields(&head),
        body: head.body(),
        keeps_alive: head.keeps_alive(),
        expects_continue: false,
    };
    Ok(Some((owned, consumed)))
}

/// Parses the whole input, the input cut at each position, and single bytes. Checks that all results are equal, and
/// returns the result.
fn cut_everywhere<T: PartialEq + std::fmt::Debug>(
    input: &[u8],
    parse: impl Fn(&mut dyn Iterator<Item = &[u8]>) -> T,
) -> T {
    let whole = parse(&mut [input].into_iter());
    for position in 0..=input.len() {
        let (first, second) = input.split_at(position);
        let cut = parse(&mut [first, second].into_iter());
        assert_eq!(cut, whole, "cut at {position}: {}", input.escape_ascii());
    }
    let bytes = parse(&mut input.chunks(1));
    assert_eq!(bytes, whole, "single bytes: {}", input.escape_ascii());
    whole
}

/// Parses a request head with a buffer of 300 bytes, with [`cut_everywhere`].
fn parse_request(input: impl AsRef<[u8]>) -> Parsed {
    cut_everywhere(input.as_ref(), |pieces| request(300, 16 * 1024, pieces))
}

/// Parses a response head with a buffer of 300 bytes, with [`cut_everywhere`].
fn parse_response(input: impl AsRef<[u8]>) -> Parsed {
    cut_everywhere(input.as_ref(), |pieces| response(300, 16 * 1024, pieces))
}

/// Returns a complete request head.
fn accepted(input: impl AsRef<[u8]>) -> Head {
    let shown = input.as_ref().escape_ascii().to_string();
    let (head, consumed) = parse_request(&input).expect(&shown).expect(&shown);
    assert_eq!(consumed, input.as_ref().len(), "{shown}");
    head
}

/// Returns the status and the message of the error that rejects the head.
fn rejected(parsed: Parsed) -> (u16, String) {
    let error = parsed.expect_err("an invalid head");
    (error.status(), error.to_string())
}

/// Decodes a body from pieces. Returns the data, the number of consumed bytes, and whether the body is complete.
fn decode_body<'i>(
    framing: BodyFraming,
    pieces: impl IntoIterator<Item = &'i [u8]>,
) -> Result<(Vec<u8>, usize, bool), HttpError> {
    let mut decoder = BodyDecoder::new(framing);
    let (mut data, mut consumed) = (Vec::new(), 0);
    for piece in pieces {
        let mut rest = piece;
        while !rest.is_empty() && !decoder.is_complete() {
            let step = match decoder.decode(rest) {
                Ok(step) => step,
                Err(error) => {
                    assert_eq!(decoder.decode(b"0"), Err(error), "errors are permanent");
                    assert_eq!(decoder.eof(), Err(error));
                    return Err(error);
                }
            };
            assert!(step.consumed > 0);
            data.extend_from_slice(step.data);
            consumed += step.consumed;
            rest = &rest[step.consumed..];
        }
    }
    Ok((data, consumed, decoder.is_complete()))
}
