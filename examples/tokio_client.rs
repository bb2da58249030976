//! A client on tokio that starts `tokio_server`, or the given program.
use mcp_proto_tokio::{CallOptions, Connector};
use std::collections::HashMap;
use std::time::Duration;
use tokio::process::Command;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let beside = std::env::current_exe()?.with_file_name("tokio_server");
    let server = std::env::args_os().nth(1).unwrap_or(beside.into());
    let client = Connector::new("tokio_client", "1.0.0").spawn(Command::new(server)).await?;
    println!("{} speaks {}", client.server().name, client.server().revision);

    // Two concurrent calls, and the progress of the slow one.
    let mut slow = client.begin_json("slow", "{}", CallOptions::new().with_progress())?;
    let sum = client.call_tool("add", &HashMap::from([("a", 2), ("b", 40)])).await?;
    println!("add: {}", sum.text().unwrap_or_default());
    while let Some(step) = slow.progress().await {
        println!("slow: step {}", step.progress);
    }
    println!("slow: {}", slow.await?.text().unwrap_or_default());

    // Dropping the future cancels the call.
    let hasty = tokio::time::timeout(Duration::from_millis(100), client.call_json("slow", "{}")).await;
    println!("hasty: {}", if hasty.is_err() { "cancelled" } else { "done" });
    client.close().await;
    Ok(())
}
