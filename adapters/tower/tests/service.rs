//! The service itself, without a network.

use std::convert::Infallible;
use std::pin::{Pin, pin};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, OnceLock};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http_body::{Body, Frame};
use http_body_util::{BodyExt, Full};
use mcp_proto::server::{Change, Event};
use mcp_proto_tower::{HttpAccess, McpService, ResponseBody, Serve, ServerHandle, Stop};
use tower_service::Service;

use crate::support::{CONFIG, HTTP, LIMIT, Report, call_body, call_fields, service};

fn request<B>(tool: &str, body: B) -> Request<B> {
    let mut request = Request::post("/mcp");
    for (name, value) in call_fields(tool) {
        request = request.header(name, value);
    }
    request.body(body).unwrap()
}

fn call(tool: &str) -> Request<Full<Bytes>> {
    request(tool, Full::new(call_body(tool).into()))
}

fn start() -> (McpService, std::sync::mpsc::Receiver<Report>) {
    service(Serve::new(&CONFIG), HttpAccess::new(&HTTP))
}

/// A body whose one piece never arrives.
struct Silent;

impl Body for Silent {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Pending
    }
}

/// A body that cannot be read.
struct Broken;

impl Body for Broken {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
        Poll::Ready(Some(Err(std::io::ErrorKind::ConnectionReset.into())))
    }
}

#[tokio::test]
async fn immediate_response_is_ready_in_the_first_poll() {
    let (mut mcp, _reports) = start();
    let mut future = pin!(mcp.call(call("echo")));
    let Poll::Ready(Ok(response)) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) else {
        panic!("the response is not ready");
    };
    assert_eq!(
        (response.status().as_u16(), &response.headers()["content-type"]),
        (200, &"application/json".parse().unwrap())
    );
    let length = response.body().size_hint().exact().unwrap();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(length, body.len() as u64);
    assert!(body.ends_with(b"}") && body.windows(8).any(|text| text == b"\"text\":\""));
    assert_eq!(mcp.open_exchanges(), 0);
}

#[tokio::test]
async fn deferred_response_arrives() {
    let (mut mcp, _reports) = start();
    let response = mcp.call(call("task")).await.unwrap();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    assert!(String::from_utf8_lossy(&body).contains("done"));
    assert_eq!(mcp.open_exchanges(), 0);
}

#[tokio::test]
async fn handle_and_switch_work_before_the_first_request() {
    let stop = Stop::new();
    let (mut mcp, _reports) = service(Serve::new(&CONFIG).stopped_by(&stop), HttpAccess::new(&HTTP));
    let handle = mcp.handle();
    let watched = tokio::time::timeout(LIMIT, handle.is_watched("file:///a")).await;
    assert_eq!(watched.expect("the server runs"), Ok(false));
    stop.within(Duration::ZERO);
    // No request runs the state machines here, so the timer task closes the server.
    tokio::time::sleep(Duration::from_millis(50)).await;
    let response = mcp.call(call("echo")).await.unwrap();
    assert_eq!(response.status(), 503);
}

#[tokio::test]
async fn dropped_body_cancels_the_call() {
    let (mut mcp, reports) = start();
    let response = mcp.call(call("wait")).await.unwrap();
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    assert_eq!(response.body().size_hint().exact(), None);
    let mut body = response.into_body();
    let progress = body.frame().await.unwrap().unwrap().into_data().unwrap();
    assert!(String::from_utf8_lossy(&progress).contains("notifications/progress"));
    assert_eq!(reports.recv_timeout(LIMIT), Ok(Report::Waiting));
    drop(body);
    let cancelled = tokio::task::spawn_blocking(move || reports.recv_timeout(LIMIT));
    assert_eq!(cancelled.await.unwrap(), Ok(Report::Cancelled));
    assert_eq!(mcp.open_exchanges(), 0);
}

#[tokio::test]
async fn dropped_future_closes_its_exchange() {
    let (mut mcp, _reports) = start();
    let mut future = Box::pin(mcp.call(request("echo", Silent)));
    let pending = tokio::time::timeout(Duration::from_millis(20), future.as_mut()).await;
    assert!(pending.is_err() && mcp.open_exchanges() == 1);
    drop(future);
    assert_eq!(mcp.open_exchanges(), 0);
}

