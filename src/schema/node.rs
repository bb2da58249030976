//! What a type accepts, as a constant tree: a generic implementation cannot put texts together, but it can refer to
//! trees.

/// What a type accepts: the tree from which its JSON Schema is written.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Node {
    /// `true` or `false`.
    Boolean,
    /// A number without a fraction.
    Integer {
        /// The least.
        minimum: Whole,
        /// The greatest.
        maximum: Whole,
    },
    /// Any number.
    Number {
        /// The least, as JSON text.
        minimum: Option<&'static str>,
        /// The greatest, as JSON text.
        maximum: Option<&'static str>,
    },
    /// A string, measured in characters.
    String {
        /// How many characters it has at least.
        shortest: usize,
        /// How many it has at most.
        longest: Option<usize>,
    },
    /// One of some strings.
    Names(&'static Names),
    /// An array.
    Array {
        /// What its elements are.
        items: &'static Node,
        /// How many there are at least.
        fewest: usize,
        /// How many there are at most.
        most: Option<usize>,
    },
    /// An object.
    Object(&'static Fields),
    /// One of some objects, which a member with a fixed name tells apart.
    OneOf(&'static OneOf),
    /// The same or `null`; a field of this kind may be left out.
    Optional(&'static Node),
    /// The same with a description, which that of a field replaces.
    Described(&'static str, &'static Node),
}

/// Strings to choose from.
#[derive(Debug, Clone, Copy)]
pub struct Names {
    /// The strings.
    pub names: &'static [&'static str],
    /// What each of them means; empty if it is not said.
    pub descriptions: &'static [&'static str],
}

/// The members of an object.
#[derive(Debug, Clone, Copy)]
pub struct Fields {
    /// Those with a name.
    pub fields: &'static [Field],
    /// Whether others may be there, too, whatever they are.
    pub open: bool,
}

/// A member of an object.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// What it means, for the model.
    pub description: Option<&'static str>,
    /// What it accepts.
    pub node: &'static Node,
    /// Whether it may be left out although it is not [`Optional`](Node::Optional).
    pub has_default: bool,
    /// What stands for it then, as JSON text.
    pub default: Option<&'static str>,
}

/// Objects to choose from.
#[derive(Debug, Clone, Copy)]
pub struct OneOf {
    /// The member that tells them apart.
    pub tag: &'static str,
    /// The objects.
    pub variants: &'static [Variant],
}

/// One of the objects.
#[derive(Debug, Clone, Copy)]
pub struct Variant {
    /// The value of the tag.
    pub name: &'static str,
    /// What it means, for the model.
    pub description: Option<&'static str>,
    /// Its members, without the tag.
    pub fields: &'static Fields,
}

/// A whole number of up to 128 bits and a sign: wide enough for the bounds of every integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Whole {
    negative: bool,
    magnitude: u128,
}

impl Whole {
    /// Zero.
    pub const ZERO: Whole = Whole::positive(0);

    /// A number with a sign.
    #[must_use]
    pub const fn new(value: i128) -> Whole {
        Whole { negative: value < 0, magnitude: value.unsigned_abs() }
    }

    /// A number without one.
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
    /// An integer within these bounds, both included.
    #[must_use]
    pub const fn integer(minimum: i128, maximum: i128) -> Node {
        Node::Integer { minimum: Whole::new(minimum), maximum: Whole::new(maximum) }
    }

    /// A string of so many characters.
    #[must_use]
    pub const fn string(shortest: usize, longest: Option<usize>) -> Node {
        Node::String { shortest, longest }
    }

    /// An array of so many elements.
    #[must_use]
    pub const fn array(items: &'static Node, fewest: usize, most: Option<usize>) -> Node {
        Node::Array { items, fewest, most }
    }

    /// Whether `null` will do.
    #[must_use]
    pub const fn is_optional(&self) -> bool {
        match self {
            Node::Optional(_) => true,
            Node::Described(_, node) => node.is_optional(),
            _ => false,
        }
    }
}

// What follows is evaluated while a derived type is compiled: a failed assertion is an error of the compiler.

/// A bound of a number, as an attribute gives it.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub enum Bound {
    /// Of an integer.
    Whole(Whole),
    /// Of a floating point number: JSON text.
    Text(&'static str),
}

#[doc(hidden)]
impl Node {
    /// What is left if `null` and a description are not looked at.
    #[must_use]
    pub const fn inner(self) -> Node {
        match self {
            Node::Optional(node) | Node::Described(_, node) => node.inner(),
            node => node,
        }
    }

    /// What is said of the type.
    #[must_use]
    pub const fn description(self) -> Option<&'static str> {
        match self {
            Node::Described(description, _) => Some(description),
            _ => None,
        }
    }

    #[must_use]
    pub const fn with_range(self, least: Option<Bound>, greatest: Option<Bound>) -> Node {
        match self {
            Node::Integer { minimum, maximum } => {
                let least = whole_or(least, minimum);
                let greatest = whole_or(greatest, maximum);
                assert!(minimum.is_at_most(least), "the minimum is less than the type can hold");
                assert!(greatest.is_at_most(maximum), "the maximum is more than the type can hold");
                assert!(least.is_at_most(greatest), "the minimum is greater than the maximum");
                Node::Integer { minimum: least, maximum: greatest }
            }
            Node::Number { .. } => Node::Number { minimum: text_of(least), maximum: text_of(greatest) },
            node => node,
        }
    }

    #[must_use]
    pub const fn with_length(self, least: usize, greatest: Option<usize>) -> Node {
        if let Some(greatest) = greatest {
            assert!(least <= greatest, "the minimum is greater than the maximum");
        }
        match self {
            Node::String { .. } => Node::String { shortest: least, longest: greatest },
            Node::Array { items, .. } => Node::Array { items, fewest: least, most: greatest },
            node => node,
        }
    }

    #[must_use]
    pub const fn with_default(self, value: i128) -> Node {
        if let Node::Integer { minimum, maximum } = self {
            let value = Whole::new(value);
            assert!(minimum.is_at_most(value) && value.is_at_most(maximum), "the default is out of bounds");
        }
        self
    }

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

    /// The members of the struct that a variant holds.
    #[must_use]
    #[expect(clippy::panic, reason = "only the compiler evaluates it")]
    pub const fn fields(self) -> &'static Fields {
        match self.inner() {
            Node::Object(fields) => fields,
            _ => panic!("the value of a variant has to be a struct with named fields"),
        }
    }
}

impl Fields {
    #[doc(hidden)]
    #[must_use]
    pub const fn without(&'static self, tag: &str) -> &'static Fields {
        let mut rest = self.fields;
        while let [field, tail @ ..] = rest {
            assert!(!same(field.name, tag), "a field has the name of the tag");
            rest = tail;
        }
        self
    }
}

const fn same(one: &str, other: &str) -> bool {
    let (mut one, mut other) = (one.as_bytes(), other.as_bytes());
    while let ([first, one_tail @ ..], [second, other_tail @ ..]) = (one, other) {
        if *first != *second {
            return false;
        }
        (one, other) = (one_tail, other_tail);
    }
    one.is_empty() && other.is_empty()
}

const fn whole_or(bound: Option<Bound>, otherwise: Whole) -> Whole {
    match bound {
        Some(Bound::Whole(whole)) => whole,
        _ => otherwise,
    }
}

const fn text_of(bound: Option<Bound>) -> Option<&'static str> {
    match bound {
        Some(Bound::Text(text)) => Some(text),
        _ => None,
    }
}
