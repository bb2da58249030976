//! A stdio server on tokio: functions as tools, one of them slow.
use mcp_proto_tokio::handler::{Cancellation, Progress};
use mcp_proto_tokio::server::{Event, ServerConfig};
use mcp_proto_tokio::{Router, ServeError, ToolArguments, route, router, serve, tool};
use std::time::Duration;

#[derive(ToolArguments)]
struct Add {
    a: i32,
    b: i32,
}

/// Adds two numbers
#[tool(read_only)]
fn add(Add { a, b }: Add) -> i64 {
    i64::from(a) + i64::from(b)
}

/// Ten steps, one every fifty milliseconds
#[tool]
async fn slow(progress: Progress, cancellation: Cancellation) -> &'static str {
    for step in 1..=10u32 {
        tokio::select! {
            () = tokio::time::sleep(Duration::from_millis(50)) => {}
            () = cancellation.cancelled() => {
                eprintln!("tokio_server: slow was cancelled");
                break;
            }
        }
        progress.report(step, Some(10.into()), "working").await;
    }
    "done"
}

static ROUTER: Router<()> = router![add, slow];
static CONFIG: ServerConfig = ServerConfig::new("tokio_server", "1.0.0").features(ROUTER.features());

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), ServeError> {
    let tools = route(&ROUTER, ());
    serve(&CONFIG, |event, server| match event {
        Event::ProtocolError(fault) => eprintln!("tokio_server: {fault}"),
        event => tools(event, server),
    })
    .await
}
