//! Async, blocking and immediate functions as prompts, resources and completions, and their parameters.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock};
use std::thread::{self, ThreadId};

use crate::peer::{Peer, SOON};
use mcp_proto::client::{Connect, Reference};
use mcp_proto::input::{Field, Form};
use mcp_proto::server::{Failure, Logging, ServerConfig, Structured};
use mcp_proto::{ClientCapabilities, Level, Schema, ToolArguments, complete, prompt, resource, router};
use mcp_proto_tokio::handler::{Ask, ClientDetails, Log, Progress};
use mcp_proto_tokio::{
    CallError, CallOptions, Cancellation, ClientHandle, Connector, InputResponse, Notification, Router,
    Serve, ServerRequest, route,
};
use tokio::io::duplex;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::timeout;

struct Library {
    titles: Vec<&'static str>,
    /// The thread of the server.
    thread: ThreadId,
    runs: AtomicU32,
    reports: UnboundedSender<&'static str>,
}

#[derive(ToolArguments)]
struct Book {
    title: String,
    pages: Option<u32>,
}

/// Summarizes a book.
#[prompt]
async fn summary(library: &Library, Book { title, pages }: Book) -> Result<String, Failure> {
    tokio::task::yield_now().await;
    if !library.titles.contains(&&*title) {
        Err(format!("no book {title}"))?;
    }
    Ok(format!("Summarize {title} on {} pages.", pages.unwrap_or(1)))
}

/// A prompt that requests a name from the user.
#[prompt]
async fn letter(library: &Library, ask: Ask, client: ClientDetails) -> Result<String, Failure> {
    library.runs.fetch_add(1, Ordering::Relaxed);
    let form = ask.request(&Form::new("Who are you?", &[Field::text("name").required()])).await?;
    let name = form.elicited().and_then(|form| form.field("name")?.string()).ok_or("no name")?;
    Ok(format!("{name} speaks {}", client.revision()))
}

#[prompt(blocking)]
fn panics() -> &'static str {
    panic!("on purpose")
}

/// A page of a book.
#[resource("book:///{title}/{page}", mime = "text/markdown")]
async fn page(library: &Library, page: u32, title: &str, progress: Progress, log: Log) -> Option<String> {
    progress.report(1, None, "opened").await;
    log.send(Level::Info, "opened").await;
    let is_known = library.titles.contains(&title) && page < 10;
    is_known.then(|| format!("# {title}, page {page}"))
}

#[derive(Schema, serde::Serialize)]
struct Shelf {
    titles: Vec<&'static str>,
}

#[resource("library://shelf", blocking)]
fn shelf(library: &Library) -> Result<Structured<Shelf>, Failure> {
    if thread::current().id() == library.thread {
        Err("on the thread of the server")?;
    }
    Ok(Structured(Shelf { titles: library.titles.clone() }))
}

#[resource("library://closed")]
async fn closed(library: &Library) -> &'static str {
    _ = library.reports.send("started");
    std::future::pending().await
}

#[resource("library://closing")]
async fn closing(library: &Library, cancellation: Cancellation) -> Vec<u8> {
    _ = library.reports.send("started");
    cancellation.cancelled().await;
    _ = library.reports.send("cancelled");
    Vec::new()
}

impl Library {
    #[complete(prompt = "summary", argument = "title")]
    async fn titles(&self) -> Vec<&'static str> {
        tokio::task::yield_now().await;
        self.titles.clone()
    }

    #[complete(resource = "book:///{title}/{page}", argument = "page", blocking)]
    fn pages(&self, typed: &str) -> Vec<String> {
        assert_ne!(thread::current().id(), self.thread, "the task of the server is not blocked");
        (0..3).map(|next| format!("{typed}{next}")).collect()
    }
}

/// Returns the error with which a function of each kind refuses its request.
fn refusal() -> Failure {
    Failure::error_with(7, "closed", "today")
}

#[prompt]
async fn no_prompt(_: Book) -> Result<String, Failure> {
    Err(refusal())
}

#[resource("library://refused", blocking)]
fn no_resource() -> Result<String, Failure> {
    Err(refusal())
}

#[complete(prompt = "no_prompt", argument = "title")]
async fn no_completion() -> Result<Vec<&'static str>, Failure> {
    Err(refusal())
}

