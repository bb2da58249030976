//! Async, blocking and immediate functions as handlers, and their parameters.

#[path = "../../handles/fixtures/tools.rs"]
mod tools;

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{self, ThreadId};

use crate::peer::{Peer, SOON};
use mcp_proto::client::{Connect, InputRequest, Listed};
use mcp_proto::input::{Field, Form, ListRoots};
use mcp_proto::server::{Change, Content, Failure, IntoToolResult, Logging, ServerConfig, Structured, Tools};
use mcp_proto::{ClientCapabilities, Level, ToolArguments, prompt, router, tool};
use mcp_proto_tokio::handler::{Ask, ClientDetails, Context, Log, Progress};
use mcp_proto_tokio::{
    CallError, CallOptions, Cancellation, ClientHandle, Connector, InputResponse, Notification, PeerError,
    RequestError, Router, Serve, ServerHandle, ServerRequest, route,
};
use tokio::io::duplex;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::timeout;
use tools::{Adder, Pair, Sum};

struct App {
    adder: Adder,
    /// The thread of the server.
    thread: ThreadId,
    runs: AtomicU32,
    reports: UnboundedSender<&'static str>,
}

impl Borrow<Adder> for Context<App> {
    fn borrow(&self) -> &Adder {
        &self.state().adder
    }
}

/// A guard that sends a report on drop.
struct Guard(UnboundedSender<&'static str>);

impl Drop for Guard {
    fn drop(&mut self) {
        _ = self.0.send("dropped");
    }
}

#[derive(ToolArguments)]
struct Steps {
    #[tool(range = 0..=10)]
    steps: u32,
}

/// Adds two numbers in a task.
#[tool(title = "Add later", read_only)]
async fn add_later(adder: &Adder, Pair { a, b }: Pair) -> Result<Structured<Sum>, Failure> {
    tokio::task::yield_now().await;
    let sum = a.checked_add(b).ok_or("the sum is too large")?;
    Ok(Structured(Sum { sum: sum + adder.offset }))
}

#[tool(blocking)]
fn add_on_a_thread(app: &App, Pair { a, b }: Pair) -> String {
    let thread = thread::current().id();
    assert_ne!(thread, app.thread, "the task of the server is not blocked");
    (a + b + app.adder.offset).to_string()
}

#[tool]
async fn blocks() -> impl IntoToolResult {
    Content::new(|result| {
        result.text("one");
        result.text("two");
    })
}

#[tool]
async fn panics() {
    panic!("on purpose")
}

#[tool(blocking)]
fn panics_on_a_thread() {
    panic!("on purpose")
}

// The parameters of a tool may have any order.
#[tool]
async fn count(progress: Progress, Steps { steps }: Steps, log: Log, client: ClientDetails) -> String {
    for step in 1..=steps {
        progress.report(step, Some(steps.into()), format!("step {step}")).await;
    }
    log.send(Level::Info, "counted").await;
    client.revision().as_str().to_owned()
}

/// Reports a change in a task.
#[tool]
async fn change_later(server: ServerHandle, adder: &Adder) -> i64 {
    tokio::task::yield_now().await;
    server.changed(Change::Tools);
    adder.offset
}

impl App {
    /// Requests the name, then the roots.
    #[tool]
    async fn greet(&self, ask: Ask) -> Result<String, Failure> {
        self.runs.fetch_add(1, Ordering::Relaxed);
        let name = ask.request(&Form::new("Who are you?", &[Field::text("name").required()])).await?;
        let roots = ask.request_within(SOON, &ListRoots).await?;
        let name = name.elicited().and_then(|form| form.field("name")?.string()).ok_or("no name")?;
        Ok(format!("{name} has {} roots", roots.roots().into_iter().flatten().count()))
    }

    /// Reports a change immediately.
    #[tool]
    fn change(&self, server: &ServerHandle) {
        server.changed(Change::Tools);
    }

    /// Greets without a name if the client has no forms.
    #[tool]
    async fn greet_anyone(&self, ask: Ask) -> Result<&'static str, Failure> {
        match ask.request(&Form::new("Who are you?", &[])).await {
            Err(RequestError::MissingCapability(_)) => Ok("Hello!"),
            other => other.map(|_| "Hello, you!").map_err(Failure::from),
        }
    }

    /// Has an error of its own if the client has no forms.
    #[tool]
    async fn greet_or_refuse(&self, ask: Ask) -> Result<&'static str, Failure> {
        let answer = ask.request(&Form::new("Who are you?", &[])).await;
        answer.map(|_| "Hello!").map_err(|_| Failure::error_with(7, "no name", &[1]))
    }

    #[prompt]
    async fn greeting(&self, ask: Ask) -> Result<String, Failure> {
        ask.request(&Form::new("Who are you?", &[])).await?;
        Ok("Greet the user".into())
    }

    #[tool]
    async fn wait(&self) {
        let _guard = Guard(self.reports.clone());
        _ = self.reports.send("started");
        std::future::pending::<()>().await;
    }

    #[tool]
    async fn wait_and_clean_up(&self, cancellation: Cancellation) -> &'static str {
        _ = self.reports.send("started");
        cancellation.cancelled().await;
        tokio::task::yield_now().await;
        _ = self.reports.send("cleaned up");
        "never seen"
    }
}

