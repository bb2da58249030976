//! Values of a JSON text by their path, without a tree.

use mcp_proto::Decimal;
use mcp_proto::json::{Json, Kind};

use crate::status::mcp_status_t;

/// Finds the value at a path: names of members and indices of elements, separated by dots. An empty path is the whole
/// text.
///
/// # Errors
/// `MCP_ERROR_MISSING`: there is no such value, or the value is `null`.
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

/// Splits a path into the first name and the rest after the dot. `str::split_once` would link more code.
fn split(path: &str) -> (&str, Option<&str>) {
    let dot = path.bytes().position(|byte| byte == b'.');
    let parts = dot.and_then(|dot| Some((path.get(..dot)?, path.get(dot + 1..))));
    parts.unwrap_or((path, None))
}

/// Parses the index of an element. Returns `None` if the text is no index. `str::parse` would link more code.
fn index(digits: &str) -> Option<usize> {
    Json::parse(digits.as_bytes()).ok()?.unsigned()?.try_into().ok()
}

/// Returns the number at a path, multiplied by ten to the power of `digits`. Discards the remaining fraction.
///
/// # Errors
/// `MCP_ERROR_MISSING`. `MCP_ERROR_TYPE`: the value is not a number, or the product does not fit.
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

/// Copies the string at a path with a final zero byte. Returns the length of the string without that byte.
///
/// # Errors
/// `MCP_ERROR_MISSING`. `MCP_ERROR_TYPE`: the value is not a string. `MCP_ERROR_SPACE`: the buffer is too small.
pub(crate) fn copy_string(json: Json<'_>, path: &str, buffer: &mut [u8]) -> Result<usize, mcp_status_t> {
    let text = find(json, path)?.string().ok_or(mcp_status_t::MCP_ERROR_TYPE)?;
    let Some((_, space)) = buffer.split_last_mut() else { return Err(mcp_status_t::MCP_ERROR_SPACE) };
    let length = text.copy_to(space).map_err(|_| mcp_status_t::MCP_ERROR_SPACE)?.len();
    if let Some(end) = buffer.get_mut(length) {
        *end = 0;
    }
    Ok(length)
}
