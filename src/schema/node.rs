//! Schema nodes: a constant tree that describes the values of a type.
//!
//! The description is a tree, because a generic `impl` cannot concatenate string constants, but can refer to other
//! constants.

use crate::json::Decimal;
use crate::protocol::objects::const_text::is_same_text;
use crate::schema::definitions::Definition;

/// The description of a type's values. The JSON Schema is generated from this description.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Node {
    /// Any JSON value.
    Any,
    /// `true` or `false`.
    Boolean,
    /// A number without a fraction.
    Integer {
        /// The minimum.
        minimum: Whole,
        /// The maximum.
        maximum: Whole,
    },
    /// A number, with or without a fraction.
    Number {
        /// The minimum, as JSON text.
        minimum: Option<&'static str>,
        /// The maximum, as JSON text.
        maximum: Option<&'static str>,
    },
    /// A string. The length of a string is its number of characters.
    String {
        /// The minimum number of characters.
        shortest: usize,
        /// The maximum number of characters.
        longest: Option<usize>,
    },
    /// One of several strings.
    Names(&'static Names),
    /// An array.
    Array {
        /// The description of the elements.
        items: &'static Node,
        /// The minimum number of elements.
        fewest: usize,
        /// The maximum number of elements.
        most: Option<usize>,
        /// Whether no two elements are equal.
        unique: bool,
    },
    /// An array with one element for each of these descriptions.
    Tuple(&'static [&'static Node]),
    /// An object.
    Object(&'static Fields),
    /// An object without fixed member names. All values have one type: see [`map`](Node::map).
    Map {
        /// The description of the member names: a string or an enumeration.
        names: &'static Node,
        /// The description of the values.
        values: &'static Node,
        /// The minimum number of members.
        fewest: usize,
        /// The maximum number of members.
        most: Option<usize>,
    },
    /// One of several objects, distinguished by a tag member.
    OneOf(&'static OneOf),
    /// The inner value or `null`. A field of this kind may be absent.
    Optional(&'static Node),
    /// The inner value, which clients over HTTP repeat in the header field `Mcp-Param-NAME`.
    ///
    /// The schema has the annotation `x-mcp-header` with this name. The inner value is a string, an integer or a
    /// boolean, and may be [`Optional`](Node::Optional).
    Header(&'static str, &'static Node),
    /// The inner value with a description. The description of a field overrides this description.
    Described(&'static str, &'static Node),
    /// A string with a format of JSON Schema, such as `date-time`. The format is an annotation: decoders do not
    /// check the format.
    Format(&'static str, &'static Node),
    /// A type that contains itself.
    #[doc(hidden)]
    Recursive(&'static Definition),
    /// Inside a [`Recursive`](Node::Recursive) type, a reference to the recursive type with this name.
    #[doc(hidden)]
    Reference(&'static str),
}

/// The values of a string enumeration.
#[derive(Debug, Clone, Copy)]
pub struct Names {
    /// The strings.
    pub names: &'static [&'static str],
    /// The description of each string, in the same order. A description may be empty.
    pub descriptions: &'static [&'static str],
}

/// The members of an object.
#[derive(Debug, Clone, Copy)]
pub struct Fields {
    /// The known members.
    pub fields: &'static [Field],
    /// Whether unknown members are accepted.
    pub open: bool,
}

/// A member of an object.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// The name.
    pub name: &'static str,
    /// The name for the user.
    pub title: Option<&'static str>,
    /// The description for the model.
    pub description: Option<&'static str>,
    /// The description of the member's values.
    pub node: &'static Node,
    /// Whether the member may be absent, even if its node is not [`Optional`](Node::Optional).
    pub has_default: bool,
    /// The default for an absent member, as JSON text. `None` if the schema contains no default.
    pub default: Option<&'static str>,
}

/// A tagged union of objects.
#[derive(Debug, Clone, Copy)]
pub struct OneOf {
    /// The name of the tag member.
    pub tag: &'static str,
    /// The variants.
    pub variants: &'static [Variant],
}

/// A variant of a tagged union.
#[derive(Debug, Clone, Copy)]
pub struct Variant {
    /// The value of the tag.
    pub name: &'static str,
    /// The description for the model.
    pub description: Option<&'static str>,
    /// The members without the tag.
    pub fields: &'static Fields,
}

/// An integer with 128 bits and a sign. The type can hold the bounds of every integer type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Whole {
    negative: bool,
    magnitude: u128,
}

