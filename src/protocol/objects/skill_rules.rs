//! Rules of skills. If [`Skills::new`](crate::server::Skills::new) initializes a `static`, the compiler checks these
//! rules, except the rules for JSON frontmatter.
//!
//! Specification: the extension *Skills* of `2026-07-28`, *Resource mapping* and *Limits*; *Agent Skills*.

use crate::error::InvalidSkill;
use crate::json::Json;
use crate::protocol::objects::const_text::{contains, is_same, is_same_text, split_end, starts_with};
use crate::protocol::objects::skill::{MAIN, MAIN_SUFFIX, Skill, SkillFile};
use crate::protocol::objects::view::{has_text, text};

const MOST_FILES: usize = 512;
const MOST_BYTES: u64 = 16 << 20;
const LONGEST_NAME: usize = 64;
const LONGEST_DESCRIPTION: usize = 1024;

impl Skill<'_> {
    /// Returns the first rule that the skill breaks, or `None`. Does not check JSON frontmatter: see
    /// [`invalid_json`](Self::invalid_json).
    pub(crate) const fn invalid(&self) -> Option<InvalidSkill> {
        if !is_skill_uri(self.uri) || !is_name(self.name()) {
            return Some(InvalidSkill::Uri);
        }
        if self.frontmatter.is_none()
            && let Some(invalid) = self.invalid_frontmatter()
        {
            return Some(invalid);
        }
        let mut bytes = match self.main {
            Some(main) => main.size,
            None => 0,
        };
        let mut rest = self.files;
        while let [file, tail @ ..] = rest {
            let path = file.path.as_bytes();
            if !is_path(path) || is_same(path, MAIN.as_bytes()) || has_path(tail, path) {
                return Some(InvalidSkill::Path);
            }
            (rest, bytes) = (tail, bytes.saturating_add(file.size));
        }
        if self.files.len() >= MOST_FILES || bytes > MOST_BYTES {
            return Some(InvalidSkill::TooLarge);
        }
        None
    }

    const fn invalid_frontmatter(&self) -> Option<InvalidSkill> {
        let fields = match self.fields() {
            Some(fields) if fields.is_known() => fields,
            _ => return Some(InvalidSkill::Frontmatter),
        };
        match fields.get("name") {
            Some(name) if is_same_text(name, self.name()) => {}
            _ => return Some(InvalidSkill::Name),
        }
        match fields.get("description") {
            Some(text) if is_description_length(character_count(text)) => None,
            _ => Some(InvalidSkill::Description),
        }
    }

    /// Returns the first rule that JSON frontmatter breaks. Returns `None` for valid frontmatter, or if the frontmatter
    /// is in `SKILL.md`. The caller must have checked that the text is an object.
    pub(crate) fn invalid_json(&self) -> Option<InvalidSkill> {
        let frontmatter = Json::trusted(self.frontmatter?.as_bytes());
        if !has_text(frontmatter, "name", self.name()) {
            return Some(InvalidSkill::Name);
        }
        let length = text(frontmatter, "description").map_or(0, |text| text.chars().count());
        (!is_description_length(length)).then_some(InvalidSkill::Description)
    }

    /// Returns whether this skill is in the folder of the skill `other`.
    pub(crate) const fn is_in(&self, other: &Skill<'_>) -> bool {
        let folder = split_end(other.uri, MAIN.len()).0;
        starts_with(self.uri.as_bytes(), folder.as_bytes())
    }
}

const fn is_description_length(characters: usize) -> bool {
    characters >= 1 && characters <= LONGEST_DESCRIPTION
}

const fn character_count(text: &str) -> usize {
    let (mut rest, mut count) = (text.as_bytes(), 0usize);
    while let [byte, tail @ ..] = rest {
        if *byte & 0xC0 != 0x80 {
            count = count.wrapping_add(1);
        }
        rest = tail;
    }
    count
}

/// Returns whether a URI consists of a scheme, at least one folder, and `SKILL.md`.
pub(crate) const fn is_skill_uri(uri: &str) -> bool {
    let (before, end) = split_end(uri, MAIN_SUFFIX.len());
    let [b'a'..=b'z' | b'A'..=b'Z', rest @ ..] = before.as_bytes() else { return false };
    let mut rest = rest;
    while let [b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'+' | b'-' | b'.', tail @ ..] = rest {
        rest = tail;
    }
    match rest {
        [b':', b'/', b'/', path @ ..] => is_path(path) && is_same_text(end, MAIN_SUFFIX),
        _ => false,
    }
}

/// Returns whether a text is a valid name of a skill.
const fn is_name(name: &str) -> bool {
    let mut rest = name.as_bytes();
    while let [b'a'..=b'z' | b'0'..=b'9' | b'-', tail @ ..] = rest {
        rest = tail;
    }
    let is_delimited = matches!(name.as_bytes(), [b'-', ..] | [.., b'-'] | []);
    rest.is_empty() && !is_delimited && !contains(name.as_bytes(), b"--") && name.len() <= LONGEST_NAME
}

/// Returns whether a text is a relative path: see [`PathCheck`].
const fn is_path(path: &[u8]) -> bool {
    let (mut rest, mut check) = (path, PathCheck::START);
    while let [byte, tail @ ..] = rest {
        let Some(next) = check.next(*byte) else { return false };
        (rest, check) = (tail, next);
    }
    check.is_complete()
}

