//! Lines that are as one was before but for a few values: hosts recognise them, and only these are looked at.
#![allow(clippy::as_conversions, reason = "a pattern is short: its places are bytes")]

use crate::buffer::copy;
use crate::framing::{Kind, LineDecoder};
use crate::json::{Scanner, Span, digits, plain_run};

/// Longer ones are not kept.
const LONGEST: usize = 192;

/// An id that has more bytes is not one of a pattern.
pub(crate) const LONGEST_ID: usize = 16;

/// In how many containers the object stands: in `params`, in the message.
const AROUND: u8 = 2;

/// A request, without its id and one object among its parameters: what stands before the first of the two, between them, and
/// behind them, with the newline. A name among the parameters stands in the part before the object, and may be another one.
#[derive(Clone, Copy)]
pub(crate) struct Pattern {
    text: [u8; LONGEST],
    /// Where the two are left out, and where the text ends.
    places: [u8; 3],
    /// Where the name stands in its part, quotes and all.
    name: [u8; 2],
    /// Whether the id comes before the name, and not behind the object.
    id_first: bool,
}

impl Pattern {
    /// Of this message. `None`: it is too long, has no such object, or they come in another order.
    pub(crate) fn new(line: &[u8], id: Span, name: Span, object: Span) -> Option<Pattern> {
        let id_first = id.end <= name.start;
        if name.end > object.start || (!id_first && object.end > id.start) {
            return None;
        }
        let (first, second) = if id_first { (id, object) } else { (object, id) };
        let part = if id_first { id.end } else { 0 };
        let mut text = [0; LONGEST];
        let before = add(&mut text, 0, line.get(..first.start)?)?;
        let between = add(&mut text, before, line.get(first.end..second.start)?)?;
        let behind = add(&mut text, between, line.get(second.end..)?)?;
        let end = add(&mut text, behind, b"\n")?;
        let name = [name.start, name.end].map(|at| at.wrapping_sub(part) as u8);
        Some(Pattern { text, places: [before, between, end], name, id_first })
    }

    /// Its three parts.
    #[inline]
    fn parts(&self) -> Option<[&[u8]; 3]> {
        let [first, second, end] = self.places.map(usize::from);
        let part = |from, to| self.text.get(from..to);
        Some([part(0, first)?, part(first, second)?, part(second, end)?])
    }

    /// What follows the part that the name stands in, if that has another name, which `is_known`.
    #[inline(never)]
    fn behind_other<'t>(
        &self,
        part: &[u8],
        rest: &'t [u8],
        is_known: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Option<&'t [u8]> {
        let [start, end] = self.name.map(usize::from);
        let rest = rest.strip_prefix(part.get(..start)?)?;
        let [b'"', text @ ..] = rest else { return None };
        let (name, rest) = text.split_at_checked(plain_run(text))?;
        let [b'"', rest @ ..] = rest else { return None };
        if is_known(name) { rest.strip_prefix(part.get(end..)?) } else { None }
    }
}

/// Writes a part of a pattern behind the others: where it ends.
fn add(text: &mut [u8; LONGEST], start: u8, part: &[u8]) -> Option<u8> {
    let end = usize::from(start).saturating_add(part.len());
    copy(text.get_mut(start.into()..end)?, part);
    Some(end as u8)
}

