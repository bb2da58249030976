//! The most common mistakes of an application: each error message names the cause and, where possible, the remedy.

use std::os::unix::net::UnixStream;
use std::process::Command;
use std::thread;

use mcp_proto::server::{Event, ServerConfig, Tool, Tools};
use mcp_proto_std::{
    CallError, ConnectError, Connector, Revision, Revisions, Router, Serve, ToolArguments, route, router,
    tool,
};

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

/// Checks the rows of the table in the documentation of `CallError`.
#[test]
fn mistakes_of_a_caller_are_results_or_errors() {
    #[derive(ToolArguments)]
    struct Step {
        #[tool(range = 0..=9)]
        by: u32,
    }
    #[tool(blocking)]
    fn step(Step { by }: Step) -> Result<String, &'static str> {
        match by {
            0 => Err("no step"),
            1 => panic!("expected panic"),
            2 => Ok("x".repeat(10_000)),
            _ => Ok(by.to_string()),
        }
    }
    static ROUTER: Router<()> = router![step];
    static STEPS: ServerConfig = ServerConfig::new("test", "1").features(ROUTER.features());
    static EMPTY: ServerConfig = ServerConfig::new("test", "1");
    fn outcome(
        revisions: Revisions,
        config: &'static ServerConfig<'static>,
        tool: &str,
        arguments: &str,
    ) -> String {
        let (here, there) = UnixStream::pair().unwrap();
        let serve = Serve::new(config).longest_answer(5000);
        let server = thread::spawn(move || serve.stream(there, route(&ROUTER, ())));
        let client = Connector::new("test", "1").revisions(revisions).stream(here).unwrap();
        let outcome = match client.call_json(tool, arguments) {
            Ok(result) if result.is_error() => "is_error".into(),
            Ok(_) => "result".into(),
            Err(CallError::Server(error)) => format!("Server, {}", error.code),
            Err(CallError::Invalid(_)) => "Invalid".into(),
            Err(error) => format!("{error:?}"),
        };
        client.close();
        server.join().unwrap().unwrap();
        outcome
    }
    within(TEST_TIMEOUT, || {
        let (old, all) = (Revisions::until(Revision::V2025_06_18), Revisions::ALL);
        for (revisions, config, tool, arguments, expected) in [
            (all, &STEPS, "step", "[]", "Invalid"),
            (all, &EMPTY, "step", "{}", "Unsupported"),
            (all, &STEPS, "leap", "{}", "Server, -32602"),
            (all, &STEPS, "step", "{}", "is_error"),
            (all, &STEPS, "step", r#"{"by":10}"#, "is_error"),
            (old, &STEPS, "step", r#"{"by":10}"#, "Server, -32602"),
            (all, &STEPS, "step", r#"{"by":0}"#, "is_error"),
            (all, &STEPS, "step", r#"{"by":1}"#, "Server, -32603"),
            (all, &STEPS, "step", r#"{"by":2}"#, "Server, -32603"),
            (all, &STEPS, "step", r#"{"by":3}"#, "result"),
        ] {
            assert_eq!(outcome(revisions, config, tool, arguments), expected, "{tool} {arguments}");
        }
    });
}

#[test]
fn oversized_response_names_the_setting_to_change() {
    within(TEST_TIMEOUT, || {
        let server = || {
            let (here, there) = UnixStream::pair().unwrap();
            let serve = move || {
                Serve::new(&CONFIG).stream(there, |event, _| {
                    if let Event::Call(call) = event {
                        call.text(format_args!("{:2000}", 1));
                    }
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
