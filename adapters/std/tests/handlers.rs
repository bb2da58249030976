//! Functions as handlers, run immediately or on worker threads, and their parameters.
#![cfg(unix)]

#[path = "../../handles/fixtures/tools.rs"]
mod tools;

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};
use std::time::Duration;

use mcp_proto::client::{Connect, InputRequest, Listed};
use mcp_proto::input::{Field, Form, ListRoots};
use mcp_proto::server::{Change, Failure, Logging, ServerConfig, Structured, Tools};
use mcp_proto::{ClientCapabilities, Level, ToolArguments, router, tool};
use mcp_proto_std::handler::{Ask, ClientDetails, Context, Log, Progress};
use mcp_proto_std::{
    CallError, CallOptions, Cancellation, ClientHandle, Connector, InputResponse, Notification, Router,
    Serve, ServerHandle, ServerRequest, route,
};
use tools::{Adder, Pair, Sum};

struct App {
    adder: Adder,
    /// The id of the server's thread. An immediate function stores the id.
    thread: Mutex<Option<ThreadId>>,
    runs: AtomicU32,
    reports: Mutex<Sender<&'static str>>,
}

impl App {
    fn report(&self, what: &'static str) {
        _ = self.reports.lock().unwrap().send(what);
    }
}

impl Borrow<Adder> for Context<App> {
    fn borrow(&self) -> &Adder {
        &self.state().adder
    }
}

#[derive(ToolArguments)]
struct Steps {
    #[tool(range = 0..=10)]
    steps: u32,
}

/// Adds two numbers on a worker.
#[tool(blocking, read_only)]
fn add_later(adder: &Adder, Pair { a, b }: Pair) -> Result<Structured<Sum>, Failure> {
    let sum = a.checked_add(b).ok_or("the sum is too large")?;
    Ok(Structured(Sum { sum: sum + adder.offset }))
}

#[tool]
fn immediate(app: &App) {
    *app.thread.lock().unwrap() = Some(thread::current().id());
}

#[tool(blocking)]
fn on_a_worker(app: &App) -> Result<(), Failure> {
    match *app.thread.lock()? {
        Some(server) if server != thread::current().id() => Ok(()),
        _ => Err("on the thread of the server")?,
    }
}

#[tool(blocking)]
fn panics() {
    panic!("on purpose")
}

// Parameters may have any order: this order differs from the order in the documentation of `handler`.
#[tool]
fn count(progress: Progress, Steps { steps }: Steps, log: Log, client: ClientDetails) -> String {
    for step in 1..=steps {
        progress.report(step, Some(steps.into()), format_args!("step {step}"));
    }
    log.send(Level::Info, "counted");
    client.revision().as_str().to_owned()
}

/// Reports a change immediately.
#[tool]
fn change(server: ServerHandle) {
    server.changed(Change::Tools);
}

impl App {
    /// Reports a change on a worker.
    #[tool(blocking)]
    fn change_later(&self, server: &ServerHandle) {
        server.changed(Change::Tools);
    }

    /// Requests the name, then the roots.
    #[tool]
    fn greet(&self, ask: Ask) -> Result<String, Failure> {
        self.runs.fetch_add(1, Ordering::Relaxed);
        let name = ask.request(&Form::new("Who are you?", &[Field::text("name").required()]))?;
        let roots = ask.request_within(Duration::from_secs(60), &ListRoots)?;
        let name = name.elicited().and_then(|form| form.field("name")?.string()).ok_or("no name")?;
        Ok(format!("{name} has {} roots", roots.roots().into_iter().flatten().count()))
    }

    /// Continues without an input, then fails with the error of a later input or for another reason.
    #[tool]
    fn find(&self, ask: Ask, Steps { steps }: Steps) -> Result<String, Failure> {
        let name = ask.request(&Form::new("Which file?", &[Field::text("name").required()]));
        if steps == 1 {
            ask.request(&ListRoots)?;
        }
        Err(format!("there is no file {:?}", name.ok()))?
    }

    #[tool]
    fn wait(&self, cancellation: Cancellation) {
        self.report("started");
        if cancellation.sleep(Duration::from_secs(60)).is_err() {
            self.report("cancelled");
        }
    }
}

static ROUTER: Router<App> = router![
    Adder::add,
    tools::repeat,
    add_later,
    immediate,
    on_a_worker,
    panics,
    count,
    change,
    App::change_later,
    App::greet,
    App::find,
    App::wait
];
static TOOLS: Tools = ROUTER.tools().list_changed();
static CONFIG: ServerConfig = ServerConfig::new("test", "1").features(&[&TOOLS, &Logging]);

const ERAS: [(Connect, &str); 2] = [(Connect::Handshake, "2025-11-25"), (Connect::Stateless, "2026-07-28")];
const SOON: Duration = Duration::from_secs(60);

fn app() -> (Arc<App>, Receiver<&'static str>) {
    let (reports, received) = channel();
    let (thread, reports) = (Mutex::new(None), Mutex::new(reports));
    (Arc::new(App { adder: Adder { offset: 100 }, thread, runs: AtomicU32::new(0), reports }), received)
}

/// Answers the requests of the tool `greet`.
fn answer(request: &ServerRequest) -> InputResponse {
    match request.input() {
        InputRequest::Roots => InputResponse::roots([("file:///a", "A"), ("file:///b", "")]),
        _ => InputResponse::accept(&BTreeMap::from([("name", "Ada")])),
    }
}

