//! The members of a result, found by the scanner's index or, without one, by a walk over the result.

use crate::json::{Json, MemberIndex};

/// A result, and where its members stand, if that is known.
#[derive(Clone, Copy)]
pub(crate) struct Members<'a> {
    json: Json<'a>,
    noted: Option<Noted<'a>>,
}

/// What the scanner has noted of a result, with the line that it stands in.
#[derive(Clone, Copy)]
pub(crate) struct Noted<'a> {
    pub(crate) line: &'a [u8],
    pub(crate) places: &'a MemberIndex,
}

impl<'a> Members<'a> {
    /// Of a value of which nothing is known.
    pub(crate) fn new(json: Json<'a>) -> Members<'a> {
        Members { json, noted: None }
    }

    /// Of a result of which this was noted.
    #[inline]
    pub(crate) fn noted(json: Json<'a>, noted: Option<Noted<'a>>) -> Members<'a> {
        Members { json, noted }
    }

    /// The value itself.
    #[inline]
    pub(crate) fn json(self) -> Json<'a> {
        self.json
    }

    /// See [`Json::pick`].
    pub(crate) fn pick<const N: usize>(self, keys: [&str; N]) -> [Option<Json<'a>>; N] {
        match self.noted {
            Some(Noted { line, places }) => places.pick(line, keys),
            None => self.json.pick(keys),
        }
    }

    /// See [`Json::get`].
    pub(crate) fn get(self, key: &str) -> Option<Json<'a>> {
        let [found] = self.pick([key]);
        found
    }
}
