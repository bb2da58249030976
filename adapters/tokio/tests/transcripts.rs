//! Every transcript with a peer, hostile or not, is the same over the pump.
#![cfg(unix)]

use std::os::unix::net::UnixStream;

use mcp_proto_tokio::{Pump, PumpStatus};
use mcp_proto_transcripts::{Subject, partner};

/// Moves bytes until the machine has closed the connection.
fn pump(subject: &mut Subject<'static>, stream: UnixStream) {
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
fn every_transcript_is_the_same_over_the_pump() {
    partner::all_over(pump);
}
