//! Resumable scanner: validates a text and finds the members of a JSON-RPC message.
//!
//! [`Scanner::tokens`] scans complete tokens; of the strings, it scans only those of ASCII without escapes. For any
//! other token, `tokens` saves a [`State`]. The function for this state completes or rejects the token, in this piece
//! or in a later piece.
#![allow(clippy::as_conversions, reason = "a small enum value or limit widens to `usize`")]

mod error;
mod index;
mod known;
mod member;
mod number;
mod record;
mod spans;
mod text;
mod tokens;

pub use error::{ScanError, ScanErrorKind};
pub(crate) use index::{MemberIndex, Scanned};
pub(crate) use known::{CAPACITY as KNOWN_CAPACITY, KnownObject, OBJECTS as KNOWN_OBJECTS};
pub use member::{Member, OpenSpan};
pub(crate) use member::{Shape, Span};

use super::DEPTH_LIMIT;
use super::skip::is_space;
use index::Index;
use member::PartialName;
use number::Digits;

/// A step from one member or element to the next, in grammar order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    /// Expects a name or an element, or the end of the container.
    First,
    /// Expects a name or an element.
    Next,
    /// Expects the colon after a name.
    Colon,
    /// Expects a value.
    Value,
    /// Expects a comma or the end of the container.
    After,
    /// Expects only white space after the outermost value.
    End,
}

/// The token that the next byte belongs to.
#[derive(Clone, Copy, Debug)]
enum State {
    /// White space, or a token that is allowed at this step.
    Between(Step),
    /// A string that is a name.
    Name,
    /// A string that is a value. Beyond the depth limit, also a string that is a name.
    Text,
    /// A number.
    Number(Digits),
    /// `true`, `false` or `null`.
    Literal,
    /// The content of a container beyond the depth limit.
    Deep,
    /// No token, because the text is invalid.
    Failed(ScanErrorKind),
}

/// A strict, resumable validator that records the members of a JSON-RPC message.
///
/// Strict means RFC 8259, valid UTF-8, no unpaired surrogates, and one value per text. The text may arrive in pieces.
/// The work is linear in the length of the text, whatever the size of the pieces.
///
/// ```
/// use mcp_proto::json::{Member, Scanner};
/// let text = br#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;
/// let mut scanner = Scanner::new(32);
/// for piece in text.chunks(3) {
///     scanner.feed(piece);
/// }
/// scanner.finish()?;
/// let id = scanner.member(Member::Id).unwrap();
/// assert_eq!(&text[id.start..id.end.unwrap()], b"7");
/// # Ok::<(), mcp_proto::json::ScanError>(())
/// ```
#[derive(Clone, Debug)]
// The order of the fields matters, because one instruction of a Cortex-M0 loads a byte only from the first 32 bytes.
#[repr(C)]
pub struct Scanner {
    state: State,
    /// The message member that the most recent name at depth one names. `None` if this name belongs to no [`Member`].
    current: Option<Member>,
    shape: Shape,
    limit: u8,
    /// Whether the last escape was a high surrogate, which needs a low surrogate next.
    half: bool,
    /// The number of bytes in `carry`.
    carried: u8,
    /// The name being read; used only at depth one.
    name: PartialName,
    /// The start of an escape, UTF-8 sequence or literal that continues in the next piece.
    carry: [u8; text::UNIT],
    /// Whether the last number that was an id has no fraction and no exponent.
    integer_id: bool,
    /// The number of open containers.
    depth: u32,
    /// The number of bytes fed so far; after an error, the position of the error.
    position: usize,
    /// The position of the first bracket beyond the limit, or `NOWHERE`.
    deep_at: usize,
    /// The kinds of the open containers within the depth limit, one bit each: set for an object. The lowest bit is the
    /// innermost container.
    objects: [usize; WORDS],
    /// The span of each [`Member`]. The start of a missing member and the end of an open member are `NOWHERE`.
    members: [Span; 6],
    index: Index,
}

const NOWHERE: usize = usize::MAX;

/// The number of words that hold one bit per open container.
const WORDS: usize = (DEPTH_LIMIT as usize).div_ceil(usize::BITS as usize);

