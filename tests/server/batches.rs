//! Batches of 2025-03-26: several messages in one line.

use crate::support::server::Setup;
use crate::support::server::tools::TOOLS;
use mcp_proto::server::{Feature, Limits, Logging, SecondInitialize, ServerConfig, Subscriptions};
use mcp_proto::{Revision, Revisions};

static FEATURES: [&dyn Feature; 3] = [&TOOLS, &Logging, &Subscriptions];

pub(crate) const CONFIG: ServerConfig<'static> = ServerConfig::new("s", "1").features(&FEATURES);

pub(crate) fn session() -> Setup {
    Setup::new(CONFIG).batch_buffer(4096).session(Revision::V2025_03_26)
}

pub(crate) fn call(id: &str, method: &str, params: &str) -> String {
    let params = if params.is_empty() { String::new() } else { format!(",\"params\":{params}") };
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\"{params}}}")
}

pub(crate) fn tool(id: &str, name: &str) -> String {
    call(id, "tools/call", &format!("{{\"name\":\"{name}\"}}"))
}

pub(crate) fn ping(id: &str) -> String {
    call(id, "ping", "")
}

pub(crate) fn cancel(id: &str) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{{\"requestId\":{id}}}}}"
    )
}

pub(crate) fn pong(id: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}")
}

pub(crate) fn text(id: &str, text: &str) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}}}"
    )
}

pub(crate) fn error(id: &str, code: i32, message: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":{code},\"message\":\"{message}\"}}}}")
}

pub(crate) fn sends(members: &[&str]) -> String {
    format!("> [{}]\n", members.join(","))
}

pub(crate) fn gets(members: &[&str]) -> String {
    format!("< [{}]\n", members.join(","))
}

pub(crate) const PING: &str = "> call 90 ping\n< result 90\n";

#[test]
fn batch_responses_are_one_line() {
    session().check(&format!(
        "{}! call echo {{}}\n! fault UnknownMethod\n! call fail {{}}\n{}{PING}",
        sends(&[&ping("1"), &tool("\"a\"", "echo"), &call("2", "no", ""), &tool("3", "fail"), &ping("1")]),
        gets(&[
            &pong("1"),
            &text("\"a\"", "{}"),
            &error("2", -32601, "Method not found: no"),
            "{\"jsonrpc\":\"2.0\",\"id\":3,…}",
            &pong("1")
        ])
    ));
}

#[test]
fn invalid_response_in_a_batch_affects_nothing_else() {
    for (answer, end) in [
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", "{}"),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":7}", "Invalid"),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{},\"error\":{}}", "Invalid"),
    ] {
        session().check(&format!(
            "* ask ping\n< {{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}}\n{}! answered 0 {end}\n! call echo {{}}\n{}{PING}",
            sends(&[&ping("1"), answer, &tool("2", "echo"), &ping("3")]),
            gets(&[&pong("1"), &text("2", "{}"), &pong("3")]),
        ));
    }
}

#[test]
fn batch_member_is_handled_like_a_line() {
    // A single member with white space around it.
    session().check(&format!(
        ">  [ {} ]\n! call echo {{\"a\": \"]\"}}\n{}",
        call("1", "tools/call", "{\"name\":\"echo\",\"arguments\":{\"a\": \"]\"}}"),
        gets(&[&text("1", "{\\\"a\\\": \\\"]\\\"}")])
    ));
    // The server decodes escapes in place, without effect on the following members.
    session().check(&format!(
        "{}! call typed {{\"text\":\"\\u00e9]\\\"\",\"count\":1}}\n! call echo {{}}\n< [{},{}]\n",
        sends(&[
            &call(
                "1",
                "tools/call",
                "{\"name\":\"t\\u0079ped\",\"arguments\":{\"text\":\"\\u00e9]\\\"\",\"count\":1}}"
            ),
            &tool("2", "ech\\u006f")
        ]),
        text("1", "é]\\\" 1"),
        text("2", "{}"),
    ));
}

