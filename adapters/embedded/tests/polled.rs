//! Tests of the polled pump, `Pump::step`, over slow and faulty lines.

use crate::common::{App, INITIALIZE, MARK, On, Uart, WELCOME, answer, call, ping, pong, with_server};
use embedded_io::{ErrorKind, Write};
use mcp_proto::client::{self, ClientConfig, Connect};
use mcp_proto::{Client, Millis};
use mcp_proto_embedded::{Halves, Pump, PumpStatus, Queue, SESSION_MARK, WriteBlocks};

/// Runs a server until three steps in a row are idle, or the connection is closed.
fn serve(uart: &mut Uart, pump: &mut Pump) -> App {
    with_server(512, 1024, |server| {
        let mut app = App::default();
        // A driver that is not ready now may be ready at the next step.
        let mut idle = 0;
        while idle < 3 {
            let step = pump.step(server, uart, app.now());
            idle = if matches!(step, PumpStatus::Idle(_)) { idle + 1 } else { 0 };
            if !app.handle(step, server) && step == PumpStatus::Closed {
                break;
            }
        }
        app
    })
}

fn dialogue() -> (String, String) {
    let input = [INITIALIZE, &ping(1), &call(2, "hello"), "\n", &ping(3)].concat();
    let output = [WELCOME, &pong(1), &answer(2, "Hello!"), &pong(3)].concat();
    (input, output)
}

#[test]
fn transcript_is_independent_of_read_and_write_sizes() {
    let (input, output) = dialogue();
    for reads in [1, 2, 3, 7, 63, 64, 65, 1000] {
        for writes in [1, 2, 5, 1000] {
            for alternates in [false, true] {
                let mut uart = Uart { reads, writes, alternates, ..Uart::text(&input) };
                let app = serve(&mut uart, &mut Pump::new());
                assert_eq!(uart.sent(), output, "{reads} {writes} {alternates}");
                assert_eq!(app.calls, ["hello"]);
                assert_eq!((app.faults.len(), app.steps.len()), (0, 0));
            }
        }
    }
}

#[test]
fn log_lines_between_messages_damage_no_message() {
    let (input, output) = dialogue();
    for writes in [1, 2, 5, 1000] {
        let mut uart = Uart { writes, alternates: true, ..Uart::text(&input) };
        let mut pump = Pump::new().session_marks();
        with_server(512, 1024, |server| {
            let (mut app, mut log) = (App::default(), 0);
            for _ in 0..5000 {
                let step = pump.step(server, &mut uart, app.now());
                app.handle(step, server);
                let sent = uart.sent();
                assert_eq!(pump.is_within_message(), !sent.is_empty() && !sent.ends_with('\n'), "{sent:?}");
                if !pump.is_within_message() && log < 100 {
                    uart.sent.extend_from_slice(b"{temperature} 21\n");
                    log += 1;
                }
            }
        });
        let sent = uart.sent().replace("{temperature} 21\n", "");
        assert_eq!(sent, format!("{MARK}{output}"), "{writes}");
    }
}

#[test]
fn read_error_breaks_only_the_current_line() {
    let lines = [ping(1), call(2, "hello"), ping(3)];
    let answers = [pong(1), answer(2, "Hello!"), pong(3)];
    let input = lines.concat();
    let mut ends = 0;
    for (which, line) in lines.iter().enumerate() {
        let (begins, last) = (ends, ends + line.len());
        ends = last;
        for at in begins..last {
            for reads in [1, 5, 1000] {
                let (before, behind) = input.as_bytes().split_at(at);
                let mut uart = Uart::new([
                    On::Bytes([INITIALIZE.as_bytes(), before].concat()),
                    On::Error(ErrorKind::InvalidData),
                    On::Bytes(behind.to_vec()),
                ]);
                uart.reads = reads;
                let app = serve(&mut uart, &mut Pump::new());
                assert_eq!(app.steps, [PumpStatus::LineBroken(ErrorKind::InvalidData)], "{at}");
                // Bytes lost between two lines break neither line.
                let is_whole = at == begins;
                let method = line.find("\"method\":").unwrap() + "\"method\":".len();
                let id = which + 1;
                let code = concat!(
                    r#""error":{"code":-32700,"message":"Parse error: the message is not valid JSON: "#,
                    "bytes were lost"
                );
                let mut expected = String::from(WELCOME);
                for (index, answer) in answers.iter().enumerate() {
                    if index != which || is_whole {
                        expected += answer;
                    } else if at >= begins + method {
                        let at = at - begins;
                        expected += &format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},{code} at byte {at}\"}}}}\n");
                    }
                }
                // The comparison ignores positions, because the error in a cut literal or number is not at the last
                // received byte.
                let sent = uart.sent();
                assert_eq!(without_positions(&sent), without_positions(&expected), "{at} {reads}");
                assert_eq!(app.faults.len(), usize::from(!is_whole), "{at} {:?}", app.faults);
            }
        }
    }
}

