//! Heads, compared with `httparse`.
//!
//! `httparse` accepts every head that `http1` accepts, with the same content, except for heads with many fields or a
//! later minor version. `http1` rejects more heads, but only for the reasons that its documentation names.

use mcp_proto_http::HeaderFields;
use mcp_proto_http::http1::{HttpError, HttpVersion, RequestDecoder, ResponseDecoder};

/// Fields that heads of both kinds keep, and whether they are lists.
const FIELDS: [(&str, bool); 6] = [
    ("content-type", false),
    ("mcp-session-id", false),
    ("mcp-protocol-version", false),
    ("content-length", false),
    ("transfer-encoding", true),
    ("connection", true),
];

/// Fields that a request head keeps in addition, and whether they are lists.
const REQUEST_FIELDS: [(&str, bool); 10] = [
    ("origin", false),
    ("accept", true),
    ("expect", true),
    ("authorization", false),
    ("mcp-method", false),
    ("mcp-name", false),
    ("last-event-id", false),
    ("mcp-param-a", false),
    ("mcp-param-region", false),
    ("host", false),
];

/// Fields that a response head keeps in addition, and whether they are lists.
const RESPONSE_FIELDS: [(&str, bool); 3] =
    [("retry-after", false), ("www-authenticate", true), ("allow", true)];

/// Returns a buffer that is large enough for any valid head of this length.
fn buffer_for(input: &[u8]) -> Vec<u8> {
    vec![0xEE; 4 * input.len() + 64]
}

/// Checks one input as a request head. `pieces` are the lengths of the first pieces; one more piece has the rest.
pub(crate) fn check_request(input: &[u8], pieces: &[usize]) {
    let (mut buffer, mut other_buffer) = (buffer_for(input), buffer_for(input));
    let mut decoder = RequestDecoder::new(&mut buffer);
    let fed = decoder.feed(input);
    let mut other = RequestDecoder::new(&mut other_buffer);
    let other_fed = in_pieces(input, pieces, |piece| other.feed(piece));
    assert_eq!(fed, other_fed, "cut differently: {}", input.escape_ascii());
    assert_eq!(format!("{:?}", summary(&decoder)), format!("{:?}", summary(&other)));

    let mut headers = [httparse::EMPTY_HEADER; 200];
    let mut expected = httparse::Request::new(&mut headers);
    let parsed = expected.parse(input);
    let head = decoder.head();
    compare(input, fed, head.is_some(), parsed);
    let Some(head) = head.filter(|_| parsed.is_ok()) else { return };
    assert_eq!((Some(head.method()), Some(head.target())), (expected.method, expected.path));
    assert_eq!(u8::from(head.version() == HttpVersion::Http11), expected.version.unwrap());
    for (name, is_list) in FIELDS.into_iter().chain(REQUEST_FIELDS) {
        if name != "host" || !head.target().contains("://") {
            same_field(head.field(name), name, is_list, expected.headers);
        }
    }
}

fn summary<'a>(decoder: &'a RequestDecoder<'_>) -> Option<impl std::fmt::Debug + use<'a>> {
    let head = decoder.head()?;
    Some((head.path(), head.query(), head.body(), head.keeps_alive(), head.expects_continue()))
}

/// Checks one input as a response head, as [`check_request`] does.
pub(crate) fn check_response(input: &[u8], pieces: &[usize]) {
    let (mut buffer, mut other_buffer) = (buffer_for(input), buffer_for(input));
    let mut decoder = ResponseDecoder::new(&mut buffer);
    let fed = decoder.feed(input);
    let mut other = ResponseDecoder::new(&mut other_buffer);
    let other_fed = in_pieces(input, pieces, |piece| other.feed(piece));
    assert_eq!(fed, other_fed, "cut differently: {}", input.escape_ascii());
    let bodies = [&decoder, &other].map(|decoder| decoder.head().map(|head| head.body()));
    assert_eq!(bodies[0], bodies[1]);

    let mut headers = [httparse::EMPTY_HEADER; 200];
    let mut expected = httparse::Response::new(&mut headers);
    let parsed = expected.parse(input);
    let head = decoder.head();
    compare(input, fed, head.is_some(), parsed);
    let Some(head) = head.filter(|_| parsed.is_ok()) else { return };
    assert_eq!(Some(head.status()), expected.code);
    assert_eq!(u8::from(head.version() == HttpVersion::Http11), expected.version.unwrap());
    for (name, is_list) in FIELDS.into_iter().chain(RESPONSE_FIELDS) {
        same_field(head.field(name), name, is_list, expected.headers);
    }
}