#[complete(prompt = "no_prompt", argument = "pages", blocking)]
fn text_completion(typed: &str) -> Result<[String; 1], String> {
    typed.parse::<u32>().map(|page| [page.to_string()]).map_err(|error| error.to_string())
}

#[complete(resource = "book:///{title}/{page}", argument = "title")]
async fn title(typed: String, client: ClientDetails) -> [String; 2] {
    [typed, client.revision().as_str().to_owned()]
}

static ROUTER: Router<Library> = router![
    summary,
    letter,
    panics,
    page,
    shelf,
    closed,
    closing,
    Library::titles,
    Library::pages,
    title,
    no_prompt,
    no_resource,
    no_completion,
    text_completion,
];
static CONFIG: LazyLock<ServerConfig> = LazyLock::new(|| {
    let features = [ROUTER.features(), &[&Logging]].concat();
    ServerConfig::new("test", "1").features(features.leak())
});

const ERAS: [(Connect, &str); 2] = [(Connect::Handshake, "2025-11-25"), (Connect::Stateless, "2026-07-28")];

fn library() -> (Arc<Library>, UnboundedReceiver<&'static str>) {
    let (reports, received) = unbounded_channel();
    let (titles, thread) = (vec!["Emma", "Emil"], thread::current().id());
    (Arc::new(Library { titles, thread, runs: AtomicU32::new(0), reports }), received)
}

async fn answer(_: ServerRequest) -> InputResponse {
    InputResponse::accept(&BTreeMap::from([("name", "Ada")]))
}

async fn connect(era: Connect, library: Arc<Library>) -> ClientHandle {
    let (here, there) = duplex(4096);
    tokio::spawn(Serve::new(&CONFIG).stream(there, route(&ROUTER, library)));
    let connector = Connector::new("test", "1").connect(era);
    let connector = connector.on_server_request(ClientCapabilities::ELICITATION_FORM, answer);
    connector.stream(here).await.unwrap()
}

