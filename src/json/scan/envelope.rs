//! What a scan finds besides validity: the shape of the text and the members of a JSON-RPC message.

use core::ops::Range;

/// The kind of the outermost value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// `{...}`
    Object,
    /// `[...]`
    Array,
    /// A string, a number, `true`, `false` or `null`.
    Other,
}

/// A member of a JSON-RPC message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Member {
    /// `jsonrpc`
    Jsonrpc,
    /// `id`
    Id,
    /// `method`
    Method,
    /// `params`
    Params,
    /// `result`
    Result,
    /// `error`
    Error,
}

impl Member {
    pub(super) const ALL: [Member; 6] =
        [Member::Jsonrpc, Member::Id, Member::Method, Member::Params, Member::Result, Member::Error];

    const fn name(self) -> &'static [u8] {
        match self {
            Member::Jsonrpc => b"jsonrpc",
            Member::Id => b"id",
            Member::Method => b"method",
            Member::Params => b"params",
            Member::Result => b"result",
            Member::Error => b"error",
        }
    }

    /// The member of that name.
    pub(super) fn from_name(name: &[u8]) -> Option<Member> {
        Member::ALL.into_iter().find(|member| member.name() == name)
    }

    /// The same for a name as a word: at most seven bytes, little endian, padded with zeros.
    #[cfg_attr(not(target_os = "none"), inline(always))]
    pub(super) fn of_word(word: u64) -> Option<Member> {
        const JSONRPC: u64 = u64::from_le_bytes(*b"jsonrpc\0");
        const ID: u64 = u64::from_le_bytes(*b"id\0\0\0\0\0\0");
        const METHOD: u64 = u64::from_le_bytes(*b"method\0\0");
        const PARAMS: u64 = u64::from_le_bytes(*b"params\0\0");
        const RESULT: u64 = u64::from_le_bytes(*b"result\0\0");
        const ERROR: u64 = u64::from_le_bytes(*b"error\0\0\0");
        match word {
            JSONRPC => Some(Member::Jsonrpc),
            ID => Some(Member::Id),
            METHOD => Some(Member::Method),
            PARAMS => Some(Member::Params),
            RESULT => Some(Member::Result),
            ERROR => Some(Member::Error),
            _ => None,
        }
    }
}

/// Where a value stands: byte offsets from the start of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// No bytes.
    pub(crate) const EMPTY: Span = Span { start: 0, end: 0 };

    /// The same as a range.
    #[must_use]
    pub const fn range(self) -> Range<usize> {
        self.start..self.end
    }
}

/// Where a value stands that may not have ended yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenSpan {
    /// The first byte.
    pub start: usize,
    /// One past the last byte; `None` as long as the value is open.
    pub end: Option<usize>,
}

/// What one scan found: the shape of the text and, of an object, where the members of a JSON-RPC message stand. Names
/// are compared decoded; of duplicates the last one counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// The kind of the outermost value.
    pub shape: Shape,
    /// The value of `jsonrpc`.
    pub jsonrpc: Option<Span>,
    /// The value of `id`.
    pub id: Option<Span>,
    /// The value of `method`.
    pub method: Option<Span>,
    /// The value of `params`.
    pub params: Option<Span>,
    /// The value of `result`.
    pub result: Option<Span>,
    /// The value of `error`.
    pub error: Option<Span>,
}
