//! Server and client over Unix and TCP sockets.
#![cfg(unix)]

use crate::peer::SOON;
use mcp_proto::server::{Event, ServerConfig, Tool, Tools};
use mcp_proto_tokio::{CallError, Connector, Serve, ServerHandle};
use tokio::time::timeout;

static TOOLS: Tools = Tools::new(&[Tool::new("echo", "{}")]);
static CONFIG: ServerConfig = ServerConfig::new("test", "1").features(&[&TOOLS]);

#[tokio::test]
async fn unix_and_tcp_sockets_work() {
    let path = std::env::temp_dir().join(format!("mcp-proto-tokio-{}", std::process::id()));
    let listener = tokio::net::UnixListener::bind(&path).unwrap();
    let tcp = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = tcp.local_addr().unwrap();
    let handler = |event: Event<'_>, _: &ServerHandle| {
        if let Event::Call(call) = event {
            call.text("hello");
        }
    };
    let unix =
        tokio::spawn(
            async move { Serve::new(&CONFIG).stream(listener.accept().await.unwrap().0, handler).await },
        );
    let tcp = tokio::spawn(async move {
        let (input, output) = tcp.accept().await.unwrap().0.into_split();
        Serve::new(&CONFIG).streams(input, output, handler).await
    });
    let one = Connector::new("test", "1").stream(tokio::net::UnixStream::connect(&path).await.unwrap());
    std::fs::remove_file(&path).unwrap_or_default();
    let two = Connector::new("test", "1").stream(tokio::net::TcpStream::connect(address).await.unwrap());
    for client in [one.await.unwrap(), two.await.unwrap()] {
        assert_eq!(client.call_json("echo", "{}").await.unwrap().text().as_deref(), Some("hello"));
        client.close().await;
    }
    timeout(SOON, unix).await.unwrap().unwrap().unwrap();
    timeout(SOON, tcp).await.unwrap().unwrap().unwrap();
}

#[tokio::test]
async fn panic_of_new_handler_ends_the_server_at_once() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut is_first = true;
    let new_handler = move |_| {
        assert!(std::mem::take(&mut is_first), "expected panic");
        |_: Event<'_>, _: &ServerHandle| {}
    };
    let server = tokio::spawn(Serve::new(&CONFIG).listen_with(listener, new_handler));
    let stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let open = Connector::new("test", "1").stream(stream).await.unwrap();
    let _refused = tokio::net::TcpStream::connect(address).await.unwrap();
    assert!(timeout(SOON, server).await.unwrap().is_err());
    assert_eq!(timeout(SOON, open.ping()).await.unwrap(), Err(CallError::Closed));
}
