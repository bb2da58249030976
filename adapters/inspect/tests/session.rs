//! Sessions with `mcp-inspect` as the client.

use std::process::Stdio;

use serde_json::Value;

use crate::support::{example, inspect, serve_results};

#[test]
fn servers_of_both_eras_are_shown_and_set_the_exit_code() {
    let server = example("stdio_server").get_program().to_owned();
    let shown = |arguments: &[&str]| {
        let output = inspect().args(arguments).arg("--").arg(&server).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
        (output.status.code(), text)
    };
    let cases: [(&[&str], Option<i32>, &[&str]); 11] = [
        (&["--era", "legacy"], Some(0), &["2025-11-25, handshake", "host_info", "seconds: integer"]),
        (
            &["--era", "modern", "--trace"],
            Some(0),
            &["2026-07-28, no handshake", "|- 1 server/discover", "tools/list"],
        ),
        (&["--call", "add", "--args", r#"{"a":2,"b":40}"#], Some(0), &["result of the tool:", "42"]),
        (&["--call", "subtract"], Some(1), &["subtract: Unknown tool: subtract (-32602)"]),
        (&["--call", "add", "--args", "{}"], Some(1), &["missing field `a`", "the tool failed"]),
        (&["--era", "middle"], Some(2), &["middle is not an era", "usage: mcp-inspect"]),
        (&["--check", "--web"], Some(2), &["--web shows one session"]),
        (&["--web", "0.0.0.0:0"], Some(2), &["--web 0.0.0.0:0: the page is served on loopback only"]),
        (&["--log", "log.txt"], Some(2), &["--log and --transcript need --tap"]),
        (
            &["--read", "a:b"],
            Some(1),
            &[
                "a:b: the server or the revision does not support this request, which needs the capability `resources`",
            ],
        ),
        (
            &["--check", "--call", "subtract", "--revision", "2025-11-25"],
            Some(0),
            &[
                "2025-11-25: subtract: {\"code\":-32602,\"message\":\"Unknown tool: subtract\"}",
                "no violations",
            ],
        ),
    ];
    for (arguments, code, expected) in cases {
        let (exit, text) = shown(arguments);
        assert_eq!(exit, code, "{arguments:?}\n{text}");
        for words in expected {
            assert!(text.contains(words), "{arguments:?}: {words} is missing in\n{text}");
        }
    }
}

#[test]
fn log_message_that_arrives_after_the_result_is_shown() {
    let url = serve_results(&[
        (
            "initialize",
            r#"{"protocolVersion":"2025-11-25","capabilities":{"logging":{},"tools":{}},"serverInfo":{"name":"s","version":"1"}}"#,
        ),
        (
            "GET",
            r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"it is warm"}}"#,
        ),
        ("logging/setLevel", "{}"),
        ("tools/list", r#"{"tools":[]}"#),
        ("tools/call", r#"{"content":[]}"#),
    ]);
    let output = inspect().args(["--log-level", "info", "--call", "log", &url]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && text.contains("it is warm"), "{text}");
}

#[test]
fn help_and_version_are_printed_to_stdout() {
    for (option, expected) in [
        ("--help", &["usage: mcp-inspect", "--tap", "--web [ADDRESS]", "Examples:"][..]),
        ("-h", &["usage: mcp-inspect"]),
        ("--version", &[concat!("mcp-inspect ", env!("CARGO_PKG_VERSION"))]),
    ] {
        let output = inspect().arg(option).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{option}");
        assert!(expected.iter().all(|words| text.contains(words)), "{option}: {text}");
        assert!(text.lines().all(|line| line.chars().count() <= 120), "{option}");
    }
}

#[test]
fn closed_stdout_ends_the_program_without_a_panic() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = inspect().arg("--help").stdout(writer).output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr)), (Some(1), "".into()));
}

#[test]
fn missing_server_is_an_error_with_a_hint() {
    for (arguments, expected) in [
        (&[][..], "the command or the URL of the server is missing"),
        (&["--tap", "http://127.0.0.1:1/mcp"], "--tap needs the command of a server, not a URL"),
        (&["--bogus"], "--bogus is not an option"),
        (&["--read", "a:b", "--read", "a:c", "server"], "--read may be given once"),
        (&["--prompt", "a", "--call", "b", "--prompt", "c", "server"], "--prompt may be given once"),
        (&["--check", "--call", "add", "--args", "{", "server"], "--args is not JSON"),
        (&["--call", "add", "--args", "[1]", "server"], "--args is not a JSON object"),
        (&["--revision", "2025-06-19", "server"], "2025-06-19 is not a revision: 2024-11-05, 2025-03-26,"),
        (&["--log-level", "loud", "server"], "loud is not a level: debug, info, notice,"),
        (
            &["--era", "modern", "--revision", "2025-06-18", "server"],
            "--era modern has no revision 2025-06-18",
        ),
        (
            &["--revision", "2026-07-28", "--era", "legacy", "server"],
            "--era legacy has no revision 2026-07-28",
        ),
        (&["http://127.0.0.1:1/mcp", "--call", "add"], "the options must precede the URL"),
        (&["--header", "a=b", "server"], "--header needs a URL"),
        (&["--check", "--era", "modern", "server"], "--era has no effect with --check"),
        (&["--check", "--read", "a:b", "server"], "--read has no effect with --check"),
        (&["--tap", "--call", "add", "server"], "--call has no effect with --tap"),
        (&["--check", "--tap", "server"], "--check has no effect with --tap"),
        (&["--json", "--tap", "server"], "--json has no effect with --tap"),
        (&["--tap", "-q", "server"], "--quiet has no effect with --tap"),
    ] {
        let output = inspect().args(arguments).output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(text.contains(expected) && text.contains("mcp-inspect --help"), "{text}");
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{arguments:?}");
    }
}

