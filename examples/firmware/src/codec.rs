//! Arguments and results through `serde-json-core`, to compare its cost with that of `mcp-proto`'s decoder and encoder.

use mcp_proto::server::Call;
use serde::{Deserialize, Serialize};
use serde_json_core::de::Deserializer;

/// The maximum length of a result, in bytes.
const MAX_RESULT: usize = 160;

/// Decodes the arguments of a call. The decoder writes strings with escapes into `escapes`. Without `escapes`, strings
/// and member names stay encoded.
///
/// # Errors
///
/// The arguments do not fit the type, or a string does not fit into `escapes`.
pub fn arguments<'a, T: Deserialize<'a>>(
    call: &'a Call<'_>,
    escapes: Option<&mut [u8]>,
) -> Result<T, &'static str> {
    let mut decoder = Deserializer::new(call.raw_arguments().raw().as_bytes(), escapes);
    T::deserialize(&mut decoder).map_err(|_| "the arguments do not fit")
}

/// Responds with structured content, or with a failure if the JSON text does not fit.
pub fn structured<T: Serialize>(call: Call<'_>, value: &T) {
    let mut text = [0; MAX_RESULT];
    let length = serde_json_core::to_slice(value, &mut text).unwrap_or_default();
    match text.get(..length).map(str::from_utf8) {
        Some(Ok(json)) if !json.is_empty() => call.structured_with(|out| _ = out.raw(json)),
        _ => call.fail("the result is too long"),
    }
}
