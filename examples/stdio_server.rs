//! A stdio server as a template: four tools, one of them slow.
//!
//! Build it with `cargo build --release --example stdio_server`, and add it to the configuration of a desktop client, for
//! example in `claude_desktop_config.json`:
//!
//! ```json
//! {
//!   "mcpServers": {
//!     "example": { "command": "/path/to/target/release/examples/stdio_server" }
//!   }
//! }
//! ```

use std::time::Duration;

use mcp_proto::server::{Call, Event, ServerConfig, Tool, Tools};
use mcp_proto_std::{Responder, ServerHandle, serve};
use serde::{Deserialize, Serialize};

static TOOLS: Tools = Tools::new(&[
    Tool::new(
        "echo",
        r#"{"type":"object","properties":{"message":{"type":"string","description":"What to say"}},"required":["message"],"additionalProperties":false}"#,
    )
    .description("Repeats a message")
    .read_only(true),
    Tool::new(
        "add",
        r#"{"type":"object","properties":{"a":{"type":"integer","description":"One number"},"b":{"type":"integer","description":"The other"}},"required":["a","b"],"additionalProperties":false}"#,
    )
    .description("Adds two integers")
    .output_schema(r#"{"type":"object","properties":{"sum":{"type":"integer"}},"required":["sum"]}"#)
    .read_only(true),
    Tool::new(
        "slow",
        r#"{"type":"object","properties":{"seconds":{"type":"integer","minimum":0,"maximum":3600,"description":"How long it takes"}},"required":["seconds"],"additionalProperties":false}"#,
    )
    .description("Runs slowly, reports progress, and can be cancelled")
    .read_only(true),
    Tool::new("host_info", r#"{"type":"object","additionalProperties":false}"#)
        .description("Describes this machine: load, memory, disk, uptime")
        .output_schema(r#"{"type":"object","properties":{"system":{"type":"string"},"load_average":{"type":"array","items":{"type":"number"},"description":"Of 1, 5 and 15 minutes"},"uptime_seconds":{"type":"integer"},"memory_total_bytes":{"type":"integer"},"memory_available_bytes":{"type":"integer"},"disk_total_bytes":{"type":"integer","description":"Of the disk of the current directory"},"disk_available_bytes":{"type":"integer"}},"required":["system"]}"#)
        .read_only(true),
]);

static CONFIG: ServerConfig = ServerConfig::new("stdio_server", env!("CARGO_PKG_VERSION"))
    .title("Example server")
    .instructions("Tools for trying out a client.")
    .features(&[&TOOLS]);

/// Serves until stdin ends. The function is visible in the crate, because `examples/demo` includes this file.
pub(crate) fn main() -> Result<(), mcp_proto_std::ServeError> {
    serve(&CONFIG, |event, server| match event {
        Event::Call(call) => answer(call, server),
        // Log to stderr, because stdout belongs to the protocol.
        Event::ProtocolError(fault) => eprintln!("stdio_server: {fault}"),
        _ => {}
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Echo<'a> {
    message: &'a str,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Add {
    a: i64,
    b: i64,
}

#[derive(Serialize)]
struct Sum {
    sum: i64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Slow {
    seconds: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

fn answer(mut call: Call<'_>, server: &ServerHandle) {
    match call.name() {
        "echo" => match call.arguments::<Echo<'_>>() {
            Ok(arguments) => call.text(arguments.message),
            Err(error) => call.invalid(error),
        },
        "add" => match call.arguments::<Add>() {
            Ok(Add { a, b }) => match a.checked_add(b) {
                Some(sum) => call.structured(&Sum { sum }),
                None => call.fail("the sum is too large"),
            },
            Err(error) => call.invalid(error),
        },
        "slow" => match call.arguments::<Slow>() {
            Ok(Slow { seconds }) if seconds <= 3600 => {
                // The timeout exceeds the duration of the call, so the timeout expires only if the call hangs.
                let time = Duration::from_secs(seconds + 60);
                server.run_within(time, call, move |answer| slow(seconds, answer));
            }
            Ok(_) => call.invalid("seconds: at most 3600"),
            Err(error) => call.invalid(error),
        },
        "host_info" => match call.arguments::<Nothing>() {
            Ok(_) => call.structured(&host_info()),
            Err(error) => call.invalid(error),
        },
        _ => call.unknown_tool(),
    }
}

/// Runs on a worker thread, so the server can handle other requests.
fn slow(seconds: u64, answer: Responder) {
    let steps = seconds * 5;
    for step in 1..=steps {
        // The call never reports its last step, because some clients miss progress directly before a response.
        if step > 1 {
            let seconds_done = (step - 1) as f64 / 5.0;
            answer.progress(step - 1, Some(steps.into()), format_args!("{seconds_done} of {seconds} s"));
        }
        if answer.sleep_unless_cancelled(Duration::from_millis(200)).is_err() {
            eprintln!("stdio_server: slow was cancelled");
            return;
        }
    }
    answer.text(format_args!("took {seconds} s"));
}

/// The result of `host_info`. The result omits values that this system does not provide.
#[derive(Default, Serialize)]
struct HostInfo {
    system: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    load_average: Option<[f64; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uptime_seconds: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_total_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_available_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    disk_total_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    disk_available_bytes: Option<u64>,
}

fn host_info() -> HostInfo {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let (load, uptime, memory) = (read("/proc/loadavg"), read("/proc/uptime"), read("/proc/meminfo"));
    let kibibytes = |name: &str| {
        let line = memory.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
    };
    let mut numbers = load.split(' ').map_while(|number| number.parse().ok());
    let mut next = || numbers.next();
    let mut info = HostInfo {
        system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        load_average: (|| Some([next()?, next()?, next()?]))(),
        uptime_seconds: uptime.split('.').next().and_then(|seconds| seconds.parse().ok()),
        memory_total_bytes: kibibytes("MemTotal:"),
        memory_available_bytes: kibibytes("MemAvailable:"),
        ..HostInfo::default()
    };
    #[cfg(unix)]
    if let Ok(disk) = rustix::fs::statvfs(".") {
        info.disk_total_bytes = disk.f_blocks.checked_mul(disk.f_frsize);
        info.disk_available_bytes = disk.f_bavail.checked_mul(disk.f_frsize);
    }
    info
}
