//! Text functions for compile time, because the corresponding operators and methods of `core` are not `const`.

/// Returns whether two byte strings are equal.
pub(crate) const fn is_same(left: &[u8], right: &[u8]) -> bool {
    left.len() == right.len() && starts_with(left, right)
}

/// Returns whether two texts are equal.
pub(crate) const fn is_same_text(left: &str, right: &str) -> bool {
    is_same(left.as_bytes(), right.as_bytes())
}

/// Returns whether two texts are equal, without regard to the case of ASCII letters.
pub(crate) const fn is_same_ignoring_case(mut left: &[u8], mut right: &[u8]) -> bool {
    while let ([first, left_tail @ ..], [second, right_tail @ ..]) = (left, right) {
        if !first.eq_ignore_ascii_case(second) {
            return false;
        }
        (left, right) = (left_tail, right_tail);
    }
    left.is_empty() && right.is_empty()
}

pub(crate) const fn starts_with(mut text: &[u8], mut start: &[u8]) -> bool {
    while let [expected, rest @ ..] = start {
        match text {
            [first, tail @ ..] if *first == *expected => (text, start) = (tail, rest),
            _ => return false,
        }
    }
    true
}

pub(crate) const fn contains(mut text: &[u8], part: &[u8]) -> bool {
    while let [_, tail @ ..] = text {
        if starts_with(text, part) {
            return true;
        }
        text = tail;
    }
    false
}

/// Splits a text at the offset `at`. The second part is empty if the text is shorter.
pub(crate) const fn split(text: &[u8], at: usize) -> (&[u8], &[u8]) {
    match text.split_at_checked(at) {
        Some(parts) => parts,
        None => (text, &[]),
    }
}

/// Splits a text before its last `length` bytes. Both parts are empty if this position is within a character.
pub(crate) const fn split_end(text: &str, length: usize) -> (&str, &str) {
    match text.split_at_checked(text.len().saturating_sub(length)) {
        Some(parts) => parts,
        None => ("", ""),
    }
}
