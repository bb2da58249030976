//! The steps of a main loop, over a line that is cut, slow, moody and broken in every place.

use crate::common::{Host, INITIALIZE, On, Uart, WELCOME, answer, call, ping, pong, with_server};
use embedded_io::ErrorKind;
use mcp_proto::client::{self, ClientConfig, Connect};
use mcp_proto::{Client, Millis};
use mcp_proto_embedded::{Halves, Pump, PumpStatus, Queue, SESSION_MARK, WriteBlocks};

/// Runs a server until nothing moves any more.
fn serve(uart: &mut Uart, pump: &mut Pump) -> Host {
    with_server(512, 1024, |server| {
        let mut host = Host::default();
        // A driver that has nothing just now may have something when asked again.
        let mut idle = 0;
        while idle < 3 {
            let step = pump.step(server, uart, host.now());
            idle = if matches!(step, PumpStatus::Idle(_)) { idle + 1 } else { 0 };
            if !host.hear(step, server) && step == PumpStatus::Closed {
                break;
            }
        }
        host
    })
}

fn dialogue() -> (String, String) {
    let input = [INITIALIZE, &ping(1), &call(2, "hello"), "\n", &ping(3)].concat();
    let output = [WELCOME, &pong(1), &answer(2, "Hello!"), &pong(3)].concat();
    (input, output)
}

#[test]
fn however_input_is_cut_and_output_drains_the_dialogue_is_the_same() {
    let (input, output) = dialogue();
    for reads in [1, 2, 3, 7, 63, 64, 65, 1000] {
        for writes in [1, 2, 5, 1000] {
            for moody in [false, true] {
                let mut uart = Uart { reads, writes, moody, ..Uart::text(&input) };
                let host = serve(&mut uart, &mut Pump::new());
                assert_eq!(uart.sent(), output, "{reads} {writes} {moody}");
                assert_eq!(host.calls, ["hello"]);
                assert_eq!((host.faults.len(), host.steps.len()), (0, 0));
            }
        }
    }
}

#[test]
fn an_error_costs_the_line_it_comes_in_and_nothing_else() {
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
                let host = serve(&mut uart, &mut Pump::new());
                assert_eq!(host.steps, [PumpStatus::LineBroken(ErrorKind::InvalidData)], "{at}");
                // Between two lines nothing can be missing but white space, or the next line is no JSON by itself.
                let is_whole = at == begins;
                let method = line.find("\"method\":").unwrap() + "\"method\":".len();
                let id = which + 1;
                let code = r#""error":{"code":-32700,"message":"Parse error: the message is not valid JSON: given up"#;
                let mut expected = String::from(WELCOME);
                for (index, answer) in answers.iter().enumerate() {
                    if index != which || is_whole {
                        expected += answer;
                    } else if at >= begins + method {
                        let at = at - begins;
                        expected += &format!(
                            "{{\"jsonrpc\":\"2.0\",\"id\":{id},{code} on its way at byte {at}\"}}}}\n"
                        );
                    }
                }
                // Where a word or a number was cut, the byte that is wrong is not the last one that came.
                let sent = uart.sent();
                assert_eq!(without_places(&sent), without_places(&expected), "{at} {reads}");
                assert_eq!(host.faults.len(), usize::from(!is_whole), "{at} {:?}", host.faults);
            }
        }
    }
}

fn without_places(text: &str) -> String {
    text.lines().map(|line| line.split(" at byte ").next().unwrap_or_default().to_string() + "\n").collect()
}

#[test]
fn errors_between_lines_and_in_a_row_are_told_and_cost_nothing() {
    let mut script = vec![On::Error(ErrorKind::Other), On::Bytes(INITIALIZE.into())];
    script.extend([On::Error(ErrorKind::Other), On::Quiet, On::Error(ErrorKind::OutOfMemory)]);
    script.extend([On::Bytes(ping(1).into()), On::Error(ErrorKind::TimedOut), On::Bytes(ping(2).into())]);
    let mut uart = Uart::new(script);
    let host = serve(&mut uart, &mut Pump::new());
    assert_eq!(uart.sent(), [WELCOME, &pong(1), &pong(2)].concat());
    let broken = [ErrorKind::Other, ErrorKind::Other, ErrorKind::OutOfMemory].map(PumpStatus::LineBroken);
    assert_eq!((host.steps.as_slice(), host.faults.len()), (broken.as_slice(), 0));
}

#[test]
fn a_write_that_fails_is_tried_again() {
    let (input, output) = dialogue();
    let mut uart = Uart { writes: 50, ..Uart::text(&input) };
    uart.write_errors.extend([ErrorKind::Interrupted, ErrorKind::TimedOut, ErrorKind::Other]);
    let host = serve(&mut uart, &mut Pump::new());
    assert_eq!(uart.sent(), output);
    assert_eq!(host.steps, [ErrorKind::Interrupted, ErrorKind::Other].map(PumpStatus::NotWritten));
}

