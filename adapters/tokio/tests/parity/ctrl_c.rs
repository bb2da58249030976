//! Ctrl-C, SIGTERM and SIGHUP stop a server. Each server runs in a separate process.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use mcp_proto_std::CallOptions;
use rustix::process::{Pid, Signal, kill_process};

use super::servers::{ADAPTERS, Adapter, Address, Held, Limits, Socket, call};

/// The environment variable that selects the adapter of [`child`].
const ADAPTER: &str = "MCP_PARITY_ADAPTER";

/// Serves until a signal arrives, in a process that a test has started.
#[test]
#[ignore = "other tests start it in a process of its own"]
fn child() {
    let Ok(name) = std::env::var(ADAPTER) else { return };
    let (adapter, new_stop): (_, fn(Duration) -> _) = match name.as_str() {
        "Threads" => (Adapter::Threads, mcp_proto_std::stop_on_ctrl_c),
        _ => (Adapter::Tokio, mcp_proto_tokio::stop_on_ctrl_c),
    };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let new_stop = || {
        let stop = new_stop(Duration::from_secs(600)).unwrap();
        // The parent may send signals from now on.
        println!("\naddress {address}");
        stop
    };
    let held = Arc::<Held>::default();
    adapter.serve(Limits::default(), Socket::Tcp(listener), new_stop, held).unwrap();
    // Exit here, because the end of the test would wait for a busy worker.
    std::process::exit(0);
}

struct Server {
    process: Child,
    address: Address,
    /// Kept open, so that the process can still write to stdout.
    _stdout: BufReader<ChildStdout>,
}

impl Server {
    fn start(adapter: Adapter) -> Server {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "parity::ctrl_c::child", "--ignored", "--nocapture"]);
        let mut process =
            command.env(ADAPTER, format!("{adapter:?}")).stdout(Stdio::piped()).spawn().unwrap();
        let mut stdout = BufReader::new(process.stdout.take().unwrap());
        let address = loop {
            let mut line = String::new();
            assert!(stdout.read_line(&mut line).unwrap() > 0, "the server has ended");
            if let Some(address) = line.trim_end().strip_prefix("address ") {
                break Address::Tcp(address.parse().unwrap());
            }
        };
        Server { process, address, _stdout: stdout }
    }

    fn signal(&self, signal: Signal) {
        let id = i32::try_from(self.process.id()).ok().and_then(Pid::from_raw).unwrap();
        kill_process(id, signal).unwrap();
    }
}

#[test]
fn one_signal_stops_an_idle_server() {
    for adapter in ADAPTERS {
        for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
            let mut server = Server::start(adapter);
            let client = server.address.client();
            assert_eq!(call(&client, "count"), "1");
            server.signal(signal);
            assert!(server.process.wait().unwrap().success(), "{adapter:?} {signal:?}");
        }
    }
}

#[test]
fn second_signal_ends_running_calls() {
    for adapter in ADAPTERS {
        let mut server = Server::start(adapter);
        let client = server.address.client();
        let held = client.begin_json("hold", "{}", CallOptions::new().without_timeout()).unwrap();
        call(&client, "count");
        server.signal(Signal::INT);
        // Wait until the server refuses a call, which shows that it is stopping.
        while client.call_json("count", "{}").is_ok() {}
        server.signal(Signal::INT);
        assert!(server.process.wait().unwrap().success(), "{adapter:?}");
        assert!(held.wait().is_err(), "{adapter:?}");
    }
}
