//! Benchmark of many pending requests: memory of each, and time of one more.

use std::sync::Arc;

use allocation_counter::measure as allocated;
use rmcp::model::CallToolRequestParams;
use rmcp::{Peer, RoleClient};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use workloads::pair::Pair;

use crate::interleave::{Contestant, Effort, interleave, report};
use crate::pair::runtime;
use crate::rmcp_echo::connected;

fn hold(calls: &mut JoinSet<()>, peer: &Peer<RoleClient>) {
    let peer = peer.clone();
    calls.spawn(async move {
        peer.call_tool(CallToolRequestParams::new("hold")).await.expect("a response");
    });
}

/// Lets all ready tasks run.
async fn run_ready_tasks() {
    for _ in 0..64 {
        tokio::task::yield_now().await;
    }
}

/// Measures memory and time with `pending` pending requests.
pub fn measure(effort: Effort, pending: usize) {
    let case = format!("{pending} pending");
    let mut client = Pair::new(1 << 20, pending + 1);
    let client_bytes = allocated(|| client.request(pending)).bytes_current as f64 / pending as f64;
    drop(client);
    let mut ours = Pair::new(1 << 20, pending + 1);
    ours.reserve(pending);
    let both_bytes = allocated(|| ours.hold(pending)).bytes_current as f64 / pending as f64;
    assert_eq!(ours.pending(), (pending, pending));
    report("pending", &case, "mcp-proto", "bytes of the client", vec![client_bytes]);
    report("pending", &case, "mcp-proto", "bytes of the server", vec![both_bytes - client_bytes]);
    report("pending", &case, "mcp-proto", "bytes of both", vec![both_bytes]);

    let (runtime, release, mut calls) = (runtime(), Arc::new(Notify::new()), JoinSet::new());
    let rmcp = runtime.block_on(connected(Arc::clone(&release)));
    let memory = allocated(|| {
        runtime.block_on(async {
            for at in 0..pending {
                hold(&mut calls, &rmcp);
                if at % 1000 == 999 {
                    run_ready_tasks().await;
                }
            }
            // Run both sides until every request is pending at the server.
            for _ in 0..20 {
                run_ready_tasks().await;
            }
        });
    });
    report("pending", &case, "rmcp", "bytes of both", vec![memory.bytes_current as f64 / pending as f64]);

    let exchange = || {
        runtime.block_on(async {
            for _ in 0..100 {
                release.notify_one();
                hold(&mut calls, &rmcp);
                calls.join_next().await.expect("one of them").expect("no panic");
            }
        });
    };
    let contestants =
        vec![Contestant::new("mcp-proto", || ours.exchange(100)), Contestant::new("rmcp", exchange)];
    interleave("pending", &case, effort, 100.0, contestants);
}