#[test]
fn batches_need_revision_2025_03_26_and_a_batch_buffer() {
    let refused = |id: &str| {
        format!(
            "< {{\"jsonrpc\":\"2.0\",{id}\"error\":{{\"code\":-32600,\"message\":\"Invalid request: batches are not \
             supported\"}}}}\n! fault Batch\n{PING}"
        )
    };
    let batch = sends(&[&ping("1"), &ping("2")]);
    for (revision, id) in [
        (Revision::V2024_11_05, "\"id\":null,"),
        (Revision::V2025_06_18, "\"id\":null,"),
        (Revision::V2025_11_25, ""),
    ] {
        Setup::new(CONFIG).batch_buffer(4096).session(revision).check(&format!("{batch}{}", refused(id)));
    }
    let null = "\"id\":null,";
    // The server has no batch buffer, or no session.
    Setup::new(CONFIG).session(Revision::V2025_03_26).check(&format!("{batch}{}", refused(null)));
    Setup::new(CONFIG).batch_buffer(4096).check(&format!("{batch}{}", refused(null)));
}

#[test]
fn empty_batch_is_invalid_and_batch_without_requests_silent() {
    let empty = error("null", -32600, "Invalid request: the batch is empty");
    session().check(&format!("> []\n< {empty}\n! fault EmptyBatch\n> [ ]\n< {empty}\n! fault EmptyBatch\n"));
    let silent = sends(&[
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}",
        "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-1,\"message\":\"m\"}}",
        &cancel("8"),
    ]);
    let faults = ["UnknownNotification", "UnknownResponse", "ErrorWithoutId"];
    let faults: String = faults.iter().map(|fault| format!("! fault {fault}\n")).collect();
    session().check(&format!("{silent}{faults}{PING}"));
}

#[test]
fn invalid_batch_member_gets_its_error_in_the_array() {
    let null = |message: &str| error("null", -32600, &format!("Invalid request: {message}"));
    let object = null("the message is not a JSON object");
    let members = [
        "1",
        "[]",
        "[[1]]",
        "{}",
        "null",
        &ping("1"),
        "{\"id\":7}",
        "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"m\"}",
    ];
    let faults = [
        "NotAnObject",
        "NotAnObject",
        "NotAnObject",
        "WrongJsonRpcVersion",
        "NotAnObject",
        "WrongJsonRpcVersion",
        "InvalidId",
    ];
    let faults: String = faults.iter().map(|fault| format!("! fault {fault}\n")).collect();
    let version = "Invalid request: `jsonrpc` must be \\\"2.0\\\"";
    session().check(&format!(
        "{}{faults}{}",
        sends(&members),
        gets(&[
            &object,
            &object,
            &object,
            &error("null", -32600, version),
            &object,
            &pong("1"),
            &error("7", -32600, version),
            &null("`id` must be a string or an integer"),
        ])
    ));
    // Each member gets an error, because the limit of consecutive errors does not apply within a batch.
    let many = vec!["1"; 12];
    session().check(&format!(
        "{}{}{}",
        sends(&many),
        "! fault NotAnObject\n".repeat(12),
        gets(&[object.as_str(); 12])
    ));
    let long = format!("\"{}\"", "x".repeat(64));
    session().check(&format!(
        "{}! fault IdTooLong\n{}",
        sends(&[&ping(&long), &ping("2")]),
        gets(&[&null("`id` is too long"), &pong("2")])
    ));
}

#[test]
fn initialize_in_a_batch_is_refused() {
    let hello = crate::support::server::hello("2025-03-26");
    let refused = error("1", -32600, "Invalid request: the session is already initialized");
    for info in [CONFIG, CONFIG.second_initialize(SecondInitialize::Restart)] {
        Setup::new(info).batch_buffer(4096).session(Revision::V2025_03_26).check(&format!(
            "{}! fault AlreadyInitialized\n{}",
            sends(&[&call("1", "initialize", &hello), &ping("2")]),
            gets(&[&refused, &pong("2")])
        ));
    }
    let meta = "{\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\",\
                \"io.modelcontextprotocol/clientCapabilities\":{}},\"notifications\":{}}";
    session().check(&format!(
        "{}! fault Batch\n{}* deferred 0\n",
        sends(&[&call("1", "subscriptions/listen", meta), &ping("2")]),
        gets(&[&error("1", -32600, "Invalid request: batches are not supported"), &pong("2")])
    ));
}

