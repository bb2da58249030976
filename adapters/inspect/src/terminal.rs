//! Prints lines whose control characters are escaped, because a server chooses most of the text.

use std::fmt::Arguments;
use std::io::{self, Write};
use std::process;

use mcp_proto_std::Printable;

/// Prints to stdout like `println!`.
macro_rules! say {
    ($($text:tt)*) => { $crate::terminal::write(&$crate::terminal::lines(format_args!($($text)*))) };
}

/// Prints to stderr like `eprintln!`.
macro_rules! note {
    ($($text:tt)*) => { eprint!("{}", $crate::terminal::lines(format_args!($($text)*))) };
}

/// Returns the text with each line escaped. The text is one string, because other threads also print.
pub(crate) fn lines(text: Arguments<'_>) -> String {
    text.to_string().split('\n').map(|line| format!("{}\n", Printable(line))).collect()
}

/// Writes to stdout, and flushes. If the text cannot be written, ends the program with exit code 1, because the output
/// is incomplete. For example, `head` may have closed the pipe.
pub(crate) fn write(text: &str) {
    let mut stdout = io::stdout().lock();
    if stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).is_err() {
        process::exit(1);
    }
}
