//! Prints lines whose control characters are escaped, because a server chooses most of the text.

use std::fmt::Arguments;
use std::io::{self, Write};
use std::process;
use std::sync::OnceLock;

use mcp_proto_std::Printable;

use crate::quoted;

/// The form of the text on stdout.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Output {
    /// One JSON object a line, and no other text.
    pub(crate) json: bool,
    /// Violations and failures only.
    pub(crate) quiet: bool,
}

static OUTPUT: OnceLock<Output> = OnceLock::new();

impl Output {
    /// Returns the form that the command line has chosen.
    pub(crate) fn get() -> Output {
        *OUTPUT.get_or_init(Output::default)
    }

    /// Sets the form. Has an effect only before the first text is printed.
    pub(crate) fn set(self) {
        let _ = OUTPUT.set(self);
    }
}

/// Prints to stdout like `println!`. Prints nothing with `--json` or `--quiet`.
macro_rules! say {
    ($($text:tt)*) => {
        if !$crate::terminal::Output::get().quiet {
            report!($($text)*);
        }
    };
}

/// Prints to stdout like `println!`. Prints nothing with `--json`.
macro_rules! report {
    ($($text:tt)*) => {
        if !$crate::terminal::Output::get().json {
            $crate::terminal::write(&$crate::terminal::lines(format_args!($($text)*)));
        }
    };
}

/// Prints to stderr like `eprintln!`.
macro_rules! note {
    ($($text:tt)*) => { eprint!("{}", $crate::terminal::lines(format_args!($($text)*))) };
}

/// Returns the text with each line escaped. The result is one string, so that no output of other threads comes between
/// its lines.
pub(crate) fn lines(text: Arguments<'_>) -> String {
    text.to_string().split('\n').map(|line| format!("{}\n", Printable(line))).collect()
}

/// Prints why the program fails: to stderr, and with `--json` also to stdout.
pub(crate) fn fail(why: &str) {
    note!("mcp-inspect: {why}");
    object(&[("failure", &quoted(why))]);
}

/// With `--json`, prints an object with these members, whose values are JSON.
pub(crate) fn object(members: &[(&str, &str)]) {
    if Output::get().json {
        let members: Vec<_> = members.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
        write(&format!("{}\n", json_line(&format!("{{{}}}", members.join(",")))));
    }
}

/// Escapes the control characters of valid JSON. Line ends and tabs, which stand only between tokens, become spaces.
fn json_line(json: &str) -> String {
    let mut line = String::with_capacity(json.len());
    for character in json.chars() {
        match character {
            '\n' | '\r' | '\t' => line.push(' '),
            other if other.is_control() => line.push_str(&format!("\\u{:04x}", u32::from(other))),
            other => line.push(other),
        }
    }
    line
}

/// Writes to stdout, and flushes. If the text cannot be written, ends the program with exit code 1, because the output
/// is incomplete. For example, `head` may have closed the pipe.
pub(crate) fn write(text: &str) {
    let mut stdout = io::stdout().lock();
    if stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).is_err() {
        process::exit(1);
    }
}
