//! Benchmark of writing a text as a JSON string.

use std::hint::black_box;

use mcp_proto::json;
use simd_json::prelude::Writable;
use workloads::dialect::Dialect;
use workloads::{inputs, machine};

use crate::interleave::{Contestant, Effort, interleave};

/// Measures all cases with all contestants.
///
/// # Panics
/// If the contestants write different output.
pub fn measure(effort: Effort) {
    let large = 1 << 16;
    let mut server = machine::connected(&machine::CONFIG, Dialect::Handshake, 8 << 20);
    let call = [inputs::call(7, ""), b"\n".to_vec()].concat();
    for (case, text) in [
        ("text 16 B", inputs::prose(16)),
        ("text 1 KiB", inputs::prose(1 << 10)),
        ("text", inputs::prose(large)),
        ("text 1 MiB", inputs::prose(1 << 20)),
        ("umlauts", inputs::umlauts(large)),
        ("code", inputs::code(large)),
        ("escapes", inputs::full_of_escapes(large)),
    ] {
        let text = text.as_str();
        let ours = || json::to_string(black_box(text)).expect("a text");
        let serde = || serde_json::to_string(black_box(text)).expect("a text");
        let sonic = || sonic_rs::to_string(black_box(text)).expect("a text");
        let simd = || simd_json::BorrowedValue::from(black_box(text)).encode();
        assert_eq!([ours(), sonic(), simd()], [serde(), serde(), serde()]);
        let contestants = vec![
            Contestant::new("mcp-proto", || drop(black_box(ours()))),
            Contestant::new("mcp-proto, a whole call", || {
                let sent = machine::feed_with(&mut server, &call, usize::MAX, &mut |call| {
                    call.text(black_box(text))
                });
                assert!(sent > text.len());
            }),
            Contestant::new("serde_json", || drop(black_box(serde()))),
            Contestant::new("sonic-rs", || drop(black_box(sonic()))),
            Contestant::new("simd-json", || drop(black_box(simd()))),
        ];
        println!("{}", serde_json::json!({"part": "write", "case": case, "bytes": text.len()}));
        interleave("write", case, effort, 1.0, contestants);
    }
}
