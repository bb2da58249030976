//! Clients of servers at a URL: both eras, broken connections, sessions, cancellation.

mod server;

use std::time::Duration;

use mcp_proto::ClientCapabilities;
use mcp_proto::client::{Connect, InputRequest, Listed};
use mcp_proto_tokio::{
    CallError, CallOptions, ClientHandle, ConnectError, Connector, HttpEndpoint, InputResponse, Notification,
    Reconnect,
};
use server::{LARGE, LIMIT, Relay, TestServer};
use tokio::io::AsyncWriteExt;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

const ERAS: [Connect; 2] = [Connect::Handshake, Connect::Stateless];
const SOON: Reconnect = Reconnect { attempts: 8, pause: Duration::from_millis(20) };

fn connector(era: Connect) -> Connector {
    Connector::new("c", "1").connect(era).reconnect(SOON)
}

async fn connect(era: Connect, endpoint: HttpEndpoint) -> ClientHandle {
    within(connector(era).http(endpoint)).await.unwrap()
}

async fn within<T>(future: impl Future<Output = T>) -> T {
    timeout(LIMIT, future).await.expect("the test hangs")
}

async fn text(client: &ClientHandle, tool: &str) -> Result<String, CallError> {
    within(client.call_json(tool, "{}")).await.map(|result| result.text().unwrap())
}

/// Gives the client the time to notice that its idle connections have closed. If a connection closes while a request
/// is in flight, the client does not repeat the request, because the server may have processed the request.
async fn notice_closed_connections() {
    sleep(Duration::from_millis(300)).await;
}

