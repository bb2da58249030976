//! The example `six_servers.rs`, written with rmcp.
//!
//! `rmcp_six_servers CONFIG [NAME]`: CONFIG is the configuration file of a desktop client, in which each server also
//! has a tool to call and its arguments. The program calls each tool twice, and kills the server NAME between its two
//! calls.
use rmcp::model::CallToolRequestParams;
use rmcp::service::RunningService;
use rmcp::transport::TokioChildProcess;
use rmcp::{RoleClient, ServiceError, ServiceExt};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::error::Error;
use std::time::Duration;
use tokio::process::Command;
use tokio::task::JoinSet;
use tokio::time::sleep;

#[derive(serde::Deserialize)]
struct Config {
    #[serde(rename = "mcpServers")]
    servers: BTreeMap<String, Server>,
}

#[derive(serde::Deserialize)]
struct Server {
    command: String,
    args: Vec<String>,
    tool: String,
    arguments: Map<String, Value>,
}

struct Client {
    service: RunningService<RoleClient, ()>,
    process_id: Option<u32>,
}

async fn connect(server: &Server) -> Result<Client, Box<dyn Error + Send + Sync>> {
    let mut command = Command::new(&server.command);
    command.args(&server.args);
    let process = TokioChildProcess::new(command)?;
    let process_id = process.id();
    Ok(Client { service: ().serve(process).await?, process_id })
}

/// Starts the server again, in up to eight attempts. The pause before an attempt doubles each time, up to 30 seconds.
async fn reconnect(server: &Server) -> Result<Client, Box<dyn Error + Send + Sync>> {
    let mut pause = Duration::from_millis(500);
    for _ in 0..7 {
        sleep(pause).await;
        pause = (pause * 2).min(Duration::from_secs(30));
        if let Ok(client) = connect(server).await {
            return Ok(client);
        }
    }
    sleep(pause).await;
    connect(server).await
}

/// Calls the tool of the server, and returns the first line of the text in the result. If the server has died, restarts
/// the server and repeats the call.
async fn call(client: &mut Client, server: &Server) -> Result<String, Box<dyn Error + Send + Sync>> {
    let params = CallToolRequestParams::new(server.tool.clone()).with_arguments(server.arguments.clone());
    let result = match client.service.call_tool(params.clone()).await {
        Err(ServiceError::TransportClosed | ServiceError::TransportSend(_)) => {
            *client = reconnect(server).await?;
            client.service.call_tool(params).await?
        }
        result => result?,
    };
    let text = result.content.first().and_then(|block| block.as_text()).map(|text| &*text.text);
    Ok(text.unwrap_or_default().lines().next().unwrap_or_default().into())
}

async fn use_server(
    name: &str,
    server: &Server,
    is_killed: bool,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    let mut client = connect(server).await?;
    println!("{name}: {} tools", client.service.list_all_tools().await?.len());
    println!("{name}: first {}", call(&mut client, server).await?);
    if let Some(id) = client.process_id.filter(|_| is_killed) {
        Command::new("kill").args(["-9", &id.to_string()]).status().await?;
    }
    println!("{name}: second {}", call(&mut client, server).await?);
    client.service.cancel().await?;
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("usage: rmcp_six_servers CONFIG [NAME]")?;
    let config: Config = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    let killed = arguments.next();
    let mut tasks = JoinSet::new();
    for (name, server) in config.servers {
        let is_killed = Some(&name) == killed.as_ref();
        tasks.spawn(async move {
            let used = use_server(&name, &server, is_killed).await;
            used.unwrap_or_else(|error| println!("{name}: {error}"));
        });
    }
    tasks.join_all().await;
    Ok(())
}
