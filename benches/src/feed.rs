//! Benchmark of a line that arrives byte by byte.
//!
//! The cost of a byte must not depend on the length of the line.

use workloads::dialect::Dialect;
use workloads::{inputs, machine};

use crate::interleave::{Contestant, Effort, interleave};

/// Measures nanoseconds per byte, for lines from 1 KiB to 4 MiB.
///
/// # Panics
/// If the server does not respond.
pub fn measure(effort: Effort) {
    for (case, length) in [("1 KiB", 1 << 10), ("16 KiB", 1 << 14), ("256 KiB", 1 << 18), ("4 MiB", 1 << 22)]
    {
        let mut line = inputs::call(7, &inputs::prose(length));
        line.push(b'\n');
        let mut server = machine::connected(&machine::CONFIG, Dialect::Handshake, 8 << 20);
        let contestant =
            Contestant::new("mcp-proto", || assert!(machine::feed(&mut server, &line, 1) > length));
        interleave("feed", case, effort, line.len() as f64, vec![contestant]);
    }
}
