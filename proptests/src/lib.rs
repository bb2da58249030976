//! Property, model and dialogue tests of `mcp-proto`: see `tests/`.

pub mod differences;
pub mod explore;
#[cfg(feature = "arbitrary")]
pub mod fuzz;
pub mod model;
#[cfg(feature = "schemas")]
pub mod schema;
pub mod written;
