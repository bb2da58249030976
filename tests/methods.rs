//! The table of methods in docs/protocol.md is written here, and what it says of our machines is tried: `BLESS=1 cargo
//! test --test methods`, and read the difference.

use std::fmt::Write as _;

use mcp_proto::client::{self, ClientInfo, Connect};
use mcp_proto::input::{CreateMessage, Form, ListRoots, SampleMessage};
use mcp_proto::methods::{self, Method};
use mcp_proto::server::{
    self, Ask, Change, Completion, Feature, Logging, Prompt, Prompts, Resource, Resources, ServerInfo,
    Subscriptions, Tool, Tools,
};
use mcp_proto::{Action, Client, Level, Machine, Millis, Revision, Revisions, Server};

/// What our server does not do yet.
const SERVER_LATER: &[Method] = &[
    methods::TASKS_GET,
    methods::TASKS_RESULT,
    methods::TASKS_LIST,
    methods::TASKS_CANCEL,
    methods::TASKS_UPDATE,
    methods::TASKS_STATUS,
    methods::TASKS,
];

/// What our client does not do yet: it refuses what a server asks.
const CLIENT_LATER: &[Method] = &[
    methods::SAMPLING_CREATE_MESSAGE,
    methods::ELICITATION_CREATE,
    methods::ROOTS_LIST,
    methods::TASKS_GET,
    methods::TASKS_RESULT,
    methods::TASKS_LIST,
    methods::TASKS_CANCEL,
];

/// What our client leaves to its host.
const CLIENT_RAW: &[Method] = &[
    methods::SUBSCRIPTIONS_LISTEN,
    methods::TASKS_UPDATE,
    methods::ROOTS_LIST_CHANGED,
    methods::ELICITATION_COMPLETE,
    methods::SUBSCRIPTIONS_ACKNOWLEDGED,
    methods::TASKS_STATUS,
    methods::TASKS,
];

/// A server with everything that there is.
static TOOLS: Tools = Tools::new(&[Tool::new("t", "{}")]).list_changed();
static RESOURCES: Resources = Resources::new(&[Resource::new("u", "u")]).subscribe().list_changed();
static PROMPTS: Prompts = Prompts::new(&[Prompt::new("t")]).list_changed();
static FORM: Form = Form::new("Who?", &[]);
static SAMPLE: CreateMessage = CreateMessage::new(&[SampleMessage::user("?")], 9);
static FEATURES: [&dyn Feature; 6] = [&TOOLS, &RESOURCES, &PROMPTS, &Completion, &Subscriptions, &Logging];

/// Moves what there is to move.
fn step(machine: &mut dyn Machine, input: &mut &[u8], output: &mut Vec<u8>) -> bool {
    let Action::Io(io) = machine.poll(Millis(0)) else { return true };
    let (out, mut receive) = io.split();
    let (n, took) = (out.bytes().len(), receive.space().len().min(input.len()));
    output.extend(out.bytes());
    out.sent(n);
    receive.space()[..took].copy_from_slice(&input[..took]);
    *input = &input[took..];
    receive.filled(took);
    took + n > 0
}

/// All that a client can declare.
const DECLARED: &str = r#"{"roots":{"listChanged":true},"sampling":{},"elicitation":{"form":{},"url":{}}}"#;

const INITIALIZED: &str = concat!(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, "\n");

