//! The echo server on `mcp-proto` alone: the loop of its README, with reads and writes that block.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;

use mcp_proto::server::{Event, ServerInfo, Tool, Tools};
use mcp_proto::{Action, Buffer, Clock, Server};

const SCHEMA: &str = r#"{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}"#;
static TOOLS: Tools = Tools::new(&[Tool::new("echo", SCHEMA)]);
static INFO: ServerInfo = ServerInfo::new("echo", "1").features(&[&TOOLS]);

#[derive(serde::Deserialize)]
struct Echo<'a> {
    text: &'a str,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Not `Stdout`: that looks for line ends, and keeps what follows the last one.
    let mut input = File::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    let mut output = File::from(std::io::stdout().as_fd().try_clone_to_owned()?);
    let mut server = Server::new(&INFO, Buffer::grown(8 << 20), Buffer::grown(8 << 20))?;
    let clock = Clock::start();
    let mut chunk = vec![0; 1 << 16];
    let (mut fed, mut filled, mut ended) = (0, 0, false);
    loop {
        match server.poll(clock.now()) {
            Action::Io(io) => {
                let (out, mut into) = io.split();
                // All of the chunk comes before any output: then the answers to all of it leave in one write.
                if fed < filled && into.is_ready() {
                    let space = into.space();
                    let n = space.len().min(filled - fed);
                    space[..n].copy_from_slice(&chunk[fed..fed + n]);
                    into.filled(n);
                    fed += n;
                } else if !out.bytes().is_empty() {
                    let n = output.write(out.bytes())?;
                    out.sent(n);
                } else if !ended {
                    (fed, filled) = (0, input.read(&mut chunk)?);
                    if filled == 0 {
                        ended = true;
                        into.eof();
                    }
                }
            }
            Action::Event => match server.event() {
                Some(Event::Call(mut call)) => match call.arguments() {
                    Ok(Echo { text }) => call.text(text),
                    Err(error) => call.invalid(error),
                },
                Some(Event::Fault(fault)) => eprintln!("{fault}"),
                _ => {}
            },
            Action::Closed => return Ok(()),
        }
    }
}
