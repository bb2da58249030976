//! A stdio server on tokio that runs slow calls in their own tasks.
use mcp_proto::server::{Event, ServerConfig, Tool, Tools};
use mcp_proto_tokio::Responder;
use std::time::Duration;

const ADD: &str =
    r#"{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a","b"]}"#;
static TOOLS: Tools = Tools::new(&[
    Tool::new("add", ADD),
    Tool::new("slow", "{}").description("Ten steps, one every fifty milliseconds"),
]);
static INFO: ServerConfig = ServerConfig::new("tokio_server", "1.0.0").features(&[&TOOLS]);

#[derive(serde::Deserialize)]
struct Add {
    a: i32,
    b: i32,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), mcp_proto_tokio::ServeError> {
    mcp_proto_tokio::serve(&INFO, |event, server| match event {
        Event::Call(mut call) => match call.name() {
            "add" => match call.arguments() {
                Ok(Add { a, b }) => call.text(i64::from(a) + i64::from(b)),
                Err(error) => call.invalid(error),
            },
            "slow" => server.run(call, slow),
            _ => call.unknown_tool(),
        },
        Event::ProtocolError(fault) => eprintln!("tokio_server: {fault}"),
        _ => {}
    })
    .await
}

async fn slow(answer: Responder) {
    for step in 1..=10u32 {
        tokio::select! {
            () = tokio::time::sleep(Duration::from_millis(50)) => {}
            () = answer.cancelled() => return eprintln!("tokio_server: slow was cancelled"),
        }
        answer.progress(step, Some(10.into()), "working").await;
    }
    answer.text("done");
}