#[test]
fn a_link_that_is_gone_ends_the_connection() {
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
        let host = serve(&mut uart, &mut Pump::new());
        assert_eq!(host.steps, [PumpStatus::LinkLost(kind), PumpStatus::Closed]);

        let mut uart = Uart::text(&[INITIALIZE, &ping(1)].concat());
        uart.write_errors.push_back(kind);
        let host = serve(&mut uart, &mut Pump::new());
        assert_eq!((host.steps, uart.sent.len()), (vec![PumpStatus::LinkLost(kind), PumpStatus::Closed], 0));
    }
}

#[test]
fn the_cable_may_be_pulled_in_the_middle_of_a_line() {
    let input = [INITIALIZE, &ping(1), &call(2, "hello")].concat();
    for at in INITIALIZE.len()..input.len() {
        let mut uart = Uart { reads: 9, ..Uart::new([On::Bytes(input[..at].into()), On::End]) };
        let host = serve(&mut uart, &mut Pump::new());
        assert_eq!(host.steps, [PumpStatus::Closed], "{at}");
        let cut = !(input[..at].ends_with('\n') || input[..at].ends_with('}') && at + 1 == input.len());
        let in_json = at + 1 != INITIALIZE.len() + ping(1).len();
        assert_eq!(host.faults.len(), usize::from(cut && in_json), "{at} {:?}", host.faults);
        let whole = input[..at].matches("\"method\":\"ping\"}\n").count();
        assert!(uart.sent().starts_with(&[WELCOME, &pong(1).repeat(whole)].concat()), "{at}");
    }
}

#[test]
fn a_new_session_may_begin_anywhere_and_loses_nothing() {
    let (old, _) = dialogue();
    let (new, output) = dialogue();
    for at in 0..old.len() {
        for (reads, writes) in [(1, 1), (7, 3), (64, 1000), (1000, 13)] {
            let input = [&old.as_bytes()[..at], &[SESSION_MARK, b'\n'], new.as_bytes()].concat();
            let mut uart = Uart { reads, writes, ..Uart::new([On::Bytes(input)]) };
            let host = serve(&mut uart, &mut Pump::new().session_mark(SESSION_MARK));
            assert_eq!(host.steps, [PumpStatus::NewSession], "{at}");
            assert!(host.faults.is_empty(), "{at} {:?}", host.faults);
            let sent = uart.sent();
            let before = sent.strip_suffix(&output).unwrap_or_else(|| panic!("{at} {writes}: {sent}"));
            // What was begun of the old session has an end, so that the new one begins with a line of its own.
            assert!(before.is_empty() || before.ends_with('\n'), "{at} {writes}: {before}");
        }
    }
}

#[test]
fn without_a_mark_it_is_a_byte_like_any_other() {
    let input = [INITIALIZE.as_bytes(), &[SESSION_MARK, b'\n'], ping(1).as_bytes()].concat();
    let mut uart = Uart::new([On::Bytes(input)]);
    let host = serve(&mut uart, &mut Pump::new());
    assert_eq!((host.steps.len(), host.faults.len()), (0, 1));
    assert!(uart.sent().ends_with(&pong(1)));
}

#[test]
fn a_mark_is_seen_while_nothing_can_be_written() {
    // As many requests as it takes until the server takes no more, because nobody reads the answers.
    let flood: Vec<u8> = [INITIALIZE.as_bytes(), ping(1).repeat(60).as_bytes()].concat();
    let bytes = |bytes: &[u8]| bytes.iter().map(|byte| On::Bytes(vec![*byte])).collect::<Vec<_>>();
    let held_back = with_server(256, 512, |server| {
        let (mut pump, mut host, mut uart) = (Pump::new(), Host::default(), Uart::new(bytes(&flood)));
        while host.hear(pump.step(server, &mut Closed(&mut uart), host.now()), server) {}
        uart.script.len()
    });
    assert!(held_back > 0);
    let taken = flood.len() - held_back - 1;
    with_server(256, 512, |server| {
        let mut pump = Pump::new().session_mark(SESSION_MARK);
        let (mut host, mut uart) = (Host::default(), Uart::new(bytes(&flood[..taken])));
        let new = [INITIALIZE, &ping(7)].concat();
        uart.script.push_back(On::Bytes([b"x", &[SESSION_MARK], new.as_bytes()].concat()));
        while host.steps.is_empty() {
            assert!(host.hear(pump.step(server, &mut Closed(&mut uart), host.now()), server));
        }
        assert_eq!(host.steps, [PumpStatus::NewSession]);
        while host.hear(pump.step(server, &mut uart, host.now()), server) {}
        assert_eq!(uart.sent(), [WELCOME, &pong(7)].concat());
    });
}

/// A link that takes nothing.
struct Closed<'u>(&'u mut Uart);

impl mcp_proto_embedded::Link for Closed<'_> {
    fn receive(&mut self, space: &mut [u8]) -> Result<Option<usize>, ErrorKind> {
        mcp_proto_embedded::Link::receive(self.0, space)
    }

    fn transmit(&mut self, _: &[u8]) -> Result<usize, ErrorKind> {
        Ok(0)
    }
}

