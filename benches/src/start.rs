//! Benchmark from process start to the response to `initialize`.

use std::time::Instant;

use workloads::dialect::Dialect;

use crate::interleave::{Effort, report};
use crate::stdio::Server;

/// Measures milliseconds of elapsed time and of the server's CPU time.
pub fn measure(effort: Effort, commands: &[String]) {
    let mut times = vec![(Vec::new(), Vec::new()); commands.len()];
    for _ in 0..effort.rounds * 3 {
        for (command, (elapsed, cpu)) in commands.iter().zip(&mut times) {
            let start = Instant::now();
            let mut server = Server::start(command, Dialect::Handshake);
            server.connect();
            elapsed.push(start.elapsed().as_secs_f64() * 1e3);
            cpu.push(server.cpu_time().as_secs_f64() * 1e3);
        }
    }
    for (command, (elapsed, cpu)) in commands.iter().zip(times) {
        let name = command.split('=').next().unwrap_or_default();
        report("start", "to the response", name, "ms", elapsed);
        report("start", "CPU time", name, "ms", cpu);
    }
}
