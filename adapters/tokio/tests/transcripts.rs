//! Every transcript over the pump, with slow and failing peers.
#![cfg(unix)]

use std::os::unix::net::UnixStream;

use mcp_proto_tokio::{Pump, PumpStatus};
use mcp_proto_transcripts::{Subject, partner};

/// Moves bytes until the state machine has closed the connection.
fn run_pump(subject: &mut Subject<'static>, stream: UnixStream) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        stream.set_nonblocking(true).unwrap();
        let (input, output) = tokio::net::UnixStream::from_std(stream).unwrap().into_split();
        let mut pump = Pump::new(input, output);
        loop {
            match pump.run(subject.machine()).await {
                PumpStatus::Event => subject.event(),
                PumpStatus::Woken => {}
                PumpStatus::Closed => break,
            }
        }
    });
}

#[test]
fn transcripts_are_identical_over_the_pump() {
    partner::all_over(run_pump);
}
