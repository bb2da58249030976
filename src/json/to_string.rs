//! Serializes values to a `String`.

use alloc::string::String;
use alloc::vec::Vec;

use serde_core::ser::Serialize;

use super::ser::EncodeError;
use super::writer::Writer;
use crate::buffer::BufferMut;

/// The initial length of the buffer.
const CAPACITY: usize = 128;

/// Serializes any value that implements serde's `Serialize` to JSON text, like [`Writer::serialize`].
///
/// ```
/// let text = mcp_proto::json::to_string(&[("a", 1)])?;
/// assert_eq!(text, r#"[["a",1]]"#);
/// # Ok::<(), mcp_proto::json::EncodeError>(())
/// ```
///
/// # Errors
/// Returns an error if the value has no JSON form, if the `Serialize` of the value fails, or if the buffer cannot grow.
pub fn to_string<T: Serialize + ?Sized>(value: &T) -> Result<String, EncodeError> {
    // Most texts are short, and a `Buffer` would start with a much larger allocation.
    let mut bytes = Vec::with_capacity(CAPACITY);
    // Fill the buffer with spaces: with zeros, the compiler would request zeroed memory from the allocator, which takes
    // longer.
    bytes.resize(CAPACITY, b' ');
    let buffer = BufferMut::Grown { bytes: &mut bytes, limit: usize::MAX };
    let mut writer = Writer::new(buffer, 0, usize::MAX);
    writer.serialize(value)?;
    let length = writer.len();
    bytes.truncate(length);
    String::from_utf8(bytes).map_err(|_| EncodeError::Invalid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_encoded_and_invalid_key_is_an_error() {
        let long = "\u{fc}\n".repeat(10_000);
        assert_eq!(to_string(&long).unwrap(), serde_json::to_string(&long).unwrap());
        assert_eq!(to_string(&[(1, None::<u8>)]).as_deref(), Ok("[[1,null]]"));
        let keys = std::collections::BTreeMap::from([((1, 2), 3)]);
        assert_eq!(to_string(&keys), Err(EncodeError::Invalid));
    }
}