fn code<T: std::fmt::Debug>(result: Result<T, CallError>) -> i64 {
    match result {
        Err(CallError::Server(error)) => error.code,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn prompts_run_as_tasks_and_on_threads() {
    for ((era, revision), runs) in ERAS.into_iter().zip([1, 2]) {
        let library = library().0;
        let client = connect(era, Arc::clone(&library)).await;
        for (name, arguments, text) in [
            ("summary", &[("title", "Emma"), ("pages", "3")][..], "Summarize Emma on 3 pages.".to_owned()),
            ("summary", &[("title", "Emil")], "Summarize Emil on 1 pages.".to_owned()),
            ("letter", &[], format!("Ada speaks {revision}")),
        ] {
            let prompt = client.get_prompt(name, arguments).await.unwrap();
            let expected = format!(r#"{{"role":"user","content":{{"type":"text","text":"{text}"}}}}"#);
            assert_eq!(prompt.json().get("messages").unwrap().raw(), format!("[{expected}]"));
        }
        // In `2026-07-28`, the function `letter` runs once more for the input.
        assert_eq!(library.runs.load(Ordering::Relaxed), runs);
        for (name, arguments, expected) in [
            ("summary", &[("title", "Faust")][..], -32603),
            ("summary", &[("title", "Emma"), ("pages", "many")], -32602),
            ("panics", &[], -32603),
        ] {
            assert_eq!(code(client.get_prompt(name, arguments).await), expected, "{name}");
        }
        let prompts = client.list_prompts().await.unwrap();
        assert!(prompts[0].view().description().unwrap() == *"Summarizes a book.");
    }
}

#[tokio::test]
async fn resources_run_as_tasks_and_on_threads() {
    for ((era, _), not_found) in ERAS.into_iter().zip([-32002, -32602]) {
        let client = connect(era, library().0).await;
        for (uri, mime, text) in [
            ("book:///Emma/7", "text/markdown", "# Emma, page 7"),
            ("library://shelf", "application/json", r#"{"titles":["Emma","Emil"]}"#),
        ] {
            let result = client.read_resource(uri).await.unwrap();
            assert_eq!(result.text().as_deref(), Some(text));
            let expected = format!(r#"[{{"uri":"{uri}","mimeType":"{mime}","#);
            assert!(result.json().get("contents").unwrap().raw().starts_with(&expected), "{result:?}");
        }
        for uri in ["book:///Emma/10", "book:///Faust/1", "book:///Emma/x", "library://other"] {
            assert_eq!(code(client.read_resource(uri).await), not_found, "{uri}");
        }
    }
}

#[tokio::test]
async fn resource_reports_progress_and_logs() {
    for (era, _) in ERAS {
        let client = connect(era, library().0).await;
        let mut notifications = client.notifications();
        if era == Connect::Handshake {
            client.set_log_level(Level::Info).await.unwrap();
        }
        let options = CallOptions::new().with_progress().log_level(Level::Info);
        let mut read = client.begin_read("book:///Emma/1", options).unwrap();
        let step = read.progress().await.unwrap();
        assert_eq!((step.progress.to_string(), step.message.as_deref()), ("1".into(), Some("opened")));
        assert!(read.await.is_ok());
        let log = timeout(SOON, notifications.next()).await.unwrap();
        assert!(matches!(log, Some(Notification::Log { data, .. }) if data == r#""opened""#));
    }
}

#[tokio::test]
async fn completions_run_as_tasks_and_on_threads() {
    const PAGE: Reference<'_> = Reference::Resource("book:///{title}/{page}");
    for (era, revision) in ERAS {
        let client = connect(era, library().0).await;
        for (reference, argument, typed, expected) in [
            (Reference::Prompt("summary"), "title", "Em", vec!["Emma", "Emil"]),
            (Reference::Prompt("summary"), "title", "Emm", vec!["Emma"]),
            (Reference::Prompt("summary"), "title", "\"", vec![]),
            (PAGE, "page", "1", vec!["10", "11", "12"]),
            (PAGE, "title", "E\n", vec!["E\n", revision]),
        ] {
            let result = client.complete(reference, argument, typed, &[]).await.unwrap();
            assert_eq!(result.values(), expected, "{argument} {typed}");
        }
    }
}

#[tokio::test]
async fn functions_of_each_kind_return_json_rpc_errors() {
    const PROMPT: Reference<'_> = Reference::Prompt("no_prompt");
    for (era, _) in ERAS {
        let client = connect(era, library().0).await;
        for response in [
            client.get_prompt("no_prompt", &[("title", "Emma")]).await.map(drop),
            client.read_resource("library://refused").await.map(drop),
            client.complete(PROMPT, "title", "", &[]).await.map(drop),
        ] {
            let Err(CallError::Server(error)) = response else { panic!("{response:?}") };
            let expected = (7, "closed", Some(r#""today""#));
            assert_eq!((error.code, &*error.message, error.data.as_deref()), expected);
        }
        assert_eq!(client.complete(PROMPT, "pages", "7", &[]).await.unwrap().values(), ["7"]);
        assert_eq!(code(client.complete(PROMPT, "pages", "x", &[]).await), -32603);
    }
}

#[tokio::test]
async fn resource_future_is_dropped_unless_it_observes_cancellation() {
    for (era, _) in ERAS {
        let (library, mut received) = library();
        let client = connect(era, Arc::clone(&library)).await;
        for (uri, end) in [("library://closed", None), ("library://closing", Some("cancelled"))] {
            let read = client.begin_read(uri, CallOptions::new()).unwrap();
            assert_eq!(timeout(SOON, received.recv()).await.unwrap(), Some("started"));
            drop(read);
            if end.is_some() {
                assert_eq!(timeout(SOON, received.recv()).await.unwrap(), end);
            }
        }
        // When the server has dropped the futures, only this test still holds the library.
        drop(client);
        timeout(SOON, async {
            while Arc::strong_count(&library) > 1 {
                tokio::task::yield_now().await;
            }
        })
        .await
        .unwrap();
    }
}

#[tokio::test]
async fn completion_ignores_input_that_a_client_sends() {
    let (mut peer, server) = Peer::start(Serve::new(&CONFIG), 64 * 1024, route(&ROUTER, library().0));
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let params = format!(
        r#"{{{meta},"ref":{{"type":"ref/prompt","name":"summary"}},"argument":{{"name":"title","value":""}},"requestState":"[]","inputResponses":{{"input-1":{{}}}}}}"#
    );
    peer.send(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{params}}}"#))
        .await;
    peer.send("\n").await;
    let response = peer.line().await;
    assert!(response.contains(r#""values":["Emma","Emil"]"#), "{response}");
    peer.end(server).await;
}
