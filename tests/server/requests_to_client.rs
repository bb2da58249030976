//! Server-to-client requests of the handshake era: sending, timeouts, cancellation, progress.

use crate::support::server::Setup;
use crate::support::server::tools::CONFIG;
use mcp_proto::server::{Limits, SecondInitialize, ServerConfig};
use mcp_proto::{Millis, Revision};

const ALL: &str = r#"{"roots":{"listChanged":true},"sampling":{"tools":{},"context":{}},"elicitation":{"form":{},"url":{}}}"#;

const DONE: &str = r#"{"content":[{"type":"text","text":"done"}]}"#;

fn session() -> Setup {
    Setup::new(CONFIG).session_with(Revision::V2025_11_25, ALL)
}

fn with(info: ServerConfig<'static>) -> Setup {
    Setup::new(info).session_with(Revision::V2025_11_25, ALL)
}

/// Returns the expected line of a request of the server.
fn asked(id: u32, method: &str) -> String {
    format!("< {{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\"…}}\n")
}

fn cancelled(id: u32, reason: &str) -> String {
    let reason = if reason.is_empty() { String::new() } else { format!(",\"reason\":\"{reason}\"") };
    format!("< note notifications/cancelled {{\"requestId\":{id}{reason}}}\n")
}

fn defer(id: u32) -> String {
    format!("> call {id} tools/call {{\"name\":\"defer\"}}\n! call defer {{}}\n")
}