#[tokio::test]
async fn calls_and_progress_work_in_both_eras() {
    let server = TestServer::start();
    for era in ERAS {
        let client = connect(era, server.endpoint()).await;
        for _ in 0..3 {
            assert_eq!(text(&client, "echo").await.unwrap(), "7");
        }
        let mut call = client.begin_json("count", "{}", CallOptions::new().with_progress()).unwrap();
        let mut steps = Vec::new();
        while let Some(progress) = within(call.progress()).await {
            steps.push(progress.progress.to_string());
        }
        assert_eq!(steps, ["1", "2", "3"]);
        assert_eq!(within(call).await.unwrap().text().as_deref(), Some("counted"));
        // In `2026-07-28`, the server compares the argument `r` with the header field that repeats it.
        assert!(within(client.find_tool("region")).await.unwrap().is_some());
        let result = within(client.call_json("region", r#"{"r":"eu"}"#)).await.unwrap();
        assert_eq!(result.text().as_deref(), Some("\"eu\""));
        within(client.close()).await;
    }
}

#[tokio::test]
async fn automatic_connection_takes_the_newest_revision() {
    let server = TestServer::start();
    let client = connect(Connect::Automatic, server.endpoint()).await;
    assert_eq!(client.server().revision, mcp_proto::Revision::V2026_07_28);
}

#[tokio::test]
async fn two_hundred_calls_run_at_the_same_time() {
    let server = TestServer::start();
    for era in ERAS {
        let client = connect(era, server.endpoint()).await;
        let mut calls = JoinSet::new();
        for _ in 0..200 {
            let client = client.clone();
            calls.spawn(async move { text(&client, "count").await.unwrap() });
        }
        assert_eq!(within(calls.join_all()).await, ["counted"; 200]);
    }
}

#[tokio::test]
async fn large_results_arrive_whole() {
    let server = TestServer::start();
    for era in ERAS {
        let client = connect(era, server.endpoint()).await;
        for options in [CallOptions::new(), CallOptions::new().with_progress()] {
            let calls: Vec<_> = (0..4).map(|_| client.begin_json("large", "{}", options).unwrap()).collect();
            for call in calls {
                assert_eq!(within(call).await.unwrap().text().unwrap(), "7".repeat(LARGE));
            }
        }
    }
}

#[tokio::test]
async fn result_over_the_limit_fails_its_call_only() {
    let server = TestServer::start();
    for era in ERAS {
        let connector = connector(era).longest_line(LARGE / 2);
        let client = within(connector.http(server.endpoint())).await.unwrap();
        for options in [CallOptions::new(), CallOptions::new().with_progress()] {
            let call = client.begin_json("large", "{}", options).unwrap();
            assert!(within(call).await.is_err());
            assert_eq!(text(&client, "echo").await.unwrap(), "7");
        }
    }
}

#[tokio::test]
async fn broken_stream_of_changes_opens_again() {
    let mut server = TestServer::start();
    let relay = Relay::start(server.address).await;
    let client = connect(Connect::Handshake, relay.endpoint()).await;
    let mut notifications = client.notifications();
    server.wait_for("GET session").await;
    for _ in 0..3 {
        assert_eq!(text(&client, "touch").await.unwrap(), "touched");
        assert_eq!(within(notifications.next()).await, Some(Notification::Changed(Listed::Tools)));
        server.take_events();
        relay.break_connections();
        server.wait_for("GET session resumed").await;
    }
}

#[tokio::test]
async fn subscription_continues_after_its_stream_breaks() {
    let mut server = TestServer::start();
    let relay = Relay::start(server.address).await;
    let client = connect(Connect::Stateless, relay.endpoint()).await;
    let mut subscription = within(client.listen(&[Listed::Tools], &[])).await.unwrap();
    for _ in 0..3 {
        relay.break_connections();
        assert_eq!(within(subscription.next()).await, Some(Notification::Reconnected));
        assert_eq!(text(&client, "touch").await.unwrap(), "touched");
        assert_eq!(within(subscription.next()).await, Some(Notification::Changed(Listed::Tools)));
    }
    // A dropped subscription is not sent again.
    drop(subscription);
    relay.break_connections();
    notice_closed_connections().await;
    server.take_events();
    sleep(SOON.pause * 10).await;
    assert!(server.take_events().is_empty());
}

#[tokio::test]
async fn subscription_ends_without_attempts_to_reconnect() {
    let server = TestServer::start();
    let relay = Relay::start(server.address).await;
    let connector = connector(Connect::Stateless).reconnect(Reconnect { attempts: 3, ..SOON });
    let client = within(connector.http(relay.endpoint())).await.unwrap();
    let mut subscription = within(client.listen(&[Listed::Tools], &[])).await.unwrap();
    drop(relay);
    assert_eq!(within(subscription.next()).await, None);
}

#[tokio::test]
async fn changes_arrive_on_the_stream_of_the_era() {
    let mut server = TestServer::start();
    let client = connect(Connect::Handshake, server.endpoint()).await;
    server.wait_for("GET session").await;
    let mut notifications = client.notifications();
    assert_eq!(text(&client, "touch").await.unwrap(), "touched");
    assert_eq!(within(notifications.next()).await, Some(Notification::Changed(Listed::Tools)));

    let client = connect(Connect::Stateless, server.endpoint()).await;
    let mut subscription = within(client.listen(&[Listed::Tools], &[])).await.unwrap();
    assert_eq!(text(&client, "touch").await.unwrap(), "touched");
    assert_eq!(within(subscription.next()).await, Some(Notification::Changed(Listed::Tools)));
}

#[tokio::test]
async fn client_without_listening_opens_no_stream() {
    let mut server = TestServer::start();
    let client = connect(Connect::Handshake, server.endpoint().without_listening()).await;
    assert_eq!(text(&client, "echo").await.unwrap(), "7");
    within(client.close()).await;
    assert!(!server.take_events().iter().any(|event| event.starts_with("GET")));
}

#[tokio::test]
async fn callback_answers_requests_of_the_server() {
    const DECLARED: ClientCapabilities =
        ClientCapabilities::SAMPLING.with(ClientCapabilities::ELICITATION_FORM);
    let server = TestServer::start();
    for era in ERAS {
        let connector = connector(era).on_server_request(DECLARED, |request| async move {
            match request.input() {
                InputRequest::Elicit(_) => InputResponse::accept_json(r#"{"name":"Ada"}"#),
                _ => InputResponse::sampled("m", "endTurn", "Hello"),
            }
        });
        let client = within(connector.http(server.endpoint())).await.unwrap();
        let form = text(&client, "form").await.unwrap();
        assert_eq!(form, r#"{"action":"accept","content":{"name":"Ada"}}"#);
        assert!(text(&client, "sample").await.unwrap().contains("Hello"));
    }
}

#[tokio::test]
async fn response_that_the_server_refuses_is_replaced_by_an_error() {
    let server = TestServer::start();
    let long = "x".repeat(70_000);
    let connector = connector(Connect::Handshake);
    let answer = move |_| std::future::ready(InputResponse::sampled("m", "endTurn", &long));
    let connector = connector.on_server_request(ClientCapabilities::SAMPLING, answer);
    let client = within(connector.http(server.endpoint())).await.unwrap();
    let mut notifications = client.notifications();
    let sampled = text(&client, "sample").await.unwrap();
    assert!(sampled.contains("the server refused the response (status 413)"), "{sampled}");
    match within(notifications.next()).await {
        Some(Notification::ResponseRefused(failure)) => assert_eq!(failure.status, Some(413)),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn cancelled_call_ends_on_the_server() {
    let mut server = TestServer::start();
    for era in ERAS {
        let client = connect(era, server.endpoint()).await;
        let call = client.begin_json("wait", "{}", CallOptions::new().with_progress()).unwrap();
        server.wait_for("waiting").await;
        drop(call);
        server.wait_for("cancelled").await;
        assert_eq!(text(&client, "echo").await.unwrap(), "7");
    }
}

#[tokio::test]
async fn timeout_ends_the_call_on_the_server() {
    let mut server = TestServer::start();
    for era in ERAS {
        let client = connect(era, server.endpoint()).await;
        let short = CallOptions::new().with_progress().timeout(Duration::from_secs(1));
        let call = client.begin_json("wait", "{}", short).unwrap();
        server.wait_for("waiting").await;
        assert_eq!(within(call).await, Err(CallError::TimedOut));
        server.wait_for("cancelled").await;
    }
}

#[tokio::test]
async fn broken_stream_of_a_session_is_resumed() {
    let mut server = TestServer::start();
    let relay = Relay::start(server.address).await;
    let client = connect(Connect::Handshake, relay.endpoint()).await;
    let mut call = client.begin_json("wait", "{}", CallOptions::new().with_progress()).unwrap();
    assert!(within(call.progress()).await.is_some());
    for _ in 0..2 {
        server.take_events();
        relay.break_connections();
        server.wait_for("GET session resumed").await;
    }
    server.release();
    assert_eq!(within(call).await.unwrap().text().as_deref(), Some("released"));
    assert!(!server.take_events().contains(&"cancelled".into()));
}

#[tokio::test]
async fn broken_connection_of_the_stateless_era_fails_its_call_only() {
    let mut server = TestServer::start();
    let relay = Relay::start(server.address).await;
    let client = connect(Connect::Stateless, relay.endpoint()).await;
    let call = client.begin_json("wait", "{}", CallOptions::new().with_progress()).unwrap();
    server.wait_for("waiting").await;
    relay.break_connections();
    let Err(CallError::Http(failure)) = within(call).await else { panic!("not a failure of HTTP") };
    assert_eq!((failure.url, failure.status), (format!("http://{}/mcp", relay.address), None));
    server.wait_for("cancelled").await;
    assert_eq!(text(&client, "echo").await.unwrap(), "7");
}

#[tokio::test]
async fn call_refused_with_its_lost_session_is_repeated_in_the_next_session() {
    let mut server = TestServer::start();
    let client = connect(Connect::Handshake, server.endpoint()).await;
    let mut notifications = client.notifications();
    assert_eq!(text(&client, "echo").await.unwrap(), "7");
    for _ in 0..3 {
        server.restart();
        notice_closed_connections().await;
        assert_eq!(text(&client, "echo").await.unwrap(), "7");
        assert_eq!(within(notifications.next()).await, Some(Notification::Reconnected));
    }
}

#[tokio::test]
async fn call_fails_after_the_last_attempt_to_resume_its_stream() {
    let mut server = TestServer::start();
    let relay = Relay::start(server.address).await;
    let reconnect = Reconnect { attempts: 1, ..Reconnect::DEFAULT };
    let connector = connector(Connect::Handshake).reconnect(reconnect);
    let client = within(connector.http(relay.endpoint())).await.unwrap();
    let mut call = client.begin_json("wait", "{}", CallOptions::new().with_progress()).unwrap();
    assert!(within(call.progress()).await.is_some());
    server.wait_for("waiting").await;
    drop(relay);
    let Err(CallError::Http(failure)) = within(call).await else { panic!("not a failure of HTTP") };
    assert!(failure.to_string().contains("refused"), "{failure}");
}

#[tokio::test]
async fn calls_fail_while_the_server_is_unreachable() {
    let server = TestServer::start();
    let relay = Relay::start(server.address).await;
    let client = connect(Connect::Stateless, relay.endpoint()).await;
    let address = relay.address;
    drop(relay);
    notice_closed_connections().await;
    let Err(CallError::Http(failure)) = text(&client, "echo").await else { panic!("not a failure of HTTP") };
    assert!(failure.to_string().contains("refused"), "{failure}");
    let listener = tokio::net::TcpListener::bind(address).await.unwrap();
    tokio::spawn(async move {
        let (mut here, _) = listener.accept().await.unwrap();
        let mut there = tokio::net::TcpStream::connect(server.address).await.unwrap();
        let _ = tokio::io::copy_bidirectional(&mut here, &mut there).await;
        drop(server);
    });
    assert_eq!(text(&client, "echo").await.unwrap(), "7");
}

#[tokio::test]
async fn session_ends_when_the_client_closes() {
    for is_dropped in [false, true] {
        let mut server = TestServer::start();
        let client = connect(Connect::Handshake, server.endpoint()).await;
        server.wait_for("POST session").await;
        match is_dropped {
            true => drop(client),
            false => _ = within(client.close()).await,
        }
        server.wait_for("DELETE session").await;
    }
    let mut server = TestServer::start();
    let client = connect(Connect::Stateless, server.endpoint()).await;
    within(client.close()).await;
    assert_eq!(server.take_events(), ["POST"], "without a session, there is nothing to end");
}

/// Starts a server that never confirms the end of its session. Returns its URL.
async fn start_without_confirmation() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            tokio::spawn(async move {
                let mut request = vec![0; 4096];
                loop {
                    let n = tokio::io::AsyncReadExt::read(&mut stream, &mut request).await.unwrap();
                    let request = String::from_utf8_lossy(&request[..n]);
                    let initialized = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}"#;
                    let response = if request.contains(r#""initialize""#) {
                        format!(
                            "HTTP/1.1 200 OK\r\nMcp-Session-Id: s\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{initialized}",
                            initialized.len()
                        )
                    } else if request.starts_with("POST") {
                        "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n".into()
                    } else {
                        std::future::pending().await
                    };
                    stream.write_all(response.as_bytes()).await.unwrap();
                }
            });
        }
    });
    url
}

#[tokio::test]
async fn close_waits_two_seconds_for_an_unconfirmed_session_end() {
    let client = connect(Connect::Handshake, HttpEndpoint::new(start_without_confirmation().await)).await;
    let start = Instant::now();
    within(client.close()).await;
    // The client waits for two seconds. Its clock has whole milliseconds.
    assert!(start.elapsed() >= Duration::from_millis(1999), "{:?}", start.elapsed());
}

#[tokio::test]
async fn close_deadline_covers_an_unconfirmed_session_end() {
    let url = start_without_confirmation().await;
    let client = connect(Connect::Handshake, HttpEndpoint::new(&url)).await;
    let start = Instant::now();
    within(client.close_within(Duration::from_millis(400))).await;
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());

    // The limit also holds for a close in progress.
    let client = connect(Connect::Handshake, HttpEndpoint::new(url)).await;
    let start = Instant::now();
    let closing = tokio::spawn({
        let client = client.clone();
        async move { client.close().await }
    });
    sleep(Duration::from_millis(200)).await;
    within(client.close_within(Duration::from_millis(400))).await;
    assert!(start.elapsed() < Duration::from_millis(1500), "{:?}", start.elapsed());
    closing.await.unwrap();
}

