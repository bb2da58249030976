//! Scans complete tokens.

use super::number::Digits;
use super::{KnownObject, Member, MemberIndex, Scanner, State, Step};
use crate::json::search::plain_run;
use crate::json::skip::is_space;

impl Scanner {
    /// Scans complete tokens, starting at `step`. Returns the unscanned bytes: none, or bytes that start in a token whose
    /// state is saved, in a container beyond the depth limit, at a newline outside of tokens, or at an error.
    ///
    /// The blocks of the loop are in grammar order. After a match, the block of the next step continues. Without a
    /// match, the last block skips a space, accepts the end of an empty container, or ends the loop.
    #[inline(never)]
    pub(super) fn tokens<'t>(&mut self, step: Step, rest: &'t [u8], known: Option<&KnownObject>) -> &'t [u8] {
        let (mut step, mut rest) = (step, rest);
        'step: loop {
            'other: {
                if step <= Step::Next && self.in_object() {
                    let [b'"', text @ ..] = rest else { break 'other };
                    let member = if self.depth == 1 { Member::at_start(text) } else { None };
                    rest = match member {
                        Some((member, tail)) => {
                            self.name_member(Some(member));
                            tail
                        }
                        _ => {
                            let length = plain_run(text);
                            let Some([b'"', tail @ ..]) = text.get(length..) else {
                                self.begin_name(text);
                                return text;
                            };
                            match self.depth {
                                1 => self.name_member(None),
                                2 => self.name(length, text),
                                _ => {}
                            }
                            tail
                        }
                    };
                    step = Step::Colon;
                }
                if step == Step::Colon {
                    let [b':', tail @ ..] = rest else { break 'other };
                    (rest, step) = (tail, Step::Value);
                }
                if step <= Step::Value {
                    let (incomplete, tail) = match rest {
                        [b'"', text @ ..] => match text.get(plain_run(text)..) {
                            Some([b'"', tail @ ..]) => (None, tail),
                            _ => (Some(State::Text), text),
                        },
                        [byte @ (b'{' | b'['), tail @ ..] => match self.after_known(rest, known) {
                            Some(tail) => (None, tail),
                            None => {
                                self.begin_value(rest);
                                if !self.open(*byte == b'{', rest) {
                                    self.state = State::Deep;
                                    return tail;
                                }
                                (rest, step) = (tail, Step::First);
                                continue 'step;
                            }
                        },
                        [b'-' | b'0'..=b'9', ..] => {
                            let tail = self.take_number(Digits::Start, rest);
                            let is_complete = !tail.is_empty() && self.number_may_end();
                            (Some(self.state).filter(|_| !is_complete), tail)
                        }
                        _ => match (after_literal(rest), rest) {
                            (Some(tail), _) => (None, tail),
                            (None, [b't' | b'f' | b'n', ..]) => (Some(State::Literal), rest),
                            _ => break 'other,
                        },
                    };
                    if let Some(state) = incomplete {
                        self.begin_value(rest);
                        self.state = state;
                        return tail;
                    }
                    step = self.scalar(rest, tail);
                    rest = tail;
                }
                if step == Step::After {
                    match rest {
                        [b',', tail @ ..] => {
                            (rest, step) = (tail, Step::Next);
                            continue 'step;
                        }
                        [byte, tail @ ..] if self.closes(*byte) => {
                            (rest, step) = (tail, self.close(tail));
                            continue 'step;
                        }
                        _ => {}
                    }
                }
            }
            rest = match rest {
                [] | [b'\n', ..] => {
                    self.state = State::Between(step);
                    return rest;
                }
                [byte, tail @ ..] if is_space(*byte) => tail,
                [b'}' | b']', ..] if step == Step::First => {
                    step = Step::After;
                    rest
                }
                _ => return self.unexpected(step, rest),
            };
        }
    }

    /// Returns the bytes after a repetition of `known`. Returns `None` if `rest` does not start with a repetition. Also
    /// returns `None` at any depth other than two, and on targets without an index.
    #[inline]
    fn after_known<'t>(&self, rest: &'t [u8], known: Option<&KnownObject>) -> Option<&'t [u8]> {
        if MemberIndex::IS_KEPT && self.depth == 2 { known?.after(rest) } else { None }
    }
}

/// Returns the bytes after `true`, `false` or `null`. Returns `None` if `text` starts with no complete literal.
#[inline]
fn after_literal(text: &[u8]) -> Option<&[u8]> {
    let (four, tail) = text.split_first_chunk::<4>()?;
    match tail {
        _ if four == b"true" || four == b"null" => Some(tail),
        [b'e', tail @ ..] if four == b"fals" => Some(tail),
        _ => None,
    }
}
