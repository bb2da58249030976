//! Selection of a mutant at run time. The step `mutants` adds this file to its copy of the core.

extern crate std;

use core::intrinsics::const_eval_select;
use core::sync::atomic::{AtomicBool, Ordering};
use std::fs::File;
use std::io::Write;
use std::sync::OnceLock;

struct Settings {
    mutant: u32,
    /// The file that receives the first mutant of each function that is called.
    record: Option<File>,
}

static SETTINGS: OnceLock<Settings> = OnceLock::new();
static IS_RECORDED: [AtomicBool; 1 << 16] = [const { AtomicBool::new(false) }; 1 << 16];

/// The number of the selected mutant if it is one of `first..=last`, the mutants of the calling function. Otherwise 0,
/// which stands for the original code. At compile time, always 0.
pub const fn selected(first: u32, last: u32) -> u32 {
    const_eval_select((first, last), at_compile_time, at_run_time)
}

const fn at_compile_time(_: u32, _: u32) -> u32 {
    0
}

fn at_run_time(first: u32, last: u32) -> u32 {
    let settings = SETTINGS.get_or_init(|| Settings {
        mutant: std::env::var("MUTANT").ok().and_then(|text| text.parse().ok()).unwrap_or(0),
        record: std::env::var_os("MUTANTS_RECORD").map(|path| File::create(path).unwrap()),
    });
    if let Some(mut file) = settings.record.as_ref()
        && !IS_RECORDED[first as usize].swap(true, Ordering::Relaxed)
    {
        file.write_all(std::format!("{first}\n").as_bytes()).unwrap();
    }
    if first <= settings.mutant && settings.mutant <= last { settings.mutant } else { 0 }
}
