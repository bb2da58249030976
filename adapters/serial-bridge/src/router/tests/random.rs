//! Random sessions with damage and restarts: each request gets one response, and only messages reach the client.

use std::collections::BTreeSet;

use mcp_proto::rpc::{Message, MessageKind};

use super::*;

/// Pseudorandom numbers from a seed (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit.max(1)
    }
}

/// A client that counts its requests, and a board that answers some of them.
struct Simulation {
    bench: Bench,
    random: Random,
    next_id: u32,
    unanswered: BTreeSet<u32>,
    /// Requests that the board has received: the text of the id, and whether the request is a ping.
    on_board: Vec<(String, bool)>,
}

impl Simulation {
    /// Checks the lines for the client.
    fn read_as_client(&mut self) {
        for line in self.bench.client_output() {
            let message = Message::parse(line.as_bytes()).unwrap_or_else(|why| panic!("{why}: {line}"));
            assert_ne!(message.kind(), MessageKind::Invalid, "{line}");
            if message.kind() == MessageKind::Response {
                let id = message.id().and_then(|id| id.unsigned()).unwrap_or_else(|| panic!("no id: {line}"))
                    as u32;
                assert!(self.unanswered.remove(&id), "not in flight: {line}");
            }
        }
    }

    /// Takes the lines for the board, and keeps the requests. Loses `loses` percent of the requests.
    fn read_as_board(&mut self, loses: usize) {
        for line in self.bench.board_output() {
            let Ok(message) = Message::parse(line.as_bytes()) else { continue };
            if message.kind() == MessageKind::Request && self.random.below(100) >= loses {
                let is_ping = line.contains(r#""method":"ping""#);
                self.on_board.push((message.id().unwrap().raw().to_owned(), is_ping));
            }
        }
    }

    /// Answers the oldest request that the board has. Flips a bit in `damage` of 1000 bytes.
    fn answer(&mut self, damage: usize) {
        if self.on_board.is_empty() {
            return;
        }
        let (id, is_ping) = self.on_board.remove(0);
        let answer =
            if is_ping { format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#) } else { result(&id) };
        let mut bytes = format!("{answer}\n").into_bytes();
        for byte in &mut bytes {
            if self.random.below(1000) < damage {
                *byte ^= 1 << self.random.below(8);
            }
        }
        self.bench.board_bytes(&bytes);
    }

    fn restart(&mut self) {
        self.on_board.clear();
        self.bench.board_output();
        match self.random.below(3) {
            0 => {
                self.bench.router.disconnected();
                self.bench.router.connected(self.bench.now);
            }
            _ => self.bench.board_bytes(MARK.as_bytes()),
        }
    }

    fn step(&mut self) {
        match self.random.below(100) {
            0..30 => {
                self.next_id += 1;
                self.unanswered.insert(self.next_id);
                self.bench.client(&call(&self.next_id.to_string()));
            }
            30..50 => self.read_as_board(10),
            50..80 => self.answer(5),
            80..82 => self.restart(),
            82..84 => {
                let noise: Vec<u8> = (0..20).map(|_| self.random.below(256) as u8).collect();
                self.bench.board_bytes(&noise);
            }
            _ => {
                let millis = self.random.below(300) as u64;
                self.bench.advance(millis);
            }
        }
        self.read_as_client();
    }
}

#[test]
fn every_request_of_a_random_session_gets_one_response() {
    for seed in 1..200 {
        let random = Random(0x9e37_79b9_7f4a_7c15 + seed);
        let (unanswered, on_board) = (BTreeSet::new(), Vec::new());
        let mut simulation =
            Simulation { bench: Bench::initialized(), random, next_id: 0, unanswered, on_board };
        for _ in 0..300 {
            simulation.step();
        }
        // One more damaged line starts the probes. Without further damage, all requests end.
        simulation.bench.board("\n{\"jsonrpc\"");
        for _ in 0..1000 {
            simulation.bench.advance(100);
            simulation.read_as_board(0);
            simulation.answer(0);
            simulation.read_as_client();
        }
        assert_eq!(simulation.unanswered, BTreeSet::new(), "seed {seed}");
        assert!(simulation.next_id > 50);
    }
}