fn without_positions(text: &str) -> String {
    text.lines().map(|line| line.split(" at byte ").next().unwrap_or_default().to_string() + "\n").collect()
}

#[test]
fn read_errors_between_lines_break_no_line() {
    let mut script = vec![On::Error(ErrorKind::Other), On::Bytes(INITIALIZE.into())];
    script.extend([On::Error(ErrorKind::Other), On::Quiet, On::Error(ErrorKind::OutOfMemory)]);
    script.extend([On::Bytes(ping(1).into()), On::Error(ErrorKind::TimedOut), On::Bytes(ping(2).into())]);
    let mut uart = Uart::new(script);
    let app = serve(&mut uart, &mut Pump::new());
    assert_eq!(uart.sent(), [WELCOME, &pong(1), &pong(2)].concat());
    let broken = [ErrorKind::Other, ErrorKind::Other, ErrorKind::OutOfMemory].map(PumpStatus::LineBroken);
    assert_eq!((app.steps.as_slice(), app.faults.len()), (broken.as_slice(), 0));
}

#[test]
fn failed_write_is_tried_again() {
    let (input, output) = dialogue();
    let mut uart = Uart { writes: 50, ..Uart::text(&input) };
    uart.write_errors.extend([ErrorKind::Interrupted, ErrorKind::TimedOut, ErrorKind::Other]);
    let app = serve(&mut uart, &mut Pump::new());
    assert_eq!(uart.sent(), output);
    assert_eq!(app.steps, [ErrorKind::Interrupted, ErrorKind::Other].map(PumpStatus::NotWritten));
}

#[test]
fn lost_link_closes_the_connection() {
    let gone = [
        ErrorKind::NotConnected,
        ErrorKind::BrokenPipe,
        ErrorKind::ConnectionReset,
        ErrorKind::ConnectionAborted,
        ErrorKind::ConnectionRefused,
    ];
    for kind in gone {
        let script = [On::Bytes([INITIALIZE, &call(1, "hel")].concat().into()), On::Error(kind)];
        let mut uart = Uart::new(script);
        let app = serve(&mut uart, &mut Pump::new());
        assert_eq!(app.steps, [PumpStatus::LinkLost(kind), PumpStatus::Closed]);

        let mut uart = Uart::text(&[INITIALIZE, &ping(1)].concat());
        uart.write_errors.push_back(kind);
        let app = serve(&mut uart, &mut Pump::new());
        assert_eq!((app.steps, uart.sent.len()), (vec![PumpStatus::LinkLost(kind), PumpStatus::Closed], 0));
    }
}

#[test]
fn end_of_input_in_a_line_closes_the_connection() {
    let input = [INITIALIZE, &ping(1), &call(2, "hello")].concat();
    for at in INITIALIZE.len()..input.len() {
        let mut uart = Uart { reads: 9, ..Uart::new([On::Bytes(input[..at].into()), On::End]) };
        let app = serve(&mut uart, &mut Pump::new());
        assert_eq!(app.steps, [PumpStatus::Closed], "{at}");
        let cut = !(input[..at].ends_with('\n') || input[..at].ends_with('}') && at + 1 == input.len());
        let in_json = at + 1 != INITIALIZE.len() + ping(1).len();
        assert_eq!(app.faults.len(), usize::from(cut && in_json), "{at} {:?}", app.faults);
        let whole = input[..at].matches("\"method\":\"ping\"}\n").count();
        assert!(uart.sent().starts_with(&[WELCOME, &pong(1).repeat(whole)].concat()), "{at}");
    }
}

