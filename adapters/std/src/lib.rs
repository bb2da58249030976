//! `mcp-proto` over std threads and pipes.
