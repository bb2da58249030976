//! Member lookup in results, using the scanner's index.

use crate::json::{Json, MemberIndex};

/// A result and the index of its members, if there is one.
#[derive(Clone, Copy)]
pub(crate) struct Members<'a> {
    json: Json<'a>,
    index: Option<ResultIndex<'a>>,
}

/// The scanner's member index of a result, with the line that its spans refer to.
#[derive(Clone, Copy)]
pub(crate) struct ResultIndex<'a> {
    pub(crate) line: &'a [u8],
    pub(crate) index: &'a MemberIndex,
}

impl<'a> Members<'a> {
    /// Members of a value without an index.
    pub(crate) fn new(json: Json<'a>) -> Members<'a> {
        Members { json, index: None }
    }

    /// Members of a result with this index.
    #[inline]
    pub(crate) fn with_index(json: Json<'a>, index: Option<ResultIndex<'a>>) -> Members<'a> {
        Members { json, index }
    }

    /// The value.
    #[inline]
    pub(crate) fn json(self) -> Json<'a> {
        self.json
    }

    /// Looks up several members: see [`Json::pick`].
    pub(crate) fn pick<const N: usize>(self, keys: [&str; N]) -> [Option<Json<'a>>; N] {
        match self.index {
            Some(ResultIndex { line, index }) => index.pick(line, keys),
            None => self.json.pick(keys),
        }
    }

    /// Looks up one member: see [`Json::get`].
    pub(crate) fn get(self, key: &str) -> Option<Json<'a>> {
        let [found] = self.pick([key]);
        found
    }
}
