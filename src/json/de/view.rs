//! Decodes the value of a view.

use super::error_kind::ErrorKind;
use super::{TypedError, decode_in_place};
use crate::json::value::Json;
use serde_core::de::Deserialize;

impl Json<'_> {
    /// Decodes the value into a type that borrows its strings from `buffer`. The text of the value must fit into
    /// `buffer`.
    ///
    /// ```
    /// use mcp_proto::json::Json;
    ///
    /// let json = Json::parse(br#"{"labels":["a\tb","c"]}"#)?;
    /// let mut buffer = [0; 64];
    /// let labels: [&str; 2] = json.get("labels").unwrap().decode_in(&mut buffer)?;
    /// assert_eq!(labels, ["a\tb", "c"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The value does not fit the type, or the text is longer than `buffer`.
    pub fn decode_in<'b, T: Deserialize<'b>>(self, buffer: &'b mut [u8]) -> Result<T, TypedError> {
        match buffer.get_mut(..self.bytes().len()) {
            Some(text) => {
                text.copy_from_slice(self.bytes());
                decode_in_place(text)
            }
            None => Err(ErrorKind::Message("the value is longer than the buffer").into()),
        }
    }

    /// Decodes the value into a type that borrows nothing.
    ///
    /// ```
    /// use mcp_proto::json::Json;
    ///
    /// let json = Json::parse(br#"{"levels":[1,2]}"#)?;
    /// let levels: Vec<u8> = json.get("levels").unwrap().decode()?;
    /// assert_eq!(levels, [1, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The value does not fit the type.
    #[cfg(feature = "alloc")]
    pub fn decode<T: serde_core::de::DeserializeOwned>(self) -> Result<T, TypedError> {
        decode_in_place(&mut alloc::vec::Vec::from(self.bytes()))
    }
}
