//! Functions as prompts, resources and completions, run immediately or on worker threads, and their parameters.

use std::collections::BTreeMap;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};
use std::time::Duration;

use mcp_proto::client::{Connect, Reference};
use mcp_proto::input::{Field, Form};
use mcp_proto::server::{Completion, Failure, Prompts, Resources, ServerConfig, Tools};
use mcp_proto::{ClientCapabilities, ToolArguments, complete, prompt, resource, router};
use mcp_proto_std::handler::{Ask, ClientDetails, Progress};
use mcp_proto_std::{
    CallError, CallOptions, Cancellation, ClientHandle, Connector, InputResponse, Router, Serve,
    ServerRequest, route,
};

struct Library {
    titles: Vec<&'static str>,
    /// The id of the server's thread. An immediate function stores the id.
    thread: Mutex<Option<ThreadId>>,
    runs: AtomicU32,
    reports: Mutex<Sender<&'static str>>,
}

impl Library {
    fn is_on_a_worker(&self) -> bool {
        self.thread.lock().unwrap().is_some_and(|server| server != thread::current().id())
    }

    fn report(&self, what: &'static str) {
        _ = self.reports.lock().unwrap().send(what);
    }
}

#[derive(ToolArguments)]
struct Book {
    title: String,
    pages: Option<u32>,
}

/// Runs on the thread of the server.
#[resource("library://thread")]
fn thread_of_server(library: &Library) -> &'static str {
    *library.thread.lock().unwrap() = Some(thread::current().id());
    "known"
}

/// Summarizes a book.
#[prompt(blocking)]
fn summary(library: &Library, Book { title, pages }: Book) -> Result<String, Failure> {
    if !library.is_on_a_worker() {
        Err("on the thread of the server")?;
    }
    Ok(format!("Summarize {title} on {} pages.", pages.unwrap_or(1)))
}

/// A prompt that requests a name from the user.
#[prompt]
fn letter(library: &Library, ask: Ask, client: ClientDetails) -> Result<String, Failure> {
    library.runs.fetch_add(1, Ordering::Relaxed);
    let form = ask.request(&Form::new("Who are you?", &[Field::text("name").required()]))?;
    let name = form.elicited().and_then(|form| form.field("name")?.string()).ok_or("no name")?;
    Ok(format!("{name} speaks {}", client.revision()))
}

/// A page of a book.
#[resource("book:///{title}/{page}", mime = "text/markdown")]
fn page(library: &Library, page: u32, title: &str, progress: Progress) -> Option<String> {
    progress.report(1, None, "opened");
    let is_known = library.titles.contains(&title) && page < 10 && library.is_on_a_worker();
    is_known.then(|| format!("# {title}, page {page}"))
}

#[resource("library://closing")]
fn closing(library: &Library, cancellation: Cancellation) -> Vec<u8> {
    library.report("started");
    if cancellation.sleep(SOON).is_err() {
        library.report("cancelled");
    }
    Vec::new()
}

#[complete(prompt = "summary", argument = "title", blocking)]
fn titles(library: &Library) -> Vec<&'static str> {
    library.titles.clone()
}

#[complete(resource = "book:///{title}/{page}", argument = "page")]
fn pages(library: &Library, typed: &str, client: ClientDetails) -> Vec<String> {
    let worker = if library.is_on_a_worker() { "worker" } else { "server" };
    vec![format!("{typed}0"), client.revision().to_string(), worker.into()]
}

static ROUTER: Router<Library> = router![thread_of_server, summary, letter, page, closing, titles, pages];
static CONFIG: ServerConfig = ServerConfig::new("test", "1").features(ROUTER.features());

const ERAS: [(Connect, &str); 2] = [(Connect::Handshake, "2025-11-25"), (Connect::Stateless, "2026-07-28")];
const SOON: Duration = Duration::from_secs(60);

fn library() -> (Arc<Library>, Receiver<&'static str>) {
    let (reports, received) = channel();
    let (thread, reports) = (Mutex::new(None), Mutex::new(reports));
    (Arc::new(Library { titles: vec!["Emma", "Emil"], thread, runs: AtomicU32::new(0), reports }), received)
}

fn answer(_: &ServerRequest) -> InputResponse {
    InputResponse::accept(&BTreeMap::from([("name", "Ada")]))
}

fn connect(era: Connect, library: Arc<Library>) -> ClientHandle {
    let (here, there) = UnixStream::pair().unwrap();
    thread::spawn(move || Serve::new(&CONFIG).stream(there, route(&ROUTER, library)));
    let connector = Connector::new("test", "1").connect(era);
    let connector = connector.on_server_request(ClientCapabilities::ELICITATION_FORM, answer);
    let client = connector.stream(here).unwrap();
    assert_eq!(client.read_resource("library://thread").unwrap().text().as_deref(), Some("known"));
    client
}

