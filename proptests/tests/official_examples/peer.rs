//! A client of `2026-07-28`. The test plays its server.

use mcp_proto::client::{ClientConfig, Connect, Event};
use mcp_proto::{Action, Buffer, Client, ClientCapabilities, Millis};
use mcp_proto_proptests::transfer::transfer;
use serde_json::{Value, json};

/// The configuration that the other configurations extend.
const CONFIG: ClientConfig<'static> = ClientConfig::new("ExampleClient", "1.0.0").connect(Connect::Stateless);

static PLAIN: ClientConfig<'static> = CONFIG;

/// The configuration of a client that accepts every kind of input request.
static EVERYTHING: ClientConfig<'static> = CONFIG.capabilities(
    ClientCapabilities::ROOTS
        .with(ClientCapabilities::SAMPLING_TOOLS)
        .with(ClientCapabilities::ELICITATION_FORM)
        .with(ClientCapabilities::ELICITATION_URL),
);

pub(crate) struct Peer {
    pub(crate) client: Client<'static>,
    sent: Vec<Value>,
}

impl Peer {
    /// Creates a client that is not connected. Its first request is `server/discover`.
    pub(crate) fn new() -> Peer {
        Peer::from_config(&PLAIN)
    }

    fn from_config(info: &'static ClientConfig<'static>) -> Peer {
        let client =
            Client::new(info, Buffer::grown(65536), Buffer::grown(65536)).unwrap().in_flight_grown(4);
        Peer { client, sent: Vec::new() }
    }

    /// Creates a client connected to a server with tools, resources, prompts, completion and logging.
    pub(crate) fn connected() -> Peer {
        Peer::new().connect()
    }

    /// Creates a client that accepts every kind of input request, connected like [`connected`](Peer::connected).
    pub(crate) fn with_all_capabilities() -> Peer {
        Peer::from_config(&EVERYTHING).connect()
    }

    /// Creates a client with these capabilities, connected like [`connected`](Peer::connected). Leaks the
    /// configuration.
    pub(crate) fn with_capabilities(
        declared: ClientCapabilities,
        extensions: &'static [(&'static str, &'static str)],
    ) -> Peer {
        Peer::from_config(Box::leak(Box::new(CONFIG.capabilities(declared).extensions(extensions)))).connect()
    }

    fn connect(self) -> Peer {
        let mut peer = self;
        let capabilities =
            json!({"tools": {}, "resources": {}, "prompts": {}, "completions": {}, "logging": {}});
        let result = json!({"supportedVersions": ["2026-07-28"], "capabilities": capabilities});
        peer.answer(&json!({"result": result}), |event| {
            assert!(matches!(event, Event::Connected(_)));
            Value::Null
        });
        peer.sent.clear();
        peer
    }

    /// Responds to the last request. Returns the value that `read` returns for the only event.
    pub(crate) fn answer(&mut self, answer: &Value, read: impl Fn(&Event<'_>) -> Value) -> Value {
        let id = self.pump(&[], &|_| Value::Null).0.pop().expect("a request")["id"].clone();
        let mut answer = answer.clone();
        answer["jsonrpc"] = "2.0".into();
        answer["id"] = id;
        self.receive(&answer, read)
    }

    /// Passes a message of the server to the client. Returns the value that `read` returns for the only event.
    pub(crate) fn receive(&mut self, message: &Value, read: impl Fn(&Event<'_>) -> Value) -> Value {
        let mut found = self.pump(format!("{message}\n").as_bytes(), &read).1;
        assert_eq!(found.len(), 1, "events after {message}");
        found.remove(0)
    }

    /// Returns the messages since the last call. Panics if an event is pending.
    pub(crate) fn sent(&mut self) -> Vec<Value> {
        self.pump(&[], &|_| panic!("an event"));
        std::mem::take(&mut self.sent)
    }

    /// Moves all bytes. Returns the messages since the last call of `sent`, and the values read from the events.
    fn pump(&mut self, mut line: &[u8], read: &dyn Fn(&Event<'_>) -> Value) -> (Vec<Value>, Vec<Value>) {
        let mut found = Vec::new();
        loop {
            match self.client.poll(Millis(0)) {
                Action::Event => found.push(read(&self.client.event().unwrap())),
                Action::Closed => panic!("closed"),
                Action::Io(io) => {
                    let mut output = Vec::new();
                    let has_moved = transfer(io, &mut line, &mut output);
                    let lines = output.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
                    self.sent.extend(lines.map(|line| serde_json::from_slice::<Value>(line).unwrap()));
                    if !has_moved {
                        return (self.sent.clone(), found);
                    }
                }
            }
        }
    }
}
