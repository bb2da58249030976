//! Views of a line's parts: single values, and objects with member lookup.

use crate::json::{Json, Kind, MemberIndex, Span, Str};

/// Returns the value at `span` of a scanned text.
#[inline]
pub(crate) fn view(line: &[u8], span: Span) -> Json<'_> {
    Json::exact(span.bytes(line))
}

/// Returns the kind of the value at `span`; `null` if the value is missing.
#[inline]
pub(crate) fn kind(line: &[u8], span: Span) -> Kind {
    Kind::starting_with(line.get(span.start))
}

/// Returns whether the value at `span` is `null` or missing.
pub(crate) fn is_null(line: &[u8], span: Span) -> bool {
    matches!(line.get(span.start), None | Some(b'n'))
}

/// Returns the text of the string at `span`; empty if the value is not a string.
#[inline]
pub(crate) fn text(line: &[u8], span: Span) -> Str<'_> {
    view(line, span).string().unwrap_or_default()
}

/// Returns the code of a JSON-RPC error. Returns `None` if the code is missing or not an integer of 32 bits.
pub(crate) fn error_code(error: Json<'_>) -> Option<i32> {
    error.get("code").and_then(Json::integer).and_then(|code| code.try_into().ok())
}

/// A value in a line, such as `params` or `result`: its span, and the scanner's index of its members.
#[derive(Clone, Copy)]
pub(crate) struct Object<'l> {
    line: &'l [u8],
    span: Span,
    /// `None` if the scanner has no index of this value.
    index: Option<&'l MemberIndex>,
}

impl<'l> Object<'l> {
    /// Creates an object from the value at `span` of a line.
    pub(crate) fn new(line: &'l [u8], span: Span, index: Option<&'l MemberIndex>) -> Object<'l> {
        Object { line, span, index }
    }

    /// Creates an object from a value outside a line.
    pub(crate) fn from_json(json: Json<'l>) -> Object<'l> {
        let line = json.bytes();
        Object { line, span: Span { start: 0, end: line.len() }, index: None }
    }

    /// Returns the line that contains the value.
    pub(crate) fn line(self) -> &'l [u8] {
        self.line
    }

    /// Returns the span of the value.
    pub(crate) fn span(self) -> Span {
        self.span
    }

    /// Returns the kind of the value.
    #[inline]
    pub(crate) fn kind(self) -> Kind {
        kind(self.line, self.span)
    }

    /// Returns whether the value is `null` or missing.
    pub(crate) fn is_null(self) -> bool {
        is_null(self.line, self.span)
    }

    /// Returns the value.
    #[inline]
    pub(crate) fn json(self) -> Json<'l> {
        view(self.line, self.span)
    }

    /// Looks up the spans of several members. The span of a missing member is [`Span::MISSING`].
    ///
    /// Searches the index of the members or, if there is none, the value in one pass. The last of duplicate members
    /// counts. A value that is not an object has no members.
    // Always inlined, so that the index compares names with constant keys.
    #[inline(always)]
    pub(crate) fn spans<const N: usize>(self, keys: &[&str; N]) -> [Span; N] {
        let mut found = [Span::MISSING; N];
        match self.index() {
            Some(index) => index.find(self.line, keys, found.each_mut()),
            None => self.search(keys, &mut found),
        }
        found
    }

    /// Returns the index of the members, if the scanner has one.
    #[inline]
    pub(crate) fn index(self) -> Option<&'l MemberIndex> {
        self.index.filter(|_| MemberIndex::IS_KEPT)
    }

    /// Looks up several members in one pass over the value.
    #[inline(never)]
    fn search(self, keys: &[&str], found: &mut [Span]) {
        self.json().find_spans(self.span.start, keys, found);
    }

    /// Looks up the span of one member, like [`spans`](Object::spans).
    #[inline(never)]
    pub(crate) fn member(self, key: &str) -> Span {
        let [span] = self.spans(&[key]);
        span
    }

    /// Looks up one member, like [`spans`](Object::spans). Returns `None` if the member is missing.
    pub(crate) fn get(self, key: &str) -> Option<Json<'l>> {
        let span = self.member(key);
        (!span.is_missing()).then(|| view(self.line, span))
    }
}
