//! Property, model and dialogue tests of `mcp-proto`: see `tests/`.

pub mod model;
pub mod schema;
pub mod written;