#[test]
fn session_mark_anywhere_starts_a_complete_session() {
    let (old, _) = dialogue();
    let (new, output) = dialogue();
    for at in 0..old.len() {
        for (reads, writes) in [(1, 1), (7, 3), (64, 1000), (1000, 13)] {
            let input = [&old.as_bytes()[..at], SESSION_MARK, new.as_bytes()].concat();
            let mut uart = Uart { reads, writes, ..Uart::new([On::Bytes(input)]) };
            let app = serve(&mut uart, &mut Pump::new().session_marks());
            assert_eq!(app.steps, [PumpStatus::NewSession], "{at}");
            // The line break of the mark may end a partial line of the old session, which is then a protocol error.
            assert!(app.faults.len() <= 1, "{at} {:?}", app.faults);
            let sent = uart.sent();
            let before = sent.strip_suffix(&output).unwrap_or_else(|| panic!("{at} {writes}: {sent}"));
            // A newline ends a partial line of the old output, so the output of the new session starts on a new line.
            assert!(before.is_empty() || before.ends_with('\n'), "{at} {writes}: {before}");
        }
    }
}

#[test]
fn noise_starts_no_session() {
    let four = "\u{4}".repeat(4);
    for noise in [
        "\u{4}",
        "\n\u{4}\n",
        "\u{4}\u{4}\u{4}\n",
        &four,
        &format!("{four}\n"),
        &format!("\n{four} \n"),
        "\n\u{4}\u{4}\u{4}\u{5}\n",
    ] {
        for reads in [1, 3, 64] {
            let input = [INITIALIZE, &ping(1)[..40], noise, "\n", &ping(2)].concat();
            let mut uart = Uart { reads, ..Uart::text(&input) };
            let app = serve(&mut uart, &mut Pump::new().session_marks());
            assert_eq!(app.steps, [], "{noise:?}");
            assert!(uart.sent().ends_with(&pong(2)), "{noise:?}");
        }
    }
}

#[test]
fn consecutive_marks_start_at_least_one_session() {
    for reads in 1..20 {
        let marks = [SESSION_MARK, SESSION_MARK, &SESSION_MARK[1..]].concat();
        let input = [b"{\"x", marks.as_slice(), INITIALIZE.as_bytes(), ping(1).as_bytes()].concat();
        let mut uart = Uart { reads, ..Uart::new([On::Bytes(input)]) };
        let app = serve(&mut uart, &mut Pump::new().session_marks());
        assert!(app.steps.iter().all(|step| *step == PumpStatus::NewSession), "{reads}: {:?}", app.steps);
        assert!((1..=3).contains(&app.steps.len()), "{reads}");
        assert_eq!(uart.sent().matches(&pong(1)).count(), 1, "{reads}");
    }
}

#[test]
fn first_line_is_ignored_unless_it_begins_with_a_brace() {
    let ping = ping(1);
    for (first, has_response) in [
        (ping[9..].to_owned(), false),
        (format!("0.\u{4}{ping}"), false),
        (ping.clone(), true),
        (format!("\r\n{ping}"), true),
    ] {
        let mut uart = Uart { reads: 5, ..Uart::text(&[&first, INITIALIZE].concat()) };
        serve(&mut uart, &mut Pump::new().session_marks());
        let response = if has_response { pong(1) } else { String::new() };
        assert_eq!(uart.sent(), [MARK, &response, WELCOME].concat(), "{first}");
    }
}

#[test]
fn session_mark_is_ordinary_input_if_not_configured() {
    let input = [INITIALIZE.as_bytes(), SESSION_MARK, ping(1).as_bytes()].concat();
    let mut uart = Uart::new([On::Bytes(input)]);
    let app = serve(&mut uart, &mut Pump::new());
    assert_eq!((app.steps.len(), app.faults.len()), (0, 1));
    assert!(uart.sent().ends_with(&pong(1)));
}

