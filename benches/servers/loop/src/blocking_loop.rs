//! A blocking loop that runs a server on stdin and stdout.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;

use mcp_proto::{Action, Clock, Next, Server};

use crate::echo;

pub fn run(mut server: Server<'_>) -> std::io::Result<()> {
    let mut input = File::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    // A `File`, because `Stdout` searches each output for line ends, and buffers the bytes after the last line end.
    let mut output = File::from(std::io::stdout().as_fd().try_clone_to_owned()?);
    let clock = Clock::start();
    loop {
        match server.poll(clock.now()) {
            Action::Io(io) => match io.next() {
                Next::Write(out) => {
                    let n = output.write(out.bytes())?;
                    out.sent(n);
                }
                Next::Read(mut space) => match input.read(space.space())? {
                    0 => space.eof(),
                    n => space.filled(n),
                },
                Next::Wait => {}
            },
            Action::Event => {
                if let Some(event) = server.event() {
                    echo::handle(event);
                }
            }
            Action::Closed => return Ok(()),
        }
    }
}
