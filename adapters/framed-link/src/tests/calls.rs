//! A client calls the tools of a server over a line that damages bytes in both directions.

use std::format;
use std::string::ToString;
use std::vec::Vec;

use mcp_proto::client::{self, ClientConfig, Connect, Options};
use mcp_proto::server::{self, ServerConfig, Tool, Tools};
use mcp_proto::{Action, Client, Machine, Millis, Server};

use super::Random;
use crate::FramedLink;

static TOOLS: Tools<'_> = Tools::new(&[Tool::new("echo", "{}")]);
static SERVER: ServerConfig<'_> = ServerConfig::new("server", "1").features(&[&TOOLS]);
const CALLS: usize = 200;

/// Moves bytes between a machine and its link. If the machine has an event, returns `true` and moves no bytes.
fn step(machine: &mut dyn Machine, link: &mut FramedLink, now: Millis) -> bool {
    let io = match machine.poll(now) {
        Action::Event => return true,
        Action::Closed => panic!("a machine has ended"),
        Action::Io(io) => io,
    };
    let (transmit, mut receive) = io.split();
    let sent = link.send(transmit.bytes());
    transmit.sent(sent);
    let received = link.received();
    if !received.is_empty() && receive.is_ready() {
        let space = receive.space();
        let count = received.len().min(space.len());
        space[..count].copy_from_slice(&received[..count]);
        receive.filled(count);
        link.consume(count);
    }
    assert!(!link.take_reset(), "noise resets no session");
    false
}

/// Moves the due bytes of a link to the other link. Flips bits of 1 % of the bytes.
fn transfer(from: &mut FramedLink, to: &mut FramedLink, now: Millis, random: &mut Random) {
    let mut bytes: Vec<u8> = from.output(now).to_vec();
    from.written(bytes.len(), now);
    for byte in &mut bytes {
        if random.below(100) == 0 {
            *byte ^= 1 + random.below(255) as u8;
        }
    }
    to.input(&bytes, now, |_text| {});
}

fn calls_are_answered(connect: Connect, seed: u64) {
    let config = ClientConfig::new("client", "1").connect(connect);
    let (mut a, mut b, mut c, mut d) = ([0; 1024], [0; 1024], [0; 1024], [0; 1024]);
    let (mut slots, mut text) = ([client::Slot::EMPTY; 2], [0; 128]);
    let mut client = Client::new(&config, &mut a, &mut b).unwrap().in_flight(&mut slots, &mut text);
    let mut server = Server::new(&SERVER, &mut c, &mut d).unwrap();
    let (mut bridge, mut board) = (FramedLink::new(0x1234), FramedLink::new(1));
    let (mut random, mut now) = (Random(seed), Millis(0));
    let mut results = 0;
    while results < CALLS {
        let calls_next = if step(&mut client, &mut bridge, now) {
            match client.event().unwrap() {
                client::Event::Connected(_) => true,
                client::Event::Response(response) => {
                    let result = response.tool_result().unwrap();
                    assert_eq!(result.text().unwrap().to_string(), format!("{{\"number\":{results}}}"));
                    results += 1;
                    true
                }
                other => panic!("{other:?}"),
            }
        } else {
            false
        };
        if calls_next {
            let arguments = format!("{{\"number\":{results}}}");
            client.call_json("echo", &arguments, Options::DEFAULT).unwrap();
        }
        if step(&mut server, &mut board, now) {
            match server.event() {
                Some(server::Event::Call(call)) => {
                    let text = call.raw_arguments().to_string();
                    call.text(&*text);
                }
                Some(server::Event::Connected(_) | server::Event::Ready) => {}
                other => panic!("{other:?}"),
            }
        }
        transfer(&mut bridge, &mut board, now, &mut random);
        transfer(&mut board, &mut bridge, now, &mut random);
        now = now.plus(Millis(1));
        assert!(now < Millis(10_000_000), "{results} calls have a result");
    }
}

#[test]
fn all_calls_succeed_on_a_line_that_damages_one_percent() {
    for connect in [Connect::Stateless, Connect::Handshake] {
        for seed in 1..6 {
            calls_are_answered(connect, seed);
        }
    }
}
