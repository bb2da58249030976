//! A demo of server and client in both eras: `cargo run --example demo`.
//!
//! The demo starts `stdio_server` as a child process. The child process runs the executable of the demo with a hidden
//! argument, so that Cargo builds only one program. A failed check ends the demo with an error.

#[path = "../stdio_server.rs"]
mod stdio_server;

mod raw;
mod task;

use std::process::{Command, ExitCode};
use std::thread;
use std::time::Duration;

use mcp_proto::Decimal;
use mcp_proto::client::Connect;
use mcp_proto::json::Json;
use mcp_proto_std::{CallError, CallOptions, Connector, Stderr};

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// The hidden argument that makes this program the server.
const SERVE: &str = "--serve-on-stdio";

fn main() -> ExitCode {
    if std::env::args().any(|argument| argument == SERVE) {
        return match stdio_server::main() {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        };
    }
    let mut arguments = std::env::args().skip_while(|argument| argument != task::CALL).skip(1);
    if let Some(url) = arguments.next() {
        return if task::call(&url).is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    if let Err(error) = run() {
        println!("  ✗ {error}");
        return ExitCode::FAILURE;
    }
    println!("All checks passed.");
    ExitCode::SUCCESS
}

fn run() -> Outcome {
    for (name, connect) in [("handshake", Connect::Handshake), ("stateless", Connect::Stateless)] {
        println!("== The {name} era");
        tour(connect)?;
        raw::tour(connect)?;
    }
    println!("== A task that survives its client");
    task::tour()
}

/// Returns the command that starts the server.
fn server() -> std::io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(SERVE);
    Ok(command)
}

/// Prints an action and its result. Fails if the result is wrong.
fn check(action: &str, result: impl std::fmt::Display, is_correct: bool) -> Outcome {
    if !is_correct {
        return Err(format!("{action}: {result}").into());
    }
    println!("  ✓ {action}: {result}");
    Ok(())
}

fn tour(connect: Connect) -> Outcome {
    let (stderr, tail) = Stderr::tail(20);
    let client = Connector::new("demo", "1.0.0").connect(connect).stderr(stderr).spawn(server()?)?;
    let server = client.server();
    check("connect", format_args!("{} {}, {}", server.name, server.version, server.revision), true)?;

    let tools = client.list_tools()?;
    let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
    check("list the tools", names.join(", "), names == ["echo", "add", "slow", "host_info"])?;

    let text = client.call_json("echo", r#"{"message":"Grüße, \"world\"\n"}"#)?.text().unwrap_or_default();
    check("echo", format_args!("{text:?}"), text == "Grüße, \"world\"\n")?;

    let result = client.call_json("add", r#"{"a":40,"b":2}"#)?;
    let sum = result.structured().and_then(|sum| sum.get("sum")?.integer());
    check("add 40 and 2", format_args!("{sum:?}"), sum == Some(42))?;

    let result = client.call_json("add", r#"{"a":9223372036854775807,"b":1}"#)?;
    check("add too much", result.text().unwrap_or_default(), result.is_error())?;

    let result = client.call_json("add", r#"{"a":1,"c":2}"#)?;
    check("add with wrong arguments", result.text().unwrap_or_default(), result.is_error())?;

    let result = client.call_json("host_info", "{}")?;
    let info = result.structured().unwrap_or(Json::NULL);
    check("host_info", info, info.get("system").is_some())?;

    let mut steps = Vec::new();
    let options = CallOptions::new().with_progress();
    let result = client.begin_json("slow", r#"{"seconds":1}"#, options)?.wait_with(|step| {
        println!(
            "    {}/{} {}",
            step.progress,
            step.total.unwrap_or(Decimal::ZERO),
            step.message.unwrap_or_default()
        );
        steps.push(step.progress);
    })?;
    let grows = steps.len() == 4 && steps.is_sorted();
    check("slow, with progress", result.text().unwrap_or_default(), grows)?;

    // Another thread cancels the call at its first progress. Until then, the server responds to other requests.
    let pending = client.begin_json("slow", r#"{"seconds":60}"#, options)?;
    let (canceller, other) = (pending.canceller(), client.clone());
    let outcome = pending.wait_with(move |_| {
        let (canceller, other) = (canceller.clone(), other.clone());
        thread::spawn(move || {
            let _ = other.ping();
            canceller.cancel("the demo continues");
        });
    });
    check("cancel a slow call", describe(&outcome), outcome == Err(CallError::Cancelled))?;

    let impatient = CallOptions::new().timeout(Duration::from_millis(300));
    let outcome = client.begin_json("slow", r#"{"seconds":60}"#, impatient)?.wait();
    check("let a slow call time out", describe(&outcome), outcome == Err(CallError::TimedOut))?;

    client.ping()?;
    let status = client.close();
    check("close", format_args!("{status:?}"), status.is_some_and(|status| status.success()))?;
    println!("    its stderr: {:?}", tail.lines());
    Ok(())
}

fn describe(outcome: &Result<mcp_proto_std::CallResult, CallError>) -> String {
    match outcome {
        Ok(result) => result.json().to_string(),
        Err(error) => error.to_string(),
    }
}
