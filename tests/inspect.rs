//! The modes of `inspect` that watch a server: `--check` and `--tap`.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use crate::examples::example;

/// Runs a command with this input.
fn run(command: &mut Command, input: &[u8]) -> Output {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // The program may end before it has read everything.
    let writer = std::thread::spawn(move || _ = stdin.write_all(&input));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

/// A file of this test run, which does not exist yet.
fn temporary(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("mcp-proto-{}-{name}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    path
}

#[test]
fn check_finds_no_violation_in_our_servers() {
    for server in ["everything_server", "stdio_server"] {
        let output = run(
            example("inspect").args(["--check", "--timeout", "300", "--"]).arg(example(server).get_program()),
            b"",
        );
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!((output.status.code(), &*text), (Some(0), "no violations\n"), "{server}");
    }
}

#[test]
#[cfg(unix)]
fn check_reports_the_violations_of_a_server() {
    // The server prints a banner, answers every request with an empty result, and reads to the end.
    let script = r#"echo 'server is running'
    while read -r line; do
        case $line in *notifications*|\[*) continue ;; esac
        id=${line#*\"id\":}
        printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"tools":7}}\n' "${id%%,*}"
    done"#;
    let mut inspect = example("inspect");
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
fn check_fails_without_a_server() {
    let output = run(example("inspect").args(["--check", "--", "/no/such/program"]), b"");
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && text.contains("cannot start /no/such/program"), "{text}");
}

#[test]
fn tap_records_a_session_that_stays_the_same() {
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
    let mut inspect = example("inspect");
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
        run(example("inspect").args(["--tap", "--log", "/dev/null", "--"]).args(words), input)
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
fn tap_forwards_a_part_of_a_line_at_once() {
    use std::io::Read;
    let mut inspect = example("inspect");
    let inspect = inspect.args(["--tap", "--log", "/dev/null", "--", "cat"]);
    let mut child = inspect.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    for part in [&b"{\"half"[..], b" a line", b"\n"] {
        stdin.write_all(part).unwrap();
        let mut echoed = vec![0; part.len()];
        // Waits for ever if the tap waits for the end of the line.
        stdout.read_exact(&mut echoed).unwrap();
        assert_eq!(echoed, part);
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}
