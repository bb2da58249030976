//! A slow measurement as a task, on an LM3S6965 (Cortex-M3).
//!
//! The task survives its client: the next client gets the result by the id of the task.
#![no_std]
#![no_main]

use cortex_m_rt::{entry, exception};
use mcp_proto::server::{
    Call, Event, Limits, SecondInitialize, ServerConfig, Slot, TaskOptions, TaskSlot, TaskTable, TaskTicket,
    Tasks, Tool, Tools,
};
use mcp_proto::{ConfigError, Millis, Server, TaskSupport};
use mcp_proto_embedded::{Pump, PumpStatus};
use mcp_proto_firmware::chips::lm3s6965_interrupts::{Interrupting, uart};
use mcp_proto_firmware::chips::ticks::tick;
use mcp_proto_firmware::device::Chip;

static TOOLS: Tools = Tools::new(&[Tool::new("measure", "{}")
    .description("Measures the mean temperature of five seconds")
    .task_support(TaskSupport::Required)]);
static CONFIG: ServerConfig = ServerConfig::new("tasks", env!("CARGO_PKG_VERSION"))
    .features(&[&TOOLS, &Tasks::new()])
    .limits(Limits::DEFAULT.with_depth(16))
    .second_initialize(SecondInitialize::Restart);

const TASKS: usize = 4;
/// The status messages of the first four samples. The fifth sample completes the task.
const SAMPLES: [&str; 4] = ["1 of 5", "2 of 5", "3 of 5", "4 of 5"];
const PAUSE: Millis = Millis::seconds(1);
const NEVER: Millis = Millis(u64::MAX);

/// The running measurement.
struct Measurement {
    task: TaskTicket,
    samples: usize,
    next: Millis,
}

impl Measurement {
    /// Creates a task for a call, unless another measurement runs.
    fn begin(running: &mut Option<Measurement>, call: Call<'_>, now: Millis) {
        if running.is_some() {
            return call.fail("another measurement is running");
        }
        // One client at a time is connected to a UART, so the id needs no random bits. The time makes the ids of
        // consecutive tasks differ.
        let options = TaskOptions::new(u128::from(now.0).to_le_bytes()).ttl(Millis::seconds(60));
        match call.into_task(options.poll_interval(Millis(500))) {
            Ok(task) => *running = Some(Measurement { task, samples: 0, next: now.plus(PAUSE) }),
            Err(call) => call.fail("too many tasks"),
        }
    }

    /// Takes the next sample if it is due. Returns `None` if the task has ended, or if its status message does not fit.
    fn step(mut self, server: &mut Server<'_>, now: Millis) -> Option<Measurement> {
        if now < self.next {
            return Some(self);
        }
        let mut task = server.task(self.task).ok()?;
        match SAMPLES.get(self.samples) {
            Some(message) => task.set_message(message).ok()?,
            None => {
                _ = task.complete(|result| result.text("21.5 °C"));
                return None;
            }
        }
        (self.samples, self.next) = (self.samples + 1, now.plus(PAUSE));
        Some(self)
    }
}

/// The buffers of the server.
struct Memory {
    rx: [u8; 1024],
    tx: [u8; 1024],
    text: [u8; 128],
    tasks: [u8; TASKS * 256],
}

fn serve(memory: &mut Memory, chip: &mut Interrupting) -> Result<(), ConfigError> {
    let (mut slots, mut task_slots) = ([Slot::EMPTY; 2], [TaskSlot::EMPTY; TASKS]);
    // A new session begins with `reset`. The table keeps the tasks.
    let mut table = TaskTable::new(&mut task_slots, &mut memory.tasks).keep_on_reset();
    let server = Server::new(&CONFIG, &mut memory.rx, &mut memory.tx)?;
    let mut server = server.in_flight(&mut slots, &mut memory.text)?.tasks(&mut table);
    let (mut pump, mut running) = (Pump::new().session_marks(), None::<Measurement>);
    loop {
        let now = chip.now();
        running = running.and_then(|measurement| measurement.step(&mut server, now));
        match pump.step(&mut server, chip, now) {
            PumpStatus::Idle(until) => {
                let next = running.as_ref().map_or(NEVER, |measurement| measurement.next);
                chip.sleep(until.unwrap_or(NEVER).min(next));
            }
            PumpStatus::Event => match server.event() {
                Some(Event::Call(call)) => Measurement::begin(&mut running, call, now),
                Some(Event::TaskCancelled(task) | Event::TaskExpired(task)) => {
                    running.take_if(|measurement| measurement.task == task);
                }
                _ => {}
            },
            PumpStatus::NewSession => server.reset(),
            PumpStatus::Closed => {
                pump.new_session();
                server.reset();
            }
            _ => {}
        }
    }
}

#[exception]
fn SysTick() {
    tick();
}

/// Handles all interrupts without their own handler. Only the UART interrupt is enabled.
#[exception]
unsafe fn DefaultHandler(_: i16) {
    uart();
}

#[entry]
fn main() -> ! {
    static mut MEMORY: Memory =
        Memory { rx: [0; 1024], tx: [0; 1024], text: [0; 128], tasks: [0; TASKS * 256] };
    let mut chip = Interrupting::start();
    // `serve` returns only if the memory is too small.
    _ = serve(MEMORY, &mut chip);
    loop {
        chip.sleep(NEVER);
    }
}
