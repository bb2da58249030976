//! The inputs and workloads that measure `mcp-proto`.
//!
//! The crate has few dependencies, so that `benches/guard` builds quickly, and other libraries cannot change the
//! counts of instructions.

pub mod dialect;
pub mod growth;
pub mod inputs;
pub mod machine;
pub mod pair;
pub mod post;
pub mod router;

use mcp_proto::json::{DEPTH_LIMIT, Member, Scanner};

/// Scans a message with full validation. Returns the total length of the id, the method and the parameters.
///
/// # Panics
/// If the text is not a request with parameters.
#[inline(never)]
pub fn scan(text: &[u8]) -> usize {
    let mut scanner = Scanner::new(DEPTH_LIMIT);
    scanner.feed(text);
    scanner.finish().expect("valid");
    let [id, method, params] = [Member::Id, Member::Method, Member::Params].map(|member| {
        let span = scanner.member(member).expect("a request");
        span.end.expect("the value is complete") - span.start
    });
    // The span of the method includes its quotes, which do not count.
    id + method.saturating_sub(2) + params
}