/// Passes the input in pieces. Returns the sum of the consumed bytes.
fn in_pieces(
    input: &[u8],
    pieces: &[usize],
    mut feed: impl FnMut(&[u8]) -> Result<usize, HttpError>,
) -> Result<usize, HttpError> {
    let (mut rest, mut consumed) = (input, 0);
    for length in pieces.iter().copied().chain([usize::MAX]) {
        let (piece, behind) = rest.split_at(length.min(rest.len()));
        consumed += feed(piece)?;
        rest = behind;
    }
    Ok(consumed)
}

/// Compares the verdicts, and the length of a complete head.
fn compare(
    input: &[u8],
    fed: Result<usize, HttpError>,
    is_complete: bool,
    parsed: Result<httparse::Status<usize>, httparse::Error>,
) {
    let shown = || format!("{fed:?} instead of {parsed:?}: {}", input.escape_ascii());
    match (fed, &parsed) {
        (Ok(consumed), Ok(httparse::Status::Complete(length))) => {
            assert!(is_complete && consumed == *length, "{}", shown());
        }
        (Ok(consumed), Ok(httparse::Status::Partial)) => {
            assert!(!is_complete && consumed == input.len(), "{}", shown());
        }
        // `httparse` limits the number of fields, and does not know later minor versions.
        (Ok(_), Err(httparse::Error::TooManyHeaders | httparse::Error::Version)) => {}
        (Ok(_), Err(_)) => panic!("{}", shown()),
        (Err(error), Ok(status)) => assert!(is_stricter(input, error, status.is_complete()), "{}", shown()),
        (Err(_), Err(_)) => {}
    }
}

/// Returns whether the error follows from a rule that `httparse` does not have.
fn is_stricter(input: &[u8], error: HttpError, is_complete: bool) -> bool {
    let has_bare_line_feed = input
        .split_inclusive(|byte| *byte == b'\n')
        .any(|line| line.ends_with(b"\n") && !line.ends_with(b"\r\n"));
    match (error.element(), error.reason()) {
        (_, "LF without CR") => has_bare_line_feed,
        // `httparse` accepts any token as the method, and any target that is not empty, even with UTF-8.
        ("request line", "invalid target" | "invalid host in the target" | "unknown method") => true,
        ("request line", "invalid method") => has_bare_line_feed || !is_complete,
        ("status line", "invalid status") => has_bare_line_feed || input.windows(3).any(|code| code < b"100"),
        // `httparse` skips empty lines in front of a response.
        ("status line", "invalid version") => !is_complete || matches!(input.first(), Some(b'\r' | b'\n')),
        // `httparse` finds some errors only in complete lines, and permits LF without CR.
        ("request line" | "status line", _) => has_bare_line_feed || !is_complete,
        ("head", _) => true,
        // `httparse` also finds these errors, because it checks the syntax of lines.
        (
            _,
            "CR without LF"
            | "line folding is obsolete"
            | "empty name"
            | "white space before the colon"
            | "line without a colon"
            | "invalid byte in a name"
            | "control character in a value",
        ) => !is_complete,
        // The other errors are about the values of known fields, which `httparse` does not check.
        (element, _) => element != "field line",
    }
}

fn same_field(value: Option<&[u8]>, name: &str, is_list: bool, headers: &[httparse::Header<'_>]) {
    let mut values =
        headers.iter().filter(|header| header.name.eq_ignore_ascii_case(name)).map(|header| header.value);
    let expected = match is_list {
        true => Some(values.collect::<Vec<_>>())
            .filter(|values| !values.is_empty())
            .map(|values| values.join(&b", "[..])),
        false => values.next().map(<[u8]>::to_vec),
    };
    assert_eq!(value.map(<[u8]>::to_vec), expected, "{name}");
}
