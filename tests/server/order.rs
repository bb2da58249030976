//! Orders of events and messages that a server guarantees.
//!
//! The orders depend on deadlines and slots, never on the speed of output.

use crate::support::server::tools::CONFIG;
use crate::support::server::{Setup, hello};
use crate::support::transport::{feed, take, take_output};
use mcp_proto::Revision;
use mcp_proto::input::ListRoots;
use mcp_proto::server::{
    Change, Event, Feature, RequestOptions, Resource, Resources, SecondInitialize, Server, ServerConfig,
    Subscriptions, Tool, Tools,
};
use mcp_proto::{Action, Buffer, Machine, Millis};

fn session() -> Setup {
    Setup::new(CONFIG).session(Revision::V2025_11_25)
}

/// Returns a call that is deferred for `ms` milliseconds.
fn defer(id: u32, ms: u32) -> String {
    format!(
        "> call {id} tools/call {{\"name\":\"defer\",\"arguments\":{{\"ms\":{ms}}}}}\n! call defer {{\"ms\":{ms}}}\n"
    )
}

fn late(ids: &[u32]) -> String {
    ids.iter().map(|id| format!("< error {id} -32603 …\n")).collect()
}

fn expired(numbers: &[u32]) -> String {
    numbers.iter().map(|number| format!("! expired {number}\n")).collect()
}

#[test]
fn requests_expire_by_deadline_and_not_by_slot() {
    let three = format!("{}{}{}", defer(1, 30), defer(2, 10), defer(3, 20));
    session().check(&format!(
        "{three}* deadline 10\n* time 100\n{}{}",
        expired(&[1, 2, 0]),
        late(&[2, 3, 1])
    ));
    // The order is the same while the client does not read.
    session().check(&format!(
        "{three}* block\n* time 100\n{}* unblock\n{}",
        expired(&[1, 2, 0]),
        late(&[2, 3, 1])
    ));
}

#[test]
fn equal_deadlines_expire_by_slot_whichever_was_free_first() {
    for freed in [[0, 1], [1, 0]] {
        let answers: String = freed
            .map(|number| {
                let id = number + 1;
                format!("* answer {number} x\n< result {id} {{\"content\":[{{\"type\":\"text\",\"text\":\"x\"}}]}}\n")
            })
            .concat();
        // The third request keeps its slot, so that the table is never empty.
        session().check(&format!(
            "{}{}{}{answers}{}{}* time 50\n{}{}",
            defer(1, 900),
            defer(2, 900),
            defer(3, 900),
            defer(4, 50),
            defer(5, 50),
            expired(&[3, 4]),
            late(&[4, 5]),
        ));
    }
}

#[test]
fn end_of_grace_period_expires_requests_by_deadline() {
    session().check(&format!(
        "{}{}* shutdown 20\n* time 19\n* time 20\n{}{}! closed",
        defer(1, 9000),
        defer(2, 5000),
        expired(&[1, 0]),
        late(&[2, 1]),
    ));
}

#[test]
fn expired_request_gets_its_error_before_the_next_line() {
    // The server has read the second ping, which waits for space.
    session().tx(1024).check(&format!(
        "{}* block\n> call 2 ping\n> call 3 ping\n* time 50\n{}* unblock\n< result 2\n{}< result 3\n",
        defer(1, 50),
        expired(&[0]),
        late(&[1]),
    ));
}

#[test]
fn dropped_call_is_reported_before_the_next_line() {
    session().check(
        "> call 1 tools/call {\"name\":\"drop\"}\n> call 2 tools/call {\"name\":\"unknown\"}\n> note nothing\n\
         ! call drop {}\n! fault Unanswered\n! call unknown {}\n! fault UnknownNotification\n\
         < error 1 -32603 …\n< error 2 -32602 …\n",
    );
}

#[test]
fn error_of_an_expired_request_precedes_a_change() {
    let told = "< note notifications/tools/list_changed\n";
    for tx in [1024, 4096] {
        session().tx(tx).check(&format!(
            "{}* block\n* late 50 changed\n{}* unblock\n{}{told}",
            defer(1, 50),
            expired(&[0]),
            late(&[1]),
        ));
    }
}

static TOOLS: Tools<'static> = Tools::new(&[Tool::new("t", "{}")]).list_changed();
static RESOURCES: Resources<'static> = Resources::new(&[Resource::new("lib:log", "log")]).subscribe();
static FEATURES: [&dyn Feature; 3] = [&RESOURCES, &Subscriptions, &TOOLS];
const BOTH: ServerConfig<'static> = ServerConfig::new("s", "1").features(&FEATURES);

#[test]
fn subscription_gets_lists_then_resources_then_its_end() {
    let filter = r#"{"toolsListChanged":true,"resourceSubscriptions":["lib:log"]}"#;
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let tag = r#""_meta":{"io.modelcontextprotocol/subscriptionId":1}"#;
    let updated = format!("< note notifications/resources/updated {{{tag},\"uri\":\"lib:log\"}}\n");
    let lists = format!("< note notifications/tools/list_changed {{{tag}}}\n");
    let end = "< result 1 …\n< note notifications/cancelled {\"requestId\":1}\n";
    // No space is left after the ping's response. The notifications follow in another order than the reports of the
    // application.
    for tx in [900, 1000] {
        Setup::new(BOTH).tx(tx).subscription_buffer(100).check(&format!(
            "> call 1 subscriptions/listen {{{meta},\"notifications\":{filter}}}\n\
             < note notifications/subscriptions/acknowledged …\n! listening [Tools] [\"lib:log\"]\n\
             * block\n> call 2 ping\n* updated lib:log\n* changed tools\n* end 0\n* unblock\n< result 2\n{lists}{updated}{end}",
        ));
    }
}

