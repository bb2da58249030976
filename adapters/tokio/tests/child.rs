//! Clients of child processes: exit, stderr, stdio.
#![cfg(unix)]

use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use mcp_proto::client::Connect;
use mcp_proto_tokio::{CallError, CallOptions, ConnectError, Connector, Ending, Reconnect, Stderr};
use tokio::process::Command;
use tokio::sync::mpsc;
use tokio::time::timeout;

/// The start of a shell script: reads one line, and responds to `initialize`.
const HANDSHAKE: &str = r#"read line; printf '%s\n' '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"sh","version":"1"}}}'; "#;

const SHORT_ENDING: Ending =
    Ending { after_close: Duration::from_millis(100), after_terminate: Duration::from_millis(100) };
const SOON: Duration = Duration::from_secs(20);

fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

fn connector() -> Connector {
    Connector::new("test", "1").connect(Connect::Handshake).stderr(Stderr::null())
}

#[tokio::test]
async fn child_exits_when_stdin_closes() {
    let client = connector().spawn(shell(&format!("{HANDSHAKE} cat >/dev/null; exit 7"))).await.unwrap();
    assert_eq!(client.server().name, "sh");
    assert_eq!(client.close().await.unwrap().code(), Some(7));
    assert_eq!(client.close().await.unwrap().code(), Some(7), "the status stays available");
}

#[tokio::test]
async fn child_ignoring_stdin_end_is_terminated() {
    let script = format!("{HANDSHAKE} exec sleep 1000");
    let client = connector().ending(SHORT_ENDING).spawn(shell(&script)).await.unwrap();
    assert_eq!(client.close().await.unwrap().signal(), Some(15));
}

#[tokio::test]
async fn child_ignoring_sigterm_is_killed() {
    let script = format!("trap '' TERM; {HANDSHAKE} exec sleep 1000");
    let client = connector().ending(SHORT_ENDING).spawn(shell(&script)).await.unwrap();
    let start = Instant::now();
    assert_eq!(client.close().await.unwrap().signal(), Some(9));
    assert!(start.elapsed() >= Duration::from_millis(200), "the child has the configured time to exit");
}

#[tokio::test]
async fn close_deadline_covers_exit_and_termination() {
    let long = Ending { after_close: SOON, after_terminate: SOON };
    let child = async |script: &str| {
        connector().ending(long).spawn(shell(&format!("{HANDSHAKE} {script}"))).await.unwrap()
    };
    let limit = Duration::from_millis(400);

    let client = child("exec sleep 1000").await;
    assert_eq!(client.close_within(limit).await.unwrap().signal(), Some(15));

    let client = child("trap '' TERM; exec sleep 1000").await;
    let start = Instant::now();
    assert_eq!(client.close_within(limit).await.unwrap().signal(), Some(9));
    assert!(start.elapsed() < SOON, "{:?}", start.elapsed());

    // A second call shortens the time of a close in progress.
    let client = child("trap '' TERM; exec sleep 1000").await;
    let closing = tokio::spawn({
        let client = client.clone();
        async move { client.close().await }
    });
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(client.close_within(limit / 4).await.unwrap().signal(), Some(9));
    assert_eq!(closing.await.unwrap().unwrap().signal(), Some(9));
}

#[tokio::test]
async fn dropping_last_handle_ends_child() {
    let (sender, mut ended) = mpsc::unbounded_channel();
    let stderr = Stderr::lines(move |line| sender.send(line.to_string()).unwrap());
    let script = format!("{HANDSHAKE} cat >/dev/null; echo bye >&2");
    drop(connector().stderr(stderr).spawn(shell(&script)).await.unwrap());
    assert_eq!(timeout(SOON, ended.recv()).await.unwrap().unwrap(), "bye");
}

