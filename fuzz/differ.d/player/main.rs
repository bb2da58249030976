//! Plays dialogues with one version of the crate, and prints a canonical transcript of each.
//!
//! The program reads dialogues from standard input, and writes transcripts to standard output. A line with a single
//! dot ends each dialogue and each transcript. `docs/fuzzing.md` describes the format, and `fuzz/differ` compares two
//! versions of this program. The program defines every word of a transcript, so renaming an item of the crate does
//! not change transcripts.

mod client;
mod dialogue;
mod machine;
mod server;
mod setup;
mod wire;
mod words;

use std::io::{BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use dialogue::Dialogue;
use wire::Log;

/// The message of the last panic, without its source position.
static PANIC: Mutex<String> = Mutex::new(String::new());

fn main() {
    std::panic::set_hook(Box::new(|info| {
        let payload = info.payload();
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default();
        eprintln!("{info}");
        *PANIC.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }));
    let mut lines = std::io::stdin().lock().lines();
    let mut out = std::io::stdout().lock();
    loop {
        let dialogue: Vec<String> =
            lines.by_ref().map(|line| line.expect("text")).take_while(|line| line != ".").collect();
        if dialogue.is_empty() {
            return;
        }
        let mut text = play(&dialogue).join("\n");
        text.push_str("\n.\n");
        out.write_all(text.as_bytes()).expect("standard output");
        out.flush().expect("standard output");
    }
}

fn play(lines: &[String]) -> Vec<String> {
    let log = Arc::new(Mutex::new(Log::default()));
    let played = catch_unwind(AssertUnwindSafe(|| {
        let dialogue = Dialogue::parse(lines);
        wire::play(&dialogue, &log)
    }));
    let mut log = std::mem::take(&mut *log.lock().unwrap_or_else(PoisonError::into_inner));
    log.end();
    match played {
        Ok(Ok(())) => {}
        Ok(Err(why)) => log.lines.push(format!("stopped: {why}")),
        Err(_) => {
            let panic = std::mem::take(&mut *PANIC.lock().unwrap_or_else(PoisonError::into_inner));
            log.lines.push(format!("panic: {}", panic.lines().next().unwrap_or_default()));
        }
    }
    log.lines
}
