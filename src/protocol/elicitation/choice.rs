//! Values of a choice field: written for each revision, and viewed.

use crate::json::{Str, Writer};

/// A value of a choice field, with an optional title.
#[derive(Debug, Clone, Copy)]
pub struct Choice<'a> {
    value: &'a str,
    title: Option<&'a str>,
}

impl<'a> Choice<'a> {
    /// Creates a value without a title.
    #[must_use]
    pub const fn new(value: &'a str) -> Choice<'a> {
        Choice { value, title: None }
    }

    /// Sets the title for the user.
    #[must_use]
    pub const fn title(mut self, title: &'a str) -> Self {
        self.title = Some(title);
        self
    }

    fn display_title(&self) -> &'a str {
        self.title.unwrap_or(self.value)
    }
}

pub(super) fn has_titles(options: &[Choice<'_>]) -> bool {
    options.iter().any(|option| option.title.is_some())
}

/// Writes the values as a part of a schema.
///
/// If no value has a title, the values become `enum`. Otherwise, the values become an array of objects with titles, and
/// `titled` is the key of this array.
pub(super) fn write_options(options: &[Choice<'_>], titled: &str, out: &mut Writer<'_>) {
    if !has_titles(options) {
        out.key("enum");
        return write_texts(options.iter().map(|option| option.value), out);
    }
    out.key(titled);
    out.begin_array();
    for option in options {
        out.begin_object();
        out.field_string("const", option.value);
        out.field_string("title", option.display_title());
        out.end_object();
    }
    out.end_array();
}

/// Writes the values as in `2025-06-18`. A separate array holds the titles.
pub(super) fn write_older_options(options: &[Choice<'_>], out: &mut Writer<'_>) {
    out.key("enum");
    write_texts(options.iter().map(|option| option.value), out);
    if has_titles(options) {
        out.key("enumNames");
        write_texts(options.iter().map(Choice::display_title), out);
    }
}

pub(super) fn write_texts<'t>(texts: impl Iterator<Item = &'t str>, out: &mut Writer<'_>) {
    out.begin_array();
    texts.for_each(|text| out.string(text));
    out.end_array();
}

/// A value of a single-choice or multiple-choice field.
#[derive(Debug, Clone, Copy)]
pub struct ChoiceView<'a> {
    /// The value in the response.
    pub value: Str<'a>,
    /// The title for the user. Without a title, this field repeats the value.
    pub title: Str<'a>,
}