#[tokio::test]
async fn connect_error_names_the_url() {
    let server = TestServer::start();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let error = async |endpoint: HttpEndpoint| {
        let connected = within(Connector::new("c", "1").http(endpoint)).await;
        connected.map(drop).unwrap_err()
    };
    let refused = error(HttpEndpoint::new(format!("http://{free}/mcp?key=secret"))).await;
    let ConnectError::Http(failure) = &refused else { panic!("{refused}") };
    assert_eq!((&*failure.url, failure.status), (&*format!("http://{free}/mcp"), None));
    assert!(refused.to_string().contains("refused"), "{refused}");

    let url = format!("http://{}/other", server.address);
    assert_eq!(error(HttpEndpoint::new(&url)).await.to_string(), format!("{url}: status 404"));
    let denied = error(server.endpoint().header("Authorization", "Bearer wrong")).await;
    let url = format!("http://{}/mcp", server.address);
    assert_eq!(denied.to_string(), format!("{url}: status 401, WWW-Authenticate: Bearer"));
    let invalid = error(server.endpoint().header("Authorization", "a\nb")).await;
    assert_eq!(invalid.to_string(), format!("{url}: invalid header field Authorization"));
    for url in ["localhost:1/mcp", "ftp://localhost/mcp", ""] {
        let wrong = error(HttpEndpoint::new(url)).await;
        assert!(matches!(wrong, ConnectError::Io(_)) && wrong.to_string().contains(url), "{wrong}");
    }
}

