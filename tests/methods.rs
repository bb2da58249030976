//! Methods: compares docs/protocol.md, the method tables and both machines.
//!
//! To accept changes: `BLESS=1 cargo test -p mcp-proto-tests methods`, and review the difference.

use std::fmt::Write as _;

use crate::support::{ROOT, transport::exchange};
use mcp_proto::client::{self, ClientConfig, Connect, Filter, InputRequest, Options};
use mcp_proto::input::{CreateMessage, Form, Input, ListRoots, OpenUrl};
use mcp_proto::methods::{self, Method};
use mcp_proto::server::{
    self, Completion, Feature, Logging, Prompts, RequestOptions, Resources, ServerConfig, Skills,
    Subscriptions, Tasks, Tool, Tools,
};
use mcp_proto::{
    Action, Client, ClientCapabilities, Machine, Millis, Revision, Revisions, Server, WireFeature,
};

/// Requests about tasks. Clients send these requests. The clients of this test declare no tasks of their own, and
/// therefore refuse such requests from a server.
const TASK_REQUESTS: &[Method] =
    &[methods::TASKS_GET, methods::TASKS_RESULT, methods::TASKS_LIST, methods::TASKS_CANCEL];

/// Notifications about tasks. A client without tasks emits these as raw notifications.
const TASK_NOTIFICATIONS: &[Method] = &[methods::TASKS_STATUS, methods::TASKS];

/// Methods that clients support only as raw requests or raw notifications.
const CLIENT_RAW: &[Method] = &[methods::TASKS_LIST, methods::ELICITATION_COMPLETE];

static TOOLS: Tools = Tools::new(&[Tool::new("t", "{}")]).list_changed();
static SKILLS: Skills = Skills::new(&[]).directory_read();
static RESOURCES: Resources = Resources::dynamic_list().list_changed().subscribe();
static PROMPTS: Prompts = Prompts::dynamic_list().list_changed();
static TASKS: Tasks = Tasks::new().list();
/// The features of the server: all that handle methods of the specification.
static FEATURES: [&dyn Feature; 8] =
    [&TOOLS, &SKILLS, &RESOURCES, &PROMPTS, &Completion, &Subscriptions, &Logging, &TASKS];

/// Polls once, and moves bytes in both directions. Returns `true` if a byte moved, or if the machine has an event or is
/// closed.
fn step(machine: &mut dyn Machine, input: &mut &[u8], output: &mut Vec<u8>) -> bool {
    let Action::Io(io) = machine.poll(Millis(0)) else { return true };
    exchange(io, input, output)
}

/// Returns the output and events of a server for a line. The server supports one revision. In the handshake era, the
/// server has sent a request before it receives the line.
fn serve(revision: Revision, line: &str) -> (String, String) {
    let info = ServerConfig::new("s", "1").features(&FEATURES).revisions(Revisions::only(revision));
    let (mut rx, mut tx) = ([0; 1024], [0; 1024]);
    let (mut slots, mut text) = ([server::Slot::EMPTY; 1], [0; 64]);
    let mut watches = [0; 64];
    let server = Server::new(&info, &mut rx, &mut tx).unwrap().subscription_buffer(&mut watches);
    let mut server = server.in_flight(&mut slots, &mut text).unwrap();
    let (mut output, mut events) = (Vec::new(), String::new());
    if revision < Revision::V2026_07_28 {
        run_server(&mut server, &hello(revision), &mut output);
        server.request(&ListRoots, RequestOptions::DEFAULT).unwrap();
        run_server(&mut server, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"roots\":[]}}\n", &mut output);
    }
    events += &run_server(&mut server, &format!("{line}\n"), &mut output);
    (String::from_utf8(output).unwrap(), events)
}

fn hello(revision: Revision) -> String {
    let capabilities = r#"{"roots":{"listChanged":true},"sampling":{},"elicitation":{"form":{},"url":{}}}"#;
    format!(
        r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{revision}","capabilities":{capabilities},"clientInfo":{{"name":"c","version":"1"}}}}}}
{{"jsonrpc":"2.0","method":"notifications/initialized"}}
"#
    )
}

/// Passes lines to the server. Returns its events except calls and connections.
fn run_server(server: &mut Server<'_>, text: &str, output: &mut Vec<u8>) -> String {
    let (mut input, mut events) = (text.as_bytes(), String::new());
    loop {
        match server.poll(Millis(0)) {
            Action::Event => match server.event().unwrap() {
                server::Event::Call(call) => call.text("done"),
                server::Event::Connected(_) | server::Event::Ready | server::Event::Response(_) => {}
                event => write!(events, "{event:?}").unwrap(),
            },
            Action::Closed => return events,
            Action::Io(_) => {
                if !step(server, &mut input, output) {
                    return events;
                }
            }
        }
    }
}

const EVERYTHING: ClientCapabilities = ClientCapabilities::ROOTS_LIST_CHANGED
    .with(ClientCapabilities::SAMPLING_TOOLS)
    .with(ClientCapabilities::ELICITATION_FORM)
    .with(ClientCapabilities::ELICITATION_URL);

