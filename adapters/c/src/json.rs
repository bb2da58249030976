//! Finds values in a JSON text by their path, without building a tree.

use mcp_proto::Decimal;
use mcp_proto::json::{Json, Kind};

use crate::status::mcp_status_t;

/// Finds the value at a path. The path consists of names of members and indices of elements, separated by dots. An
/// empty path finds the whole text.
///
/// # Errors
/// `MCP_ERROR_MISSING`: there is no value at the path, or the value is `null`.
pub(crate) fn find<'a>(json: Json<'a>, path: &str) -> Result<Json<'a>, mcp_status_t> {
    let mut value = Some(json);
    let mut rest = (!path.is_empty()).then_some(path);
    while let (Some(container), Some(path)) = (value, rest) {
        let (name, tail) = split(path);
        value = match container.kind() {
            Kind::Array => index(name).and_then(|index| container.index(index)),
            _ => container.get(name),
        };
        rest = tail;
    }
    value.filter(|value| !value.is_null()).ok_or(mcp_status_t::MCP_ERROR_MISSING)
}

/// Splits a path into the first name and the rest after the first dot. The rest is `None` if the path has no dot.
/// `str::split_once` would link more code.
fn split(path: &str) -> (&str, Option<&str>) {
    let dot = path.bytes().position(|byte| byte == b'.');
    let parts = dot.and_then(|dot| Some((path.get(..dot)?, path.get(dot + 1..))));
    parts.unwrap_or((path, None))
}

/// Parses the index of an element. Returns `None` if the text is not an index. `str::parse` would link more code.
fn index(digits: &str) -> Option<usize> {
    Json::parse(digits.as_bytes()).ok()?.unsigned()?.try_into().ok()
}

/// Returns the integer at a path, in any notation: `100`, `100.0` and `1e2` are equal.
///
/// # Errors
/// `MCP_ERROR_MISSING`: see [`find`]. `MCP_ERROR_TYPE`: the value is not an integer, or does not fit into an `i64`.
pub(crate) fn integer(json: Json<'_>, path: &str) -> Result<i64, mcp_status_t> {
    find(json, path)?.number().and_then(whole).ok_or(mcp_status_t::MCP_ERROR_TYPE)
}

/// Returns the value of a JSON number. Returns `None` if the value has a fraction, or does not fit into an `i64`.
fn whole(number: &str) -> Option<i64> {
    // `magnitude` has the digits so far, up to the last nonzero digit. `pending` counts the zeros after that digit.
    let (mut magnitude, mut pending) = (0, 0i32);
    // `fraction` is 1 after the point, and 0 before it. `zeros` is minus the number of digits after the point. `sign`
    // is the sign of the exponent `power`, and 0 before the exponent.
    let (mut fraction, mut zeros, mut sign, mut power) = (0, 0i32, 0, 0i32);
    for byte in number.bytes() {
        let digit = byte.wrapping_sub(b'0');
        match byte {
            b'.' => fraction = 1,
            b'e' | b'E' => sign = 1,
            b'-' => sign = -sign,
            b'+' => {}
            _ if sign != 0 => {
                if power < 100_000_000 {
                    power = power.wrapping_mul(10).wrapping_add(digit.into());
                }
            }
            _ => {
                zeros = zeros.wrapping_sub(fraction);
                pending = pending.wrapping_add(1);
                if digit != 0 {
                    magnitude = scale(magnitude, pending)?.checked_add(digit.into())?;
                    pending = 0;
                }
            }
        }
    }
    let zeros = zeros.wrapping_add(pending).wrapping_add(power.wrapping_mul(sign));
    if zeros < 0 && magnitude != 0 {
        return None;
    }
    let magnitude = scale(magnitude, zeros)?;
    if number.starts_with('-') { 0i64.checked_sub_unsigned(magnitude) } else { magnitude.try_into().ok() }
}

/// Multiplies `value` by ten to the power of `zeros`. Returns `None` if the product does not fit into a `u64`. If
/// `zeros` is negative, returns `value`. `checked_mul` would take more flash.
#[inline(never)]
fn scale(mut value: u64, mut zeros: i32) -> Option<u64> {
    while zeros > 0 && value != 0 {
        if value > u64::MAX / 10 {
            return None;
        }
        value = value.wrapping_mul(10);
        zeros = zeros.wrapping_sub(1);
    }
    Some(value)
}

/// Returns the number at a path, multiplied by ten to the power of `digits`. Discards the fraction of the product.
///
/// # Errors
/// `MCP_ERROR_MISSING`: see [`find`]. `MCP_ERROR_TYPE`: the value is not a number, or the product does not fit into an
/// `i64`.
pub(crate) fn fixed(json: Json<'_>, path: &str, digits: u8) -> Result<i64, mcp_status_t> {
    let number = find(json, path)?.number().and_then(Decimal::parse).ok_or(mcp_status_t::MCP_ERROR_TYPE)?;
    let (mut scaled, mut exponent) = (number.mantissa(), i32::from(number.exponent()) + i32::from(digits));
    while exponent > 0 && scaled != 0 {
        scaled = scaled.checked_mul(10).ok_or(mcp_status_t::MCP_ERROR_TYPE)?;
        exponent -= 1;
    }
    while exponent < 0 && scaled != 0 {
        scaled /= 10;
        exponent += 1;
    }
    Ok(scaled)
}

/// Copies the string at a path into `buffer`, and adds a zero byte. Returns the length of the string without this zero
/// byte.
///
/// # Errors
/// `MCP_ERROR_MISSING`: see [`find`]. `MCP_ERROR_TYPE`: the value is not a string. `MCP_ERROR_SPACE`: the buffer is too
/// small.
pub(crate) fn copy_string(json: Json<'_>, path: &str, buffer: &mut [u8]) -> Result<usize, mcp_status_t> {
    let text = find(json, path)?.string().ok_or(mcp_status_t::MCP_ERROR_TYPE)?;
    let Some((_, space)) = buffer.split_last_mut() else { return Err(mcp_status_t::MCP_ERROR_SPACE) };
    let length = text.copy_to(space).map_err(|_| mcp_status_t::MCP_ERROR_SPACE)?.len();
    if let Some(end) = buffer.get_mut(length) {
        *end = 0;
    }
    Ok(length)
}