#[test]
fn metadata_of_the_stateless_era_is_ignored_by_a_server_without_it() {
    let meta = r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#;
    let ping = call("1", "ping", meta);
    Setup::new(CONFIG.revisions(Revisions::HANDSHAKE))
        .batch_buffer(4096)
        .session(Revision::V2025_03_26)
        .check(&format!("> {ping}\n< {}\n{}{}", pong("1"), sends(&[&ping]), gets(&[&pong("1")])));
}

#[test]
fn batch_space_is_reserved_before_any_member_runs() {
    // With ids of at most 20 bytes, the server reserves `SMALL` bytes for each response.
    let setup = |tx: usize, room: usize| {
        let info = CONFIG.limits(Limits::DEFAULT.with_id(20));
        Setup::new(info).tx(tx).slots(4, 64).batch_buffer(room).session(Revision::V2025_03_26)
    };
    let names: Vec<String> = (0..40).map(|id| tool(&id.to_string(), "echo")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let calls = |count: usize| sends(&names[..count]);
    let answers = |count: usize| {
        let answers: Vec<String> = (0..count).map(|id| text(&id.to_string(), "{}")).collect();
        let answers: Vec<&str> = answers.iter().map(String::as_str).collect();
        format!("{}{}", "! call echo {}\n".repeat(count), gets(&answers))
    };
    for (tx, room) in [(1024, 4096), (4096, 1024)] {
        let most = if tx < room { (tx - 3) / SMALL } else { room / SMALL };
        let error = error(
            "null",
            -32600,
            &format!("Invalid request: the batch has too many requests: at most {most} requests"),
        );
        setup(tx, room).check(&format!("{}{}", calls(most), answers(most)));
        setup(tx, room).check(&format!("{}< {error}\n! fault BatchTooLarge\n{PING}", calls(most + 1)));
    }
    // Notifications and responses need no space.
    let many = vec!["{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}"; 50];
    setup(1024, 4096).check(&format!("{}{}", sends(&many), "! fault UnknownResponse\n".repeat(50)));
}

/// The space that a batch reserves for each response: an error with an id of 20 bytes and a message of 112 bytes, and
/// one byte for the separator.
pub(crate) const SMALL: usize =
    r#"{"jsonrpc":"2.0","id":,"error":{"code":-32700,"message":""}}"#.len() + 20 + 1 + 112;

#[test]
fn batch_response_may_use_unreserved_space() {
    let info = CONFIG.limits(Limits::DEFAULT.with_id(20));
    let frame = text("1", "").len();
    let large = |id: &str, bytes: usize| {
        let arguments = format!("{{\"bytes\":{bytes}}}");
        call(id, "tools/call", &format!("{{\"name\":\"large\",\"arguments\":{arguments}}}"))
    };
    for (tx, buffer) in [(2000, 1997), (2000, 5000), (5000, 1997)] {
        let setup = Setup::new(info).tx(tx).slots(4, 64).batch_buffer(buffer).session(Revision::V2025_03_26);
        // The second response uses all space that the first response left. The line has the maximum length.
        let first = 1997 - SMALL - frame - 1;
        let rest = |first: usize| 1997 - (frame + first) - 1 - frame;
        for (one, two) in [(first, rest(first)), (10, rest(10))] {
            setup.check(&format!(
                "{}! call large {{\"bytes\":{one}}}\n! call large {{\"bytes\":{two}}}\n{}",
                sends(&[&large("1", one), &large("2", two)]),
                gets(&[&text("1", &"x".repeat(one)), &text("2", &"x".repeat(two))]),
            ));
            // If the response has one more byte, an error replaces the response. The error fits.
            let limit = 1997 - (frame + one);
            let too_large = error(
                "2",
                -32603,
                &format!("Internal error: the response is too large (at most {limit} bytes)"),
            );
            setup.check(&format!(
                "{}! call large {{\"bytes\":{one}}}\n! call large {{\"bytes\":{}}}\n! fault ReplyTooLarge\n{}",
                sends(&[&large("1", one), &large("2", two + 1)]),
                two + 1,
                gets(&[&text("1", &"x".repeat(one)), &too_large]),
            ));
        }
    }
}
