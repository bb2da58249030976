//! Requests of the server: starts of timeouts, matching ids, and counts.

use crate::support::server::Setup;
use crate::support::server::tools::CONFIG;
use mcp_proto::Revision;

const ALL: &str = r#"{"roots":{},"sampling":{},"elicitation":{}}"#;

fn session() -> Setup {
    Setup::new(CONFIG).session_with(Revision::V2025_11_25, ALL)
}

fn sent(id: &str, method: &str) -> String {
    format!("< {{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\"…}}\n")
}

fn cancelled(id: &str, reason: &str) -> String {
    let reason = if reason.is_empty() { String::new() } else { format!(",\"reason\":\"{reason}\"") };
    format!("< note notifications/cancelled {{\"requestId\":{id}{reason}}}\n")
}

fn response(id: &str) -> String {
    format!("> {{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}\n")
}

const DEFER: &str = "> call \"d\" tools/call {\"name\":\"defer\"}\n! call defer {}\n";

const DONE: &str = "< result \"d\" {\"content\":[{\"type\":\"text\",\"text\":\"done\"}]}\n";

#[test]
fn request_timeout_starts_once() {
    // Later polls for other reasons do not restart the timeout.
    session().check(&format!(
        "* ask roots ms 50\n{}* deadline 50\n* time 10\n* deadline 50\n* time 20\n> call 1 ping\n< result 1\n* deadline 50\n\
         * late 30 changed\n< note notifications/tools/list_changed\n* deadline 50\n* late 40 send \n* deadline 50\n\
         > note notifications/progress {{\"progressToken\":1,\"progress\":1}}\n! fault UnknownProgress\n* deadline 50\n\
         * time 49\n* deferred 0\n* time 50\n! answered 0 TimedOut\n{}* deadline none\n",
        sent("1", "roots/list"),
        cancelled("1", ""),
    ));
    // A clock that runs backwards does not restart the timeout either. The server's time never decreases.
    session().check(&format!(
        "* time 100\n* ask roots ms 50\n{}* deadline 150\n* time 120\n* time 20\n* deadline 150\n* ask ping ms 20\n{}\
         * deadline 140\n* time 139\n* time 140\n! answered 1 TimedOut\n{}* time 149\n* time 150\n\
         ! answered 0 TimedOut\n{}",
        sent("1", "roots/list"),
        sent("2", "ping"),
        cancelled("2", ""),
        cancelled("1", ""),
    ));
    // Each timeout has its own start, and the first request does not time out first.
    session().check(&format!(
        "* ask roots ms 90\n{}* late 10 ask ping ms 50\n{}* deadline 60\n* late 30 ask form ms 20\n{}* deadline 50\n\
         * time 50\n! answered 2 TimedOut\n{}* deadline 60\n* time 60\n! answered 1 TimedOut\n{}* deadline 90\n* time 90\n\
         ! answered 0 TimedOut\n{}* deadline none\n",
        sent("1", "roots/list"),
        sent("2", "ping"),
        sent("3", "elicitation/create"),
        cancelled("3", ""),
        cancelled("2", ""),
        cancelled("1", ""),
    ));
    // Progress does not extend the timeout.
    session().check(&format!(
        "* ask ping progress ms 50\n{}* time 40\n> note notifications/progress {{\"progressToken\":1,\"progress\":1}}\n\
         ! progress 0 1 None \n* deadline 50\n* time 50\n! answered 0 TimedOut\n{}",
        sent("1", "ping"),
        cancelled("1", ""),
    ));
}

/// Valid ids that do not match the server request with id 1.
const OTHER_IDS: [&str; 17] = [
    "0",
    "-1",
    "-0",
    "\"01\"",
    "\"+1\"",
    "\"-1\"",
    "\" 1\"",
    "\"1 \"",
    "\"1.0\"",
    "\"1e0\"",
    "\"0x1\"",
    "\"\"",
    // The low 32 bits of this id are 1.
    "17179869185",
    "\"17179869185\"",
    // 2^64 + 1 and 2^128 + 1.
    "18446744073709551617",
    "\"18446744073709551617\"",
    "340282366920938463463374607431768211457",
];

#[test]
fn only_its_own_id_ends_a_request() {
    let ask = format!("* ask ping\n{}", sent("1", "ping"));
    let mut dialogue = ask.clone();
    for id in OTHER_IDS {
        dialogue += &format!("{}! fault UnknownResponse\n", response(id));
    }
    // These values are not valid ids.
    for id in ["1.0", "1e0", "10e-1", "null", "[1]", "{}", "true"] {
        dialogue += &format!("{}! fault InvalidId\n", response(id));
    }
    // These values are not JSON. A line that resembles a response gets no error.
    for id in ["+1", "01", "1.", "0x1"] {
        dialogue += &format!("> {{\"jsonrpc\":\"2.0\",\"result\":{{}},\"id\":{id}}}\n! fault NotJson\n");
    }
    session().check(&format!("{dialogue}{}! answered 0 {{}}\n", response("1")));
    // Some clients write the digits as a string.
    session().check(&format!("{ask}{}! answered 0 {{}}\n{}", response("\"1\""), response("1")));
}

