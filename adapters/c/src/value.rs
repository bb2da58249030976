//! Functions that read values from JSON text: `mcp_json_…`.
#![allow(unsafe_code)]

use core::ffi::c_char;

use mcp_proto::json::Json;

use crate::event::mcp_text_t;
use crate::json::{copy_string, find, fixed, integer};
use crate::memory::{filled, slice, string, write};
use crate::status::mcp_status_t;

/// Reads the integer at `path` in a JSON text, such as the arguments of a call. `100`, `100.0` and `1e2` are the same
/// integer.
///
/// `path` has names of members and indices of elements, separated by dots, such as `points.0.x`. Each function
/// `mcp_json_…` parses the whole text, so the time of a call grows with the length of the text.
///
/// Errors: `MCP_ERROR_MISSING` if there is no value at the path, or the value is `null`; `MCP_ERROR_TYPE` if the value
/// is not an integer of 64 bits, or `json` is not JSON.
///
/// # Safety
/// `json` is a text that does not change. `path` is a string. `out` points to an integer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_json_int(json: mcp_text_t, path: *const c_char, out: *mut i64) -> mcp_status_t {
    // SAFETY: the caller promises the same requirements.
    unsafe { read(json, path, out, integer) }
}

/// Reads a number, multiplied by ten to the power of `digits`. If `digits` is 1, 21.5 is 215. Further digits are cut
/// off.
///
/// Errors: `MCP_ERROR_MISSING`; `MCP_ERROR_TYPE` if the value is not a number, the product does not fit, or `json` is
/// not JSON.
///
/// # Safety
/// `json` is a text that does not change. `path` is a string. `out` points to an integer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_json_fixed(
    json: mcp_text_t,
    path: *const c_char,
    digits: u8,
    out: *mut i64,
) -> mcp_status_t {
    // SAFETY: the caller promises the same requirements.
    unsafe { read(json, path, out, |json, path| fixed(json, path, digits)) }
}

/// Reads a boolean.
///
/// Errors: `MCP_ERROR_MISSING`; `MCP_ERROR_TYPE` if the value is not `true` or `false`, or `json` is not JSON.
///
/// # Safety
/// `json` is a text that does not change. `path` is a string. `out` points to a boolean.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_json_bool(
    json: mcp_text_t,
    path: *const c_char,
    out: *mut bool,
) -> mcp_status_t {
    let boolean =
        |json: Json<'_>, path: &str| find(json, path)?.boolean().ok_or(mcp_status_t::MCP_ERROR_TYPE);
    // SAFETY: the caller promises the same requirements.
    unsafe { read(json, path, out, boolean) }
}

/// Copies a string into `buffer`, with a final zero byte.
///
/// `length` receives the length in bytes without the final zero byte, or is NULL. The string is UTF-8, and may contain
/// zero bytes, which the peer wrote as `\u0000`.
///
/// Errors: `MCP_ERROR_MISSING`; `MCP_ERROR_TYPE` if the value is not a string, or `json` is not JSON; `MCP_ERROR_SPACE`
/// if `size` bytes are not enough. After an error, the content of the buffer is unspecified.
///
/// # Safety
/// `json` is a text that does not change. `path` is a string. `buffer` points to `size` bytes, and is not part of
/// `json`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_json_string(
    json: mcp_text_t,
    path: *const c_char,
    buffer: *mut c_char,
    size: usize,
    length: *mut usize,
) -> mcp_status_t {
    // SAFETY: the caller promises `size` bytes.
    let buffer = unsafe { filled(buffer.cast::<u8>(), size, 0) };
    // SAFETY: the caller promises the same requirements.
    unsafe { read(json, path, length, |json, path| copy_string(json, path, buffer?)) }
}

/// Finds a value, and writes its JSON text to `out`. This text is a part of the memory of `json`. An empty path finds
/// the whole text.
///
/// Errors: `MCP_ERROR_MISSING`; `MCP_ERROR_TYPE` if `json` is not JSON.
///
/// # Safety
/// `json` is a text that does not change. `path` is a string. `out` points to a text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_json_get(
    json: mcp_text_t,
    path: *const c_char,
    out: *mut mcp_text_t,
) -> mcp_status_t {
    let value = |json: Json<'_>, path: &str| find(json, path).map(|value| mcp_text_t::new(value.raw()));
    // SAFETY: the caller promises the same requirements.
    unsafe { read(json, path, out, value) }
}

/// Reads a value, and writes it to `out`.
///
/// # Safety
/// `json` is a text that does not change. `path` is a string. `out` is NULL or points to space for the value.
unsafe fn read<T>(
    json: mcp_text_t,
    path: *const c_char,
    out: *mut T,
    read: impl FnOnce(Json<'_>, &str) -> Result<T, mcp_status_t>,
) -> mcp_status_t {
    // SAFETY: the caller promises a text.
    let json = unsafe { slice(json.text.cast::<u8>(), json.length) };
    // SAFETY: the caller promises a string.
    let value = unsafe { string(path) }.and_then(|path| match Json::parse(json?) {
        Ok(json) => read(json, path),
        Err(_) => Err(mcp_status_t::MCP_ERROR_TYPE),
    });
    // SAFETY: the caller promises space for the value.
    mcp_status_t::from(value.map(|value| unsafe { write(out, value) }))
}
