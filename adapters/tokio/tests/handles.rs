//! What handles can do beside calls: a server's ask about its clients and tell them.

use std::time::Duration;

use crate::peer::{Peer, SOON, call};
use mcp_proto::Level;
use mcp_proto::client::{Connect, Listed};
use mcp_proto::server::{
    Change, Event, Logging, Resource, Resources, ServerConfig, Subscriptions, Tool, Tools,
};
use mcp_proto_tokio::{Connector, RequestError, Serve, ServerHandle};
use tokio::io::duplex;
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

static TOOLS: Tools =
    Tools::new(&[Tool::new("is watched", "{}"), Tool::new("complete", "{}")]).list_changed();
static RESOURCES: Resources = Resources::new(&[Resource::new("a:log", "log")]).subscribe();
static INFO: ServerConfig =
    ServerConfig::new("test", "1").features(&[&TOOLS, &RESOURCES, &Subscriptions, &Logging]);

fn handler(event: Event<'_>, server: &ServerHandle) {
    let Event::Call(call) = event else { return };
    let (handle, is_complete) = (server.clone(), call.name() == "complete");
    server.run(call, move |answer| async move {
        if is_complete {
            handle.elicitation_complete("e1").await;
            answer.text("said");
        } else {
            answer.text(handle.is_watched("a:log").await.unwrap());
        }
    });
}

#[tokio::test]
async fn a_task_may_ask_whether_a_resource_is_watched_until_the_connection_is_over() {
    let (kept, mut handle) = mpsc::unbounded_channel();
    let (mut peer, server) = Peer::connect(&INFO, 1, ("2025-11-25", "{}"), move |event, server| {
        if let Event::Ready = event {
            kept.send(server.clone()).unwrap();
        }
        handler(event, server);
    })
    .await;
    for (method, is_watched) in [("subscribe", true), ("unsubscribe", false)] {
        let params = r#"{"uri":"a:log"}"#;
        let request =
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"resources/{method}","params":{params}}}"#);
        peer.send(&(request + "\n")).await;
        assert!(peer.line().await.contains("result"));
        peer.send(&call(2, "is watched", "{}")).await;
        let line = peer.line().await;
        assert!(line.contains(&format!(r#""text":"{is_watched}""#)), "{line}");
    }
    peer.end(server).await;
    let handle = handle.recv().await.unwrap();
    assert_eq!(handle.is_watched("a:log").await, Err(RequestError::Closed));
    handle.elicitation_complete("e1").await;
}

#[tokio::test]
async fn who_watches_is_known_though_the_client_does_not_read() {
    let (kept, mut handle) = mpsc::unbounded_channel();
    let serve = Serve::new(&INFO).longest_answer(1 << 16);
    let (mut peer, server) = Peer::start(serve, 64, move |event, server| {
        if let Event::Ready = event {
            kept.send(server.clone()).unwrap();
        }
    });
    peer.send(&crate::peer::initialize("2025-11-25", "{}")).await;
    assert!(peer.line().await.contains("protocolVersion"));
    let handle = handle.recv().await.unwrap();
    let logs = handle.clone();
    let filled = tokio::spawn(async move {
        loop {
            logs.log(Level::Error, "x".repeat(1000)).await;
        }
    });
    sleep(Duration::from_millis(200)).await;
    assert_eq!(timeout(SOON, handle.is_watched("a:log")).await.expect("nobody has to read"), Ok(false));
    filled.abort();
    drop(peer);
    timeout(SOON, server).await.unwrap().unwrap().unwrap();
}

#[tokio::test]
async fn who_was_sent_to_a_web_page_hears_that_it_is_done() {
    let can_open = ("2025-11-25", r#"{"elicitation":{"url":{}}}"#);
    for (client, is_told) in [(can_open, true), (("2025-06-18", r#"{"elicitation":{}}"#), false)] {
        let (mut peer, server) = Peer::connect(&INFO, 1, client, handler).await;
        peer.send(&call(1, "complete", "{}")).await;
        let line = peer.line().await;
        let told = r#""method":"notifications/elicitation/complete","params":{"elicitationId":"e1"}"#;
        assert_eq!(line.contains(told), is_told, "{line}");
        assert!(!is_told || peer.line().await.contains("said"));
        peer.end(server).await;
    }
}

#[tokio::test]
async fn a_server_may_end_a_subscription() {
    let (here, there) = duplex(64 * 1024);
    let (sender, mut listening) = mpsc::unbounded_channel();
    tokio::spawn(Serve::new(&INFO).stream(there, move |event, server| {
        if let Event::Listening(begun) = event {
            sender.send((begun.ticket(), server.clone())).unwrap();
        }
    }));
    let client = Connector::new("test", "1").connect(Connect::Automatic).stream(here).await.unwrap();
    let mut ended = client.listen(&[Listed::Tools], &[]).await.unwrap();
    let mut goes_on = client.listen(&[Listed::Tools], &[]).await.unwrap();
    let (ticket, server) = listening.recv().await.unwrap();
    server.end_subscription(ticket);
    assert_eq!(timeout(SOON, ended.next()).await.unwrap(), None);
    // Once more is nothing.
    server.end_subscription(ticket);
    server.changed(Change::Tools);
    assert!(timeout(SOON, goes_on.next()).await.unwrap().is_some());
}
