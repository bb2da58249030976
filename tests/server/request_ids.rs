//! Ids of requests in flight, and of requests without a response.

use super::batches::{self, error, gets, pong, sends, text, tool};
use crate::support::server::Setup;
use crate::support::server::tools::CONFIG;
use mcp_proto::server::Limits;
use mcp_proto::{Millis, Revision};

fn session() -> Setup {
    Setup::new(CONFIG).session(Revision::V2025_11_25)
}

fn defer(id: &str, ms: u32) -> String {
    format!(
        "> call {id} tools/call {{\"name\":\"defer\",\"arguments\":{{\"ms\":{ms}}}}}\n! call defer {{\"ms\":{ms}}}\n"
    )
}

fn cancel(id: &str) -> String {
    format!("> note notifications/cancelled {{\"requestId\":{id}}}\n")
}

const LATE: &str = "Internal error: the request timed out";

#[test]
fn id_of_a_cancelled_request_can_be_reused() {
    for id in ["1", "\"a\"", "\"\\u0061\"", "-7", "\"\""] {
        let (defer, cancel) = (defer(id, 1000), cancel(id));
        // The client repeats the id more often than the server has slots.
        let again: String = (0..6)
            .map(|n| {
                format!(
                    "{defer}{cancel}! cancelled {n}\n{cancel}* answer {n} x\n! not now Gone\n* deferred 0\n"
                )
            })
            .collect();
        session().check(&format!(
            "{again}{defer}* deadline 1000\n* answer 6 done\n< {}\n{cancel}* deadline none\n\
             > call {id} ping\n< result {id}\n",
            text(id, "done")
        ));
    }
}

#[test]
fn id_of_an_expired_request_can_be_reused() {
    let (one, cancel) = (defer("1", 10), cancel("1"));
    session().check(&format!(
        "{one}* time 10\n! expired 0\n< error 1 -32603 {LATE}\n{cancel}{one}* deadline 20\n{cancel}\
         ! cancelled 1\n{cancel}{one}* answer 0 x\n! not now Gone\n* answer 2 done\n< {}\n* time 100\n",
        text("1", "done")
    ));
    // The error waits for space. The request has ended nevertheless, and its error precedes the next response.
    session().tx(1024).check(&format!(
        "{one}{}* block\n* answer 1 done\n* time 10\n! expired 0\n{cancel}* deferred 1\n\
         > call 1 tools/call {{\"name\":\"defer\"}}\n* unblock\n< {}\n< error 1 -32603 {LATE}\n! call defer {{}}\n\
         * deferred 1\n{cancel}! cancelled 2\n{cancel}* deferred 0\n",
        defer("2", 5000),
        text("2", "done"),
    ));
    // Within a batch the server cannot write the error yet, but the id is free.
    let progress = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"progress","_meta":{"progressToken":5}}}"#;
    let setup = Setup::new(batches::CONFIG.limits(Limits::DEFAULT.with_deferred_timeout(Millis(100))));
    setup.batch_buffer(4096).session(Revision::V2025_03_26).check(&format!(
        "> {}\n! call defer {{}}\n* block\n{}! call progress {{}}\n! not now NotWanted\n* time 100\n! expired 0\n\
         * unblock\n{}! call defer {{}}\n< {}\n* answer 1 again\n{}",
        tool("9", "defer"),
        sends(&[progress, &tool("9", "defer")]),
        "< note notifications/progress …\n".repeat(3),
        error("9", -32603, LATE),
        gets(&[&text("1", "done"), &text("9", "again")]),
    ));
}

#[test]
fn ended_request_leaves_other_ids_known() {
    // With these ids, a chain of the hash index contains several ids.
    let ids = ["1", "2", "\"1\"", "\"b\"", "33", "\"four\"", "5", "6", "7", "8", "9", "10"];
    for victim in 0..ids.len() {
        for expires in [false, true] {
            if expires && victim > 3 {
                continue;
            }
            let mut dialogue = String::new();
            for (nth, id) in ids.iter().enumerate() {
                dialogue += &defer(id, if nth == victim { 10 } else { 5000 });
            }
            dialogue += &if expires {
                format!("* time 10\n! expired {victim}\n< error {} -32603 {LATE}\n", ids[victim])
            } else {
                format!("{}! cancelled {victim}\n", cancel(ids[victim]))
            };
            for (nth, id) in ids.iter().enumerate() {
                dialogue += &if nth == victim {
                    format!("> call {id} ping\n< {}\n{}", pong(id), cancel(id))
                } else {
                    format!("> call {id} ping\n< error {id} -32600 …\n! fault DuplicateId\n")
                };
            }
            // A new request takes the slot, and the server still finds every request.
            dialogue += &defer(ids[victim], 5000);
            for (nth, id) in ids.iter().enumerate() {
                let ticket = if nth == victim { ids.len() } else { nth };
                dialogue += &format!("{}! cancelled {ticket}\n", cancel(id));
            }
            session().slots(ids.len(), 16).rx(&[200]).check(&(dialogue + "* deferred 0\n"));
        }
    }
}