/// Runs a server of one revision until it has read all, and returns what it wrote.
fn run(revision: Revision, text: &str, hear: &mut dyn FnMut(&mut Server<'_>)) -> String {
    let info = ServerInfo::new("s", "1").features(&FEATURES).revisions(Revisions::only(revision));
    let (mut rx, mut tx, mut uris) = ([0; 2048], [0; 16_384], [0; 64]);
    let (mut slots, mut ids) = ([server::Slot::EMPTY; 8], [0; 256]);
    let server = Server::new(&info, &mut rx, &mut tx).unwrap().reply_room(2048).unwrap();
    let mut server = server.in_flight(&mut slots, &mut ids).unwrap().watches(&mut uris[..]);
    let hello = format!(
        r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{revision}","capabilities":{DECLARED},"clientInfo":{{"name":"c","version":"1"}}}}}}"#
    );
    let hello = if revision < Revision::V2026_07_28 { hello + "\n" + INITIALIZED } else { String::new() };
    // It comes once.
    let hello = if text.contains("initialized") { hello.replace(INITIALIZED, "") } else { hello };
    let text = format!("{hello}{text}");
    let (mut input, mut output) = (text.as_bytes(), Vec::new());
    loop {
        match server.poll(Millis(0)) {
            Action::Event => hear(&mut server),
            Action::Closed => break,
            Action::Io(_) => {
                if !step(&mut server, &mut input, &mut output) {
                    break;
                }
            }
        }
    }
    String::from_utf8(output).unwrap()
}

/// What a server of one revision answers to a line, and what its host hears of it.
fn serve(revision: Revision, line: &str) -> (String, String) {
    let mut heard = String::new();
    let output = run(revision, &format!("{line}\n"), &mut |server| match server.event().unwrap() {
        server::Event::Call(call) => call.text("done"),
        server::Event::Connected(_) => {}
        // It hears of roots only once it has asked for something.
        server::Event::Ready => _ = server.ping(Ask::DEFAULT).unwrap(),
        event => write!(heard, "{event:?}").unwrap(),
    });
    let answers = output.lines().filter(|line| !line.contains(r#""id":0,"#) && !line.contains(r#""ping""#));
    (answers.collect(), heard)
}

/// What a server of one revision sends that does all that it can.
fn sends(revision: Revision) -> String {
    let call = line(&methods::TOOLS_CALL, revision);
    let watch = match revision {
        Revision::V2026_07_28 => line(&methods::SUBSCRIPTIONS_LISTEN, revision).replace(
            r#""name""#,
            r#""notifications":{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["u"]},"name""#,
        ),
        _ => line(&methods::RESOURCES_SUBSCRIBE, revision),
    };
    let meta = r#""_meta":{"#;
    let progress = r#""_meta":{"progressToken":1,"io.modelcontextprotocol/logLevel":"debug","#;
    let call = match revision {
        Revision::V2026_07_28 => call.replace(meta, progress),
        _ => call.replace(r#""name""#, r#""_meta":{"progressToken":1},"name""#),
    };
    let text = format!("{}\n{}\n", watch.replace(r#""id":7"#, r#""id":8"#), call);
    let text = text.replace(r#"clientCapabilities":{}"#, &format!(r#"clientCapabilities":{DECLARED}"#));
    let mut listening = None;
    run(revision, &text, &mut |server| match server.event().unwrap() {
        server::Event::Ready => {
            let roots = server.ask(&ListRoots, Ask::DEFAULT).unwrap();
            server.cancel(roots, "").unwrap();
            // Not every revision has them.
            let _ = (server.ask(&FORM, Ask::DEFAULT), server.elicitation_complete("e"));
            server.ask(&SAMPLE, Ask::DEFAULT).unwrap();
            server.ping(Ask::DEFAULT).unwrap();
        }
        server::Event::Listening(it) => listening = Some(it.ticket()),
        server::Event::Call(mut call) => {
            call.progress(1, None, "").unwrap();
            call.log(Level::Error, None, "x").unwrap();
            for change in [Change::Tools, Change::Resources, Change::Prompts, Change::Resource("u")] {
                call.changed(change);
            }
            match call.can_round_trip() {
                true => call.needs_input(&[("r", &ListRoots), ("f", &FORM), ("s", &SAMPLE)], None),
                false => call.text("done"),
            }
            if let Some(ticket) = listening {
                server.end_subscription(ticket).unwrap();
            }
        }
        _ => {}
    })
}

/// What a client of one revision answers to a line, and what its host hears of it.
fn listen(revision: Revision, line: &str) -> (String, String) {
    let stateless = revision == Revision::V2026_07_28;
    let connect = if stateless { Connect::Stateless } else { Connect::Handshake };
    let info = ClientInfo::new("c", "1").connect(connect).revisions(Revisions::only(revision));
    let (mut rx, mut tx) = ([0; 1024], [0; 1024]);
    let mut client = Client::new(&info, &mut rx, &mut tx).unwrap();
    let hello = match stateless {
        true => r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{}}}"#.to_owned(),
        false => format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"protocolVersion":"{revision}","capabilities":{{}},"serverInfo":{{"name":"s","version":"1"}}}}}}"#),
    };
    let text = format!("{hello}\n{line}\n");
    let (mut input, mut output, mut heard) = (text.as_bytes(), Vec::new(), String::new());
    loop {
        match client.poll(Millis(0)) {
            Action::Event => match client.event().unwrap() {
                client::Event::Connected(_) => {}
                event => write!(heard, "{event:?}").unwrap(),
            },
            Action::Closed => break,
            Action::Io(_) => {
                if !step(&mut client, &mut input, &mut output) {
                    break;
                }
            }
        }
    }
    (String::from_utf8(output).unwrap(), heard)
}

/// A request or notification with parameters that do for all.
fn line(method: &Method, revision: Revision) -> String {
    let id = if method.is_request() { r#","id":7"# } else { "" };
    let meta = match revision {
        Revision::V2026_07_28 if method.is_request() => {
            r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}},"#
        }
        _ => "",
    };
    let name = method.name();
    format!(
        r#"{{"jsonrpc":"2.0"{id},"method":"{name}","params":{{{meta}"name":"t","uri":"u","level":"info","data":1,"requestId":1,"progressToken":1,"progress":1}}}}"#
    )
}

