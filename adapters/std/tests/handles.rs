//! Tests of queries through a `ServerHandle`, and of concurrent client requests.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

use crate::peer::{Peer, call};
use crate::time_limit::{TEST_TIMEOUT, within};
use mcp_proto::Ticket;
use mcp_proto::client::{Connect, Listed, Reference};
use mcp_proto::json::Json;
use mcp_proto::server::{
    Change, Completion, Event, Prompt, PromptArgument, Prompts, Resource, Resources, ServerConfig,
    Subscriptions, Tool, Tools,
};
use mcp_proto_std::{CallError, CallOptions, Connector, RequestError, Serve, ServerHandle};

static TOOLS: Tools =
    Tools::new(&[Tool::new("is watched", "{}"), Tool::new("complete", "{}")]).list_changed();
static RESOURCES: Resources =
    Resources::new(&[Resource::new("a:log", "log"), Resource::new(SLOW, "slow")]).subscribe();
static PROMPTS: Prompts = Prompts::new(&[Prompt::new("review").arguments(&[PromptArgument::new("file")])]);
static CONFIG: ServerConfig =
    ServerConfig::new("test", "1").features(&[&TOOLS, &RESOURCES, &PROMPTS, &Completion, &Subscriptions]);

/// The URI of a resource whose read lasts until it is cancelled.
const SLOW: &str = "a:slow";

fn handler(event: Event<'_>, server: &ServerHandle) {
    let handle = server.clone();
    match event {
        Event::Call(call) if call.name() == "complete" => server.run(call, move |answer| {
            handle.elicitation_complete("e1");
            answer.text("sent");
        }),
        Event::Call(call) => {
            let refused = server.is_watched("a:log");
            assert!(
                matches!(refused, Err(RequestError::Invalid(_))),
                "the handler would wait for its own event loop"
            );
            server.run(call, move |answer| answer.text(handle.is_watched("a:log").unwrap()));
        }
        Event::ReadResource(read) => {
            let (uri, slow) = (read.uri().to_owned(), read.uri() == SLOW);
            server.run(read, move |answer| {
                answer.progress(1u32, None, "started");
                if slow && answer.sleep_unless_cancelled(TEST_TIMEOUT).is_err() {
                    return;
                }
                answer.answer(move |reply| reply.contents(|contents| contents.text(&uri, None, "read")));
            });
        }
        Event::GetPrompt(prompt) => prompt.messages(|messages| messages.user().text("prompted")),
        Event::Complete(complete) => complete.values(["completed"]),
        _ => {}
    }
}

fn request(id: u32, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#) + "\n"
}

