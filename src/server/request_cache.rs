//! Cache of the last request: its parsed `_meta` and its method.
//!
//! Most clients repeat both in the next request.

use crate::json::{Json, KNOWN_CAPACITY, Kind, KnownObject};
use crate::protocol::meta::{self, RequestMeta};
use crate::protocol::methods::Method;
use crate::rpc::Object;

/// The cache of the last request. The cache has no entries on 32-bit processors, because many of these processors have
/// little memory.
#[derive(Debug)]
pub(crate) struct RequestCache {
    meta: [Entry; ENTRIES],
    method: [Option<MethodPlace>; ENTRIES],
}
const ENTRIES: usize = if usize::BITS < 64 { 0 } else { 1 };

/// A method, the index of its feature, and the index of the method in this feature.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MethodPlace {
    pub(crate) method: &'static Method,
    pub(crate) feature: u8,
    pub(crate) index: u8,
}

/// A `_meta` and the result of parsing it. The result does not depend on the progress token.
#[derive(Debug)]
struct Entry {
    /// The text. Texts that differ only in the progress token match.
    meta: KnownObject,
    /// `None` if the request did not belong to the stateless era.
    parsed: Option<RequestMeta>,
}

impl RequestCache {
    pub(crate) const EMPTY: RequestCache =
        RequestCache { meta: [const { Entry::EMPTY }; ENTRIES], method: [None; ENTRIES] };

    /// Returns the last stored method. Returns `None` if no method is stored.
    #[inline]
    pub(crate) fn method(&self) -> Option<MethodPlace> {
        *self.method.first()?
    }

    pub(crate) fn set_method(&mut self, place: MethodPlace) {
        if let Some(last) = self.method.first_mut() {
            *last = Some(place);
        }
    }

    /// Returns the last stored `_meta`. Returns `None` if none is stored, so that the scanner compares nothing.
    #[inline]
    pub(crate) fn meta(&self) -> Option<&KnownObject> {
        self.meta.first().map(|entry| &entry.meta).filter(|meta| !meta.is_empty())
    }

    /// Parses a `_meta`, or returns the stored result for the same text with any progress token. Returns `None` if the
    /// request does not belong to the stateless era.
    pub(crate) fn parse_meta(&mut self, meta: Json<'_>) -> Option<RequestMeta> {
        match (self.stored(meta), self.meta.first_mut()) {
            (Some(parsed), _) => parsed,
            (None, Some(entry)) => entry.parse(meta),
            (None, None) => RequestMeta::from_json(meta),
        }
    }

    /// Returns the stored result of parsing this text with any progress token. Returns `None` if no such result is
    /// stored.
    pub(crate) fn stored(&self, meta: Json<'_>) -> Option<Option<RequestMeta>> {
        let entry = self.meta.first()?;
        matches!(entry.meta.after(meta.bytes()), Some([])).then_some(entry.parsed)
    }
}

impl Entry {
    const EMPTY: Entry = Entry { meta: KnownObject::EMPTY, parsed: None };

    /// Parses a `_meta`. Stores the text with the result if the text is an object of at most `KNOWN_CAPACITY` bytes.
    #[inline(never)]
    fn parse(&mut self, meta: Json<'_>) -> Option<RequestMeta> {
        let parsed = RequestMeta::from_json(meta);
        if meta.kind() == Kind::Object && meta.bytes().len() <= KNOWN_CAPACITY {
            self.parsed = parsed;
            self.meta.set(meta.bytes(), Object::from_json(meta).member(meta::PROGRESS_TOKEN));
        }
        parsed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;
    use std::string::String;

    #[test]
    fn cached_meta_equals_parsed_meta() {
        let version = r#""io.modelcontextprotocol/protocolVersion""#;
        let capabilities = r#""io.modelcontextprotocol/clientCapabilities":{"sampling":{}}"#;
        let level = r#""io.modelcontextprotocol/logLevel""#;
        let long = "x".repeat(KNOWN_CAPACITY);
        let token = r#""progressToken""#;
        let texts: [String; 20] = [
            format!(r#"{{{version}:"2026-07-28",{capabilities}}}"#),
            format!(r#"{{{version}:"2026-07-28",{capabilities},{level}:"error"}}"#),
            format!(r#"{{{version}:"2026-07-28",{capabilities},{level}:"unknown"}}"#),
            format!(r#"{{ {version} : "2099-01-01" }}"#),
            format!(r#"{{{version}:""}}"#),
            format!(r#"{{{version}:7,{capabilities}}}"#),
            format!(r#"{{"x":"{long}",{version}:"2026-07-28"}}"#),
            format!(r#"{{{capabilities}}}"#),
            String::from("{}"),
            String::from("7"),
            String::from("77"),
            format!(r#"{{{token}:7}}"#),
            format!(r#"{{{token}:8}}"#),
            format!(r#"{{{version}:"2026-07-28",{capabilities},{token}:7}}"#),
            format!(r#"{{{version}:"2026-07-28",{capabilities},{token}:"a"}}"#),
            format!(r#"{{{version}:"2026-07-28",{capabilities},{token}:{{}}}}"#),
            format!(r#"{{{token}:7,{version}:"2026-07-28",{capabilities},{level}:"error"}}"#),
            format!(r#"{{{token}:12,{version}:"2026-07-28",{capabilities},{level}:"error"}}"#),
            format!(r#"{{{token}:12,{version}:"2026-07-28",{capabilities},{level}:"debug"}}"#),
            format!(r#"{{{token}:7,{version}:"2026-07-28",{capabilities},{token}:7}}"#),
        ];
        let mut cache = RequestCache::EMPTY;
        for first in &texts {
            for text in [first].into_iter().chain(texts.iter().flat_map(|second| [second, first, second])) {
                let json = Json::parse(text.as_bytes()).unwrap();
                assert_eq!(cache.parse_meta(json), RequestMeta::from_json(json), "{text}");
            }
        }
    }

    #[test]
    fn other_progress_token_is_a_repetition() {
        let meta = |token: &str| {
            format!(
                r#"{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}},"progressToken":{token}}}"#
            )
        };
        let (first, second) = (meta("7"), meta(r#""other""#));
        let (long, escaped) = (meta(&format!(r#""{}""#, "x".repeat(KNOWN_CAPACITY))), meta(r#""\n""#));
        let mut cache = RequestCache::EMPTY;
        assert!(cache.meta().is_none());
        let parsed = cache.parse_meta(Json::parse(first.as_bytes()).unwrap());
        let is_repetition = |text: &str| cache.meta().map(|meta| meta.after(text.as_bytes()) == Some(&[]));
        let [expected, other] = if ENTRIES == 0 { [None; 2] } else { [Some(true), Some(false)] };
        for text in [&first, &second, &long] {
            assert_eq!(is_repetition(text), expected, "{text}");
        }
        assert_eq!(is_repetition(&escaped), other);
        assert_eq!(cache.parse_meta(Json::parse(long.as_bytes()).unwrap()), parsed);
    }
}
