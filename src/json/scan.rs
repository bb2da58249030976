//! One iterative, resumable pass over a text: is it JSON, and where are the members of the message?
//!
//! The state between two pieces of text is a few words: a bit per open container, what is expected next, and whatever
//! was begun when the piece ended. Inside a piece whole tokens are taken at once.
#![allow(clippy::as_conversions, reason = "members and levels are few: they index tables of that size")]

mod envelope;
mod error;
mod escapes;
mod inner;
mod members;
mod number;
mod places;
mod text;
mod tokens;
mod within;

pub use envelope::{Envelope, Member, OpenSpan, Shape, Span};
pub use error::{ScanError, ScanErrorKind};
pub(crate) use inner::MemberIndex;

use super::DEPTH_LIMIT;
use super::swar::FAST;
use super::walk::{after_space as skip_space, is_space};
use inner::MemberIndexes;
use number::Digits;
use text::Inside;

/// What may come next.
#[derive(Clone, Copy, Debug)]
enum State {
    /// A value.
    Value,
    /// A value or the end of the array.
    FirstValue,
    /// A name or the end of the object.
    FirstName,
    /// A name.
    Name,
    /// The colon after a name.
    Colon,
    /// A comma or the end of the container; at the top level nothing but white space.
    After,
    /// More of a string.
    Text(Inside),
    /// More of a number.
    Number(Digits),
    /// More of `true`, `false` or `null`.
    Literal,
    /// More of what is nested too deep.
    Deep,
    /// Nothing: the text is wrong.
    Failed(ScanErrorKind),
}

/// A strict validator that takes a text in pieces and remembers where the members of a JSON-RPC message stand.
///
/// Strict means RFC 8259, UTF-8 without exceptions, no half surrogate pairs, and one value per text. Work is linear
/// however the text is cut.
///
/// ```
/// use mcp_proto::json::{Scanner, Shape};
/// let text = br#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;
/// let mut scanner = Scanner::new(32);
/// for piece in text.chunks(3) {
///     scanner.feed(piece);
/// }
/// let envelope = scanner.finish()?;
/// assert_eq!(envelope.shape, Shape::Object);
/// assert_eq!(&text[envelope.id.unwrap().range()], b"7");
/// # Ok::<(), mcp_proto::json::ScanError>(())
/// ```
#[derive(Clone, Debug)]
// In this order: small processors reach a byte with one instruction only if it is among the first 32.
#[repr(C)]
pub struct Scanner {
    state: State,
    /// The member whose value is expected or open.
    current: Option<Member>,
    /// Whether the open string is a name.
    in_name: bool,
    shape: Shape,
    limit: u8,
    too_deep: bool,
    /// How many digits or bytes were seen of what was begun.
    seen: u8,
    /// What was begun inside a string: a code unit in hexadecimal digits, or the bytes of a UTF-8 sequence; or the bytes of a
    /// word that are to come. The first byte is the lowest.
    begun: u32,
    /// How many bytes of `name` are taken; `NO_NAME` if it can be none of ours.
    name_length: u8,
    /// The first bytes of a name at depth one, decoded.
    name: [u8; 7],
    /// How many containers are open, remembered or not.
    depth: u32,
    /// The end of everything fed so far, counted from the start of the text; after an error where it was seen.
    position: usize,
    /// The bracket that was one too many.
    deep_at: usize,
    /// A bit per open container, the outermost first: set for an object.
    objects: [u8; 16],
    /// Where each [`Member`]'s value stands: both `NOWHERE` if it was not seen, the end alone while it is open.
    members: [Span; 6],
    inner: MemberIndexes,
}

const NOWHERE: usize = usize::MAX;
const NO_NAME: u8 = u8::MAX;

impl Scanner {
    /// A scanner for one text in which at most `depth_limit` containers are open at once (128 at most; more counts
    /// as 128). With 0 only strings, numbers, `true`, `false` and `null` are within the limit.
    #[must_use]
    pub const fn new(depth_limit: u8) -> Scanner {
        let limit = if depth_limit > DEPTH_LIMIT { DEPTH_LIMIT } else { depth_limit };
        Scanner {
            state: State::Value,
            current: None,
            in_name: false,
            shape: Shape::Other,
            limit,
            too_deep: false,
            seen: 0,
            begun: 0,
            name_length: 0,
            name: [0; 7],
            depth: 0,
            position: 0,
            deep_at: 0,
            objects: [0; 16],
            members: [Span { start: NOWHERE, end: NOWHERE }; 6],
            inner: [const { MemberIndex::UNKNOWN }; FAST as usize],
        }
    }