#[test]
fn server_request_ends_with_its_response() {
    session().check(
        r#"* ask roots
           < {"jsonrpc":"2.0","id":1,"method":"roots/list"}
           > {"jsonrpc":"2.0","id":1,"result":{"roots":[{"uri":"file:///a"}]}}
           ! answered 0 {"roots":[{"uri":"file:///a"}]}
           * ask form
           < {"jsonrpc":"2.0","id":5,"method":"elicitation/create","params":{"mode":"form","message":"Who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}}
           * ask model
           < {"jsonrpc":"2.0","id":2,"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"?"}}],"maxTokens":9}}
           > {"jsonrpc":"2.0","id":2,"error":{"code":-1,"message":"no"}}
           ! answered 2 error no (-1)
           > {"jsonrpc":"2.0","id":"5","result":{"action":"accept","content":{"name":"x"}}}
           ! answered 1 Accept {"name":"x"}
           * ask page
           < {"jsonrpc":"2.0","id":9,"method":"elicitation/create","params":{"mode":"url","message":"Log in","url":"https://example.com/","elicitationId":"e1"}}
           * complete e1
           < note notifications/elicitation/complete {"elicitationId":"e1"}
           > {"jsonrpc":"2.0","id":9,"result":{"action":"decline"}}
           ! answered 3 Decline {}
           * ask ping
           < {"jsonrpc":"2.0","id":13,"method":"ping"}
           > {"jsonrpc":"2.0","id":13,"result":null}
           ! answered 4 {}
           * ask raw progress
           < {"jsonrpc":"2.0","id":17,"method":"example/own","params":{"n":1,"_meta":{"progressToken":17}}}
           > {"jsonrpc":"2.0","id":17,"result":{"resultType":"complete"}}
           ! answered 5 {"resultType":"complete"}
           * ask ping progress
           < {"jsonrpc":"2.0","id":21,"method":"ping","params":{"_meta":{"progressToken":21}}}"#,
    );
}

#[test]
fn only_declared_capabilities_can_be_requested() {
    let cases = [
        (Revision::V2024_11_05, ALL, "roots model"),
        (Revision::V2025_03_26, ALL, "roots model"),
        (Revision::V2025_06_18, ALL, "roots form model"),
        (Revision::V2025_11_25, ALL, "roots form page model tools"),
        (Revision::V2025_11_25, r#"{"elicitation":{}}"#, "form"),
        (Revision::V2025_11_25, r#"{"elicitation":{"url":{}}}"#, "page"),
        (Revision::V2025_11_25, r#"{"roots":{},"sampling":{}}"#, "roots model"),
        (Revision::V2025_11_25, "{}", ""),
    ];
    for (revision, capabilities, expected) in cases {
        let mut id = 0;
        let mut dialogue = String::new();
        for name in ["roots", "form", "page", "model", "tools"] {
            dialogue += &format!("* ask {name}\n");
            if expected.split(' ').any(|known| known == name) {
                id += 1;
                dialogue += &asked(id, "…");
            } else {
                dialogue += "! not now Unsupported\n";
            }
        }
        dialogue += "* complete e1\n";
        let completes = revision == Revision::V2025_11_25 && capabilities.contains("url");
        dialogue += if completes {
            "< note notifications/elicitation/complete …\n"
        } else {
            "! not now Unsupported\n"
        };
        Setup::new(CONFIG).slots(5, 64).session_with(revision, capabilities).check(&dialogue);
    }
}

#[test]
fn server_request_needs_a_session() {
    let hello = crate::support::server::hello("2025-11-25");
    Setup::new(CONFIG).check(&format!(
        "* ask roots\n! not now NotConnected\n* ask ping\n! not now NotConnected\n* ask raw\n! not now NotConnected\n\
         * complete e\n! not now NotConnected\n> call 1 initialize {hello}\n< result 1 …\n! connected 2025-11-25 c {{}}\n\
         * ask roots\n! not now NotConnected\n* ask ping\n{}> note notifications/initialized\n! ready\n* shutdown\n\
         ! answered 0 Closed\n! closed\n* ask ping\n! not now NotConnected",
        asked(1, "ping"),
    ));
}

#[test]
fn server_requests_share_slots_with_deferred_requests() {
    let setup = session().slots(2, 64);
    setup.check(&format!(
        "{}* ask roots\n{}* deferred 1\n* ask form\n! not now Full\n\
         > call 2 tools/call {{\"name\":\"defer\"}}\n! call defer {{}}\n! full\n< error 2 -32603 …\n\
         * answer 0 done\n< result 1 {DONE}\n* deferred 0\n* ask form\n{}* deferred 0\n\
         > {{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{{\"roots\":[]}}}}\n! answered 0 {{\"roots\":[]}}\n\
         {}* ask ping\n! not now Full\n* deferred 1",
        defer(1),
        asked(2, "roots/list"),
        asked(3, "elicitation/create"),
        defer(3),
    ));
    session().slots(0, 64).check("* ask roots\n! not now Full");
    // The client may use an id that the server also uses.
    session().check(&format!(
        "* ask roots\n{}{}> call 1 ping\n< error 1 -32600 …\n! fault DuplicateId\n\
         > note notifications/cancelled {{\"requestId\":1}}\n! cancelled 0\n\
         > {{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{}}}}\n! answered 0 {{}}",
        asked(1, "roots/list"),
        defer(1),
    ));
}

#[test]
fn timed_out_server_request_is_cancelled() {
    session().check(&format!(
        "* time 1000\n* ask form ms 50\n{}* deadline 1050\n* ask roots\n{}* time 1049\n* time 1050\n! answered 0 TimedOut\n{}\
         * deadline 61000\n> {{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{}}}}\n* time 61000\n! answered 1 TimedOut\n{}",
        asked(1, "elicitation/create"),
        asked(2, "roots/list"),
        cancelled(1, ""),
        cancelled(2, ""),
    ));
    // The server's default timeout applies, unless the deferred request expires earlier.
    with(CONFIG.limits(Limits::DEFAULT.with_request_timeout(Millis(8)).with_deferred_timeout(Millis(7)))).check(&format!(
        "{}* ask roots\n{}* time 8\n! expired 0\n< error 1 -32603 …\n! answered 0 TimedOut\n{}* deadline none",
        defer(1),
        asked(2, "roots/list"),
        cancelled(2, ""),
    ));
    // The buffer has no space for the cancellation. The server still emits the event, and does not report a late
    // response.
    for late in ["", "> {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n"] {
        let notified = if late.is_empty() { cancelled(2, "") } else { String::new() };
        session().tx(1024).check(&format!(
            "{}* ask roots ms 10\n{}* block\n* answer 0 done\n* time 10\n! answered 0 TimedOut\n* deadline none\n{late}\
             * ask ping\n! not now Busy\n* unblock\n< result 1 {DONE}\n{notified}! room\n* deferred 0",
            defer(1),
            asked(2, "roots/list"),
        ));
    }
}

#[test]
fn request_timeout_starts_at_the_next_poll() {
    // In the second case, the caller did not poll for 40 ms before the request.
    session().check(&format!("* ask roots ms 50\n{}* deadline 50", asked(1, "roots/list")));
    session().check(&format!(
        "* late 40 ask roots ms 50\n{}* deadline 90\n* time 89\n* time 90\n! answered 0 TimedOut\n{}",
        asked(1, "roots/list"),
        cancelled(1, ""),
    ));
}

#[test]
fn application_can_cancel_its_request() {
    session().check(&format!(
        "* ask form\n{}* cancel 0 too \"late\"\n{}* cancel 0 again\n! not now Gone\n\
         > {{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{\"action\":\"accept\"}}}}\n* deadline none\n* ask roots\n{}",
        asked(1, "elicitation/create"),
        cancelled(1, "too \\\"late\\\""),
        asked(5, "roots/list"),
    ));
    // The slot is free at once.
    session().tx(4096).max_reply_size(1024).slots(1, 64).check(&format!(
        "* ask roots\n{}* ask-instead ping\n{}{}",
        asked(1, "roots/list"),
        cancelled(1, ""),
        asked(2, "ping"),
    ));
    // A deferred request is not a request to the client, so `cancel` fails. `reply` fails for a request to the client.
    session().check(&format!("{}* cancel-deferred 0\n! not now Gone\n* deferred 1", defer(1)));
    session().check(&format!("* ask ping\n{}* reply-asked 0\n! not now Gone", asked(1, "ping")));
    // The server stores the reason with the waiting cancellation if the reason fits.
    for (reason, kept) in [("why", "why"), (&*"x".repeat(65), "")] {
        session().tx(1024).check(&format!(
            "{}* ask roots\n{}* block\n* answer 0 done\n* cancel 0 {reason}\n* unblock\n< result 1 {DONE}\n{}",
            defer(1),
            asked(2, "roots/list"),
            cancelled(2, kept),
        ));
    }
}

#[test]
fn unreadable_response_ends_its_request() {
    let long = "x".repeat(400);
    let deep = "[".repeat(140) + &"]".repeat(140);
    for (answer, lost) in [
        (r#"{"jsonrpc":"2.0","id":1,"result":[]}"#.into(), "Invalid"),
        (r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#.into(), "Invalid"),
        (r#"{"jsonrpc":"2.0","id":1,"error":7}"#.into(), "Invalid"),
        (format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"x":"{long}"}}}}"#), "TooLong"),
        (format!(r#"{{"jsonrpc":"2.0","result":{{"x":"{long}"}},"id":"1"}}"#), "TooLong"),
        (format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"x":{deep}}}}}"#), "Invalid"),
    ] {
        session().rx(&[350]).check(&format!(
            "* ask roots\n{}> {answer}\n! answered 0 {lost}\n> {answer}\n{}> call 7 ping\n< result 7",
            asked(1, "roots/list"),
            // The client repeats the response. The server reports an error only if it cannot read the line.
            if lost == "TooLong" {
                "! fault LineTooLong\n"
            } else if answer.contains("[[") {
                "! fault TooDeep\n"
            } else {
                ""
            },
        ));
    }
    // A response with neither a result nor an error. The repeated message matches no request in flight, so it is an
    // invalid request.
    for id in ["1", "\"1\""] {
        let answer = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id}}}");
        session().check(&format!(
            "* ask roots\n{}> {answer}\n! answered 0 Invalid\n> {answer}\n< error {id} -32600 …\n! fault InvalidMethod",
            asked(1, "roots/list"),
        ));
    }
}

#[test]
fn response_without_an_outcome_waits_like_a_request() {
    session().check(&format!(
        "* ask roots\n{}{}* block\n* answer 0 done\n\
         > {{\"jsonrpc\":\"2.0\",\"id\":1}}\n* unblock\n< result 9 {DONE}\n! answered 0 Invalid\n",
        asked(1, "roots/list"),
        defer(9),
    ));
}

#[test]
fn response_without_a_request_is_a_protocol_error() {
    let answer = |id: &str| format!("> {{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}\n");
    let mut dialogue =
        format!("{}! fault UnknownResponse\n* ask roots\n{}", answer("1"), asked(1, "roots/list"));
    for id in ["0", "2", "5", "-1", "18446744073709551616", "\"+1\"", "\"x\"", "\"ping-1\"", "1000000"] {
        dialogue += &answer(id);
        dialogue += "! fault UnknownResponse\n";
    }
    dialogue += "> {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{},\"error\":{}}\n! fault MalformedResponse\n";
    // Without the id of a request in flight, a message without a method is an invalid request.
    for line in [r#""id":2"#, r#""id":1,"method":7"#] {
        let id = &line[5..6];
        dialogue +=
            &format!("> {{\"jsonrpc\":\"2.0\",{line}}}\n< error {id} -32600 …\n! fault InvalidMethod\n");
    }
    dialogue += &defer(9);
    dialogue += &answer("2");
    dialogue += "! fault UnknownResponse\n";
    dialogue += &answer("1");
    session().check(&format!("{dialogue}! answered 0 {{}}\n{}", answer("1")));
}

#[test]
fn server_requests_end_with_the_connection() {
    let two =
        format!("* ask roots\n{}* ask form\n{}", asked(1, "roots/list"), asked(2, "elicitation/create"));
    let ends = "! answered 0 Closed\n! answered 1 Closed\n";
    session().check(&format!("{two}* eof\n{ends}! closed"));
    session().check(&format!("{two}* shutdown\n{ends}! closed"));
    session().check(&format!("{two}* broken\n{ends}! closed\n* cancel 0 x\n! not now Gone"));
    // The server still processes a response that precedes the end of the input. Deferred requests keep their grace
    // period.
    session().check(&format!(
        "{two}{}* send {{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{}}}}\n* eof\n! answered 0 {{}}\n! answered 1 Closed\n\
         * state Draining\n* ask ping\n! not now NotConnected\n* answer 0 done\n< result 1 {DONE}\n! closed",
        defer(1)
    ));
    session().check(&format!(
        "{two}{}* shutdown\n{ends}* state Draining\n\
         > {{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{}}}}\n* time 2000\n! expired 0\n< error 1 -32603 …\n! closed",
        defer(1)
    ));
    // The application may choose a longer or shorter time than the grace period.
    for time in [10, 10_000] {
        session().check(&format!(
            "{two}{}* shutdown {time}\n{ends}* state Draining\n* deadline {time}\n\
             * time {time}\n! expired 0\n< error 1 -32603 …\n! closed",
            defer(1)
        ));
    }
    // A new client cannot respond to requests that the server sent to the old client.
    let hello = crate::support::server::hello("2025-11-25");
    with(CONFIG.second_initialize(SecondInitialize::Restart)).check(&format!(
        "{two}{}> call 2 initialize {hello}\n< result 2 …\n! restarted\n! connected 2025-11-25 c {{}}\n{ends}\
         * deferred 0\n> {{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{}}}}\n\
         > note notifications/initialized\n! ready\n* ask ping\n< {{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"ping\"}}",
        defer(1)
    ));
    // After a reset, no event belongs to the old connection.
    session().check(&format!("{two}* reset\n* time 100000\n* state Waiting\n* deferred 0"));
    // A cancellation that waits for space is sent before the restart.
    with(CONFIG.second_initialize(SecondInitialize::Restart)).tx(1024).check(&format!(
        "{two}{}* block\n* answer 0 done\n* cancel 0 x\n> call 2 initialize {hello}\n* unblock\n< result 1 {DONE}\n{}\
         < result 2 …\n! restarted\n! connected 2025-11-25 c {{}}\n! answered 1 Closed",
        defer(1),
        cancelled(1, "x"),
    ));
}

#[test]
fn progress_is_reported_for_requests_that_asked() {
    let progress = |token: &str, more: &str| {
        format!("> note notifications/progress {{\"progressToken\":{token},\"progress\":{more}}}\n")
    };
    session().check(&format!(
        "* ask model progress\n< …\"_meta\":{{\"progressToken\":1}}…\n* ask roots\n{}\
         {}! progress 0 0.5 Some(1) half\n{}! progress 0 1 None \n{}! fault UnknownProgress\n{}! fault UnknownProgress\n\
         {}! fault InvalidParams\n> note notifications/progress\n! fault InvalidParams\n\
         > {{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{}}}}\n! answered 0 {{}}\n{}* deadline 60000",
        asked(2, "roots/list"),
        progress("1", "0.5,\"total\":1,\"message\":\"half\""),
        progress("\"1\"", "1"),
        progress("2", "1"),
        progress("\"x\"", "1"),
        progress("1", "\"x\""),
        progress("1", "2"),
    ));
}

#[test]
fn roots_change_is_reported_if_declared() {
    let note = "> note notifications/roots/list_changed\n";
    let ask = format!("* ask ping\n{}", asked(1, "ping"));
    session().check(&format!("{ask}{note}! roots changed\n{note}! roots changed\n> call 1 ping\n< result 1"));
    // A server that never sent a request emits no `RootsChanged` event.
    session().check(&format!("{note}! fault UnknownNotification"));
    for capabilities in ["{}", r#"{"roots":{}}"#, r#"{"roots":{"listChanged":false}}"#] {
        Setup::new(CONFIG)
            .session_with(Revision::V2025_11_25, capabilities)
            .check(&format!("{ask}{note}! fault UnknownNotification"));
    }
    Setup::new(CONFIG).check(&format!("{note}! fault UnknownNotification"));
}

#[test]
fn unwritable_server_request_is_not_sent() {
    session().check(&format!(
        "* ask broken\n! not now Invalid\n* ask unbalanced\n! not now Invalid\n* ask large\n! not now Unwritable\n\
         * deferred 0\n* ask roots\n{}",
        asked(13, "roots/list"),
    ));
}

#[test]
fn busy_server_request_leads_to_writable() {
    session().tx(1024).check(&format!(
        "{}* block\n* answer 0 done\n* ask roots\n! not now Busy\n* complete e\n! not now Busy\n* unblock\n\
         < result 1 {DONE}\n! room\n* ask roots during 0\n! not now Gone\n* ask roots\n{}",
        defer(1),
        asked(5, "roots/list"),
    ));
}

#[test]
fn request_id_does_not_depend_on_output_pace() {
    let cancel = "> note notifications/cancelled {\"requestId\":2}\n! cancelled 1\n";
    let notified = "< note notifications/tools/list_changed\n";
    let (late, asks) = ("< error 1 -32603 …\n", format!("* ask roots\n{}", asked(4, "roots/list")));
    let defers = format!(
        "> call 1 tools/call {{\"name\":\"defer\",\"arguments\":{{\"ms\":50}}}}\n! call defer {{\"ms\":50}}\n{}",
        defer(2)
    );
    let setup = session().slots(3, 64);
    setup.check(&format!("{defers}* changed\n{notified}* time 50\n! expired 0\n{late}{cancel}{asks}"));
    setup.check(&format!(
        "{defers}* block\n* changed\n* time 50\n! expired 0\n{cancel}* unblock\n{notified}{late}{asks}"
    ));
}
