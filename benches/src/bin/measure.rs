//! Runs parts of the benchmark, and prints numbers as lines of JSON.
//!
//! `measure [--rounds N] [--turn MILLISECONDS] [--server NAME=COMMAND]... PART...`
//!
//! `stdio` takes the name of a dialect, and `pending` a number of requests. This process and the servers stay on one
//! processor.

use std::time::Duration;

use mcp_proto_benches::interleave::Effort;
use mcp_proto_benches::{feed, pair, pending, scan, start, stdio, write};
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

/// Pins this process to its last allowed processor, because the first one handles more interrupts.
fn pin_to_one_processor() {
    let allowed = sched_getaffinity(Pid::from_raw(0)).expect("processors");
    let last = (0..CpuSet::count()).rev().find(|at| allowed.is_set(*at) == Ok(true)).expect("one");
    let mut one = CpuSet::new();
    one.set(last).expect("a valid processor");
    sched_setaffinity(Pid::from_raw(0), &one).expect("an allowed processor");
}

fn main() {
    pin_to_one_processor();
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
            "start" => start::measure(effort, &servers),
            "scan" => scan::measure(effort),
            "write" => write::measure(effort),
            "feed" => feed::measure(effort),
            "pair" => pair::measure(effort),
            // `run` starts a process for each count, because memory of an earlier count would affect the next one.
            "pending" => pending::measure(effort, number(&mut arguments)),
            other => panic!("no part {other}"),
        }
    }
}
