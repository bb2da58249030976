//! Benchmark of calls between a client and a server in one process.

use std::sync::Arc;

use allocation_counter::measure as allocated;
use rmcp::model::{CallToolRequestParams, JsonObject};
use rmcp::{Peer, RoleClient};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify;
use workloads::inputs;
use workloads::pair::{ONE_TOOL, Pair, TWO_TOOLS};

use crate::race::{Contestant, Effort, race, report};
use crate::rmcp_echo::connected;

/// A runtime on this thread, so that the thread's CPU clock measures all work.
///
/// # Panics
/// If the runtime does not start.
#[must_use]
pub fn runtime() -> Runtime {
    Builder::new_current_thread().enable_time().build().expect("a runtime")
}

async fn call(peer: &Peer<RoleClient>, tool: &'static str, text: &str) {
    let mut arguments = JsonObject::new();
    arguments.insert("text".into(), text.into());
    let result =
        peer.call_tool(CallToolRequestParams::new(tool).with_arguments(arguments)).await.expect("a result");
    let said = result.content.first().and_then(|it| it.as_text()).map(|it| it.text.as_str());
    assert_eq!(said, Some(text));
}

/// Makes `count` calls of these tools in turn, with `window` calls in flight.
///
/// # Panics
/// If an answer has another text.
pub async fn echo(
    peer: &Peer<RoleClient>,
    tools: [&'static str; 2],
    text: &Arc<str>,
    count: usize,
    window: usize,
) {
    if window == 1 {
        for at in 0..count {
            call(peer, tools[at % 2], text).await;
        }
        return;
    }
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..window {
        let (peer, text) = (peer.clone(), Arc::clone(text));
        calls.spawn(async move {
            for at in 0..count.div_ceil(window) {
                call(&peer, tools[at % 2], &text).await;
            }
        });
    }
    while let Some(end) = calls.join_next().await {
        end.expect("no panic");
    }
}

/// Measures time and allocations of a call.
///
/// # Panics
/// If an answer has another text.
pub fn measure(effort: Effort) {
    let runtime = runtime();
    let rmcp = runtime.block_on(connected(Arc::new(Notify::new())));
    let mut ours = Pair::new(8 << 20, 100);
    for (case, tools, length, window, count) in [
        ("16 B, window 1", ONE_TOOL, 16, 1, 64),
        ("16 B, window 1, two tools", TWO_TOOLS, 16, 1, 64),
        ("16 B, window 64", ONE_TOOL, 16, 64, 128),
        ("1 KiB, window 64", ONE_TOOL, 1 << 10, 64, 128),
        ("64 KiB, window 1", ONE_TOOL, 1 << 16, 1, 4),
        ("1 MiB, window 1", ONE_TOOL, 1 << 20, 1, 1),
    ] {
        let text: Arc<str> = inputs::prose(length).into();
        let contestants = vec![
            Contestant::new("mcp-proto", || ours.echo(tools, &text, count, window)),
            Contestant::new("rmcp", || runtime.block_on(echo(&rmcp, tools, &text, count, window))),
        ];
        race("pair", case, effort, count as f64, contestants);
        let allocations = allocated(|| ours.echo(tools, &text, count, window));
        let theirs = allocated(|| runtime.block_on(echo(&rmcp, tools, &text, count, window)));
        for (who, it) in [("mcp-proto", allocations), ("rmcp", theirs)] {
            report("pair", case, who, "allocations", vec![it.count_total as f64 / count as f64]);
            report("pair", case, who, "bytes allocated", vec![it.bytes_total as f64 / count as f64]);
        }
    }
}
