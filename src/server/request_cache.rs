//! Cache of the last request: its parsed `_meta` and its method.
//!
//! Most clients repeat both in the next request.

use crate::json::{Json, Span};
use crate::platform::copy;
use crate::protocol::meta::RequestMeta;
use crate::protocol::methods::Method;

/// Maximum length of a stored `_meta`, in bytes.
const CAPACITY: usize = 512;

/// The cache of the last request. The cache has no entries on 32-bit processors, because these processors have little
/// memory.
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

/// A `_meta` and the result of parsing it.
#[derive(Debug)]
struct Entry {
    text: [u8; CAPACITY],
    /// Length of the text; 0 if no `_meta` is stored.
    length: usize,
    parsed: RequestMeta,
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

    /// Returns the text of the last stored `_meta`. Returns an empty slice if none is stored.
    #[inline]
    pub(crate) fn meta(&self) -> &[u8] {
        self.meta.first().and_then(|entry| entry.text.get(..entry.length)).unwrap_or_default()
    }

    /// Parses a `_meta`, or returns the stored result for the same text. Returns `None` if the request does not
    /// belong to the stateless era.
    pub(crate) fn parse_meta(&mut self, meta: Json<'_>) -> Option<RequestMeta> {
        let text = meta.bytes();
        let entry = self.meta.first_mut().filter(|_| text.len() <= CAPACITY);
        if let Some(entry) = &entry
            && entry.text.get(..entry.length) == Some(text)
        {
            return Some(entry.parsed);
        }
        let parsed = RequestMeta::from_json(meta)?;
        if let Some(entry) = entry {
            copy(&mut entry.text, text);
            (entry.length, entry.parsed) = (text.len(), parsed);
        }
        Some(parsed)
    }
}

impl Entry {
    const EMPTY: Entry = Entry {
        text: [0; CAPACITY],
        length: 0,
        parsed: RequestMeta { version: Span::MISSING, revision: None, capabilities: None, level: None },
    };
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
        let long = "x".repeat(CAPACITY);
        let texts: [String; 9] = [
            format!(r#"{{{version}:"2026-07-28",{capabilities}}}"#),
            format!(r#"{{{version}:"2026-07-28",{capabilities},{level}:"error"}}"#),
            format!(r#"{{{version}:"2026-07-28",{capabilities},{level}:"unknown"}}"#),
            format!(r#"{{ {version} : "2099-01-01" }}"#),
            format!(r#"{{{version}:""}}"#),
            format!(r#"{{{version}:7,{capabilities}}}"#),
            format!(r#"{{"x":"{long}",{version}:"2026-07-28"}}"#),
            format!(r#"{{{capabilities}}}"#),
            String::from("{}"),
        ];
        let mut cache = RequestCache::EMPTY;
        for first in &texts {
            for text in [first, first, &texts[0], &texts[0], first] {
                let json = Json::parse(text.as_bytes()).unwrap();
                assert_eq!(cache.parse_meta(json), RequestMeta::from_json(json), "{text}");
            }
        }
    }
}