#[test]
fn worker_queries_whether_resource_is_watched() {
    within(TEST_TIMEOUT, || {
        let (mut peer, server) = Peer::connect(&CONFIG, 1, ("2025-11-25", "{}"), handler);
        let watched = |peer: &mut Peer| {
            peer.send(&call(1, "is watched", "{}"));
            let line = peer.line();
            assert!(line.contains("true") || line.contains("false"), "{line}");
            line.contains("true")
        };
        assert!(!watched(&mut peer));
        peer.send(&request(2, "resources/subscribe", r#"{"uri":"a:log"}"#));
        assert!(peer.line().contains("result"));
        assert!(watched(&mut peer));
        peer.send(&request(3, "resources/unsubscribe", r#"{"uri":"a:log"}"#));
        assert!(peer.line().contains("result"));
        assert!(!watched(&mut peer));
        drop(peer);
        server.join().unwrap();
    });
}

#[test]
fn is_watched_fails_after_connection_end() {
    within(TEST_TIMEOUT, || {
        let (sender, handle) = channel();
        let (peer, server) = Peer::connect(&CONFIG, 1, ("2025-11-25", "{}"), move |event, server| {
            if let Event::Ready = event {
                sender.send(server.clone()).unwrap();
            }
        });
        let handle: ServerHandle = handle.recv().unwrap();
        assert_eq!(handle.is_watched("a:log"), Ok(false));
        drop(peer);
        server.join().unwrap();
        assert_eq!(handle.is_watched("a:log"), Err(RequestError::Closed));
        handle.elicitation_complete("e1");
    });
}

#[test]
fn handle_of_a_new_server_reports_changes() {
    within(TEST_TIMEOUT, || {
        let (sender, handles) = channel();
        let (here, there) = UnixStream::pair().unwrap();
        let serve = Serve::new(&CONFIG).on_start(move |server| sender.send(server.clone()).unwrap());
        thread::spawn(move || serve.stream(there, handler));
        // The client has sent nothing.
        let handle = handles.recv().unwrap();
        assert_eq!(handle.is_watched("a:log"), Ok(false));
        let client = Connector::new("test", "1").connect(Connect::Automatic).stream(here).unwrap();
        let mut changes = client.listen(&[Listed::Tools], &[]).unwrap();
        handle.changed(Change::Tools);
        assert!(changes.next_within(TEST_TIMEOUT).is_some());
    });
}

#[test]
fn elicitation_complete_is_sent_to_capable_clients() {
    within(TEST_TIMEOUT, || {
        for (client, is_notified) in [
            (("2025-11-25", r#"{"elicitation":{"url":{}}}"#), true),
            (("2025-11-25", "{}"), false),
            (("2025-06-18", r#"{"elicitation":{}}"#), false),
        ] {
            let (mut peer, _server) = Peer::connect(&CONFIG, 1, client, handler);
            peer.send(&call(1, "complete", "{}"));
            let line = peer.line();
            let expected = r#""method":"notifications/elicitation/complete","params":{"elicitationId":"e1"}"#;
            assert_eq!(line.contains(expected), is_notified, "{line}");
            assert!(!is_notified || peer.line().contains("sent"));
        }
    });
}

fn client(era: Connect, listening: Option<Sender<(Ticket, ServerHandle)>>) -> mcp_proto_std::ClientHandle {
    let (here, there) = UnixStream::pair().unwrap();
    thread::spawn(move || {
        Serve::new(&CONFIG).stream(there, |event, server| match (&event, &listening) {
            (Event::Listening(listen), Some(listening)) => {
                listening.send((listen.ticket(), server.clone())).unwrap();
            }
            _ => handler(event, server),
        })
    });
    Connector::new("test", "1").connect(era).stream(here).unwrap()
}

#[test]
fn waiting_request_is_cancelled_with_the_request_of_its_tool() {
    within(TEST_TIMEOUT, || {
        let other = client(Connect::Automatic, None);
        let (sender, results) = channel();
        let (mut peer, _server) = Peer::connect(&CONFIG, 2, ("2025-11-25", "{}"), move |event, server| {
            let (other, sender) = (other.clone(), sender.clone());
            if let Event::Call(call) = event {
                server.run(call, move |answer| {
                    for uri in ["a:log", SLOW] {
                        let read = other.begin_read(uri, CallOptions::new()).unwrap();
                        sender.send(read.wait_unless_cancelled(&answer.cancellation()).map(drop)).unwrap();
                    }
                });
            }
        });
        peer.send(&call(1, "complete", "{}"));
        assert_eq!(results.recv().unwrap(), Ok(()));
        assert!(results.recv_timeout(Duration::from_millis(50)).is_err());
        peer.send(
            &(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#.to_owned()
                + "\n"),
        );
        assert_eq!(results.recv().unwrap(), Err(CallError::Cancelled));
    });
}

#[test]
fn server_ends_one_of_two_subscriptions() {
    within(TEST_TIMEOUT, || {
        let (sender, listening) = channel();
        let client = client(Connect::Automatic, Some(sender));
        let ended = client.listen(&[Listed::Tools], &[]).unwrap();
        let remaining = client.listen(&[Listed::Tools], &[]).unwrap();
        let (ticket, server) = listening.recv().unwrap();
        server.end_subscription(ticket);
        assert_eq!(ended.count(), 0, "the subscription ends");
        // A repeated call has no effect.
        server.end_subscription(ticket);
        server.changed(mcp_proto::server::Change::Tools);
        assert!({ remaining }.next().is_some());
    });
}

#[test]
fn requests_of_every_kind_run_concurrently() {
    within(TEST_TIMEOUT, || {
        for era in [Connect::Handshake, Connect::Automatic] {
            let client = client(era, None);
            let options = CallOptions::new();
            let slow = client.begin_read(SLOW, options.with_progress()).unwrap();
            let read = client.begin_read("a:log", options).unwrap();
            let prompt = client.begin_prompt("review", &[("file", "a")], options).unwrap();
            let reference = Reference::Prompt("review");
            let completion = client.begin_complete(reference, "file", "a", &[], options).unwrap();
            let other = client.begin_request("resources/read", r#"{"uri":"a:log"}"#, options).unwrap();
            let refused = client.begin_request("resources/read", "[]", options);
            assert!(matches!(refused, Err(CallError::Invalid(_))));
            assert!(format!("{:?}", completion.wait().unwrap()).contains("completed"));
            assert!(format!("{:?}", prompt.wait().unwrap()).contains("prompted"));
            assert!(format!("{:?}", read.wait().unwrap()).contains("read"));
            assert!(other.wait().unwrap().contains("read"));
            // A request that is still in flight can be waited for again, and cancelled.
            let slow = slow.wait_within(Duration::from_millis(20)).unwrap_err();
            let canceller = slow.canceller();
            let mut reports = 0;
            let outcome = slow.wait_with(|_| {
                reports += 1;
                canceller.cancel("enough");
            });
            assert_eq!((outcome.err(), reports), (Some(CallError::Cancelled), 1));
        }
    });
}

#[test]
fn find_tool_requests_no_unneeded_pages() {
    within(TEST_TIMEOUT, || {
        let (here, there) = UnixStream::pair().unwrap();
        let (sender, requests) = channel();
        thread::spawn(move || {
            let mut pages = 0;
            for line in BufReader::new(&there).lines().map_while(Result::ok) {
                let json = Json::parse(line.as_bytes()).unwrap();
                let Some(id) = json.get("id") else { continue };
                let result = if line.contains("initialize") {
                    r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}"#.into()
                } else if line.contains("tools/list") {
                    pages += 1;
                    sender.send(line.clone()).unwrap();
                    let tool = |name| format!(r#"{{"name":"t{name}","inputSchema":{{"type":"object"}}}}"#);
                    let next =
                        if pages % 3 == 0 { String::new() } else { format!(r#","nextCursor":"{pages}""#) };
                    format!(r#"{{"tools":[{},{}]{next}}}"#, tool(2 * pages - 1), tool(2 * pages))
                } else {
                    "{}".into()
                };
                writeln!(&there, r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#).unwrap();
            }
        });
        let client = Connector::new("test", "1").connect(Connect::Handshake).stream(here).unwrap();
        assert_eq!(client.find_tool("t1").unwrap().unwrap().name, "t1");
        client.ping().unwrap();
        assert_eq!(requests.try_iter().count(), 1, "the tool is on the first page");
        // The server does not restart its numbers for a new list. This list starts at `t3`, so `t6` is on its second
        // page.
        assert_eq!(client.find_tool("t6").unwrap().unwrap().name, "t6");
        assert_eq!(requests.try_iter().count(), 2);
        assert_eq!(client.find_tool("t1").unwrap(), None);
        assert_eq!(requests.try_iter().count(), 3);
    });
}