impl Whole {
    /// The integer zero.
    pub const ZERO: Whole = Whole::positive(0);

    /// Creates an integer from a signed value.
    #[must_use]
    pub const fn new(value: i128) -> Whole {
        Whole { negative: value < 0, magnitude: value.unsigned_abs() }
    }

    /// Creates a non-negative integer.
    #[must_use]
    pub const fn positive(magnitude: u128) -> Whole {
        Whole { negative: false, magnitude }
    }

    pub(super) const fn is_negative(self) -> bool {
        self.negative
    }

    pub(super) const fn magnitude(self) -> u128 {
        self.magnitude
    }

    const fn is_at_most(self, other: Whole) -> bool {
        match (self.negative, other.negative) {
            (true, true) => self.magnitude >= other.magnitude,
            (false, false) => self.magnitude <= other.magnitude,
            (negative, _) => negative,
        }
    }
}

impl Node {
    /// Creates the node of an integer within these inclusive bounds.
    #[must_use]
    pub const fn integer(minimum: i128, maximum: i128) -> Node {
        Node::Integer { minimum: Whole::new(minimum), maximum: Whole::new(maximum) }
    }

    /// Creates the node of a string with length limits in characters.
    #[must_use]
    pub const fn string(shortest: usize, longest: Option<usize>) -> Node {
        Node::String { shortest, longest }
    }

    /// Creates the node of an array with limits for its length.
    #[must_use]
    pub const fn array(items: &'static Node, fewest: usize, most: Option<usize>) -> Node {
        Node::Array { items, fewest, most, unique: false }
    }

    /// Creates the node of an array without equal elements.
    #[must_use]
    pub const fn set(items: &'static Node) -> Node {
        Node::Array { items, fewest: 0, most: None, unique: true }
    }

    /// Creates the node of an object without fixed member names. All values have one type.
    ///
    /// # Panics
    /// The names are not strings. In constants, a panic is a compile error.
    #[must_use]
    pub const fn map(names: &'static Node, values: &'static Node, most: Option<usize>) -> Node {
        assert!(
            matches!(names.inner(), Node::String { .. } | Node::Names(_)),
            "the keys of a map are strings or an enumeration"
        );
        Node::Map { names, values, fewest: 0, most }
    }

    /// Returns whether the node is optional. An optional member may be absent.
    #[must_use]
    pub const fn is_optional(&self) -> bool {
        match self {
            Node::Optional(_) => true,
            Node::Described(_, node) | Node::Header(_, node) | Node::Format(_, node) => node.is_optional(),
            _ => false,
        }
    }
}

// The compiler evaluates the following functions for derived types. A failed assertion is therefore a compile error.

