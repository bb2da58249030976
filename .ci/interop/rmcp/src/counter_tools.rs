//! The tools of the example `counter.rs`, on rmcp. The document `docs/examples.md` compares the two programs.
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::JsonObject;
use rmcp::{ServiceExt, schemars, tool, tool_router, transport};
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

#[derive(Default)]
struct Counter {
    value: AtomicI64,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Numbers {
    a: i32,
    b: i32,
}

#[tool_router(server_handler)]
impl Counter {
    /// Increments the counter by 1
    #[tool]
    async fn increment(&self) -> String {
        (self.value.fetch_add(1, Relaxed) + 1).to_string()
    }

    /// Decrements the counter by 1
    #[tool]
    async fn decrement(&self) -> String {
        (self.value.fetch_sub(1, Relaxed) - 1).to_string()
    }

    /// Returns the value of the counter
    #[tool]
    async fn get_value(&self) -> String {
        self.value.load(Relaxed).to_string()
    }

    /// Says hello to the client
    #[tool]
    async fn say_hello(&self) -> String {
        "hello".into()
    }

    /// Repeats the arguments
    #[tool]
    async fn echo(&self, Parameters(arguments): Parameters<JsonObject>) -> String {
        serde_json::Value::Object(arguments).to_string()
    }

    /// Calculates the sum of two numbers
    #[tool]
    async fn sum(&self, Parameters(Numbers { a, b }): Parameters<Numbers>) -> String {
        (i64::from(a) + i64::from(b)).to_string()
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let service = Counter::default().serve(transport::stdio()).await?;
    service.waiting().await?;
    Ok(())
}
