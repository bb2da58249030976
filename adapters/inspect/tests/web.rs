//! The page of `--web`: its endpoints, its protection, and the messages that it receives.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{example, inspect};

/// A running program with a page.
struct Shown {
    child: Child,
    stdin: Option<ChildStdin>,
    stderr: Box<dyn BufRead>,
    /// `127.0.0.1:PORT`.
    host: String,
    token: String,
}

impl Shown {
    fn start(command: &mut Command) -> Shown {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stderr = Box::new(BufReader::new(child.stderr.take().unwrap()));
        let mut line = String::new();
        stderr.read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("mcp-inspect: the session is shown at http://").expect(&line);
        let (host, token) = url.split_once('/').unwrap();
        let (host, token) = (host.to_owned(), token.trim_end_matches('/').to_owned());
        assert_eq!(token.len(), 32, "{url}");
        Shown { stdin: child.stdin.take(), stderr, child, host, token }
    }

    fn tap(server: &Command) -> Shown {
        let mut inspect = inspect();
        let inspect = inspect.args(["--tap", "--web", "--log"]).arg(null()).arg("--");
        Shown::start(inspect.arg(server.get_program()).args(server.get_args()))
    }

    /// Sends one request. `{H}` is the host, `{T}` the token.
    fn open(&self, request: &str) -> BufReader<TcpStream> {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let request = request.replace("{H}", &self.host).replace("{T}", &self.token);
        stream.write_all(request.as_bytes()).unwrap();
        BufReader::new(stream)
    }

    /// Sends one request. Returns the response up to the end of the connection.
    fn get(&self, request: &str) -> String {
        let mut response = String::new();
        self.open(request).read_to_string(&mut response).unwrap();
        response
    }

    /// Opens the event stream after the entry `seen`.
    fn events(&self, seen: &str) -> Events {
        let mut stream =
            self.open(&format!("GET /{{T}}/events HTTP/1.1\r\nHost: {{H}}\r\nLast-Event-ID: {seen}\r\n\r\n"));
        let mut head = String::new();
        while stream.read_line(&mut head).unwrap() > 2 {}
        assert!(head.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"), "{head}");
        Events(stream)
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    /// Closes the input. Returns the exit code.
    fn finish(mut self) -> Option<i32> {
        drop(self.stdin.take());
        self.child.wait().unwrap().code()
    }
}

fn null() -> &'static str {
    if cfg!(windows) { "NUL" } else { "/dev/null" }
}

struct Events(BufReader<TcpStream>);

impl Events {
    /// Returns the next event: its name, its id and its data. Returns `None` at the end of the stream.
    fn next(&mut self) -> Option<(String, String, Value)> {
        let (mut name, mut id, mut data) = (String::from("message"), String::new(), None);
        loop {
            let mut line = String::new();
            if self.0.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            match line.trim_end().split_once(": ") {
                Some(("event", value)) => name = value.into(),
                Some(("id", value)) => id = value.into(),
                Some(("data", value)) => data = Some(serde_json::from_str(value).unwrap()),
                _ => {
                    if let Some(data) = data {
                        return Some((name, id, data));
                    }
                }
            }
        }
    }