/// The id of the subscription.
const LISTENING: &str = "4";

fn acknowledgment() -> String {
    line(&methods::SUBSCRIPTIONS_ACKNOWLEDGED, Revision::V2026_07_28)
}

/// Returns the output and events of a client for a line. The client supports one revision. A stateless client has a
/// subscription.
fn listen(revision: Revision, line: &str) -> (String, String) {
    let stateless = revision == Revision::V2026_07_28;
    let connect = if stateless { Connect::Stateless } else { Connect::Handshake };
    let info = ClientConfig::new("c", "1").connect(connect).revisions(Revisions::only(revision));
    let info = info.capabilities(EVERYTHING);
    let (mut rx, mut tx) = ([0; 1024], [0; 1024]);
    let (mut slots, mut room) = ([client::Slot::EMPTY; 1], [0; 64]);
    let mut client = Client::new(&info, &mut rx, &mut tx).unwrap().in_flight(&mut slots, &mut room);
    let hello = match stateless {
        true => r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{}}}"#.to_owned(),
        false => format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"protocolVersion":"{revision}","capabilities":{{}},"serverInfo":{{"name":"s","version":"1"}}}}}}"#),
    };
    let text = format!("{hello}\n{line}\n");
    let (mut input, mut output, mut events) = (text.as_bytes(), Vec::new(), String::new());
    loop {
        match client.poll(Millis(0)) {
            Action::Event => match client.event().unwrap() {
                client::Event::Connected(_) if stateless => {
                    client.listen(Filter::NOTHING.tools(), Options::DEFAULT).unwrap();
                }
                client::Event::Connected(_) => {}
                client::Event::ServerRequest(asked) => match asked.input() {
                    InputRequest::Roots => asked.roots(|_| {}),
                    InputRequest::Sample(_) => asked.sampled("m", "", |_| {}),
                    _ => asked.decline(),
                },
                event => write!(events, "{event:?}").unwrap(),
            },
            Action::Closed => break,
            Action::Io(_) => {
                if !step(&mut client, &mut input, &mut output) {
                    break;
                }
            }
        }
    }
    (String::from_utf8(output).unwrap(), events)
}

/// Returns a request or notification with params that suit every method.
fn line(method: &Method, revision: Revision) -> String {
    let id = if method.is_request() { r#","id":7"# } else { "" };
    let meta = match revision {
        Revision::V2026_07_28 if method.is_request() => {
            r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}},"#.to_owned()
        }
        Revision::V2026_07_28 => format!(r#""_meta":{{"io.modelcontextprotocol/subscriptionId":{LISTENING}}},"#),
        _ => String::new(),
    };
    let name = method.name();
    format!(
        r#"{{"jsonrpc":"2.0"{id},"method":"{name}","params":{{{meta}"name":"t","uri":"u","level":"info","data":1,"requestId":1,"progressToken":1,"progress":1,"messages":[],"maxTokens":1,"message":"m","requestedSchema":{{}}}}}}"#
    )
}

#[test]
fn server_handles_the_methods_of_the_table() {
    let mut done = 0;
    // The connection has already used the handshake methods.
    let handshake = [methods::INITIALIZE, methods::INITIALIZED];
    for method in methods::ALL.iter().filter(|method| !handshake.contains(method)) {
        for revision in Revision::ALL {
            let (answer, events) = serve(revision, &line(method, revision));
            let sent = method.by_client().contains(revision);
            let knows = !answer.contains("-32601") && !events.contains("UnknownNotification");
            // The machine drops an unexpected notification. The reason does not matter here.
            if method.is_request() || sent {
                // This server requests no tasks from its client, so the server drops notifications about such tasks.
                let is_dropped = *method == methods::TASKS_STATUS;
                let should = (sent || method.by_extension().contains(revision)) && !is_dropped;
                assert_eq!(knows, should, "{} in {revision}: {answer} {events}", method.name());
                done += usize::from(knows);
            }
        }
    }
    assert!(done >= 20, "{done}");
}

