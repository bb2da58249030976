//! Hooks before and after requests.

use std::sync::Arc;

use mcp_proto_std::{CallError, CallOptions, ClientHandle};

use super::servers::{ADAPTERS, Limits};

/// Calls a tool. Returns the text of the result, or the code of the error.
fn outcome(client: &ClientHandle, tool: &str) -> String {
    match client.call_json(tool, "{}") {
        Ok(result) => result.text().unwrap(),
        Err(CallError::Server(error)) => error.code.to_string(),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn hooks_observe_each_response_and_may_refuse() {
    let cases = [
        ("count", "1", "result"),
        ("fail", "not today", "tool failure"),
        ("drop", "-32603", "error -32603"),
        ("drop_later", "-32603", "error -32603"),
        ("forbidden", "-31001", "error -31001"),
        ("hold", "released", "result"),
        ("chunked", "chunks", "result"),
        ("chunked_fail", "chunks", "tool failure"),
    ];
    for adapter in ADAPTERS {
        let hook = Arc::default();
        let running = adapter.listen_tcp(Limits { hook: Arc::clone(&hook), ..Limits::default() });
        let client = running.client();
        running.held.release();
        for (tool, received, ended) in cases {
            assert_eq!(outcome(&client, tool), received, "{adapter:?} {tool}");
            // The hook is called before the client receives the response.
            assert_eq!(
                hook.take(0),
                [format!("before {tool}"), format!("after {tool}: {ended}")],
                "{adapter:?}"
            );
        }
        running.stop();
    }
}

#[test]
fn hooks_observe_cancellation_and_closed_connections() {
    for adapter in ADAPTERS {
        let hook = Arc::default();
        let running = adapter.listen_tcp(Limits { hook: Arc::clone(&hook), ..Limits::default() });
        let client = running.client();
        let held = client.begin_json("hold", "{}", CallOptions::new()).unwrap();
        running.held.wait_for(1);
        held.cancel("no longer needed");
        assert_eq!(hook.take(2), ["before hold", "after hold: cancelled"], "{adapter:?}");
        let held = client.begin_json("hold", "{}", CallOptions::new()).unwrap();
        running.held.wait_for(2);
        running.stop.within(std::time::Duration::ZERO);
        assert!(held.wait().is_err());
        let calls = hook.take(2);
        assert_eq!(calls[0], "before hold", "{adapter:?}");
        assert!(
            ["after hold: timed out", "after hold: closed"].contains(&&*calls[1]),
            "{adapter:?}: {calls:?}"
        );
        running.held.release();
        running.stop();
    }
}
