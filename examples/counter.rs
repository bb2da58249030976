//! The tools of the counter server in `rmcp`'s examples: functions with shared state, on tokio.
use mcp_proto_tokio::server::{Call, ServerConfig};
use mcp_proto_tokio::{Router, ServeError, ToolArguments, route, router, serve, tool};
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

#[derive(ToolArguments)]
struct Numbers {
    a: i32,
    b: i32,
}

/// Increments the counter by 1
#[tool]
fn increment(counter: &AtomicI64) -> i64 {
    counter.fetch_add(1, Relaxed) + 1
}

/// Decrements the counter by 1
#[tool]
fn decrement(counter: &AtomicI64) -> i64 {
    counter.fetch_sub(1, Relaxed) - 1
}

/// Returns the value of the counter
#[tool]
fn get_value(counter: &AtomicI64) -> i64 {
    counter.load(Relaxed)
}

/// Says hello to the client
#[tool]
fn say_hello() -> &'static str {
    "hello"
}

/// Repeats the arguments
#[tool]
fn echo(call: Call<'_>) {
    let arguments = call.raw_arguments().to_string();
    call.text(arguments);
}

/// Calculates the sum of two numbers
#[tool]
fn sum(Numbers { a, b }: Numbers) -> i64 {
    i64::from(a) + i64::from(b)
}

static ROUTER: Router<AtomicI64> = router![increment, decrement, get_value, say_hello, echo, sum];
static CONFIG: ServerConfig = ServerConfig::new("counter", "1.0.0").features(ROUTER.features());

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), ServeError> {
    serve(&CONFIG, route(&ROUTER, AtomicI64::new(0))).await
}
