//! Client requests of every revision against the official schemas.

use mcp_proto::client::{ClientConfig, Connect, Event, Options, Reference};
use mcp_proto::{Action, Buffer, Client, Level, Millis, Revision, Revisions};
use mcp_proto_proptests::schema::Schemas;
use mcp_proto_proptests::transfer::transfer;
use serde_json::{Value, json};

/// A client connected to the test, with its output.
struct Peer {
    client: Client<'static>,
    sent: Vec<String>,
}

impl Peer {
    fn connected(revision: Revision) -> Peer {
        let info = ClientConfig::new("client", "1")
            .title("Client")
            .connect(Connect::Automatic)
            .revisions(Revisions::NONE.with(revision));
        let client = Client::new(Box::leak(Box::new(info)), Buffer::grown(65536), Buffer::grown(65536));
        let mut peer = Peer { client: client.unwrap().in_flight_grown(64), sent: Vec::new() };
        let capabilities = json!({"tools": {}, "resources": {"subscribe": true}, "prompts": {}, "completions": {}, "logging": {}});
        peer.answer(json!({
            "supportedVersions": [revision.as_str()],
            "protocolVersion": revision.as_str(),
            "capabilities": capabilities,
            "serverInfo": {"name": "s", "version": "1"},
        }));
        assert_eq!(peer.client.revision(), Some(revision));
        peer
    }

    /// Responds to the last request.
    fn answer(&mut self, result: Value) {
        self.pump(&[]);
        let asked: Value = serde_json::from_str(self.sent.last().unwrap()).unwrap();
        let line = json!({"jsonrpc": "2.0", "id": asked["id"], "result": result});
        self.pump(format!("{line}\n").as_bytes());
    }

    fn pump(&mut self, mut line: &[u8]) {
        loop {
            match self.client.poll(Millis(0)) {
                Action::Event => {
                    let event = self.client.event().unwrap();
                    assert!(!matches!(event, Event::ProtocolError(_) | Event::Response(_)), "{event:?}");
                }
                Action::Closed => panic!("closed"),
                Action::Io(io) => {
                    let mut output = Vec::new();
                    let has_moved = transfer(io, &mut line, &mut output);
                    let text = String::from_utf8(output).unwrap();
                    self.sent.extend(text.split_inclusive('\n').map(str::to_owned));
                    if !has_moved {
                        return;
                    }
                }
            }
        }
    }
}

#[test]
fn client_requests_match_the_schema_of_their_revision() {
    let Some(schemas) = Schemas::load_or_say() else { return };
    let bare = Options::DEFAULT;
    let full =
        bare.with_progress().log_level(Level::Alert).meta(r#"{"traceparent":"00-1-2-01","a/b":{"c":[1]}}"#);
    for revision in Revision::ALL {
        let mut peer = Peer::connected(revision);
        let first = peer.sent.len();
        for options in [bare, full] {
            let client = &mut peer.client;
            client.read_resource("file:///a", options).unwrap();
            client.get_prompt("p", &[], options).unwrap();
            client.get_prompt("p", &[("a", "1"), ("b\"", "\n")], options).unwrap();
            client.complete(Reference::Prompt("p"), "a", "", &[], options).unwrap();
            client.complete(Reference::Resource("file:///{a}"), "a", "x", &[("b", "c")], options).unwrap();
            client.call_json("t", "{}", options).unwrap();
            client.ping(options).unwrap();
            let handshake = [
                client.subscribe("file:///a", options),
                client.unsubscribe("file:///a", options),
                client.set_log_level(Level::Debug, options),
            ];
            assert!(handshake.iter().all(|asked| asked.is_ok() == (revision != Revision::V2026_07_28)));
            type List = fn(&mut Client<'_>, Options<'_>) -> Result<mcp_proto::Ticket, mcp_proto::SendError>;
            let lists: [(&str, List); 4] = [
                ("tools", |client, options| client.list_tools(options)),
                ("resources", |client, options| client.list_resources(options)),
                ("resourceTemplates", |client, options| client.list_templates(options)),
                ("prompts", |client, options| client.list_prompts(options)),
            ];
            for (member, list) in lists {
                list(&mut peer.client, options).unwrap();
                peer.answer(json!({member: [], "nextCursor": "2"}));
                assert!(peer.sent.last().unwrap().contains(r#""cursor":"2""#));
            }
        }
        let sent = &peer.sent[first..];
        assert!(sent.len() >= 30, "only {} lines", sent.len());
        for line in sent {
            let checked = schemas.check_client_line(revision.as_str(), None, line);
            checked.unwrap_or_else(|error| panic!("{revision}: {error}\nin {line}"));
        }
    }
}
