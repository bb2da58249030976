//! Tests of the device on the PC, through its server's messages.
#![cfg(feature = "device")]

use mcp_proto::{Action, Millis, ProtocolError, Server};
use mcp_proto_firmware::device::{Device, Hardware, Memory, Place, Settings};

const MODERN: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}},"roots":{}}"#;

#[derive(Default)]
struct Board {
    led: bool,
    /// The step of the self test that fails.
    broken: Option<u8>,
    faults: Vec<ProtocolError>,
}

impl Hardware for Board {
    fn set_led(&mut self, on: bool) {
        self.led = on;
    }

    fn test(&mut self, step: u8) -> bool {
        self.broken != Some(step)
    }

    fn report(&mut self, fault: ProtocolError) {
        self.faults.push(fault);
    }
}

/// A device, its server, and the current time.
struct World<'a> {
    device: Device<'a>,
    server: &'a mut Server<'a>,
    now: Millis,
}

impl World<'_> {
    /// Sends `lines`, and runs the device for `time` milliseconds. Returns the server's messages.
    fn run(&mut self, lines: &[&str], time: u64) -> Vec<String> {
        let (mut input, mut output) = (lines.concat().into_bytes(), Vec::new());
        let end = self.now.plus(Millis(time));
        loop {
            match self.server.poll(self.now) {
                Action::Io(io) => {
                    let (out, mut space) = io.split();
                    let written = out.bytes().len();
                    output.extend_from_slice(out.bytes());
                    out.sent(written);
                    let free = space.space();
                    let count = free.len().min(input.len());
                    free[..count].copy_from_slice(&input[..count]);
                    input.drain(..count);
                    space.filled(count);
                    if written == 0 && count == 0 {
                        let next = self.device.deadline().max(self.now.plus(Millis(1)));
                        if next > end {
                            self.now = end;
                            break;
                        }
                        self.now = next;
                    }
                }
                Action::Event => self.device.handle_event(self.server, self.now),
                Action::Closed => panic!("the server never closes"),
            }
            self.device.work(self.server, self.now);
        }
        String::from_utf8(output).unwrap().lines().map(str::to_owned).collect()
    }

    /// Sends a line. Returns the only message that is no log message. Panics if there is not exactly one.
    fn request(&mut self, line: &str) -> String {
        let mut messages = self.run(&[line, "\n"], 0);
        messages.retain(|message| !message.contains("notifications/message"));
        assert_eq!(messages.len(), 1, "{line}: {messages:?}");
        messages.into_iter().next().unwrap()
    }
}

fn with(board: &mut Board, then: impl FnOnce(&mut World<'_>)) {
    let (mut memory, mut place, mut settings) = (Memory::new(), Place::new(), Settings::new());
    let server = memory.server(&mut place).unwrap();
    let mut responses = [0; 256];
    let device = Device::new(board, &mut settings, &mut responses);
    then(&mut World { device, server, now: Millis::ZERO });
}

fn call(id: u32, name: &str, arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{name}","arguments":{arguments},"_meta":{{"progressToken":{id}}}}}}}"#
    )
}

fn modern(id: u32, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{params}{MODERN}}}}}}}"#)
}

fn connect(world: &mut World<'_>, revision: &str, capabilities: &str) {
    let line = format!(
        r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{revision}","capabilities":{capabilities},"clientInfo":{{"name":"c","version":"1"}}}}}}"#
    );
    assert!(world.request(&line).contains(revision));
    assert!(world.run(&["{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"], 0).is_empty());
}

