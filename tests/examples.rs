//! The examples, run as processes.
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use mcp_proto::client::Connect;
use mcp_proto_std::Connector;

pub(crate) fn example(name: &str) -> Command {
    let test = std::env::current_exe().unwrap();
    let profile: PathBuf = test.parent().and_then(|deps| deps.parent()).unwrap().into();
    let path = profile.join("examples").join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    // `cargo test` builds the examples, but `cargo test -p mcp-proto-tests` does not.
    assert!(path.exists(), "build it first: cargo build --examples");
    Command::new(path)
}

/// Returns the command that runs the client `mcp-inspect`.
fn inspect() -> Command {
    let mut path = PathBuf::from(example("demo").get_program());
    path.pop();
    path.set_file_name(format!("mcp-inspect{}", std::env::consts::EXE_SUFFIX));
    assert!(path.exists(), "build it first: cargo build -p mcp-inspect");
    Command::new(path)
}

#[test]
fn demo_passes_all_its_checks() {
    let output = example("demo").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    assert_eq!(text.matches("✓").count(), 32, "{text}");
}

#[test]
fn events_are_delivered_in_both_eras() {
    let output = example("events").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{text}");
    assert_eq!(text.matches("✓").count(), 15, "{text}");
}

#[test]
fn servers_at_a_url_explain_their_arguments() {
    for (name, arguments, code, expected) in [
        ("http_server", &["--help"][..], 0, "usage: http_server [HOST:PORT]\n"),
        ("http_server_std", &["--help"], 0, "usage: http_server_std [HOST:PORT]\n"),
        ("everything_server", &["--help"], 0, "usage: everything_server [--http [HOST:PORT]]\n"),
        ("http_server", &["nonsense"], 1, "http_server: cannot listen on nonsense: "),
        ("http_server_std", &["nonsense"], 1, "http_server_std: cannot listen on nonsense: "),
        ("everything_server", &["--http", "nonsense"], 1, "everything_server: cannot listen on nonsense: "),
        ("everything_server", &["nonsense"], 1, "everything_server: nonsense is not an option\nusage: "),
    ] {
        let output = example(name).args(arguments).stdin(Stdio::null()).output().unwrap();
        let text = String::from_utf8(if code == 0 { output.stdout } else { output.stderr }).unwrap();
        assert!(text.starts_with(expected), "{name} {arguments:?}: {text}");
        assert_eq!(output.status.code(), Some(code), "{name} {arguments:?}");
        assert!(text.contains("usage: "), "{text}");
    }
}

