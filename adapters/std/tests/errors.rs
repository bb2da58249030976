//! Errors that an author meets first: they name what was wrong, and what to do.

use std::os::unix::net::UnixStream;
use std::process::Command;
use std::thread;

use mcp_proto::server::{Event, ServerConfig, Tool, Tools};
use mcp_proto_std::{CallError, ConnectError, Connector, Serve};

use crate::time_limit::{TEST_TIMEOUT, within};

static TOOLS: Tools = Tools::new(&[Tool::new("echo", "{}")]);
static CONFIG: ServerConfig = ServerConfig::new("test", "1").features(&[&TOOLS]);

#[test]
fn invalid_arguments_are_explained() {
    within(TEST_TIMEOUT, || {
        let (here, there) = UnixStream::pair().unwrap();
        let server = thread::spawn(move || Serve::new(&CONFIG).stream(there, |_, _| {}));
        let client = Connector::new("test", "1").longest_request(100_000).stream(here).unwrap();
        let long = format!("{{\"text\":\"{}\"}}", "x".repeat(300_000));
        for (arguments, reason) in [
            ("[1]", "the arguments of the tool `echo` must be a JSON object, found an array"),
            ("{", "the arguments of the tool `echo` are not valid JSON: "),
            (&long, "the arguments of the tool `echo` are too long (300011 bytes): "),
        ] {
            match client.call_json("echo", arguments) {
                Err(CallError::Invalid(text)) => assert!(text.starts_with(reason), "{text}"),
                other => panic!("{other:?}"),
            }
        }
        let expected = "the arguments of the tool `echo` must be a JSON object, found an array";
        assert_eq!(client.call_tool("echo", &[1]).unwrap_err(), CallError::Invalid(expected.into()));
        client.close();
        server.join().unwrap().unwrap();
    });
}

#[test]
fn oversized_response_names_the_setting_to_change() {
    within(TEST_TIMEOUT, || {
        let server = || {
            let (here, there) = UnixStream::pair().unwrap();
            let serve = move || {
                Serve::new(&CONFIG).stream(there, |event, _| match event {
                    Event::Call(call) => call.text(format_args!("{:2000}", 1)),
                    _ => {}
                })
            };
            (here, thread::spawn(serve))
        };
        let reason = "is longer than the receive buffer (at most 1000 bytes); raise `longest_line`";
        let (here, thread) = server();
        let client = Connector::new("test", "1").longest_line(1000).stream(here).unwrap();
        let error = client.call_json("echo", "{}").unwrap_err();
        assert_eq!(error, CallError::Invalid(format!("the response {reason}")));
        client.close();
        thread.join().unwrap().unwrap();

        let (here, thread) = server();
        let error = Connector::new("test", "1").longest_line(200).stream(here).unwrap_err();
        let reason = reason.replace("1000", "200");
        assert_eq!(error.to_string(), format!("the server's response to the handshake {reason}"));
        thread.join().unwrap().unwrap();
    });
}

#[test]
fn missing_program_is_named() {
    let error = Connector::new("test", "1").spawn(Command::new("no-such-server")).unwrap_err();
    assert!(matches!(&error, ConnectError::Io(error) if error.kind() == std::io::ErrorKind::NotFound));
    assert!(error.to_string().starts_with("cannot start `no-such-server`: "), "{error}");
    assert_eq!(format!("{error:?}"), error.to_string());
}

#[test]
fn setup_errors_name_the_setting_to_change() {
    let (_here, there) = UnixStream::pair().unwrap();
    let error = Serve::new(&CONFIG).longest_answer(100).stream(there, |_, _| {}).unwrap_err();
    let text = format!("{error:?}");
    assert!(text.starts_with("the server cannot be set up: the transmit buffer is too small"), "{text}");
    assert!(text.contains("raise `longest_answer`"), "{text}");
}
