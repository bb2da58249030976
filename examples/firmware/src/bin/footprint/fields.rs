//! A call with seven arguments, and a structured result.

use mcp_proto::server::Call;
use serde::{Deserialize, Serialize};

#[derive(Deserialize)]
struct Settings<'a> {
    label: &'a str,
    level: u8,
    offset: i32,
    mode: Mode,
    limits: [u16; 3],
    until: Option<u32>,
    on: bool,
}

#[derive(Clone, Copy, Deserialize, Serialize)]
enum Mode {
    Slow,
    Fast,
}

#[derive(Serialize)]
struct Report<'a> {
    state: &'a str,
    level: u8,
    readings: [i32; 4],
    mode: Mode,
    next: Option<u32>,
    on: bool,
}

/// A call with its newline. The name of one member has an escape.
pub(super) const CALL: &[u8] = br#"{"jsonrpc":"2.0","id":12345,"method":"tools/call","params":{"name":"led_set","arguments":{"label":"kitchen","lev\u0065l":200,"offset":-40000,"mode":"Fast","limits":[1,500,65535],"until":null,"on":true}}}
"#;

pub(super) fn answer(#[allow(unused_mut)] mut call: Call<'_>) {
    #[cfg(not(feature = "core-decoder"))]
    let arguments = call.arguments::<Settings<'_>>();
    #[cfg(feature = "core-decoder")]
    let mut escapes = [0; 32];
    #[cfg(feature = "core-decoder")]
    let arguments = mcp_proto_firmware::codec::arguments::<Settings<'_>>(&call, Some(&mut escapes));
    let Ok(Settings { label, level, offset, mode, limits: [least, middle, most], until, on }) = arguments
    else {
        return call.fail("the LED is broken");
    };
    let report = Report {
        state: "waiting for \"on\"",
        level,
        readings: [offset, least.into(), middle.into(), most.into()],
        mode,
        next: until.or(u32::try_from(label.len()).ok()),
        on,
    };
    #[cfg(not(feature = "core-encoder"))]
    call.structured(&report);
    #[cfg(feature = "core-encoder")]
    mcp_proto_firmware::codec::structured(call, &report);
}