/// The timer task handles the cancellation, so the handler panics in this task. If the panic ended the task, the slow
/// call would get no response: no later request starts the task again.
#[tokio::test]
async fn handler_panic_at_a_cancellation_delays_no_other_call() {
    let handler = |event: Event<'_>, server: &ServerHandle| match event {
        Event::Call(call) => {
            let is_slow = call.name() == "slow";
            server.run(call, move |responder| async move {
                match is_slow {
                    true => tokio::time::sleep(Duration::from_millis(200)).await,
                    false => responder.cancelled().await,
                }
                responder.text("done");
            });
        }
        Event::Cancelled { .. } => panic!("a panic for the test"),
        _ => {}
    };
    let mut mcp = Serve::new(&CONFIG).service(HttpAccess::new(&HTTP), handler).unwrap();
    let slow = mcp.call(call("slow"));
    let mut cancelled = Box::pin(mcp.call(call("wait")));
    assert!(tokio::time::timeout(Duration::from_millis(20), cancelled.as_mut()).await.is_err());
    let slow = tokio::spawn(slow);
    tokio::task::yield_now().await;
    drop(cancelled);
    let response = tokio::time::timeout(LIMIT, slow).await.expect("the call ends").unwrap().unwrap();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    assert!(String::from_utf8_lossy(&body).contains("done"));
}

#[tokio::test]
async fn head_is_refused_before_the_body_arrives() {
    let (mut mcp, _reports) = start();
    let mut request = request("echo", Silent);
    request.headers_mut().insert("origin", "http://example.com".parse().unwrap());
    assert_eq!(mcp.call(request).await.unwrap().status(), 403);
    assert_eq!(mcp.open_exchanges(), 0);
}

#[tokio::test]
async fn unreadable_body_is_refused() {
    let (mut mcp, _reports) = start();
    assert_eq!(mcp.call(request("echo", Broken)).await.unwrap().status(), 400);
    assert_eq!(mcp.open_exchanges(), 0);
}

/// HTTP/2 names the host in the URI.
#[tokio::test]
async fn authority_of_the_uri_is_checked_like_the_host() {
    let (mut mcp, _reports) = start();
    for (uri, status) in [("http://localhost/mcp", 200), ("http://example.com/mcp", 403)] {
        let mut request = call("echo");
        *request.uri_mut() = uri.parse().unwrap();
        request.headers_mut().remove("host");
        assert_eq!(mcp.call(request).await.unwrap().status(), status, "{uri}");
    }
}

#[tokio::test]
async fn full_table_refuses_with_retry_after() {
    let (mut mcp, _reports) = service(Serve::new(&CONFIG).exchanges(4), HttpAccess::new(&HTTP));
    let mut open = Vec::new();
    for _ in 0..4 {
        open.push(mcp.call(call("wait")).await.unwrap());
    }
    let refused = mcp.call(call("echo")).await.unwrap();
    assert_eq!((refused.status().as_u16(), &refused.headers()["retry-after"]), (503, &"1".parse().unwrap()));
    drop(open);
    let is_served = async {
        while mcp.call(call("echo")).await.unwrap().status() != 200 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(LIMIT, is_served).await.unwrap();
}

/// A service outlives the runtime of its first request.
#[test]
fn service_runs_in_another_runtime() {
    let (mcp, _reports) = start();
    for _ in 0..2 {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let response = runtime.block_on(mcp.clone().call(call("progress"))).unwrap();
        let body = runtime.block_on(response.into_body().collect()).unwrap().to_bytes();
        assert!(String::from_utf8_lossy(&body).contains("done"));
    }
}

/// In the handshake era, a disconnection does not cancel a call. The tool `wait` runs until the server ends and cancels
/// the call.
#[tokio::test]
async fn dropped_service_cancels_its_tasks() {
    let (mut mcp, reports) = start();
    let old = |body: &'static str, session: &str| {
        let request = Request::post("/mcp")
            .header("content-type", "application/json")
            .header("mcp-session-id", session);
        request.body(Full::new(Bytes::from_static(body.as_bytes()))).unwrap()
    };
    let initialize = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
    let mut first = old(initialize, "");
    first.headers_mut().remove("mcp-session-id");
    let response = mcp.call(first).await.unwrap();
    let session = response.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    drop(response);
    mcp.call(old(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, &session)).await.unwrap();
    let call = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"wait"}}"#;
    let mut future = Box::pin(mcp.call(old(call, &session)));
    let is_waiting = async {
        while reports.try_recv().is_err() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::select! {
        _ = future.as_mut() => panic!("the call ends early"),
        () = is_waiting => {}
    }
    drop(future);
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert!(reports.try_recv().is_err(), "the call continues");
    drop(mcp);
    let cancelled = tokio::task::spawn_blocking(move || reports.recv_timeout(LIMIT));
    assert_eq!(cancelled.await.unwrap(), Ok(Report::Cancelled));
}

