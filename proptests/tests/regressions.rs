//! Runs the inputs of `fuzz/regressions/TARGET/` without a fuzzer.

use std::fs;
use std::path::Path;

use mcp_proto_proptests::fuzz::{TARGETS, seeds};

/// The name of each file describes the fault that its input revealed: a bug, or a fault that was inserted on
/// purpose.
#[test]
fn fuzz_regressions_stay_fixed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/regressions");
    for entry in fs::read_dir(folder).unwrap() {
        let target = entry.unwrap().path();
        let name = target.file_name().unwrap().to_str().unwrap();
        let (_, check) = TARGETS.into_iter().find(|(known, _)| *known == name).expect("a folder is a target");
        for input in fs::read_dir(&target).unwrap() {
            let input = input.unwrap().path();
            println!("{}", input.display());
            check(&fs::read(input).unwrap());
        }
    }
}

/// The seeds contain no findings, so a failure here is a new bug, in the library or in a target.
#[test]
fn fuzz_seeds_pass_the_checks() {
    for (target, seeds) in seeds::all() {
        let Some((_, check)) = TARGETS.into_iter().find(|(known, _)| *known == target) else { continue };
        seeds.iter().step_by(seeds.len() / 20).for_each(|seed| check(seed));
    }
}
