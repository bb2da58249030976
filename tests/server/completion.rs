//! Completion: argument values from the catalog or from the application.

use super::content::{HEAD, stateless};
use crate::support::server::Setup;
use crate::support::server::catalog::{BY_HOST, LIBRARY};
use mcp_proto::{Revision, Revisions};

fn ask(reference: &str, name: &str, value: &str) -> String {
    format!(r#"{{"ref":{reference},"argument":{{"name":"{name}","value":"{value}"}}}}"#)
}

const REVIEW: &str = r#"{"type":"ref/prompt","name":"review"}"#;
const BOOK: &str = r#"{"type":"ref/resource","uri":"lib:book/{id}"}"#;

#[test]
fn catalog_values_are_completed_by_the_server() {
    let cases = [
        ("style", "", r#"{"values":["short","shorter \"still\"","long"],"total":3,"hasMore":false}"#),
        ("style", "sh", r#"{"values":["short","shorter \"still\""],"total":2,"hasMore":false}"#),
        ("style", r"\u0073horter", r#"{"values":["shorter \"still\""],"total":1,"hasMore":false}"#),
        ("style", "Sh", r#"{"values":[],"total":0,"hasMore":false}"#),
    ];
    for revision in Revisions::HANDSHAKE.newest_first() {
        for (name, value, completion) in &cases {
            Setup::new(LIBRARY).session(revision).check(&format!(
                "> call 1 completion/complete {}\n< result 1 {{\"completion\":{completion}}}",
                ask(REVIEW, name, value)
            ));
        }
    }
    let hundred = ["\"x\""; 100].join(",");
    Setup::new(LIBRARY).session(Revision::V2025_11_25).check(&format!(
        "> call 1 completion/complete {}\n\
         < result 1 {{\"completion\":{{\"values\":[{hundred}],\"total\":130,\"hasMore\":true}}}}",
        ask(REVIEW, "many", "x")
    ));
}

#[test]
fn application_completes_other_values_up_to_100() {
    let values = |count: usize| -> String {
        (0..count).map(|number| format!("\"v{number}\"")).collect::<Vec<_>>().join(",")
    };
    let setup = Setup::new(LIBRARY).session(Revision::V2025_06_18);
    for (asked, count, more) in [(0, 0, false), (3, 3, false), (100, 100, false), (101, 100, true)] {
        let more = if more { r#","hasMore":true"# } else { "" };
        setup.check(&format!(
            "> call 1 completion/complete {}\n! complete Prompt(\"review\") book {asked} None false\n\
             < result 1 {{\"completion\":{{\"values\":[{}]{more}}}}}",
            ask(REVIEW, "book", &asked.to_string()),
            values(count)
        ));
    }
    for (value, answer) in [
        ("total", r#"{"values":["a","b"],"total":1000,"hasMore":true}"#),
        // The application states a total of 1, but returns two values. The server raises the total to their number.
        ("wrong", r#"{"values":["a","b"],"total":2,"hasMore":false}"#),
    ] {
        setup.check(&format!(
            "> call 1 completion/complete {}\n! complete Resource(\"lib:book/{{id}}\") id {value} None false\n\
             < result 1 {{\"completion\":{answer}}}",
            ask(BOOK, "id", value)
        ));
    }
    // The server omits values that do not fit.
    let first = "0".repeat(40);
    let last = format!("{:040}", 13);
    Setup::new(LIBRARY).tx(2000).max_reply_size(750).session(Revision::V2025_06_18).check(&format!(
        "> call 1 completion/complete {}\n! complete …\n\
         < result 1 {{\"completion\":{{\"values\":[\"{first}\",…,\"{last}\"],\"hasMore\":true}}}}",
        ask(REVIEW, "book", "wide")
    ));
}

#[test]
fn completion_event_has_context_and_meta() {
    let params = r#","ref":{"type":"ref/prompt","name":"review"},"argument":{"name":"book","value":"1"},"context":{"arguments":{"other":"a\"b"}}"#;
    let ask = stateless(1, "completion/complete", params).replace(
        r#""io.modelcontextprotocol/clientCap"#,
        r#""progressToken":1,"io.modelcontextprotocol/clientCap"#,
    );
    Setup::new(LIBRARY).check(&format!(
        r#"{ask}! complete Prompt("review") book 1 Some("a\"b") true
           < result 1 {{{HEAD},"completion":{{"values":["v0"]}}}}"#
    ));
    let any = r#"{"ref":{"type":"ref/resource","uri":"any"},"argument":{"name":"x","value":"defer"}}"#;
    Setup::new(BY_HOST).session(Revision::V2024_11_05).check(&format!(
        r#"> call 1 completion/complete {any}
           ! complete Resource("any") x defer None false
           > call 2 completion/complete {any}
           ! complete Resource("any") x defer None false
           * values 0 a b
           < result 1 {{"completion":{{"values":["a","b"]}}}}
           * messages 1 a
           < error 2 -32603 Internal error: the response is invalid
           ! fault InvalidReply
           * deferred 0"#
    ));
}

#[test]
fn completion_for_an_unknown_reference_is_refused() {
    let reference =
        "Invalid params: `ref` must be a `ref/prompt` with a `name`, or a `ref/resource` with a `uri`";
    let argument = "Invalid params: `argument` must have a `name` and a `value`";
    let cases: &[(String, &str, &str)] = &[
        ("{}".into(), reference, "InvalidParams"),
        (ask("7", "a", ""), reference, "InvalidParams"),
        (ask(r#"{"type":"ref/other","name":"review"}"#, "a", ""), reference, "InvalidParams"),
        (ask(r#"{"type":"ref/prompt","uri":"lib:log"}"#, "a", ""), reference, "InvalidParams"),
        (format!(r#"{{"ref":{REVIEW}}}"#), argument, "InvalidParams"),
        (format!(r#"{{"ref":{REVIEW},"argument":{{"name":"book"}}}}"#), argument, "InvalidParams"),
        (ask(r#"{"type":"ref/prompt","name":"none"}"#, "a", ""), "Unknown prompt: none", "UnknownPrompt"),
        (
            ask(r#"{"type":"ref/resource","uri":"lib:log"}"#, "a", ""),
            "Invalid params: unknown resource template: lib:log",
            "InvalidParams",
        ),
        (ask(REVIEW, "none", ""), "Invalid params: there is no argument `none`", "InvalidParams"),
        (ask(BOOK, "none", ""), "Invalid params: there is no argument `none`", "InvalidParams"),
    ];
    for (params, error, fault) in cases {
        Setup::new(LIBRARY).session(Revision::V2025_11_25).check(&format!(
            "> call 1 completion/complete {params}\n< error 1 -32602 {error}\n! fault {fault}"
        ));
    }
}
