//! Runs parts of the benchmark, and prints numbers as lines of JSON.
//!
//! `measure [--rounds N] [--turn MILLISECONDS] [--server NAME=COMMAND]... PART...`
//!
//! The name of a dialect or `observer` follows `stdio`, and a number of requests follows `pending`. This process
//! and its servers run on one processor, but servers of `http`, `http-crowd` and `connections` have another
//! processor if possible.

use std::time::Duration;

use mcp_proto_benches::interleave::Effort;
use mcp_proto_benches::process::{Processors, pin};
use mcp_proto_benches::{connections, feed, http, pair, pending, scan, start, stdio, write};

fn main() {
    let processors = Processors::allowed();
    pin(processors.own);
    let mut servers = Vec::new();
    let mut effort = Effort { rounds: 11, turn: Duration::from_millis(20) };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let number = |arguments: &mut std::iter::Skip<std::env::Args>| {
            arguments.next().and_then(|it| it.parse().ok()).expect("a number")
        };
        match argument.as_str() {
            "--rounds" => effort.rounds = number(&mut arguments),
            "--turn" => effort.turn = Duration::from_millis(number(&mut arguments) as u64),
            "--server" => servers.push(arguments.next().expect("NAME=COMMAND")),
            "stdio" => stdio::measure(effort, &servers, &arguments.next().expect("a dialect")),
            "http" => http::cost::measure(effort, &servers, processors),
            "http-crowd" => http::crowd::measure(&servers, processors),
            "connections" => connections::measure(effort, &servers, processors),
            "start" => start::measure(effort, &servers),
            "scan" => scan::measure(effort),
            "write" => write::measure(effort),
            "feed" => feed::measure(effort),
            "pair" => pair::measure(effort),
            // `run` starts a process for each count, because an earlier count's memory would affect the result.
            "pending" => pending::measure(effort, number(&mut arguments)),
            other => panic!("no part {other}"),
        }
    }
}
