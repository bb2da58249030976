//! `FieldName`: the header fields that a head keeps.

/// A header field that a head keeps. The discriminant is the index of the field's row in [`ROWS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum FieldName {
    Host,
    Origin,
    ContentType,
    Accept,
    ContentLength,
    TransferEncoding,
    Connection,
    Expect,
    Authorization,
    McpSessionId,
    McpProtocolVersion,
    McpMethod,
    McpName,
    LastEventId,
    /// Every field whose name consists of `mcp-param-` and a suffix.
    McpParam,
    RetryAfter,
    WwwAuthenticate,
    Allow,
}

/// The side that parses a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// Parses heads of requests.
    Server,
    /// Parses heads of responses.
    Client,
}

/// Properties of a field.
pub(super) struct Row {
    pub(super) field: FieldName,
    /// The name in lower case.
    name: &'static str,
    /// The name in error texts.
    pub(super) shown: &'static str,
    in_requests: bool,
    in_responses: bool,
    /// Whether the value is a list. If so, the values of repeated fields are joined (RFC 9110, section 5.3).
    pub(super) is_list: bool,
}

const fn row(
    field: FieldName,
    name: &'static str,
    shown: &'static str,
    (in_requests, in_responses, is_list): (bool, bool, bool),
) -> Row {
    Row { field, name, shown, in_requests, in_responses, is_list }
}

const REQUEST: (bool, bool, bool) = (true, false, false);
const REQUEST_LIST: (bool, bool, bool) = (true, false, true);
const RESPONSE: (bool, bool, bool) = (false, true, false);
const RESPONSE_LIST: (bool, bool, bool) = (false, true, true);
const BOTH: (bool, bool, bool) = (true, true, false);
const BOTH_LIST: (bool, bool, bool) = (true, true, true);

/// All rows, in the order of [`FieldName`].
static ROWS: [Row; 18] = [
    row(FieldName::Host, "host", "Host", REQUEST),
    row(FieldName::Origin, "origin", "Origin", REQUEST),
    row(FieldName::ContentType, "content-type", "Content-Type", BOTH),
    row(FieldName::Accept, "accept", "Accept", REQUEST_LIST),
    row(FieldName::ContentLength, "content-length", "Content-Length", BOTH),
    row(FieldName::TransferEncoding, "transfer-encoding", "Transfer-Encoding", BOTH_LIST),
    row(FieldName::Connection, "connection", "Connection", BOTH_LIST),
    row(FieldName::Expect, "expect", "Expect", REQUEST_LIST),
    row(FieldName::Authorization, "authorization", "Authorization", REQUEST),
    row(FieldName::McpSessionId, "mcp-session-id", "Mcp-Session-Id", BOTH),
    row(FieldName::McpProtocolVersion, "mcp-protocol-version", "Mcp-Protocol-Version", BOTH),
    row(FieldName::McpMethod, "mcp-method", "Mcp-Method", REQUEST),
    row(FieldName::McpName, "mcp-name", "Mcp-Name", REQUEST),
    row(FieldName::LastEventId, "last-event-id", "Last-Event-ID", REQUEST),
    row(FieldName::McpParam, "mcp-param-", "Mcp-Param-*", REQUEST),
    row(FieldName::RetryAfter, "retry-after", "Retry-After", RESPONSE),
    row(FieldName::WwwAuthenticate, "www-authenticate", "WWW-Authenticate", RESPONSE_LIST),
    row(FieldName::Allow, "allow", "Allow", RESPONSE_LIST),
];

