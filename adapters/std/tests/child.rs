//! Servers that are child processes, well behaved and not.
#![cfg(unix)]

use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::Command;
#[cfg(target_os = "linux")]
use std::process::Stdio;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use mcp_proto::client::Connect;
use mcp_proto_std::{ConnectError, Connector, Ending, Stderr};

/// Answers the handshake, in the shell.
const ANSWER: &str = r#"read line; printf '%s\n' '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"sh","version":"1"}}}'; "#;

const HASTY: Ending =
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
fn a_good_child_ends_when_its_stdin_does() {
    let client = connector().spawn(shell(&format!("{ANSWER} cat >/dev/null; exit 7"))).unwrap();
    assert_eq!(client.server().name, "sh");
    assert_eq!(client.close().unwrap().code(), Some(7));
    assert_eq!(client.close().unwrap().code(), Some(7), "it can be asked again");
}

#[test]
fn a_child_that_ignores_the_end_of_its_stdin_is_terminated() {
    let client = connector().ending(HASTY).spawn(shell(&format!("{ANSWER} exec sleep 1000"))).unwrap();
    assert_eq!(client.close().unwrap().signal(), Some(15));
}

#[test]
fn a_child_that_ignores_that_too_is_killed() {
    let script = format!("trap '' TERM; {ANSWER} exec sleep 1000");
    let client = connector().ending(HASTY).spawn(shell(&script)).unwrap();
    let start = Instant::now();
    assert_eq!(client.close().unwrap().signal(), Some(9));
    assert!(start.elapsed() >= Duration::from_millis(200), "it was asked first");
}

#[test]
fn dropping_the_last_handle_ends_the_child() {
    let (sender, ended) = channel();
    let stderr = Stderr::lines(move |line| sender.send(line.to_string()).unwrap());
    let script = format!("{ANSWER} cat >/dev/null; echo bye >&2");
    drop(connector().stderr(stderr).spawn(shell(&script)).unwrap());
    assert_eq!(ended.recv_timeout(Duration::from_secs(20)).unwrap(), "bye");
}

#[test]
fn stderr_can_be_kept() {
    let (stderr, tail) = Stderr::tail(2);
    let (sender, seen) = channel();
    let error = connector().stderr(stderr).spawn(shell("printf 'a\\nb\\r\\nc\\n' >&2; exit 5")).unwrap_err();
    let ConnectError::Closed(Some(status)) = error else { panic!("{error:?}") };
    assert_eq!(status.code(), Some(5));
    assert_eq!(error.to_string(), "the server ended before it answered (exit status: 5)");
    // The reader of stderr may still be at it.
    std::thread::spawn(move || {
        while tail.lines() != ["b", "c"] {
            std::thread::yield_now();
        }
        sender.send(()).unwrap();
    });
    seen.recv_timeout(Duration::from_secs(20)).unwrap();
}

#[test]
fn stderr_is_read_on_though_whoever_gets_it_has_panicked() {
    let (sender, lines) = channel();
    let stderr = Stderr::lines(move |line| {
        assert_ne!(line, "ouch", "as it should");
        sender.send(line.to_string()).unwrap();
    });
    let script = format!("echo ouch >&2; echo one >&2; {ANSWER} echo two >&2; cat >/dev/null; exit 7");
    let client = connector().stderr(stderr).spawn(shell(&script)).unwrap();
    for line in ["one", "two"] {
        assert_eq!(lines.recv_timeout(Duration::from_secs(20)).as_deref(), Ok(line));
    }
    assert_eq!(client.close().unwrap().code(), Some(7));
}

#[test]
fn a_child_that_cannot_be_started_is_told_apart() {
    let error = connector().spawn(Command::new("/does/not/exist")).unwrap_err();
    assert!(matches!(error, ConnectError::Io(_)));
}

#[test]
fn an_old_server_that_ends_at_the_probe_is_started_once_more() {
    let script = format!(
        r#"case "$(dd bs=64 count=1 2>/dev/null)" in *discover*) exit 3;; esac; {ANSWER} cat >/dev/null"#
    );
    // The first line is taken by `case`; what follows it in the handshake is not awaited.
    let script = script.replace("read line; ", "");
    let client = connector().connect(Connect::Automatic).spawn(shell(&script)).unwrap();
    assert_eq!(client.server().revision.as_str(), "2025-11-25");
    client.close();
    // One that ends then, too, is given up.
    let error = connector().connect(Connect::Automatic).spawn(shell("exit 4")).unwrap_err();
    assert!(matches!(error, ConnectError::Closed(Some(status)) if status.code() == Some(4)), "{error:?}");
}

#[test]
fn a_child_that_is_killed_closes_the_client() {
    let client = connector().spawn(shell(&format!("{ANSWER} kill -9 $$"))).unwrap();
    assert_eq!(client.ping(), Err(mcp_proto_std::CallError::Closed));
    assert_eq!(client.close().unwrap().signal(), Some(9));
}

#[test]
fn nothing_but_the_protocol_gets_onto_stdout() {
    let (sender, lines) = channel();
    let stderr = Stderr::lines(move |line| sender.send(line.to_string()).unwrap());
    let client = connector()
        .stderr(stderr)
        .on_notification(|notice| panic!("{notice:?}"))
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

/// An example that was built with this test.
fn example(name: &str) -> Command {
    let test: PathBuf = std::env::current_exe().unwrap();
    let profile = test.parent().and_then(|deps| deps.parent()).unwrap();
    let path = profile.join("examples").join(name);
    // `cargo test` builds the examples; `cargo test --test it` does not.
    assert!(path.exists(), "build it first: cargo build -p mcp-proto-std --examples");
    Command::new(path)
}

#[test]
fn when_a_child_has_ended_all_that_it_said_on_stderr_was_heard() {
    let (heard, lines) = channel();
    let stderr = Stderr::lines(move |line| {
        std::thread::sleep(Duration::from_millis(5));
        heard.send(line.to_owned()).unwrap();
    });
    let script = "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do echo $i >&2; done; exit 3";
    let failed = connector().stderr(stderr).spawn(shell(script)).unwrap_err();
    assert!(matches!(failed, ConnectError::Closed(Some(status)) if status.code() == Some(3)), "{failed:?}");
    assert_eq!(lines.try_iter().count(), 20, "the last lines say why");
}

/// A number that Linux tells of a process, if it does.
#[cfg(target_os = "linux")]
fn told(process: u32, file: &str, name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{process}/{file}")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim_start_matches(':').trim().parse().ok()
}

#[cfg(target_os = "linux")]
#[test]
fn a_server_that_answers_by_itself_needs_one_thread_one_read_and_one_write() {
    use std::io::{BufRead, BufReader, Write};
    let mut child =
        example("noisy").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut requests = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    let ping = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
    let mut served = |pings: usize| {
        requests.write_all(ping.repeat(pings).as_bytes()).unwrap();
        (0..pings).for_each(|_| assert!(answers.next().unwrap().unwrap().contains("result")));
        // A write is counted when it is over, and the answers are here before that.
        std::thread::sleep(Duration::from_millis(50));
        let told = |file, name| told(child.id(), file, name);
        Some((told("status", "Threads")?, told("io", "syscr")?, told("io", "syscw")?))
    };
    // How a pipe is written to without waiting is found out with the first one.
    if let Some((1, reads, writes)) = served(1) {
        for round in 1..=5 {
            assert_eq!(served(50), Some((1, reads + round, writes + round)));
        }
    } else {
        assert_eq!(told(child.id(), "status", "Threads"), Some(1));
    }
    drop(requests);
    assert!(child.wait().unwrap().success());
}
