//! Every transcript of `tests/transcripts` over every kind of pump: with peers that are slow, stop reading, or leave.
#![cfg(unix)]

use std::io::{self, Read, Write, pipe};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::thread;

use mcp_proto_std::{Pump, PumpStatus};
use mcp_proto_transcripts::{Subject, partner};

fn drive(subject: &mut Subject<'static>, mut pump: Pump) {
    loop {
        match pump.run(subject.machine()) {
            PumpStatus::Event => subject.event(),
            PumpStatus::Woken => {}
            PumpStatus::Closed => return,
        }
    }
}

#[test]
fn every_transcript_is_the_same_over_a_socket() {
    partner::all_over(|subject, stream| {
        drive(subject, Pump::new(stream.try_clone().unwrap(), stream).unwrap());
    });
}

#[test]
fn every_transcript_is_the_same_over_pipes() {
    partner::all_over(|subject, stream| {
        let (mut answers, output) = pipe().unwrap();
        let mut to_peer = stream.try_clone().unwrap();
        let forwards = thread::spawn(move || {
            let _ = io::copy(&mut answers, &mut to_peer);
        });
        drive(subject, Pump::new(stream.try_clone().unwrap(), output).unwrap());
        forwards.join().unwrap();
        let _ = stream.shutdown(Shutdown::Both);
    });
}

/// What nothing is known of but that it reads and writes.
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
fn every_transcript_is_the_same_over_threads() {
    partner::all_over(|subject, stream| {
        let (input, output) = (stream.try_clone().unwrap(), stream.try_clone().unwrap());
        drive(subject, Pump::new(Plain(input), Plain(output)).unwrap());
        // The thread that reads may still hold the socket.
        let _ = stream.shutdown(Shutdown::Both);
    });
}
