//! Functions as handlers over HTTP.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::channel;

use mcp_proto::server::Failure;
use mcp_proto_std::CallOptions;
use mcp_proto_tower::client::Connect;
use mcp_proto_tower::handler::{Ask, Progress};
use mcp_proto_tower::input::Form;
use mcp_proto_tower::server::ServerConfig;
use mcp_proto_tower::{HttpAccess, Router, Serve, prompt, resource, route, router, tool};

use crate::support::{HTTP, TestServer, post};

#[tool]
fn count(counter: &AtomicU32) -> u32 {
    counter.fetch_add(1, Ordering::Relaxed) + 1
}

#[tool]
async fn count_later(progress: Progress, counter: &AtomicU32) -> Result<String, Failure> {
    progress.report(1u32, None, "").await;
    tokio::task::yield_now().await;
    Ok(count(counter).to_string())
}

#[tool]
async fn greet(ask: Ask) -> Result<&'static str, Failure> {
    ask.request(&Form::new("Who are you?", &[])).await?;
    Ok("Hello!")
}

#[resource("counter://value")]
fn value(counter: &AtomicU32) -> String {
    counter.load(Ordering::Relaxed).to_string()
}

/// Asks for an explanation.
#[prompt]
fn explain(counter: &AtomicU32) -> String {
    format!("Why {}?", counter.load(Ordering::Relaxed))
}

static ROUTER: Router<AtomicU32> = router![count, count_later, greet, value, explain];
static CONFIG: ServerConfig = ServerConfig::new("test", "1").features(ROUTER.features());

#[test]
fn functions_answer_clients_of_both_eras() {
    for connect in [Connect::Handshake, Connect::Stateless] {
        let handler = route(&ROUTER, AtomicU32::new(0));
        let service = Serve::new(&CONFIG).service(HttpAccess::new(&HTTP), handler).unwrap();
        let server = TestServer::serve(service, channel().1);
        // Two clients share the state.
        for first in [1, 3] {
            let client = server.connect(connect);
            assert_eq!(client.call_json("count", "{}").unwrap().text().unwrap(), first.to_string());
            let mut steps = 0;
            let call = client.begin_json("count_later", "{}", CallOptions::new().with_progress()).unwrap();
            let result = call.wait_with(|_| steps += 1).unwrap();
            assert_eq!((result.text().unwrap(), steps), ((first + 1).to_string(), 1));
            assert_eq!(
                client.read_resource("counter://value").unwrap().text().unwrap(),
                (first + 1).to_string()
            );
            let prompt = client.get_prompt("explain", &[]).unwrap();
            let text = prompt.view().messages().next().unwrap().block().raw().get("text").unwrap();
            assert_eq!(text.string().unwrap().to_string(), format!("Why {}?", first + 1));
        }
        server.expect_no_exchange();
    }
}

#[test]
fn function_without_a_capability_of_the_client_is_a_bad_request() {
    let service =
        Serve::new(&CONFIG).service(HttpAccess::new(&HTTP), route(&ROUTER, AtomicU32::new(0))).unwrap();
    let response = TestServer::serve(service, channel().1).exchange(&post("greet", "Connection: close\r\n"));
    assert!(response.starts_with("HTTP/1.1 400 Bad Request\r\n"), "{response}");
    assert!(response.contains(r#""code":-32021"#), "{response}");
    assert!(
        response.contains(r#""data":{"requiredCapabilities":{"elicitation":{"form":{}}}}"#),
        "{response}"
    );
}