static ROUTER: Router<App> = router![
    Adder::add,
    tools::repeat,
    add_later,
    add_on_a_thread,
    blocks,
    panics,
    panics_on_a_thread,
    count,
    App::greet,
    App::change,
    change_later,
    App::greet_anyone,
    App::greet_or_refuse,
    App::greeting,
    App::wait,
    App::wait_and_clean_up
];
static TOOLS: Tools = ROUTER.tools().list_changed();
static CONFIG: ServerConfig = ServerConfig::new("test", "1").features(&[&TOOLS, ROUTER.prompts(), &Logging]);

const ERAS: [(Connect, &str); 2] = [(Connect::Handshake, "2025-11-25"), (Connect::Stateless, "2026-07-28")];

fn app() -> (App, UnboundedReceiver<&'static str>) {
    let (reports, received) = unbounded_channel();
    let (adder, thread) = (Adder { offset: 100 }, thread::current().id());
    (App { adder, thread, runs: AtomicU32::new(0), reports }, received)
}

/// Answers the requests of the tool `greet`.
async fn answer(request: ServerRequest) -> InputResponse {
    match request.input() {
        InputRequest::Roots => InputResponse::roots([("file:///a", "A"), ("file:///b", "")]),
        _ => InputResponse::accept(&BTreeMap::from([("name", "Ada")])),
    }
}

async fn connect(era: Connect, app: impl Into<Arc<App>> + 'static, can_answer: bool) -> ClientHandle {
    let (here, there) = duplex(4096);
    tokio::spawn(Serve::new(&CONFIG).stream(there, route(&ROUTER, app)));
    let declared = ClientCapabilities::ROOTS.with(ClientCapabilities::ELICITATION_FORM);
    let connector = Connector::new("test", "1").connect(era);
    let connector = if can_answer { connector.on_server_request(declared, answer) } else { connector };
    connector.stream(here).await.unwrap()
}

fn server_error<T: std::fmt::Debug>(response: Result<T, CallError>) -> PeerError {
    match response {
        Err(CallError::Server(error)) => error,
        other => panic!("{other:?}"),
    }
}

