//! The example `bridge` between clients and servers on stdio and over HTTP.

#[allow(dead_code, reason = "the routes use a part of it")]
#[path = "../examples/bridge/message.rs"]
mod message;
#[allow(dead_code, reason = "the test uses a part of it")]
#[path = "../examples/bridge/routes.rs"]
mod routes;

use std::io::{BufRead, BufReader, Read, Write};
use std::iter;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{TryRecvError, channel};
use std::thread;
use std::time::Duration;

use mcp_proto::rpc::Message;

use crate::examples::{ServerProcess, example, inspect_everything};
use routes::Routes;

/// A process that serves a URL. Dropping the value kills the process.
struct HttpProcess {
    child: Child,
    url: String,
}

impl HttpProcess {
    fn start(mut command: Command) -> HttpProcess {
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        lines.read_line(&mut line).unwrap();
        let url = line.trim().split_once(": ").unwrap().1.to_owned();
        // Read the rest of stderr, because a process with a full stderr pipe blocks.
        thread::spawn(move || lines.read_to_end(&mut Vec::new()));
        HttpProcess { child, url }
    }

    fn everything() -> HttpProcess {
        let mut command = example("everything_server");
        command.args(["--http", "127.0.0.1:0"]);
        HttpProcess::start(command)
    }

    /// Starts a bridge to `everything_server` on stdio.
    fn bridge() -> HttpProcess {
        let mut command = example("bridge");
        command.args(["--http", "127.0.0.1:0", "--"]).arg(example("everything_server").get_program());
        HttpProcess::start(command)
    }

    /// Sends one request. Returns all bytes that arrive until the peer closes the connection.
    fn request(&self, method: &str, fields: &str, body: &str) -> String {
        let fields = format!("Host: {}\r\nContent-Type: application/json\r\n{fields}", self.address());
        self.request_with(method, &fields, body)
    }

