//! Makes calls with a client over HTTP, in memory: `http_call COUNT`, for counting instructions.
//!
//! A program of its own, because a second user of the client changes what the compiler inlines in `guard`.

use std::hint::black_box;
use std::io::Write as _;

use mcp_proto::client::{ClientConfig, Connect, Event, Options};
use mcp_proto::json::Writer;
use mcp_proto::{Action, Buffer, Client, Millis, Relation};
use mcp_proto_http::HeaderFields;
use mcp_proto_http::client::{Begin, Exchange, Finish, HttpClient};
use workloads::inputs;

static CONFIG: ClientConfig<'static> = ClientConfig::new("example-host", "1.0.0").connect(Connect::Stateless);

/// The result of `server/discover`.
const DISCOVERED: &str = concat!(
    r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"#,
    r#""ttlMs":0,"cacheScope":"private","#,
    r#""_meta":{"io.modelcontextprotocol/serverInfo":{"name":"echo","version":"1"}}}"#,
);

/// The header fields of a response.
struct JsonBody;

impl HeaderFields for JsonBody {
    fn field(&self, name: &str) -> Option<&[u8]> {
        (name == "content-type").then_some(b"application/json")
    }
}

/// A connected client of `2026-07-28`, and the response to its calls.
struct HttpCalls {
    client: Client<'static>,
    http: HttpClient<'static, Vec<Exchange<'static>>>,
    text: String,
    body: Vec<u8>,
}

impl HttpCalls {
    /// Creates a client, and connects it.
    fn new(text: &str) -> HttpCalls {
        let client =
            Client::new(&CONFIG, Buffer::grown(4096), Buffer::grown(4096)).and_then(Client::message_mode);
        let exchanges = (0..4).map(|_| Exchange::new(Buffer::grown(4096))).collect();
        let http = HttpClient::new(exchanges, Buffer::grown(4096)).without_listening();
        let client = client.expect("a client").in_flight_grown(4);
        let mut calls = HttpCalls { client, http, text: text.into(), body: Vec::new() };
        calls.run(DISCOVERED);
        calls
    }

    /// Calls `echo`, and receives the response. Returns the number of bytes in the values of the
    /// header fields of the request.
    #[inline(never)]
    fn call(&mut self) -> usize {
        let text = &self.text;
        let arguments = |out: &mut Writer<'_>| {
            out.begin_object();
            out.field_string("text", text);
            out.end_object();
        };
        self.client.call_with("echo", Options::DEFAULT, arguments).expect("space for a call");
        let result = format!(r#"{{"resultType":"complete","content":[{{"type":"text","text":"{text}"}}]}}"#);
        self.run(&result)
    }

    /// Sends all messages, and responds to each with `result`. Returns the number of bytes in the values of the header
    /// fields of the requests.
    fn run(&mut self, result: &str) -> usize {
        let (mut scratch, mut bytes) = ([0; 256], 0);
        loop {
            match self.client.poll(Millis(0)) {
                Action::Io(io) => {
                    let (out, input) = io.split();
                    let Some(message) = out.frame() else { return bytes };
                    let Begin::Send(exchange) = self.http.begin(&message) else {
                        panic!("an exchange is free")
                    };
                    let request = self.http.request(exchange, Some(message.message())).expect("a request");
                    let add = &mut |name: &str, value: &str| bytes += black_box((name, value)).1.len();
                    request.fields(&mut scratch, add).expect("space for a field");
                    let Relation::Request(stream) = message.relation() else { panic!("{message:?}") };
                    self.body.clear();
                    write!(self.body, r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, stream.0)
                        .expect("space");
                    let length = out.bytes().len();
                    self.http.head(exchange, 200, &JsonBody);
                    self.http.body(exchange, &self.body);
                    let Finish::Message(inbound) = self.http.finish(exchange, Millis(0)) else {
                        panic!("a message")
                    };
                    input.message(inbound.message, inbound.stream).expect("the client is ready");
                    out.sent(length);
                }
                Action::Event => match self.client.event() {
                    Some(Event::Connected(_)) => {}
                    Some(Event::Response(response)) => {
                        let result = response.tool_result().expect("a result");
                        assert!(result.text().is_some_and(|text| text == *self.text));
                    }
                    other => panic!("{other:?}"),
                },
                Action::Closed => panic!("the client has ended"),
            }
        }
    }
}

fn main() {
    let count: usize = std::env::args().nth(1).and_then(|it| it.parse().ok()).expect("http_call COUNT");
    let mut calls = HttpCalls::new(&inputs::prose(16));
    (0..count).for_each(|_| assert!(calls.call() > 0));
}
