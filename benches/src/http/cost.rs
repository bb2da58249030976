//! Benchmark of servers over HTTP by their CPU time for a call.

use std::time::Instant;

use workloads::dialect::Dialect;
use workloads::inputs;

use super::client::Client;
use super::server::Server;
use crate::interleave::{Effort, report};
use crate::process::Processors;

/// A server, its clients, and the results of its measurement.
struct Contestant {
    server: Server,
    clients: Vec<Client>,
    /// Number of calls in a turn.
    count: usize,
    cpu: Vec<f64>,
    elapsed: Vec<f64>,
}

impl Contestant {
    /// Makes `count` calls. `count` must not be less than the number of connections. Each connection sends its next
    /// call after the response to the previous one.
    fn call(&mut self, text: &str, count: usize) {
        let connections = self.clients.len();
        self.clients.iter_mut().for_each(|client| client.send(text));
        for at in 0..count - connections {
            let client = &mut self.clients[at % connections];
            client.receive(text);
            client.send(text);
        }
        // Receive the remaining responses in the order of their calls: the next connection has the oldest call.
        self.clients.rotate_left(count % connections);
        self.clients.iter_mut().for_each(|client| drop(client.receive(text)));
    }

    /// Warms up, and finds the number of calls for one turn.
    fn warm_up(&mut self, effort: Effort, text: &str) {
        let (start, step, mut count) = (self.server.process.cpu_time(), self.clients.len() * 8, 0);
        while self.server.process.cpu_time() - start < effort.turn / 4 {
            self.call(text, step);
            count += step;
        }
        self.count = count * 4;
    }

    fn take_turn(&mut self, text: &str) {
        let (start, cpu) = (Instant::now(), self.server.process.cpu_time());
        self.call(text, self.count);
        let cpu = self.server.process.cpu_time() - cpu;
        self.elapsed.push(start.elapsed().as_nanos() as f64 / 1000.0 / self.count as f64);
        self.cpu.push(cpu.as_nanos() as f64 / 1000.0 / self.count as f64);
    }
}

/// Starts the servers. The server with constant responses responds with as many bytes as the first server.
fn start(
    commands: &[String],
    dialect: Dialect,
    connections: usize,
    text: &str,
    on: Processors,
) -> Vec<Contestant> {
    let (mut contestants, mut length) = (Vec::new(), 0);
    for command in commands {
        let server = Server::start(&format!("{command} {length}"), on);
        let mut clients: Vec<_> = (0..connections).map(|_| Client::open(&server, dialect)).collect();
        clients[0].send(text);
        let response = clients[0].receive(text);
        if length == 0 {
            length = response.body.len();
        }
        contestants.push(Contestant { server, clients, count: 0, cpu: Vec::new(), elapsed: Vec::new() });
    }
    contestants
}

/// Measures microseconds for each call: CPU time of the server, and elapsed time. Also reports the ratio of the CPU
/// time to that of the server with constant responses in the same round. The servers take turns.
pub fn measure(effort: Effort, commands: &[String], processors: Processors) {
    for (dialect, revision) in [(Dialect::Handshake, "2025-11-25"), (Dialect::Stateless, "2026-07-28")] {
        for (size, length, connections) in
            [("16 B", 16, 1), ("16 B", 16, 64), ("64 KiB", 1 << 16, 1), ("64 KiB", 1 << 16, 64)]
        {
            let (case, text) = (format!("{size}, {connections} open, {revision}"), inputs::prose(length));
            let mut contestants = start(commands, dialect, connections, &text, processors);
            contestants.iter_mut().for_each(|it| it.warm_up(effort, &text));
            for _ in 0..effort.rounds {
                contestants.iter_mut().for_each(|it| it.take_turn(&text));
            }
            let limit = contestants.iter().find(|it| it.server.is_constant()).map(|it| it.cpu.clone());
            for Contestant { server, cpu, elapsed, .. } in contestants {
                let name = server.name();
                if let Some(limit) = &limit {
                    let ratios = cpu.iter().zip(limit).map(|(cpu, limit)| cpu / limit).collect();
                    report("http", &case, name, "× hyper", ratios);
                }
                report("http", &case, name, "µs", cpu);
                report("http", &case, name, "µs elapsed", elapsed);
            }
        }
    }
}