/// State of the check of a relative path, which consists of URI path characters.
///
/// The path has no empty segments, and no segments `.` and `..`. The path also has no escaped dots, slashes,
/// backslashes and NUL bytes, because a decoded path could otherwise leave its folder.
#[derive(Clone, Copy)]
pub(crate) struct PathCheck {
    /// The number of bytes in the last segment so far.
    length: usize,
    /// The number of dots among these bytes.
    dots: usize,
    last: [u8; 2],
}

impl PathCheck {
    pub(crate) const START: PathCheck = PathCheck { length: 0, dots: 0, last: [0; 2] };

    /// Adds a byte. Returns `None` if the path is not valid.
    pub(crate) const fn next(self, byte: u8) -> Option<PathCheck> {
        let [before, last] = self.last;
        match (before, last, byte) {
            (b'%', b'0', b'0') | (b'%', b'2', b'e' | b'E' | b'f' | b'F') | (b'%', b'5', b'c' | b'C') => None,
            (_, _, b'/') if self.is_complete() => Some(PathCheck::START),
            _ if is_path_character(byte) => Some(PathCheck {
                length: self.length.wrapping_add(1),
                dots: if byte == b'.' { self.dots.wrapping_add(1) } else { self.dots },
                last: [last, byte],
            }),
            _ => None,
        }
    }

    /// Returns whether the path may end here.
    pub(crate) const fn is_complete(self) -> bool {
        self.length > 0 && (self.length != self.dots || self.dots > 2)
    }
}

/// Returns whether a character is a `pchar` of RFC 3986, or the `%` of an escape.
const fn is_path_character(byte: u8) -> bool {
    matches!(byte, b'!' | b'$' | b'%' | b'&'..=b'.' | b'0'..=b';' | b'=' | b'@'..=b'Z' | b'_' | b'a'..=b'z' | b'~')
}

const fn has_path(mut files: &[SkillFile<'_>], path: &[u8]) -> bool {
    while let [file, tail @ ..] = files {
        if is_same(file.path.as_bytes(), path) {
            return true;
        }
        files = tail;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;

    #[test]
    fn skill_uri_needs_scheme_folder_and_file() {
        for uri in ["skill://led/SKILL.md", "skill://a.b/c%20d/led/SKILL.md", "github+x://o/r/led/SKILL.md"] {
            assert!(is_skill_uri(uri), "{uri}");
        }
        let wrong = [
            "",
            "/SKILL.md",
            "SKILL.md",
            "skill:///SKILL.md",
            "skill://SKILL.md",
            "skill://led/skill.md",
            "led/SKILL.md",
            "skill:led/SKILL.md",
            "skill:/led/SKILL.md",
            "1://led/SKILL.md",
            "skill://led//SKILL.md",
            "skill://led/SKILL.md/",
            "skill://../led/SKILL.md",
            "skill://a b/led/SKILL.md",
            "skill://a?b/led/SKILL.md",
            "skill://a#/led/SKILL.md",
            "skill://\u{fc}/SKILL.md",
            "\u{fc}/SKILL.md",
        ];
        for uri in wrong {
            assert!(!is_skill_uri(uri), "{uri}");
        }
    }

    #[test]
    fn name_follows_agent_skills() {
        let (longest, too_long) = ("a".repeat(64), "a".repeat(65));
        for name in ["a", "led-2", "0", &longest] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", "-a", "a-", "a--b", "A", "a_b", "a.b", "a b", "\u{fc}", &too_long] {
            assert!(!is_name(name), "{name}");
        }
    }

    /// RFC 3986: `pchar` is an unreserved character, a sub-delimiter, `:`, `@` or an escape.
    #[test]
    fn path_has_the_characters_of_rfc_3986() {
        for byte in 0..=u8::MAX {
            let expected = byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@%".contains(&byte);
            assert_eq!(is_path_character(byte), expected, "{byte}");
        }
        for path in ["a", ".a", "a..", "...", "a/b.md", "a/.b/c"] {
            assert!(is_path(path.as_bytes()), "{path}");
        }
        for path in ["", "/", "/a", "a/", "a//b", ".", "..", "a/..", "./a", "a b", "a/b?c"] {
            assert!(!is_path(path.as_bytes()), "{path}");
        }
        for path in ["a%20b", "a%252e", "2e", "%", "%2", "%2g"] {
            assert!(is_path(path.as_bytes()), "{path}");
        }
        for path in ["%2e", "a/%2E%2e", "a%2Fb", "a%2f", "a%5Cb", "a%5c", "a%00"] {
            assert!(!is_path(path.as_bytes()), "{path}");
        }
    }

    #[test]
    fn description_has_1_to_1024_characters() {
        for (length, valid) in [(0, false), (1, true), (1024, true), (1025, false)] {
            let description = "\u{fc}".repeat(length);
            let text = format!("---\nname: a\ndescription: '{description}'\n---\n");
            let invalid = Skill::new("skill://a/SKILL.md", &text).invalid();
            assert_eq!(invalid, (!valid).then_some(InvalidSkill::Description), "{length}");
            let json = format!(r#"{{"name":"a","description":"{description}"}}"#);
            let skill = Skill::dynamic("skill://a/SKILL.md", &json);
            assert_eq!((skill.invalid(), skill.invalid_json()), (None, invalid), "{length}");
        }
    }
}
