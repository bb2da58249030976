//! The examples, as the processes that they are.
use std::path::PathBuf;
use std::process::{Command, Stdio};

fn example(name: &str) -> Command {
    let test = std::env::current_exe().unwrap();
    let profile: PathBuf = test.parent().and_then(|deps| deps.parent()).unwrap().into();
    let path = profile.join("examples").join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    // `cargo test` builds the examples; `cargo test --test examples` does not.
    assert!(path.exists(), "build it first: cargo build --examples");
    Command::new(path)
}

#[test]
fn the_demo_finds_everything_as_it_should_be() {
    let output = example("demo").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    assert_eq!(text.matches("✓").count(), 30, "{text}");
}

#[test]
fn the_server_answers_on_stdout_and_ends_with_its_input() {
    use std::io::Write;
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
fn the_event_loop_ends_with_both_sides_closed() {
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
fn inspect_shows_a_server_of_either_era_and_its_exit_code_tells_success() {
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
        (&["--call", "add", "--args", r#"{"a":2,"b":40}"#], Some(0), &["the tool answers:", "42"]),
        (&["--call", "subtract"], Some(1), &["the call was refused: Unknown tool: subtract (-32602)"]),
        (&["--call", "add", "--args", "{}"], Some(1), &["missing field `a`", "the tool failed"]),
        (&["--era", "middle"], Some(2), &["middle is no era", "usage: inspect"]),
    ];
    for (arguments, code, expected) in cases {
        let (exit, text) = inspect(arguments);
        assert_eq!(exit, code, "{arguments:?}\n{text}");
        for words in expected {
            assert!(text.contains(words), "{arguments:?}: {words} is missing in\n{text}");
        }
    }
}
