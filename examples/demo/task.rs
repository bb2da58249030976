//! Kills a client during its call. The call has become a task, so another client gets the result.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use mcp_proto::client::{Connect, TaskLimits};
use mcp_proto::server::{Event, ServerConfig, TaskOptions, Tasks, Tool, Tools};
use mcp_proto::{Millis, TaskSupport};
use mcp_proto_std::http::{HttpAccess, HttpConfig};
use mcp_proto_std::{
    CallError, CallOptions, ClientHandle, ConnectError, Connector, HttpEndpoint, Serve, Stop, TaskCall,
};

use super::{Outcome, check};

/// The hidden argument that makes this program a client of the URL in the next argument.
pub(super) const CALL: &str = "--call-slow-tool-at";

static TOOLS: Tools = Tools::new(&[Tool::new("slow", "{}").task_support(TaskSupport::Optional)]);
/// A call that has no response after 100 ms becomes a task.
static TASKS: Tasks = Tasks::new().automatic(Millis(100), || {
    let mut random = [0; 16];
    getrandom::fill(&mut random).expect("the operating system has randomness");
    TaskOptions::new(random)
});
static CONFIG: ServerConfig =
    ServerConfig::new("demo", env!("CARGO_PKG_VERSION")).features(&[&TOOLS, &TASKS]);
static HTTP: HttpConfig = HttpConfig::new().path("/mcp");

pub(super) fn tour() -> Outcome {
    let (listener, stop) = (TcpListener::bind("127.0.0.1:0")?, Stop::new());
    let url = format!("http://{}/mcp", listener.local_addr()?);
    let serve = Serve::new(&CONFIG).stopped_by(&stop);
    let served = thread::spawn(move || {
        serve.http(listener, HttpAccess::new(&HTTP), |event, server| {
            if let Event::Call(call) = event {
                server.run(call, |answer| {
                    thread::sleep(Duration::from_secs(1));
                    answer.text("done");
                });
            }
        })
    });

    let mut client = Command::new(std::env::current_exe()?);
    let mut client = client.args([CALL, &url]).stdout(Stdio::piped()).spawn()?;
    let output = client.stdout.take().ok_or("no stdout")?;
    let id = BufReader::new(output).lines().next().ok_or("the client has exited")??;
    client.kill()?;
    let status = client.wait()?;
    check("kill a client during its call", status, !status.success())?;

    let result = connect(&url)?.resume_task(&id, CallOptions::new())?.wait()?;
    let text = result.text().unwrap_or_default();
    let is_correct = text == "done";
    check("get the result with another client", text, is_correct)?;
    stop.within(Duration::from_secs(1));
    served.join().map_err(|_| "the server has panicked")??;
    Ok(())
}

/// Calls the slow tool, prints the id of its task, and waits for the result.
pub(super) fn call(url: &str) -> Result<(), CallError> {
    let client = connect(url).map_err(|error| CallError::Invalid(error.to_string()))?;
    let arguments = std::collections::BTreeMap::<&str, &str>::new();
    match client.call_task("slow", &arguments, CallOptions::new())? {
        TaskCall::Task { id, call } => {
            println!("{id}");
            call.wait().map(drop)
        }
        TaskCall::Result(_) => Err(CallError::Unsupported),
    }
}

fn connect(url: &str) -> Result<ClientHandle, ConnectError> {
    let connector = Connector::new("demo", "1.0.0").connect(Connect::Stateless);
    connector.tasks(TaskLimits::DEFAULT).http(HttpEndpoint::new(url))
}
