//! Prints lines whose control characters are escaped, because a server chooses most of the text.

use std::fmt::Arguments;

use mcp_proto_std::Printable;

/// Prints to stdout like `println!`.
macro_rules! say {
    ($($text:tt)*) => { print!("{}", $crate::terminal::lines(format_args!($($text)*))) };
}

/// Prints to stderr like `eprintln!`.
macro_rules! note {
    ($($text:tt)*) => { eprint!("{}", $crate::terminal::lines(format_args!($($text)*))) };
}

/// Returns the text with each line escaped. The text is one string, because other threads also print.
pub(crate) fn lines(text: Arguments<'_>) -> String {
    text.to_string().split('\n').map(|line| format!("{}\n", Printable(line))).collect()
}