impl FieldName {
    pub(super) const fn tag(self) -> u8 {
        #![allow(
            clippy::as_conversions,
            reason = "the only way to read the discriminant of a fieldless enum"
        )]
        self as u8
    }

    /// Returns the name in error texts.
    pub(super) fn shown(self) -> &'static str {
        self.row().map_or("field", |row| row.shown)
    }

    pub(super) fn is_list(self) -> bool {
        self.row().is_some_and(|row| row.is_list)
    }

    fn row(self) -> Option<&'static Row> {
        ROWS.get(usize::from(self.tag()))
    }

    /// Returns the field with this name, and the part of the name after `mcp-param-`, which is empty for any other
    /// name. Returns `None` for a field that no head keeps.
    pub(super) fn find(name: &str) -> Option<(FieldName, &[u8])> {
        let mut matcher = NameMatcher::new();
        let rest = matcher.feed(name.as_bytes());
        matcher.field().map(|field| (field, rest))
    }
}

/// Incremental search for a name in [`ROWS`].
#[derive(Debug, Clone, Copy)]
pub(super) struct NameMatcher {
    /// One bit for each row that the name has matched so far.
    candidates: u32,
    /// Number of bytes of the name so far.
    position: usize,
}

impl NameMatcher {
    /// Searches all rows.
    pub(super) fn new() -> NameMatcher {
        NameMatcher { candidates: const { rows_of(Side::Server) | rows_of(Side::Client) }, position: 0 }
    }

    /// Searches the rows of one side.
    pub(super) fn for_side(side: Side) -> NameMatcher {
        let candidates = match side {
            Side::Server => const { rows_of(Side::Server) },
            Side::Client => const { rows_of(Side::Client) },
        };
        NameMatcher { candidates, position: 0 }
    }

    /// Compares the next piece of the name. Returns the bytes of the piece after `mcp-param-`, or no bytes for any
    /// other name.
    pub(super) fn feed<'i>(&mut self, piece: &'i [u8]) -> &'i [u8] {
        let start = self.position;
        let end = start.saturating_add(piece.len());
        let first = piece.first().map(u8::to_ascii_lowercase);
        self.retain(|row| {
            // A fast check first: most names already differ in the first byte of the piece.
            if row.name.as_bytes().get(start).copied() != first && row.field != FieldName::McpParam {
                return false;
            }
            let limit = if row.field == FieldName::McpParam { end.min(row.name.len()) } else { end };
            let expected = row.name.as_bytes().get(start.min(limit)..limit);
            let compared = piece.get(..limit.saturating_sub(start));
            expected.zip(compared).is_some_and(|(expected, piece)| expected.eq_ignore_ascii_case(piece))
        });
        self.position = end;
        match first_row(self.candidates).filter(|row| row.field == FieldName::McpParam) {
            Some(row) => piece.get(row.name.len().saturating_sub(start)..).unwrap_or_default(),
            None => &[],
        }
    }

    /// Returns the field whose name the pieces form, or `None` if the pieces form no name of a row.
    pub(super) fn field(&self) -> Option<FieldName> {
        // No name is a prefix of another name, so a complete name has one candidate.
        let is_complete = |row: &&Row| match row.field {
            FieldName::McpParam => self.position > row.name.len(),
            _ => self.position == row.name.len(),
        };
        first_row(self.candidates).filter(is_complete).map(|row| row.field)
    }

    fn retain(&mut self, is_match: impl Fn(&Row) -> bool) {
        let mut rest = self.candidates;
        while let Some(row) = first_row(rest) {
            let bit = rest & rest.wrapping_neg();
            rest ^= bit;
            if !is_match(row) {
                self.candidates ^= bit;
            }
        }
    }
}

/// Returns the row of the lowest bit, or `None` if no bit is set.
fn first_row(rows: u32) -> Option<&'static Row> {
    ROWS.get(usize::try_from(rows.trailing_zeros()).ok()?)
}

/// Returns the bits of the rows of one side.
const fn rows_of(side: Side) -> u32 {
    #![allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "evaluated by the compiler")]
    let (mut candidates, mut index) = (0, 0);
    while index < ROWS.len() {
        let is_used = match side {
            Side::Server => ROWS[index].in_requests,
            Side::Client => ROWS[index].in_responses,
        };
        if is_used {
            candidates |= 1 << index;
        }
        index += 1;
    }
    candidates
}
