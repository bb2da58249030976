//! Every dialogue of `adapters/dialogues` over the pump: with peers that are slow, stop reading, or leave.
#![cfg(unix)]

use std::net::Shutdown;
use std::os::unix::net::UnixStream;

use mcp_proto_dialogues::{Subject, partner};
use mcp_proto_std::{Pump, Step};

fn pump(subject: &mut Subject<'static>, stream: UnixStream) {
    let (input, output) = (stream.try_clone().unwrap(), stream.try_clone().unwrap());
    let mut pump = Pump::new(input, output).unwrap();
    loop {
        match pump.run(subject.machine()) {
            Step::Event => subject.event(),
            Step::Woken => {}
            Step::Closed => break,
        }
    }
    // The thread that reads may still hold the socket.
    let _ = stream.shutdown(Shutdown::Both);
}

#[test]
fn every_dialogue_is_the_same_over_the_pump() {
    partner::all_over(pump);
}