/// Tests the messages that a server sends without a request.
#[test]
fn server_sends_the_methods_of_the_table() {
    let (form, model) = (Form::new("m", &[]), CreateMessage::new(&[], 1));
    let page = OpenUrl::new("m", "https://example.com/", "e");
    let inputs: [(&Method, &dyn Input); 3] = [
        (&methods::ROOTS_LIST, &ListRoots),
        (&methods::SAMPLING_CREATE_MESSAGE, &model),
        (&methods::ELICITATION_CREATE, &form),
    ];
    for revision in Revisions::HANDSHAKE.newest_first() {
        let info = ServerConfig::new("s", "1").revisions(Revisions::only(revision));
        let (mut rx, mut tx) = ([0; 1024], [0; 1024]);
        let (mut slots, mut text) = ([server::Slot::EMPTY; 8], [0; 512]);
        let server = Server::new(&info, &mut rx, &mut tx).unwrap();
        let mut server = server.in_flight(&mut slots, &mut text).unwrap();
        let mut output = Vec::new();
        run_server(&mut server, &hello(revision), &mut output);
        for (method, input) in inputs {
            assert_eq!(input.method(), method.name());
            let should = method.by_server().contains(revision);
            let asked = server.request(input, RequestOptions::DEFAULT);
            assert_eq!(asked.is_ok(), should, "{} in {revision}: {asked:?}", method.name());
            run_server(&mut server, "", &mut output);
        }
        let knows_pages = revision == Revision::V2025_11_25;
        assert_eq!(server.request(&page, RequestOptions::DEFAULT).is_ok(), knows_pages);
        run_server(&mut server, "", &mut output);
        let says = methods::ELICITATION_COMPLETE.by_server().contains(revision);
        assert_eq!(server.elicitation_complete("e").is_ok(), says);
    }
}

#[test]
fn client_supports_the_methods_of_the_table() {
    let mut done = 0;
    for method in methods::ALL {
        for revision in Revision::ALL {
            let first = (revision == Revision::V2026_07_28 && *method != methods::SUBSCRIPTIONS_ACKNOWLEDGED)
                .then(acknowledgment);
            let text = first.into_iter().chain([line(method, revision)]).collect::<Vec<_>>().join("\n");
            let (answer, events) = listen(revision, &text);
            let sent = method.by_server().contains(revision);
            if method.is_request() {
                let knows = answer.contains(r#""id":7,"result""#);
                let should = sent && !TASK_REQUESTS.contains(method);
                assert_eq!(knows, should, "{} in {revision}: {answer}", method.name());
                done += usize::from(knows);
            } else if sent {
                let raw = events.contains("Notification { method");
                let should = CLIENT_RAW.contains(method) || TASK_NOTIFICATIONS.contains(method);
                assert_eq!(raw, should, "{} in {revision}: {events}", method.name());
                // Both notifications refer to a request that does not exist.
                let about_a_request = [methods::PROGRESS, methods::CANCELLED].contains(method);
                assert!(
                    about_a_request || !events.contains("ProtocolError"),
                    "{} in {revision}: {events}",
                    method.name()
                );
                done += 1;
            }
        }
    }
    assert!(done >= 40, "{done}");
}

/// Returns the table cell that shows the sender of the method in a revision.
fn cell(method: &Method, revision: Revision) -> &'static str {
    let has = |revisions: Revisions| revisions.contains(revision);
    match (has(method.by_client()), has(method.by_server())) {
        (true, true) => "⇄",
        (true, false) => "→",
        (false, true) => "←",
        _ if has(method.in_results()) => "in results",
        _ if has(method.by_extension()) => "extension",
        _ => "",
    }
}

fn rows(requests: bool) -> String {
    let mut table = format!("| {} |", if requests { "request" } else { "notification" });
    for revision in Revision::ALL {
        write!(table, " {revision} |").unwrap();
    }
    table += " capability | our server | our client |\n|---|---|---|---|---|---|---|---|---|\n";
    for method in methods::ALL.iter().filter(|method| method.is_request() == requests) {
        write!(table, "| `{}` |", method.name()).unwrap();
        for revision in Revision::ALL {
            write!(table, " {} |", cell(method, revision)).unwrap();
        }
        let client = if CLIENT_RAW.contains(method) { "raw" } else { "yes" };
        let capability = method.capability().map_or(String::new(), |name| format!("`{name}`"));
        writeln!(table, " {capability} | yes | {client} |").unwrap();
    }
    table
}

fn feature_rows() -> String {
    let mut table = "| `WireFeature` |".to_owned();
    for revision in Revision::ALL {
        write!(table, " {revision} |").unwrap();
    }
    table += "\n|---|---|---|---|---|---|\n";
    for feature in WireFeature::ALL {
        write!(table, "| `{feature:?}` |").unwrap();
        for revision in Revision::ALL {
            write!(table, " {} |", if revision.has(*feature) { "yes" } else { "" }).unwrap();
        }
        table.push('\n');
    }
    table
}

/// Checks a table of docs/protocol.md, and writes it if `BLESS` is set.
fn check_document(name: &str, table: &str) {
    let path = &format!("{ROOT}/docs/protocol.md");
    let document = std::fs::read_to_string(path).unwrap();
    let (before, rest) = document.split_once(&format!("<!-- {name} -->\n")).unwrap();
    let (_, after) = rest.split_once("<!-- end -->").unwrap();
    let written = format!("{before}<!-- {name} -->\n{table}<!-- end -->{after}");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, &written).unwrap();
    }
    assert!(
        std::fs::read_to_string(path).unwrap() == written,
        "run: BLESS=1 cargo test -p mcp-proto-tests methods"
    );
}

#[test]
fn tables_in_the_documents_match_the_code() {
    check_document("methods", &format!("{}\n{}", rows(true), rows(false)));
    check_document("features", &feature_rows());
}
