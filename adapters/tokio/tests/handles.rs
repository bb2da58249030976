//! Queries and notifications of server handles.

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
static CONFIG: ServerConfig =
    ServerConfig::new("test", "1").features(&[&TOOLS, &RESOURCES, &Subscriptions, &Logging]);

fn handler(event: Event<'_>, server: &ServerHandle) {
    let Event::Call(call) = event else { return };
    let (handle, is_complete) = (server.clone(), call.name() == "complete");
    server.run(call, move |answer| async move {
        if is_complete {
            handle.elicitation_complete("e1").await;
            answer.text("sent");
        } else {
            answer.text(handle.is_watched("a:log").await.unwrap());
        }
    });
}

#[tokio::test]
async fn is_watched_works_until_connection_end() {
    let (sender, mut handle) = mpsc::unbounded_channel();
    let (mut peer, server) = Peer::connect(&CONFIG, 1, ("2025-11-25", "{}"), move |event, server| {
        if let Event::Ready = event {
            sender.send(server.clone()).unwrap();
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
async fn is_watched_works_when_client_does_not_read() {
    let (sender, mut handle) = mpsc::unbounded_channel();
    let serve = Serve::new(&CONFIG).longest_answer(1 << 16);
    let (mut peer, server) = Peer::start(serve, 64, move |event, server| {
        if let Event::Ready = event {
            sender.send(server.clone()).unwrap();
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
    assert_eq!(
        timeout(SOON, handle.is_watched("a:log"))
            .await
            .expect("the query needs no space in the transmit buffer"),
        Ok(false)
    );
    filled.abort();
    drop(peer);
    timeout(SOON, server).await.unwrap().unwrap().unwrap();
}

#[tokio::test]
async fn elicitation_complete_is_sent_to_capable_clients() {
    let can_open = ("2025-11-25", r#"{"elicitation":{"url":{}}}"#);
    for (client, is_notified) in [(can_open, true), (("2025-06-18", r#"{"elicitation":{}}"#), false)] {
        let (mut peer, server) = Peer::connect(&CONFIG, 1, client, handler).await;
        peer.send(&call(1, "complete", "{}")).await;
        let line = peer.line().await;
        let expected = r#""method":"notifications/elicitation/complete","params":{"elicitationId":"e1"}"#;
        assert_eq!(line.contains(expected), is_notified, "{line}");
        assert!(!is_notified || peer.line().await.contains("sent"));
        peer.end(server).await;
    }
}

#[tokio::test]
async fn handle_of_a_new_server_reports_changes() {
    let (sender, mut handles) = mpsc::unbounded_channel();
    let (here, there) = duplex(64 * 1024);
    let serve = Serve::new(&CONFIG).on_start(move |server| sender.send(server.clone()).unwrap());
    tokio::spawn(serve.stream(there, handler));
    // The client has sent nothing.
    let handle = timeout(SOON, handles.recv()).await.unwrap().unwrap();
    assert_eq!(handle.is_watched("a:log").await, Ok(false));
    let client = Connector::new("test", "1").connect(Connect::Automatic).stream(here).await.unwrap();
    let mut changes = client.listen(&[Listed::Tools], &[]).await.unwrap();
    handle.changed(Change::Tools);
    assert!(timeout(SOON, changes.next()).await.unwrap().is_some());
}

#[tokio::test]
async fn server_ends_one_of_two_subscriptions() {
    let (here, there) = duplex(64 * 1024);
    let (sender, mut listening) = mpsc::unbounded_channel();
    tokio::spawn(Serve::new(&CONFIG).stream(there, move |event, server| {
        if let Event::Listening(listen) = event {
            sender.send((listen.ticket(), server.clone())).unwrap();
        }
    }));
    let client = Connector::new("test", "1").connect(Connect::Automatic).stream(here).await.unwrap();
    let mut ended = client.listen(&[Listed::Tools], &[]).await.unwrap();
    let mut remaining = client.listen(&[Listed::Tools], &[]).await.unwrap();
    let (ticket, server) = listening.recv().await.unwrap();
    server.end_subscription(ticket);
    assert_eq!(timeout(SOON, ended.next()).await.unwrap(), None);
    // A repeated call has no effect.
    server.end_subscription(ticket);
    server.changed(Change::Tools);
    assert!(timeout(SOON, remaining.next()).await.unwrap().is_some());
}
