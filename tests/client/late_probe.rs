//! Late responses to the probe: the server refuses the handshake, and the client repeats the probe.

use super::connect::{PROBE, discover, error, initialize};
use crate::support::FailureContext;
use crate::support::client::Setup;

#[test]
fn late_probe_response_restarts_the_probe() {
    // The server read the probe late and therefore refuses the handshake.
    let refusal = r#"{"id":@initialize,"error":{"code":-32022,"message":"not accepted"}}"#;
    Setup::automatic().run(|harness| {
        harness.at(0).sent(&[PROBE]).at(300).sent(&[&initialize("2025-11-25")]);
        harness.server_sends(&discover(r#"["2026-07-28"]"#)).events(&[]).sent(&[]);
        harness.server_sends(refusal).events(&[]).sent(&[PROBE]);
        harness.server_sends(&discover(r#"["2026-07-28"]"#)).events(&["connected 2026-07-28"]).sent(&[]);
    });
    // The client repeats the probe only once.
    Setup::automatic().run(|harness| {
        harness.at(0).at(300).discard();
        harness.server_sends(refusal).sent(&[PROBE]).at(600).sent(&[&initialize("2025-11-25")]);
        harness.server_sends(refusal).events(&["failed Refused not accepted (-32022)", "closed"]).sent(&[]);
    });
    // A client that sent no probe does not send one later.
    Setup::handshake().run(|harness| {
        harness.at(0).discard();
        harness.server_sends(refusal).events(&["failed Refused not accepted (-32022)", "closed"]).sent(&[]);
    });
}

/// The code of the refusal does not matter, if the late response or the refusal names a common stateless revision.
#[test]
fn refusal_of_a_stateless_server_may_have_any_code() {
    let (common, other) = (discover(r#"["2026-07-28"]"#), discover(r#"["2025-11-25"]"#));
    let named = r#","data":{"supported":["2026-07-28"],"requested":"2025-11-25"}"#;
    for (late, code, data, is_repeated) in [
        (Some(&common), -32602, "", true),
        (Some(&common), -32601, named, true),
        (None, -32601, named, true),
        (None, -32601, "", false),
        (Some(&other), -32602, "", false),
        (None, -32601, r#","data":{"supported":["2099-01-01"]}"#, false),
    ] {
        let _context = FailureContext(format!("{late:?} {code} {data}"));
        Setup::automatic().run(|harness| {
            harness.at(0).sent(&[PROBE]).at(300).discard();
            if let Some(late) = late {
                harness.server_sends(late).events(&[]).sent(&[]);
            }
            let refusal = error("initialize", code, data);
            harness.server_sends(&refusal);
            if is_repeated {
                harness.events(&[]).sent(&[PROBE]).at(600).sent(&[&initialize("2025-11-25")]);
                harness.server_sends(&refusal);
            }
            harness.events(&[&format!("failed Refused no ({code})"), "closed"]).sent(&[]);
        });
    }
}

#[test]
fn late_probe_response_counts_only_on_its_connection() {
    Setup::automatic().run(|harness| {
        harness.at(0).at(300).server_sends(&discover(r#"["2026-07-28"]"#)).discard();
        harness.reconnect().at(600).sent(&[PROBE, &initialize("2025-11-25")]);
        let refusal = error("initialize", -32602, "");
        harness.server_sends(&refusal).events(&["failed Refused no (-32602)", "closed"]).sent(&[]);
    });
}