fn code<T: std::fmt::Debug>(result: Result<T, CallError>) -> i64 {
    match result {
        Err(CallError::Server(error)) => error.code,
        other => panic!("{other:?}"),
    }
}

#[test]
fn prompts_run_on_workers() {
    for ((era, revision), runs) in ERAS.into_iter().zip([1, 2]) {
        let library = library().0;
        let client = connect(era, Arc::clone(&library));
        for (name, arguments, text) in [
            ("summary", &[("title", "Emma"), ("pages", "3")][..], "Summarize Emma on 3 pages.".to_owned()),
            ("summary", &[("title", "Emil")], "Summarize Emil on 1 pages.".to_owned()),
            ("letter", &[], format!("Ada speaks {revision}")),
        ] {
            let prompt = client.get_prompt(name, arguments).unwrap();
            let expected = format!(r#"{{"role":"user","content":{{"type":"text","text":"{text}"}}}}"#);
            assert_eq!(prompt.json().get("messages").unwrap().raw(), format!("[{expected}]"));
        }
        // In `2026-07-28`, the client sends its request again with the input, so the function `letter` runs twice.
        assert_eq!(library.runs.load(Ordering::Relaxed), runs);
        assert_eq!(code(client.get_prompt("summary", &[("title", "Emma"), ("pages", "many")])), -32602);
    }
}

#[test]
fn resources_run_on_workers() {
    for ((era, _), not_found) in ERAS.into_iter().zip([-32002, -32602]) {
        let client = connect(era, library().0);
        let mut steps = Vec::new();
        let read = client.begin_read("book:///Emma/7", CallOptions::new().with_progress()).unwrap();
        let result = read.wait_with(|step| steps.push(step.message)).unwrap();
        assert_eq!(result.text().as_deref(), Some("# Emma, page 7"));
        assert!(result.json().raw().contains(r#""uri":"book:///Emma/7","mimeType":"text/markdown""#));
        assert_eq!(steps, [Some("opened".to_owned())]);
        for uri in ["book:///Emma/10", "book:///Faust/1", "book:///Emma/x", "library://other"] {
            assert_eq!(code(client.read_resource(uri)), not_found, "{uri}");
        }
    }
}

#[test]
fn entries_unknown_to_router_and_dynamic_lists_are_refused() {
    static TOOLS: Tools = Tools::dynamic_list();
    static PROMPTS: Prompts = Prompts::dynamic_list();
    static RESOURCES: Resources = Resources::dynamic_list();
    static CONFIG: ServerConfig =
        ServerConfig::new("test", "1").features(&[&TOOLS, &PROMPTS, &RESOURCES, &Completion]);
    for ((era, _), not_found) in ERAS.into_iter().zip([-32002, -32602]) {
        let (here, there) = UnixStream::pair().unwrap();
        thread::spawn(move || Serve::new(&CONFIG).stream(there, route(&ROUTER, library().0)));
        let client = Connector::new("test", "1").connect(era).stream(here).unwrap();
        assert_eq!(client.read_resource("library://thread").unwrap().text().as_deref(), Some("known"));
        assert_eq!(code(client.call_json("unknown", "{}")), -32602);
        assert_eq!(code(client.get_prompt("unknown", &[])), -32602);
        assert_eq!(code(client.read_resource("unknown:///1")), not_found);
        assert_eq!(code(client.complete(Reference::Prompt("unknown"), "title", "", &[])), -32602);
    }
}

#[test]
fn completions_run_on_workers() {
    for (era, revision) in ERAS {
        let client = connect(era, library().0);
        let titles = |typed: &str| client.complete(Reference::Prompt("summary"), "title", typed, &[]);
        assert_eq!(titles("Em").unwrap().values(), ["Emma", "Emil"]);
        assert_eq!(titles("Emm").unwrap().values(), ["Emma"]);
        let page = Reference::Resource("book:///{title}/{page}");
        let pages = client.complete(page, "page", "7\n", &[]).unwrap();
        assert_eq!(pages.values(), ["7\n0", revision, "worker"]);
    }
}

#[test]
fn resource_observes_the_cancellation_of_its_request() {
    for (era, _) in ERAS {
        let (library, received) = library();
        let client = connect(era, library);
        let read = client.begin_read("library://closing", CallOptions::new()).unwrap();
        assert_eq!(received.recv_timeout(SOON), Ok("started"));
        drop(read);
        assert_eq!(received.recv_timeout(SOON), Ok("cancelled"));
    }
}
