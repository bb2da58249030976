//! A host with many servers: it uses all of them concurrently, and restarts a server that dies.
//!
//! `six_servers CONFIG [NAME]`: CONFIG is the configuration file of a desktop client, in which each server also has a
//! `tool` to call and its `arguments`. The program kills the server NAME between two calls.
use mcp_proto_tokio::{CallError, ClientHandle, Connector, Reconnect};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::error::Error;
use tokio::process::Command;
use tokio::task::JoinSet;

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

/// Calls the tool. If the server has died, repeats the call when the server runs again.
async fn call(client: &ClientHandle, server: &Server) -> Result<String, CallError> {
    let result = match client.call_tool(&server.tool, &server.arguments).await {
        Err(CallError::Closed) => client.call_tool(&server.tool, &server.arguments).await?,
        result => result?,
    };
    Ok(result.text().unwrap_or_default().lines().next().unwrap_or_default().into())
}

async fn use_server(name: &str, server: &Server, is_killed: bool) -> Result<(), Box<dyn Error>> {
    let mut command = Command::new(&server.command);
    command.args(&server.args);
    let connector = Connector::new("six_servers", "1.0.0").reconnect(Reconnect::DEFAULT);
    let client = connector.spawn(command).await?;
    println!("{name}: {} tools", client.list_tools().await?.len());
    println!("{name}: first {}", call(&client, server).await?);
    if let Some(id) = client.process_id().filter(|_| is_killed) {
        Command::new("kill").args(["-9", &id.to_string()]).status().await?;
    }
    println!("{name}: second {}", call(&client, server).await?);
    client.close().await;
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("usage: six_servers CONFIG [NAME]")?;
    let config: Config = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    let killed = arguments.next();
    let mut tasks = JoinSet::new();
    for (name, server) in config.servers {
        let is_killed = Some(&name) == killed.as_ref();
        tasks.spawn(async move {
            let used = use_server(&name, &server, is_killed).await.map_err(|error| error.to_string());
            used.unwrap_or_else(|error| println!("{name}: {error}"));
        });
    }
    tasks.join_all().await;
    Ok(())
}