    /// Ready for the next text, with the same depth limit.
    pub fn reset(&mut self) {
        if FAST {
            // What is overwritten anyway, before it is read, stays: that is most of it.
            (self.state, self.current, self.in_name) = (State::Value, None, false);
            (self.shape, self.too_deep, self.seen) = (Shape::Other, false, 0);
            (self.depth, self.position, self.deep_at) = (0, 0, 0);
            self.members = [Span { start: NOWHERE, end: NOWHERE }; 6];
            self.forget_inner();
        } else {
            *self = Scanner::new(self.limit);
        }
    }

    /// Takes the next piece of the text. Once something is wrong, this does nothing any more.
    ///
    /// Deeper than the limit, containers are only counted: the brackets may then be of the wrong kind, but members of
    /// the outermost object are still found, and [`finish`](Scanner::finish) says [`ScanErrorKind::TooDeep`].
    pub fn feed(&mut self, bytes: &[u8]) {
        if matches!(self.state, State::Failed(_)) {
            return;
        }
        self.position = self.position.wrapping_add(bytes.len());
        let mut rest = bytes;
        loop {
            if FAST && rest.len() >= tokens::WORTH_IT && matches!(self.state, State::Name | State::Value) {
                rest = self.tokens::<false>(rest);
            }
            let [byte, tail @ ..] = rest else { return };
            rest = match self.state {
                State::FirstName | State::Name => match byte {
                    b'"' => self.members(tail),
                    b'}' if matches!(self.state, State::FirstName) => self.close(tail),
                    _ => self.space(*byte, rest, tail),
                },
                State::Colon if *byte == b':' => {
                    self.state = State::Value;
                    tail
                }
                State::Colon => self.space(*byte, rest, tail),
                State::Value | State::FirstValue => self.value(*byte, rest, tail),
                State::After => self.after(*byte, rest, tail),
                State::Text(_) => self.text(rest),
                State::Number(digits) => self.number(digits, rest),
                State::Literal => self.literal(rest),
                State::Deep => self.deep(rest),
                State::Failed(_) => return,
            };
        }
    }

    /// The end of the text: what was found.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong; of texts that are wrong only in being too deep, where the limit was passed.
    pub fn finish(&mut self) -> Result<Envelope, ScanError> {
        self.end()?;
        Ok(self.envelope())
    }

    /// The end of the text, for who asks for the [`envelope`](Scanner::envelope) later.
    pub(crate) fn end(&mut self) -> Result<(), ScanError> {
        let error = match self.state {
            State::Failed(kind) => Some((kind, self.position)),
            _ if self.too_deep => Some((ScanErrorKind::TooDeep, self.deep_at)),
            State::After if self.depth == 0 => None,
            State::Number(digits) if self.depth == 0 && digits.may_end() => None,
            State::Value if self.depth == 0 => Some((ScanErrorKind::Empty, self.position)),
            _ => Some((ScanErrorKind::Incomplete, self.position)),
        };
        if let Some((kind, at)) = error {
            self.state = State::Failed(kind);
            self.position = at;
            return Err(ScanError { kind, at });
        }
        self.state = State::After;
        Ok(())
    }

    /// What [`finish`](Scanner::finish) has found wrong.
    pub(crate) fn error(&self) -> ScanError {
        let kind = if let State::Failed(kind) = self.state { kind } else { ScanErrorKind::Empty };
        ScanError { kind, at: self.position }
    }

    /// Where a member's value stands as far as it was seen, at any time, also after an error. A framer that throws a
    /// long text away piece by piece uses this to keep the id as it passes.
    #[must_use]
    pub fn member(&self, member: Member) -> Option<OpenSpan> {
        let slot = self.members.get(member as usize)?;
        let end = (slot.end != NOWHERE).then_some(slot.end);
        (slot.start != NOWHERE).then_some(OpenSpan { start: slot.start, end })
    }

    /// How many bytes of the text were scanned; after an error, which byte is wrong.
    #[must_use]
    pub fn position(&self) -> usize {
        self.position
    }

