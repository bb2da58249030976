//! A server and a client in one custom event loop.
//!
//! The loop uses one thread, nonblocking TCP and no adapter: `cargo run --example event_loop`

#[rustfmt::skip]
mod serve;

use std::io::{ErrorKind::WouldBlock, Read, Write};
use std::time::Duration;

use mcp_proto::client::{ClientConfig, Event, Options};
use mcp_proto::server::{ServerConfig, Tool, Tools};
use mcp_proto::{Action, Buffer, Client, Clock, Machine, Millis, Outcome, Server};
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};

static TOOLS: Tools = Tools::new(&[
    Tool::new("add", r#"{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}}}"#),
    Tool::new("slow", "{}").description("Takes half a second"),
]);
static SERVER: ServerConfig = ServerConfig::new("event-loop-server", "1.0.0").features(&[&TOOLS]);
static CLIENT: ClientConfig = ClientConfig::new("event-loop-client", "1.0.0");
const LINE: usize = 1 << 20;

/// The reason why `turn` returned. `Wait` contains the deadline of the machine, if any.
enum Turn {
    Event,
    Wait(Option<Millis>),
    Closed,
}

/// Transfers bytes until the socket would block. Returns earlier if the machine has an event or is closed.
fn turn(machine: &mut dyn Machine, mut socket: &TcpStream, now: Millis) -> Turn {
    loop {
        match machine.poll(now) {
            Action::Event => return Turn::Event,
            Action::Closed => return Turn::Closed,
            Action::Io(io) => {
                let deadline = io.deadline();
                let (out, mut input) = io.split();
                let mut moved = false;
                if !out.bytes().is_empty() {
                    match socket.write(out.bytes()) {
                        Err(error) if error.kind() == WouldBlock => {}
                        result => {
                            moved = true;
                            match result {
                                Ok(n) => out.sent(n),
                                Err(_) => out.broken(),
                            }
                        }
                    }
                }
                if input.is_ready() {
                    match socket.read(input.space()) {
                        Err(error) if error.kind() == WouldBlock => {}
                        result => {
                            moved = true;
                            match result {
                                Ok(n @ 1..) => input.filled(n),
                                _ => input.eof(),
                            }
                        }
                    }
                }
                if !moved {
                    return Turn::Wait(deadline);
                }
            }
        }
    }
}

/// Handles a client event. Makes two calls once connected, and counts the responses.
fn handle_client_event(client: &mut Client<'_>, answers: &mut u32) -> Result<(), Box<dyn std::error::Error>> {
    match client.event() {
        Some(Event::Connected(server)) => {
            println!("connected, revision {}", server.revision());
            client.call_json("slow", "{}", Options::DEFAULT.with_progress())?;
            client.call_json("add", r#"{"a":2,"b":40}"#, Options::DEFAULT)?;
        }
        Some(Event::ConnectFailed(why)) => return Err(why.to_string().into()),
        Some(Event::Progress(step)) => println!("slow: step {}", step.progress()),
        Some(Event::Response(end)) => {
            match (end.tool_result().and_then(|result| result.text()), end.outcome()) {
                (Some(text), _) => println!("answer: {text}"),
                (None, Outcome::Error(error)) => return Err(error.to_string().into()),
                (None, outcome) => return Err(format!("{outcome:?}").into()),
            }
            *answers += 1;
        }
        _ => {}
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mut ours, mut theirs) = connected_pair()?;
    let mut poll = Poll::new()?;
    // Edge triggered: the loop wakes when a socket becomes ready, and runs until the socket would block.
    poll.registry().register(&mut ours, Token(0), Interest::READABLE | Interest::WRITABLE)?;
    poll.registry().register(&mut theirs, Token(1), Interest::READABLE | Interest::WRITABLE)?;

    let mut server = Server::new(&SERVER, Buffer::grown(LINE), Buffer::grown(LINE))?.in_flight_grown(16)?;
    let mut client = Client::new(&CLIENT, Buffer::grown(LINE), Buffer::grown(LINE))?.in_flight_grown(16);
    let (clock, mut slow, mut answers, mut events) =
        (Clock::start(), Vec::new(), 0, Events::with_capacity(8));
    loop {
        let now = clock.now();
        let client_wakes = match turn(&mut client, &ours, now) {
            Turn::Event => {
                handle_client_event(&mut client, &mut answers)?;
                if answers == 2 {
                    client.shutdown(now);
                }
                continue;
            }
            Turn::Wait(deadline) => deadline,
            Turn::Closed => {
                // The client has received all responses. The server ends when the client closes its side.
                ours.shutdown(std::net::Shutdown::Write)?;
                None
            }
        };
        let Some(server_wakes) = serve::turn(&mut server, &theirs, now, &mut slow) else { break };
        let wakes = client_wakes.map_or(server_wakes, |wakes| wakes.min(server_wakes));
        let wait = Duration::from_millis(wakes.since(clock.now()).0.min(60_000));
        poll.poll(&mut events, Some(wait))?;
    }
    println!("both sides are closed");
    Ok(())
}

/// Returns the two ends of a connection.
fn connected_pair() -> std::io::Result<(TcpStream, TcpStream)> {
    let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    let ours = std::net::TcpStream::connect(listener.local_addr()?)?;
    let (theirs, _) = listener.accept()?;
    for socket in [&ours, &theirs] {
        socket.set_nonblocking(true)?;
    }
    Ok((TcpStream::from_std(ours), TcpStream::from_std(theirs)))
}
