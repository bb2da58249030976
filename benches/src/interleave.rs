//! Measures contestants in turns, so that machine load affects all equally.

use std::time::Duration;

use nix::time::{ClockId, clock_gettime};

/// The duration of a measurement.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Number of turns of each contestant.
    pub rounds: usize,
    /// Approximate duration of a turn.
    pub turn: Duration,
}

/// A named implementation of the measured work.
pub struct Contestant<'a> {
    name: &'static str,
    work: Box<dyn FnMut() + 'a>,
}

impl<'a> Contestant<'a> {
    /// Creates a contestant. Each call of `work` does the work once.
    pub fn new(name: &'static str, work: impl FnMut() + 'a) -> Self {
        Contestant { name, work: Box::new(work) }
    }

    /// Returns the name in reports.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Does the work once.
    pub fn run(&mut self) {
        (self.work)();
    }
}

/// Returns the CPU time of this thread, which excludes other work on the processor.
///
/// # Panics
/// If the system has no clock of the CPU time of a thread.
#[must_use]
pub fn cpu_time() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).expect("a clock of the thread").into()
}

/// Runs all contestants of a case in turns, and reports nanoseconds per unit. Each call of the work does `units`
/// units.
pub fn interleave(part: &str, case: &str, effort: Effort, units: f64, contestants: Vec<Contestant<'_>>) {
    let mut entries: Vec<_> = contestants.into_iter().map(|it| (case.to_owned(), it)).collect();
    interleave_cases(part, effort, units, &mut entries);
}

/// Measures like [`interleave`], but the contestants of several cases take turns with each other, so that times of
/// different cases are comparable.
pub fn interleave_cases(part: &str, effort: Effort, units: f64, entries: &mut [(String, Contestant<'_>)]) {
    let mut times = Vec::new();
    for (_, contestant) in &mut *entries {
        contestant.run();
        let (start, mut count) = (cpu_time(), 0_u32);
        while cpu_time() - start < effort.turn / 4 {
            contestant.run();
            count += 1;
        }
        times.push((count.saturating_mul(4).max(1), Vec::new()));
    }
    for _ in 0..effort.rounds {
        for ((_, contestant), (count, times)) in entries.iter_mut().zip(&mut times) {
            let start = cpu_time();
            (0..*count).for_each(|_| contestant.run());
            times.push((cpu_time() - start).as_nanos() as f64 / f64::from(*count) / units);
        }
    }
    for ((case, contestant), (_, times)) in entries.iter().zip(times) {
        report(part, case, contestant.name, "ns", times);
    }
}

/// Prints the median and the quartiles of these values as a line of JSON. Prints nothing if there are no values.
pub fn report(part: &str, case: &str, contestant: &str, unit: &str, mut values: Vec<f64>) {
    values.sort_by(f64::total_cmp);
    let Some(median) = values.get(values.len() / 2) else { return };
    let line = serde_json::json!({
        "part": part, "case": case, "contestant": contestant, "unit": unit, "median": median,
        "quartiles": [values[values.len() / 4], values[values.len() * 3 / 4]]
    });
    println!("{line}");
}
