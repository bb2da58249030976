//! The client probes again: after a stateless server refuses `initialize`, or after a response with lost bytes.

use super::connect::{PROBE, discover, error, initialize};
use crate::support::FailureContext;
use crate::support::client::Setup;
use mcp_proto::client::Connect;

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

/// A response with lost bytes does not reveal the era of the server. The link marks lost bytes with `CAN`.
#[test]
fn probe_response_with_lost_bytes_repeats_the_probe() {
    for (before, behind) in [("{", ""), ("{\"supported", "\"2026-07-28\"]}}"), ("", "{}}")] {
        let damaged = format!("{{\"id\":@discover,\"result\":{before}\u{18}{behind}");
        let _context = FailureContext(damaged.clone());
        for connect in [Connect::Automatic, Connect::Stateless] {
            Setup::new(connect).lines_only().run(|harness| {
                harness.at(0).sent(&[PROBE]);
                harness.at(200).server_sends(&damaged).events(&["fault NotJson"]).sent(&[PROBE]);
                harness.at(499).sent(&[]);
                harness.server_sends(&discover(r#"["2026-07-28"]"#)).events(&["connected 2026-07-28"]);
            });
        }
        // The client repeats the probe only once, and then waits for the timeout of the second probe.
        Setup::automatic().lines_only().run(|harness| {
            harness.at(0).at(200).server_sends(&damaged).discard();
            harness.server_sends(&damaged).events(&["fault NotJson"]).sent(&[]);
            harness.at(499).sent(&[]).at(500).sent(&[&initialize("2025-11-25")]);
        });
        // After a repetition because of lost bytes, a refusal of `initialize` still causes another repetition.
        Setup::automatic().lines_only().run(|harness| {
            harness.at(0).at(200).server_sends(&damaged).discard();
            harness.at(500).sent(&[&initialize("2025-11-25")]);
            harness.server_sends(&error("initialize", -32022, "")).events(&[]).sent(&[PROBE]);
        });
        // If the input ends after the damaged response, the client does not repeat the probe.
        Setup::automatic().lines_only().run(|harness| {
            harness.at(0).discard();
            let damaged = harness.message(&damaged);
            harness.bytes(damaged.as_bytes()).eof();
            harness.events(&["fault NotJson", "failed Closed", "closed"]).sent(&[]);
        });
    }
    // In message mode `CAN` marks no lost bytes, because a message arrives whole.
    Setup::automatic().run(|harness| {
        harness.at(0).discard();
        if harness.pace().messages {
            harness.server_sends("{\"id\":@discover,\"result\":\u{18}}").events(&[]);
            harness.sent(&[&initialize("2025-11-25")]);
        }
    });
}

#[test]
fn end_of_input_after_a_probe_response_sends_nothing() {
    for response in [error("discover", -32601, ""), discover(r#"["2025-11-25"]"#), discover("5")] {
        Setup::automatic().lines_only().run(|harness| {
            harness.at(0).discard();
            let response = harness.message(&response);
            harness.bytes(response.as_bytes()).eof();
            harness.events(&["failed Closed", "closed"]).sent(&[]);
        });
    }
}