/// Polls the server until it waits for input, and records its events.
fn run_until_idle(server: &mut Server<'_>, heard: &mut Vec<String>) {
    loop {
        match server.poll(Millis(0)) {
            Action::Event => heard.push(match server.event() {
                Some(Event::Connected(_)) => "connected".into(),
                Some(Event::Restarted) => "restarted".into(),
                Some(Event::Ready) => "ready".into(),
                Some(Event::Response(_)) => "answered".into(),
                other => format!("{other:?}"),
            }),
            Action::Io(io) => {
                let (out, _) = io.split();
                let length = out.bytes().len();
                if length == 0 {
                    return;
                }
                out.sent(length);
            }
            Action::Closed => return,
        }
    }
}

#[test]
fn restart_is_reported_before_new_client_and_lost_requests() {
    const RESTARTS: ServerConfig<'static> =
        ServerConfig::new("s", "1").second_initialize(SecondInitialize::Restart);
    let mut server = Server::new(&RESTARTS, vec![0; 1024].leak(), vec![0; 2048].leak()).unwrap();
    server = server.in_flight_grown(2).unwrap();
    let mut heard = Vec::new();
    let hello = hello("2025-11-25").replace("\"capabilities\":{}", "\"capabilities\":{\"roots\":{}}");
    let initialize =
        format!("{{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{hello}}}\n");
    let ready = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";
    for line in [&initialize, ready, &initialize] {
        run_until_idle(&mut server, &mut heard);
        let machine: &mut dyn Machine = &mut server;
        let Action::Io(io) = machine.poll(Millis(0)) else { panic!("not ready") };
        let (_, mut input) = io.split();
        input.space()[..line.len()].copy_from_slice(line.as_bytes());
        input.filled(line.len());
        if line == ready {
            run_until_idle(&mut server, &mut heard);
            server.request(&ListRoots, RequestOptions::DEFAULT).unwrap();
        }
    }
    run_until_idle(&mut server, &mut heard);
    assert_eq!(heard, ["connected", "ready", "restarted", "connected", "answered"]);
}

/// Creates a server of `2025-11-25` after its handshake, with a transmit buffer of this many bytes.
fn ready_server(size: usize) -> Server<'static> {
    let mut server = Server::new(&CONFIG, Buffer::grown(1024), vec![0; size].leak()).unwrap();
    let initialize = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{}}}\n",
        hello("2025-11-25")
    );
    for line in [&initialize, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"] {
        feed(&mut server, Millis(0), line.as_bytes());
        run_until_idle(&mut server, &mut Vec::new());
    }
    server
}

#[test]
fn changes_faster_than_output_alternate_with_responses() {
    let requests: String =
        (7..10).map(|id| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n")).collect();
    let response = |id: u32| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}\n");
    let change = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n";
    let expected =
        [change, change, &response(7), change, &response(8), change, &response(9), change, change].concat();
    for size in [1024, 65536] {
        let mut server = ready_server(size);
        feed(&mut server, Millis(0), requests.as_bytes());
        let mut output = Vec::new();
        for step in 0..1000 {
            if step % 20 == 0 {
                server.changed(Change::Tools);
            }
            output.extend(take(&mut server, Millis(0), 1));
        }
        assert!(output.starts_with(expected.as_bytes()), "{size}: {}", String::from_utf8_lossy(&output));
    }
}

#[test]
fn notifications_faster_than_output_alternate_with_responses() {
    for only_if_writable in [false, true] {
        let mut server = ready_server(1024);
        let requests: String =
            (7..10).map(|id| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n")).collect();
        let mut output = Vec::new();
        let notify =
            |server: &mut Server<'_>| while server.notify("notifications/message", |_| {}).is_ok() {};
        notify(&mut server);
        feed(&mut server, Millis(0), requests.as_bytes());
        for _ in 0..2000 {
            if !only_if_writable {
                let _ = server.notify("notifications/message", |_| {});
            }
            let sent = match server.poll(Millis(0)) {
                Action::Io(io) => take_output(io.split().0, 1, &mut output),
                _ => 0,
            };
            if sent == 0 {
                assert!(matches!(server.event(), Some(Event::Writable)));
                notify(&mut server);
            }
        }
        let output = String::from_utf8(output).unwrap();
        let lines: Vec<&str> =
            output.lines().skip_while(|line| !line.contains("\"id\":7,")).take(5).collect();
        let kinds: Vec<bool> = lines.iter().map(|line| line.contains("result")).collect();
        assert_eq!(kinds, [true, false, true, false, true], "{only_if_writable}: {lines:?}");
    }
}

#[test]
fn subscription_to_frequent_changes_can_be_cancelled() {
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let filter = r#"{"toolsListChanged":true,"resourceSubscriptions":["lib:log"]}"#;
    let listen = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"subscriptions/listen\",\"params\":{{{meta},\"notifications\":{filter}}}}}\n"
    );
    let mut server = Server::new(&BOTH, Buffer::grown(1024), vec![0; 1024].leak()).unwrap();
    server = server.in_flight_grown(1).unwrap().subscription_buffer(Buffer::grown(100));
    feed(&mut server, Millis(0), listen.as_bytes());
    run_until_idle(&mut server, &mut Vec::new());
    let cancel =
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}\n";
    feed(&mut server, Millis(0), cancel.as_bytes());
    for _ in 0..1000 {
        server.changed(Change::Tools);
        server.changed(Change::Resource("lib:log"));
        match server.poll(Millis(0)) {
            Action::Io(io) => io.split().0.sent(1),
            _ => return assert!(matches!(server.event(), Some(Event::Cancelled { .. }))),
        }
    }
    panic!("not cancelled");
}