#[test]
fn session_mark_is_detected_while_output_is_full() {
    // So many requests that the server stops reading, because the link accepts none of its responses.
    let flood: Vec<u8> = [INITIALIZE.as_bytes(), ping(1).repeat(60).as_bytes()].concat();
    let bytes = |bytes: &[u8]| bytes.iter().map(|byte| On::Bytes(vec![*byte])).collect::<Vec<_>>();
    let held_back = with_server(256, 512, |server| {
        let (mut pump, mut app, mut uart) = (Pump::new(), App::default(), Uart::new(bytes(&flood)));
        while app.handle(pump.step(server, &mut FullOutput(&mut uart), app.now()), server) {}
        uart.script.len()
    });
    assert!(held_back > 0);
    let taken = flood.len() - held_back - 1;
    with_server(256, 512, |server| {
        let mut pump = Pump::new().session_marks();
        let (mut app, mut uart) = (App::default(), Uart::new(bytes(&flood[..taken])));
        let new = [INITIALIZE, &ping(7)].concat();
        uart.script.push_back(On::Bytes([b"x", SESSION_MARK, new.as_bytes()].concat()));
        while app.steps.is_empty() {
            assert!(app.handle(pump.step(server, &mut FullOutput(&mut uart), app.now()), server));
        }
        assert_eq!(app.steps, [PumpStatus::NewSession]);
        while app.handle(pump.step(server, &mut uart, app.now()), server) {}
        assert_eq!(uart.sent(), [MARK, WELCOME, &pong(7)].concat());
    });
}

/// A link whose output is always full.
struct FullOutput<'u>(&'u mut Uart);

impl mcp_proto_embedded::Link for FullOutput<'_> {
    fn receive(&mut self, space: &mut [u8]) -> Result<Option<usize>, ErrorKind> {
        mcp_proto_embedded::Link::receive(self.0, space)
    }

    fn transmit(&mut self, _: &[u8]) -> Result<usize, ErrorKind> {
        Ok(0)
    }
}

#[test]
fn new_session_after_any_step_starts_a_complete_session() {
    let (input, output) = dialogue();
    for steps in 0..200 {
        with_server(512, 1024, |server| {
            let mut pump = Pump::new();
            let mut app = App::default();
            let mut uart = Uart { reads: 11, writes: 7, ..Uart::text(&input) };
            for _ in 0..steps {
                app.handle(pump.step(server, &mut uart, app.now()), server);
            }
            pump.new_session();
            server.reset();
            uart.script = [On::Bytes(input.clone().into())].into();
            while app.handle(pump.step(server, &mut uart, app.now()), server) {}
            let sent = uart.sent();
            let before = sent.strip_suffix(&output).unwrap_or_else(|| panic!("{steps}: {sent}"));
            assert!(before.is_empty() || before.ends_with('\n'), "{steps}: {before}");
            assert_eq!(app.faults.len(), 0, "{steps}");
        });
    }
}

#[test]
fn new_session_drops_buffered_input() {
    with_server(256, 512, |server| {
        let (mut pump, mut app) = (Pump::new(), App::default());
        let mut uart = Uart::text(&[INITIALIZE, &ping(1).repeat(60)].concat());
        while app.handle(pump.step(server, &mut FullOutput(&mut uart), app.now()), server) {}
        assert!(!uart.script.is_empty(), "the server stops reading, so the pump holds some bytes");
        pump.new_session();
        server.reset();
        uart.script = [On::Bytes([INITIALIZE, &ping(7)].concat().into())].into();
        while app.handle(pump.step(server, &mut uart, app.now()), server) {}
        assert_eq!(uart.sent(), [WELCOME, &pong(7)].concat());
    });
}

