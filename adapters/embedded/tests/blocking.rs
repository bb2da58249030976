//! A link that blocks.

use crate::common::{Host, INITIALIZE, On, Uart, WELCOME, answer, call, ping, pong, with_server};
use embedded_io::ErrorKind;
use mcp_proto::Millis;
use mcp_proto_embedded::{Pump, PumpStatus, SESSION_MARK};

/// Runs a server until it is over, or nothing comes any more.
fn serve(uart: &mut Uart) -> Host {
    with_server(512, 1024, |server| {
        let (mut pump, mut host) = (Pump::new().session_mark(SESSION_MARK), Host::default());
        loop {
            let step = pump.run(server, uart, &mut || Millis(0));
            assert_ne!(step, PumpStatus::Moved, "nobody has to hear of that");
            if !host.hear(step, server) && (step == PumpStatus::Closed || uart.script.is_empty()) {
                return host;
            }
        }
    })
}

#[test]
fn a_dialogue_is_the_same_however_it_is_cut_and_all_of_it_is_flushed() {
    let input = [INITIALIZE, &ping(1), &call(2, "hello"), &ping(3)].concat();
    let output = [WELCOME, &pong(1), &answer(2, "Hello!"), &pong(3)].concat();
    for reads in [1, 2, 63, 64, 65, 1000] {
        for writes in [1, 7, 1000] {
            for end in [vec![], vec![On::End]] {
                let mut uart = Uart::new([On::Bytes(input.clone().into())]);
                let ends = !end.is_empty();
                uart.script.extend(end);
                (uart.reads, uart.writes) = (reads, writes);
                let host = serve(&mut uart);
                assert_eq!((uart.sent(), uart.flushed), (output.clone(), output.len()));
                assert_eq!(host.steps, vec![PumpStatus::Closed; usize::from(ends)]);
            }
        }
    }
}

#[test]
fn it_comes_back_when_the_machine_waits_for_the_host() {
    // The input has ended, and a call is still to be answered.
    let input = [INITIALIZE, &call(1, "slow")].concat();
    let mut uart = Uart::new([On::Bytes(input.into()), On::End]);
    with_server(512, 1024, |server| {
        let (mut pump, mut host) = (Pump::new(), Host::default());
        let mut now = || Millis(0);
        while host.hear(pump.run(server, &mut uart, &mut now), server) {}
        assert!(matches!(pump.run(server, &mut uart, &mut now), PumpStatus::Idle(Some(_))));
        server.reply(host.slow.unwrap()).unwrap().text("done");
        while host.hear(pump.run(server, &mut uart, &mut now), server) {}
        assert_eq!(host.steps, [PumpStatus::Closed]);
        assert_eq!(uart.sent(), [WELCOME, &answer(1, "done")].concat());
        assert_eq!(uart.flushed, uart.sent.len());
    });
}

#[test]
fn errors_mean_what_they_mean_for_steps() {
    let (before, behind) = (&ping(1)[..30], &ping(1)[30..]);
    let mut uart = Uart::new([
        On::Bytes([INITIALIZE, before].concat().into()),
        On::Error(ErrorKind::Other),
        On::Bytes([behind, &ping(2)].concat().into()),
        On::Bytes(vec![b'x', SESSION_MARK]),
        On::Bytes([INITIALIZE, &ping(3)].concat().into()),
        On::Error(ErrorKind::ConnectionReset),
    ]);
    let host = serve(&mut uart);
    let broken = PumpStatus::LineBroken(ErrorKind::Other);
    let lost = PumpStatus::LinkLost(ErrorKind::ConnectionReset);
    assert_eq!(host.steps, [broken, PumpStatus::NewSession, lost, PumpStatus::Closed]);
    assert_eq!(uart.sent(), [WELCOME, &pong(2), WELCOME, &pong(3)].concat());
}

#[test]
fn a_driver_that_writes_nothing_is_gone() {
    let mut uart = Uart { writes: 0, ..Uart::text(INITIALIZE) };
    assert_eq!(serve(&mut uart).steps, [PumpStatus::LinkLost(ErrorKind::WriteZero), PumpStatus::Closed]);
}
