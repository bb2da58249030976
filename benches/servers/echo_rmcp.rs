//! The tool `echo` of all servers on rmcp, as in its documentation.

use rmcp::handler::server::{router::tool::ToolRouter, wrapper::Parameters};
use rmcp::{ServerHandler, schemars, tool, tool_handler, tool_router};

#[derive(Clone)]
pub struct Echo {
    tool_router: ToolRouter<Self>,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct EchoArguments {
    text: String,
}

#[tool_router(router = tool_router)]
impl Echo {
    pub fn new() -> Self {
        Echo { tool_router: Echo::tool_router() }
    }

    #[tool(description = "Returns the text")]
    async fn echo(&self, Parameters(EchoArguments { text }): Parameters<EchoArguments>) -> String {
        text
    }
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for Echo {}
