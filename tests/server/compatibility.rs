//! Nonstandard clients: the rows of docs/compatibility.md about servers.

use crate::support::server::tools::CONFIG;
use crate::support::server::{Setup, hello};
use mcp_proto::server::{Limits, ServerConfig};
use mcp_proto::{KeepAlive, Millis, Revision, Revisions};

fn session() -> Setup {
    Setup::new(CONFIG).session(Revision::V2025_11_25)
}

/// The `_meta` of a stateless request.
const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

#[test]
fn nonstandard_initialize_opens_a_session() {
    let capabilities = r#"{"tools":true,"resources":{"subscribe":true,"listChanged":true},"prompts":{"listChanged":true},"sampling":true,"experimental":{"sampling":true,"streaming":true}}"#;
    let params = format!(
        r#"{{"protocolVersion":"1.0.0","capabilities":{capabilities},"clientInfo":{{"name":"My AI Assistant","version":"2.1.0"}}}}"#
    );
    Setup::new(CONFIG).check(&format!(
        "> call 1 initialize {params}\n< result 1 {{\"protocolVersion\":\"2025-11-25\",…\n\
         ! connected 2025-11-25 My AI Assistant {capabilities}\n\
         > note notifications/initialized {{}}\n! ready\n\
         > call 2 tools/call {{\"name\":\"who\"}}\n! call who {{}}\n\
         < result 2 …\"text\":\"2025-11-25 ClientCapabilities(2) {{}}\"…"
    ));
    // Without the member `sampling`, the experimental capability of this name does not declare sampling.
    let params = params.replace(r#""sampling":true,"exp"#, r#""exp"#);
    Setup::new(CONFIG).check(&format!(
        "> call 1 initialize {params}\n< result 1 …\n! connected …\n\
         > call 2 tools/call {{\"name\":\"who\"}}\n! call who {{}}\n\
         < result 2 …\"text\":\"2025-11-25 ClientCapabilities(0) {{}}\"…"
    ));
}

#[test]
fn unknown_members_are_ignored() {
    session().check(
        r#"> {"jsonrpc":"2.0","id":1,"method":"ping","_meta":{"x":1},"extra":[{}]}
           < result 1
           > {"_meta":{},"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","extra":{},"arguments":{"a":1}}}
           ! call echo {"a":1}
           < result 2 …
           > {"jsonrpc":"2.0","method":"notifications/cancelled","_meta":{},"params":{"requestId":9,"extra":1}}"#,
    );
}

#[test]
fn notification_params_may_be_absent_empty_or_null() {
    for params in ["", " {}", " null", " {\"_meta\":{}}"] {
        Setup::new(CONFIG).check(&format!(
            "> call 0 initialize {}\n< result 0 …\n! connected …\n\
             > note notifications/initialized{params}\n! ready\n* state Ready",
            hello("2025-06-18")
        ));
    }
}

#[test]
fn list_request_params_may_be_absent() {
    for params in ["", " {}", " null", " {\"cursor\":null}", " {\"_meta\":{},\"cursor\":null}"] {
        session()
            .check(&format!("> call 1 tools/list{params}\n< result 1 {{\"tools\":[{{\"name\":\"echo\",…]}}"));
    }
    let stateless = Setup::new(CONFIG.revisions(Revisions::STATELESS));
    stateless.check(&format!(
        "> call 1 tools/list {{{META},\"cursor\":null}}\n< result 1 {{\"resultType\":\"complete\",…"
    ));
}

#[test]
fn result_without_content_gets_an_empty_text() {
    for revision in Revision::ALL.into_iter().filter(|revision| *revision < Revision::V2026_07_28) {
        Setup::new(CONFIG).session(revision).check(
            "> call 1 tools/call {\"name\":\"empty\"}\n! call empty {}\n\
             < result 1 {\"content\":[{\"type\":\"text\",\"text\":\"\"}]}",
        );
    }
}

#[test]
fn server_tolerates_missing_jsonrpc_only_if_configured() {
    let lines = r#"{"id":1,"method":"ping"}"#;
    session().check(&format!("> {lines}\n< error 1 -32600 …\n! fault WrongJsonRpcVersion"));
    let tolerant = Setup::new(CONFIG.tolerate_missing_jsonrpc()).session(Revision::V2025_11_25);
    tolerant.check(
        r#"> {"id":1,"method":"ping"}
           < result 1
           > {"id":"a","method":"tools/call","params":{"name":"echo"}}
           ! call echo {}
           < result "a" …
           > {"method":"notifications/cancelled","params":{"requestId":1}}
           > {"id":1,"result":{}}
           ! fault UnknownResponse
           > {"id":2}
           < error 2 -32600 …
           ! fault InvalidMethod
           > {"id":null,"method":"ping"}
           < error - -32600 …
           ! fault InvalidId
           > {"jsonrpc":"1.0","id":3,"method":"ping"}
           < error 3 -32600 …
           ! fault WrongJsonRpcVersion
           > {"jsonrpc":null,"id":4,"method":"ping"}
           < error 4 -32600 …
           ! fault WrongJsonRpcVersion"#,
    );
}