async fn next(received: &mut UnboundedReceiver<&'static str>) -> Option<&'static str> {
    timeout(SOON, received.recv()).await.unwrap()
}

#[tokio::test]
async fn functions_of_each_kind_answer_in_both_eras() {
    for (era, _) in ERAS {
        let client = connect(era, app().0, false).await;
        let numbers = r#"{"a":2,"b":40}"#;
        let large = r#"{"a":9223372036854775807,"b":1}"#;
        let cases = [
            ("add", numbers, r#"{"sum":142}"#, false),
            ("add", large, "the sum is too large", true),
            ("repeat", r#"{"word":"a\nb"}"#, "a\nb", false),
            ("add_later", numbers, r#"{"sum":142}"#, false),
            ("add_later", large, "the sum is too large", true),
            ("add_on_a_thread", numbers, "142", false),
            ("blocks", "{}", "one", false),
        ];
        for (tool, arguments, text, is_error) in cases {
            let result = client.call_json(tool, arguments).await.unwrap();
            let found = result.text().unwrap();
            assert_eq!((&*found, result.is_error()), (text, is_error), "{tool}");
        }
        for tool in ["panics", "panics_on_a_thread"] {
            let Err(CallError::Server(error)) = client.call_json(tool, "{}").await else { panic!("{tool}") };
            assert_eq!(error.code, -32603);
        }
        let tool = client.find_tool("add_later").await.unwrap().unwrap();
        assert_eq!(tool.description.as_deref(), Some("Adds two numbers in a task."));
        assert_eq!(tool.output_schema.as_deref(), Some(Sum::INPUT_SCHEMA));
    }
}

#[tokio::test]
async fn function_reports_progress_and_logs_if_requested() {
    for (era, revision) in ERAS {
        let client = connect(era, app().0, false).await;
        let mut notifications = client.notifications();
        if era == Connect::Handshake {
            client.set_log_level(Level::Info).await.unwrap();
        }
        let options = CallOptions::new().with_progress().log_level(Level::Info);
        let mut call = client.begin_json("count", r#"{"steps":3}"#, options).unwrap();
        let mut steps = Vec::new();
        while let Some(step) = call.progress().await {
            steps.push((step.progress.to_string(), step.message.unwrap()));
        }
        let expected = [("1", "step 1"), ("2", "step 2"), ("3", "step 3")];
        assert_eq!(steps, expected.map(|(step, text)| (step.to_owned(), text.to_owned())));
        assert_eq!(call.await.unwrap().text().unwrap(), revision);
        let Some(Notification::Log { data, .. }) = timeout(SOON, notifications.next()).await.unwrap() else {
            panic!()
        };
        assert_eq!(data, r#""counted""#);
        // Without a progress token, the reports are not sent.
        assert_eq!(client.call_json("count", r#"{"steps":3}"#).await.unwrap().text().unwrap(), revision);
    }
}

#[tokio::test]
async fn function_gets_inputs_of_the_client_in_both_eras() {
    // In `2026-07-28`, the function runs once more for each input.
    for ((era, _), runs) in ERAS.into_iter().zip([1, 3]) {
        let app = Arc::new(app().0);
        let client = connect(era, Arc::clone(&app), true).await;
        let result = client.call_json("greet", "{}").await.unwrap();
        assert_eq!(result.text().unwrap(), "Ada has 2 roots");
        assert_eq!(app.runs.load(Ordering::Relaxed), runs);
    }
}

#[tokio::test]
async fn function_reports_changes_through_the_server_handle() {
    for tool in ["change", "change_later"] {
        let client = connect(Connect::Handshake, app().0, false).await;
        let mut notifications = client.notifications();
        assert!(!client.call_json(tool, "{}").await.unwrap().is_error());
        let changed = timeout(SOON, notifications.next()).await.unwrap();
        assert_eq!(changed, Some(Notification::Changed(Listed::Tools)), "{tool}");
    }
}

#[tokio::test]
async fn failure_without_a_capability_is_a_json_rpc_error_where_possible() {
    let text = "the client did not declare the capability elicitation.form";
    let required = r#"{"requiredCapabilities":{"elicitation":{"form":{}}}}"#;
    for (era, _) in ERAS {
        let client = connect(era, app().0, false).await;
        let fallback = client.call_json("greet_anyone", "{}").await.unwrap();
        assert_eq!(fallback.text().unwrap(), "Hello!");
        let own = server_error(client.call_json("greet_or_refuse", "{}").await);
        assert_eq!((own.code, &*own.message, own.data.as_deref()), (7, "no name", Some("[1]")));
        let response = client.call_json("greet", "{}").await;
        if era == Connect::Handshake {
            let result = response.unwrap();
            assert_eq!((&*result.text().unwrap(), result.is_error()), (text, true));
        } else {
            for error in [response.map(drop), client.get_prompt("greeting", &[]).await.map(drop)] {
                let error = server_error(error);
                assert_eq!((error.code, &*error.message), (-32021, text));
                assert_eq!(error.data.as_deref(), Some(required));
            }
        }
    }
}

#[tokio::test]
async fn only_valid_request_state_supplies_earlier_inputs() {
    let (mut peer, server) = Peer::start(Serve::new(&CONFIG), 64 * 1024, route(&ROUTER, app().0));
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}},"roots":{}}}"#;
    let name = r#"{\"action\":\"accept\",\"content\":{\"name\":\"Ada\"}}"#;
    let roots = r#""inputResponses":{"input-2":{"roots":[]}}"#;
    let cases = [
        (r#""requestState":"nonsense""#.to_owned(), "elicitation/create"),
        (r#""requestState":"{}""#.to_owned(), "elicitation/create"),
        (format!(r#"{roots},"requestState":"[]""#), "elicitation/create"),
        (format!(r#""requestState":"[{name}]""#), "roots/list"),
        (format!(r#"{roots},"requestState":"[{name}]""#), "Ada has 0 roots"),
        (format!(r#"{roots},"requestState":"[7]""#), "no name"),
    ];
    for (id, (input, expected)) in (1..).zip(cases) {
        let params = format!(r#"{{{meta},"name":"greet","arguments":{{}},{input}}}"#);
        let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#);
        peer.send(&(line + "\n")).await;
        let response = peer.line().await;
        assert!(response.contains(expected), "{input}: {response}");
    }
    peer.end(server).await;
}

#[tokio::test]
async fn function_future_is_dropped_unless_it_observes_cancellation() {
    for (era, _) in ERAS {
        for (tool, end) in [("wait", "dropped"), ("wait_and_clean_up", "cleaned up")] {
            let (app, mut received) = app();
            let client = connect(era, app, false).await;
            let call = client.begin_json(tool, "{}", CallOptions::new()).unwrap();
            assert_eq!(next(&mut received).await, Some("started"));
            drop(call);
            assert_eq!(next(&mut received).await, Some(end), "{tool}");
            // The connection continues.
            assert!(client.call_json("count", r#"{"steps":0}"#).await.is_ok());
        }
    }
}