#[test]
fn a_break_begins_a_new_session_wherever_the_old_one_is() {
    let (input, output) = dialogue();
    for steps in 0..200 {
        with_server(512, 1024, |server| {
            let mut pump = Pump::new();
            let mut host = Host::default();
            let mut uart = Uart { reads: 11, writes: 7, ..Uart::text(&input) };
            for _ in 0..steps {
                host.hear(pump.step(server, &mut uart, host.now()), server);
            }
            pump.new_session();
            server.reset();
            uart.script = [On::Bytes(input.clone().into())].into();
            while host.hear(pump.step(server, &mut uart, host.now()), server) {}
            let sent = uart.sent();
            let before = sent.strip_suffix(&output).unwrap_or_else(|| panic!("{steps}: {sent}"));
            assert!(before.is_empty() || before.ends_with('\n'), "{steps}: {before}");
            assert_eq!(host.faults.len(), 0, "{steps}");
        });
    }
}

#[test]
fn a_break_drops_what_the_pump_still_holds_of_the_old_session() {
    with_server(256, 512, |server| {
        let (mut pump, mut host) = (Pump::new(), Host::default());
        let mut uart = Uart::text(&[INITIALIZE, &ping(1).repeat(60)].concat());
        while host.hear(pump.step(server, &mut Closed(&mut uart), host.now()), server) {}
        assert!(!uart.script.is_empty(), "the server takes no more, so the pump holds some bytes");
        pump.new_session();
        server.reset();
        uart.script = [On::Bytes([INITIALIZE, &ping(7)].concat().into())].into();
        while host.hear(pump.step(server, &mut uart, host.now()), server) {}
        assert_eq!(uart.sent(), [WELCOME, &pong(7)].concat());
    });
}

#[test]
fn an_idle_step_says_when_the_next_thing_is_due() {
    with_server(512, 1024, |server| {
        let mut pump = Pump::new();
        let mut host = Host::default();
        let mut uart = Uart::text(&[INITIALIZE, &call(1, "slow")].concat());
        let due = loop {
            let step = pump.step(server, &mut uart, host.now());
            if let PumpStatus::Idle(due) = step {
                break due.expect("a call is in flight, and has a deadline");
            }
            host.hear(step, server);
        };
        assert!(host.slow.is_some());
        host.now = due.0;
        assert_eq!(pump.step(server, &mut uart, host.now()), PumpStatus::Event);
        while host.hear(pump.step(server, &mut uart, host.now()), server) {}
        assert!(uart.sent().contains(r#""id":1,"error":{"code":-32603"#), "{}", uart.sent());
    });
}

#[test]
fn halves_are_a_whole_and_a_driver_that_blocks_is_handed_little() {
    let (input, output) = dialogue();
    with_server(512, 1024, |server| {
        let (mut pump, mut host) = (Pump::new(), Host::default());
        let (rx, tx) = (Uart::text(&input), Uart::new([]));
        let mut link = Halves(rx, WriteBlocks(tx));
        while host.hear(pump.step(server, &mut link, host.now()), server) {}
        let sent = &link.1.0;
        assert_eq!((sent.sent(), sent.flushed), (output.clone(), output.len()));
        assert_eq!(sent.largest, 16);
    });
}

#[test]
fn a_client_and_a_server_speak_with_each_other_through_queues() {
    for connect in [Connect::Automatic, Connect::Handshake, Connect::Stateless] {
        let (up, down) = (Queue::<8>::new(), Queue::<2>::new());
        let info = ClientConfig::new("c", "1").connect(connect);
        let (mut rx, mut tx) = ([0; 1024], [0; 1024]);
        let mut client = Client::new(&info, &mut rx, &mut tx).unwrap();
        let (mut asks, mut serves) = (Pump::new(), Pump::new());
        with_server(1024, 1024, |server| {
            let mut host = Host::default();
            let connected = (0..10_000).find_map(|_| {
                host.hear(serves.step(server, &mut Halves(&up, &down), Millis(0)), server);
                let step = asks.step(&mut client, &mut Halves(&down, &up), Millis(0));
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
            assert!(host.steps.is_empty());
        });
    }
}

#[test]
fn a_pump_takes_another_connection_when_one_is_over() {
    with_server(512, 1024, |server| {
        let (mut pump, mut host) = (Pump::new(), Host::default());
        for end in [On::End, On::Error(ErrorKind::ConnectionReset), On::Quiet] {
            let mut uart = Uart::new([On::Bytes([INITIALIZE, &ping(1)].concat().into()), end]);
            while host.hear(pump.step(server, &mut uart, host.now()), server) {}
            assert_eq!(uart.sent(), [WELCOME, &pong(1)].concat());
            pump.new_session();
            server.reset();
        }
        let lost = PumpStatus::LinkLost(ErrorKind::ConnectionReset);
        assert_eq!(host.steps, [PumpStatus::Closed, lost, PumpStatus::Closed]);
    });
}