#[test]
#[cfg(unix)]
fn check_with_an_endless_timeout_ends_with_its_server() {
    let output = inspect().args(["--check", "--timeout", "1e19", "--", "true"]).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(!text.contains("panicked"), "{text}");
}

#[test]
#[cfg(unix)]
fn control_characters_of_a_server_are_escaped() {
    // A server that knows only the handshake. Its texts contain an escape sequence that sets the title of a terminal.
    let script = r#"answer() {
    read -r line; case $line in *notifications*) read -r line ;; esac
    id=${line#*\"id\":}
    printf '{"jsonrpc":"2.0","id":%s,%s}\n' "${id%%,*}" "$1"
}
answer '"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"name\u001b]0;t\u0007","version":"1"},"instructions":"do\u001b[2J\u009bthis"}'
answer '"result":{"tools":[{"name":"tool\u001b[31m","description":"a\r\u001b[K","inputSchema":{"type":"object","properties":{"filter":{"type":["object","null"]}}}}]}'
printf '%s\n' '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":"log\u001b[5m"}}'
answer '"error":{"code":-32000,"message":"no\u001b[8m"}'
cat > /dev/null"#;
    let mut inspect = inspect();
    let inspect = inspect.args(["--era", "legacy", "--trace", "--call", "tool", "--", "sh", "-c", script]);
    let output = inspect.stdin(Stdio::null()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    let harmless = |character: char| character == '\n' || !character.is_control();
    assert!(text.chars().all(harmless), "{text:?}");
    for escaped in [
        "name\\u{1b}]0;t\\u{7}",
        "filter?: object or null",
        "do\\u{1b}[2J\\u{9b}this",
        "tool\\u{1b}[31m",
        "no\\u{1b}[8m (-32000)",
    ] {
        assert!(text.contains(escaped), "{escaped} is missing in\n{text}");
    }
}

/// A server that knows only the handshake, and whose tool requests a form.
#[cfg(unix)]
const FORM_SERVER: &str = r#"next() { read -r line; case $line in *notifications*) read -r line ;; esac; id=${line#*\"id\":}; id=${id%%,*}; }
answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
next
answer '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}'
next
answer '{"tools":[{"name":"paint","description":"Paints a house in the color that the user chooses in a form, and then paints it once more in the same color, as the first coat is never enough in this town.","inputSchema":{"type":"object"}}]}'
next
echo '{"jsonrpc":"2.0","id":"form","method":"elicitation/create","params":{"message":"Which?","requestedSchema":{"type":"object","properties":{"color":{"type":"string"}}}}}'
read -r line
answer '{"content":[{"type":"text","text":"painted"}]}'
cat > /dev/null"#;

#[test]
#[cfg(unix)]
fn answer_for_an_unknown_field_is_an_error() {
    for (answers, code, expected) in [
        (&["color=red"][..], 0, "answered {\"color\":\"red\"}"),
        (&["color=red", "colour=red"], 1, "--answer colour: the server has not requested this field"),
        (&["color=red", "open=yes"], 1, "--answer open: the server has not requested this field"),
    ] {
        let mut inspect = inspect();
        inspect.args(["--era", "legacy", "--call", "paint"]);
        answers.iter().for_each(|answer| _ = inspect.args(["--answer", answer]));
        let output = inspect.args(["--", "sh", "-c", FORM_SERVER]).stdin(Stdio::null()).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
        assert!(text.contains("painted") && text.contains(expected), "{answers:?}\n{text}");
        assert_eq!(output.status.code(), Some(code), "{answers:?}\n{text}");
    }
}

#[test]
#[cfg(unix)]
fn trace_shows_whole_messages_without_a_terminal() {
    let mut inspect = inspect();
    let inspect = inspect.args(["--era", "legacy", "--trace", "--", "sh", "-c", FORM_SERVER]);
    let text = String::from_utf8(inspect.stdin(Stdio::null()).output().unwrap().stderr).unwrap();
    assert!(text.contains("in this town.\",\"inputSchema\":{\"type\":\"object\"}}]}}\n"), "{text}");
}

