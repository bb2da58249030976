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
    // `cargo test` builds the examples, but `cargo test --test it` does not.
    assert!(path.exists(), "build it first: cargo build --examples");
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
    // If the server exits quickly, the line may be missing.
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
fn inspect_shows_servers_of_both_eras_and_sets_its_exit_code() {
    let server = example("stdio_server").get_program().to_owned();
    let inspect = |arguments: &[&str]| {
        let output = example("inspect").args(arguments).arg("--").arg(&server).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
        (output.status.code(), text)
    };
    let cases: [(&[&str], Option<i32>, &[&str]); 6] = [
        (&["--era", "legacy"], Some(0), &["2025-11-25, handshake", "host_info", "seconds: integer"]),
        (
            &["--era", "modern", "--trace"],
            Some(0),
            &["2026-07-28, no handshake", "|- 1 server/discover", "tools/list"],
        ),
        (&["--call", "add", "--args", r#"{"a":2,"b":40}"#], Some(0), &["result of the tool:", "42"]),
        (&["--call", "subtract"], Some(1), &["subtract: Unknown tool: subtract (-32602)"]),
        (&["--call", "add", "--args", "{}"], Some(1), &["missing field `a`", "the tool failed"]),
        (&["--era", "middle"], Some(2), &["middle is not an era", "usage: inspect"]),
    ];
    for (arguments, code, expected) in cases {
        let (exit, text) = inspect(arguments);
        assert_eq!(exit, code, "{arguments:?}\n{text}");
        for words in expected {
            assert!(text.contains(words), "{arguments:?}: {words} is missing in\n{text}");
        }
    }
}

#[test]
#[cfg(unix)]
fn inspect_escapes_the_control_characters_of_a_server() {
    // A server that knows only the handshake. Its texts contain an escape sequence that sets the title of a terminal.
    let script = r#"answer() {
    read -r line; case $line in *notifications*) read -r line ;; esac
    id=${line#*\"id\":}
    printf '{"jsonrpc":"2.0","id":%s,%s}\n' "${id%%,*}" "$1"
}
answer '"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"name\u001b]0;t\u0007","version":"1"},"instructions":"do\u001b[2J\u009bthis"}'
answer '"result":{"tools":[{"name":"tool\u001b[31m","description":"a\r\u001b[K","inputSchema":{"type":"object"}}]}'
printf '%s\n' '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":"log\u001b[5m"}}'
answer '"error":{"code":-32000,"message":"no\u001b[8m"}'
cat > /dev/null"#;
    let mut inspect = example("inspect");
    let inspect = inspect.args(["--era", "legacy", "--trace", "--call", "tool", "--", "sh", "-c", script]);
    let output = inspect.stdin(Stdio::null()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    let harmless = |character: char| character == '\n' || !character.is_control();
    assert!(text.chars().all(harmless), "{text:?}");
    for escaped in
        ["name\\u{1b}]0;t\\u{7}", "do\\u{1b}[2J\\u{9b}this", "tool\\u{1b}[31m", "no\\u{1b}[8m (-32000)"]
    {
        assert!(text.contains(escaped), "{escaped} is missing in\n{text}");
    }
}

/// Uses every kind of feature of `everything_server` in both eras, with `inspect`.
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
            let mut inspect = example("inspect");
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

    /// Responds to the server request in this line.
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
    server
        .send(&call(3, "ask_model", "{}"), &[r#"the client does not support the request"}],"isError":true"#]);
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