/// A numeric bound from a derive attribute.
///
/// The bounds of a float or a `Decimal` must be float literals. A constant as a bound is a compile error:
///
/// ```compile_fail,E0080
/// # use mcp_proto::ToolArguments;
/// const COLDEST: f64 = -273.15;
///
/// #[derive(ToolArguments)]
/// struct Weather {
///     #[tool(minimum = COLDEST)]
///     celsius: f64,
/// }
///
/// const _: &str = Weather::INPUT_SCHEMA;
/// ```
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub enum Bound {
    /// A literal bound of an integer.
    Whole(Whole),
    /// A bound of an integer, from an expression that is cast to `i128`. A bound of a `u128` may wrap.
    Cast(i128),
    /// A float literal as the bound of a float or a `Decimal`, as JSON text.
    Text(&'static str),
}

#[doc(hidden)]
impl Node {
    /// Returns the node without its wrappers, such as `Optional` and `Described`.
    #[must_use]
    pub const fn inner(self) -> Node {
        match self {
            Node::Optional(node)
            | Node::Described(_, node)
            | Node::Header(_, node)
            | Node::Format(_, node) => node.inner(),
            node => node,
        }
    }

    /// Returns whether the node accepts objects only.
    #[must_use]
    pub const fn is_object(&self) -> bool {
        match self {
            Node::Object(_) | Node::OneOf(_) | Node::Map { .. } => true,
            Node::Described(_, node) => node.is_object(),
            Node::Recursive(definition) => definition.node.is_object(),
            _ => false,
        }
    }

    /// Returns whether the node, without its wrappers, is a string without length limits.
    #[must_use]
    pub(super) const fn is_any_string(&self) -> bool {
        matches!(self.inner(), Node::String { shortest: 0, longest: None })
    }

    /// Returns `limited`, wrapped in `Optional` if this node is optional.
    #[must_use]
    pub const fn limited_to(&self, limited: &'static Node) -> Node {
        if self.is_optional() { Node::Optional(limited) } else { *limited }
    }

    /// Returns this string node with a format. Any other node is a compile error.
    #[must_use]
    pub const fn formatted(&'static self, format: &'static str) -> Node {
        assert!(matches!(self.inner(), Node::String { .. }), "a format is for strings");
        Node::Format(format, self)
    }

    /// Returns the node without the description of the type.
    #[must_use]
    pub const fn undescribed(self) -> Node {
        match self {
            Node::Described(_, node) => node.undescribed(),
            node => node,
        }
    }

    /// Returns the description of the type, or `None` for a type without a description.
    #[must_use]
    pub const fn description(self) -> Option<&'static str> {
        match self {
            Node::Described(description, _) => Some(description),
            _ => None,
        }
    }

    /// Returns the node of a number with these bounds, or any other node unchanged. For an integer, contradictory
    /// bounds and bounds that the type cannot hold are compile errors. The derive macro itself compares the bounds of
    /// floats.
    #[must_use]
    pub const fn with_range(self, least: Option<Bound>, greatest: Option<Bound>) -> Node {
        match self {
            Node::Integer { minimum, maximum } => {
                let least = whole_or(least, minimum, maximum);
                let greatest = whole_or(greatest, maximum, maximum);
                assert!(minimum.is_at_most(least), "the minimum is less than the type can hold");
                assert!(greatest.is_at_most(maximum), "the maximum is more than the type can hold");
                assert!(least.is_at_most(greatest), "the minimum is greater than the maximum");
                Node::Integer { minimum: least, maximum: greatest }
            }
            Node::Number { .. } => Node::Number { minimum: text_of(least), maximum: text_of(greatest) },
            node => node,
        }
    }

    /// Returns the format of a string, or `None` for a node without a format.
    #[must_use]
    pub(super) const fn format(&self) -> Option<&'static str> {
        match self {
            Node::Format(format, _) => Some(format),
            Node::Optional(node) | Node::Described(_, node) | Node::Header(_, node) => node.format(),
            _ => None,
        }
    }

    /// Returns the minimum and the maximum of a [`Number`](Node::Number). Both are `None` for any other node.
    #[must_use]
    pub const fn decimal_range(self) -> [Option<Decimal>; 2] {
        match self {
            Node::Number { minimum, maximum } => [decimal(minimum), decimal(maximum)],
            _ => [None, None],
        }
    }

    /// Returns the node of a string, an array or a map with these limits, or any other node unchanged. Contradictory
    /// limits, and limits beyond the capacity of the type, are compile errors.
    #[must_use]
    pub const fn with_length(self, least: usize, greatest: Option<usize>) -> Node {
        if let Some(greatest) = greatest {
            assert!(least <= greatest, "the minimum is greater than the maximum");
        }
        match self {
            Node::String { longest, .. } => {
                Node::String { shortest: least, longest: within(least, greatest, longest) }
            }
            Node::Array { items, most, unique, .. } => {
                Node::Array { items, fewest: least, most: within(least, greatest, most), unique }
            }
            Node::Map { names, values, most, .. } => {
                Node::Map { names, values, fewest: least, most: within(least, greatest, most) }
            }
            node => node,
        }
    }

    /// Returns the node after a check: for an integer, a default out of bounds is a compile error.
    #[must_use]
    pub const fn with_default(self, value: Whole) -> Node {
        if let Node::Integer { minimum, maximum } = self {
            assert!(minimum.is_at_most(value) && value.is_at_most(maximum), "the default is out of bounds");
        }
        self
    }

    /// Returns the node after a check: for a string, a default with a length out of bounds is a compile error.
    #[must_use]
    pub const fn with_default_of_length(self, length: usize) -> Node {
        if let Node::String { shortest, longest } = self {
            assert!(length >= shortest, "the default is too short");
            if let Some(longest) = longest {
                assert!(length <= longest, "the default is too long");
            }
        }
        self
    }

    /// Returns the fields of an object node. Any other node is a compile error.
    #[must_use]
    #[expect(clippy::panic, reason = "the panic occurs only at compile time")]
    pub const fn fields(self) -> &'static Fields {
        match self.inner() {
            Node::Object(fields) => fields,
            Node::Recursive(definition) => definition.node.fields(),
            _ => panic!("the value of a variant must be a struct with named fields"),
        }
    }
}

