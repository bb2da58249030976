//! Calls two tools of a board concurrently, with the client of rmcp. The calls are repeated until stdin ends.
//!
//!     rmcp_calls VERSION PROGRAM
//!
//! VERSION is the revision of MCP. PROGRAM connects its stdin and stdout to the board. The script `noise_run.py` starts
//! `rmcp_calls`, and reads a line for each call from its stdout.

use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rmcp::model::*;
use rmcp::transport::TokioChildProcess;
use rmcp::{ClientLifecycleMode, ClientServiceExt, Peer, RoleClient, ServiceError};
use serde_json::{Value, json};
use tokio::process::Command;
use tokio::time::timeout;

/// The time limit of a call.
const LIMIT: Duration = Duration::from_secs(60);
/// Whether stdin has ended.
static ENDED: AtomicBool = AtomicBool::new(false);

async fn calls(
    peer: &Peer<RoleClient>,
    name: &str,
    arguments: fn(u32) -> (Value, &'static str),
) -> Result<(), String> {
    let mut number = 0;
    while !ENDED.load(Ordering::Relaxed) {
        number += 1;
        let (given, wanted) = arguments(number);
        let params = serde_json::from_value(json!({"name": name, "arguments": given})).unwrap();
        let result = timeout(LIMIT, peer.call_tool(params)).await.map_err(|_| "a call does not end")?;
        match result.map(|result| json!(result)) {
            Ok(result) if result["isError"] != true && result["content"][0]["text"] == wanted => {
                println!("ok {name}");
            }
            Err(ServiceError::McpError(error)) => println!("error {name} {}", error.code.0),
            other => return Err(format!("{name} {given} responds {other:?}")),
        }
    }
    Ok(())
}

fn led_set(number: u32) -> (Value, &'static str) {
    let on = number.is_multiple_of(2);
    (json!({"on": on}), if on { "the LED is on" } else { "the LED is off" })
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), String> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [version, program] = &words[..] else { return Err("usage: rmcp_calls VERSION PROGRAM".into()) };
    std::thread::spawn(|| {
        _ = std::io::stdin().read_to_end(&mut Vec::new());
        ENDED.store(true, Ordering::Relaxed);
    });
    let versions = ProtocolVersion::KNOWN_VERSIONS;
    let version = versions.iter().find(|known| known.as_str() == version).ok_or("rmcp does not know it")?;
    let config = ClientConfig::new(Default::default(), Implementation::new("interop", "1"))
        .with_protocol_version(version.clone());
    let mode = match version.as_str() {
        "2026-07-28" => ClientLifecycleMode::Discover { preferred_versions: vec![version.clone()] },
        _ => ClientLifecycleMode::Initialize,
    };
    let transport = TokioChildProcess::new(Command::new(program)).map_err(|error| error.to_string())?;
    let client = config.serve_with_lifecycle(transport, mode).await.map_err(|error| error.to_string())?;
    let (led, test) = tokio::join!(
        calls(&client, "led_set", led_set),
        calls(&client, "self_test", |_| (json!({}), "test passed")),
    );
    led.and(test)?;
    client.cancel().await.map(|_| ()).map_err(|error| error.to_string())
}