    /// Returns the data of the next message.
    fn message(&mut self) -> Value {
        let (name, id, data) = self.next().unwrap();
        assert_eq!((&*name, id), ("message", data["number"].to_string()));
        data
    }
}

#[test]
fn only_requests_from_the_page_itself_are_answered() {
    let shown = Shown::tap(&example("stdio_server"));
    let port = shown.host.split_once(':').unwrap().1;
    let cases = [
        ("GET /{T}/ HTTP/1.1\r\nHost: {H}\r\n\r\n", 200),
        ("GET /{T}/ HTTP/1.1\r\nHost: localhost:{P}\r\n\r\n", 200),
        ("GET /{T}/ HTTP/1.1\r\nHost: {H}\r\nOrigin: http://{H}\r\n\r\n", 200),
        // DNS rebinding: the name of an attacker leads to this computer.
        ("GET /{T}/ HTTP/1.1\r\nHost: attacker.example:{P}\r\n\r\n", 403),
        ("GET /{T}/ HTTP/1.1\r\nHost: 127.0.0.1.attacker.example\r\n\r\n", 403),
        ("GET http://attacker.example/{T}/ HTTP/1.1\r\nHost: {H}\r\n\r\n", 403),
        ("GET /{T}/ HTTP/1.1\r\n\r\n", 400),
        ("GET /{T}/ HTTP/1.1\r\nHost: {H}\r\nHost: {H}\r\n\r\n", 400),
        ("GET /{T}/events HTTP/1.1\r\nHost: attacker.example:{P}\r\n\r\n", 403),
        ("GET /{T}/events HTTP/1.1\r\nHost: {H}\r\nOrigin: http://attacker.example\r\n\r\n", 403),
        ("GET /{T}/events HTTP/1.1\r\nHost: {H}\r\nOrigin: http://127.0.0.1:1\r\n\r\n", 403),
        ("GET /{T}/events HTTP/1.1\r\nHost: {H}\r\nOrigin: https://{H}\r\n\r\n", 403),
        ("GET /{T}/events HTTP/1.1\r\nHost: {H}\r\nOrigin: null\r\n\r\n", 403),
        // The token.
        ("GET / HTTP/1.1\r\nHost: {H}\r\n\r\n", 404),
        ("GET /events HTTP/1.1\r\nHost: {H}\r\n\r\n", 404),
        ("GET /00000000000000000000000000000000/ HTTP/1.1\r\nHost: {H}\r\n\r\n", 404),
        ("GET /00000000000000000000000000000000/events HTTP/1.1\r\nHost: {H}\r\n\r\n", 404),
        ("GET /?{T}/ HTTP/1.1\r\nHost: {H}\r\n\r\n", 404),
        ("GET /{T} HTTP/1.1\r\nHost: {H}\r\n\r\n", 404),
        ("GET /{T}/other HTTP/1.1\r\nHost: {H}\r\n\r\n", 404),
        ("POST /{T}/ HTTP/1.1\r\nHost: {H}\r\nContent-Length: 0\r\n\r\n", 405),
        ("HEAD /{T}/events HTTP/1.1\r\nHost: {H}\r\n\r\n", 405),
        ("nonsense\r\n\r\n", 400),
    ];
    for (request, status) in cases {
        let response = shown.get(&request.replace("{P}", port));
        assert!(response.starts_with(&format!("HTTP/1.1 {status} ")), "{request}: {response:.300}");
        assert!(status == 200 || !response.contains(&shown.token), "{request}: {response}");
    }
    assert_eq!(shown.finish(), Some(0));
}

#[test]
fn page_forbids_everything_but_its_own_script() {
    let shown = Shown::tap(&example("stdio_server"));
    let mut nonces = Vec::new();
    for _ in 0..2 {
        let response = shown.get("GET /{T}/ HTTP/1.1\r\nHost: {H}\r\n\r\n");
        let (head, page) = response.split_once("\r\n\r\n").unwrap();
        for field in [
            "Content-Type: text/html; charset=utf-8",
            "Content-Security-Policy: default-src 'none'; script-src 'nonce-",
            "require-trusted-types-for 'script'",
            "X-Content-Type-Options: nosniff",
            "Referrer-Policy: no-referrer",
            "Cache-Control: no-store",
        ] {
            assert!(head.contains(field), "{field} is missing in {head}");
        }
        assert!(!head.to_ascii_lowercase().contains("access-control-allow"), "{head}");
        let nonce = head.split("script-src 'nonce-").nth(1).unwrap().split('\'').next().unwrap();
        assert!(nonce.len() == 32 && nonce != shown.token, "{nonce}");
        assert_eq!(page.matches(&format!(" nonce=\"{nonce}\">")).count(), 2);
        assert!(page.contains("new EventSource(\"events\")") && page.ends_with("</html>\n"));
        nonces.push(nonce.to_owned());
    }
    assert_ne!(nonces[0], nonces[1]);
    assert_eq!(shown.finish(), Some(0));
}

#[test]
fn event_stream_shows_a_session_live_and_its_end() {
    let mut shown = Shown::tap(&example("stdio_server"));
    let mut events = shown.events("0");
    let (name, _, session) = events.next().unwrap();
    assert_eq!(name, "session");
    assert!(session["title"].as_str().unwrap().contains("stdio_server"), "{session}");
    let initialize = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "<b>t</b>", "version": "1"}});
    shown.send(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": initialize}));
    let request = events.message();
    assert_eq!((&request["number"], &request["from"]), (&json!(1), &json!("client")));
    assert_eq!(request["parts"], json!([{"kind": "request", "id": "0", "method": "initialize"}]));
    assert!(request["text"].as_str().unwrap().contains("<b>t</b>"));
    let response = events.message();
    assert_eq!(response["from"], "server");
    assert_eq!(response["parts"], json!([{"kind": "response", "id": "0"}]));
    assert_eq!(response["violations"], json!([]));

    shown.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    assert_eq!(events.message()["parts"][0]["method"], "notifications/initialized");
    shown.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"cursor": "mine"}}));
    let faulty = events.message();
    let violation = &faulty["violations"][0];
    assert_eq!((&violation["rule"], &violation["from"]), (&json!("cursor-opaque"), &json!("client")));
    assert_eq!((&violation["revision"], &violation["id"]), (&json!("2025-06-18"), &json!("1")));
    assert!(events.message()["at"].as_u64().unwrap() >= faulty["at"].as_u64().unwrap());

    // A connection with `Last-Event-ID: 3` gets only the entries after entry 3.
    let mut later = shown.events("3");
    assert_eq!(later.next().unwrap().0, "session");
    assert_eq!(later.message(), faulty);
    drop(later);
    assert_eq!(shown.finish(), Some(0));
    let ends: Vec<Value> = [events.message(), events.message()].into();
    assert!(ends.iter().all(|end| end["end"] == true && end["violations"] == json!([])), "{ends:?}");
    assert_eq!(events.next().unwrap().0, "close");
    assert_eq!(events.next(), None);
}

