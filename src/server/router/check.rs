//! Checks of a router at compile time. Each panic is a compile error whose message names the mistake.
// The code runs only at compile time, so an invalid index or an overflow is a compile error.
#![allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::protocol::objects::completion::Reference;
use crate::protocol::objects::const_text::is_same_text;
use crate::protocol::objects::prompt::{Prompt, PromptArgument};
use crate::server::features::catalog::position;
use crate::server::router::routes::{Completed, Entry};

/// Checks that each completion names an argument or variable of the router, and that no two completions name the same
/// argument or variable. A router with an [`Entry::Refused`] is not checked, because this entry may stand for the
/// prompt or the template that a completion names.
///
/// # Panics
/// The router does not have the argument or variable of a completion, or two completions have the same argument or
/// variable.
pub const fn check(entries: &[Entry<'_>]) {
    if position!(entries, |entry, index| matches!(entry, Entry::Refused)).is_some() {
        return;
    }
    let mut index = 0;
    while index < entries.len() {
        if let Entry::Completion(completed) = entries[index] {
            match completed.reference {
                Reference::Prompt(name) => check_prompt(entries, name, completed.argument),
                Reference::Resource(uri) => check_template(entries, uri),
            }
            check_repetition(entries.split_at(index).0, completed);
        }
        index += 1;
    }
}

const fn check_prompt(entries: &[Entry<'_>], name: &str, argument: &str) {
    let mut rest = entries;
    while let [entry, tail @ ..] = rest {
        if let Entry::Prompt(prompt) = entry
            && is_same_text(prompt.name(), name)
        {
            if !has_argument(prompt, argument) {
                fail(["`#[complete]`: the prompt `", name, "` has no argument `", argument, "`"]);
            }
            return;
        }
        rest = tail;
    }
    fail(["`#[complete]`: this router has no prompt `", name, "`", "", ""]);
}

/// Checks that the router has a template. The attribute has already checked that the template has the variable.
const fn check_template(entries: &[Entry<'_>], uri: &str) {
    let found = position!(entries, |entry, index| {
        matches!(entry, Entry::Template(template) if is_same_text(template.uri_template(), uri))
    });
    if found.is_none() {
        fail(["`#[complete]`: this router has no resource template `", uri, "`", "", ""]);
    }
}

const fn check_repetition(earlier: &[Entry<'_>], completed: Completed<'_>) {
    let found = position!(earlier, |entry, index| {
        matches!(entry, Entry::Completion(other) if is_same_text(other.argument, completed.argument)
            && is_same_reference(other.reference, completed.reference))
    });
    if found.is_some() {
        fail(["`#[complete]`: two functions complete `", completed.argument, "`", "", ""]);
    }
}

const fn is_same_reference(one: Reference<'_>, other: Reference<'_>) -> bool {
    match (one, other) {
        (Reference::Prompt(one), Reference::Prompt(other))
        | (Reference::Resource(one), Reference::Resource(other)) => is_same_text(one, other),
        _ => false,
    }
}

const fn has_argument(prompt: &Prompt<'_>, argument: &str) -> bool {
    position!(prompt.arguments, |known, index| is_same_text(known.name, argument)).is_some()
}

/// Sets the suggested values of an argument.
///
/// # Panics
/// No argument has this name.
#[must_use]
pub const fn with_values<const N: usize>(
    mut arguments: [PromptArgument<'static>; N],
    name: &str,
    values: &'static [&'static str],
) -> [PromptArgument<'static>; N] {
    match position!(arguments.as_slice(), |known, index| is_same_text(known.name, name)) {
        Some(index) => arguments[index] = arguments[index].values(values),
        None => fail(["`values`: the prompt has no argument `", name, "`", "", ""]),
    }
    arguments
}

/// Panics with the parts as the message. A message of more than 256 bytes is cut. If the cut splits a character, a
/// general message replaces the parts.
#[expect(clippy::panic, reason = "the panic is a compile error")]
const fn fail(parts: [&str; 5]) -> ! {
    let (mut text, mut length, mut part) = ([0; 256], 0, 0);
    while part < parts.len() {
        let mut rest = parts[part].as_bytes();
        while let [byte, tail @ ..] = rest
            && length < text.len()
        {
            text[length] = *byte;
            length += 1;
            rest = tail;
        }
        part += 1;
    }
    match core::str::from_utf8(text.split_at(length).0) {
        Ok(text) => panic!("{}", text),
        Err(_) => {
            panic!("an attribute names an argument, a prompt or a resource that this router does not have")
        }
    }
}
