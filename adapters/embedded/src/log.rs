//! Log messages about link errors and state changes (`log`, `defmt`).

use embedded_io::ErrorKind;

#[cfg(all(feature = "defmt", not(feature = "log")))]
macro_rules! say { ($level:ident, $($what:tt)*) => { defmt::$level!($($what)*) }; }
#[cfg(all(feature = "log", not(feature = "defmt")))]
macro_rules! say { ($level:ident, $($what:tt)*) => { log::$level!($($what)*) }; }
#[cfg(all(feature = "log", feature = "defmt"))]
macro_rules! say { ($level:ident, $($what:tt)*) => {{ defmt::$level!($($what)*); log::$level!($($what)*) }}; }
#[cfg(not(any(feature = "log", feature = "defmt")))]
macro_rules! say { ($level:ident, $text:literal $(, $value:expr)?) => {{ $(_ = $value;)? }}; }

pub(crate) fn broken(kind: ErrorKind) {
    say!(warn, "mcp: input bytes were lost ({:?}); the line is discarded", kind);
}

pub(crate) fn not_written(kind: ErrorKind) {
    say!(warn, "mcp: a write failed ({:?}); the next step tries again", kind);
}

pub(crate) fn lost(kind: ErrorKind) {
    say!(warn, "mcp: the link is closed ({:?})", kind);
}

pub(crate) fn new_session() {
    say!(info, "mcp: the peer begins a new session");
}

pub(crate) fn closed() {
    say!(info, "mcp: the connection is closed");
}
