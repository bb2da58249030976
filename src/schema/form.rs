//! Elicitation forms from structs: the fields of a form, and the decoder of the submitted content.

use serde_core::de::Deserialize;

use crate::buffer::BufferMut;
use crate::json::{Decimal, Json, Kind, TypedError, Writer, decode_in_place};
use crate::protocol::elicitation::result::{ElicitAction, ElicitResultView};
use crate::protocol::input::{Choice, Field, Form};
use crate::schema::Schema;
use crate::schema::node::{Names, Node, Whole};

/// The content of an elicitation form. The derive macro with the same name implements this trait for a struct.
///
/// [`Form::with_content`] creates the form, and [`ElicitResultView::content_in`] decodes the response. With a heap,
/// [`ElicitResultView::content_as`] needs no buffer.
///
/// ```
/// use mcp_proto::FormContent;
/// use mcp_proto::input::{ElicitResultView, Form};
/// use mcp_proto::json::Json;
///
/// #[derive(FormContent)]
/// struct Booking<'a> {
///     #[tool(title = "Your name")]
///     name: &'a str,
///     #[tool(range = 1..=8, default = 2)]
///     seats: u8,
/// }
///
/// static FORM: Form = Form::with_content::<Booking>("Who comes?");
///
/// let response = Json::parse(br#"{"action":"accept","content":{"name":"Ada"}}"#)?;
/// let response = ElicitResultView::from_json(response).unwrap();
/// let mut buffer = [0; 256];
/// let booking: Booking = response.content_in(&mut buffer)?.unwrap();
/// assert_eq!((booking.name, booking.seats), ("Ada", 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Specification: *Elicitation*, *Requested schema*.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the content of a form",
    note = "derive `FormContent` for it: it must be a struct with named fields"
)]
pub trait FormContent: Schema {
    /// The fields of the form.
    const FIELDS: &'static [Field<'static>];
}

impl<'a> Form<'a> {
    /// Creates a form with the fields of `T`.
    #[must_use]
    pub const fn with_content<T: FormContent>(message: &'a str) -> Form<'a> {
        Form::new(message, T::FIELDS)
    }
}

impl ElicitResultView<'_> {
    /// Decodes the content of a submitted form. Returns `None` if the user declined, or dismissed the request.
    ///
    /// Strings borrow from `buffer`, which needs the length of the content plus two bytes for each member. In a
    /// multiple-choice field, a single string counts as a list of one choice, because older clients send a string.
    ///
    /// # Errors
    /// The content does not fit the form, or `buffer` is too short. If the content does not fit the form, the client or
    /// its user is at fault. The application may then send the form again, or respond with an error.
    pub fn content_in<'b, T>(&self, buffer: &'b mut [u8]) -> Result<Option<T>, TypedError>
    where
        T: FormContent + Deserialize<'b>,
    {
        if self.action() != ElicitAction::Accept {
            return Ok(None);
        }
        let mut out = Writer::new(BufferMut::Lent(&mut *buffer), 0, usize::MAX);
        write_content(self.content(), T::FIELDS, &mut out);
        match out.finish().and_then(|end| buffer.get_mut(..end)) {
            Some(text) => decode_in_place(text).map(Some),
            None => Err(TypedError::new(&"the content is longer than the buffer")),
        }
    }

    /// Decodes the content of a submitted form, like [`content_in`](ElicitResultView::content_in).
    ///
    /// # Errors
    /// The content does not fit the form.
    #[cfg(feature = "alloc")]
    pub fn content_as<T>(&self) -> Result<Option<T>, TypedError>
    where
        T: FormContent + serde_core::de::DeserializeOwned,
    {
        let members = self.content().members().count();
        let length = members.saturating_mul(2).saturating_add(self.content().bytes().len());
        self.content_in(&mut alloc::vec![0; length])
    }
}

/// Writes the content. If the value of a multiple-choice field is a string, writes an array that contains the string.
fn write_content(content: Json<'_>, fields: &[Field<'_>], out: &mut Writer<'_>) {
    out.begin_object();
    for (name, value) in content.members() {
        out.members("\"");
        out.token(name.raw());
        out.token("\":");
        let is_list = fields.iter().any(|field| field.has_choices() && name == *field.name());
        if is_list && value.kind() == Kind::String {
            out.begin_array();
            out.json(value);
            out.end_array();
        } else {
            out.json(value);
        }
    }
    out.end_object();
}

