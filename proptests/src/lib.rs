//! Property, model and dialogue tests of `mcp-proto`: see `tests/`.

pub mod differences;
#[cfg(feature = "arbitrary")]
pub mod fuzz;
#[cfg(feature = "schemas")]
pub mod schema;
pub mod written;
