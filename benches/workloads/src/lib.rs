//! What is measured of `mcp-proto`: the texts, and the work that is done with them. It depends on nothing else, so that the
//! guard is built quickly, and counts the same instructions wherever others stand beside it.

pub mod inputs;
pub mod machine;
pub mod pair;

use mcp_proto::json::{DEPTH_LIMIT, Scanner};

/// Scans a message with full validation, and finds the id, the method and the parameters.
///
/// # Panics
/// It is no request.
#[inline(never)]
pub fn scan(text: &[u8]) -> usize {
    let mut scanner = Scanner::new(DEPTH_LIMIT);
    scanner.feed(text);
    let envelope = scanner.finish().expect("valid");
    let [id, method, params] =
        [envelope.id, envelope.method, envelope.params].map(|it| it.expect("a request").range());
    // The quotes of the method are no part of it.
    id.len() + method.len().saturating_sub(2) + params.len()
}
