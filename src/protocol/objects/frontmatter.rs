//! Frontmatter of `SKILL.md`, read at compile time and at run time.
//!
//! The frontmatter is YAML. This module reads the part of YAML that all parsers read alike: one line per field, with a
//! string as its value.

use crate::protocol::objects::const_text::{contains, is_same, is_same_ignoring_case, split};

/// The fields of a frontmatter.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fields<'t> {
    rest: &'t [u8],
}

/// A field: a name and a string. Both texts are valid UTF-8, because this module cuts the text only at ASCII
/// characters.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Field<'t> {
    pub(crate) name: &'t [u8],
    pub(crate) value: &'t [u8],
}

/// A line of the frontmatter.
#[derive(Debug, Clone, Copy)]
enum Line<'t> {
    Field(Field<'t>),
    /// An empty line or a comment.
    Blank,
    /// The line `---` after the last field.
    End,
    /// YAML that this module does not read, no YAML at all, or the end of the text.
    Unknown,
}

impl<'t> Fields<'t> {
    /// Returns the fields of a `SKILL.md`. Returns `None` if the text does not begin with the line `---`.
    pub(crate) const fn new(text: &'t str) -> Option<Fields<'t>> {
        let mut fields = Fields { rest: text.as_bytes() };
        match fields.take_line() {
            b"---" => Some(fields),
            _ => None,
        }
    }

    /// Removes the next line, and returns the line without trailing spaces and carriage returns.
    const fn take_line(&mut self) -> &'t [u8] {
        let (mut rest, mut length) = (self.rest, 0usize);
        while let [first, tail @ ..] = rest
            && *first != b'\n'
        {
            (rest, length) = (tail, length.wrapping_add(1));
        }
        let (mut line, after) = split(self.rest, length);
        self.rest = match after {
            [_, tail @ ..] => tail,
            [] => &[],
        };
        while let [head @ .., b' ' | b'\r'] = line {
            line = head;
        }
        line
    }

    /// Reads the next line. If `CHECK` is `false`, the caller guarantees that this module can read all lines.
    const fn next_line<const CHECK: bool>(&mut self) -> Line<'t> {
        if self.rest.is_empty() {
            return Line::Unknown;
        }
        let line = self.take_line();
        if CHECK && !is_printable(line) {
            return Line::Unknown;
        }
        match line {
            [] | [b'#', ..] => return Line::Blank,
            b"---" => return Line::End,
            _ => {}
        }
        let (mut rest, mut length) = (line, 0usize);
        while let [b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_', tail @ ..] = rest {
            (rest, length) = (tail, length.wrapping_add(1));
        }
        let [b':', b' ', value @ ..] = rest else { return Line::Unknown };
        let mut value = value;
        while let [b' ', tail @ ..] = value {
            value = tail;
        }
        let name = split(line, length).0;
        match string::<CHECK>(value) {
            Some(value) if !CHECK || is_plain(name) => Line::Field(Field { name, value }),
            _ => Line::Unknown,
        }
    }

    /// Returns whether this module can read all lines up to the closing `---`, and no field occurs twice. Returns
    /// `false` if the closing `---` is missing.
    pub(crate) const fn is_known(self) -> bool {
        let mut rest = self;
        loop {
            match rest.next_line::<true>() {
                Line::Field(field) => {
                    if self.value(field.name).is_none() {
                        return false;
                    }
                }
                Line::Blank => {}
                Line::End => return true,
                Line::Unknown => return false,
            }
        }
    }

    /// Returns the value of a field. Returns `None` if the field is missing or occurs twice. The caller must know that
    /// this module can read [all lines](Fields::is_known).
    pub(crate) const fn get(self, name: &str) -> Option<&'t str> {
        match self.value(name.as_bytes()) {
            Some(value) => match core::str::from_utf8(value) {
                Ok(value) => Some(value),
                Err(_) => None,
            },
            None => None,
        }
    }

    const fn value(mut self, name: &[u8]) -> Option<&'t [u8]> {
        let mut found = None;
        loop {
            match self.next_line::<false>() {
                Line::Field(field) if is_same(field.name, name) => match found {
                    None => found = Some(field.value),
                    Some(_) => return None,
                },
                Line::Field(_) | Line::Blank => {}
                Line::End | Line::Unknown => return found,
            }
        }
    }
}

/// Iterates over the fields. The caller must know that this module can read [all lines](Fields::is_known).
impl<'t> Iterator for Fields<'t> {
    type Item = Field<'t>;

    fn next(&mut self) -> Option<Field<'t>> {
        loop {
            match self.next_line::<false>() {
                Line::Field(field) => return Some(field),
                Line::Blank => {}
                Line::End | Line::Unknown => return None,
            }
        }
    }
}

/// Returns the text of a string in quotes without escapes, or of a string without quotes. Returns `None` for any other
/// value. If `CHECK` is `false`, the value must be such a string.
const fn string<const CHECK: bool>(value: &[u8]) -> Option<&[u8]> {
    match value {
        [b'"', text @ .., b'"'] if !CHECK || !contains(text, b"\"") && !contains(text, b"\\") => Some(text),
        [b'\'', text @ .., b'\''] if !CHECK || !contains(text, b"'") => Some(text),
        _ if !CHECK || is_plain(value) => Some(value),
        _ => None,
    }
}

