//! The pump without server or client handles.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::thread;

use crate::time_limit::{TEST_TIMEOUT, within};
use mcp_proto::server::ServerConfig;
use mcp_proto::{Buffer, Server};
use mcp_proto_std::{Pump, PumpStatus};

static CONFIG: ServerConfig = ServerConfig::new("test", "1");

#[test]
fn constant_wakes_do_not_starve_requests() {
    within(TEST_TIMEOUT, || {
        let (mut here, there) = UnixStream::pair().unwrap();
        let pumped = thread::spawn(move || {
            let mut server = Server::new(&CONFIG, Buffer::grown(65536), Buffer::grown(65536)).unwrap();
            let mut pump = Pump::new(there.try_clone().unwrap(), there).unwrap();
            let waker = pump.waker();
            waker.wake();
            loop {
                match pump.run(&mut server) {
                    PumpStatus::Woken => waker.wake(),
                    PumpStatus::Event => drop(server.event()),
                    PumpStatus::Closed => return,
                }
            }
        });
        let mut lines = BufReader::new(here.try_clone().unwrap()).lines();
        for _ in 0..3 {
            here.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n").unwrap();
            assert!(lines.next().unwrap().unwrap().contains(r#""result":{}"#));
        }
        here.shutdown(std::net::Shutdown::Write).unwrap();
        pumped.join().unwrap();
    });
}
