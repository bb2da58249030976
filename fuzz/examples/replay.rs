//! Checks every file of a folder with one target, and prints the speed and the slowest inputs.
//!
//!     cargo run --release --example replay -- server corpus/server
//!
//! The program needs neither nightly nor cargo-fuzz, so it can run under a profiler.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use mcp_proto_proptests::fuzz::TARGETS;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [name, folder] = &words[..] else { panic!("usage: replay TARGET FOLDER") };
    let (_, check) = TARGETS.into_iter().find(|(known, _)| known == name).expect("a target");
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let inputs: Vec<Vec<u8>> = paths.iter().map(|path| fs::read(path).unwrap()).collect();
    // Check the first input once more in advance, so that no measured time includes the one-time initialization.
    if let Some(input) = inputs.first() {
        check(input);
    }
    let mut times: Vec<(Duration, &PathBuf)> = Vec::new();
    let start = Instant::now();
    for (path, input) in paths.iter().zip(&inputs) {
        let began = Instant::now();
        check(input);
        times.push((began.elapsed(), path));
    }
    let all = start.elapsed();
    times.sort();
    let median = times.get(times.len() / 2).map_or(Duration::ZERO, |(time, _)| *time);
    println!(
        "{name}: {} inputs in {all:.1?}: {:.0} per second, median {median:.1?}",
        inputs.len(),
        inputs.len() as f64 / all.as_secs_f64(),
    );
    for (time, path) in times.iter().rev().take(5) {
        println!("  {time:.1?} {}", path.display());
    }
}
