//! Contestants take turns, so that whatever else the machine does hits all of them alike.

use std::time::Duration;

use nix::time::{ClockId, clock_gettime};

/// How much time there is.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// How often everyone has a turn.
    pub rounds: usize,
    /// How long one turn takes, about.
    pub turn: Duration,
}

/// Somebody who does the work once.
pub struct Contestant<'a> {
    who: &'static str,
    work: Box<dyn FnMut() + 'a>,
}

impl<'a> Contestant<'a> {
    /// That one, by its name.
    pub fn new(who: &'static str, work: impl FnMut() + 'a) -> Self {
        Contestant { who, work: Box::new(work) }
    }
}

/// The time that this thread has worked: what others do on the processor meanwhile does not count.
///
/// # Panics
/// There is no such clock.
#[must_use]
pub fn worked() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).expect("a clock of the thread").into()
}

/// Lets everyone do the same work in turns, and reports the nanoseconds for each time that it was done `units` times.
pub fn race(part: &str, case: &str, effort: Effort, units: f64, mut contestants: Vec<Contestant<'_>>) {
    let mut times = Vec::new();
    for one in &mut contestants {
        (one.work)();
        let (began, mut count) = (worked(), 0_u32);
        while worked() - began < effort.turn / 4 {
            (one.work)();
            count += 1;
        }
        times.push((count.saturating_mul(4).max(1), Vec::new()));
    }
    for _ in 0..effort.rounds {
        for (one, (count, times)) in contestants.iter_mut().zip(&mut times) {
            let began = worked();
            (0..*count).for_each(|_| (one.work)());
            times.push((worked() - began).as_nanos() as f64 / f64::from(*count) / units);
        }
    }
    for (one, (_, times)) in contestants.iter().zip(times) {
        report(part, case, one.who, "ns", times);
    }
}

/// Prints a number: the median of these, and the smallest one.
pub fn report(part: &str, case: &str, who: &str, unit: &str, mut values: Vec<f64>) {
    values.sort_by(f64::total_cmp);
    let (Some(best), Some(median)) = (values.first(), values.get(values.len() / 2)) else { return };
    let line = serde_json::json!({"part": part, "case": case, "who": who, "unit": unit, "median": median, "best": best});
    println!("{line}");
}
