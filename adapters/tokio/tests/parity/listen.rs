//! Servers that listen on TCP and Unix sockets.

use std::thread;
use std::time::Duration;

use mcp_proto_std::{CallError, CallOptions};

use super::servers::{ADAPTERS, Limits, call};

#[test]
fn each_connection_has_its_own_state() {
    for adapter in ADAPTERS {
        for running in [adapter.listen_tcp(Limits::default()), adapter.listen_unix(Limits::default())] {
            let [one, two] = [running.client(), running.client()];
            let counts = [&one, &one, &two, &one].map(|client| call(client, "count"));
            assert_eq!(counts, ["1", "2", "1", "3"], "{adapter:?}");
            running.stop();
        }
    }
}

#[test]
fn all_connections_share_the_workers() {
    for adapter in ADAPTERS {
        let running = adapter.listen_tcp(Limits { workers: 2, ..Limits::default() });
        let clients: Vec<_> = (0..6).map(|_| running.client()).collect();
        thread::scope(|scope| {
            for client in &clients {
                scope.spawn(move || assert_eq!(call(client, "hold"), "released"));
            }
            running.held.wait_for(2);
            // Before the response to `count`, the server has received any earlier call of `hold` on the connection.
            clients.iter().for_each(|client| drop(call(client, "count")));
            running.held.release();
        });
        assert_eq!(running.held.most(), 2, "{adapter:?}");
        running.stop();
    }
}

#[test]
fn stop_lets_running_calls_finish_and_refuses_connections() {
    for adapter in ADAPTERS {
        let running = adapter.listen_unix(Limits::default());
        let client = running.client();
        let held = client.begin_json("hold", "{}", CallOptions::new()).unwrap();
        running.held.wait_for(1);
        running.stop.within(Duration::from_secs(60));
        running.held.release();
        assert_eq!(held.wait().unwrap().text().as_deref(), Some("released"), "{adapter:?}");
        running.stop();
        assert_eq!(client.call_json("count", "{}").unwrap_err(), CallError::Closed, "{adapter:?}");
    }
}

#[test]
fn connections_wait_at_their_limit() {
    for adapter in ADAPTERS {
        let running = adapter.listen_tcp(Limits { connections: 2, ..Limits::default() });
        thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| assert_eq!(call(&running.client(), "count"), "1"));
            }
        });
        assert!(running.held.most_connections() <= 2, "{adapter:?}");
        running.stop();
    }
}
