//! Decodes the texts of prompt arguments, template variables and completions into typed values.
//!
//! These values are texts on the wire. The functions write each text as JSON into a [`Space`]: numbers and booleans
//! have no quotes. The decoder of tool arguments then decodes the JSON.

#[cfg(feature = "alloc")]
use alloc::vec::Vec;

use serde_core::Deserialize;

use crate::buffer::BufferMut;
use crate::json::{Json, Kind, Str, TypedError, WriteBody, WriteText, Writer, decode_in_place};
use crate::protocol::uri_template;
use crate::schema::arguments::ToolArguments;
use crate::schema::{Fields, Node};
use crate::server::features::completion::Complete;
use crate::server::features::get_prompt::GetPrompt;
use crate::server::features::read_resource::ReadResource;

/// Memory for decoded texts. With the feature `alloc`, the memory grows. Without `alloc`, the memory has `N` bytes.
#[derive(Debug)]
pub struct Space<const N: usize> {
    #[cfg(feature = "alloc")]
    bytes: Vec<u8>,
    #[cfg(not(feature = "alloc"))]
    bytes: [u8; N],
}

impl<const N: usize> Space<N> {
    /// Creates the memory.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "only generated code creates it")]
    pub const fn new() -> Space<N> {
        Space {
            #[cfg(feature = "alloc")]
            bytes: Vec::new(),
            #[cfg(not(feature = "alloc"))]
            bytes: [0; N],
        }
    }

    /// Returns the JSON that `body` writes. Returns `None` if the JSON does not fit.
    fn write(&mut self, body: &mut dyn WriteBody) -> Option<&mut [u8]> {
        #[cfg(feature = "alloc")]
        let buffer = BufferMut::Grown { bytes: &mut self.bytes, limit: usize::MAX };
        #[cfg(not(feature = "alloc"))]
        let buffer = BufferMut::Lent(&mut self.bytes);
        let mut out = Writer::new(buffer, 0, usize::MAX);
        body.write(&mut out);
        let end = out.finish()?;
        self.bytes.get_mut(..end)
    }
}

/// The JSON type of a value that is a text on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scalar {
    /// A string, including a name of an enumeration.
    Text,
    /// A number.
    Number,
    /// A boolean.
    Boolean,
}

impl Scalar {
    /// Returns the JSON type of the values that a node describes.
    ///
    /// # Panics
    /// The node describes neither a string, a number, a boolean nor an enumeration of names. The panic is a compile
    /// error.
    #[must_use]
    #[expect(clippy::panic, reason = "the panic occurs only at compile time")]
    pub const fn new(node: &Node) -> Scalar {
        match node.inner() {
            Node::Boolean => Scalar::Boolean,
            Node::Integer { .. } | Node::Number { .. } => Scalar::Number,
            Node::String { .. } | Node::Names(_) => Scalar::Text,
            _ => panic!(
                "the value is a text on the wire: it must be a string, a number, a boolean or an enumeration"
            ),
        }
    }

    /// Writes a text as JSON of this type. If this type is not `Text`, a text that is too long or of another type stays
    /// a string, which the decoder refuses. `short` is the text, or `None` if the text has more than `SHORT` bytes.
    fn write(self, out: &mut Writer<'_>, text: &dyn WriteText, short: Option<&str>) {
        let kind = match self {
            Scalar::Text => return out.display(text),
            Scalar::Number => Kind::Number,
            Scalar::Boolean => Kind::Bool,
        };
        match short.and_then(|text| Json::parse(text.as_bytes()).ok()).filter(|value| value.kind() == kind) {
            Some(value) => out.json(value),
            None => out.display(text),
        }
    }
}

/// Maximum length of a text that is decoded as a number or a boolean, in bytes.
const SHORT: usize = 48;

/// The types of the arguments of a prompt, by name.
pub type Scalars = [(&'static str, Scalar)];

/// Returns the types of the first `N` members of an object. Panics at compile time if the object has fewer members, or
/// if [`Scalar::new`] panics for one of these members.
#[must_use]
#[expect(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "evaluated only at compile time"
)]
pub const fn scalars<const N: usize>(fields: &Fields) -> [(&'static str, Scalar); N] {
    let mut scalars = [("", Scalar::Text); N];
    let mut index = 0;
    while index < N {
        let field = &fields.fields[index];
        scalars[index] = (field.name, Scalar::new(field.node));
        index += 1;
    }
    scalars
}

/// Decodes the arguments of a prompt. An argument with the value `null` counts as absent.
///
/// # Errors
/// The arguments do not match `T`, or do not fit into `space`.
pub fn arguments<'s, T: ToolArguments + Deserialize<'s>, const N: usize>(
    request: &GetPrompt<'_>,
    scalars: &Scalars,
    space: &'s mut Space<N>,
) -> Result<T, TypedError> {
    let given = request.raw_arguments();
    match space.write(&mut |out: &mut Writer<'_>| write_arguments(given, scalars, out)) {
        Some(json) => decode_in_place(json),
        None => Err(TypedError::new(&"the arguments are too long")),
    }
}

fn write_arguments(given: Json<'_>, scalars: &Scalars, out: &mut Writer<'_>) {
    out.begin_object();
    for (name, value) in given.members() {
        // `Prompts::stringify` accepts numbers and booleans, whose JSON text has no escapes.
        let text = match value.kind() {
            Kind::Null => continue,
            Kind::String => value.string().unwrap_or(Str::trusted(b"")),
            _ => Str::trusted(value.bytes()),
        };
        let scalar = scalars.iter().find(|(known, _)| name == **known);
        let scalar = scalar.map_or(Scalar::Text, |(_, scalar)| *scalar);
        out.key_display(&name);
        scalar.write(out, &text, text.copy_to(&mut [0; SHORT]).ok());
    }
    out.end_object();
}

/// Decodes the value of a template's variable. Returns `None` if the URI lacks the variable. Also returns `None` if
/// the value is not UTF-8, does not match `T`, or does not fit into `space`.
pub fn variable<'s, T: Deserialize<'s>, const N: usize>(
    template: &str,
    request: &ReadResource<'_>,
    name: &str,
    scalar: Scalar,
    space: &'s mut Space<N>,
) -> Option<T> {
    let value = uri_template::value_of(template, request.uri(), name)?;
    let (mut is_text, mut bytes) = (true, value.bytes());
    // The pieces have U+FFFD in place of bytes that are not UTF-8.
    value.pieces(&mut |piece| is_text &= piece.bytes().all(|byte| bytes.next() == Some(byte)));
    let json = space
        .write(&mut |out: &mut Writer<'_>| scalar.write(out, &value, value.copy_to(&mut [0; SHORT]).ok()))?;
    decode_in_place(json).ok().filter(|_| is_text)
}

/// Decodes the text that a user has typed. Returns `None` if the text does not fit into `space`.
pub fn typed<'s, const N: usize>(request: &Complete<'_>, space: &'s mut Space<N>) -> Option<&'s str> {
    let value = request.value();
    decode_in_place(space.write(&mut |out: &mut Writer<'_>| out.text(value))?).ok()
}
