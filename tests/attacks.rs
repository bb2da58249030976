//! Attacks from SECURITY.md that no other file covers.

use crate::support::transport::exchange;
use mcp_proto::client::ClientConfig;
use mcp_proto::input::{Field, Form};
use mcp_proto::json::Json;
use mcp_proto::server::{Call, Event, ServerConfig, Tool, Tools};
use mcp_proto::{Action, Client, Millis, Server};

static TOOLS: Tools = Tools::new(&[Tool::new("a", "{}"), Tool::new("b", "{}"), Tool::new("c", "{}")]);
static SERVER: ServerConfig = ServerConfig::new("s", "1").features(&[&TOOLS]);
static CLIENT: ClientConfig = ClientConfig::new("c", "1");

/// A machine with its application.
trait Peer {
    fn poll(&mut self) -> Action<'_>;
    fn handle_event(&mut self);
}

impl Peer for Server<'_> {
    fn poll(&mut self) -> Action<'_> {
        self.poll(Millis(1))
    }

    fn handle_event(&mut self) {
        self.event();
    }
}

impl Peer for Client<'_> {
    fn poll(&mut self) -> Action<'_> {
        self.poll(Millis(1))
    }

    fn handle_event(&mut self) {
        self.event();
    }
}

fn server() -> Server<'static> {
    Server::new(&SERVER, vec![0; 1024].leak(), vec![0; 1024].leak()).unwrap()
}

fn client() -> Client<'static> {
    Client::new(&CLIENT, vec![0; 1024].leak(), vec![0; 1024].leak()).unwrap()
}

/// Passes all input to the machine. Returns the output.
fn feed(peer: &mut dyn Peer, mut input: &[u8]) -> Vec<u8> {
    let mut output = Vec::new();
    loop {
        let io = match peer.poll() {
            Action::Closed => return output,
            Action::Event => {
                peer.handle_event();
                continue;
            }
            Action::Io(io) => io,
        };
        if !exchange(io, &mut input, &mut output) {
            assert!(input.is_empty(), "the machine neither reads nor writes");
            return output;
        }
    }
}

const NOISE: [&str; 10] = [
    "",
    "garbage",
    "[]",
    "{}",
    "7",
    r#"{"jsonrpc":"2.0","id":1}"#,
    r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
];

/// An error in response to an error would cause an endless loop.
#[test]
fn noise_causes_no_endless_loop_between_machines() {
    type Make = fn() -> Box<dyn Peer>;
    let kinds: [(&str, Make); 2] = [("server", || Box::new(server())), ("client", || Box::new(client()))];
    for noise in NOISE {
        for (name, make) in kinds {
            let mut alone = make();
            let mut said = feed(&mut *alone, format!("{noise}\n").as_bytes());
            let rounds = (0..20).take_while(|_| {
                said = feed(&mut *alone, &said);
                !said.is_empty()
            });
            assert!(rounds.count() < 10, "a {name} connected to itself loops after {noise}");
            for (other_name, other) in kinds {
                let (mut first, mut second) = (make(), other());
                let mut said = feed(&mut *first, format!("{noise}\n").as_bytes());
                let rounds = (0..20).take_while(|_| {
                    let heard = feed(&mut *second, &said);
                    said = feed(&mut *first, &heard);
                    !said.is_empty()
                });
                assert!(rounds.count() < 10, "a {name} and a {other_name} loop after {noise}");
            }
        }
    }
}

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}"#;

/// Sends a request with these params. Returns its result or error code.
fn request(peer: &mut dyn Peer, method: &str, params: &str) -> Result<String, i32> {
    let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{params}{META}}}}}"#);
    let output = String::from_utf8(feed(peer, format!("{line}\n").as_bytes())).unwrap();
    assert_eq!(output.lines().count(), 1, "{output}");
    let answer = Json::parse(output.trim().as_bytes()).unwrap();
    match answer.get("error").and_then(|error| error.get("code")).and_then(|code| code.integer()) {
        Some(code) => Err(code as i32),
        None => Ok(answer.get("result").unwrap().raw().to_string()),
    }
}

