//! Servers that are child processes, well behaved and not.
#![cfg(unix)]

use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use mcp_proto::client::Connect;
use mcp_proto_tokio::{CallError, ConnectError, Connector, Ending, Stderr};
use tokio::process::Command;
use tokio::sync::mpsc;
use tokio::time::timeout;

/// Answers the handshake, in the shell.
const ANSWER: &str = r#"read line; printf '%s\n' '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"sh","version":"1"}}}'; "#;

const HASTY: Ending =
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
async fn a_good_child_ends_when_its_stdin_does() {
    let client = connector().spawn(shell(&format!("{ANSWER} cat >/dev/null; exit 7"))).await.unwrap();
    assert_eq!(client.server().name, "sh");
    assert_eq!(client.close().await.unwrap().code(), Some(7));
    assert_eq!(client.close().await.unwrap().code(), Some(7), "it can be asked again");
}

#[tokio::test]
async fn a_child_that_ignores_the_end_of_its_stdin_is_terminated() {
    let script = format!("{ANSWER} exec sleep 1000");
    let client = connector().ending(HASTY).spawn(shell(&script)).await.unwrap();
    assert_eq!(client.close().await.unwrap().signal(), Some(15));
}

#[tokio::test]
async fn a_child_that_ignores_that_too_is_killed() {
    let script = format!("trap '' TERM; {ANSWER} exec sleep 1000");
    let client = connector().ending(HASTY).spawn(shell(&script)).await.unwrap();
    let start = Instant::now();
    assert_eq!(client.close().await.unwrap().signal(), Some(9));
    assert!(start.elapsed() >= Duration::from_millis(200), "it was asked first");
}

#[tokio::test]
async fn dropping_the_last_handle_ends_the_child() {
    let (sender, mut ended) = mpsc::unbounded_channel();
    let stderr = Stderr::lines(move |line| sender.send(line.to_string()).unwrap());
    let script = format!("{ANSWER} cat >/dev/null; echo bye >&2");
    drop(connector().stderr(stderr).spawn(shell(&script)).await.unwrap());
    assert_eq!(timeout(SOON, ended.recv()).await.unwrap().unwrap(), "bye");
}

#[test]
fn a_runtime_that_ends_kills_the_child() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let marker = std::env::temp_dir().join(format!("mcp-proto-tokio-child-{}", std::process::id()));
    let script = format!("echo $$ > {}; {ANSWER} exec sleep 1000", marker.display());
    let client = runtime.block_on(connector().spawn(shell(&script))).unwrap();
    let pid = std::fs::read_to_string(&marker).unwrap();
    std::fs::remove_file(&marker).unwrap();
    drop(runtime);
    let start = Instant::now();
    // A zombie has no memory map; one that was waited for has no folder.
    while std::fs::read_to_string(format!("/proc/{}/maps", pid.trim())).is_ok_and(|maps| !maps.is_empty()) {
        assert!(start.elapsed() < SOON, "it still runs");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(client.is_closed());
}

#[tokio::test]
async fn stderr_can_be_kept() {
    let (stderr, tail) = Stderr::tail(2);
    let script = shell("printf 'a\\nb\\r\\nc\\n' >&2; exit 5");
    let error = connector().stderr(stderr).spawn(script).await.unwrap_err();
    let ConnectError::Closed(Some(status)) = error else { panic!("{error:?}") };
    assert_eq!(status.code(), Some(5));
    assert_eq!(error.to_string(), "the server ended before it answered (exit status: 5)");
    assert_eq!(tail.lines(), ["b", "c"], "when it has ended, all that it said was heard");
}

#[tokio::test]
async fn a_child_that_cannot_be_started_is_told_apart() {
    let error = connector().spawn(std::process::Command::new("/does/not/exist")).await.unwrap_err();
    assert!(matches!(error, ConnectError::Io(_)));
}

#[tokio::test]
async fn an_old_server_that_ends_at_the_probe_is_started_once_more() {
    let script = format!(
        r#"case "$(dd bs=64 count=1 2>/dev/null)" in *discover*) exit 3;; esac; {ANSWER} cat >/dev/null"#
    );
    // The first line is taken by `case`; what follows it in the handshake is not awaited.
    let script = script.replace("read line; ", "");
    let client = connector().connect(Connect::Automatic).spawn(shell(&script)).await.unwrap();
    assert_eq!(client.server().revision.as_str(), "2025-11-25");
    let mut notices = client.notifications();
    client.close().await;
    assert_eq!(notices.next().await, None);
    // One that ends then, too, is given up.
    let error = connector().connect(Connect::Automatic).spawn(shell("exit 4")).await.unwrap_err();
    assert!(matches!(error, ConnectError::Closed(Some(status)) if status.code() == Some(4)), "{error:?}");
}

