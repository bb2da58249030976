//! Clients of child processes: exit, stderr, stdio.
#![cfg(unix)]

use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::Command;
#[cfg(target_os = "linux")]
use std::process::Stdio;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use mcp_proto::Millis;
use mcp_proto::client::{Connect, Timeouts};
use mcp_proto_std::{ConnectError, Connector, Ending, Stderr};

/// The start of a shell script: reads one line, and responds to `initialize`.
const HANDSHAKE: &str = r#"read line; printf '%s\n' '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"sh","version":"1"}}}'; "#;

const SHORT_ENDING: Ending =
    Ending { after_close: Duration::from_millis(100), after_terminate: Duration::from_millis(100) };

fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

fn connector() -> Connector {
    Connector::new("test", "1").connect(Connect::Handshake).stderr(Stderr::null())
}

#[test]
fn child_exits_when_stdin_closes() {
    let client = connector().spawn(shell(&format!("{HANDSHAKE} cat >/dev/null; exit 7"))).unwrap();
    assert_eq!(client.server().name, "sh");
    assert_eq!(client.close().unwrap().code(), Some(7));
    assert_eq!(client.close().unwrap().code(), Some(7), "the status stays available");
}

#[test]
fn child_ignoring_stdin_end_is_terminated() {
    let client =
        connector().ending(SHORT_ENDING).spawn(shell(&format!("{HANDSHAKE} exec sleep 1000"))).unwrap();
    assert_eq!(client.close().unwrap().signal(), Some(15));
}

#[test]
fn child_ignoring_sigterm_is_killed() {
    let script = format!("trap '' TERM; {HANDSHAKE} exec sleep 1000");
    let client = connector().ending(SHORT_ENDING).spawn(shell(&script)).unwrap();
    let start = Instant::now();
    assert_eq!(client.close().unwrap().signal(), Some(9));
    assert!(start.elapsed() >= Duration::from_millis(200), "the child has the configured time to exit");
}

#[test]
fn dropping_last_handle_ends_child() {
    let (sender, ended) = channel();
    let stderr = Stderr::lines(move |line| sender.send(line.to_string()).unwrap());
    let script = format!("{HANDSHAKE} cat >/dev/null; echo bye >&2");
    drop(connector().stderr(stderr).spawn(shell(&script)).unwrap());
    assert_eq!(ended.recv_timeout(Duration::from_secs(20)).unwrap(), "bye");
}

#[test]
fn stderr_tail_keeps_last_lines() {
    let (stderr, tail) = Stderr::tail(2);
    let (sender, seen) = channel();
    let error = connector().stderr(stderr).spawn(shell("printf 'a\\nb\\r\\nc\\n' >&2; exit 5")).unwrap_err();
    let ConnectError::Closed(Some(status)) = error else { panic!("{error:?}") };
    assert_eq!(status.code(), Some(5));
    assert_eq!(error.to_string(), "the server exited before it responded (exit status: 5)");
    // The thread that reads stderr may still run, if it needs more time than the connector waits.
    std::thread::spawn(move || {
        while tail.lines() != ["b", "c"] {
            std::thread::yield_now();
        }
        sender.send(()).unwrap();
    });
    seen.recv_timeout(Duration::from_secs(20)).unwrap();
}

#[test]
fn stderr_callback_panic_does_not_stop_reading() {
    let (sender, lines) = channel();
    let stderr = Stderr::lines(move |line| {
        assert_ne!(line, "ouch", "expected panic");
        sender.send(line.to_string()).unwrap();
    });
    let script = format!("echo ouch >&2; echo one >&2; {HANDSHAKE} echo two >&2; cat >/dev/null; exit 7");
    let client = connector().stderr(stderr).spawn(shell(&script)).unwrap();
    for line in ["one", "two"] {
        assert_eq!(lines.recv_timeout(Duration::from_secs(20)).as_deref(), Ok(line));
    }
    assert_eq!(client.close().unwrap().code(), Some(7));
}

#[test]
fn connect_error_quotes_output_that_is_no_message() {
    let quote = "; the server wrote a line that is not a message: `Listening on port 3000`";
    let script = "printf 'Listening on port 3000\\nReady\\n'";
    let error = connector().spawn(shell(&format!("{script}; exit 5"))).unwrap_err();
    assert_eq!(error.to_string(), format!("the server exited before it responded (exit status: 5){quote}"));
    let patience = Timeouts { initialize: Millis(300), ..Timeouts::DEFAULT };
    let silent = shell(&format!("{script}; cat >/dev/null"));
    let error = connector().timeouts(patience).spawn(silent).unwrap_err();
    assert_eq!(error.to_string(), format!("the server did not respond in time{quote}"));
    let script = "printf '\\033[1m%0300d\\n' 7; exit 5";
    let error = connector().spawn(shell(script)).unwrap_err().to_string();
    let quoted = error.split('`').nth(1).unwrap();
    assert!(quoted.starts_with("\\u{1b}[1m000") && quoted.len() < 210, "{error}");
}

