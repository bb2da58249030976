//! Objects from raw JSON text that the caller supplies.

use super::Writer;
use crate::json::{Json, Kind};

impl Writer<'_> {
    /// Writes an object from JSON text. Returns `false` and writes nothing if the text is not an object.
    pub(crate) fn raw_object(&mut self, text: &str) -> bool {
        let object = Json::parse(text.as_bytes()).ok().filter(|value| value.kind() == Kind::Object);
        if let Some(object) = object {
            self.json(object);
        }
        object.is_some()
    }

    /// Writes the members of an object from JSON text into the open object. Returns `false` and writes nothing if the
    /// text is not an object.
    pub(crate) fn raw_members(&mut self, text: &str) -> bool {
        let object = Json::parse(text.as_bytes()).ok().filter(|value| value.kind() == Kind::Object);
        for (name, value) in object.into_iter().flat_map(Json::members) {
            self.text(name);
            self.token(":");
            self.json(value);
        }
        object.is_some()
    }

    /// Removes the closing brace of an object, so that more members can follow. The object must have members. Returns
    /// `false` if the output does not end with a closing brace, or after an overflow.
    pub(crate) fn reopen_object(&mut self) -> bool {
        let closed = self.ends_with(b'}') && self.at > self.floor && !self.overflowed;
        if closed {
            self.at = self.at.saturating_sub(1);
            self.last = b'"';
            self.order.lose();
        }
        closed
    }

    /// Removes `token` after a string. The caller must have written `token` last.
    pub(crate) fn take_back(&mut self, token: &str) {
        if !self.overflowed && self.at >= self.floor.saturating_add(token.len()) {
            self.at = self.at.saturating_sub(token.len());
            self.last = b'"';
            self.order.lose();
        }
    }
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
    fn members_are_added_to_a_reopened_object() {
        for (first, more, expected) in [
            (r#"{"a":1}"#, r#"{"b\n":[1],"c":{}}"#, r#"{"a":1,"b\n":[1],"c":{}}"#),
            (r#"{"a":{}}"#, "{}", r#"{"a":{}}"#),
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
