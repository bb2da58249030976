//! Order of progress within a request, and after a retry.

use crate::support::server::Setup;
use crate::support::server::tools::CONFIG;
use mcp_proto::{Revision, Revisions};

/// Returns a stateless call of `defer` that requests progress under `token`.
fn call(id: &str, token: &str, more: &str) -> String {
    format!(
        r#"> call {id} tools/call {{"name":"defer","_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{"roots":{{}}}},"progressToken":{token}}}{more}}}
! call defer {{}}
"#
    )
}

/// Returns the same call in a session.
fn session_call(id: &str, token: &str) -> String {
    format!(
        "> call {id} tools/call {{\"name\":\"defer\",\"_meta\":{{\"progressToken\":{token}}}}}\n! call defer {{}}\n"
    )
}

fn session() -> Setup {
    Setup::new(CONFIG).session(Revision::V2025_11_25)
}

fn told(ticket: usize, token: &str, progress: &str) -> String {
    format!(
        "* progress {ticket} {progress}\n\
         < note notifications/progress {{\"progressToken\":{token},\"progress\":{progress}}}\n"
    )
}

fn refused(ticket: usize, progress: &str) -> String {
    format!("* progress {ticket} {progress}\n! not now NotWanted\n")
}

fn gone(ticket: usize) -> String {
    format!("* progress {ticket} 1000\n! not now Gone\n")
}

#[test]
fn progress_starts_again_after_an_input_required_result() {
    let responses = r#","inputResponses":{"k":{"roots":[]}},"requestState":"s""#;
    // The retry has another or the same id, and another or the same token.
    for (id, token) in [("2", "\"t\""), ("1", "\"t\""), ("2", "7"), ("\"1\"", "\"u\"")] {
        let done = format!("* answer 1 done\n< result {id} {{\"resultType\":\"complete\",…\n");
        Setup::new(CONFIG.revisions(Revisions::STATELESS)).check(
            &[
                call("1", "\"t\"", ""),
                told(0, "\"t\"", "5") + &refused(0, "5") + &refused(0, "4.9"),
                "* needs 0 k=roots\n< result 1 {\"resultType\":\"input_required\",…\n".into(),
                gone(0),
                call(id, token, responses),
                gone(0) + &told(1, token, "2") + &refused(1, "2") + &refused(1, "1"),
                told(1, token, "3") + &refused(1, "3.0") + &told(1, token, "3.01") + &gone(0),
                done + &gone(1),
            ]
            .concat(),
        );
    }
}

#[test]
fn progress_starts_again_when_a_request_is_repeated() {
    let cancel = "> note notifications/cancelled {\"requestId\":1}\n! cancelled 0\n";
    let late = "* time 60000\n! expired 0\n< error 1 -32603 …\n";
    let answer = "* answer 0 done\n< result 1 …\n";
    for end in [cancel, late, answer] {
        // The server has only one slot, so the second request uses the slot of the first.
        session().slots(1, 64).check(
            &[
                session_call("1", "\"t\"") + &told(0, "\"t\"", "90") + &refused(0, "90") + end + &gone(0),
                session_call("1", "\"t\"") + &told(1, "\"t\"", "1") + &refused(1, "1") + &gone(0),
                told(1, "\"t\"", "2") + &refused(1, "1.5"),
            ]
            .concat(),
        );
    }
}

#[test]
fn each_request_has_its_own_progress() {
    // Two requests may also share a token, although a client should not do so.
    for (one, two) in [("1", "2"), ("\"t\"", "\"t\"")] {
        session().check(
            &[
                session_call("1", one) + &session_call("2", two),
                told(0, one, "5") + &told(1, two, "1") + &refused(0, "3") + &refused(1, "1"),
                told(1, two, "2") + &refused(0, "5") + &told(0, one, "5.5") + &refused(1, "2"),
                "* answer 0 done\n< result 1 …\n".into(),
                refused(1, "2") + &told(1, two, "2.5") + &gone(0),
            ]
            .concat(),
        );
    }
}

#[test]
fn progress_is_compared_as_a_number() {
    let rising = ["-10", "-9.5", "0", "0.09", "0.1", "0.9", "1", "9", "10", "99.99", "100", "101"];
    let mut dialogue = session_call("1", "7");
    for (nth, progress) in rising.into_iter().enumerate() {
        dialogue += &told(0, "7", progress);
        for lower in &rising[..=nth] {
            dialogue += &refused(0, lower);
        }
    }
    for equal in ["101.0", "101.00", "1.01e2", "1010e-1"] {
        dialogue += &refused(0, equal);
    }
    session().check(&dialogue);
}

#[test]
fn progress_that_was_not_written_can_be_reported_again() {
    let call = session_call("1", "7");
    let large = "x".repeat(2000);
    session().tx(1024).check(
        &[
            call.clone() + &told(0, "7", "1"),
            format!("* progress 0 2 {large}\n! not now Unwritable\n"),
            told(0, "7", "1.5") + &told(0, "7", "2") + &refused(0, "2"),
        ]
        .concat(),
    );
    session().tx(1024).check(
        &[
            call + "* block\n* changed\n* progress 0 2\n! not now Busy\n* unblock\n",
            "< note notifications/tools/list_changed\n! room\n".into(),
            told(0, "7", "1.5") + &told(0, "7", "2"),
        ]
        .concat(),
    );
}

#[test]
fn deferred_call_continues_from_earlier_progress() {
    // The tool reports progress 1 before it defers the call.
    let params = r#"{"name":"defer","arguments":{"progress":1},"_meta":{"progressToken":7}}"#;
    session().check(
        &[
            format!("> call 1 tools/call {params}\n! call defer {{\"progress\":1}}\n"),
            "< note notifications/progress {\"progressToken\":7,\"progress\":1}\n".into(),
            refused(0, "0.5") + &refused(0, "1") + &told(0, "7", "1.1"),
        ]
        .concat(),
    );
}
