//! Property, model and dialogue tests of `mcp-proto`: see `tests/`.

pub mod differences;
pub mod explore;
pub mod model;
pub mod schema;
pub mod written;
