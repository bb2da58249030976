//! The counter on rmcp: the program before the migration, in the guide of `mcp-proto-tokio`.
use rmcp::handler::server::wrapper::Parameters;
use rmcp::{ErrorData, ServiceExt, schemars, tool, tool_router, transport};
use tokio::sync::Mutex;

#[derive(Default)]
struct Counter {
    value: Mutex<i64>,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Step {
    /// How much to add
    by: i64,
}

#[tool_router(server_handler)]
impl Counter {
    /// Adds a number to the counter.
    #[tool]
    async fn add(&self, Parameters(Step { by }): Parameters<Step>) -> Result<String, ErrorData> {
        let mut value = self.value.lock().await;
        let sum = value.checked_add(by);
        *value = sum.ok_or_else(|| ErrorData::internal_error("the counter is full", None))?;
        Ok(value.to_string())
    }

    /// Reads the counter.
    #[tool(annotations(read_only_hint = true))]
    async fn get(&self) -> String {
        self.value.lock().await.to_string()
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let service = Counter::default().serve(transport::stdio()).await?;
    service.waiting().await?;
    Ok(())
}
