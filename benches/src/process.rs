//! Server processes: processors, CPU time, and memory.

use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::time::{ClockId, clock_getcpuclockid, clock_gettime};
use nix::unistd::Pid;

/// Two processors for the benchmark. On a machine with one processor, both are the same.
#[derive(Clone, Copy, Debug)]
pub struct Processors {
    /// The last allowed processor, for this process, because the first one handles more interrupts.
    pub own: usize,
    /// The first allowed processor, for servers that must not share a processor with their clients.
    pub other: usize,
}

impl Processors {
    /// Returns two of the processors that this process may use.
    ///
    /// # Panics
    /// If the system does not report the allowed processors.
    #[must_use]
    pub fn allowed() -> Processors {
        let allowed = sched_getaffinity(Pid::from_raw(0)).expect("processors");
        let is_allowed = |at: &usize| allowed.is_set(*at) == Ok(true);
        let own = (0..CpuSet::count()).rev().find(is_allowed).expect("one");
        Processors { own, other: (0..CpuSet::count()).find(is_allowed).unwrap_or(own) }
    }
}

/// Pins this thread, and the processes that it starts from now on, to a processor.
///
/// # Panics
/// If the processor is not allowed.
pub fn pin(processor: usize) {
    let mut one = CpuSet::new();
    one.set(processor).expect("a valid processor");
    sched_setaffinity(Pid::from_raw(0), &one).expect("an allowed processor");
}

/// A running server process, which ends when the value is dropped.
pub struct Process {
    pub(crate) name: String,
    child: Child,
    clock: ClockId,
}

impl Process {
    /// Starts a process from `NAME=COMMAND`.
    ///
    /// # Panics
    /// If `named` has no `=`, or the command does not start.
    #[must_use]
    pub fn start(named: &str) -> (Process, ChildStdin, ChildStdout) {
        let (name, command) = named.split_once('=').expect("NAME=COMMAND");
        let mut words = command.split(' ');
        let mut child = Command::new(words.next().expect("a command"))
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a server");
        let clock = clock_getcpuclockid(Pid::from_raw(child.id().cast_signed())).expect("its clock");
        let (input, output) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
        (Process { name: name.into(), child, clock }, input, output)
    }

    /// Returns the CPU time of the process, on all its threads.
    ///
    /// # Panics
    /// If the CPU clock of the process cannot be read.
    #[must_use]
    pub fn cpu_time(&self) -> Duration {
        clock_gettime(self.clock).expect("a running server").into()
    }

    /// Returns the peak of the resident memory of the process, in KiB.
    ///
    /// # Panics
    /// If the process has exited.
    #[must_use]
    pub fn peak(&self) -> f64 {
        self.memory("status", "VmHWM:")
    }

    /// Returns the anonymous memory of the process, in KiB. `VmRSS` would also include mapped files.
    ///
    /// # Panics
    /// If the process has exited.
    #[must_use]
    pub fn anonymous(&self) -> f64 {
        self.memory("smaps_rollup", "Anonymous:")
    }

    /// Returns the number of open file descriptors of the process.
    ///
    /// # Panics
    /// If the file descriptors of the process cannot be listed.
    #[must_use]
    pub fn descriptors(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.child.id())).expect("a running server").count()
    }

    fn memory(&self, file: &str, name: &str) -> f64 {
        let file = format!("/proc/{}/{file}", self.child.id());
        let text = std::fs::read_to_string(file).expect("a running server");
        let value = text.lines().find_map(|line| line.strip_prefix(name)).expect("its memory");
        value.trim().trim_end_matches(" kB").parse().expect("a number")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
