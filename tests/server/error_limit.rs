//! The limit of consecutive errors without an id. A valid message resets the count.

use super::batches::{self, gets, ping, pong, sends};
use crate::support::server::tools::CONFIG;
use crate::support::server::{Setup, hello};
use mcp_proto::Revision;
use mcp_proto::server::{Limits, SecondInitialize};

fn session() -> Setup {
    Setup::new(CONFIG).session(Revision::V2025_11_25)
}

/// Returns `count` lines that are not JSON, each with its error. `id` is the id in the error.
fn errors(count: usize, id: &str) -> String {
    format!("> nonsense\n< error {id} -32700 …\n! fault NotJson\n").repeat(count)
}

/// One more bad line, without an error.
const MUTED: &str = "> nonsense\n! fault Muted\n";

#[test]
fn valid_message_between_errors_restarts_the_count() {
    let messages = [
        "> call 1 ping\n< result 1\n",
        "> call 1 no/such\n< error 1 -32601 …\n! fault UnknownMethod\n",
        "> call 1 ping 7\n< error 1 -32602 …\n! fault InvalidParams\n",
        "> call 1 tools/call {\"name\":\"echo\"}\n! call echo {}\n< result 1 …\n",
        "> call 1 tools/call {\"name\":\"drop\"}\n! call drop {}\n< error 1 -32603 …\n! fault Unanswered\n",
        "> note notifications/unheard-of\n! fault UnknownNotification\n",
        "> note notifications/cancelled {\"requestId\":7}\n",
        "> {\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{}}\n! fault UnknownResponse\n",
        "> {\"jsonrpc\":\"2.0\",\"id\":9,\"error\":{\"code\":1,\"message\":\"\"}}\n! fault UnknownResponse\n",
        "> {\"jsonrpc\":\"2.0\",\"id\":9,\"error\":7}\n! fault MalformedResponse\n",
    ];
    let (seven, eight) = (errors(7, "-"), errors(8, "-"));
    for message in messages {
        session().check(&format!("{seven}{message}{seven}{message}{eight}{MUTED}{message}{eight}{MUTED}"));
    }
}

#[test]
fn only_errors_without_an_id_count() {
    let deep = "[".repeat(140) + &"]".repeat(140);
    let long = "9".repeat(65);
    let with_id = format!(
        "> {{\"id\":1,\"method\":\"ping\"}}\n< error 1 -32600 …\n! fault WrongJsonRpcVersion\n\
         > {{\"jsonrpc\":\"2.0\",\"id\":2}}\n< error 2 -32600 …\n! fault InvalidMethod\n\
         > {{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\",\"params\":{deep}}}\n< error 3 -32600 …\n! fault TooDeep\n\
         > {{\"jsonrpc\":\"2.0\",\"result\":{{}}}}\n! fault InvalidId\n\
         > {{\"jsonrpc\":\"2.0\",\"error\":{{\"code\":1,\"message\":\"\"}}}}\n! fault ErrorWithoutId\n"
    );
    let without_id = [
        ("nonsense", "-32700", "NotJson"),
        ("7", "-32600", "NotAnObject"),
        ("{}", "-32600", "WrongJsonRpcVersion"),
        ("[]", "-32600", "Batch"),
        ("{\"jsonrpc\":\"2.0\",\"method\":7}", "-32600", "InvalidMethod"),
        ("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", "-32600", "InvalidId"),
        (&deep, "-32600", "TooDeep"),
        (&format!("{{\"jsonrpc\":\"2.0\",\"id\":{long},\"method\":\"ping\"}}"), "-32600", "IdTooLong"),
    ];
    assert_eq!(without_id.len(), 8);
    let mut dialogue = String::new();
    for (line, code, fault) in without_id {
        dialogue += &format!("> {line}\n< error - {code} …\n! fault {fault}\n{with_id}");
    }
    for (line, ..) in without_id {
        dialogue += &format!("> {line}\n! fault Muted\n");
    }
    session().check(&format!("{dialogue}{with_id}{MUTED}> call 4 ping\n< result 4\n{}", errors(8, "-")));
}

#[test]
fn application_sets_the_error_limit() {
    for limit in [0, 1, 2, 12, u8::MAX] {
        let info = CONFIG.limits(Limits::DEFAULT.with_invalid_in_a_row(limit));
        let setup = Setup::new(info).session(Revision::V2025_11_25).rx(&[200]);
        let told = errors(limit.into(), "-");
        setup.check(&format!("{told}{}> call 1 ping\n< result 1\n{told}{MUTED}", MUTED.repeat(3)));
    }
}

#[test]
fn refused_batches_count_and_a_batch_restarts_the_count() {
    let setup = Setup::new(batches::CONFIG).tx(1024).batch_buffer(4096).session(Revision::V2025_03_26);
    let many = vec!["{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"; 20];
    let refused = |line: &str, fault: &str| format!("{line}< error null -32600 …\n! fault {fault}\n");
    let muted = |line: &str| format!("{line}! fault Muted\n");
    let (empty, large) = ("> []\n", &sends(&many));
    let four = refused(empty, "EmptyBatch").repeat(4) + &refused(large, "BatchTooLarge").repeat(4);
    let silent = muted(empty) + &muted(large) + MUTED;
    let valid = sends(&[&ping("1"), &ping("2")]) + &gets(&[&pong("1"), &pong("2")]);
    let eight = errors(8, "null");
    setup.check(&format!("{four}{silent}{valid}{eight}{silent}{valid}{four}{silent}"));
    // A batch with only a notification is also valid.
    let note = sends(&["{\"jsonrpc\":\"2.0\",\"method\":\"x\"}"]) + "! fault UnknownNotification\n";
    setup.check(&format!("{eight}{silent}{note}{eight}{silent}"));
    // Invalid members of a batch do not count. Their batch resets the count.
    let object = "{\"jsonrpc\":\"2.0\",\"id\":null,…}";
    let odd = sends(&["1", "2", "3"]) + &"! fault NotAnObject\n".repeat(3) + &gets(&[object, object, object]);
    setup.check(&format!("{}{odd}{}{silent}", errors(7, "null"), errors(8, "null")));
}

#[test]
fn restarting_client_has_the_whole_error_limit() {
    let restart = format!(
        "> call 1 initialize {}\n< result 1 …\n! restarted\n! connected 2025-11-25 c {{}}\n",
        hello("2025-11-25")
    );
    let setup =
        Setup::new(CONFIG.second_initialize(SecondInitialize::Restart)).session(Revision::V2025_11_25);
    for before in [5, 8] {
        let muted = if before == 8 { MUTED } else { "" };
        let ready = "> note notifications/initialized\n! ready\n";
        let after = format!("{restart}{}{MUTED}{MUTED}{ready}", errors(8, "-"));
        setup.check(&format!("{}{muted}{after}{after}", errors(before, "-")));
    }
    // A refused request is still a valid message.
    let refused = format!(
        "> call 1 initialize {}\n< error 1 -32600 …\n! fault AlreadyInitialized\n",
        hello("2025-11-25")
    );
    session().check(&format!("{}{refused}{}{MUTED}", errors(5, "-"), errors(8, "-")));
}
