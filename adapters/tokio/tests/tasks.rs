//! Calls that become tasks, with async handles on both sides.

use std::collections::BTreeMap;
use std::time::Duration;

use mcp_proto::client::{Connect, TaskLimits};
use mcp_proto::input::{Field, Form};
use mcp_proto::server::{Event, Failure, ServerConfig, TaskOptions, Tasks, Tool, Tools};
use mcp_proto::{ClientCapabilities, Millis, TaskStatus, TaskSupport, router, tool};
use mcp_proto_tokio::handler::Ask;
use mcp_proto_tokio::{
    CallError, CallOptions, ClientHandle, Connector, InputResponse, Progress, Router, Serve, ServerHandle,
    TaskCall, route,
};
use tokio::io::duplex;
use tokio::time::sleep;

static TOOLS: Tools = Tools::new(&[Tool::new("slow", "{}").task_support(TaskSupport::Optional)]);
static TASKS: Tasks = Tasks::new();
static CONFIG: ServerConfig = ServerConfig::new("test", "1").features(&[&TOOLS, &TASKS]);

const LIMITS: TaskLimits =
    TaskLimits { shortest_interval: Millis(5), longest_interval: Millis(5), ..TaskLimits::DEFAULT };
const OPTIONS: CallOptions = CallOptions::new().task(Duration::from_secs(600));
const NO_ARGUMENTS: BTreeMap<&str, &str> = BTreeMap::new();

/// Turns each call into a task that ends after 200 milliseconds, or responds directly if the call cannot become a task.
fn handler(event: Event<'_>, server: &ServerHandle) {
    let Event::Call(call) = event else { return };
    let ticket = match call.into_task(TaskOptions::new([9; 16])) {
        Ok(ticket) => ticket,
        Err(call) => return call.text("no task"),
    };
    let server = server.clone();
    tokio::spawn(async move {
        server.update_task(ticket, |mut task| task.set_message("half"));
        sleep(Duration::from_millis(200)).await;
        server.update_task(ticket, |task| task.complete(|result| result.text("42")));
    });
}

async fn connect(connector: Connector, era: Connect) -> ClientHandle {
    let (here, there) = duplex(4096);
    tokio::spawn(Serve::new(&CONFIG).stream(there, handler));
    connector.connect(era).stream(here).await.unwrap()
}

fn connector() -> Connector {
    Connector::new("test", "1").tasks(LIMITS)
}

#[tokio::test]
async fn call_that_becomes_a_task_returns_its_result() {
    for era in [Connect::Stateless, Connect::Handshake] {
        let client = connect(connector(), era).await;
        let mut call = client.begin("slow", &NO_ARGUMENTS, OPTIONS).unwrap();
        let mut steps: Vec<Progress> = Vec::new();
        while let Some(step) = call.progress().await {
            steps.push(step);
        }
        assert_eq!(call.await.unwrap().text().as_deref(), Some("42"));
        let task = steps[0].task.as_ref().unwrap();
        assert!(!task.id.is_empty() && task.status == Some(TaskStatus::Working), "{steps:?}");
        assert!(steps.iter().any(|step| step.message.as_deref() == Some("half")), "{steps:?}");
    }
}

#[tokio::test]
async fn detached_task_is_resumed_by_its_id() {
    for era in [Connect::Stateless, Connect::Handshake] {
        let client = connect(connector(), era).await;
        let started = client.call_task("slow", &NO_ARGUMENTS, CallOptions::new()).await.unwrap();
        let TaskCall::Task { id, call } = started else { panic!("{started:?}") };
        call.detach();
        let resumed = client.resume_task(&id, CallOptions::new()).unwrap();
        assert_eq!(resumed.await.unwrap().text().as_deref(), Some("42"));
        let unknown = client.resume_task("unknown", CallOptions::new()).unwrap().await;
        assert!(matches!(unknown, Err(CallError::Server(error)) if error.code == -32602));
    }
}

#[tokio::test]
async fn dropped_call_cancels_its_task() {
    let client = connect(connector(), Connect::Stateless).await;
    let started = client.call_task("slow", &NO_ARGUMENTS, CallOptions::new()).await.unwrap();
    let TaskCall::Task { id, call } = started else { panic!("{started:?}") };
    drop(call);
    let resumed = client.resume_task(&id, CallOptions::new()).unwrap().await;
    assert_eq!(resumed, Err(CallError::Cancelled));
}

/// Requests input after the call has become a task.
#[tool(task_support = optional)]
async fn ask_late(ask: Ask) -> Result<String, Failure> {
    sleep(Duration::from_millis(50)).await;
    let response = ask.request(&Form::new("Name?", &[Field::text("name").required()])).await?;
    Ok(response.json().to_string())
}

static ROUTER: Router<()> = router![ask_late];
static AUTOMATIC: Tasks = Tasks::new().automatic(Millis(0), || TaskOptions::new([9; 16]));
static HANDLERS: ServerConfig = ServerConfig::new("test", "1").features(&[ROUTER.tools(), &AUTOMATIC]);

#[tokio::test]
async fn input_request_of_an_automatic_task_fails_with_the_reason() {
    for era in [Connect::Stateless, Connect::Handshake] {
        let (here, there) = duplex(4096);
        tokio::spawn(Serve::new(&HANDLERS).stream(there, route(&ROUTER, ())));
        let connector = connector().connect(era);
        let connector = connector
            .on_server_request(ClientCapabilities::ELICITATION_FORM, |_| async { InputResponse::decline() });
        let client = connector.stream(here).await.unwrap();
        let result = client.begin("ask_late", &NO_ARGUMENTS, OPTIONS).unwrap().await.unwrap();
        let reason = "the call has become a task, which cannot request input from the client";
        assert_eq!((result.is_error(), result.text().as_deref()), (true, Some(reason)), "{era:?}");
    }
}

#[tokio::test]
async fn client_without_tasks_gets_ordinary_responses() {
    let client = connect(Connector::new("test", "1"), Connect::Automatic).await;
    let started = client.call_task("slow", &NO_ARGUMENTS, CallOptions::new()).await.unwrap();
    let TaskCall::Result(result) = started else { panic!("{started:?}") };
    assert_eq!(result.text().as_deref(), Some("no task"));
    let resumed = client.resume_task("t", CallOptions::new()).unwrap().await;
    assert_eq!(resumed, Err(CallError::Unsupported));
}
