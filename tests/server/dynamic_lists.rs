//! Pages of dynamic lists whose entries and positions the application chooses.

use crate::support::transport::{feed, take};
use mcp_proto::server::{Event, ServerConfig, Tool, Tools};
use mcp_proto::{Action, Millis, ProtocolError, Server};
use serde_json::{Value, json};

static TOOLS: Tools = Tools::dynamic_list();
static CONFIG: ServerConfig = ServerConfig::new("s", "1").features(&[&TOOLS]);

/// Requests a page. Responds with `tools` and `next`. Returns the requested position, the response and the fault.
fn page(
    params: &str,
    tools: &[Tool<'static>],
    next: Option<u32>,
) -> (Option<u32>, Value, Option<ProtocolError>) {
    let (mut rx, mut tx) = ([0; 1024], [0; 1024]);
    let mut server = Server::new(&CONFIG, &mut rx, &mut tx).unwrap();
    feed(&mut server, Millis(0), br#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
"#);
    while let Action::Event = server.poll(Millis(0)) {
        server.event();
    }
    take(&mut server, Millis(0), usize::MAX);
    let request = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{params}}}"#) + "\n";
    feed(&mut server, Millis(0), request.as_bytes());
    let (mut position, mut fault) = (None, None);
    while let Action::Event = server.poll(Millis(0)) {
        match server.event() {
            Some(Event::ListTools(list)) => {
                position = Some(list.position());
                list.tools_page(tools.iter().copied(), next);
            }
            Some(Event::ProtocolError(error)) => fault = Some(error),
            other => panic!("{other:?}"),
        }
    }
    let response = take(&mut server, Millis(0), usize::MAX);
    (position, serde_json::from_slice(&response).unwrap(), fault)
}

#[test]
fn application_chooses_entries_and_the_next_position() {
    let (a, b) = (Tool::new("a", "{}"), Tool::new("b", "{}"));
    let listed = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
    for (params, position, tools, next, result) in [
        ("{}", 0, vec![a, b], None, json!({"tools": [listed("a"), listed("b")]})),
        ("{}", 0, vec![b], Some(70), json!({"tools": [listed("b")], "nextCursor": "p70"})),
        (r#"{"cursor":"p70"}"#, 70, vec![], Some(1), json!({"tools": [], "nextCursor": "p1"})),
        (r#"{"cursor":"p1"}"#, 1, vec![a], Some(0), json!({"tools": [listed("a")]})),
    ] {
        let (seen, response, fault) = page(params, &tools, next);
        assert_eq!((seen, &response["result"], fault), (Some(position), &result, None), "{params}");
    }
}

#[test]
fn chosen_page_with_an_invalid_entry_becomes_an_error() {
    let (valid, invalid) = (Tool::new("a", "{}"), Tool::new("b", "[]"));
    for tools in [[valid, invalid], [invalid, valid]] {
        let (_, response, fault) = page("{}", &tools, None);
        assert_eq!(response["error"]["code"], json!(-32603), "{response}");
        assert_eq!(fault, Some(ProtocolError::InvalidReply));
    }
}
