//! Tools whose calls can become tasks, and `greet`, whose calls never do.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use mcp_proto::ToolArguments;
use mcp_proto::input::{ElicitResultView, Field, Form};
use mcp_proto::server::{Call, TaskInput, TaskOptions, TaskTicket};
use mcp_proto_std::ServerHandle;

use crate::input_requests::NAME;

/// Greets somebody, without a task.
#[derive(ToolArguments)]
pub(crate) struct Greet<'a> {
    name: &'a str,
}

/// Computes for some seconds.
#[derive(ToolArguments)]
pub(crate) struct SlowCompute<'a> {
    /// Duration in seconds.
    #[tool(range = 0..=3600)]
    seconds: u32,
    label: Option<&'a str>,
}

/// The number of open input requests, for each task that requires input.
#[derive(Default)]
pub(crate) struct OpenTasks(HashMap<TaskTicket, usize>);

impl OpenTasks {
    pub(crate) fn remove(&mut self, ticket: TaskTicket) {
        self.0.remove(&ticket);
    }
}

const CONFIRM: &[Field<'_>] = &[Field::boolean("confirm").required()];
static DELETE: Form = Form::new("Delete the file?", CONFIRM);
static FIRST: Form = Form::new("What is your first name?", NAME);
static SECOND: Form = Form::new("What is your second name?", NAME);
static WHO: Form = Form::new("What is your name?", NAME);

/// Responds to calls of the tools in this module.
pub(crate) fn answer(mut call: Call<'_>, server: &ServerHandle, tasks: &mut OpenTasks) {
    match call.name() {
        "greet" => call.with(|call, Greet { name }| call.text(format_args!("Hello, {name}!"))),
        "slow_compute" => {
            let Ok(SlowCompute { seconds, label }) = call.arguments() else {
                return call.invalid("`seconds` must be a number");
            };
            let (time, label) = (Duration::from_secs(seconds.into()), label.unwrap_or("result").to_owned());
            compute(call, server, time, format!("{label}: computed for {seconds} s"));
        }
        "failing_job" => {
            let Some(ticket) = into_task(call) else { return };
            end_later(server, Duration::from_secs(1), move |server| {
                server.update_task(ticket, |task| {
                    task.complete(|result| {
                        result.text("This job intentionally fails");
                        result.failed();
                    })
                });
            });
        }
        "protocol_error_job" => {
            let Some(ticket) = into_task(call) else { return };
            end_later(server, Duration::from_millis(300), move |server| {
                server.update_task(ticket, |task| task.fail(-32603, "This job intentionally breaks"));
            });
        }
        "confirm_delete" => {
            let Some(ticket) = into_task(call) else { return };
            tasks.0.insert(ticket, 1);
            server.update_task(ticket, |mut task| task.require_input("confirm", &DELETE));
        }
        "multi_input" => {
            let Some(ticket) = into_task(call) else { return };
            tasks.0.insert(ticket, 2);
            server.update_task(ticket, |mut task| task.require_input("first", &FIRST));
            server.update_task(ticket, |mut task| task.require_input("second", &SECOND));
        }
        _ => greet_later(call, server),
    }
}

/// Computes as a task or, if the call cannot become a task, as a slow call.
fn compute(call: Call<'_>, server: &ServerHandle, time: Duration, text: String) {
    if !call.can_become_task() {
        return server.run_within(time + Duration::from_secs(60), call, move |answer| {
            if answer.sleep_unless_cancelled(time).is_ok() {
                answer.text(text);
            }
        });
    }
    let Some(ticket) = into_task(call) else { return };
    end_later(server, time, move |server| {
        server.update_task(ticket, move |task| task.complete(|result| result.text(&*text)));
    });
}

/// Requires the user's name, and then greets the user in a task.
fn greet_later(call: Call<'_>, server: &ServerHandle) {
    let answer = call.input("user_name").and_then(ElicitResultView::from_json);
    let name = answer.and_then(|answer| answer.field("name")?.string()).map(|name| name.to_string());
    let Some(name) = name else {
        // Up to `2025-11-25` a call cannot require input, so the task greets without a name.
        return match call.can_require_input() {
            true => call.require_input(&[("user_name", &WHO)], None),
            false => compute(call, server, Duration::ZERO, "Hello, whoever you are!".into()),
        };
    };
    compute(call, server, Duration::from_millis(100), format!("Hello, {name}!"));
}

/// Counts the responses to input requests of a task. Completes the task after the last response.
pub(crate) fn take_input(input: &TaskInput<'_>, server: &ServerHandle, tasks: &mut OpenTasks) {
    let ticket = input.task();
    let Some(open) = tasks.0.get_mut(&ticket) else { return };
    *open = open.saturating_sub(input.responses().count());
    if *open == 0 {
        tasks.remove(ticket);
        server.update_task(ticket, |task| task.complete(|result| result.text("all input is complete")));
    }
}

/// Responds with a task. If no task is possible, responds that the server is busy, and returns `None`.
fn into_task(call: Call<'_>) -> Option<TaskTicket> {
    call.into_task(TaskOptions::new(random())).map_err(Call::busy).ok()
}

/// Returns random bits. An application whose clients do not trust each other needs a cryptographic generator.
fn random() -> [u8; 16] {
    let halves = [0u8; 2].map(|half| RandomState::new().hash_one(half).to_le_bytes());
    std::array::from_fn(|at| halves[at / 8][at % 8])
}

fn end_later(server: &ServerHandle, time: Duration, end: impl FnOnce(&ServerHandle) + Send + 'static) {
    let server = server.clone();
    std::thread::spawn(move || {
        std::thread::sleep(time);
        end(&server);
    });
}
