//! Typed values as text of their own, on the heap.

use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use super::encode::EncodeError;
use super::write::Writer;
use crate::buffer::Room;

/// Any value with serde's `Serialize` as JSON text, as [`Writer::serialize`] writes it.
///
/// ```
/// let text = mcp_proto::json::to_string(&[("a", 1)])?;
/// assert_eq!(text, r#"[["a",1]]"#);
/// # Ok::<(), mcp_proto::json::EncodeError>(())
/// ```
///
/// # Errors
/// The value has no JSON form, or the heap is exhausted.
pub fn to_string<T: Serialize + ?Sized>(value: &T) -> Result<String, EncodeError> {
    let mut bytes = Vec::new();
    let room = Room::Grown { bytes: &mut bytes, limit: usize::MAX };
    let mut writer = Writer::new(room, 0, usize::MAX);
    writer.serialize(value)?;
    let length = writer.len();
    bytes.truncate(length);
    String::from_utf8(bytes).map_err(|_| EncodeError::Invalid)
}