impl Scanner {
    /// Creates a scanner for one text with at most `depth_limit` open containers at once. A limit above 128
    /// counts as 128. With 0, only strings, numbers, `true`, `false` and `null` are within the limit.
    #[must_use]
    pub const fn new(depth_limit: u8) -> Scanner {
        let limit = if depth_limit > DEPTH_LIMIT { DEPTH_LIMIT } else { depth_limit };
        Scanner {
            state: State::Between(Step::Value),
            current: None,
            shape: Shape::Other,
            limit,
            half: false,
            carried: 0,
            name: PartialName::EMPTY,
            carry: [0; text::UNIT],
            integer_id: false,
            depth: 0,
            position: 0,
            deep_at: NOWHERE,
            objects: [0; WORDS],
            members: [Span::MISSING; 6],
            index: index::EMPTY,
        }
    }

    /// Resets the scanner for the next text, with the same depth limit.
    pub fn reset(&mut self) {
        // Assigning a new scanner would also clear fields whose old content does not matter.
        (self.state, self.current, self.shape) = (State::Between(Step::Value), None, Shape::Other);
        (self.half, self.carried, self.depth, self.position) = (false, 0, 0, 0);
        (self.deep_at, self.objects) = (NOWHERE, [0; WORDS]);
        self.members = [Span::MISSING; 6];
        self.record(MemberIndex::reset);
    }

