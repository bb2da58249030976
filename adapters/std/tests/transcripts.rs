//! Every transcript of `tests/transcripts` over each pump for streams, with slow and failing peers.
#![cfg(unix)]

use std::io::{self, Read, Write, pipe};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::thread;

use mcp_proto_std::{Pump, PumpStatus};
use mcp_proto_transcripts::{Subject, partner};

fn run_pump(subject: &mut Subject<'static>, mut pump: Pump) {
    loop {
        match pump.run(subject.machine()) {
            PumpStatus::Event => subject.event(),
            PumpStatus::Woken => {}
            PumpStatus::Closed => return,
        }
    }
}

#[test]
fn transcripts_are_identical_over_a_socket() {
    partner::all_over(|subject, stream| {
        run_pump(subject, Pump::new(stream.try_clone().unwrap(), stream).unwrap());
    });
}

#[test]
fn transcripts_are_identical_over_pipes() {
    partner::all_over(|subject, stream| {
        let (mut answers, output) = pipe().unwrap();
        let mut to_peer = stream.try_clone().unwrap();
        let forwards = thread::spawn(move || {
            let _ = io::copy(&mut answers, &mut to_peer);
        });
        run_pump(subject, Pump::new(stream.try_clone().unwrap(), output).unwrap());
        forwards.join().unwrap();
        let _ = stream.shutdown(Shutdown::Both);
    });
}

/// A stream type that the pump does not know. The pump therefore uses threads.
struct Plain(UnixStream);

impl Read for Plain {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.0.read(bytes)
    }
}

impl Write for Plain {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn transcripts_are_identical_over_blocking_streams() {
    partner::all_over(|subject, stream| {
        let (input, output) = (stream.try_clone().unwrap(), stream.try_clone().unwrap());
        run_pump(subject, Pump::new(Plain(input), Plain(output)).unwrap());
        // The reader thread may still hold the socket.
        let _ = stream.shutdown(Shutdown::Both);
    });
}
