//! Writes objects from raw JSON text or a serialized value, and reopens a written object to append members.

#[cfg(feature = "serde")]
use super::Mark;
use super::Writer;
use crate::json::{Json, Kind};

impl Writer<'_> {
    /// Writes an object from JSON text. Returns `false` and writes nothing if the text is not an object.
    pub(crate) fn raw_object(&mut self, text: &str) -> bool {
        let object = parse_object(text);
        if let Some(object) = object {
            self.json(object);
        }
        object.is_some()
    }

    /// Writes the members of an object from JSON text into the open object. Returns `false` and writes nothing if the
    /// text is not an object.
    pub(crate) fn raw_members(&mut self, text: &str) -> bool {
        let object = parse_object(text);
        for (name, value) in object.into_iter().flat_map(Json::members) {
            self.text(name);
            self.token(":");
            self.json(value);
        }
        object.is_some()
    }

    /// Removes the closing brace of an object, so that more members can follow. Returns `false` and changes nothing if
    /// the output does not end with a closing brace, the brace precedes [`floor`](Writer::floor), or the output has
    /// overflowed.
    pub(crate) fn reopen_object(&mut self) -> bool {
        self.ends_with(b'}') && self.remove_last("}")
    }

    /// Serializes a value, and writes the members of the resulting object into the open object. Returns `false` if the
    /// value does not serialize to an object, or does not serialize at all. After an overflow, the function returns
    /// `true`, because the writer reports the overflow.
    #[cfg(feature = "serde")]
    pub(crate) fn serialize_members<T: serde_core::Serialize + ?Sized>(&mut self, value: &T) -> bool {
        let before = self.mark();
        match self.serialize(value) {
            Ok(()) => self.unwrap_object(before),
            Err(_) => self.overflowed(),
        }
    }

    /// Turns the object that was written since `before` into members of the open object. Returns `false` if anything
    /// else was written. After an overflow, returns `true`.
    #[cfg(feature = "serde")]
    fn unwrap_object(&mut self, before: Mark) -> bool {
        if self.overflowed {
            return true;
        }
        let written = self.buffer.bytes_mut().get_mut(before.at..self.at).unwrap_or_default();
        let ([b',', object @ ..] | object) = written;
        match object {
            [b'{', b'}'] => {
                self.rollback(before);
                true
            }
            [brace @ b'{', .., b'}'] => {
                // JSON allows a space before a member.
                *brace = b' ';
                self.reopen_object()
            }
            _ => false,
        }
    }

    /// Removes `token`, which the caller must have written last. The token must follow a member, or the opening brace
    /// of an object. Returns `false` and removes nothing if the token starts before [`floor`](Writer::floor), or after
    /// an overflow.
    pub(crate) fn remove_last(&mut self, token: &str) -> bool {
        let is_own = !self.overflowed && self.at >= self.floor.saturating_add(token.len());
        if is_own {
            self.at = self.at.saturating_sub(token.len());
            self.last = if self.written().trim_ascii_end().ends_with(b"{") { b'{' } else { b'"' };
            self.nesting.set_unknown();
        }
        is_own
    }
}

/// Returns the object in a JSON text, or `None` for any other text.
fn parse_object(text: &str) -> Option<Json<'_>> {
    Json::parse(text.as_bytes()).ok().filter(|value| value.kind() == Kind::Object)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::BufferMut;
    use std::string::String;

    fn written(body: impl Fn(&mut Writer<'_>)) -> String {
        let mut room = [0; 256];
        let mut out = Writer::new(BufferMut::Lent(&mut room), 0, 256);
        body(&mut out);
        String::from_utf8(out.written().to_vec()).unwrap()
    }

    #[test]
    fn only_objects_are_accepted() {
        for text in ["", "{", "7", "[]", "null", "{}x"] {
            let nothing = written(|out| {
                assert!(!out.raw_object(text), "{text}");
                assert!(!out.raw_members(text), "{text}");
            });
            assert_eq!(nothing, "", "{text}");
        }
        assert_eq!(written(|out| assert!(out.raw_object(" {\"a\":\n1} "))), "{\"a\": 1}");
    }

    #[test]
    #[cfg(feature = "serde")]
    fn unwrapped_object_adds_its_members_to_the_open_object() {
        for (first, object, expected) in [
            ("", r#"{"b":[1],"c":{}}"#, Some(r#"{ "b":[1],"c":{},"z":1}"#)),
            (r#"{"a":1}"#, r#"{"b":1}"#, Some(r#"{"a":1, "b":1,"z":1}"#)),
            (r#"{"a":1}"#, "{}", Some(r#"{"a":1,"z":1}"#)),
            ("", "{}", Some(r#"{"z":1}"#)),
            (r#"{"a":1}"#, "[]", None),
            ("", "7", None),
        ] {
            let text = written(|out| {
                out.begin_object();
                assert!(first.is_empty() || out.raw_members(first));
                let before = out.mark();
                out.raw(object).unwrap();
                assert_eq!(out.unwrap_object(before), expected.is_some(), "{object}");
                out.field_integer("z", 1);
                out.end_object();
            });
            if let Some(expected) = expected {
                assert_eq!(text, expected);
            }
        }
    }

    #[test]
    fn members_are_added_to_a_reopened_object() {
        for (first, more, expected) in [
            (r#"{"a":1}"#, r#"{"b\n":[1],"c":{}}"#, r#"{"a":1,"b\n":[1],"c":{}}"#),
            (r#"{"a":{}}"#, "{}", r#"{"a":{}}"#),
            ("{}", r#"{"a":1}"#, r#"{"a":1}"#),
            ("{ }", r#"{"a":1}"#, r#"{ "a":1}"#),
        ] {
            let text = written(|out| {
                assert!(out.raw_object(first) && out.reopen_object() && out.raw_members(more));
                out.end_object();
            });
            assert_eq!(text, expected);
        }
        assert_eq!(written(|out| assert!(!out.reopen_object())), "");
    }
}