#[tokio::test]
async fn a_client_that_nobody_waits_for_any_more_is_not_started_once_more() {
    let (sender, mut lines) = mpsc::unbounded_channel();
    let stderr = Stderr::lines(move |line| sender.send(line.to_string()).unwrap());
    // It does not answer the probe. Would it be asked for a handshake, it stayed for ever.
    let script = format!(
        r#"echo begins >&2; case "$(dd bs=64 count=1 2>/dev/null)" in *discover*) cat >/dev/null; exit 3;; esac; {ANSWER} cat >/dev/null"#
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
    // Nobody reads its stderr any more when all is over.
    assert_eq!(timeout(SOON, lines.recv()).await.expect("it ends"), None);
}

#[tokio::test]
async fn stderr_is_read_on_though_whoever_gets_it_has_panicked() {
    let (sender, mut lines) = mpsc::unbounded_channel();
    let stderr = Stderr::lines(move |line| {
        assert_ne!(line, "ouch", "as it should");
        sender.send(line.to_string()).unwrap();
    });
    let script = format!("echo ouch >&2; echo one >&2; {ANSWER} echo two >&2; cat >/dev/null; exit 7");
    let client = connector().stderr(stderr).spawn(shell(&script)).await.unwrap();
    for line in ["one", "two"] {
        assert_eq!(timeout(SOON, lines.recv()).await.unwrap().as_deref(), Some(line));
    }
    assert_eq!(client.close().await.unwrap().code(), Some(7));
}

#[tokio::test]
async fn a_child_that_is_killed_closes_the_client() {
    let client = connector().spawn(shell(&format!("{ANSWER} kill -9 $$"))).await.unwrap();
    assert_eq!(client.ping().await, Err(CallError::Closed));
    assert_eq!(client.close().await.unwrap().signal(), Some(9));
}

/// An example that was built with this test.
fn example(name: &str) -> Command {
    let test: PathBuf = std::env::current_exe().unwrap();
    let profile = test.parent().and_then(|deps| deps.parent()).unwrap();
    let path = profile.join("examples").join(name);
    // `cargo test` builds the examples; `cargo test --test it` does not.
    assert!(path.exists(), "build it first: cargo build -p mcp-proto-tokio --examples");
    Command::new(path)
}

#[tokio::test]
async fn nothing_but_the_protocol_gets_onto_stdout() {
    let (sender, mut lines) = mpsc::unbounded_channel();
    let stderr = Stderr::lines(move |line| sender.send(line.to_string()).unwrap());
    let client = connector().stderr(stderr).spawn(example("noisy_task")).await.unwrap();
    let mut notices = client.notifications();
    for _ in 0..3 {
        assert_eq!(client.call_json("noisy", "{}").await.unwrap().text().as_deref(), Some("quiet"));
    }
    assert!(client.close().await.unwrap().success());
    assert_eq!(notices.next().await, None, "what is no message would be a fault");
    let mut heard = Vec::new();
    while heard.len() < 6 {
        heard.push(timeout(SOON, lines.recv()).await.unwrap().unwrap());
    }
    assert_eq!(heard.iter().filter(|line| *line == "echoed").count(), 3);
    assert_eq!(heard.iter().filter(|line| *line == "printed").count(), 3);
}

#[tokio::test]
async fn a_server_on_stdio_that_shuts_down_ends_though_its_stdin_does_not() {
    let client = connector().spawn(example("noisy_task")).await.unwrap();
    let ended = timeout(SOON, client.call_json("leave", "{}")).await.unwrap();
    assert_eq!(ended.unwrap().text().as_deref(), Some("bye"), "its last answer is written");
    // Nobody closes its stdin: the process ends because nothing waits for the thread that reads it.
    let start = Instant::now();
    while client.ping().await != Err(CallError::Closed) {
        assert!(start.elapsed() < SOON);
    }
    assert!(client.close().await.unwrap().success());
}