impl Fields {
    /// Returns the fields after a check: a field with the name of the tag is a compile error.
    #[doc(hidden)]
    #[must_use]
    pub const fn without(&'static self, tag: &str) -> &'static Fields {
        let mut rest = self.fields;
        while let [field, tail @ ..] = rest {
            assert!(!is_same_text(field.name, tag), "a field has the name of the tag");
            rest = tail;
        }
        self
    }
}

/// Returns the bound of an integer type with the given maximum. Returns `otherwise` if `bound` is `None` or a float
/// literal.
const fn whole_or(bound: Option<Bound>, otherwise: Whole, maximum: Whole) -> Whole {
    match bound {
        Some(Bound::Whole(whole)) => whole,
        Some(Bound::Cast(value)) if maximum.magnitude > i128::MAX.unsigned_abs() => {
            Whole::positive(value.cast_unsigned())
        }
        Some(Bound::Cast(value)) => Whole::new(value),
        _ => otherwise,
    }
}

/// Returns the maximum of an attribute or, without one, the capacity of the type.
const fn within(least: usize, greatest: Option<usize>, capacity: Option<usize>) -> Option<usize> {
    match (greatest, capacity) {
        (Some(greatest), Some(capacity)) => {
            assert!(greatest <= capacity, "the maximum is more than the type can hold");
            Some(greatest)
        }
        (None, Some(capacity)) => {
            assert!(least <= capacity, "the minimum is more than the type can hold");
            Some(capacity)
        }
        (greatest, None) => greatest,
    }
}

/// Returns the JSON text of a float literal. Any other bound is a compile error.
#[expect(clippy::panic, reason = "the panic occurs only at compile time")]
const fn text_of(bound: Option<Bound>) -> Option<&'static str> {
    match bound {
        Some(Bound::Text(text)) => Some(text),
        Some(Bound::Whole(_) | Bound::Cast(_)) => {
            panic!("the bounds of a float or a `Decimal` must be literals such as `0.0`")
        }
        None => None,
    }
}

const fn decimal(text: Option<&str>) -> Option<Decimal> {
    match text {
        Some(text) => Some(decimal_literal(text)),
        None => None,
    }
}

/// Returns the value of a number literal. A text that is not a number in JSON is a compile error.
#[doc(hidden)]
#[must_use]
#[expect(clippy::panic, reason = "the panic occurs only at compile time")]
pub const fn decimal_literal(text: &str) -> Decimal {
    match Decimal::parse(text) {
        Some(decimal) => decimal,
        None => panic!("the literal is not a number in JSON"),
    }
}
