//! Benchmark from process start to the answer to `initialize`.

use std::time::Instant;

use crate::race::{Effort, report};
use crate::stdio::Server;

/// Measures milliseconds of elapsed time and of the server's CPU time.
pub fn measure(effort: Effort, commands: &[String]) {
    let mut times = vec![(Vec::new(), Vec::new()); commands.len()];
    for _ in 0..effort.rounds * 3 {
        for (command, (wall, work)) in commands.iter().zip(&mut times) {
            let began = Instant::now();
            let mut server = Server::start(command);
            server.connect();
            wall.push(began.elapsed().as_secs_f64() * 1e3);
            work.push(server.worked().as_secs_f64() * 1e3);
        }
    }
    for (command, (wall, work)) in commands.iter().zip(times) {
        let who = command.split('=').next().unwrap_or_default();
        report("start", "to the answer", who, "ms", wall);
        report("start", "worked", who, "ms", work);
    }
}
