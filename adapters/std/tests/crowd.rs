//! Many calls at once, with the default limits of both roles.

use mcp_proto::server::{Event, ServerConfig, Tool, Tools};
use mcp_proto_std::{CallOptions, Connector, Serve, ServerHandle};
use std::os::unix::net::UnixStream;
use std::thread;

use crate::peer::{Peer, call};
use crate::time_limit::{TEST_TIMEOUT, within};

static TOOLS: Tools = Tools::new(&[Tool::new("work", "{}")]);
static CONFIG: ServerConfig = ServerConfig::new("test", "1").features(&[&TOOLS]);

const CALLS: u32 = 1000;
const NEWEST: (&str, &str) = ("2025-11-25", "{}");

fn handler(event: Event<'_>, server: &ServerHandle) {
    if let Event::Call(call) = event {
        server.run(call, |answer| {
            thread::yield_now();
            answer.text("done");
        });
    }
}

#[test]
fn thousand_calls_of_a_client_at_once_succeed() {
    within(TEST_TIMEOUT, || {
        let (here, there) = UnixStream::pair().unwrap();
        let server = thread::spawn(move || Serve::new(&CONFIG).stream(there, handler));
        let client = Connector::new("test", "1").stream(here).unwrap();
        let calls: Vec<_> =
            (0..CALLS).map(|_| client.begin_json("work", "{}", CallOptions::new()).unwrap()).collect();
        for call in calls {
            assert_eq!(call.wait().unwrap().text().as_deref(), Some("done"));
        }
        client.close();
        server.join().unwrap().unwrap();
    });
}

#[test]
fn thousand_pipelined_calls_of_a_peer_are_answered() {
    within(TEST_TIMEOUT, || {
        let (mut peer, server) = Peer::with_server(Serve::new(&CONFIG), NEWEST, handler);
        peer.send(&(1..=CALLS).map(|id| call(id, "work", "{}")).collect::<String>());
        for _ in 0..CALLS {
            let line = peer.line();
            assert!(line.contains("done"), "{line}");
        }
        drop(peer);
        server.join().unwrap();
    });
}
