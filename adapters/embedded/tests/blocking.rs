//! Tests of the blocking pump, `Pump::run`.

use crate::common::{App, INITIALIZE, MARK, On, Uart, WELCOME, answer, call, ping, pong, with_server};
use embedded_io::ErrorKind;
use mcp_proto::Millis;
use mcp_proto_embedded::{Pump, PumpStatus, SESSION_MARK};

/// Runs a server until the connection is closed, or the pump is idle and the script is empty.
fn serve(uart: &mut Uart) -> App {
    with_server(512, 1024, |server| {
        let (mut pump, mut app) = (Pump::new().session_marks(), App::default());
        loop {
            let step = pump.run(server, uart, &mut || Millis(0));
            assert_ne!(step, PumpStatus::Moved, "`run` never returns `Moved`");
            if !app.handle(step, server) && (step == PumpStatus::Closed || uart.script.is_empty()) {
                return app;
            }
        }
    })
}

#[test]
fn transcript_is_independent_of_read_and_write_sizes() {
    let input = [INITIALIZE, &ping(1), &call(2, "hello"), &ping(3)].concat();
    let output = [MARK, WELCOME, &pong(1), &answer(2, "Hello!"), &pong(3)].concat();
    for reads in [1, 2, 63, 64, 65, 1000] {
        for writes in [1, 7, 1000] {
            for end in [vec![], vec![On::End]] {
                let mut uart = Uart::new([On::Bytes(input.clone().into())]);
                let ends = !end.is_empty();
                uart.script.extend(end);
                (uart.reads, uart.writes) = (reads, writes);
                let app = serve(&mut uart);
                assert_eq!((uart.sent(), uart.flushed), (output.clone(), output.len()));
                assert_eq!(app.steps, vec![PumpStatus::Closed; usize::from(ends)]);
            }
        }
    }
}

#[test]
fn run_returns_idle_while_a_deferred_call_is_open() {
    // The input has ended, and a call is still in flight.
    let input = [INITIALIZE, &call(1, "slow")].concat();
    let mut uart = Uart::new([On::Bytes(input.into()), On::End]);
    with_server(512, 1024, |server| {
        let (mut pump, mut app) = (Pump::new(), App::default());
        let mut now = || Millis(0);
        while app.handle(pump.run(server, &mut uart, &mut now), server) {}
        assert!(matches!(pump.run(server, &mut uart, &mut now), PumpStatus::Idle(Some(_))));
        server.reply(app.slow.unwrap()).unwrap().text("done");
        while app.handle(pump.run(server, &mut uart, &mut now), server) {}
        assert_eq!(app.steps, [PumpStatus::Closed]);
        assert_eq!(uart.sent(), [WELCOME, &answer(1, "done")].concat());
        assert_eq!(uart.flushed, uart.sent.len());
    });
}

#[test]
fn link_errors_are_reported_as_by_step() {
    let (before, behind) = (&ping(1)[..30], &ping(1)[30..]);
    let mut uart = Uart::new([
        On::Bytes([INITIALIZE, before].concat().into()),
        On::Error(ErrorKind::Other),
        On::Bytes([behind, &ping(2)].concat().into()),
        On::Bytes([b"x", SESSION_MARK].concat()),
        On::Bytes([INITIALIZE, &ping(3)].concat().into()),
        On::Error(ErrorKind::ConnectionReset),
    ]);
    let app = serve(&mut uart);
    let broken = PumpStatus::LineBroken(ErrorKind::Other);
    let lost = PumpStatus::LinkLost(ErrorKind::ConnectionReset);
    assert_eq!(app.steps, [broken, PumpStatus::NewSession, lost, PumpStatus::Closed]);
    assert_eq!(uart.sent(), [MARK, WELCOME, &pong(2), WELCOME, &pong(3)].concat());
}

#[test]
fn write_of_zero_bytes_closes_the_link() {
    let mut uart = Uart { writes: 0, ..Uart::text(INITIALIZE) };
    assert_eq!(serve(&mut uart).steps, [PumpStatus::LinkLost(ErrorKind::WriteZero), PumpStatus::Closed]);
}
