//! Functions that read values from JSON text: `mcp_json_…`.
#![allow(unsafe_code)]

use core::ffi::c_char;

use mcp_proto::json::Json;

use crate::event::mcp_text_t;
use crate::json::{copy_string, find, fixed, integer};
use crate::memory::{check_not_null, filled, slice, string, write};
use crate::status::mcp_status_t;

/// Reads the integer at `path` in a JSON text, such as the arguments of a call. `100`, `100.0` and `1e2` are the same
/// integer.
///
/// `path` consists of names of members and indices of elements, separated by dots: for example, `points.0.x`. An empty
/// path stands for the whole text. Each function `mcp_json_…` parses the whole text, so its running time grows with the
/// length of the text.
///
/// Errors: `MCP_ERROR_MISSING` if there is no value at the path, or the value is `null`; `MCP_ERROR_TYPE` if the value
/// is not an integer, the integer does not fit into `int64_t`, or `json` is not JSON.
///
/// # Safety
/// `json` is a text that does not change during the call. `path` is a string. `out` points to an integer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_json_int(json: mcp_text_t, path: *const c_char, out: *mut i64) -> mcp_status_t {
    // SAFETY: the caller promises what `read` requires.
    unsafe { read(json, path, out, integer) }
}

/// Reads the number at `path`, multiplied by ten to the power of `digits`. The fraction of the product is cut off: if
/// `digits` is 1, the number 21.57 becomes 215.
///
/// Errors: `MCP_ERROR_MISSING` as for `mcp_json_int`; `MCP_ERROR_TYPE` if the value is not a number, the product does
/// not fit into `int64_t`, or `json` is not JSON.
///
/// # Safety
/// `json` is a text that does not change during the call. `path` is a string. `out` points to an integer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_json_fixed(
    json: mcp_text_t,
    path: *const c_char,
    digits: u8,
    out: *mut i64,
) -> mcp_status_t {
    // SAFETY: the caller promises what `read` requires.
    unsafe { read(json, path, out, |json, path| fixed(json, path, digits)) }
}

/// Reads the boolean at `path`.
///
/// Errors: `MCP_ERROR_MISSING` as for `mcp_json_int`; `MCP_ERROR_TYPE` if the value is not `true` or `false`, or `json`
/// is not JSON.
///
/// # Safety
/// `json` is a text that does not change during the call. `path` is a string. `out` points to a boolean.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_json_bool(
    json: mcp_text_t,
    path: *const c_char,
    out: *mut bool,
) -> mcp_status_t {
    let boolean =
        |json: Json<'_>, path: &str| find(json, path)?.boolean().ok_or(mcp_status_t::MCP_ERROR_TYPE);
    // SAFETY: the caller promises what `read` requires.
    unsafe { read(json, path, out, boolean) }
}

/// Copies the string at `path` into `buffer`, and adds a zero byte.
///
/// The copy is UTF-8 without JSON escapes. If `length` is not NULL, it receives the length of the string in bytes,
/// without the added zero byte. The string itself contains a zero byte wherever the peer wrote `\u0000`.
///
/// Errors: `MCP_ERROR_MISSING` as for `mcp_json_int`; `MCP_ERROR_TYPE` if the value is not a string, or `json` is not
/// JSON; `MCP_ERROR_SPACE` if `size` bytes are not enough for the string and the zero byte. After an error, the content
/// of the buffer is unspecified.
///
/// # Safety
/// `json` is a text that does not change during the call. `path` is a string. `buffer` points to `size` bytes
/// outside of `json` and `path`. `length` is NULL or points to an integer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_json_string(
    json: mcp_text_t,
    path: *const c_char,
    buffer: *mut c_char,
    size: usize,
    length: *mut usize,
) -> mcp_status_t {
    // SAFETY: the caller promises `size` bytes that nothing else uses during the call.
    let buffer = unsafe { filled(buffer.cast::<u8>(), size, 0) };
    let mut copied = 0;
    // SAFETY: the caller promises what `read` requires, and that `length` is NULL or points to a number.
    unsafe {
        let status = read(json, path, &mut copied, |json, path| copy_string(json, path, buffer?));
        if status == mcp_status_t::MCP_OK {
            write(length, copied);
        }
        status
    }
}

/// Finds the value at `path`, and writes its JSON text to `out`, without white space around the value.
///
/// The text in `out` is a part of the memory of `json`.
///
/// Errors: `MCP_ERROR_MISSING` as for `mcp_json_int`; `MCP_ERROR_TYPE` if `json` is not JSON.
///
/// # Safety
/// `json` is a text that does not change during the call. `path` is a string. `out` points to an `mcp_text_t`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_json_get(
    json: mcp_text_t,
    path: *const c_char,
    out: *mut mcp_text_t,
) -> mcp_status_t {
    let value = |json: Json<'_>, path: &str| find(json, path).map(|value| mcp_text_t::new(value.raw()));
    // SAFETY: the caller promises what `read` requires.
    unsafe { read(json, path, out, value) }
}

/// Parses `json`, passes its value and `path` to the function `read`, and writes the result to `out`. Fails if a
/// required pointer is NULL, `path` is not UTF-8, `json` is not JSON, or `read` fails.
///
/// # Safety
/// `json` is a text that does not change during the call. `path` is NULL or a string. `out` is NULL or points to space
/// for the value.
unsafe fn read<T>(
    json: mcp_text_t,
    path: *const c_char,
    out: *mut T,
    read: impl FnOnce(Json<'_>, &str) -> Result<T, mcp_status_t>,
) -> mcp_status_t {
    // SAFETY: the caller promises a text that does not change.
    let json = unsafe { slice(json.text.cast::<u8>(), json.length) };
    // SAFETY: the caller promises NULL or a string.
    let path = check_not_null(out).and_then(|()| unsafe { string(path) });
    let value = path.and_then(|path| match Json::parse(json?) {
        Ok(json) => read(json, path),
        Err(_) => Err(mcp_status_t::MCP_ERROR_TYPE),
    });
    // SAFETY: the caller promises space for the value.
    mcp_status_t::from(value.map(|value| unsafe { write(out, value) }))
}