// The compiler evaluates the following functions for derived types. A panic is therefore a compile error.

/// Returns the enumeration of a single-choice or multiple-choice field. Returns `None` for any other field.
const fn names(node: &Node) -> Option<&'static Names> {
    match node.inner() {
        Node::Names(names) => Some(names),
        Node::Array { items, .. } => match items.inner() {
            Node::Names(names) => Some(names),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the number of choices of a field, or zero for a field without choices.
#[must_use]
pub const fn choice_count(node: &Node) -> usize {
    match names(node) {
        Some(names) => names.names.len(),
        None => 0,
    }
}

/// Returns the choices of a field. `COUNT` must be the [number of choices](choice_count).
#[must_use]
#[expect(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "evaluated only at compile time"
)]
pub const fn choices<const COUNT: usize>(node: &Node) -> [Choice<'static>; COUNT] {
    let mut choices = [Choice::new(""); COUNT];
    if let Some(names) = names(node) {
        let mut index = 0;
        while index < COUNT {
            let (choice, title) = (Choice::new(names.names[index]), names.descriptions[index]);
            choices[index] = if title.is_empty() { choice } else { choice.title(title) };
            index += 1;
        }
    }
    choices
}

/// Returns the form field for a struct field with this node.
///
/// # Panics
/// The field has a type or a format that a form does not support. The panic is a compile error.
#[must_use]
#[expect(clippy::panic, reason = "the panic occurs only at compile time")]
pub const fn form_field(
    name: &'static str,
    node: &'static Node,
    choices: &'static [Choice<'static>],
    has_default: bool,
) -> Field<'static> {
    let field = match node.inner() {
        Node::String { shortest, longest } => {
            text(name, node).length(count(shortest), longest_count(longest))
        }
        Node::Integer { minimum, maximum } => Field::integer(name).range(bound(minimum), bound(maximum)),
        Node::Number { .. } => {
            let [minimum, maximum] = node.inner().decimal_range();
            Field::number(name).range(minimum, maximum)
        }
        Node::Boolean => Field::boolean(name),
        Node::Names(_) => Field::choice(name, choices),
        Node::Array { fewest, most, .. } if !choices.is_empty() => {
            Field::choices(name, choices).length(count(fewest), longest_count(most))
        }
        _ => panic!("a form has only strings, numbers, booleans, enumerations and lists of enumerations"),
    };
    if has_default || node.is_optional() { field } else { field.required() }
}

#[expect(clippy::panic, reason = "the panic occurs only at compile time")]
const fn text(name: &'static str, node: &Node) -> Field<'static> {
    match node.format() {
        None => Field::text(name),
        Some(format) => match Field::text_with_format(name, format) {
            Some(field) => field,
            None => panic!("the formats of a form are email, uri, date and date-time"),
        },
    }
}

const fn count(count: usize) -> Option<u32> {
    if count > 0 { longest_count(Some(count)) } else { None }
}

#[expect(clippy::as_conversions, reason = "evaluated only at compile time, and `From` is not constant")]
const fn longest_count(count: Option<usize>) -> Option<u32> {
    match count {
        Some(count) if count <= u32::MAX as usize => Some(count as u32),
        _ => None,
    }
}

/// Limit of the magnitude of a bound in a form. A form omits a bound that reaches the limit, because such a bound is
/// usually the minimum or maximum of a type such as `i64`.
const BOUND_LIMIT: u128 = 1 << 53;

#[expect(clippy::as_conversions, reason = "evaluated only at compile time, and `From` is not constant")]
#[expect(clippy::arithmetic_side_effects, reason = "the value is small")]
const fn bound(bound: Whole) -> Option<Decimal> {
    match bound.magnitude() {
        magnitude @ 0..BOUND_LIMIT if bound.is_negative() => Some(Decimal::new(-(magnitude as i64), 0)),
        magnitude @ 0..BOUND_LIMIT => Some(Decimal::new(magnitude as i64, 0)),
        _ => None,
    }
}
