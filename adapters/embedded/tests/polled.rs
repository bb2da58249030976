//! The steps of a main loop, over a line that is cut, slow, moody and broken in every place.

mod common;

use common::{Host, INITIALIZE, On, Uart, WELCOME, answer, call, ping, pong, with_server};
use embedded_io::ErrorKind;
use mcp_proto_embedded::{Pump, SESSION_MARK, Step};

/// Runs a server until nothing moves any more.
fn serve(uart: &mut Uart, pump: &mut Pump) -> Host {
    with_server(512, 1024, |server| {
        let mut host = Host::default();
        // A driver that has nothing just now may have something when asked again.
        let mut idle = 0;
        while idle < 3 {
            let step = pump.step(server, uart, host.now());
            idle = if matches!(step, Step::Idle(_)) { idle + 1 } else { 0 };
            if !host.hear(step, server) && step == Step::Closed {
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