#[test]
fn runtime_shutdown_kills_the_child() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let marker = std::env::temp_dir().join(format!("mcp-proto-tokio-child-{}", std::process::id()));
    let script = format!("echo $$ > {}; {HANDSHAKE} exec sleep 1000", marker.display());
    let client = runtime.block_on(connector().spawn(shell(&script))).unwrap();
    let pid = std::fs::read_to_string(&marker).unwrap();
    std::fs::remove_file(&marker).unwrap();
    drop(runtime);
    let start = Instant::now();
    // A zombie has no memory map; a reaped process has no directory.
    while std::fs::read_to_string(format!("/proc/{}/maps", pid.trim())).is_ok_and(|maps| !maps.is_empty()) {
        assert!(start.elapsed() < SOON, "the child still runs");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(client.is_closed());
}

#[tokio::test]
async fn stderr_tail_keeps_last_lines() {
    let (stderr, tail) = Stderr::tail(2);
    let script = shell("printf 'a\\nb\\r\\nc\\n' >&2; exit 5");
    let error = connector().stderr(stderr).spawn(script).await.unwrap_err();
    let ConnectError::Closed(Some(status)) = error else { panic!("{error:?}") };
    assert_eq!(status.code(), Some(5));
    assert_eq!(error.to_string(), "the server exited before it responded (exit status: 5)");
    assert_eq!(tail.lines(), ["b", "c"], "all lines have arrived when the exit is reported");
}

#[tokio::test]
async fn connect_error_quotes_output_that_is_no_message() {
    let error = connector().spawn(shell("echo Listening on port 3000; exit 5")).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the server exited before it responded (exit status: 5); the server wrote a line that is not a message: \
         `Listening on port 3000`"
    );
}

#[tokio::test]
async fn spawn_failure_is_an_io_error() {
    let error = connector().spawn(std::process::Command::new("/does/not/exist")).await.unwrap_err();
    assert!(matches!(error, ConnectError::Io(_)));
    assert!(error.to_string().starts_with("cannot start `"), "{error}");
}

#[tokio::test]
async fn server_exiting_at_probe_is_started_again() {
    let script = format!(
        r#"case "$(dd bs=64 count=1 2>/dev/null)" in *discover*) exit 3;; esac; {HANDSHAKE} cat >/dev/null"#
    );
    // `dd` has read the start of the request, so the script needs no `read`.
    let script = script.replace("read line; ", "");
    let client = connector().connect(Connect::Automatic).spawn(shell(&script)).await.unwrap();
    assert_eq!(client.server().revision.as_str(), "2025-11-25");
    let mut notifications = client.notifications();
    client.close().await;
    assert_eq!(notifications.next().await, None);
    // If the second process also exits, `spawn` returns an error.
    let error = connector().connect(Connect::Automatic).spawn(shell("exit 4")).await.unwrap_err();
    assert!(matches!(error, ConnectError::Closed(Some(status)) if status.code() == Some(4)), "{error:?}");
}

#[tokio::test]
async fn dropped_connect_future_starts_no_second_child() {
    let (sender, mut lines) = mpsc::unbounded_channel();
    let stderr = Stderr::lines(move |line| sender.send(line.to_string()).unwrap());
    // The server does not respond to `server/discover`. A second child would write `begins` again.
    let script = format!(
        r#"echo begins >&2; case "$(dd bs=64 count=1 2>/dev/null)" in *discover*) cat >/dev/null; exit 3;; esac; {HANDSHAKE} cat >/dev/null"#
    );
    let script = script.replace("read line; ", "");
    let connects = connector().connect(Connect::Automatic).stderr(stderr).spawn(shell(&script));
    let mut connects = Box::pin(connects);
    let begins = tokio::select! {
        _ = &mut connects => None,
        line = lines.recv() => line,
    };
    assert_eq!(begins.as_deref(), Some("begins"));
    drop(connects);
    // The stderr channel closes after the exit of the child, without a second `begins`.
    assert_eq!(timeout(SOON, lines.recv()).await.expect("the client ends"), None);
}

