//! Benchmark of calls between a client and a server in one process.

use std::sync::Arc;

use allocation_counter::measure as allocated;
use mcp_proto::{Buffer, Server};
use rmcp::model::{CallToolRequestParams, JsonObject};
use rmcp::{Peer, RoleClient};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify;
use workloads::dialect::Dialect;
use workloads::pair::{ONE_TOOL, Pair, TWO_TOOLS};
use workloads::{inputs, machine};

use crate::race::{Contestant, Effort, race, report};
use crate::rmcp_echo::{ByteServer, connected, stateless};

/// The largest message, and the number of slots for requests.
const LIMITS: (usize, usize) = (8 << 20, 100);

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
    let received = result.content.first().and_then(|it| it.as_text()).map(|it| it.text.as_str());
    assert_eq!(received, Some(text));
}

/// Makes `count` calls of these tools in turn, with `window` calls in flight.
///
/// # Panics
/// If a response has another text.
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

/// Reports time and allocations of a call; each function makes `count` calls.
fn compare(case: &str, effort: Effort, count: usize, mut ours: impl FnMut(), mut theirs: impl FnMut()) {
    let contestants = vec![Contestant::new("mcp-proto", &mut ours), Contestant::new("rmcp", &mut theirs)];
    race("pair", case, effort, count as f64, contestants);
    for (contestant, it) in [("mcp-proto", allocated(ours)), ("rmcp", allocated(theirs))] {
        report("pair", case, contestant, "allocations", vec![it.count_total as f64 / count as f64]);
        report("pair", case, contestant, "bytes allocated", vec![it.bytes_total as f64 / count as f64]);
    }
}

/// Measures both roles in revision 2025-11-25, by the length of the text.
fn lengths(effort: Effort, runtime: &Runtime, rmcp: &Peer<RoleClient>) {
    let mut ours = Pair::new(LIMITS.0, LIMITS.1);
    for (case, tools, length, window, count) in [
        ("16 B, window 1", ONE_TOOL, 16, 1, 64),
        ("16 B, window 1, two tools", TWO_TOOLS, 16, 1, 64),
        ("16 B, window 64", ONE_TOOL, 16, 64, 128),
        ("1 KiB, window 64", ONE_TOOL, 1 << 10, 64, 128),
        ("64 KiB, window 1", ONE_TOOL, 1 << 16, 1, 4),
        ("1 MiB, window 1", ONE_TOOL, 1 << 20, 1, 1),
    ] {
        let text: Arc<str> = inputs::prose(length).into();
        let theirs = || runtime.block_on(echo(rmcp, tools, &text, count, window));
        compare(case, effort, count, || ours.echo(tools, &text, count, window), theirs);
    }
}

/// Measures both roles in each dialect that the clients can send. rmcp's client sends a progress token with every
/// request, and rmcp has no observers.
fn dialects(effort: Effort, runtime: &Runtime, handshake: &Peer<RoleClient>, stateless: &Peer<RoleClient>) {
    let (text, count): (Arc<str>, usize) = (inputs::prose(16).into(), 64);
    for (dialect, mut ours, rmcp) in [
        ("progress token", Pair::new(LIMITS.0, LIMITS.1).with_progress(), handshake),
        ("observers", Pair::observed(LIMITS.0, LIMITS.1), handshake),
        ("2026-07-28", Pair::stateless(LIMITS.0, LIMITS.1), stateless),
        ("2026-07-28, progress token", Pair::stateless(LIMITS.0, LIMITS.1).with_progress(), stateless),
    ] {
        let case = format!("16 B, window 1, {dialect}");
        let theirs = || runtime.block_on(echo(rmcp, ONE_TOOL, &text, count, 1));
        compare(&case, effort, count, || ours.echo(ONE_TOOL, &text, count, 1), theirs);
    }
}

/// Measures servers alone in each dialect, with the same bytes as input.
fn servers(effort: Effort, runtime: &Runtime) {
    let text = inputs::prose(16);
    for dialect in Dialect::ALL {
        let line = [dialect.call(7, &text), b"\n".to_vec()].concat();
        let mut ours =
            Server::new(&machine::INFO, Buffer::grown(1 << 20), Buffer::grown(1 << 20)).expect("a server");
        machine::feed(&mut ours, &dialect.opening(), usize::MAX);
        let ours = || {
            let mut calls = 0;
            machine::feed_with(&mut ours, &line, usize::MAX, &mut |call| {
                calls += 1;
                machine::echo(call);
            });
            assert_eq!(calls, 1);
        };
        let mut rmcp = runtime.block_on(ByteServer::open(dialect));
        let theirs = || {
            let response = runtime.block_on(rmcp.exchange(&line));
            assert!(response.windows(text.len()).any(|it| it == text.as_bytes()));
        };
        compare(&format!("16 B, server alone, {}", dialect.name()), effort, 1, ours, theirs);
    }
}

/// Measures time and allocations of a call.
///
/// # Panics
/// If a response has another text.
pub fn measure(effort: Effort) {
    let runtime = runtime();
    let handshake = runtime.block_on(connected(Arc::new(Notify::new())));
    let stateless = runtime.block_on(stateless());
    lengths(effort, &runtime, &handshake);
    dialects(effort, &runtime, &handshake, &stateless);
    servers(effort, &runtime);
}
