//! The tools: their arguments and their implementation.

use std::time::Duration;

use mcp_proto::server::{Call, Change};
use mcp_proto::{ClientCapabilities, Level, ToolArguments};
use mcp_proto_std::{Responder, ServerHandle};

use crate::{World, content, input_requests, multi_round, resources, tasks};

/// Repeats a message.
#[derive(ToolArguments)]
pub(crate) struct Echo<'a> {
    /// The message to repeat.
    message: &'a str,
}

/// Adds two integers.
#[derive(ToolArguments)]
pub(crate) struct Add {
    a: i64,
    b: i64,
}

/// Runs slowly, reports progress, and can be cancelled.
#[derive(ToolArguments)]
pub(crate) struct Slow {
    /// Duration in seconds.
    #[tool(range = 0..=3600)]
    seconds: u32,
    /// Number of progress notifications.
    #[tool(range = 1..=1000, default = 10)]
    steps: u32,
}

/// Sends one log message of every level; the client receives the levels it requested.
#[derive(ToolArguments)]
pub(crate) struct Log<'a> {
    /// The text of the messages.
    text: &'a str,
}

/// Writes a note as the resource note://NAME.
#[derive(ToolArguments)]
pub(crate) struct WriteNote<'a> {
    /// The name: letters, digits and `-`.
    #[tool(min_length = 1, max_length = 64)]
    pub(crate) name: &'a str,
    pub(crate) text: String,
}

/// Removes a note.
#[derive(ToolArguments)]
pub(crate) struct RemoveNote<'a> {
    pub(crate) name: &'a str,
}

/// Has an argument that HTTP repeats in a header.
#[derive(ToolArguments)]
pub(crate) struct Deploy<'a> {
    #[tool(header = "Region")]
    region: Option<&'a str>,
}

#[derive(serde::Serialize)]
struct Sum {
    sum: i64,
}

pub(crate) fn answer(mut call: Call<'_>, server: &ServerHandle, world: &mut World) {
    match call.name() {
        "echo" => call.with(|call, Echo { message }| call.text(message)),
        "add" => call.with(|call, Add { a, b }| match a.checked_add(b) {
            Some(sum) => call.structured(&Sum { sum }),
            None => call.fail("the sum is too large"),
        }),
        "slow" => call.with(|call, Slow { seconds, steps }| {
            let step = Duration::from_secs(seconds.into()) / steps;
            // The timeout is 60 seconds longer than the work, because the timeout includes the wait for a worker.
            let time = Duration::from_secs(u64::from(seconds) + 60);
            server.run_within(time, call, move |answer| slow(answer, steps, step));
        }),
        "log" => call.with(|mut call, Log { text }| {
            let sent = Level::ALL.into_iter().filter(|level| call.log(*level, Some("log"), text).is_ok());
            let sent = sent.count();
            call.text(format_args!("{sent} messages were sent"));
        }),
        "show_content" => content::show(call),
        "write_note" => call.with(|call, note| resources::write_note(call, note, &mut world.notes)),
        "remove_note" => call.with(|call, note| resources::remove_note(call, note, &mut world.notes)),
        "tick" => {
            world.ticks += 1;
            call.changed(Change::Resource("clock://ticks"));
            call.text(world.ticks);
        }
        "test_simple_text" => call.text("This is a simple text response for testing."),
        "test_image_content" => content::image(call),
        "test_audio_content" => content::audio(call),
        "test_embedded_resource" => content::resource(call),
        "test_multiple_content_types" => content::several(call),
        "test_error_handling" => call.fail("This tool intentionally returns an error for testing"),
        "test_tool_with_progress" => server.run(call, |answer| slow(answer, 2, Duration::from_millis(50))),
        "test_tool_with_logging" => server.run(call, logging),
        "test_logging_tool" => {
            let sent = call.log(Level::Info, None, "A log message").is_ok();
            call.text(if sent {
                "a message was sent"
            } else {
                "the client requested no message of this level"
            });
        }
        "test_reconnection" => server.run(call, |answer| {
            answer.release_connection();
            if answer.sleep_unless_cancelled(Duration::from_millis(500)).is_ok() {
                answer.text("the client has connected again");
            }
        }),
        "test_x_mcp_header" => call.with(|call, Deploy { region }| call.text(region.unwrap_or("no region"))),
        "json_schema_2020_12_tool" => {
            let arguments = call.raw_arguments().to_string();
            call.text(arguments);
        }
        "test_missing_capability" if call.client().has(ClientCapabilities::SAMPLING) => {
            call.text("the client supports sampling")
        }
        "test_missing_capability" => call.require_capability(ClientCapabilities::SAMPLING),
        // The lists do not change; these tools only send the notifications.
        "test_trigger_tool_change" => {
            call.changed(Change::Tools);
            call.text("the client was notified");
        }
        "test_trigger_prompt_change" => {
            call.changed(Change::Prompts);
            call.text("the client was notified");
        }
        "greet"
        | "slow_compute"
        | "failing_job"
        | "protocol_error_job"
        | "confirm_delete"
        | "multi_input"
        | "test_tool_with_task" => tasks::answer(call, server, &mut world.tasks),
        "test_input_required_result_request_state"
        | "test_input_required_result_multiple_inputs"
        | "test_input_required_result_multi_round"
        | "test_input_required_result_tampered_state"
        | "test_input_required_result_capabilities" => multi_round::answer(call, &world.seal),
        // Every other tool requests a single input from the client.
        _ => input_requests::answer(call, server),
    }
}

/// Reports progress at each step, and responds unless the call is cancelled. Runs on a worker thread, so the server can
/// handle other requests.
fn slow(answer: Responder, steps: u32, time: Duration) {
    for step in 0..=steps {
        answer.progress(step, Some(steps.into()), format_args!("step {step} of {steps}"));
        if step < steps && answer.sleep_unless_cancelled(time).is_err() {
            return eprintln!("everything_server: slow was cancelled");
        }
    }
    answer.text(format_args!("{steps} steps are done"));
}

fn logging(answer: Responder) {
    for text in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
        answer.log(Level::Info, text);
        if answer.sleep_unless_cancelled(Duration::from_millis(50)).is_err() {
            return;
        }
    }
    answer.text("three messages were sent");
}