#[test]
fn a_server_does_what_the_table_says_of_it() {
    let mut done = 0;
    for method in methods::ALL.iter().filter(|method| **method != methods::INITIALIZE) {
        for revision in Revision::ALL {
            let (answer, heard) = serve(revision, &line(method, revision));
            let sent = method.by_client().contains(revision);
            let knows = !answer.contains("-32601") && !heard.contains("UnknownNotification");
            // A notification that nobody should send is dropped, whatever the reason is called.
            if method.is_request() || sent {
                let should = sent && !SERVER_LATER.contains(method);
                assert_eq!(knows, should, "{} in {revision}: {answer} {heard}", method.name());
                done += usize::from(knows);
            }
        }
    }
    assert!(done >= 20, "{done}");
}

#[test]
fn a_server_sends_what_the_table_says_of_it() {
    for revision in Revision::ALL {
        let output = sends(revision);
        for method in methods::ALL {
            let has = |revisions: Revisions| revisions.contains(revision) && !SERVER_LATER.contains(method);
            let should = has(method.by_server()) || has(method.in_results());
            let quoted = format!(r#""method":"{}""#, method.name());
            assert_eq!(output.contains(&quoted), should, "{quoted} in {revision}:\n{output}");
        }
    }
}

#[test]
fn a_client_does_what_the_table_says_of_it() {
    let mut done = 0;
    for method in methods::ALL {
        for revision in Revision::ALL {
            let (answer, heard) = listen(revision, &line(method, revision));
            let sent = method.by_server().contains(revision);
            if method.is_request() {
                let knows = answer.contains(r#""id":7,"result""#);
                assert_eq!(
                    knows,
                    sent && !CLIENT_LATER.contains(method),
                    "{} in {revision}: {answer}",
                    method.name()
                );
                done += usize::from(knows);
            } else if sent {
                let raw = heard.contains("Notification { method");
                assert_eq!(raw, CLIENT_RAW.contains(method), "{} in {revision}: {heard}", method.name());
                done += 1;
            }
        }
    }
    assert!(done >= 20, "{done}");
}

/// Who sends it in a revision.
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
        let server = if SERVER_LATER.contains(method) { "later" } else { "yes" };
        let client = match () {
            () if CLIENT_LATER.contains(method) => "later",
            () if CLIENT_RAW.contains(method) => "raw",
            () => "yes",
        };
        let capability = method.capability().map_or(String::new(), |name| format!("`{name}`"));
        writeln!(table, " {capability} | {server} | {client} |").unwrap();
    }
    table
}

#[test]
fn the_table_in_the_documents_is_that_of_the_code() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/protocol.md");
    let document = std::fs::read_to_string(path).unwrap();
    let (before, rest) = document.split_once("<!-- methods -->\n").unwrap();
    let (_, after) = rest.split_once("<!-- end -->").unwrap();
    let (requests, notifications) = (rows(true), rows(false));
    let written = format!("{before}<!-- methods -->\n{requests}\n{notifications}<!-- end -->{after}");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, &written).unwrap();
    }
    assert!(std::fs::read_to_string(path).unwrap() == written, "run: BLESS=1 cargo test --test methods");
}