fn connect(era: Connect, app: Arc<App>, can_answer: bool) -> ClientHandle {
    let (here, there) = UnixStream::pair().unwrap();
    thread::spawn(move || Serve::new(&CONFIG).stream(there, route(&ROUTER, app)));
    let declared = ClientCapabilities::ROOTS.with(ClientCapabilities::ELICITATION_FORM);
    let connector = Connector::new("test", "1").connect(era);
    let connector = if can_answer { connector.on_server_request(declared, answer) } else { connector };
    connector.stream(here).unwrap()
}

#[test]
fn functions_of_each_kind_answer_in_both_eras() {
    for (era, _) in ERAS {
        let client = connect(era, app().0, false);
        let numbers = r#"{"a":2,"b":40}"#;
        let large = r#"{"a":9223372036854775807,"b":1}"#;
        let cases = [
            ("add", numbers, r#"{"sum":142}"#, false),
            ("add", large, "the sum is too large", true),
            ("repeat", r#"{"word":"a\nb"}"#, "a\nb", false),
            ("add_later", numbers, r#"{"sum":142}"#, false),
            ("add_later", large, "the sum is too large", true),
            ("immediate", "{}", "", false),
            ("on_a_worker", "{}", "", false),
        ];
        for (tool, arguments, text, is_error) in cases {
            let result = client.call_json(tool, arguments).unwrap();
            assert_eq!((&*result.text().unwrap(), result.is_error()), (text, is_error), "{tool}");
        }
        let Err(CallError::Server(error)) = client.call_json("panics", "{}") else { panic!() };
        assert_eq!(error.code, -32603);
        let tool = client.find_tool("add_later").unwrap().unwrap();
        assert_eq!(tool.description.as_deref(), Some("Adds two numbers on a worker."));
        assert_eq!(tool.output_schema.as_deref(), Some(Sum::INPUT_SCHEMA));
    }
}

#[test]
fn function_reports_progress_and_logs_if_requested() {
    for (era, revision) in ERAS {
        let client = connect(era, app().0, false);
        let mut notifications = client.notifications();
        if era == Connect::Handshake {
            client.set_log_level(Level::Info).unwrap();
        }
        let options = CallOptions::new().with_progress().log_level(Level::Info);
        let call = client.begin_json("count", r#"{"steps":3}"#, options).unwrap();
        let mut steps = Vec::new();
        let result = call.wait_with(|step| steps.push((step.progress.to_string(), step.message.unwrap())));
        let expected = [("1", "step 1"), ("2", "step 2"), ("3", "step 3")];
        assert_eq!(steps, expected.map(|(step, text)| (step.to_owned(), text.to_owned())));
        assert_eq!(result.unwrap().text().unwrap(), revision);
        let Some(Notification::Log { data, .. }) = notifications.next_within(SOON) else { panic!() };
        assert_eq!(data, r#""counted""#);
        // Without a progress token, the reports are not sent.
        assert_eq!(client.call_json("count", r#"{"steps":3}"#).unwrap().text().unwrap(), revision);
    }
}

#[test]
fn function_gets_inputs_of_the_client_in_both_eras() {
    // In `2026-07-28`, the client sends its call again with each input, so the function runs once more for each input.
    for ((era, _), runs) in ERAS.into_iter().zip([1, 3]) {
        let app = app().0;
        let client = connect(era, Arc::clone(&app), true);
        let result = client.call_json("greet", "{}").unwrap();
        assert_eq!(result.text().unwrap(), "Ada has 2 roots");
        assert_eq!(app.runs.load(Ordering::Relaxed), runs);

        let client = connect(era, app, false);
        let text = "the client did not declare the capability elicitation.form";
        match client.call_json("greet", "{}") {
            Ok(result) => assert_eq!((&*result.text().unwrap(), era), (text, Connect::Handshake)),
            Err(CallError::Server(error)) => {
                assert_eq!((error.code, &*error.message, era), (-32021, text, Connect::Stateless));
            }
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn only_the_failure_of_an_input_names_a_missing_capability() {
    let client = connect(Connect::Stateless, app().0, false);
    let result = client.call_json("find", r#"{"steps":0}"#).unwrap();
    assert_eq!((&*result.text().unwrap(), result.is_error()), ("there is no file None", true));
    let Err(CallError::Server(error)) = client.call_json("find", r#"{"steps":1}"#) else { panic!() };
    assert_eq!((error.code, &*error.message), (-32021, "the client did not declare the capability roots"));
    assert_eq!(error.data.as_deref(), Some(r#"{"requiredCapabilities":{"roots":{}}}"#));
}

#[test]
fn function_reports_changes_through_the_server_handle() {
    for tool in ["change", "change_later"] {
        let client = connect(Connect::Handshake, app().0, false);
        let mut notifications = client.notifications();
        assert!(!client.call_json(tool, "{}").unwrap().is_error());
        let changed = notifications.next_within(SOON);
        assert_eq!(changed, Some(Notification::Changed(Listed::Tools)), "{tool}");
    }
}

#[test]
fn function_observes_the_cancellation_of_its_call() {
    for (era, _) in ERAS {
        let (app, received) = app();
        let client = connect(era, app, false);
        let call = client.begin_json("wait", "{}", CallOptions::new()).unwrap();
        assert_eq!(received.recv_timeout(SOON), Ok("started"));
        drop(call);
        assert_eq!(received.recv_timeout(SOON), Ok("cancelled"));
        // The connection continues.
        assert!(client.call_json("count", r#"{"steps":0}"#).is_ok());
    }
}