/// With a tampered cursor, the page starts at an entry of the list, or the request fails.
#[test]
fn tampered_cursor_selects_an_entry_or_is_rejected() {
    let mut server = server();
    for (cursor, leads) in [
        (r#""p1""#, Ok(["b", "c"].as_slice())),
        (r#""p2""#, Ok(["c"].as_slice())),
        (r#""""#, Err(-32602)),
        (r#""p""#, Err(-32602)),
        (r#""p0""#, Err(-32602)),
        (r#""p3""#, Err(-32602)),
        (r#""p01""#, Err(-32602)),
        (r#""p-1""#, Err(-32602)),
        (r#""p+1""#, Err(-32602)),
        (r#""p1e0""#, Err(-32602)),
        (r#""p1 ""#, Err(-32602)),
        (r#"" p1""#, Err(-32602)),
        (r#""P1""#, Err(-32602)),
        (r#""1""#, Err(-32602)),
        (r#""p4294967295""#, Err(-32602)),
        (r#""p4294967297""#, Err(-32602)),
        (r#""p18446744073709551617""#, Err(-32602)),
        (r#""p99999999999999999999999999999999999999999""#, Err(-32602)),
        (r#""p\u0000""#, Err(-32602)),
        (r#""p1\u0000""#, Err(-32602)),
        (r#""../p1""#, Err(-32602)),
        ("1", Err(-32602)),
        (r#"{"p":1}"#, Err(-32602)),
    ] {
        let page = request(&mut server, "tools/list", &format!(r#""cursor":{cursor},"#));
        let names = page.map(|result| {
            let tools = Json::parse(result.as_bytes()).unwrap().get("tools").unwrap();
            tools.elements().map(|tool| tool.get("name").unwrap().string().unwrap().to_string()).collect()
        });
        let expected = leads.map(|names| names.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(names, expected, "{cursor}");
    }
}

static FIELDS: [Field<'static>; 1] = [Field::text("name")];
static FORM: Form<'static> = Form::new("Who are you?", &FIELDS);

/// A server with a tool that requires a name. Until the retry, the client stores the state of the tool.
struct Asking(Server<'static>);

impl Peer for Asking {
    fn poll(&mut self) -> Action<'_> {
        self.0.poll(Millis(1))
    }

    fn handle_event(&mut self) {
        if let Some(Event::Call(call)) = self.0.event() {
            grant(call);
        }
    }
}

/// Returns the state with a checksum, which stands for a signature in this test.
fn signed(state: &str) -> String {
    let sum = state.bytes().fold(7u32, |sum, byte| sum.wrapping_mul(31) ^ u32::from(byte));
    format!("{state} \"{sum:x}\"")
}

fn grant(call: Call<'_>) {
    let Some(state) = call.request_state().map(|state| state.to_string()) else {
        return call.require_input(&[("name", &FORM)], Some(&signed("guest")));
    };
    match state.split_once(' ') {
        Some((user, _)) if signed(user) == state => call.text(format_args!("You are a {user}.")),
        _ => call.error(-32602, "This state was not made here: begin again without it."),
    }
}

/// A client may change the state that it stores. The server passes the state to the application unchanged, so that the
/// application can check a signature.
#[test]
fn tampered_request_state_reaches_the_application() {
    let mut server = Asking(server());
    let asked = request(&mut server, "tools/call", r#""name":"a","#).unwrap();
    let state = Json::parse(asked.as_bytes()).unwrap().get("requestState").unwrap().raw().to_string();
    let mut again = |state: &str| {
        let answers = r#""inputResponses":{"name":{"action":"accept","content":{"name":"x"}}}"#;
        request(&mut server, "tools/call", &format!(r#""name":"a",{answers},"requestState":{state},"#))
    };
    assert!(again(&state).unwrap().contains("You are a guest."), "{state}");
    // The same string with other escapes is the same state.
    assert!(again(&state.replace('g', r"\u0067")).unwrap().contains("You are a guest."));
    for tampered in [
        state.replace("guest", "admin"),
        state.replace("guest", "GUEST"),
        state.replace("guest", "guest\\u0000"),
        state.replace("guest", ""),
        state.replace(r#"\"""#, "\""),
        r#""""#.to_string(),
        format!("\"{}\"", "x".repeat(500)),
    ] {
        assert_eq!(again(&tampered), Err(-32602), "{tampered}");
    }
    // Without a state, the application sees a first request, even if there are input responses.
    assert!(again("null").unwrap().contains("input_required"));
}
