//! A call with one argument, and a text as its result.

use mcp_proto::server::Call;

#[derive(serde::Deserialize)]
struct LedSet {
    on: bool,
}

/// A call of 200 bytes with its newline. The response has 100 bytes.
pub(super) const CALL: &[u8] = br#"{"jsonrpc":"2.0","id":12345,"method":"tools/call","params":{"name":"led_set","arguments":{"on":true},"_meta":{"progressToken":12345,"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b716-01"}}}
"#;
const ANSWER: &str = "the LED is on, as told";

pub(super) fn answer(#[allow(unused_mut)] mut call: Call<'_>) {
    #[cfg(not(feature = "core-decoder"))]
    let arguments = call.arguments::<LedSet>();
    #[cfg(feature = "core-decoder")]
    let arguments = mcp_proto_firmware::codec::arguments::<LedSet>(&call, None);
    match arguments {
        Ok(LedSet { on: true }) => call.text(ANSWER),
        _ => call.fail("the LED is broken"),
    }
}
