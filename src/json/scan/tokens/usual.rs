//! What nearly all messages have in common is compared as a whole.

use super::{INNER, MESSAGE, behind_number, behind_words};
use crate::json::scan::{Member, Scanner};

/// How the parameters of a call begin, of prompts too.
const CALL: &[u8; 18] = br#""params":{"name":""#;
/// How the result of a call begins.
const RESULT: &[u8; 44] = br#""result":{"content":[{"type":"text","text":""#;

/// What was taken at once.
pub(super) struct Usual<'t> {
    pub(super) rest: &'t [u8],
    pub(super) objects: u64,
    /// The rest begins behind a value.
    pub(super) ends: bool,
    /// The rest begins with a value, not with the name of one.
    pub(super) begins: bool,
}

impl Scanner {
    /// Takes `jsonrpc`, an `id` that is a number, `method`, and the beginning of `params` or `result`, as far as they come in
    /// this order and as nearly everyone writes them.
    #[inline(always)]
    pub(super) fn usual_members<'t>(&mut self, rest: &'t [u8], bound: u64) -> Usual<'t> {
        let mut usual = Usual { rest, objects: MESSAGE, ends: false, begins: false };
        if let Some(tail) = behind(usual.rest, br#""jsonrpc":"2.0","#) {
            let end = self.at(tail).wrapping_sub(1);
            self.note(Member::Jsonrpc, [end.wrapping_sub(5), end]);
            usual.rest = tail;
        }
        if let Some(value) = behind(usual.rest, br#""id":"#)
            && let [b'1'..=b'9', ..] = value
            && let Some(tail) = behind_number(value)
        {
            self.note(Member::Id, [self.at(value), self.at(tail)]);
            let [b',', tail @ ..] = tail else { return Usual { rest: tail, ends: true, ..usual } };
            usual.rest = tail;
        }
        if let Some(text) = behind(usual.rest, br#""method":""#)
            && let [b'"', b',', tail @ ..] = behind_words(text)
        {
            let [start, end] = [self.at(text).wrapping_sub(1), self.at(tail).wrapping_sub(1)];
            self.note(Member::Method, [start, end]);
            usual.rest = tail;
        }
        if bound <= INNER << 1 {
            return usual;
        }
        let start = self.at(usual.rest);
        let places = |[name, name_end, value]: [usize; 3]| {
            [start.wrapping_add(name), start.wrapping_add(name_end), start.wrapping_add(value)]
        };
        if behind(usual.rest, CALL).is_some() {
            self.begin_member(Some(Member::Params), start.wrapping_add(9));
            self.begin_inner();
            self.keep(places([11, 15, 17]));
            (usual.objects, usual.begins) = (INNER, true);
            usual.rest = usual.rest.get(17..).unwrap_or_default();
        } else if behind(usual.rest, RESULT).is_some() {
            self.begin_member(Some(Member::Result), start.wrapping_add(9));
            self.begin_inner();
            self.keep(places([11, 18, 20]));
            (usual.objects, usual.begins) = (INNER << 2 | 1, true);
            usual.rest = usual.rest.get(43..).unwrap_or_default();
        }
        usual
    }
}

/// What follows a text that comes next.
#[inline(always)]
fn behind<'t, const N: usize>(rest: &'t [u8], text: &[u8; N]) -> Option<&'t [u8]> {
    let (head, tail) = rest.split_first_chunk::<N>()?;
    // By blocks, each of which is compared at once: of more, the compiler makes a call.
    let ((blocks, last), (wanted, wanted_last)) = (head.as_chunks::<16>(), text.as_chunks::<16>());
    let same = blocks.iter().zip(wanted).all(|(block, wanted)| block == wanted) && last == wanted_last;
    same.then_some(tail)
}