#[test]
#[cfg(unix)]
fn violations_and_refused_requests_are_explained() {
    const INITIALIZE: &str = r#"answer '"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}'"#;
    const TOOLS: &str = r#"answer '"result":{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}'"#;
    let cases: [(&[&str], Option<i32>, &str); 5] = [
        (
            &["echo 'Starting the server'", INITIALIZE, TOOLS],
            Some(0),
            "violation: server: the line is not JSON: unexpected character at byte 0: \"Starting the server\"",
        ),
        (
            &[INITIALIZE, r#"answer '"result":{"tools":[{"name":5,"inputSchema":{"type":"object"}}]}'"#],
            Some(0),
            "tools/list: `tools[0].name` is 5, not a string",
        ),
        (
            &[r#"answer '"result":{"protocolVersion":"2025-11-25","capabilities":{}}'"#],
            Some(1),
            "initialize: `serverInfo` is missing",
        ),
        (
            &[INITIALIZE, r#"answer '"error":{"code":"E1","message":5}'"#],
            Some(1),
            "mcp-inspect: listing the tools: an error without a message (0)",
        ),
        (
            &[
                INITIALIZE,
                r#"echo '{"jsonrpc":"2.0","id":"s","method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}'"#,
                TOOLS,
            ],
            Some(0),
            "server: Method not found: sampling/createMessage: --sample TEXT answers the request",
        ),
    ];
    for (script, code, expected) in cases {
        let answer = r#"answer() {
            read -r line; case $line in *notifications*|*-32601*) read -r line ;; esac
            case $line in *-32601*) read -r line ;; esac
            id=${line#*\"id\":}; printf '{"jsonrpc":"2.0","id":%s,%s}\n' "${id%%,*}" "$1"; }"#;
        let script = format!("{answer}\n{}\ncat > /dev/null", script.join("\n"));
        let mut inspect = inspect();
        let inspect = inspect.args(["--era", "legacy", "--timeout", "20", "--", "sh", "-c", &script]);
        let output = inspect.stdin(Stdio::null()).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
        assert!(text.contains(expected), "{expected} is missing in\n{text}");
        assert_eq!(output.status.code(), code, "{text}");
    }
}

#[test]
fn log_level_is_sent_to_a_server_that_declares_no_logging() {
    let url = serve_results(&[
        (
            "server/discover",
            r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private"}"#,
        ),
        ("tools/list", r#"{"resultType":"complete","tools":[],"ttlMs":0,"cacheScope":"private"}"#),
    ]);
    let output =
        inspect().args(["--era", "modern", "--trace", "--log-level", "info", &url]).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && text.contains(r#"/logLevel":"info""#), "{text}");
    assert!(text.contains("may ignore --log-level"), "{text}");
}

#[test]
#[cfg(unix)]
fn json_has_one_object_a_line_and_quiet_only_failures() {
    let run = |arguments: &[&str]| {
        let mut inspect = inspect();
        inspect.args(arguments).args(["--era", "legacy", "--call", "paint", "--", "sh", "-c", FORM_SERVER]);
        let output = inspect.stdin(Stdio::null()).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (code, text) = run(&["--json", "--answer", "color=red"]);
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let methods: Vec<_> = lines.iter().map(|line| line["method"].as_str().unwrap()).collect();
    assert_eq!(code, Some(0), "{text}");
    assert_eq!(methods, ["initialize", "tools/list", "elicitation/create", "tools/call"]);
    assert_eq!(lines[2]["params"]["message"], "Which?");
    assert_eq!(lines[3]["params"]["name"], "paint");
    assert_eq!(lines[3]["result"]["content"][0]["text"], "painted");
    assert_eq!(run(&["--quiet", "--answer", "color=red"]), (Some(0), String::new()));
    let (code, text) = run(&["--quiet", "--json", "--answer", "colour=red"]);
    let failure = "--answer colour: the server has not requested this field";
    assert_eq!(code, Some(1));
    assert!(
        serde_json::from_str::<Value>(&text).unwrap()["failure"].as_str().unwrap().contains(failure),
        "{text}"
    );
}

#[test]
#[cfg(unix)]
fn violations_are_json_objects() {
    // A server of the handshake era, whose list of tools is not an array. The server exits after sending this list.
    let script = r#"answer() { read -r line; id=${line#*\"id\":}; printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "${id%%,*}" "$1"; }
answer '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}'
read -r line
answer '{}'
answer '{"tools":7}'"#;
    let mut inspect = inspect();
    let inspect = inspect.args([
        "--check",
        "--json",
        "--revision",
        "2025-06-18",
        "--timeout",
        "5",
        "--",
        "sh",
        "-c",
        script,
    ]);
    let output = inspect.stdin(Stdio::null()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert_eq!((&lines[0]["revision"], &lines[0]["checked"]), (&"2025-06-18".into(), &true.into()));
    let violation = lines.iter().find(|line| line["violation"] == "result-shape").unwrap();
    assert_eq!(violation["text"], "`tools` is 7, not an array");
    assert_eq!(violation["revisions"], serde_json::json!(["2025-06-18"]));
    assert_eq!((&violation["method"], &violation["required"]), (&"tools/list".into(), &true.into()));
}
