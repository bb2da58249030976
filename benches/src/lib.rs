//! Benchmarks of `mcp-proto` against other libraries.
//!
//! Each part prints one line of JSON for each number. The script `run` writes `docs/performance.md` from these lines.

pub mod interleave;
pub mod process;

pub mod connections;
pub mod feed;
pub mod http;
pub mod pair;
pub mod pending;
pub mod rmcp_echo;
pub mod scan;
pub mod start;
pub mod stdio;
pub mod write;