    /// Sends one request like `request`, but adds no `Host` and no `Content-Type` to `fields`.
    fn request_with(&self, method: &str, fields: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(self.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        write!(
            stream,
            "{method} /mcp HTTP/1.1\r\nConnection: close\r\nAccept: application/json, text/event-stream\r\nContent-Length: {}\r\n{fields}\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut response = Vec::new();
        stream.read_to_end(&mut response).unwrap();
        String::from_utf8(response).unwrap()
    }

    fn address(&self) -> &str {
        self.url.split('/').nth(2).unwrap()
    }

    /// Sends `initialize`. Returns the header field of the session.
    fn begin_session(&self) -> String {
        let initialized = self.request("POST", "", &format!(r#"{{"jsonrpc":"2.0","id":0,{INITIALIZE}}}"#));
        let mut fields = initialized.lines().filter(|line| line.starts_with("Mcp-Session-Id: "));
        format!("{}\r\n", fields.next().unwrap())
    }
}

impl Drop for HttpProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn bridge_to(url: &str) -> Command {
    let mut command = example("bridge");
    command.arg(url);
    command
}

fn words(command: &Command) -> Vec<String> {
    let all = std::iter::once(command.get_program()).chain(command.get_args());
    all.map(|word| word.to_string_lossy().into_owned()).collect()
}

#[test]
fn stdio_client_uses_every_feature_of_an_http_server() {
    let server = HttpProcess::everything();
    inspect_everything(&words(&bridge_to(&server.url)));
}

#[test]
fn http_client_uses_every_feature_of_a_stdio_server() {
    let server = HttpProcess::bridge();
    inspect_everything(std::slice::from_ref(&server.url));
}

#[test]
fn stdio_client_uses_a_stdio_server_over_two_bridges() {
    let server = HttpProcess::bridge();
    inspect_everything(&words(&bridge_to(&server.url)));
}

const INITIALIZE: &str = r#""method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"t","version":"1"}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"progressToken":"mine"}"#;

#[test]
fn messages_of_a_session_pass_unchanged() {
    let server = HttpProcess::everything();
    let mut bridge = ServerProcess::start(bridge_to(&server.url));
    bridge.send(&format!(r#""id":"first","x":1,{INITIALIZE}"#), &[r#""id":"first","result""#]);
    bridge.send(r#""method":"notifications/initialized""#, &[]);
    bridge.send(r#""id":-7,"method":"no/such/method""#, &[r#""id":-7,"error":{"code":-32601"#]);
    let call = |id: &str, name: &str, arguments: &str| {
        format!(
            r#""id":{id},"method":"tools/call","params":{{"name":"{name}","arguments":{arguments},"_meta":{{"progressToken":"p"}}}}"#
        )
    };
    let form = bridge.send(&call(r#""ask""#, "ask_form", "{}"), &[r#""method":"elicitation/create""#]);
    bridge.respond(&form, r#""result":{"action":"decline"}"#, r#""id":"ask""#);
    // A cancelled call has no response, so the test waits only for the response to the ping.
    bridge.send(&call("8", "slow", r#"{"seconds":60}"#), &[r#""progressToken":"p""#]);
    bridge.send(r#""method":"notifications/cancelled","params":{"requestId":8}"#, &[]);
    bridge.send(r#""id":9,"method":"ping""#, &[]);
    let lines = iter::repeat_with(|| bridge.next_line());
    for line in lines.take_while(|line| !line.contains(r#""id":9,"result":{}"#)) {
        assert!(!line.contains(r#""id":8"#), "{line}");
    }
    bridge.send(r#""id":"#, &[r#"{"jsonrpc":"2.0","error":{"code":-32700"#]);
    bridge.finish();
}

#[test]
fn stateless_messages_pass_unchanged_over_two_bridges() {
    let server = HttpProcess::bridge();
    let (mut one, mut other) =
        (ServerProcess::start(bridge_to(&server.url)), ServerProcess::start(bridge_to(&server.url)));
    let listen = format!(
        r#""id":"s","method":"subscriptions/listen","params":{{{META},"notifications":{{"resourceSubscriptions":["clock://ticks"]}}}}"#
    );
    one.send(&listen, &[r#""io.modelcontextprotocol/subscriptionId":"s""#]);
    // Both clients use the same id and the same token at once.
    let slow = format!(
        r#""id":1,"method":"tools/call","params":{{"name":"slow","arguments":{{"seconds":1}},{META}}}"#
    );
    one.send(&slow, &[r#""progressToken":"mine""#]);
    other.send(&slow, &[r#""progressToken":"mine""#]);
    while !one.next_line().contains(r#""id":1,"result""#) {}
    while !other.next_line().contains(r#""id":1,"result""#) {}
    let tick = format!(r#""id":"t","method":"tools/call","params":{{"name":"tick",{META}}}"#);
    other.send(&tick, &[r#""id":"t","result""#]);
    assert!(
        one.next_line().contains(r#""io.modelcontextprotocol/subscriptionId":"s"},"uri":"clock://ticks""#)
    );
    one.send(r#""method":"notifications/cancelled","params":{"requestId":"s"}"#, &[]);
    one.finish();
    other.finish();
}

#[test]
fn failed_request_gets_an_error_with_its_id() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("http://{free}/mcp");
    let mut bridge = ServerProcess::start(bridge_to(&url));
    let line = bridge.send(r#""id":"a","method":"ping""#, &[r#""id":"a","error":{"code":-32603"#]);
    assert!(line.contains(&url), "{line}");
    bridge.finish();
}

#[test]
fn ended_session_is_replaced_by_another() {
    let server = HttpProcess::bridge();
    let mut bridge = ServerProcess::start(bridge_to(&server.url));
    bridge.send(&format!(r#""id":0,{INITIALIZE}"#), &[r#""id":0,"result""#]);
    bridge.send(r#""method":"notifications/initialized""#, &[]);
    bridge.send(r#""id":1,"method":"ping""#, &[r#""id":1,"result":{}"#]);
    // New sessions end the session of the bridge, because the server keeps a limited number of sessions.
    for _ in 0..32 {
        let body = format!(r#"{{"jsonrpc":"2.0","id":0,{INITIALIZE}}}"#);
        assert!(server.request("POST", "", &body).starts_with("HTTP/1.1 200 "));
    }
    bridge.send(r#""id":2,"method":"ping""#, &["status 404, the server has ended the session"]);
    bridge.send(r#""id":3,"method":"ping""#, &[r#""id":3,"result":{}"#]);
    bridge.finish();
}

#[cfg(unix)]
#[test]
fn request_to_a_process_that_no_longer_reads_gets_502() {
    let mut command = example("bridge");
    command.args(["--http", "127.0.0.1:0", "--", "sh", "-c"]);
    let response = r#"{"jsonrpc":"2.0","id":0,"result":{}}"#;
    command.arg(format!("read line; exec 0<&-; echo '{response}'; exec sleep 3"));
    let server = HttpProcess::start(command);
    let session = server.begin_session();
    for (status, text) in [(502, "the server has exited"), (404, "the session does not exist")] {
        let response = server.request("POST", &session, r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
        assert!(response.starts_with(&format!("HTTP/1.1 {status} ")), "{response}");
        assert!(response.contains(text), "{response}");
    }
}

#[cfg(unix)]
#[test]
fn request_to_a_process_that_exits_gets_502() {
    let mut command = example("bridge");
    command.args(["--http", "127.0.0.1:0", "--", "sh", "-c"]);
    let response = r#"{"jsonrpc":"2.0","id":0,"result":{}}"#;
    command.arg(format!("read line; echo '{response}'; read line; exit"));
    let server = HttpProcess::start(command);
    for _ in 0..50 {
        let session = server.begin_session();
        let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#;
        let response = server.request("POST", &session, call);
        assert!(response.starts_with("HTTP/1.1 502 "), "{response}");
        assert!(response.contains(r#""id":1,"error""#), "{response}");
    }
}

/// A request may arrive while the process ends. The request then ends without a response.
#[test]
fn exchange_after_the_end_of_the_process_ends_at_once() {
    let request = Message::parse(br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).unwrap();
    let mut routes = Routes::new(false);
    let (sender, before) = channel();
    let (number, _) = routes.add(&request, sender);
    routes.close();
    let (sender, after) = channel();
    routes.add(&request, sender);
    let (sender, stream) = channel();
    routes.listen(sender);
    for receiver in [before, after, stream] {
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
    }
    assert_eq!(routes.remove(number), None);
}

#[test]
fn request_that_the_bridge_cannot_pass_on_is_refused() {
    let server = HttpProcess::bridge();
    let call = format!(r#"{{"jsonrpc":"2.0","id":4,"method":"tools/list","params":{{{META}}}}}"#);
    let modern = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/list\r\n";
    let unknown = "Mcp-Session-Id: x\r\nMCP-Protocol-Version: 1999-01-01\r\n";
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    for (method, fields, body, status, text) in [
        ("POST", modern, call.as_str(), 200, r#""id":4,"result""#),
        ("POST", "Mcp-Method: tools/list\r\n", &call, 400, r#""id":4,"error":{"code":-32020"#),
        ("POST", "MCP-Protocol-Version: 2026-07-28\r\n", &call, 400, "-32020"),
        ("POST", modern, &call.replace("tools/list", "no/method"), 400, "-32020"),
        (
            "POST",
            &modern.replace("tools/list", "no/method"),
            &call.replace("tools/list", "no/method"),
            404,
            "-32601",
        ),
        (
            "POST",
            modern,
            r#"{"jsonrpc":"2.0","id":4,"method":"tools/list"}"#,
            400,
            r#""id":4,"error":{"code":-32602"#,
        ),
        ("POST", "", "{", 400, r#""id":null,"error":{"code":-32700"#),
        ("POST", "MCP-Protocol-Version: 2025-06-18\r\n", "{", 400, r#""id":null,"error":{"code":-32700"#),
        ("POST", "MCP-Protocol-Version: 2025-11-25\r\n", "{", 400, r#""2.0","error":{"code":-32700"#),
        ("POST", "", "[]", 400, "one message"),
        ("POST", "", ping, 400, "`Mcp-Session-Id` is missing"),
        ("POST", "Mcp-Session-Id: x\r\n", ping, 404, "session"),
        ("POST", unknown, ping, 400, r#""id":1,"error":{"code":-32600"#),
        ("POST", unknown, INITIALIZED, 400, "-32600"),
        ("POST", "Mcp-Session-Id: x\r\nMCP-Protocol-Version: 2025-06-18\r\n", ping, 404, "session"),
        ("GET", unknown, "", 400, "-32600"),
        ("DELETE", unknown, "", 400, "-32600"),
        ("DELETE", "Mcp-Session-Id: x\r\nMCP-Protocol-Version: 2026-07-28\r\n", "", 400, "-32600"),
        ("POST", "Origin: https://example.com\r\n", "{}", 403, "Origin"),
        ("GET", "", "", 405, "Allow: POST"),
        ("GET", "Mcp-Session-Id: x\r\n", "", 404, "session"),
        ("DELETE", "Mcp-Session-Id: x\r\n", "", 404, "session"),
        ("PUT", "", "", 405, "Allow: POST"),
    ] {
        let response = server.request(method, fields, body);
        assert!(response.starts_with(&format!("HTTP/1.1 {status} ")), "{method} {fields} {body}\n{response}");
        assert!(response.contains(text), "{method} {fields} {body}\n{response}");
    }
}

#[test]
fn allowed_names_match_in_any_case_and_with_any_port() {
    let mut command = example("bridge");
    command.args(["--http", "127.0.0.1:0", "--host", "example.com", "--origin", "https://app.example", "--"]);
    command.arg(example("everything_server").get_program());
    let bridge = HttpProcess::start(command);
    for (host, origin, status) in [
        ("example.com", "https://app.example", 200),
        ("Example.com:8080", "https://App.example:443", 200),
        ("other.example:8080", "https://app.example", 403),
        ("example.com", "https://other.example", 403),
    ] {
        let fields = format!("Host: {host}\r\nOrigin: {origin}\r\nContent-Type: Application/JSON\r\n");
        let body = format!(r#"{{"jsonrpc":"2.0","id":0,{INITIALIZE}}}"#);
        let response = bridge.request_with("POST", &fields, &body);
        assert!(response.starts_with(&format!("HTTP/1.1 {status} ")), "{host}, {origin}: {response}");
    }
}

#[test]
fn bridge_explains_wrong_arguments() {
    for (arguments, expected) in [
        (&["--wrong"][..], "--wrong is not an option"),
        (&[], "either a URL, or --http and a command"),
        (&["http://a", "http://b"], "second URL"),
        (&["--http", "127.0.0.1:0"], "needs `--` and a command"),
        (&["--header", "a", "http://a"], "a is not NAME=VALUE"),
        (&["--token-from", "NO_SUCH_VARIABLE", "http://a"], "NO_SUCH_VARIABLE"),
    ] {
        let output = example("bridge").args(arguments).output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains(expected) && text.contains("usage:"), "{text}");
    }
}