#[test]
fn number_of_open_connections_is_limited() {
    const LIMIT: usize = 32;
    const PAGE: &str = "GET /{T}/ HTTP/1.1\r\nHost: {H}\r\n\r\n";
    let shown = Shown::tap(&example("stdio_server"));
    let connect = || TcpStream::connect(&shown.host).unwrap();
    // The server closes a refused connection without a response, so the read may fail.
    let page = || {
        let mut response = String::new();
        let _ = shown.open(PAGE).read_to_string(&mut response);
        response
    };
    let open: Vec<_> = (0..LIMIT).map(|_| connect()).collect();
    for _ in 0..LIMIT {
        assert_eq!(page(), "", "the connection is refused");
    }
    drop(open);
    // Neither ended nor refused connections count. The threads of ended connections may still run.
    let start = Instant::now();
    loop {
        let open: Vec<_> = (1..LIMIT).map(|_| connect()).collect();
        let response = page();
        drop(open);
        if response.starts_with("HTTP/1.1 200 ") {
            break;
        }
        assert!(start.elapsed() < Duration::from_secs(20), "the connections are not released");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(shown.finish(), Some(0));
}

#[test]
fn port_of_another_program_is_replaced_by_a_free_one() {
    let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = other.local_addr().unwrap();
    let mut inspect = inspect();
    let inspect = inspect.args(["--tap", "--web", &taken.to_string(), "--log", null(), "--"]);
    let shown = Shown::start(inspect.arg(example("stdio_server").get_program()));
    assert_ne!(shown.host, taken.to_string());
    let page = shown.get("GET /{T}/ HTTP/1.1\r\nHost: {H}\r\n\r\n");
    assert!(page.starts_with("HTTP/1.1 200 "), "{page:.100}");
    assert_eq!(shown.finish(), Some(0));
    drop(other);
}

#[test]
fn unanswered_request_is_a_violation_at_the_end() {
    let script = "read -r line; exit 0";
    let mut server = Command::new("sh");
    if cfg!(windows) {
        return;
    }
    let mut shown = Shown::tap(server.args(["-c", script]));
    let mut events = shown.events("0");
    shown.send(&json!({"jsonrpc": "2.0", "id": "a", "method": "ping"}));
    assert_eq!(events.next().unwrap().0, "session");
    assert_eq!(events.message()["parts"][0]["id"], "\"a\"");
    let end = events.message();
    assert_eq!((&end["end"], &end["from"]), (&json!(true), &json!("server")));
    assert_eq!(end["violations"][0]["rule"], "request-unanswered");
    assert_eq!(end["violations"][0]["id"], "\"a\"");
    assert_eq!(shown.finish(), Some(0));
}

#[test]
fn page_that_reads_nothing_does_not_delay_the_session() {
    if cfg!(windows) {
        return;
    }
    // More bytes than the buffers of a connection hold.
    let (line, count) = (format!("{}\n", "x".repeat(200_000)), 200);
    let mut shown = Shown::tap(&Command::new("cat"));
    let events = shown.events("0");
    let mut stdin = shown.stdin.take().unwrap();
    let sent = line.clone();
    let writer =
        std::thread::spawn(move || (0..count).for_each(|_| stdin.write_all(sent.as_bytes()).unwrap()));
    let mut echoed = Vec::new();
    shown.child.stdout.take().unwrap().read_to_end(&mut echoed).unwrap();
    writer.join().unwrap();
    assert_eq!(echoed.len(), line.len() * count);
    assert_eq!(shown.finish(), Some(0));
    drop(events);
}

#[test]
fn own_session_is_shown_until_the_user_ends_it() {
    let server = example("stdio_server").get_program().to_owned();
    for (tool, code) in [("add", Some(0)), ("subtract", Some(1))] {
        let mut inspect = inspect();
        let arguments = ["--web", "127.0.0.1:0", "--call", tool, "--args", r#"{"a":2,"b":40}"#, "--"];
        let mut shown = Shown::start(inspect.args(arguments).arg(&server));
        let mut events = shown.events("0");
        let mut calls = 0;
        while let Some((name, _, data)) = events.next() {
            let part = &data["parts"][0];
            if part["method"] == "tools/call" {
                calls += 1;
                assert_eq!((&data["from"], &part["name"]), (&json!("client"), &json!(tool)));
            }
            if name == "close" {
                break;
            }
        }
        assert_eq!(calls, 1);
        // The page remains after the session.
        let response = shown.get("GET /{T}/ HTTP/1.1\r\nHost: {H}\r\n\r\n");
        assert!(response.starts_with("HTTP/1.1 200 "), "{response:.100}");
        writeln!(shown.stdin.as_mut().unwrap()).unwrap();
        let mut stderr = String::new();
        shown.stderr.read_to_string(&mut stderr).unwrap();
        assert!(stderr.ends_with("press Enter to close its page\n"), "{stderr}");
        let errors = stderr.matches("mcp-inspect: subtract: Unknown tool: subtract (-32602)").count();
        assert_eq!(errors, usize::from(tool == "subtract"), "{stderr}");
        assert_eq!(shown.finish(), code);
    }
}
