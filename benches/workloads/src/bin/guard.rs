//! Runs one fixed workload repeatedly, for counting its instructions.

use std::hint::black_box;

use mcp_proto::json;
use mcp_proto::server::Call;
use workloads::dialect::Dialect;
use workloads::pair::{ONE_TOOL, Pair, TWO_TOOLS};
use workloads::post::Posts;
use workloads::{inputs, machine, router, scan};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_default();
    let count: usize = arguments.next().and_then(|it| it.parse().ok()).expect("guard WORKLOAD COUNT");
    let repeat = |work: &mut dyn FnMut()| (0..count).for_each(|_| work());
    let scans = |text: &[u8]| {
        repeat(&mut || {
            black_box(scan(black_box(text)));
        });
    };
    let writes = |text: &str| repeat(&mut || drop(black_box(json::to_string(black_box(text)))));
    match name.as_str() {
        "scan-call" => scans(&inputs::small_call()),
        "scan-text" => scans(&inputs::call(7, &inputs::prose(1 << 16))),
        "scan-utf8" => scans(&inputs::call(7, &inputs::umlauts(1 << 16))),
        "scan-escapes" => scans(&inputs::call(7, &inputs::full_of_escapes(1 << 16))),
        "scan-dense" => scans(&inputs::dense(1 << 16)),
        "write-text" => writes(&inputs::prose(1 << 16)),
        "write-code" => writes(&inputs::code(1 << 16)),
        "trip-16" => Pair::new(1 << 20, 100).echo(ONE_TOOL, &inputs::prose(16), count, 1),
        "trip-16-two-tools" => Pair::new(1 << 20, 100).echo(TWO_TOOLS, &inputs::prose(16), count, 1),
        "trip-16-window-64" => Pair::new(1 << 20, 100).echo(ONE_TOOL, &inputs::prose(16), count * 64, 64),
        "trip-16-progress" => {
            Pair::new(1 << 20, 100).with_progress().echo(ONE_TOOL, &inputs::prose(16), count, 1);
        }
        "trip-16-stateless" => Pair::stateless(1 << 20, 100).echo(ONE_TOOL, &inputs::prose(16), count, 1),
        "trip-16-stateless-progress" => {
            Pair::stateless(1 << 20, 100).with_progress().echo(ONE_TOOL, &inputs::prose(16), count, 1);
        }
        "trip-64k" => Pair::new(1 << 20, 100).echo(ONE_TOOL, &inputs::prose(1 << 16), count, 1),
        "line-router" => {
            let mut server = machine::connected(&router::CONFIG, Dialect::Handshake, 1 << 20);
            let line = [Dialect::Handshake.call(7, &inputs::prose(16)), b"\n".to_vec()].concat();
            let mut respond = |call: Call<'_>| router::ROUTER.call(&mut (), call);
            repeat(&mut || assert!(machine::feed_with(&mut server, &line, usize::MAX, &mut respond) > 16));
        }
        "line-session" => lines(Dialect::Handshake, count),
        "line-stateless" => lines(Dialect::Stateless, count),
        "post-session" => posts(Dialect::Handshake, count),
        "post-stateless" => posts(Dialect::Stateless, count),
        "feed-bytes" => {
            let mut server = machine::connected(&machine::CONFIG, Dialect::Handshake, 1 << 20);
            let line = [inputs::call(7, &inputs::prose(1000)), b"\n".to_vec()].concat();
            repeat(&mut || assert!(machine::feed(&mut server, &line, 1) > 1000));
        }
        name => {
            let pending = name.strip_prefix("pending-").and_then(|it| it.parse().ok());
            exchange(pending.expect("a known workload"), count);
        }
    }
}

/// Sends `count` calls as lines.
fn lines(dialect: Dialect, count: usize) {
    let mut server = machine::connected(&machine::CONFIG, dialect, 1 << 20);
    let line = [dialect.call(7, &inputs::prose(16)), b"\n".to_vec()].concat();
    (0..count).for_each(|_| assert!(machine::feed(&mut server, &line, usize::MAX) > 16));
}

/// Sends `count` calls over HTTP.
fn posts(dialect: Dialect, count: usize) {
    let mut posts = Posts::new(dialect, &inputs::prose(16));
    (0..count).for_each(|_| assert_eq!(posts.post().0, 200));
}

fn exchange(pending: usize, count: usize) {
    let mut pair = Pair::new(1 << 20, pending + 1);
    pair.hold(pending);
    pair.exchange(count);
    assert_eq!(pair.pending(), (pending, pending));
}
