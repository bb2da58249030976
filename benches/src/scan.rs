//! Benchmark of scanning a message's envelope, with full validation.

use std::borrow::Cow;
use std::hint::black_box;

use serde::Deserialize;
use serde_json::value::RawValue;
use simd_json::prelude::*;
use sonic_rs::JsonValueTrait;
use workloads::inputs;

use crate::interleave::{Contestant, Effort, interleave};

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    jsonrpc: Cow<'a, str>,
    #[serde(borrow)]
    id: &'a RawValue,
    #[serde(borrow)]
    method: Cow<'a, str>,
    #[serde(borrow)]
    params: &'a RawValue,
}

impl Envelope<'_> {
    fn sum(&self) -> usize {
        assert_eq!(self.jsonrpc, "2.0");
        self.id.get().len() + self.method.len() + self.params.get().len()
    }
}

#[derive(Deserialize)]
struct Lazy<'a> {
    #[serde(borrow)]
    jsonrpc: Cow<'a, str>,
    #[serde(borrow)]
    id: sonic_rs::LazyValue<'a>,
    #[serde(borrow)]
    method: Cow<'a, str>,
    #[serde(borrow)]
    params: sonic_rs::LazyValue<'a>,
}

fn serde_slice(text: &[u8]) -> usize {
    serde_json::from_slice::<Envelope<'_>>(text).expect("valid").sum()
}

fn serde_str(text: &[u8]) -> usize {
    let text = std::str::from_utf8(text).expect("UTF-8");
    serde_json::from_str::<Envelope<'_>>(text).expect("valid").sum()
}

fn sonic(text: &[u8]) -> usize {
    let it: Lazy<'_> = sonic_rs::from_slice(text).expect("valid");
    assert_eq!(it.jsonrpc, "2.0");
    assert!(it.params.is_object());
    it.id.as_raw_str().len() + it.method.len() + it.params.as_raw_str().len()
}

/// Scans a copy of the text, because simd-json modifies its input. A server that keeps its input would also need a
/// copy. Returns only the length of the method, because simd-json returns decoded values, and no spans.
fn simd(text: &[u8], copy: &mut Vec<u8>, buffers: &mut simd_json::Buffers) -> usize {
    copy.clear();
    copy.extend_from_slice(text);
    let tape = simd_json::to_tape_with_buffers(copy, buffers).expect("valid");
    let message = tape.as_value();
    assert_eq!(message.get_str("jsonrpc"), Some("2.0"));
    assert!(message.get("id").is_some() && message.get("params").is_some());
    message.get_str("method").map_or(0, str::len)
}

/// Consumes a result, so that the compiler cannot remove the work.
fn sink(sum: usize) {
    black_box(sum);
}

/// Measures all cases with all contestants.
pub fn measure(effort: Effort) {
    let large = 1 << 16;
    for (case, text) in [
        ("call", inputs::small_call()),
        ("text 1 KiB", inputs::call(7, &inputs::prose(1 << 10))),
        ("text", inputs::call(7, &inputs::prose(large))),
        ("text 1 MiB", inputs::call(7, &inputs::prose(1 << 20))),
        ("umlauts", inputs::call(7, &inputs::umlauts(large))),
        ("code", inputs::call(7, &inputs::code(large))),
        ("escapes", inputs::call(7, &inputs::full_of_escapes(large))),
        ("dense", inputs::dense(179_000)),
    ] {
        let text = text.as_slice();
        assert_eq!(serde_slice(text), workloads::scan(text));
        assert_eq!(sonic(text), workloads::scan(text));
        let (mut copy, mut buffers) = (Vec::new(), simd_json::Buffers::default());
        let contestants = vec![
            Contestant::new("mcp-proto", || sink(workloads::scan(black_box(text)))),
            Contestant::new("serde_json slice", || sink(serde_slice(black_box(text)))),
            Contestant::new("serde_json str", || sink(serde_str(black_box(text)))),
            Contestant::new("sonic-rs", || sink(sonic(black_box(text)))),
            Contestant::new("simd-json", || sink(simd(black_box(text), &mut copy, &mut buffers))),
        ];
        println!("{}", serde_json::json!({"part": "scan", "case": case, "bytes": text.len()}));
        interleave("scan", case, effort, 1.0, contestants);
    }
}