#[test]
fn only_its_own_token_is_progress_of_a_request() {
    let progress =
        |token: &str| format!("> note notifications/progress {{\"progressToken\":{token},\"progress\":1}}\n");
    let mut dialogue = format!("* ask ping progress\n{}", sent("1", "ping"));
    for token in OTHER_IDS.into_iter().chain(["1.0", "1e0", "null", "[1]"]) {
        dialogue += &format!("{}! fault UnknownProgress\n", progress(token));
    }
    session().check(&format!("{dialogue}{}! progress 0 1 None \n", progress("1")));
}

#[test]
fn requests_of_the_server_are_not_counted_as_deferred() {
    // A client request occupies one of two slots.
    let setup = || session().slots(2, 64).tx(1024);
    let ask = |id: &str| {
        format!("* ask ping ms 50\n{}* deferred 1\n* ask ping\n! not now Full\n", sent(id, "ping"))
    };
    let open = |id: &str| format!("{DEFER}* deferred 1\n{}", ask(id));
    let free = |id: &str| format!("* deferred 1\n{}", ask(id));
    // Ends of a request: result, error, malformed response, timeout, cancellation.
    let ends = [
        format!("{}! answered 0 {{}}\n", response("2")),
        "> {\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":1,\"message\":\"m\"}}\n! answered 0 error m (1)\n".into(),
        "> {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":7}\n! answered 0 Invalid\n".into(),
        format!("* time 50\n! answered 0 TimedOut\n{}", cancelled("2", "")),
        format!("* cancel 0 x\n{}", cancelled("2", "x")),
    ];
    for end in ends {
        setup().check(&format!(
            "{}{end}{}* answer 0 done\n{DONE}* deferred 0\n{DEFER}* deferred 1\n",
            open("2"),
            free("4"),
        ));
    }
    // A cancellation that waits for space occupies the slot, but does not count as a request.
    let late = format!("{}* deferred 1\n", response("2"));
    for (end, why) in [("* time 50\n! answered 0 TimedOut\n", ""), ("* cancel 0 x\n", "x")] {
        for answer in ["", &late] {
            let told = if answer.is_empty() { cancelled("2", why) } else { String::new() };
            setup().check(&format!(
                "{}* block\n* changed\n{end}* deferred 1\n{answer}* unblock\n\
                 < note notifications/tools/list_changed\n{told}{}* answer 0 done\n{DONE}* deferred 0\n",
                open("2"),
                free("4"),
            ));
        }
    }
    // The request fails with the connection.
    setup().check(&format!(
        "{}* shutdown\n! answered 0 Closed\n* deferred 1\n* answer 0 done\n{DONE}! closed\n* deferred 0\n",
        open("2")
    ));
    setup().check(&format!("{}* broken\n! answered 0 Closed\n! closed\n* deferred 0\n", open("2")));
}

#[test]
fn counts_are_exact_after_many_server_requests() {
    let setup = session().slots(2, 64).tx(1024);
    let mut dialogue = String::new();
    for turn in 0..6 {
        // Each turn takes the first slot twice, and the second slot once.
        let [answered, dropped, late] = [4 * turn + 1, 2 * turn + 2, 4 * turn + 3].map(|id| id.to_string());
        let ticket = 3 * turn;
        dialogue += &[
            &format!("* ask ping\n{}* ask ping\n{}", sent(&answered, "ping"), sent(&dropped, "ping")),
            &format!("* deferred 0\n{}! answered {ticket} {{}}\n", response(&answered)),
            &format!("* cancel {} x\n{}* deferred 0\n", ticket + 1, cancelled(&dropped, "x")),
            &format!("* ask roots\n{}* block\n* changed\n", sent(&late, "roots/list")),
            &format!("* cancel {} x\n{}* unblock\n", ticket + 2, response(&late)),
            "< note notifications/tools/list_changed\n* deferred 0\n",
        ]
        .concat();
    }
    let defer = |id: u32| format!("> call {id} tools/call {{\"name\":\"defer\"}}\n! call defer {{}}\n");
    setup.check(&format!("{dialogue}{}{}* deferred 2\n* ask ping\n! not now Full\n", defer(1), defer(2)));
}
