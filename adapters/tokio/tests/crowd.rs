//! Many calls at once, with the default limits of both roles.

use mcp_proto::server::{Event, ServerConfig, Tool, Tools};
use mcp_proto_tokio::{CallOptions, Connector, Serve, ServerHandle};
use tokio::io::duplex;
use tokio::sync::mpsc::unbounded_channel;
use tokio::time::timeout;

use crate::peer::{Peer, SOON, call, cancel, initialize};

static TOOLS: Tools = Tools::new(&[Tool::new("work", "{}")]);
static CONFIG: ServerConfig = ServerConfig::new("test", "1").features(&[&TOOLS]);

const CALLS: u32 = 1000;
const NEWEST: (&str, &str) = ("2025-11-25", "{}");

fn handler(event: Event<'_>, server: &ServerHandle) {
    if let Event::Call(call) = event {
        server.run(call, |answer| async move {
            tokio::task::yield_now().await;
            answer.text("done");
        });
    }
}

#[tokio::test]
async fn thousand_calls_of_a_client_at_once_succeed() {
    let (here, there) = duplex(1 << 20);
    tokio::spawn(Serve::new(&CONFIG).stream(there, handler));
    let client = Connector::new("test", "1").stream(here).await.unwrap();
    let calls: Vec<_> =
        (0..CALLS).map(|_| client.begin_json("work", "{}", CallOptions::new()).unwrap()).collect();
    for call in calls {
        assert_eq!(timeout(SOON, call).await.unwrap().unwrap().text().as_deref(), Some("done"));
    }
    client.close().await;
}

#[tokio::test]
async fn thousand_pipelined_calls_of_a_peer_are_answered() {
    let (mut peer, server) = Peer::start(Serve::new(&CONFIG), 1 << 20, handler);
    peer.send(&initialize(NEWEST.0, NEWEST.1)).await;
    assert!(peer.line().await.contains("protocolVersion"));
    peer.send(&(1..=CALLS).map(|id| call(id, "work", "{}")).collect::<String>()).await;
    for _ in 0..CALLS {
        let line = peer.line().await;
        assert!(line.contains("done"), "{line}");
    }
    peer.end(server).await;
}

#[tokio::test]
async fn waiting_call_runs_when_a_worker_is_free_unless_cancelled() {
    let (sender, mut started) = unbounded_channel();
    let handler = move |event: Event<'_>, server: &ServerHandle| {
        let Event::Call(call) = event else { return };
        let (arguments, sender) = (call.raw_arguments().to_string(), sender.clone());
        server.run(call, |answer| async move {
            sender.send(arguments).unwrap();
            answer.cancelled().await;
        });
    };
    let (mut peer, server) = Peer::start(Serve::new(&CONFIG).workers(1).waiting(2), 1 << 16, handler);
    peer.send(&initialize(NEWEST.0, NEWEST.1)).await;
    assert!(peer.line().await.contains("protocolVersion"));
    for id in 1..=4 {
        peer.send(&call(id, "work", &format!("{{\"n\":{id}}}"))).await;
    }
    let line = peer.line().await;
    assert!(line.contains(r#""id":4,"error":{"code":-32603"#) && line.contains("at most 3"), "{line}");
    assert_eq!(timeout(SOON, started.recv()).await.unwrap().unwrap(), r#"{"n":1}"#);
    assert!(started.try_recv().is_err(), "only one worker may run");
    // The second call is cancelled while it waits, so the third runs next.
    peer.send(&(cancel(2) + &cancel(1))).await;
    assert_eq!(timeout(SOON, started.recv()).await.unwrap().unwrap(), r#"{"n":3}"#);
    peer.end(server).await;
    assert_eq!(started.recv().await, None);
}