#[test]
fn stdio_server_answers_and_ends_with_its_input() {
    let mut child = example("stdio_server")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let input = concat!(
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow","arguments":{"seconds":1}}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"message":"first","more":1}}}"#,
        "\nnonsense\n",
    );
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(output.status.success());
    assert_eq!(lines.len(), 4, "{text}");
    assert!(lines[0].contains(r#""protocolVersion":"2025-06-18""#));
    assert!(lines[1].contains(r#""id":2,"error":{"code":-32602"#) && lines[1].contains("more"), "{text}");
    assert!(lines[2].contains(r#""id":null,"error":{"code":-32700"#), "{text}");
    assert!(lines[3].contains(r#""id":1,"#) && lines[3].contains("took 1 s"), "{text}");
    assert!(String::from_utf8(output.stderr).unwrap().starts_with("stdio_server: "));
}

#[test]
fn event_loop_ends_when_both_sides_close() {
    let output = example("event_loop").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    for expected in [
        "connected, revision 2026-07-28",
        "slow: step 9",
        "answer: 42",
        "answer: done",
        "both sides are closed",
    ] {
        assert!(text.contains(expected), "{expected} is missing in:\n{text}");
    }
}

#[test]
fn tokio_client_uses_the_tokio_server() {
    let output = example("tokio_client").arg(example("tokio_server").get_program()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    let steps: String = (1..=10).map(|step| format!("slow: step {step}\n")).collect();
    let expected = format!("tokio_server speaks 2026-07-28\nadd: 42\n{steps}slow: done\nhasty: cancelled\n");
    assert_eq!(text, expected);
    // If the server exits quickly, its message about the cancellation may be missing.
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(["", "tokio_server: slow was cancelled\n"].contains(&&*said), "{said}");
}

#[test]
fn counter_keeps_its_state_between_calls_in_both_eras() {
    for era in [Connect::Handshake, Connect::Stateless] {
        let client = Connector::new("test", "1").connect(era).spawn(example("counter")).unwrap();
        for (tool, arguments, text) in [
            ("increment", "{}", "1"),
            ("increment", "{}", "2"),
            ("decrement", "{}", "1"),
            ("get_value", "{}", "1"),
            ("say_hello", "{}", "hello"),
            ("echo", r#"{"any":["thing",1]}"#, r#"{"any":["thing",1]}"#),
            ("sum", r#"{"a":2147483647,"b":1}"#, "2147483648"),
        ] {
            let result = client.call_json(tool, arguments).unwrap();
            assert_eq!(result.text().as_deref(), Some(text), "{tool}");
        }
        let result = client.call_json("sum", r#"{"a":1}"#).unwrap();
        assert_eq!(result.text().as_deref(), Some("Invalid arguments: missing field `b`"));
        let tool = client.find_tool("increment").unwrap().unwrap();
        assert_eq!(tool.description.as_deref(), Some("Increments the counter by 1"));
        client.close();
    }
}

#[test]
fn client_of_many_servers_restarts_a_killed_server() {
    let server = |name: &str| example(name).get_program().to_str().unwrap().to_owned();
    let entry = |name: &str, tool: &str, arguments: &str| {
        let command = serde_json::to_string(&server(name)).unwrap();
        format!(r#"{{"command":{command},"args":[],"tool":"{tool}","arguments":{arguments}}}"#)
    };
    let servers = [
        format!(r#""counter":{}"#, entry("counter", "increment", "{}")),
        format!(r#""killed":{}"#, entry("counter", "increment", "{}")),
        format!(r#""tokio":{}"#, entry("tokio_server", "add", r#"{"a":2,"b":40}"#)),
        r#""missing":{"command":"/no/such/program","args":[],"tool":"t","arguments":{}}"#.into(),
    ];
    let path = std::env::temp_dir().join(format!("mcp-proto-six-servers-{}.json", std::process::id()));
    std::fs::write(&path, format!(r#"{{"mcpServers":{{{}}}}}"#, servers.join(","))).unwrap();
    let output = example("six_servers").arg(&path).arg("killed").output().unwrap();
    std::fs::remove_file(&path).unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    // The restarted process counts from the beginning.
    for line in [
        "counter: 6 tools",
        "counter: first 1",
        "counter: second 2",
        "killed: first 1",
        "killed: second 1",
        "tokio: 2 tools",
        "tokio: second 42",
    ] {
        assert!(text.lines().any(|shown| shown == line), "{line} is missing in:\n{text}");
    }
    assert!(
        text.lines().any(|line| line.starts_with("missing: ") && line.contains("/no/such/program")),
        "{text}"
    );
}

/// Uses every kind of feature of `everything_server` in both eras, with `mcp-inspect`.
pub(crate) fn inspect_everything(server: &[String]) {
    let cases: [(&[&str], &[&str]); 7] = [
        (&["--read", "test://template/7/data"], &["application/json", "Data for ID: 7"]),
        (&["--prompt", "discuss_note", "--args", r#"{"name":"none"}"#, "--log-level", "info"], &["note"]),
        (&["--complete", "test_prompt_with_arguments", "arg1", "par"], &["arg1 may be: paris, park, party"]),
        (
            &["--subscribe", "clock://ticks", "--call", "tick", "--listen", "0.2"],
            &["notification: clock://ticks has changed"],
        ),
        (&["--call", "ask_form", "--answer", "name=Ada"], &[r#"answered {"name":"Ada","newsletter":false}"#]),
        (&["--call", "ask_page"], &["https://modelcontextprotocol.io", "action=decline"]),
        (
            &["--call", "ask_model", "--sample", "canned"],
            &["What is a state machine?", "LLM response: canned"],
        ),
    ];
    for era in ["legacy", "modern"] {
        for (arguments, expected) in cases {
            let mut inspect = inspect();
            let inspect = inspect.args(["--era", era]).args(arguments).arg("--").args(server);
            let output = inspect.stdin(Stdio::null()).output().unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            for words in expected {
                assert!(text.contains(words), "{era} {arguments:?}: {words} is missing in\n{text}");
            }
        }
    }
}

#[test]
fn inspect_uses_features_and_answers_server_requests() {
    inspect_everything(&[example("everything_server").get_program().to_string_lossy().into_owned()]);
}

/// A server process that the test drives line by line.
pub(crate) struct ServerProcess {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl ServerProcess {
    fn with(name: &str) -> ServerProcess {
        ServerProcess::start(example(name))
    }

    pub(crate) fn start(mut command: Command) -> ServerProcess {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        ServerProcess { input: child.stdin.take(), output, child }
    }

    /// Sends a message, and expects one line for each text in `answers`. Returns the last line.
    pub(crate) fn send(&mut self, message: &str, answers: &[&str]) -> String {
        let mut line = String::new();
        writeln!(self.input.as_mut().unwrap(), r#"{{"jsonrpc":"2.0",{message}}}"#).unwrap();
        for expected in answers {
            line.clear();
            self.output.read_line(&mut line).unwrap();
            assert!(line.contains(expected), "{message}: {expected} is missing in\n{line}");
        }
        line
    }

    /// Returns the next line.
    pub(crate) fn next_line(&mut self) -> String {
        let mut line = String::new();
        assert!(self.output.read_line(&mut line).unwrap() > 0, "the process has exited");
        line
    }

    /// Responds to the server request in the line `asked`. Expects a line that contains `expected`.
    pub(crate) fn respond(&mut self, asked: &str, answer: &str, expected: &str) {
        let id = asked.split(r#""id":"#).nth(1).and_then(|rest| rest.split(',').next()).unwrap();
        self.send(&format!(r#""id":{id},{answer}"#), &[expected]);
    }

    pub(crate) fn finish(mut self) {
        drop(self.input.take());
        assert!(self.child.wait().unwrap().success());
    }
}

#[test]
fn everything_server_requests_and_notifies_in_a_session() {
    let mut server = ServerProcess::with("everything_server");
    let client =
        r#""capabilities":{"elicitation":{"form":{},"url":{}}},"clientInfo":{"name":"t","version":"1"}"#;
    server.send(
        &format!(r#""id":0,"method":"initialize","params":{{"protocolVersion":"2025-11-25",{client}}}"#),
        &[r#""resources":{"subscribe":true,"listChanged":true}"#],
    );
    server.send(r#""method":"notifications/initialized""#, &[]);
    let call = |id: u32, tool: &str, arguments: &str| {
        format!(r#""id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}"#)
    };
    // A worker thread sends a request to the client. The response to the call contains the client's response.
    let form = server
        .send(&call(1, "ask_form", "{}"), &[r#""method":"elicitation/create","params":{"mode":"form""#]);
    let filled_in = r#""result":{"action":"accept","content":{"name":"Ada"}}"#;
    server.respond(&form, filled_in, r#"action=accept, content={\"name\":\"Ada\"}"#);
    let page = server.send(&call(2, "ask_page", "{}"), &[r#""mode":"url""#]);
    server.respond(&page, r#""error":{"code":-1,"message":"not now"}"#, "not now (-1)");
    server.send(
        &call(3, "ask_model", "{}"),
        &[r#"the client did not declare the capability sampling"}],"isError":true"#],
    );
    // The client subscribes to a note, and adds, lists, completes and reads notes.
    let subscribe = r#""method":"resources/subscribe","params":{"uri":"note://milk"}"#;
    server.send(&format!(r#""id":4,{subscribe}"#), &[r#""id":4,"result":{}"#]);
    server.send(
        &call(5, "write_note", r#"{"name":"milk","text":"two bottles"}"#),
        &[
            r#""type":"resource_link","uri":"note://milk""#,
            "notifications/resources/list_changed",
            r#"notifications/resources/updated","params":{"uri":"note://milk"}"#,
        ],
    );
    server.send(r#""id":6,"method":"resources/list""#, &[r#""uri":"note://milk","name":"milk""#]);
    let ask = r#""ref":{"type":"ref/prompt","name":"discuss_note"},"argument":{"name":"name","value":"mi"}"#;
    server.send(
        &format!(r#""id":7,"method":"completion/complete","params":{{{ask}}}"#),
        &[r#""values":["milk"]"#],
    );
    server.send(r#""id":8,"method":"resources/read","params":{"uri":"note://milk"}"#, &["two bottles"]);
    server.send(r#""id":9,"method":"resources/read","params":{"uri":"note://beer"}"#, &[r#""code":-32002"#]);
    // The schema comes from the type of the arguments.
    server.send(&call(10, "slow", r#"{"seconds":3601}"#), &["`seconds`: expected an integer from 0 to 3600"]);
    server.finish();
}

#[test]
fn everything_server_requires_input_without_a_session() {
    let mut server = ServerProcess::with("everything_server");
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}"#;
    let mut call = |tool: &str, more: &str, answer: &str| {
        let params = format!(r#""name":"{tool}",{meta}{more}"#);
        server.send(&format!(r#""id":1,"method":"tools/call","params":{{{params}}}"#), &[answer]);
    };
    let accepts = r#","inputResponses":{"form":{"action":"accept","content":{"name":"Ada"}}}"#;
    call("ask_form", "", r#""inputRequests":{"form":{"method":"elicitation/create""#);
    call("ask_form", accepts, r#"content={\"name\":\"Ada\"}"#);
    call(
        "ask_roots",
        "",
        r#""code":-32021,"message":"Missing required client capability","data":{"requiredCapabilities":{"roots":{}}}"#,
    );
    let tool = "test_input_required_result_tampered_state";
    call(tool, "", r#""requestState":"1."#);
    call(tool, r#","requestState":"1.0000000000000000""#, r#""code":-32602"#);
    call("add", r#","arguments":{"a":2,"b":40}"#, r#""structuredContent":{"sum":42}"#);
    server.send(
        &format!(r#""id":"s","method":"subscriptions/listen","params":{{{meta},"notifications":{{"toolsListChanged":true,"resourceSubscriptions":["clock://ticks"]}}}}"#),
        &["notifications/subscriptions/acknowledged"],
    );
    let tick = format!(r#""id":1,"method":"tools/call","params":{{"name":"tick",{meta}}}"#);
    server.send(
        &tick,
        &[r#""id":1,"result""#, r#""io.modelcontextprotocol/subscriptionId":"s"},"uri":"clock://ticks""#],
    );
    server.finish();
}
