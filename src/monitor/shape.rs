//! Shapes: the members that an object must or may have.

use alloc::format;
use alloc::string::{String, ToString};

use crate::json::write_text::WriteText;
use crate::json::{Json, Kind, prints};
use crate::protocol::objects::view::{has_text, text, whole_number};
use crate::protocol::revision::{Revision, Revisions, WireFeature};
use crate::rpc::is_id;

/// The type of a value.
#[derive(Clone, Copy)]
pub(super) enum Shape {
    Any,
    Is(Kind),
    Integer,
    NullableInteger,
    /// A request id or a progress token.
    Id,
    /// One of these strings.
    OneOf(&'static [&'static str]),
    /// An object with any names. Each value has this shape.
    Map(&'static Shape),
    /// An array. Each element has this shape.
    List(&'static Shape),
    /// A value of this shape or, in revisions with several content blocks, an array of such values.
    Blocks(&'static Shape),
    /// An object with these members. Further members are allowed.
    Object(&'static [Member]),
    /// An object with a tag member. The value of the tag selects the row.
    Tagged(&'static str, &'static [Row]),
    /// An object that may have a tag member. If the revision has the row, and the tag has the row's value, the object
    /// has the members of the row. Otherwise, the object has the members in the last field.
    Variant(&'static str, Row, &'static [Member]),
    /// An object of this shape with exactly one of these members.
    Exactly(&'static [&'static str], &'static Shape),
}

/// A member of an object.
#[derive(Clone, Copy)]
pub(super) struct Member {
    pub(super) name: &'static str,
    pub(super) shape: Shape,
    pub(super) is_required: bool,
    pub(super) revisions: Revisions,
}

/// A variant of a tagged object.
#[derive(Clone, Copy)]
pub(super) struct Row {
    pub(super) tag: &'static str,
    pub(super) revisions: Revisions,
    pub(super) members: &'static [Member],
}

/// Defines a required member.
pub(super) const fn required(name: &'static str, shape: Shape) -> Member {
    Member { name, shape, is_required: true, revisions: Revisions::ALL }
}

/// Defines an optional member.
pub(super) const fn optional(name: &'static str, shape: Shape) -> Member {
    Member { is_required: false, ..required(name, shape) }
}

impl Member {
    /// Limits the member to the revisions that have a feature.
    pub(super) const fn with_feature(self, feature: WireFeature) -> Member {
        Member { revisions: feature.revisions(), ..self }
    }
}

/// The difference between a value and its shape.
pub(super) struct Mismatch {
    /// The path of the value, such as `tools[2].name`.
    path: String,
    what: String,
}

impl WriteText for Mismatch {
    fn pieces(&self, put: &mut dyn FnMut(&str)) {
        let path = self.path.trim_start_matches('.');
        if path.is_empty() {
            put("the value")
        } else {
            ("`", path, "`").pieces(put)
        }
        (" ", &*self.what).pieces(put);
    }
}

prints!(Mismatch);

impl Mismatch {
    fn new(what: impl Into<String>) -> Mismatch {
        Mismatch { path: String::new(), what: what.into() }
    }

    fn inside(mut self, step: String) -> Mismatch {
        self.path.insert_str(0, &step);
        self
    }
}

impl Shape {
    /// Compares a value with the shape. Returns the first difference as an error.
    pub(super) fn check(&self, value: Json<'_>, revision: Revision) -> Result<(), Mismatch> {
        let ok = |is_right: bool, what: &str| {
            if is_right { Ok(()) } else { Err(Mismatch::new(format!("is {}, not {what}", shown(value)))) }
        };
        match self {
            Shape::Any => Ok(()),
            Shape::Is(kind) => ok(value.kind() == *kind, &kind.to_string()),
            Shape::Integer => ok(is_integer(value), "an integer"),
            Shape::NullableInteger => ok(is_integer(value) || value.is_null(), "an integer or null"),
            Shape::Id => ok(is_id(value), "a string or an integer"),
            Shape::OneOf(names) => {
                let is_known = value.string().is_some_and(|text| names.iter().any(|name| text == **name));
                ok(is_known, &format!("one of {}", names.join(", ")))
            }
            Shape::Map(shape) => {
                ok(value.kind() == Kind::Object, "an object")?;
                value.members().try_for_each(|(name, value)| {
                    shape.check(value, revision).map_err(|wrong| wrong.inside(format!(".{name}")))
                })
            }
            Shape::List(shape) => {
                ok(value.kind() == Kind::Array, "an array")?;
                value.elements().enumerate().try_for_each(|(index, value)| {
                    shape.check(value, revision).map_err(|wrong| wrong.inside(format!("[{index}]")))
                })
            }
            Shape::Blocks(shape) => match value.kind() {
                Kind::Array if revision.has(WireFeature::SamplingBlocks) => {
                    Shape::List(shape).check(value, revision)
                }
                _ => shape.check(value, revision),
            },
            Shape::Object(members) => {
                ok(value.kind() == Kind::Object, "an object")?;
                members.iter().try_for_each(|member| member.check(value, revision))
            }
            Shape::Tagged(tag, rows) => {
                required(tag, Shape::Is(Kind::String)).check(value, revision)?;
                let text = text(value, tag);
                let row = rows.iter().find(|row| {
                    row.revisions.contains(revision) && text.is_some_and(|text| text == *row.tag)
                });
                match row {
                    Some(row) => Shape::Object(row.members).check(value, revision),
                    None => {
                        let text = text.map(|text| text.to_string()).unwrap_or_default();
                        Err(Mismatch::new(format!("is \"{text}\", which this revision does not have here"))
                            .inside(format!(".{tag}")))
                    }
                }
            }
            Shape::Variant(tag, row, others) => {
                let is_row = has_text(value, tag, row.tag);
                let members = if is_row && row.revisions.contains(revision) { row.members } else { others };
                Shape::Object(members).check(value, revision)
            }
            Shape::Exactly(names, shape) => {
                shape.check(value, revision)?;
                match names.iter().filter(|name| value.get(name).is_some()).count() {
                    1 => Ok(()),
                    count => Err(Mismatch::new(format!("has {count} of {}, not one", names.join(" and ")))),
                }
            }
        }
    }
}

impl Member {
    fn check(&self, object: Json<'_>, revision: Revision) -> Result<(), Mismatch> {
        if !self.revisions.contains(revision) {
            return Ok(());
        }
        let inside = |wrong: Mismatch| wrong.inside(format!(".{}", self.name));
        match object.get(self.name) {
            Some(value) => self.shape.check(value, revision).map_err(inside),
            None if self.is_required => Err(inside(Mismatch::new("is missing"))),
            None => Ok(()),
        }
    }
}

/// Returns whether a value is an integer. `1.0` and `1e3` are integers in JSON Schema.
fn is_integer(value: Json<'_>) -> bool {
    let is_whole = |text: &str| whole_number(text.trim_start_matches('-').as_bytes()).is_some();
    value.is_integer_text() || value.number().is_some_and(is_whole)
}

/// Returns the text of a short string, number or literal, or the kind of any other value.
fn shown(value: Json<'_>) -> String {
    match value.kind() {
        Kind::Object | Kind::Array => value.kind().to_string(),
        _ if value.bytes().len() > 40 => value.kind().to_string(),
        _ => value.raw().to_string(),
    }
}