    /// Scans the next piece of the text. Does nothing after an error.
    ///
    /// Beyond the limit, the scanner counts brackets, but does not match them. [`finish`](Scanner::finish) then
    /// returns [`ScanErrorKind::TooDeep`], or another error that the scanner has found. Unless the limit is 0, the
    /// scanner still finds the members of the outermost object.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.feed_with(None, bytes);
    }

    /// Scans the next piece like [`feed`](Scanner::feed), but skips each whole repetition of `known` that the piece
    /// contains at depth two. On targets without an index, the function skips nothing.
    ///
    /// `known` must be the valid value of an earlier member of `params` or `result`, such as the `_meta` of the last
    /// request. A repetition is also valid: its bytes are the same, except for a value that [`KnownObject::after`] has
    /// checked.
    pub(crate) fn feed_with(&mut self, known: Option<&KnownObject>, bytes: &[u8]) {
        if !self.is_valid() {
            return;
        }
        self.position = self.position.wrapping_add(bytes.len());
        let mut rest = bytes;
        while !rest.is_empty() {
            rest = match self.state {
                // Between tokens, a newline is white space.
                State::Between(step) => {
                    let rest = if let [b'\n', tail @ ..] = rest { tail } else { rest };
                    self.tokens(step, rest, known)
                }
                State::Name | State::Text => self.text(rest),
                State::Number(digits) => self.number(digits, rest),
                State::Literal => self.literal(rest),
                State::Deep => self.deep(rest),
                State::Failed(_) => return,
            };
        }
    }

    /// Scans the next piece like [`feed_with`](Scanner::feed_with), but stops at a newline between tokens, at a token
    /// whose state is saved, at a container beyond the depth limit, and at an error. Returns the bytes to feed next.
    /// Inside a saved token, and after an error, scans nothing and returns all bytes.
    pub(crate) fn feed_tokens<'t>(&mut self, known: Option<&KnownObject>, bytes: &'t [u8]) -> &'t [u8] {
        let State::Between(step) = self.state else { return bytes };
        self.position = self.position.wrapping_add(bytes.len());
        let rest = self.tokens(step, bytes, known);
        if self.is_valid() {
            self.position = self.position.wrapping_sub(rest.len());
        }
        rest
    }

    /// Ends the text. If the text is valid, every span that [`member`](Scanner::member) returns afterwards has an end.
    ///
    /// # Errors
    ///
    /// Returns the first error. If the text is valid but nested too deep, the error is at the bracket that exceeds
    /// the limit.
    pub fn finish(&mut self) -> Result<(), ScanError> {
        let (kind, at) = match self.state {
            State::Between(Step::End) if self.deep_at == NOWHERE => return Ok(()),
            State::Between(Step::End) => (ScanErrorKind::TooDeep, self.deep_at),
            State::Number(digits) if self.depth == 0 && digits.may_end() => {
                self.state = State::Between(Step::End);
                return Ok(());
            }
            State::Failed(kind) => (kind, self.position),
            State::Between(Step::Value) if self.depth == 0 => (ScanErrorKind::Empty, self.position),
            _ => (ScanErrorKind::Incomplete, self.position),
        };
        (self.state, self.position) = (State::Failed(kind), at);
        Err(ScanError { kind, at })
    }

    /// Returns the span of a member's value as scanned so far, even after an error. A caller that discards a long
    /// text can therefore keep the id. `None` means that the scanner has not reached a value of the member.
    #[must_use]
    pub fn member(&self, member: Member) -> Option<OpenSpan> {
        let slot = self.members.get(member as usize)?;
        let end = (slot.end != NOWHERE).then_some(slot.end);
        (slot.start != NOWHERE).then_some(OpenSpan { start: slot.start, end })
    }

    /// Returns the number of bytes scanned; after an error, the position of the error.
    #[must_use]
    pub fn position(&self) -> usize {
        self.position
    }

    /// Records an error for a byte that is not allowed at this step. If the byte is at the position of a member's
    /// value, the member counts as seen.
    #[cold]
    fn unexpected<'t>(&mut self, step: Step, rest: &'t [u8]) -> &'t [u8] {
        if step == Step::Value {
            self.begin_value(rest);
        }
        self.fail(ScanErrorKind::Syntax, rest)
    }

    /// Records an error at the start of `rest`, and returns `rest`.
    #[cold]
    fn fail<'t>(&mut self, kind: ScanErrorKind, rest: &'t [u8]) -> &'t [u8] {
        self.position = self.at(rest);
        self.state = State::Failed(kind);
        rest
    }

    /// Returns the position of `rest` in the text; `rest` is the tail of the current piece.
    fn at(&self, rest: &[u8]) -> usize {
        self.position.wrapping_sub(rest.len())
    }

    /// Opens a container; `rest` starts with its bracket. Returns `false` if the container exceeds the depth limit.
    #[inline]
    fn open(&mut self, is_object: bool, rest: &[u8]) -> bool {
        let fits = self.depth < u32::from(self.limit);
        if fits {
            let mut carry = usize::from(is_object);
            for word in &mut self.objects {
                (*word, carry) = (*word << 1 | carry, *word >> (usize::BITS - 1));
            }
        } else {
            self.exceed_limit(rest);
        }
        self.depth = self.depth.saturating_add(1);
        fits
    }

    /// Records that a container exceeds the depth limit; `rest` starts with its bracket.
    #[cold]
    fn exceed_limit(&mut self, rest: &[u8]) {
        self.record(MemberIndex::forget);
        if self.deep_at == NOWHERE {
            self.deep_at = self.at(rest);
        }
    }

    /// Returns whether the innermost container is an object.
    #[inline]
    fn in_object(&self) -> bool {
        let [innermost, ..] = self.objects;
        innermost & 1 != 0
    }

    /// Returns whether `byte` is the bracket that closes the innermost container.
    #[inline]
    fn closes(&self, byte: u8) -> bool {
        match byte {
            b'}' => self.in_object(),
            b']' => !self.in_object(),
            _ => false,
        }
    }

    /// Closes the innermost container; `tail` follows its bracket. Returns the next step.
    #[inline]
    fn close(&mut self, tail: &[u8]) -> Step {
        let mut carry = 0;
        for word in self.objects.iter_mut().rev() {
            (*word, carry) = (*word >> 1 | carry << (usize::BITS - 1), *word);
        }
        self.leave(tail)
    }

    /// Decrements the depth and records the end of the container; `tail` follows the container. Returns the next step.
    #[inline]
    fn leave(&mut self, tail: &[u8]) -> Step {
        self.depth = self.depth.wrapping_sub(1);
        self.end_value(tail)
    }

    /// Scans content beyond the depth limit: counts brackets and validates strings.
    #[cold]
    fn deep<'t>(&mut self, mut rest: &'t [u8]) -> &'t [u8] {
        while let [byte, tail @ ..] = rest {
            match byte {
                b'"' => {
                    self.state = State::Text;
                    return tail;
                }
                b'[' | b'{' => self.depth = self.depth.saturating_add(1),
                b']' | b'}' => {
                    if self.depth <= u32::from(self.limit).wrapping_add(1) {
                        self.state = State::Between(self.leave(tail));
                        return tail;
                    }
                    self.depth = self.depth.wrapping_sub(1);
                }
                b'+'..=b'.' | b'0'..=b':' | b'a'..=b'z' | b'E' => {}
                byte if is_space(*byte) => {}
                _ => return self.fail(ScanErrorKind::Syntax, rest),
            }
            rest = tail;
        }
        rest
    }
}

/// Validates a complete text with the largest depth limit.
pub(crate) fn scan(text: &[u8]) -> Result<(), ScanError> {
    let mut scanner = Scanner::new(DEPTH_LIMIT);
    scanner.feed(text);
    scanner.finish()
}

#[cfg(test)]
mod known_tests;
#[cfg(test)]
mod piece_tests;
#[cfg(test)]
mod tests;