/// The handler runs while the state machine is locked.
#[test]
fn handler_may_call_the_methods_of_its_service() {
    static SERVICE: OnceLock<McpService> = OnceLock::new();
    let handler = |event: Event<'_>, _: &ServerHandle| {
        if let Event::Call(call) = event {
            let service = SERVICE.get().unwrap();
            service.handle().changed(Change::Tools);
            call.text(service.open_exchanges());
        }
    };
    let service = Serve::new(&CONFIG).service(HttpAccess::new(&HTTP), handler).unwrap();
    let _ = SERVICE.set(service.clone());
    let (result, results) = channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let response = runtime.block_on(service.clone().call(call("echo"))).unwrap();
        result.send((response.status().as_u16(), service.open_exchanges())).unwrap();
    });
    assert_eq!(results.recv_timeout(LIMIT), Ok((200, 0)));
}

/// A waker that holds a response.
struct Holder {
    _body: Mutex<Option<ResponseBody>>,
}

impl Wake for Holder {
    fn wake(self: Arc<Self>) {}
}

#[test]
fn replaced_waker_may_hold_a_response() {
    let (result, results) = channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (mut mcp, _reports) = start();
        let mut bodies = [(); 2].map(|()| {
            let response = runtime.block_on(mcp.call(call("wait"))).unwrap();
            let mut body = response.into_body();
            runtime.block_on(body.frame()).unwrap().unwrap();
            Some(body)
        });
        let holder = Holder { _body: Mutex::new(bodies[1].take()) };
        let body = bodies[0].as_mut().unwrap();
        let waker = Waker::from(Arc::new(holder));
        assert!(Pin::new(&mut *body).poll_frame(&mut Context::from_waker(&waker)).is_pending());
        drop(waker);
        assert_eq!(mcp.open_exchanges(), 2);
        assert!(Pin::new(&mut *body).poll_frame(&mut Context::from_waker(Waker::noop())).is_pending());
        // The second poll has dropped the old waker with its response, which closes the exchange of this response.
        runtime.block_on(async {
            while mcp.open_exchanges() > 1 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        });
        result.send(()).unwrap();
    });
    assert_eq!(results.recv_timeout(LIMIT), Ok(()));
}

/// The unread responses take all memory for output, so the server cannot complete both.
#[tokio::test]
async fn shutdown_cuts_incomplete_chunked_responses() {
    let serve = Serve::new(&CONFIG).longest_answer(1 << 15);
    let (mut mcp, _reports) = service(serve, HttpAccess::new(&HTTP));
    let mut bodies = Vec::new();
    for _ in 0..2 {
        let mut body = mcp.call(call("chunks")).await.unwrap().into_body();
        body.frame().await.unwrap().unwrap();
        bodies.push(body);
    }
    mcp.handle().shutdown_within(Duration::ZERO);
    tokio::time::sleep(Duration::from_millis(2500)).await;
    let mut cut = 0;
    for body in bodies {
        match body.collect().await {
            Ok(rest) => assert!(rest.to_bytes().ends_with(b"}}")),
            Err(_) => cut += 1,
        }
    }
    assert!(cut > 0);
}
