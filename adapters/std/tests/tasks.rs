//! Calls that become tasks, with blocking handles on both sides.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::LazyLock;
use std::thread;
use std::time::Duration;

use crate::time_limit::{TEST_TIMEOUT, within};
use mcp_proto::client::{Connect, TaskLimits};
use mcp_proto::server::{Event, ServerConfig, TaskOptions, Tasks, Tool, Tools};
use mcp_proto::{ClientCapabilities, Millis, TaskStatus, TaskSupport};
use mcp_proto_std::{
    CallError, CallOptions, ClientHandle, Connector, InputResponse, Router, Serve, ServerHandle, Stop,
    TaskCall, route, router, tool,
};

static TOOLS: Tools = Tools::new(&[Tool::new("slow", "{}").task_support(TaskSupport::Optional)]);
static TASKS: Tasks = Tasks::new();
static CONFIG: ServerConfig = ServerConfig::new("test", "1").features(&[&TOOLS, &TASKS]);

const LIMITS: TaskLimits =
    TaskLimits { shortest_interval: Millis(5), longest_interval: Millis(5), ..TaskLimits::DEFAULT };

/// Turns each call into a task that ends after half a second. If the client does not support tasks, responds at once.
fn handler(event: Event<'_>, server: &ServerHandle) {
    let Event::Call(call) = event else { return };
    let ticket = match call.into_task(TaskOptions::new([9; 16])) {
        Ok(ticket) => ticket,
        Err(call) => return call.text("no task"),
    };
    let server = server.clone();
    thread::spawn(move || {
        server.update_task(ticket, |mut task| task.set_message("half"));
        thread::sleep(Duration::from_millis(500));
        server.update_task(ticket, |task| task.complete(|result| result.text("42")));
    });
}

fn test(connector: Connector, script: impl FnOnce(&ClientHandle) + Send + 'static) {
    test_with(connector, handler, script);
}

/// Runs `script` as the client of a server with this handler.
fn test_with(
    connector: Connector,
    handler: fn(Event<'_>, &ServerHandle),
    script: impl FnOnce(&ClientHandle) + Send + 'static,
) {
    within(TEST_TIMEOUT, move || {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, stop) = (listener.local_addr().unwrap(), Stop::new());
        let serve = Serve::new(&CONFIG).stopped_by(&stop);
        let served = thread::spawn(move || serve.listen(listener, handler));
        let client = connector.open(move || TcpStream::connect(address)).unwrap();
        script(&client);
        client.close();
        stop.within(Duration::from_secs(1));
        served.join().unwrap().unwrap();
    });
}

fn connector(era: Connect) -> Connector {
    Connector::new("test", "1").connect(era)
}

const NO_ARGUMENTS: BTreeMap<&str, &str> = BTreeMap::new();
const OPTIONS: CallOptions = CallOptions::new().task(Duration::from_secs(600));

#[test]
fn call_that_becomes_a_task_returns_its_result() {
    for era in [Connect::Stateless, Connect::Handshake] {
        test(connector(era).tasks(LIMITS), |client| {
            let mut steps = Vec::new();
            let result =
                client.call_tool_with("slow", &NO_ARGUMENTS, OPTIONS, |step| steps.push(step)).unwrap();
            assert_eq!(result.text().as_deref(), Some("42"));
            let task = steps[0].task.as_ref().unwrap();
            assert!(!task.id.is_empty() && task.status == Some(TaskStatus::Working), "{steps:?}");
            assert!(steps.iter().any(|step| step.message.as_deref() == Some("half")), "{steps:?}");
        });
    }
}

#[test]
fn task_is_resumed_by_its_id() {
    test(connector(Connect::Stateless).tasks(LIMITS), |client| {
        let mut resumed = Vec::new();
        let result = client.call_tool_with("slow", &NO_ARGUMENTS, OPTIONS, |step| {
            if resumed.is_empty() {
                let id = step.task.unwrap().id;
                resumed.push(client.resume_task(&id, CallOptions::new()).unwrap().wait().unwrap());
            }
        });
        assert_eq!(resumed[0].text().as_deref(), Some("42"));
        assert_eq!(result.unwrap().text().as_deref(), Some("42"));
        let unknown = client.resume_task("unknown", CallOptions::new()).unwrap().wait();
        assert!(matches!(unknown, Err(CallError::Server(error)) if error.code == -32602));
    });
}

#[test]
fn detached_task_is_resumed_by_its_id() {
    for era in [Connect::Stateless, Connect::Handshake] {
        test(connector(era).tasks(LIMITS), |client| {
            let started = client.call_task("slow", &NO_ARGUMENTS, CallOptions::new()).unwrap();
            let TaskCall::Task { id, call } = started else { panic!("{started:?}") };
            call.detach();
            let resumed = client.resume_task(&id, CallOptions::new()).unwrap();
            assert_eq!(resumed.wait().unwrap().text().as_deref(), Some("42"));
        });
    }
}

#[test]
fn client_without_tasks_gets_ordinary_responses() {
    test(connector(Connect::Automatic), |client| {
        assert_eq!(client.call_json("slow", "{}").unwrap().text().as_deref(), Some("no task"));
        let resumed = client.resume_task("t", CallOptions::new()).unwrap().wait();
        assert_eq!(resumed, Err(CallError::Unsupported));
    });
}