/// The end of a session as in the Language Server Protocol.
const SHUTDOWN: &str = "> call 1 shutdown\n< result 1\n* state Draining\n";

#[test]
fn lsp_shutdown_is_answered_and_exit_closes() {
    let refused = "> call 2 ping\n< error 2 -32600 …\n! fault ShuttingDown\n";
    for revision in Revision::ALL.into_iter().filter(|revision| *revision < Revision::V2026_07_28) {
        Setup::new(CONFIG)
            .session(revision)
            .check(&format!("{SHUTDOWN}{refused}{refused}> note exit\n! closed\n* state Closed"));
    }
    // The server ignores input after `exit`. `exit` works without `shutdown`, and `shutdown` works without `exit`.
    session().check("> note exit {}\n> call 2 ping\n> nonsense\n! closed");
    session().check(&format!("{SHUTDOWN}* eof\n! closed"));
    session().check(&format!("{SHUTDOWN}* shutdown\n! closed"));
    session()
        .check(&format!("{SHUTDOWN}* deadline 2000\n* time 1999\n* state Draining\n* time 2000\n! closed"));
    // `shutdown` also works before the session is ready.
    Setup::new(CONFIG.strict_handshake()).check(&format!(
        "> call 0 initialize {}\n< result 0 …\n! connected …\n{SHUTDOWN}",
        hello("2025-11-25")
    ));
}

#[test]
fn requests_in_flight_at_lsp_shutdown_are_finished() {
    let defer = "> call \"d\" tools/call {\"name\":\"defer\"}\n! call defer {}\n";
    let done = r#"* answer 0 done
        < result "d" {"content":[{"type":"text","text":"done"}]}"#;
    session().check(&format!("{defer}{SHUTDOWN}{done}\n* state Draining\n> note exit\n! closed"));
    session().check(&format!("{defer}{SHUTDOWN}> note exit\n* state Draining\n{done}\n! closed"));
    session().check(&format!(
        "{defer}{SHUTDOWN}> note notifications/cancelled {{\"requestId\":\"d\"}}\n! cancelled 0\n> note exit\n! closed"
    ));
    let info = CONFIG.limits(Limits::DEFAULT.with_grace(Millis(500)));
    Setup::new(info).session(Revision::V2025_11_25).check(&format!(
        "{defer}{SHUTDOWN}> note exit\n* time 499\n* state Draining\n* time 500\n\
         < error \"d\" -32603 …\n! expired 0\n! closed"
    ));
}

#[test]
fn lsp_shutdown_and_exit_are_unknown_if_disabled() {
    let alive = "> call 9 ping\n< result 9\n";
    let unknown = "> call 1 shutdown\n< error 1 -32601 Method not found: shutdown\n! fault UnknownMethod\n";
    let dropped = "> note exit\n! fault UnknownNotification\n";
    let off =
        |info: ServerConfig<'static>| Setup::new(info.lsp_shutdown(false)).session(Revision::V2025_11_25);
    off(CONFIG).check(&format!("{unknown}{dropped}{alive}"));
    // A request `exit` and a notification `shutdown` are unknown.
    session().check(&format!(
        "> call 1 exit\n< error 1 -32601 …\n! fault UnknownMethod\n\
         > note shutdown\n! fault UnknownNotification\n{alive}"
    ));
    // The stateless era has neither method, even if a session exists.
    for setup in [session(), Setup::new(CONFIG), Setup::new(CONFIG.revisions(Revisions::STATELESS))] {
        setup.check(&format!(
            "> call 1 shutdown {{{META}}}\n< error 1 -32601 …\n! fault UnknownMethod\n\
             > note exit {{{META}}}\n! fault UnknownNotification"
        ));
    }
    Setup::new(CONFIG)
        .check(&format!("> call 1 shutdown\n< error 1 -32602 …\n! fault InvalidParams\n{dropped}{alive}"));
}

#[test]
fn server_works_again_after_lsp_shutdown_and_reset() {
    session().check(&format!(
        "{SHUTDOWN}* reset\n* state Waiting\n> call 0 initialize {}\n< result 0 …\n! connected …\n\
         > call 1 ping\n< result 1",
        hello("2025-11-25")
    ));
}

#[test]
fn client_and_server_ids_are_independent() {
    let pings = KeepAlive { interval: Millis(100), timeout: Millis(50), close: true };
    session().keep_alive(pings).check(
        r#"> call "ping-1" tools/call {"name":"defer"}
           ! call defer {}
           * time 100
           < {"jsonrpc":"2.0","id":"ping-1","method":"ping"}
           > call 1 ping
           < result 1
           > {"jsonrpc":"2.0","id":"ping-1","result":{}}
           * time 149
           * deferred 1
           * answer 0 done
           < result "ping-1" {"content":[{"type":"text","text":"done"}]}"#,
    );
}
