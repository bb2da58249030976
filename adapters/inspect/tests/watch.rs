//! The modes that watch a server: `--check` and `--tap`.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::support::{example, inspect, run, serve_results};

/// Returns the path of a file of this test run. The file does not exist yet.
fn temporary(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("mcp-proto-{}-{name}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    path
}

#[test]
fn check_finds_no_violation_in_our_servers() {
    for server in ["everything_server", "stdio_server"] {
        let output = run(
            inspect().args(["--check", "--timeout", "300", "--"]).arg(example(server).get_program()),
            b"",
        );
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!((output.status.code(), &*text), (Some(0), "no violations\n"), "{server}");
    }
}

#[test]
fn arguments_of_several_lines_are_sent_in_one() {
    for mode in [&["--check"][..], &[]] {
        let server = example("everything_server");
        let call = ["--call", "add", "--args", "{\n  \"a\": 2,\r\n  \"b\": 40\n}", "--"];
        let output = run(inspect().args(mode).args(call).arg(server.get_program()), b"");
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(0), "{text}");
    }
}

#[test]
#[cfg(unix)]
fn check_reports_the_violations_of_a_server() {
    // The server prints a banner, and answers each request outside a batch with the same result. The server exits at
    // the end of its input.
    let script = r#"echo 'server is running'
    while read -r line; do
        case $line in *notifications*|\[*) continue ;; esac
        id=${line#*\"id\":}
        printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"tools":7}}\n' "${id%%,*}"
    done"#;
    let mut inspect = inspect();
    let inspect =
        inspect.args(["--check", "--revision", "2025-06-18", "--timeout", "300", "--", "sh", "-c", script]);
    let output = run(inspect, b"");
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    for expected in [
        "line-json: the line is not JSON",
        "result-shape: initialize: `serverInfo` is missing",
        "result-shape: tools/list: `tools` is 7, not an array",
        "capability: prompts/list: the request has a result, but its capability was not declared",
        "cursor-code (recommended): tools/list",
        "    2025-06-18",
    ] {
        assert!(text.contains(expected), "{expected} is missing in\n{text}");
    }
}

#[test]
fn check_of_a_url_reports_the_violations_of_the_server() {
    const GOOD: &str = r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}"#;
    const WITHOUT_VERSION: &str = r#"{"capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}"#;
    type Results = &'static [(&'static str, &'static str)];
    let cases: [(Results, Option<i32>, &[&str]); 4] = [
        (&[("initialize", GOOD), ("tools/list", r#"{"tools":[]}"#)], Some(0), &["no violations\n"]),
        (
            &[
                ("initialize", GOOD),
                ("tools/list", r#"{"tools":[{"name":"t","description":7,"inputSchema":{"type":"object"}}]}"#),
            ],
            Some(1),
            &["result-shape: tools/list: ", "    2025-11-25; specification: ", "1 violation\n"],
        ),
        // The client refuses the result, but the report names the violation.
        (&[("initialize", WITHOUT_VERSION)], Some(1), &["negotiated-version: initialize: "]),
        (&[], Some(1), &["mcp-inspect: cannot connect: "]),
    ];
    for (results, code, expected) in cases {
        let url = serve_results(results);
        let output = run(inspect().args(["--check", "--era", "legacy", &url]), b"");
        let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), code, "{text}");
        for words in expected {
            assert!(text.contains(words), "{words:?} is missing in\n{text}");
        }
    }
}

#[test]
fn refused_probe_of_a_server_with_a_handshake_is_no_violation() {
    const INITIALIZE: (&str, &str) = (
        "initialize",
        r#"{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}"#,
    );
    let servers: [&[(&str, &str)]; 2] = [
        &[INITIALIZE, ("400", r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"no"},"id":null}"#)],
        &[
            INITIALIZE,
            ("400", r#"{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"no"}}"#),
        ],
    ];
    for server in servers {
        let output = run(inspect().args(["--check", &serve_results(server)]), b"");
        let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && text.contains("no violations\n"), "{text}");
    }
}

#[test]
#[cfg(unix)]
fn check_ends_if_the_server_exits() {
    let script = r#"while read -r line; do
        id=${line#*\"id\":}
        case $line in
            *initialize\"*) result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}' ;;
            *notifications*) continue ;;
            *ping*) result={} ;;
            *) exit 7 ;;
        esac
        printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "${id%%[,\}]*}" "$result"
    done"#;
    let mut inspect = inspect();
    let inspect = inspect.args(["--check", "--revision", "2025-06-18", "--", "sh", "-c", script]);
    let output = run(inspect, b"");
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    let exit = "2025-06-18: the server exited (status 7) after tools/list\n";
    assert!(text.contains(exit) && text.ends_with("\n1 violation\n"), "{text}");
}

#[test]
fn check_of_a_url_finds_no_violation_in_our_server() {
    let mut server = example("everything_server");
    let server = server.args(["--http", "127.0.0.1:0"]).stderr(Stdio::piped()).stdin(Stdio::null());
    let mut server = server.spawn().unwrap();
    let mut line = String::new();
    let mut stderr = BufReader::new(server.stderr.take().unwrap());
    stderr.read_line(&mut line).unwrap();
    let url = line.trim().strip_prefix("everything_server: ").unwrap();
    for era in ["legacy", "modern"] {
        let call = ["--call", "add", "--args", r#"{"a":2,"b":40}"#];
        let output = run(inspect().args(["--check", "--era", era]).args(call).arg(url), b"");
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(0), "{era}: {text}");
        assert!(text.contains("42") && text.ends_with("no violations\n"), "{era}: {text}");
    }
    server.kill().unwrap();
    server.wait().unwrap();
}

