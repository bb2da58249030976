//! Writes the seeds and the dictionary for fuzzing. The seeds come from `tests/transcripts`, are written by hand, or
//! are pseudo-random.
//!
//! `fuzz/run --seeds` runs this program in the folder `fuzz`.

use std::collections::BTreeSet;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};

use mcp_proto_proptests::fuzz;

fn main() {
    for (target, seeds) in fuzz::seeds::all() {
        let folder = format!("corpus/{target}");
        fs::create_dir_all(&folder).unwrap();
        for seed in &seeds {
            let mut hasher = DefaultHasher::new();
            seed.hash(&mut hasher);
            fs::write(format!("{folder}/seed-{:016x}", hasher.finish()), seed).unwrap();
        }
        println!("{target}: {} seeds", seeds.len());
    }
    let words: BTreeSet<String> = fuzz::seeds::words();
    let escaped = words.iter().map(|word| word.replace('\\', "\\\\").replace('"', "\\\""));
    let lines: String = escaped.map(|word| format!("\"{word}\"\n")).collect();
    fs::write("dictionary.txt", format!("# Words of the protocol, written by `fuzz/run --seeds`.\n{lines}"))
        .unwrap();
}
