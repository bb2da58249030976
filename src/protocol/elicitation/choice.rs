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
/// If no value has a title, the values become `enum`. If a value has a title and `titled` is a key, the values become
/// an array of objects, and `titled` is the key of this array. If a value has a title and `titled` is `None`, as in
/// `2025-06-18`, the values become `enum`, and a separate array holds the titles.
pub(super) fn write_options(options: &[Choice<'_>], titled: Option<&str>, out: &mut Writer<'_>) {
    let has_titles = has_titles(options);
    let Some(titled) = titled.filter(|_| has_titles) else {
        out.key("enum");
        write_each(options, |option| option.value, out);
        if has_titles {
            out.key("enumNames");
            write_each(options, Choice::display_title, out);
        }
        return;
    };
    out.begin_array_at(titled);
    for option in options {
        out.begin_object();
        out.field_string("const", option.value);
        out.field_string("title", option.display_title());
        out.end_object();
    }
    out.end_array();
}

/// Writes an array with a text of each choice.
fn write_each<'a>(options: &[Choice<'a>], text: fn(&Choice<'a>) -> &'a str, out: &mut Writer<'_>) {
    out.begin_array();
    options.iter().for_each(|option| out.string(text(option)));
    out.end_array();
}

/// A value of a single-choice or multiple-choice field.
#[derive(Debug, Clone, Copy)]
pub struct ChoiceView<'a> {
    /// The value that the response contains if the user selects this choice.
    pub value: Str<'a>,
    /// The title for the user. Without a title, this field repeats the value.
    pub title: Str<'a>,
}
