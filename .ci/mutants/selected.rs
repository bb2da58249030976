//! Selection of a mutant at run time. A mutant is a function with one change, which runs instead of the original.
//!
//! The step `mutants` of `.ci/run` adds this file to its copy of the core.

extern crate std;

use core::intrinsics::const_eval_select;
use core::sync::atomic::{AtomicBool, Ordering};
use std::fs::File;
use std::io::Write;
use std::sync::OnceLock;
use std::vec::Vec;

struct Settings {
    /// The numbers of the selected mutants, in ascending order. Each function has at most one of them.
    mutants: Vec<u32>,
    /// The file that receives the number of the first mutant of each called function, or `None` to record nothing.
    record: Option<File>,
}

static SETTINGS: OnceLock<Settings> = OnceLock::new();
static IS_RECORDED: [AtomicBool; 1 << 16] = [const { AtomicBool::new(false) }; 1 << 16];

/// Returns the number of the selected mutant among `first..=last`, the mutants of the calling function. Returns 0 for
/// the original code. At compile time, the result is always 0.
pub const fn selected(first: u32, last: u32) -> u32 {
    const_eval_select((first, last), at_compile_time, at_run_time)
}

const fn at_compile_time(_: u32, _: u32) -> u32 {
    0
}

fn number(variable: &str) -> Option<u32> {
    std::env::var(variable).ok()?.parse().ok()
}

unsafe extern "C" {
    fn setitimer(which: i32, new: &[i64; 4], old: Option<&mut [i64; 4]>) -> i32;
}

/// Limits the CPU time of the process, because many mutants loop forever. `prlimit` would count whole seconds.
fn limit_time(milliseconds: u32) {
    const ITIMER_PROF: i32 = 2;
    let (seconds, rest) = (i64::from(milliseconds / 1000), i64::from(milliseconds % 1000));
    // SAFETY: `setitimer` reads two `timeval`, the interval and the first time. On 64-bit Linux, these are four 64-bit
    // numbers.
    unsafe { setitimer(ITIMER_PROF, &[0, 0, seconds, rest * 1000], None) };
}

fn settings() -> Settings {
    if let Some(milliseconds) = number("MUTANTS_MILLISECONDS") {
        limit_time(milliseconds);
    }
    Settings {
        mutants: std::env::var("MUTANT").unwrap_or_default().split(' ').filter_map(|text| text.parse().ok()).collect(),
        record: std::env::var_os("MUTANTS_RECORD").map(|path| File::create(path).unwrap()),
    }
}

fn at_run_time(first: u32, last: u32) -> u32 {
    let settings = SETTINGS.get_or_init(settings);
    if let Some(mut file) = settings.record.as_ref()
        && !IS_RECORDED[first as usize].swap(true, Ordering::Relaxed)
    {
        file.write_all(std::format!("{first}\n").as_bytes()).unwrap();
    }
    let at = settings.mutants.partition_point(|mutant| *mutant < first);
    settings.mutants.get(at).copied().filter(|mutant| *mutant <= last).unwrap_or(0)
}
