//! The echo server on `mcp-proto` alone, with a blocking loop.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;

use mcp_proto::server::{Event, ServerConfig, Tool, Tools};
use mcp_proto::{Action, Buffer, Clock, Next, Server};

const SCHEMA: &str = r#"{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}"#;
static TOOLS: Tools = Tools::new(&[Tool::new("echo", SCHEMA)]);
static INFO: ServerConfig = ServerConfig::new("echo", "1").features(&[&TOOLS]);

#[derive(serde::Deserialize)]
struct Echo<'a> {
    text: &'a str,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A `File` instead of `Stdout`, which searches for line ends and buffers the rest.
    let mut input = File::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    let mut output = File::from(std::io::stdout().as_fd().try_clone_to_owned()?);
    let mut server = Server::new(&INFO, Buffer::grown(8 << 20), Buffer::grown(8 << 20))?;
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
            Action::Event => match server.event() {
                Some(Event::Call(mut call)) => match call.arguments() {
                    Ok(Echo { text }) => call.text(text),
                    Err(error) => call.invalid(error),
                },
                Some(Event::ProtocolError(fault)) => eprintln!("{fault}"),
                _ => {}
            },
            Action::Closed => return Ok(()),
        }
    }
}