/// Returns the id of a request of the server.
fn id_of(message: &str) -> &str {
    message.split_once(r#""id":"#).and_then(|(_, rest)| rest.split_once(',')).unwrap().0
}

fn assert_contains(message: &str, wanted: &str) {
    assert!(message.contains(wanted), "no {wanted} in {message}");
}

#[test]
fn led_and_temperature_are_tools_and_resources() {
    let mut board = Board::default();
    with(&mut board, |world| {
        connect(world, "2025-11-25", "{}");
        assert_contains(
            &world.request(&call(1, "temperature", "{}")),
            r#""structuredContent":{"celsius":21.5}"#,
        );
        assert_contains(&world.request(&call(2, "led_set", r#"{"on":true}"#)), "the LED is on");
        world.run(&[], 2000);
        assert_contains(&world.request(&call(3, "temperature", "{}")), r#"{"celsius":21.7}"#);
        let read = r#"{"jsonrpc":"2.0","id":4,"method":"resources/read","params":{"uri":"board://pin/led"}}"#;
        assert_contains(&world.request(read), r#""text":"high""#);
        assert_contains(&world.request(&call(5, "led_set", r#"{"on":1}"#)), "`on`");
    });
    assert!(board.led);
}

#[test]
fn settings_are_written_read_and_subscribed() {
    let mut board = Board::default();
    with(&mut board, |world| {
        connect(world, "2025-06-18", "{}");
        let subscribe =
            r#"{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"board://settings"}}"#;
        assert_contains(&world.request(subscribe), r#""result":{}"#);
        let line = call(2, "settings_write", r#"{"text":"name=\"board\"\n"}"#);
        let messages = world.run(&[&line, "\n"], 0);
        assert_contains(&messages[1], "notifications/resources/updated");
        assert_contains(&messages[0], "written");
        assert_contains(
            &world.request(&call(3, "settings_write", r#"{"text":"x","at":900}"#)),
            "`at` is past the end",
        );
        let read =
            r#"{"jsonrpc":"2.0","id":4,"method":"resources/read","params":{"uri":"board://settings"}}"#;
        assert_contains(&world.request(read), r#""text":"name=\"board\"\n""#);
        // Settings of maximum length fit, even if each byte needs an escape.
        for at in (0..1024).step_by(512) {
            let quotes = "\\\"".repeat(512);
            let arguments = format!(r#"{{"text":"{quotes}","at":{at}}}"#);
            assert_contains(
                &world.run(&[&call(5 + at, "settings_write", &arguments), "\n"], 0)[0],
                "written",
            );
        }
        assert_contains(&world.request(read), &"\\\"".repeat(1024));
    });
    assert_eq!(board.faults, []);
}

#[test]
fn full_settings_fit_in_the_stateless_era() {
    let mut board = Board::default();
    with(&mut board, |world| {
        for at in (0..1024).step_by(256) {
            let arguments = format!(r#"{{"text":"{}","at":{at}}}"#, "\\\"".repeat(256));
            let params = format!(r#""name":"settings_write","arguments":{arguments},"#);
            assert_contains(&world.request(&modern(at + 1, "tools/call", &params)), "written");
        }
        let message = world.request(&modern(1, "resources/read", r#""uri":"board://settings","#));
        assert_contains(&message, &"\\\"".repeat(1024));
        let params = r#""name":"diagnose","arguments":{"symptom":"is too hot"},"#;
        let message = world.request(&modern(2, "prompts/get", params));
        assert_contains(&message, "The board is too hot. What may be wrong?");
    });
    assert_eq!(board.faults, []);
}

#[test]
fn subscribed_temperature_is_notified_on_change() {
    let mut board = Board::default();
    with(&mut board, |world| {
        let params = r#""notifications":{"resourceSubscriptions":["board://temperature"]},"#;
        assert_contains(
            &world.request(&modern(1, "subscriptions/listen", params)),
            "subscriptions/acknowledged",
        );
        let params = r#""name":"led_set","arguments":{"on":true},"#;
        assert_contains(&world.request(&modern(2, "tools/call", params)), "the LED is on");
        let messages = world.run(&[], 3000);
        assert_eq!(messages.len(), 3, "{messages:?}");
        messages.iter().for_each(|message| assert_contains(message, r#""uri":"board://temperature""#));
    });
}

#[test]
fn self_test_reports_progress_while_other_calls_run() {
    let mut board = Board::default();
    with(&mut board, |world| {
        connect(world, "2025-11-25", "{}");
        let line = call(1, "self_test", "{}");
        assert_eq!(world.run(&[&line, "\n"], 100).len(), 3);
        assert_contains(&world.request(&call(2, "self_test", "{}")), "a test is running");
        let messages = world.run(&[], 1000);
        assert_contains(&messages[0], r#""progress":4,"total":10"#);
        assert_contains(&messages[7], "all steps are done");
        assert_contains(&messages[8], "test passed");
        assert_eq!(messages.len(), 9, "{messages:?}");
    });
}

#[test]
fn self_test_with_full_output_does_not_spin() {
    let mut board = Board::default();
    with(&mut board, |world| {
        connect(world, "2025-11-25", "{}");
        // The client requests lists without reading the responses. The full transmit buffer then also delays the self
        // test.
        let mut input = call(7, "self_test", "{}") + "\n";
        input += &"{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"tools/list\"}\n".repeat(5);
        let mut input = input.into_bytes();
        for _ in 0..100 {
            match world.server.poll(world.now) {
                Action::Io(io) => {
                    let (_, mut space) = io.split();
                    let count = space.space().len().min(input.len());
                    space.space()[..count].copy_from_slice(&input[..count]);
                    input.drain(..count);
                    space.filled(count);
                }
                Action::Event => world.device.handle_event(world.server, world.now),
                Action::Closed => panic!("the server never closes"),
            }
            world.now = world.now.plus(Millis(20));
            world.device.work(world.server, world.now);
            assert!(world.device.deadline() > world.now, "the main loop would spin");
        }
    });
}

#[test]
fn self_test_is_cancelled_or_reports_failure() {
    let mut board = Board { broken: Some(3), ..Board::default() };
    with(&mut board, |world| {
        connect(world, "2025-11-25", "{}");
        world.run(&[&call(1, "self_test", "{}"), "\n"], 60);
        let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
        assert!(world.run(&[cancel, "\n"], 1000).is_empty());
        let messages = world.run(&[&call(2, "self_test", "{}"), "\n"], 1000);
        assert_contains(&messages[3], "a step has failed");
        assert_contains(&messages[4], r#""text":"the board is broken"}],"isError":true"#);
    });
}

#[test]
fn deferred_call_sends_requests_to_the_client() {
    let mut board = Board::default();
    with(&mut board, |world| {
        connect(world, "2025-11-25", r#"{"elicitation":{"form":{}},"roots":{},"sampling":{}}"#);
        let asked = world.request(&call(1, "ask", r#"{"of":"user"}"#));
        assert_contains(&asked, "elicitation/create");
        assert_contains(&world.request(&call(2, "ask", r#"{"of":"user"}"#)), "too many calls wait for input");
        let result = r#"{"action":"accept","content":{"name":"Ada"}}"#;
        let answer = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, id_of(&asked));
        assert_contains(
            &world.request(&answer),
            r#""id":1,"result":{"content":[{"type":"text","text":"Hello, Ada!"}]}"#,
        );
        let asked = world.request(&call(3, "ask", r#"{"of":"client"}"#));
        let result = r#"{"roots":[{"uri":"file:///a"}]}"#;
        let answer = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, id_of(&asked));
        assert_contains(&world.request(&answer), "1 roots");
        let message = world.request(&call(4, "ask", r#"{"of":"model"}"#));
        assert_contains(&message, "sampling/createMessage");
        // Cancelling the call also cancels the request to the client.
        let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}}"#;
        assert_contains(&world.request(cancel), "notifications/cancelled");
        assert_contains(&world.request(&call(5, "ask", r#"{"of":"nobody"}"#)), "isError");
    });
}

#[test]
fn stateless_call_is_repeated_with_its_input() {
    let mut board = Board::default();
    with(&mut board, |world| {
        let params = r#""name":"ask","arguments":{"of":"user"},"#;
        assert_contains(&world.request(&modern(1, "tools/call", params)), r#""inputRequests":{"input":"#);
        let answer = r#""inputResponses":{"input":{"action":"accept","content":{"name":"Ada"}}},"#;
        assert_contains(
            &world.request(&modern(2, "tools/call", &format!("{params}{answer}"))),
            "Hello, Ada!",
        );
        let params = r#""name":"ask","arguments":{"of":"model"},"#;
        assert_contains(&world.request(&modern(3, "tools/call", params)), "-32021");
    });
}

#[test]
fn arguments_are_completed() {
    let mut board = Board::default();
    with(&mut board, |world| {
        connect(world, "2025-11-25", "{}");
        let complete = |reference: &str, name: &str, value: &str| {
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{{"ref":{{{reference}}},"argument":{{"name":"{name}","value":"{value}"}}}}}}"#
            )
        };
        let pin = r#""type":"ref/resource","uri":"board://pin/{name}""#;
        assert_contains(&world.request(&complete(pin, "name", "")), r#""values":["led","rx","tx"]"#);
        assert_contains(&world.request(&complete(pin, "name", "r")), r#""values":["rx"]"#);
        assert_contains(&world.request(&complete(pin, "name", "some other pin")), r#""values":[]"#);
        let prompt = r#""type":"ref/prompt","name":"diagnose""#;
        assert_contains(&world.request(&complete(prompt, "symptom", "is")), r#""values":["is too hot"]"#);
    });
}

#[test]
fn new_client_finds_the_device_reset() {
    let mut board = Board::default();
    with(&mut board, |world| {
        for _ in 0..20 {
            connect(world, "2025-11-25", "{}");
            let line = call(1, "self_test", "{}");
            assert_eq!(world.run(&[&line, "\n{\"jsonrpc\":\"2.0\",\"id\":2,\n"], 30).len(), 2);
        }
        for _ in 0..20 {
            world.server.reset();
            world.device.drop_test();
            let line = modern(1, "tools/call", r#""name":"self_test","#);
            assert!(world.run(&[&line, "\n{\"jsonrpc\""], 30).is_empty());
        }
    });
}

#[test]
fn batch_gets_one_response_line() {
    let mut board = Board::default();
    with(&mut board, |world| {
        connect(world, "2025-03-26", "{}");
        let batch = format!("[{},{}]", call(1, "temperature", "{}"), call(2, "led_set", r#"{"on":true}"#));
        let message = world.request(&batch);
        assert_contains(&message, "21.5");
        assert_contains(&message, "the LED is on");
        assert!(message.starts_with('['));
    });
}
