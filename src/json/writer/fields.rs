//! Members of an object: a name and its value in one call.

use super::Writer;
use crate::json::value::Json;
use crate::json::write_text::WriteText;

impl Writer<'_> {
    /// Writes a member that is a string.
    #[inline]
    pub fn field_string(&mut self, key: &str, value: &str) {
        self.key(key);
        self.string(value);
    }

    /// Writes a member that is a string, or nothing for `None`.
    pub(crate) fn field_optional(&mut self, key: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.field_string(key, value);
        }
    }

    /// Writes a member that is an integer.
    pub fn field_integer(&mut self, key: &str, value: i64) {
        self.key(key);
        self.integer(value);
    }

    /// Writes a member that is an unsigned integer.
    pub(crate) fn field_unsigned(&mut self, key: &str, value: u64) {
        self.key(key);
        self.unsigned(value);
    }

    /// Writes a member that is a string, piece by piece.
    pub(crate) fn field_display(&mut self, key: &str, text: &dyn WriteText) {
        self.key(key);
        self.display(text);
    }

    /// Writes a member that is a scanned value.
    pub(crate) fn field_bytes(&mut self, key: &str, bytes: &[u8]) {
        self.key(key);
        self.json_bytes(bytes);
    }

    /// Begins a member that is an object.
    pub(crate) fn begin_object_at(&mut self, key: &str) {
        self.key(key);
        self.begin_object();
    }

    /// Begins a member that is an array.
    pub(crate) fn begin_array_at(&mut self, key: &str) {
        self.key(key);
        self.begin_array();
    }

    /// Writes a member that is `true` or `false`.
    pub fn field_boolean(&mut self, key: &str, value: bool) {
        self.key(key);
        self.boolean(value);
    }

    /// Writes a member that is a parsed value.
    pub fn field_json(&mut self, key: &str, value: Json<'_>) {
        self.key(key);
        self.json(value);
    }
}
