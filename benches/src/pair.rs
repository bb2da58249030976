//! Benchmark of calls in memory: round trips between a client and a server in one process, and servers alone.

use std::sync::Arc;

use allocation_counter::measure as allocated;
use rmcp::model::{CallToolRequestParams, JsonObject};
use rmcp::{Peer, RoleClient};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify;
use workloads::dialect::Dialect;
use workloads::pair::{ONE_TOOL, Pair, TWO_TOOLS};
use workloads::{inputs, machine};

use crate::interleave::{Contestant, Effort, interleave_cases, report};
use crate::rmcp_echo::{ByteServer, connected, stateless};

/// The largest message, and the number of slots for requests.
const LIMITS: (usize, usize) = (8 << 20, 100);

/// Creates a runtime on this thread, so that the thread's CPU clock measures all work.
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
    let received = result.content.first().and_then(|it| it.as_text()).map(|it| it.text.as_str());
    assert_eq!(received, Some(text));
}

/// Makes `count` calls of these tools in turn, with `window` calls in flight. Rounds `count` up to a multiple of
/// `window`.
///
/// # Panics
/// If a call fails, or its response does not have the text of the call.
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

/// Reports time and allocations of a call. The contestants of all cases take turns, and each run of a contestant makes
/// `count` calls.
fn compare(effort: Effort, count: usize, mut entries: Vec<(String, Contestant<'_>)>) {
    interleave_cases("pair", effort, count as f64, &mut entries);
    for (case, contestant) in &mut entries {
        let it = allocated(|| contestant.run());
        let per_call = |total: u64| vec![total as f64 / count as f64];
        report("pair", case, contestant.name(), "allocations", per_call(it.count_total));
        report("pair", case, contestant.name(), "bytes allocated", per_call(it.bytes_total));
    }
}

/// Measures both roles with a text of 16 bytes, in both eras; `mcp-proto` also with progress tokens and with observers.
/// Progress tokens and observers vary only in `mcp-proto`: rmcp's client sends a progress token with every request, and
/// rmcp has no observers.
fn dialects(effort: Effort, runtime: &Runtime, handshake: &Peer<RoleClient>, stateless: &Peer<RoleClient>) {
    let (text, count): (&Arc<str>, usize) = (&inputs::prose(16).into(), 64);
    let mut entries = Vec::new();
    for (suffix, mut ours, rmcp) in [
        ("", Pair::new(LIMITS.0, LIMITS.1), handshake),
        (", progress token", Pair::new(LIMITS.0, LIMITS.1).with_progress(), handshake),
        (", observers", Pair::observed(LIMITS.0, LIMITS.1), handshake),
        (", 2026-07-28", Pair::stateless(LIMITS.0, LIMITS.1), stateless),
        (", 2026-07-28, progress token", Pair::stateless(LIMITS.0, LIMITS.1).with_progress(), stateless),
    ] {
        let case = format!("16 B, window 1{suffix}");
        let ours = move || ours.echo(ONE_TOOL, text, count, 1);
        let theirs = move || runtime.block_on(echo(rmcp, ONE_TOOL, text, count, 1));
        entries.push((case.clone(), Contestant::new("mcp-proto", ours)));
        entries.push((case, Contestant::new("rmcp", theirs)));
    }
    compare(effort, count, entries);
}

/// Measures both roles in revision 2025-11-25, by tools, window, and length of the text.
fn lengths(effort: Effort, runtime: &Runtime, rmcp: &Peer<RoleClient>) {
    let mut ours = Pair::new(LIMITS.0, LIMITS.1);
    for (case, tools, length, window, count) in [
        ("16 B, window 1, two tools", TWO_TOOLS, 16, 1, 64),
        ("16 B, window 64", ONE_TOOL, 16, 64, 128),
        ("1 KiB, window 64", ONE_TOOL, 1 << 10, 64, 128),
        ("64 KiB, window 1", ONE_TOOL, 1 << 16, 1, 4),
        ("1 MiB, window 1", ONE_TOOL, 1 << 20, 1, 1),
    ] {
        let text: Arc<str> = inputs::prose(length).into();
        let ours = || ours.echo(tools, &text, count, window);
        let theirs = || runtime.block_on(echo(rmcp, tools, &text, count, window));
        let entries =
            [Contestant::new("mcp-proto", ours), Contestant::new("rmcp", theirs)].map(|it| (case.into(), it));
        compare(effort, count, entries.into());
    }
}

/// Measures servers alone in each dialect, with the same bytes as input.
fn servers(effort: Effort, runtime: &Runtime) {
    let text = &inputs::prose(16);
    let mut entries = Vec::new();
    for dialect in Dialect::ALL {
        let case = format!("16 B, server alone, {}", dialect.name());
        let line = [dialect.call(7, text), b"\n".to_vec()].concat();
        let same_line = line.clone();
        let mut ours = machine::connected(&machine::CONFIG, dialect, 1 << 20);
        let ours = move || {
            let mut calls = 0;
            machine::feed_with(&mut ours, &line, usize::MAX, &mut |call| {
                calls += 1;
                machine::echo(call);
            });
            assert_eq!(calls, 1);
        };
        let mut rmcp = runtime.block_on(ByteServer::open(dialect));
        let theirs = move || {
            let response = runtime.block_on(rmcp.exchange(&same_line));
            assert!(response.windows(text.len()).any(|it| it == text.as_bytes()));
        };
        entries.push((case.clone(), Contestant::new("mcp-proto", ours)));
        entries.push((case, Contestant::new("rmcp", theirs)));
    }
    compare(effort, 1, entries);
}

/// Measures time and allocations of a call.
///
/// # Panics
/// If the runtime does not start, a connection or a call fails, or a response does not have the text of its call.
pub fn measure(effort: Effort) {
    let runtime = runtime();
    let handshake = runtime.block_on(connected(Arc::new(Notify::new())));
    let stateless = runtime.block_on(stateless());
    dialects(effort, &runtime, &handshake, &stateless);
    lengths(effort, &runtime, &handshake);
    servers(effort, &runtime);
}