#[tokio::test]
async fn stderr_callback_panic_does_not_stop_reading() {
    let (sender, mut lines) = mpsc::unbounded_channel();
    let stderr = Stderr::lines(move |line| {
        assert_ne!(line, "ouch", "expected panic");
        sender.send(line.to_string()).unwrap();
    });
    let script = format!("echo ouch >&2; echo one >&2; {HANDSHAKE} echo two >&2; cat >/dev/null; exit 7");
    let client = connector().stderr(stderr).spawn(shell(&script)).await.unwrap();
    for line in ["one", "two"] {
        assert_eq!(timeout(SOON, lines.recv()).await.unwrap().as_deref(), Some(line));
    }
    assert_eq!(client.close().await.unwrap().code(), Some(7));
}

#[tokio::test]
async fn killed_child_closes_the_client() {
    let client = connector().spawn(shell(&format!("{HANDSHAKE} kill -9 $$"))).await.unwrap();
    assert_eq!(client.ping().await, Err(CallError::Closed));
    assert_eq!(client.close().await.unwrap().signal(), Some(9));
}

/// Returns the command of an example that cargo has built with this test.
fn example(name: &str) -> Command {
    let test: PathBuf = std::env::current_exe().unwrap();
    let profile = test.parent().and_then(|deps| deps.parent()).unwrap();
    let path = profile.join("examples").join(name);
    // `cargo test` builds the examples; `cargo test --test it` does not.
    assert!(path.exists(), "build it first: cargo build -p mcp-proto-tokio --examples");
    Command::new(path)
}

#[tokio::test]
async fn stdout_carries_only_the_protocol() {
    let (sender, mut lines) = mpsc::unbounded_channel();
    let stderr = Stderr::lines(move |line| sender.send(line.to_string()).unwrap());
    let client = connector().stderr(stderr).spawn(example("noisy_task")).await.unwrap();
    let mut notifications = client.notifications();
    for _ in 0..3 {
        assert_eq!(client.call_json("noisy", "{}").await.unwrap().text().as_deref(), Some("quiet"));
    }
    assert!(client.close().await.unwrap().success());
    assert_eq!(notifications.next().await, None, "other output on stdout would be a protocol error");
    let mut received = Vec::new();
    while received.len() < 6 {
        received.push(timeout(SOON, lines.recv()).await.unwrap().unwrap());
    }
    assert_eq!(received.iter().filter(|line| *line == "echoed").count(), 3);
    assert_eq!(received.iter().filter(|line| *line == "printed").count(), 3);
}

#[tokio::test]
async fn stdio_server_shuts_down_while_stdin_is_open() {
    let client = connector().spawn(example("noisy_task")).await.unwrap();
    let ended = timeout(SOON, client.call_json("leave", "{}")).await.unwrap();
    assert_eq!(ended.unwrap().text().as_deref(), Some("bye"), "the last response is written");
    // Stdin stays open: the process exits because nothing waits for the thread that reads stdin.
    let start = Instant::now();
    while client.ping().await != Err(CallError::Closed) {
        assert!(start.elapsed() < SOON);
    }
    assert!(client.close().await.unwrap().success());
}

#[tokio::test]
async fn timeouts_expire_while_the_old_child_exits() {
    // The child closes its output, and ignores the end of its input.
    let handshake = HANDSHAKE.replace(r#""capabilities":{}"#, r#""capabilities":{"tools":{}}"#);
    let script = shell(&format!("{handshake} exec sleep 1000 >/dev/null"));
    let ending = Ending { after_close: SOON, after_terminate: SOON };
    let reconnect = Reconnect { attempts: 1, pause: Duration::from_millis(1) };
    let client = connector().ending(ending).reconnect(reconnect).spawn(script).await.unwrap();
    let start = Instant::now();
    // The first request may end with the connection.
    for _ in 0..2 {
        let options = CallOptions::new().timeout(Duration::from_millis(200));
        let result = client.begin_json("t", "{}", options).unwrap().await;
        assert!(matches!(result, Err(CallError::TimedOut | CallError::Closed)), "{result:?}");
    }
    assert!(start.elapsed() < SOON / 2, "{:?}", start.elapsed());
}