/// Rules A-C1 and B-C13 of `docs/http-rules.md`: at the URL `/sse`, the server speaks only HTTP+SSE of 2024-11-05.
#[tokio::test]
async fn client_falls_back_to_http_sse() {
    let mut server = TestServer::start();
    for era in [Connect::Automatic, Connect::Handshake] {
        let endpoint = HttpEndpoint::new(format!("http://{}/sse", server.address));
        let client = connect(era, endpoint).await;
        let mut calls = JoinSet::new();
        for _ in 0..20 {
            let client = client.clone();
            calls.spawn(async move { text(&client, "count").await.unwrap() });
        }
        assert_eq!(within(calls.join_all()).await, ["counted"; 20]);
        let call = client.begin_json("wait", "{}", CallOptions::new().with_progress()).unwrap();
        server.wait_for("waiting").await;
        drop(call);
        server.wait_for("cancelled").await;
        within(client.close()).await;
    }
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let server = TestServer::start();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let target = server.address;
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let response = format!(
                "HTTP/1.1 307 Temporary Redirect\r\nLocation: http://{target}/mcp\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            );
            stream.write_all(response.as_bytes()).await.unwrap();
            let _ = stream.shutdown().await;
        }
    });
    let endpoint = HttpEndpoint::new(&url).header("Authorization", "Bearer secret");
    let error = within(Connector::new("c", "1").http(endpoint)).await.map(drop).unwrap_err();
    assert_eq!(error.to_string(), format!("{url}: status 307"));
}
