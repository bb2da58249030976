//! The processes of the tests.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// Returns the command that starts the program under test.
pub(crate) fn inspect() -> Command {
    Command::new(env!("CARGO_BIN_EXE_mcp-inspect"))
}

/// Returns the command that starts an example of the repository as a server.
pub(crate) fn example(name: &str) -> Command {
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    let path = Path::new(env!("CARGO_BIN_EXE_mcp-inspect")).with_file_name("examples").join(file);
    // `cargo test --workspace` builds the examples, but `cargo test -p mcp-inspect` does not.
    assert!(path.exists(), "build it first: cargo build --examples");
    Command::new(path)
}

/// Runs a command with this input.
pub(crate) fn run(command: &mut Command, input: &[u8]) -> Output {
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

/// Starts an HTTP server that answers each request of a method in `results` with the result for this method.
/// Notifications get 202, and all other messages get 405. Returns the URL of the server.
///
/// If `results` has an entry "400", all other messages with a body get 400 in place of 405, with this entry as the
/// body.
///
/// The result for "GET" is a notification, which the server sends 200 ms after the client has opened the stream.
pub(crate) fn serve_results(results: &'static [(&str, &str)]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            let (mut line, mut length, mut is_get) = (String::new(), 0, false);
            while stream.read_line(&mut line).is_ok_and(|length| length > 2) {
                if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
                is_get |= line.starts_with("GET ");
                line.clear();
            }
            if let Some((_, notification)) = results.iter().find(|(method, _)| is_get && *method == "GET") {
                std::thread::spawn(move || {
                    let head =
                        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
                    stream.get_mut().write_all(head.as_bytes()).unwrap();
                    std::thread::sleep(Duration::from_millis(200));
                    write!(stream.get_mut(), "data: {notification}\n\n").unwrap();
                });
                continue;
            }
            let mut body = vec![0; length];
            stream.read_exact(&mut body).unwrap();
            let message: serde_json::Value = serde_json::from_slice(&body).unwrap_or_default();
            let (status, body) = match results.iter().find(|(method, _)| message["method"] == *method) {
                Some((_, result)) => {
                    ("200 OK", format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, message["id"]))
                }
                None if message.get("method").is_some() && message.get("id").is_none() => {
                    ("202 Accepted", String::new())
                }
                None => match results.iter().find(|(method, _)| *method == "400" && length > 0) {
                    Some((_, body)) => ("400 Bad Request", (*body).into()),
                    None => ("405 Method Not Allowed", String::new()),
                },
            };
            let head = format!(
                "HTTP/1.1 {status}\r\nMcp-Session-Id: s\r\nContent-Type: application/json\r\nConnection: close"
            );
            let length = body.len();
            write!(stream.get_mut(), "{head}\r\nContent-Length: {length}\r\n\r\n{body}").unwrap();
        }
    });
    url
}