/// Returns whether a line has no control characters except tabs, no line breaks of YAML 1.1 such as U+0085 and U+2028,
/// and neither U+FFFE nor U+FFFF.
const fn is_printable(line: &[u8]) -> bool {
    let mut rest = line;
    while let [_, tail @ ..] = rest {
        // Controls, U+0080 to U+009F, U+2028 and U+2029, U+FFFE and U+FFFF.
        if let [0..=0x08 | 0x0A..=0x1F | 0x7F, ..]
        | [0xC2, 0x80..=0x9F, ..]
        | [0xE2, 0x80, 0xA8 | 0xA9, ..]
        | [0xEF, 0xBF, 0xBE | 0xBF, ..] = rest
        {
            return false;
        }
        rest = tail;
    }
    true
}

/// Returns `true` only if all parsers read a text without quotes as a string, and not as a number, date, boolean, null,
/// list or comment. Returns `false` for some strings too, such as a text that begins with a digit.
const fn is_plain(text: &[u8]) -> bool {
    const WORDS: [&[u8]; 9] = [b"y", b"n", b"yes", b"no", b"on", b"off", b"true", b"false", b"null"];
    let mut words: &[&[u8]] = &WORDS;
    while let [word, rest @ ..] = words {
        if is_same_ignoring_case(text, word) {
            return false;
        }
        words = rest;
    }
    matches!(text, [b'a'..=b'z' | b'A'..=b'Z' | 0x80.., ..])
        && !matches!(text, [.., b':'])
        && !contains(text, b": ")
        && !contains(text, b" #")
        && !contains(text, b"\t")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(line: &str) -> Option<std::string::String> {
        let text = std::format!("---\n# comment\n\n{line}\n---\nbody: text\n");
        let key = line.split(':').next().unwrap();
        let fields = Fields::new(&text).unwrap();
        fields.get(key).filter(|_| fields.is_known()).map(Into::into)
    }

    /// Parsers of YAML 1.1, such as PyYAML, and parsers of YAML 1.2 agree on the strings that are read here. Lines with
    /// `: 1` and ` #no` are refused.
    #[test]
    fn strings_on_one_line_are_read() {
        let cases = [
            ("name: led", "led"),
            ("name:   led blinker  ", "led blinker"),
            ("description: Übung: 1", ""),
            ("description: Übung (1), 2; a:b #no", ""),
            ("description: Übung (1), 2; a:b#yes", "Übung (1), 2; a:b#yes"),
            ("description: über", "über"),
            ("license: \"MIT: # x\"", "MIT: # x"),
            ("license: 'say \"yes\" \\n'", "say \"yes\" \\n"),
            ("version: \"1.0\"", "1.0"),
            ("allowed-tools: Bash Read", "Bash Read"),
            ("name: \"\"", ""),
            ("name: yesterday", "yesterday"),
            ("name: led\r", "led"),
            ("name: \"l\ted\"", "l\ted"),
            ("name: led\u{A0}\u{2027}\u{202A}\u{FFFD}", "led\u{A0}\u{2027}\u{202A}\u{FFFD}"),
        ];
        for (line, expected) in cases {
            let known = !line.contains(" #no") && !line.contains(": 1");
            assert_eq!(field(line).as_deref(), known.then_some(expected), "{line}");
        }
    }

    #[test]
    fn unsupported_yaml_is_refused() {
        let lines = [
            "name:",
            "name:led",
            "name: ",
            "name: 1.0",
            "name: -1",
            "name: 2026-07-28",
            "name: true",
            "name: Yes",
            "name: NULL",
            "name: ~",
            "name: [a]",
            "name: {a: b}",
            "name: |",
            "name: >",
            "name: &a b",
            "name: *a",
            "name: !t b",
            "name: \"a\\n\"",
            "name: \"a\" # b",
            "name: 'a''b'",
            "name: \"a",
            "name: a: b",
            "name: a:",
            "name: a # b",
            "name: @a",
            "name: `a`",
            "name: a\n  b",
            "name: a\n b: c",
            "- name",
            "? name",
            "true: a",
            "name: a\nname: b",
            "metadata:\n  version: a",
            "name a",
            " name: a",
            "\"name\": a",
            "name: a\n...",
            "name: a\tb",
            "name: a\t",
            "name: a\n\t",
            "name: a\rb",
            "name: a\u{85}b",
            "name: \"a\u{2028}b\"",
            "name: 'a\u{2029}b'",
            "name: a\n# comment\u{85}name: b",
            "name: a\u{7}",
            "name: a\u{7F}",
            "name: a\u{9F}",
            "name: a\u{FFFE}",
        ];
        for line in lines {
            assert_eq!(field(line), None, "{line}");
        }
    }

    #[test]
    fn frontmatter_needs_both_delimiters() {
        assert!(Fields::new("name: led\n---\n").is_none());
        assert!(Fields::new("").is_none());
        assert!(!Fields::new("---\nname: led\n").unwrap().is_known());
        assert_eq!(Fields::new("---\r\nname: led\r\n---").unwrap().get("name"), Some("led"));
        assert_eq!(Fields::new("---\nname: led\n---\nname: x\n").unwrap().count(), 1);
    }
}
