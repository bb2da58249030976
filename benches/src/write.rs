//! A text written as a JSON string, with its escapes.

use std::hint::black_box;

use mcp_proto::json;
use simd_json::prelude::Writable;
use workloads::inputs;

use crate::race::{Contestant, Effort, race};

/// All cases, from everyone.
///
/// # Panics
/// Somebody writes something else.
pub fn measure(effort: Effort) {
    let large = 1 << 16;
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
            Contestant::new("serde_json", || drop(black_box(serde()))),
            Contestant::new("sonic-rs", || drop(black_box(sonic()))),
            Contestant::new("simd-json", || drop(black_box(simd()))),
        ];
        println!("{}", serde_json::json!({"part": "write", "case": case, "bytes": text.len()}));
        race("write", case, effort, 1.0, contestants);
    }
}