/// Responds to `initialize`, requests an elicitation as a task, and returns the result of the task.
fn server_that_requests_a_task(stream: &TcpStream) -> String {
    let mut lines = BufReader::new(stream).lines().map(|line| line.unwrap());
    let mut receive = |part: &str| lines.find(|line| line.contains(part)).unwrap();
    let mut stream = stream;
    let mut send = |message: String| writeln!(stream, "{message}").unwrap();
    let initialize = receive("initialize");
    assert!(
        initialize.contains(r#""tasks":{"list":{},"cancel":{},"requests":{"elicitation":{"create":{}}}}"#)
    );
    let id = &initialize[initialize.find("\"id\":").unwrap() + 5..];
    let id = &id[..id.find(',').unwrap()];
    send(format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"protocolVersion":"2025-11-25","capabilities":{{}},"serverInfo":{{"name":"s","version":"1"}}}}}}"#
    ));
    receive("notifications/initialized");
    send(r#"{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{}},"task":{}}}"#.to_owned());
    let created = receive(r#""id":1"#);
    assert!(created.contains(r#""status":"working""#), "{created}");
    let task = &created[created.find("taskId").unwrap() + 9..][..44];
    send(format!(r#"{{"jsonrpc":"2.0","id":2,"method":"tasks/result","params":{{"taskId":"{task}"}}}}"#));
    receive(r#""id":2"#)
}

#[test]
fn request_of_the_server_becomes_a_task_of_the_client() {
    within(TEST_TIMEOUT, || {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = thread::spawn(move || server_that_requests_a_task(&listener.accept().unwrap().0));
        let connector = connector(Connect::Handshake)
            .client_tasks(|| TaskOptions::new([9; 16]))
            .on_server_request(ClientCapabilities::ELICITATION_FORM, |_| InputResponse::decline());
        let client = connector.open(move || TcpStream::connect(address)).unwrap();
        let result = server.join().unwrap();
        assert!(result.contains(r#""action":"decline""#), "{result}");
        client.close();
    });
}

#[test]
fn panic_of_an_update_fails_the_task() {
    let handler = |event: Event<'_>, server: &ServerHandle| {
        let Event::Call(call) = event else { return };
        let ticket = call.into_task(TaskOptions::new([9; 16])).expect("a task");
        server.update_task(ticket, |_| panic!("the update of this test panics"));
    };
    test_with(connector(Connect::Stateless).tasks(LIMITS), handler, |client| {
        let result = client.call_tool_with("slow", &NO_ARGUMENTS, OPTIONS, |_| {});
        assert!(matches!(&result, Err(CallError::Server(error)) if error.code == -32603), "{result:?}");
    });
}

#[test]
fn time_to_live_starts_at_the_time_of_the_handle() {
    let handler = |event: Event<'_>, server: &ServerHandle| {
        let Event::Call(mut call) = event else { return };
        thread::sleep(Duration::from_millis(700));
        call.advance_time(server.now());
        let ticket = call.into_task(TaskOptions::new([9; 16]).ttl(Millis(600))).expect("a task");
        server.update_task(ticket, |task| task.complete(|result| result.text("42")));
    };
    test_with(connector(Connect::Stateless).tasks(LIMITS), handler, |client| {
        let result = client.call_tool_with("slow", &NO_ARGUMENTS, OPTIONS, |_| {}).unwrap();
        assert_eq!(result.text().as_deref(), Some("42"));
    });
}

/// Waits, and returns a text.
#[tool(blocking, task_support = optional)]
fn wait() -> &'static str {
    thread::sleep(Duration::from_millis(500));
    "42"
}

#[tool(blocking)]
fn wait_for_response() -> &'static str {
    thread::sleep(Duration::from_millis(50));
    "43"
}

#[test]
fn slow_function_of_a_router_becomes_a_task() {
    static ROUTER: Router<()> = router![wait, wait_for_response];
    static AUTOMATIC: Tasks = Tasks::new().automatic(Millis(10), || TaskOptions::new([9; 16]));
    static CONFIG: LazyLock<ServerConfig> = LazyLock::new(|| {
        let features = [ROUTER.features(), &[&AUTOMATIC]].concat();
        ServerConfig::new("test", "1").features(features.leak())
    });
    for era in [Connect::Stateless, Connect::Handshake] {
        within(TEST_TIMEOUT, move || {
            let (here, there) = UnixStream::pair().unwrap();
            thread::spawn(move || Serve::new(&CONFIG).stream(there, route(&ROUTER, ())));
            let client = connector(era).tasks(LIMITS).stream(here).unwrap();
            let started = client.call_task("wait", &NO_ARGUMENTS, CallOptions::new()).unwrap();
            let TaskCall::Task { call, .. } = started else { panic!("{started:?}") };
            assert_eq!(call.wait().unwrap().text().as_deref(), Some("42"));
            let result = client.call_json("wait_for_response", "{}").unwrap();
            assert_eq!(result.text().as_deref(), Some("43"));
            client.close();
        });
    }
}