impl LineDecoder<'_> {
    /// Whether bytes have come of which none was scanned: there may be a line of a pattern.
    #[inline]
    pub(crate) fn is_fresh(&self) -> bool {
        let scans = self.line.is_some() || self.discards || self.scanned != self.start;
        !scans && self.start < self.end && self.framing.is_none()
    }

    /// Finds the next line [where there may be one](LineDecoder::is_fresh), if it is one of this pattern, or of one with another name
    /// which `is_known`: where its id and its object stand. It waits then, as any other, but the scanner knows nothing of it.
    /// `None`: nothing has changed.
    #[inline(always)]
    pub(crate) fn find_like(
        &mut self,
        pattern: &Pattern,
        is_known: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Option<[Span; 2]> {
        debug_assert!(self.is_fresh(), "nobody has looked at it before");
        let found = if pattern.id_first {
            self.like::<true>(pattern, is_known)
        } else {
            self.like_reversed(pattern, is_known)
        };
        if found.is_none() {
            self.scanner.reset();
        }
        found
    }

    #[inline(never)]
    fn like_reversed(
        &mut self,
        pattern: &Pattern,
        is_known: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Option<[Span; 2]> {
        self.like::<false>(pattern, is_known)
    }

    /// The same for one of the two orders.
    #[inline(always)]
    fn like<const ID_FIRST: bool>(
        &mut self,
        pattern: &Pattern,
        is_known: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Option<[Span; 2]> {
        let line = self.buffer.bytes().get(self.start..self.end)?;
        let here = |rest: &[u8]| line.len().wrapping_sub(rest.len());
        let span = |start: usize, length| Span { start, end: start.wrapping_add(length) };
        let (scanner, [before, between, behind]) = (&mut self.scanner, pattern.parts()?);
        let (mut rest, mut id) = (line, Span::EMPTY);
        let longest = self.id_limit.min(LONGEST_ID);
        if ID_FIRST {
            rest = rest.strip_prefix(before)?;
            id = span(before.len(), short_number(rest, longest)?);
            rest = line.get(id.end..)?;
        }
        let part = if ID_FIRST { between } else { before };
        rest = match rest.strip_prefix(part) {
            Some(rest) => rest,
            None => pattern.behind_other(part, rest, is_known)?,
        };
        let object = span(here(rest), object_length(scanner, rest)?);
        rest = line.get(object.end..)?;
        if !ID_FIRST {
            rest = rest.strip_prefix(between)?;
            id = span(here(rest), short_number(rest, longest)?);
            rest = line.get(id.end..)?;
        }
        let whole = here(rest.strip_prefix(behind)?);
        (self.line, self.whole) = (Some(Kind::Message), whole);
        self.scanned = self.start.wrapping_add(whole).wrapping_sub(1);
        Some([id, object])
    }
}

/// How long the object is that comes next.
#[inline(always)]
fn object_length(scanner: &mut Scanner, rest: &[u8]) -> Option<usize> {
    match rest {
        // The scanner does not begin with so little, and that it may be so deep is known from the line before.
        [b'{', b'}', ..] => Some(2),
        [b'{', ..] => scanner.value_within(AROUND, rest),
        _ => None,
    }
}

/// How long the number is that comes next, if it has so many digits at most, which are sixteen at most, and no more than one if
/// that is zero.
#[inline]
fn short_number(rest: &[u8], longest: usize) -> Option<usize> {
    let length = match leading_digits(rest)? {
        8 => leading_digits(rest.get(8..)?)?.wrapping_add(8),
        length => length,
    };
    let is_number = length == 1 || (length > 1 && rest.first() != Some(&b'0'));
    (is_number && length <= longest).then_some(length)
}

/// How many digits come next, of eight bytes at most.
#[inline(always)]
fn leading_digits(rest: &[u8]) -> Option<usize> {
    match rest.first_chunk() {
        Some(word) => Some(digits(u64::from_le_bytes(*word))),
        None => rest.iter().position(|byte| !byte.is_ascii_digit()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::Buffer;
    use crate::framing::InputSink;
    use crate::framing::outbound_message::StreamId;
    use crate::json::FAST;
    use std::format;
    use std::string::String;

    /// The id and the object of a line, if it is recognised as one of the pattern of another.
    fn found(line: &str, [id, name, object]: [&str; 3], next: &str) -> Option<[String; 2]> {
        let place = |part: &str| {
            let start = line.find(part).unwrap();
            Span { start, end: start + part.len() }
        };
        let pattern = Pattern::new(line.as_bytes(), place(id), place(name), place(object))?;
        let mut buffer = [b' '; 1024];
        let mut input = LineDecoder::new(Buffer::from(&mut buffer[..]), 6, 16);
        input.space()[..next.len()].copy_from_slice(next.as_bytes());
        input.filled(next.len(), StreamId::NONE);
        let mut is_known = |name: &[u8]| name == b"other";
        let parts = input.find_like(&pattern, &mut is_known).map(|places| {
            places.map(|place| String::from_utf8_lossy(&input.bytes()[place.range()]).into_owned())
        });
        // Either way it is a line, and what follows is another one.
        let end = next.find('\n').unwrap();
        assert!(input.line().is_some());
        assert_eq!(input.bytes(), &next.as_bytes()[..end], "{next}");
        input.release();
        let behind = input.line().map(|_| input.bytes());
        assert_eq!(behind, Some(&b"{}"[..]), "{next}");
        parts
    }

    #[test]
    fn lines_of_a_pattern_are_recognised() {
        for usual in
            [r#"{"id":#,"params":{"a":1,"n":$,"b":[1],"o":@},"z":[]}"#, r#"{"params":{"n":$,"o":@},"id":#}"#]
        {
            let line = |[id, name, object]: [&str; 3]| {
                usual.replace('#', id).replace('$', name).replace('@', object)
            };
            let first = ["31", r#""one""#, r#"{"x":2}"#];
            let known = |id, name, object| {
                let next = format!("{}\n{{}}\n", line([id, name, object]));
                let parts = found(&line(first), first, &next);
                assert!(parts.as_ref().is_none_or(|parts| *parts == [id, object]), "{next}");
                parts.is_some()
            };
            let [id, name, object] = first;
            let ids =
                ["12345678901234567", "1.5", "-1", "1e5", "01", "00", "true", "\"1\""].map(|id| (id, false));
            for (id, yes) in ["0", "7", "31", "12345678", "123456789", "1234567890123456"]
                .map(|id| (id, true))
                .into_iter()
                .chain(ids)
            {
                assert_eq!(known(id, name, object), yes && FAST, "{id}");
            }
            let names = ["\"\"", "\"on\"", "\"ones\"", "\"öne\"", r#""\u006fne""#, "7"].map(|it| (it, false));
            for (name, yes) in [("\"one\"", true), ("\"other\"", true)].into_iter().chain(names) {
                assert_eq!(known(id, name, object), yes && FAST, "{name}");
            }
            for (object, yes) in [
                ("{}", true),
                (r#"{"y":"}, \n","z":[{}]}"#, true),
                (r#"{"a":{"b":{"c":{}}}}"#, true),
                (r#"{"a":{"b":{"c":{"d":{}}}}}"#, false),
                ("[]", false),
                ("null", false),
            ] {
                // Elsewhere nobody asks, and the scanner takes nothing at once.
                assert_eq!(known(id, name, object), yes && (FAST || object == "{}"), "{object}");
            }
        }
    }

    #[test]
    fn no_arguments_are_arguments_even_at_the_end_of_all_that_has_come() {
        let line = r#"{"id":1,"params":{"name":"a","arguments":{"b":2}}}"#;
        let place =
            |part: &str| line.find(part).map(|start| Span { start, end: start + part.len() }).unwrap();
        let pattern =
            Pattern::new(line.as_bytes(), place("1"), place(r#""a""#), place(r#"{"b":2}"#)).unwrap();
        let mut buffer = [0; 256];
        let mut input = LineDecoder::new(Buffer::from(&mut buffer[..]), 6, 16);
        let next = line.replace(r#"{"b":2}"#, "{}") + "\n";
        input.space()[..next.len()].copy_from_slice(next.as_bytes());
        input.filled(next.len(), StreamId::NONE);
        assert!(input.find_like(&pattern, &mut |_| false).is_some());
        assert_eq!(input.bytes(), next.trim_end().as_bytes());
    }

    #[test]
    fn what_is_too_long_or_in_another_order_has_no_pattern() {
        let span = |start, end| Span { start, end };
        for (length, yes) in [(0, true), (LONGEST - 20, true), (LONGEST - 19, false), (LONGEST, false)] {
            let line = format!(r#"{{"id":1,"n":"a","{}":{{}}}}"#, "x".repeat(length));
            let end = line.len() - 1;
            let (id, name, object) = (span(6, 7), span(12, 15), span(end - 2, end));
            let of = |id, name, object| Pattern::new(line.as_bytes(), id, name, object).is_some();
            assert_eq!(of(id, name, object), yes, "{length}");
            assert!(of(object, id, name) || !yes, "the id is the last: {length}");
            assert!(!of(name, id, object) && !of(id, object, name) && !of(name, object, id));
            assert!(!of(id, name, Span::EMPTY));
        }
    }
}