#[test]
fn check_fails_without_a_server() {
    let output = run(inspect().args(["--check", "--", "/no/such/program"]), b"");
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && text.contains("cannot start /no/such/program"), "{text}");
}

#[test]
fn tap_records_a_session_and_leaves_it_unchanged() {
    let input = concat!(
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"mine"}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"add","arguments":{"a":2,"b":40}}}"#,
        "\n",
    );
    let server = example("stdio_server").get_program().to_owned();
    let direct = run(&mut Command::new(&server), input.as_bytes());
    let (log, transcript) = (temporary("tap.log"), temporary("tap.txt"));
    let mut inspect = inspect();
    let inspect = inspect.args(["--tap", "--log"]).arg(&log).arg("--transcript").arg(&transcript);
    let tapped = run(inspect.arg("--").arg(&server), input.as_bytes());
    assert_eq!((tapped.stdout, tapped.status.code()), (direct.stdout.clone(), direct.status.code()));

    let logged = std::fs::read_to_string(&log).unwrap();
    let shown = logged.lines().filter(|line| line.contains(" client > ")).count();
    assert_eq!(shown, 4, "{logged}");
    let violation = "! client 1 tools/list: the server has not issued this cursor [cursor-opaque; ";
    assert!(logged.contains(violation), "{logged}");

    let recorded = std::fs::read_to_string(&transcript).unwrap();
    let lines = |sign: &str| -> String {
        let lines = recorded.lines().filter_map(|line| line.strip_prefix(sign));
        lines.map(|line| format!("{line}\n")).collect()
    };
    assert_eq!(lines("> "), input);
    assert_eq!(lines("< ").as_bytes(), direct.stdout);
    let _ = (std::fs::remove_file(log), std::fs::remove_file(transcript));
}

#[test]
#[cfg(unix)]
fn tap_passes_any_bytes_and_the_exit_code() {
    // More bytes than a pipe holds, with every value.
    let bytes: Vec<u8> = (0..300_000_u32).map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes()[0]).collect();
    let tap = |words: &[&str], input: &[u8]| {
        run(inspect().args(["--tap", "--log", "/dev/null", "--"]).args(words), input)
    };
    let output = tap(&["cat"], &bytes);
    assert!(output.stdout == bytes, "{} bytes", output.stdout.len());
    assert_eq!(output.status.code(), Some(0));
    for (script, code) in [("exit 7", 7), ("cat >/dev/null; exit 3", 3), ("kill -TERM $$", 128 + 15)] {
        assert_eq!(tap(&["sh", "-c", script], b"x\n").status.code(), Some(code), "{script}");
    }
    let output = tap(&["sh", "-c", "echo to the user >&2"], b"");
    assert_eq!(output.stderr, b"to the user\n");
}

#[test]
#[cfg(unix)]
fn tap_appends_to_its_log() {
    let log = temporary("appended.log");
    let ping = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    for sessions in 1..=2 {
        run(inspect().args(["--tap", "--log"]).arg(&log).args(["--", "cat"]), ping);
        let logged = std::fs::read_to_string(&log).unwrap();
        assert_eq!(logged.matches(" client > ").count(), sessions, "{logged}");
    }
    let _ = std::fs::remove_file(log);
}

#[test]
#[cfg(unix)]
fn tap_waits_for_nonblocking_streams() {
    use std::net::Shutdown;
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;

    let (mut client, stream) = UnixStream::pair().unwrap();
    stream.set_nonblocking(true).unwrap();
    let mut inspect = inspect();
    let inspect = inspect.args(["--tap", "--log", "/dev/null", "--", "cat"]);
    let output = OwnedFd::from(stream.try_clone().unwrap());
    let mut child = inspect.stdin(OwnedFd::from(stream)).stdout(output).spawn().unwrap();
    // Drop the copies of the stream that the command holds.
    inspect.stdin(Stdio::null()).stdout(Stdio::null());
    std::thread::sleep(std::time::Duration::from_millis(200));
    // More bytes than the socket holds.
    let bytes = b"a line\n".repeat(200_000);
    let mut writer = client.try_clone().unwrap();
    let sent = bytes.clone();
    let writer = std::thread::spawn(move || {
        writer.write_all(&sent).unwrap();
        writer.shutdown(Shutdown::Write).unwrap();
    });
    // Meanwhile, the output of the tap fills up, because the test does not read it yet.
    std::thread::sleep(std::time::Duration::from_millis(200));
    let mut echoed = Vec::new();
    client.read_to_end(&mut echoed).unwrap();
    assert!(echoed == bytes, "{} bytes", echoed.len());
    writer.join().unwrap();
    assert!(child.wait().unwrap().success());
}

#[test]
#[cfg(unix)]
fn tap_forwards_a_part_of_a_line_at_once() {
    let mut inspect = inspect();
    let inspect = inspect.args(["--tap", "--log", "/dev/null", "--", "cat"]);
    let mut child = inspect.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    for part in [&b"{\"half"[..], b" a line", b"\n"] {
        stdin.write_all(part).unwrap();
        let mut echoed = vec![0; part.len()];
        // This read would wait forever if the tap waited for the end of the line.
        stdout.read_exact(&mut echoed).unwrap();
        assert_eq!(echoed, part);
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}