    /// The members that were seen so far, also after an error: one that is open ends where the text does.
    #[cfg_attr(not(target_os = "none"), inline(always))]
    pub(crate) fn envelope(&self) -> Envelope {
        let seen = |member| {
            let open = self.member(member)?;
            Some(Span { start: open.start, end: open.end.unwrap_or(self.position) })
        };
        Envelope {
            shape: self.shape,
            jsonrpc: seen(Member::Jsonrpc),
            id: seen(Member::Id),
            method: seen(Member::Method),
            params: seen(Member::Params),
            result: seen(Member::Result),
            error: seen(Member::Error),
        }
    }

    /// The limit of nesting.
    pub(crate) fn limit(&self) -> u8 {
        self.limit
    }

    /// Something is wrong at the start of `rest`. Nothing is left to be looked at.
    #[cold]
    fn fail<'t>(&mut self, kind: ScanErrorKind, rest: &[u8]) -> &'t [u8] {
        self.position = self.at(rest);
        self.state = State::Failed(kind);
        &[]
    }

    /// White space, or what has no place here.
    #[cfg_attr(not(target_os = "none"), inline(always))]
    fn space<'t>(&mut self, byte: u8, rest: &'t [u8], tail: &'t [u8]) -> &'t [u8] {
        if is_space(byte) { skip_space(tail) } else { self.fail(ScanErrorKind::Syntax, rest) }
    }

    /// The position in the text that `rest` of the present piece begins at.
    #[cfg_attr(not(target_os = "none"), inline(always))]
    fn at(&self, rest: &[u8]) -> usize {
        self.position.wrapping_sub(rest.len())
    }

    #[cfg_attr(not(target_os = "none"), inline(always))]
    fn value<'t>(&mut self, byte: u8, rest: &'t [u8], tail: &'t [u8]) -> &'t [u8] {
        if is_space(byte) {
            return skip_space(tail);
        }
        if byte == b']' && matches!(self.state, State::FirstValue) {
            return self.close(tail);
        }
        if self.depth <= 1 {
            self.note_start(byte, self.at(rest));
        }
        self.state = match byte {
            b'"' => {
                self.in_name = false;
                self.name_length = NO_NAME;
                State::Text(Inside::Plain)
            }
            b'{' | b'[' => {
                self.open(byte == b'{', rest);
                return tail;
            }
            b'-' => State::Number(Digits::Sign),
            b'0' => State::Number(Digits::Zero),
            b'1'..=b'9' => State::Number(Digits::Whole),
            b't' => self.begin_literal(*b"rue\0"),
            b'f' => self.begin_literal(*b"alse"),
            b'n' => self.begin_literal(*b"ull\0"),
            _ => return self.fail(ScanErrorKind::Syntax, rest),
        };
        tail
    }

    /// A value begins that the envelope may want to know of.
    #[cfg_attr(not(target_os = "none"), inline(always))]
    fn note_start(&mut self, byte: u8, here: usize) {
        if self.depth == 0 {
            self.shape = match byte {
                b'{' => Shape::Object,
                b'[' => Shape::Array,
                _ => Shape::Other,
            };
        } else if let Some(member) = self.current
            && let Some(slot) = self.members.get_mut(member as usize)
        {
            *slot = Span { start: here, end: NOWHERE };
            self.forget_inner_of(Some(member));
        }
    }

    /// A value has ended just before `rest`.
    #[cfg_attr(not(target_os = "none"), inline(always))]
    fn end_value(&mut self, rest: &[u8]) {
        if self.depth == 1
            && let Some(member) = self.current.take()
        {
            let here = self.at(rest);
            if let Some(slot) = self.members.get_mut(member as usize) {
                slot.end = here;
            }
        }
        self.state = State::After;
    }

    #[cfg_attr(not(target_os = "none"), inline(always))]
    fn after<'t>(&mut self, byte: u8, rest: &'t [u8], tail: &'t [u8]) -> &'t [u8] {
        match byte {
            b',' if self.depth > 0 => {
                self.state = if self.in_object() { State::Name } else { State::Value };
                tail
            }
            b'}' if self.in_object() => self.close(tail),
            b']' if self.depth > 0 && !self.in_object() => self.close(tail),
            _ => self.space(byte, rest, tail),
        }
    }

