//! Conversion of C pointers to strings and slices, and writes to out parameters.
#![allow(unsafe_code)]

use core::ffi::{CStr, c_char};
use core::mem::MaybeUninit;

use crate::status::mcp_status_t;

/// Returns the string at `text`.
///
/// # Errors
/// `MCP_ERROR_NULL`: `text` is NULL. `MCP_ERROR_UTF8`: the string is not valid UTF-8.
///
/// # Safety
/// `text` is NULL, or points to a string that ends with a zero byte, and that stays valid and unchanged for `'a`.
pub(crate) unsafe fn string<'a>(text: *const c_char) -> Result<&'a str, mcp_status_t> {
    if text.is_null() {
        return Err(mcp_status_t::MCP_ERROR_NULL);
    }
    // SAFETY: the caller promises a string that ends with a zero byte, and stays valid and unchanged.
    let bytes = unsafe { CStr::from_ptr(text) }.to_bytes();
    core::str::from_utf8(bytes).map_err(|_| mcp_status_t::MCP_ERROR_UTF8)
}

/// Returns the string at `text`, or `None` for NULL.
///
/// # Errors
/// `MCP_ERROR_UTF8`: the string is not valid UTF-8.
///
/// # Safety
/// The requirements of [`string`].
pub(crate) unsafe fn optional_string<'a>(text: *const c_char) -> Result<Option<&'a str>, mcp_status_t> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller promises what `string` requires.
    unsafe { string(text) }.map(Some)
}

/// Checks that the pointer is not NULL.
///
/// # Errors
/// `MCP_ERROR_NULL`: the pointer is NULL.
pub(crate) fn check_not_null<T>(pointer: *const T) -> Result<(), mcp_status_t> {
    if pointer.is_null() { Err(mcp_status_t::MCP_ERROR_NULL) } else { Ok(()) }
}

/// Returns a C array as a slice.
///
/// # Errors
/// `MCP_ERROR_NULL`: the array is NULL, and `count` is not 0. NULL with a count of 0 is an empty array.
///
/// # Safety
/// `first` is NULL, or is aligned and points to `count` values that stay valid and unchanged for `'a`.
pub(crate) unsafe fn slice<'a, T>(first: *const T, count: usize) -> Result<&'a [T], mcp_status_t> {
    if count == 0 {
        return Ok(&[]);
    }
    check_not_null(first)?;
    // SAFETY: the caller promises an array of this length.
    Ok(unsafe { core::slice::from_raw_parts(first, count) })
}

/// Fills a C buffer with `value`, and returns the buffer as a slice.
///
/// # Errors
/// `MCP_ERROR_NULL`: the buffer is NULL, and `count` is not 0. NULL with a count of 0 is an empty buffer.
///
/// # Safety
/// `first` is NULL, or is aligned and points to space for `count` values, which nothing else uses for `'a`.
pub(crate) unsafe fn filled<'a, T: Copy>(
    first: *mut T,
    count: usize,
    value: T,
) -> Result<&'a mut [T], mcp_status_t> {
    if count == 0 {
        return Ok(&mut []);
    }
    check_not_null(first)?;
    // SAFETY: the caller promises space for this number of values.
    let space = unsafe { core::slice::from_raw_parts_mut(first.cast::<MaybeUninit<T>>(), count) };
    for place in &mut *space {
        place.write(value);
    }
    // SAFETY: the loop has written all values.
    Ok(unsafe { core::slice::from_raw_parts_mut(first, count) })
}

/// Writes an out parameter. Does nothing if the pointer is NULL.
///
/// # Safety
/// `to` is NULL, or is aligned and points to space for the value.
pub(crate) unsafe fn write<T>(to: *mut T, value: T) {
    if !to.is_null() {
        // SAFETY: the caller promises space for the value.
        unsafe { to.write(value) };
    }
}
