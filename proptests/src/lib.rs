//! Models, fuzz targets, an explorer and schema checks for the property tests of `mcp-proto`.

pub mod differences;
pub mod explore;
#[cfg(feature = "arbitrary")]
pub mod fuzz;
#[cfg(feature = "arbitrary")]
pub mod http;
pub mod model;
#[cfg(feature = "schemas")]
pub mod schema;
pub mod transfer;
pub mod written;