    /// Where the kind of the container with so many around it is remembered.
    #[cfg_attr(not(target_os = "none"), inline(always))]
    fn place_of(depth: u32) -> (usize, u8) {
        ((depth >> 3) as usize, 1 << (depth & 7))
    }

    /// Whether the innermost container is an object. Outside of all there is none.
    #[cfg_attr(not(target_os = "none"), inline(always))]
    fn in_object(&self) -> bool {
        let (byte, bit) = Scanner::place_of(self.depth.wrapping_sub(1));
        self.objects.get(byte).is_some_and(|byte| byte & bit != 0)
    }

    #[cfg_attr(not(target_os = "none"), inline(always))]
    fn open(&mut self, object: bool, rest: &[u8]) {
        if self.depth < u32::from(self.limit) {
            let (byte, bit) = Scanner::place_of(self.depth);
            if let Some(byte) = self.objects.get_mut(byte) {
                *byte = if object { *byte | bit } else { *byte & !bit };
            }
            self.state = if object { State::FirstName } else { State::FirstValue };
        } else {
            if !self.too_deep {
                self.too_deep = true;
                self.deep_at = self.at(rest);
            }
            self.state = State::Deep;
        }
        self.depth = self.depth.saturating_add(1);
    }

    #[cfg_attr(not(target_os = "none"), inline(always))]
    fn close<'t>(&mut self, tail: &'t [u8]) -> &'t [u8] {
        self.depth = self.depth.saturating_sub(1);
        self.end_value(tail);
        tail
    }

    /// A name that is not short and plain, or cut: after its opening quote.
    fn name(&mut self) {
        self.in_name = true;
        self.name_length = if self.depth == 1 { 0 } else { NO_NAME };
        self.state = State::Text(Inside::Plain);
    }

    /// A string has ended just before `rest`.
    #[cfg_attr(not(target_os = "none"), inline(always))]
    fn end_text(&mut self, rest: &[u8]) {
        if self.depth > u32::from(self.limit) {
            self.state = State::Deep;
        } else if self.in_name {
            if self.depth == 1 {
                self.current = self.name.get(..usize::from(self.name_length)).and_then(Member::from_name);
            }
            self.state = State::Colon;
        } else {
            self.end_value(rest);
        }
    }

    /// A word of which these bytes are to come.
    fn begin_literal(&mut self, bytes: [u8; 4]) -> State {
        self.begun = u32::from_le_bytes(bytes);
        State::Literal
    }

    /// The rest of a word.
    #[cfg_attr(not(target_os = "none"), inline(always))]
    fn literal<'t>(&mut self, mut rest: &'t [u8]) -> &'t [u8] {
        let mut wanted = self.begun;
        while wanted != 0 {
            rest = match rest {
                [byte, tail @ ..] if *byte == wanted as u8 => tail,
                [] => {
                    self.begun = wanted;
                    return rest;
                }
                _ => return self.fail(ScanErrorKind::Syntax, rest),
            };
            wanted >>= 8;
        }
        self.end_value(rest);
        rest
    }

    /// Too deep: brackets are counted, strings still checked, the rest only looked at.
    fn deep<'t>(&mut self, mut rest: &'t [u8]) -> &'t [u8] {
        while let [byte, tail @ ..] = rest {
            match byte {
                b'"' => {
                    self.in_name = false;
                    self.name_length = NO_NAME;
                    self.state = State::Text(Inside::Plain);
                    return tail;
                }
                b'[' | b'{' => self.depth = self.depth.saturating_add(1),
                b']' | b'}' => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == u32::from(self.limit) {
                        self.end_value(tail);
                        return tail;
                    }
                }
                b' ' | b'\t' | b'\n' | b'\r' | b',' | b':' => {}
                b'0'..=b'9' | b'a'..=b'z' | b'E' | b'+' | b'-' | b'.' => {}
                _ => return self.fail(ScanErrorKind::Syntax, rest),
            }
            rest = tail;
        }
        rest
    }
}

/// Scans a whole text at once, with the largest depth limit.
pub(crate) fn scan(text: &[u8]) -> Result<(), ScanError> {
    let mut scanner = Scanner::new(DEPTH_LIMIT);
    scanner.feed(text);
    scanner.end()
}

#[cfg(test)]
mod tests;
