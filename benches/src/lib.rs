//! What `mcp-proto` costs, beside what others cost, in one run.
//!
//! Each part prints one line of JSON for each number; `run` makes the document of them.

pub mod race;

pub mod feed;
pub mod pair;
pub mod pending;
pub mod rmcp_echo;
pub mod scan;
pub mod start;
pub mod stdio;
pub mod write;