#[test]
fn idle_step_returns_the_next_deadline() {
    with_server(512, 1024, |server| {
        let mut pump = Pump::new();
        let mut app = App::default();
        let mut uart = Uart::text(&[INITIALIZE, &call(1, "slow")].concat());
        let due = loop {
            let step = pump.step(server, &mut uart, app.now());
            if let PumpStatus::Idle(due) = step {
                break due.expect("a call is in flight, and has a deadline");
            }
            app.handle(step, server);
        };
        assert!(app.slow.is_some());
        app.now = due.0;
        assert_eq!(pump.step(server, &mut uart, app.now()), PumpStatus::Event);
        while app.handle(pump.step(server, &mut uart, app.now()), server) {}
        assert!(uart.sent().contains(r#""id":1,"error":{"code":-32603"#), "{}", uart.sent());
    });
}

#[test]
fn blocking_writes_through_halves_take_at_most_16_bytes() {
    let (input, output) = dialogue();
    with_server(512, 1024, |server| {
        let (mut pump, mut app) = (Pump::new(), App::default());
        let (rx, tx) = (Uart::text(&input), Uart::new([]));
        let mut link = Halves(rx, WriteBlocks(tx));
        while app.handle(pump.step(server, &mut link, app.now()), server) {}
        let sent = &link.1.0;
        assert_eq!((sent.sent(), sent.flushed), (output.clone(), output.len()));
        assert_eq!(sent.largest, 16);
    });
}

/// A flush that fails temporarily is repeated up to nine times. Without a repetition, the peer could wait for the
/// written bytes forever, because perhaps no later write flushes them.
#[test]
fn blocking_write_repeats_a_failed_flush() {
    for (kind, count, is_flushed) in [
        (ErrorKind::TimedOut, 9, true),
        (ErrorKind::TimedOut, 10, false),
        (ErrorKind::Interrupted, 1, true),
        (ErrorKind::BrokenPipe, 1, false),
        (ErrorKind::Unsupported, 1, false),
    ] {
        let mut tx = Uart { flush_errors: vec![kind; count].into(), ..Uart::new([]) };
        assert_eq!(Write::write(&mut WriteBlocks(&mut tx), b"{}\n"), Ok(3), "{kind:?}");
        assert_eq!((tx.flushed == 3, tx.flush_errors.len()), (is_flushed, 0), "{kind:?}");
    }
}

#[test]
fn client_connects_to_server_through_queues() {
    for connect in [Connect::Automatic, Connect::Handshake, Connect::Stateless] {
        let (up, down) = (Queue::<8>::new(), Queue::<2>::new());
        let info = ClientConfig::new("c", "1").connect(connect);
        let (mut rx, mut tx) = ([0; 1024], [0; 1024]);
        let mut client = Client::new(&info, &mut rx, &mut tx).unwrap();
        let (mut client_pump, mut server_pump) = (Pump::new(), Pump::new());
        with_server(1024, 1024, |server| {
            let mut app = App::default();
            let connected = (0..10_000).find_map(|_| {
                app.handle(server_pump.step(server, &mut Halves(&up, &down), Millis(0)), server);
                let step = client_pump.step(&mut client, &mut Halves(&down, &up), Millis(0));
                match step {
                    PumpStatus::Event => {
                        matches!(client.event(), Some(client::Event::Connected(_))).then_some(())
                    }
                    step => {
                        assert!(matches!(step, PumpStatus::Moved | PumpStatus::Idle(_)), "{step:?}");
                        None
                    }
                }
            });
            assert!(connected.is_some(), "{connect:?}");
            assert!(app.steps.is_empty());
        });
    }
}

#[test]
fn pump_is_reused_for_another_connection() {
    with_server(512, 1024, |server| {
        let (mut pump, mut app) = (Pump::new(), App::default());
        for end in [On::End, On::Error(ErrorKind::ConnectionReset), On::Quiet] {
            let mut uart = Uart::new([On::Bytes([INITIALIZE, &ping(1)].concat().into()), end]);
            while app.handle(pump.step(server, &mut uart, app.now()), server) {}
            assert_eq!(uart.sent(), [WELCOME, &pong(1)].concat());
            pump.new_session();
            server.reset();
        }
        let lost = PumpStatus::LinkLost(ErrorKind::ConnectionReset);
        assert_eq!(app.steps, [PumpStatus::Closed, lost, PumpStatus::Closed]);
    });
}