#[test]
fn spawn_failure_is_an_io_error() {
    let error = connector().spawn(Command::new("/does/not/exist")).unwrap_err();
    assert!(matches!(error, ConnectError::Io(_)));
}

#[test]
fn server_exiting_at_probe_is_started_again() {
    let script = format!(
        r#"case "$(dd bs=64 count=1 2>/dev/null)" in *discover*) exit 3;; esac; {HANDSHAKE} cat >/dev/null"#
    );
    // `dd` has already read the start of the first line, so the script must not read a line again.
    let script = script.replace("read line; ", "");
    let client = connector().connect(Connect::Automatic).spawn(shell(&script)).unwrap();
    assert_eq!(client.server().revision.as_str(), "2025-11-25");
    client.close();
    // If the restarted server also exits, `spawn` returns an error.
    let error = connector().connect(Connect::Automatic).spawn(shell("exit 4")).unwrap_err();
    assert!(matches!(error, ConnectError::Closed(Some(status)) if status.code() == Some(4)), "{error:?}");
}

#[test]
fn killed_child_closes_the_client() {
    let client = connector().spawn(shell(&format!("{HANDSHAKE} kill -9 $$"))).unwrap();
    assert_eq!(client.ping(), Err(mcp_proto_std::CallError::Closed));
    assert_eq!(client.close().unwrap().signal(), Some(9));
}

#[test]
fn stdout_carries_only_the_protocol() {
    let (sender, lines) = channel();
    let stderr = Stderr::lines(move |line| sender.send(line.to_string()).unwrap());
    let client = connector()
        .stderr(stderr)
        .on_notification(|notification| panic!("{notification:?}"))
        .spawn(example("noisy"))
        .unwrap();
    for _ in 0..3 {
        assert_eq!(client.call_json("noisy", "{}").unwrap().text().as_deref(), Some("quiet"));
    }
    assert!(client.close().unwrap().success());
    let lines: Vec<String> = (0..6).map(|_| lines.recv_timeout(Duration::from_secs(20)).unwrap()).collect();
    assert_eq!(lines.iter().filter(|line| *line == "echoed").count(), 3);
    assert_eq!(lines.iter().filter(|line| *line == "printed").count(), 3);
}

/// Returns a command that runs an example. Panics if the example is not built.
fn example(name: &str) -> Command {
    let test: PathBuf = std::env::current_exe().unwrap();
    let profile = test.parent().and_then(|deps| deps.parent()).unwrap();
    let path = profile.join("examples").join(name);
    // `cargo test` builds the examples; `cargo test --test it` does not.
    assert!(path.exists(), "build it first: cargo build -p mcp-proto-std --examples");
    Command::new(path)
}

#[test]
fn all_stderr_lines_arrive_before_exit_is_reported() {
    let (received, lines) = channel();
    let stderr = Stderr::lines(move |line| {
        std::thread::sleep(Duration::from_millis(5));
        received.send(line.to_owned()).unwrap();
    });
    let script = "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do echo $i >&2; done; exit 3";
    let failed = connector().stderr(stderr).spawn(shell(script)).unwrap_err();
    assert!(matches!(failed, ConnectError::Closed(Some(status)) if status.code() == Some(3)), "{failed:?}");
    assert_eq!(lines.try_iter().count(), 20, "the last lines explain the failure");
}

/// Returns a value from a file in `/proc`. Returns `None` if the file is not readable or lacks the value.
#[cfg(target_os = "linux")]
fn proc_text(process: u32, file: &str, name: &str) -> Option<String> {
    let text = std::fs::read_to_string(format!("/proc/{process}/{file}")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.trim_start_matches(':').trim().to_owned())
}

#[cfg(target_os = "linux")]
fn proc_value(process: u32, file: &str, name: &str) -> Option<u64> {
    proc_text(process, file, name)?.parse().ok()
}

#[cfg(target_os = "linux")]
#[test]
fn burst_of_requests_needs_one_read_and_one_write() {
    use std::io::{BufRead, BufReader, Write};
    let mut child =
        example("noisy").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut requests = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    let ping = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
    let mut serve = |pings: usize| {
        requests.write_all(ping.repeat(pings).as_bytes()).unwrap();
        (0..pings).for_each(|_| assert!(answers.next().unwrap().unwrap().contains("result")));
        // The kernel counts a write when the system call returns. The responses can arrive before that, so wait until
        // the process no longer runs.
        while proc_text(child.id(), "status", "State")?.starts_with('R') {
            std::thread::sleep(Duration::from_millis(5));
        }
        let value = |file, name| proc_value(child.id(), file, name);
        Some((value("status", "Threads")?, value("io", "syscr")?, value("io", "syscw")?))
    };
    // The first request needs more system calls, because the output tries its write modes.
    serve(1);
    // The read buffer grows until it holds the largest number of requests that arrive at once.
    serve(50);
    if let Some((1, reads, writes)) = serve(50) {
        for round in 1..=5 {
            assert_eq!(serve(50), Some((1, reads + round, writes + round)));
        }
    } else {
        assert_eq!(proc_value(child.id(), "status", "Threads"), Some(1));
    }
    drop(requests);
    assert!(child.wait().unwrap().success());
}
