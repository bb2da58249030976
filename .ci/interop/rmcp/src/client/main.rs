//! Tests the features of the example `everything_server` with the client of rmcp.
//!
//!     rmcp_client SERVER [ARGUMENT...]
//!     rmcp_client URL
//!
//! Each group of features runs once in each revision that has the features and the transport. A group sends the
//! messages of that revision. A line that starts with RESULT sums up a group, either for the revisions with a handshake
//! or for the stateless revision. Each error is printed in a line that starts with FAILED.

// The groups use items that rmcp deprecates: those for sampling, roots, logging and `resources/subscribe`.
#![allow(deprecated)]

mod checks;
mod host;
mod world;

use std::process::ExitCode;
use std::time::Duration;

use tokio::time::timeout;

use world::World;

const PATIENCE: Duration = Duration::from_secs(30);

const FINDS: &str = "finds the era";

/// The groups of features. Each has the first revision in which the group runs.
const GROUPS: [(&str, &str); 22] = [
    (FINDS, "2026-07-28"),
    ("ping", "2024-11-05"),
    ("side by side", "2024-11-05"),
    ("tools", "2024-11-05"),
    ("content", "2024-11-05"),
    ("structured content", "2024-11-05"),
    ("progress", "2024-11-05"),
    ("cancel", "2024-11-05"),
    ("logging", "2024-11-05"),
    ("resources", "2024-11-05"),
    ("templates", "2024-11-05"),
    ("list changes", "2024-11-05"),
    ("subscriptions", "2024-11-05"),
    ("prompts", "2024-11-05"),
    ("completion", "2024-11-05"),
    ("sampling", "2024-11-05"),
    ("roots", "2024-11-05"),
    ("elicitation", "2025-06-18"),
    ("url elicitation", "2025-11-25"),
    ("rounds", "2026-07-28"),
    ("skills", "2026-07-28"),
    ("tasks", "2026-07-28"),
];

fn has(version: &str, (group, since): (&str, &str)) -> bool {
    version >= since && (group, version) != ("ping", "2026-07-28")
}

type Failures = Vec<(&'static str, String)>;

/// Runs the groups of a revision. The group that detects the era has a connection of its own.
async fn run(command: &[String], version: &'static str, failures: &mut Failures) {
    println!("rmcp client, features | {version}");
    for asks in [true, false] {
        let groups = GROUPS.into_iter().filter(|group| has(version, *group) && (group.0 == FINDS) == asks);
        let groups: Vec<_> = groups.map(|(group, _)| group).collect();
        if !groups.is_empty() {
            connect(command, version, asks, &groups, failures).await;
        }
    }
}

/// Opens a connection, and runs the groups on it. A failed group does not stop the groups after it.
async fn connect(
    command: &[String],
    version: &'static str,
    asks: bool,
    groups: &[&'static str],
    failures: &mut Failures,
) {
    let world = match World::open(command, version, asks).await {
        Ok(world) => world,
        Err(why) => {
            failures.push(("connection", format!("{version}: {why}")));
            return failures.extend(groups.iter().map(|group| (*group, format!("{version}: no connection"))));
        }
    };
    for group in groups {
        match timeout(PATIENCE, world.check(group)).await {
            Ok(Ok(())) => println!("  ok  {group}"),
            Ok(Err(why)) => failures.push((group, format!("{version}: {why}"))),
            Err(_) => failures.push((group, format!("{version}: nothing happened for {PATIENCE:?}"))),
        }
    }
    match timeout(PATIENCE, world.client.cancel()).await {
        Ok(Ok(_)) => {}
        other => failures.push(("connection", format!("{version}: it does not end: {other:?}"))),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let command: Vec<String> = std::env::args().skip(1).collect();
    let mut handshake: &[&'static str] = &["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
    let mut peer = "rmcp client 3.11.0";
    if command[0].starts_with("http://") {
        // Skip 2024-11-05, because this revision has no Streamable HTTP.
        (handshake, peer) = (&handshake[1..], "rmcp client 3.11.0 over HTTP");
    }
    let mut code = ExitCode::SUCCESS;
    for (era, versions) in [("handshake", handshake), ("stateless", &["2026-07-28"])] {
        let mut failures = Vec::new();
        for version in versions {
            run(&command, version, &mut failures).await;
        }
        let last = versions[versions.len() - 1];
        let groups = GROUPS.iter().filter(|group| has(last, **group)).map(|(group, _)| *group);
        for group in groups.chain(["connection"]) {
            let of_group: Vec<_> = failures.iter().filter(|(name, _)| *name == group).collect();
            of_group.iter().for_each(|(_, why)| println!("FAILED {group}, {why}"));
            let failed = !of_group.is_empty();
            println!("RESULT {peer}, {group} | {era} | {}", if failed { "FAILED" } else { "ok" });
            if failed {
                code = ExitCode::FAILURE;
            }
        }
    }
    code
}
