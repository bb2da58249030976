//! Checks a JSON value against a JSON Schema.
#![cfg_attr(
    not(feature = "derive"),
    allow(unreachable_pub, dead_code, reason = "`schema` exports the items")
)]

use alloc::format;
use alloc::string::{String, ToString};
use core::cell::Cell;
use core::fmt;

use crate::json::{DEPTH_LIMIT, Decimal, Json, Kind, Str};

/// A part of a value that does not match a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaViolation {
    path: String,
    reason: String,
}

impl SchemaViolation {
    /// Returns the path of the part, such as `days[0].wind`. The path of the whole value is empty.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the reason, such as "expected an integer, found true".
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

impl fmt::Display for SchemaViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.path {
            "" => f.write_str(&self.reason),
            path => write!(f, "`{path}`: {}", self.reason),
        }
    }
}

impl core::error::Error for SchemaViolation {}

/// Checks a value against a JSON Schema. For example, a test checks the structured content of a result.
///
/// The function supports:
///
/// - types, constants and enumerations
/// - bounds and lengths
/// - members and elements
/// - `allOf`, `anyOf`, and `oneOf` (like `anyOf`)
/// - references within the schema by JSON pointer without percent encoding
///
/// The function ignores all other references and keywords, such as `pattern` and `format`. Beside `patternProperties`,
/// the function also ignores `additionalProperties`. The function applies at most 65536 schemas, and at most 128 nested
/// schemas. Beyond these limits, the function accepts each part of the value whose schema is not `false`. The function
/// is for tests: a value that passes may still violate the schema.
///
/// ```
/// use mcp_proto::json::Json;
/// use mcp_proto::schema::check;
///
/// let schema = Json::parse(br#"{"type":"object","properties":{"level":{"type":"integer","maximum":9}},"required":["level"]}"#)?;
/// assert!(check(schema, Json::parse(br#"{"level":9}"#)?).is_ok());
/// let violation = check(schema, Json::parse(br#"{"level":10}"#)?).unwrap_err();
/// assert_eq!(violation.to_string(), "`level`: expected a number of at most 9, found 10");
/// # Ok::<(), mcp_proto::json::ScanError>(())
/// ```
///
/// # Errors
/// The value does not match the schema. The error names the first part that does not match, or for `anyOf` and `oneOf`
/// the part with the longest path.
pub fn check(schema: Json<'_>, value: Json<'_>) -> Result<(), SchemaViolation> {
    Check { root: schema, left: &Cell::new(VISITS) }.value(schema, value, &Path::ROOT)
}

/// The maximum number of schemas that one check applies. Nested references can multiply the work with each level.
const VISITS: u32 = 1 << 16;

/// The path to a part of the value.
#[derive(Clone, Copy)]
struct Path<'p> {
    parent: Option<&'p Path<'p>>,
    step: Step<'p>,
    /// The number of nested schemas that the check may still enter.
    levels: u8,
}

#[derive(Clone, Copy)]
enum Step<'p> {
    Root,
    /// A further schema for the same value.
    Same,
    Member(Str<'p>),
    Element(usize),
}

impl<'p> Path<'p> {
    const ROOT: Path<'static> = Path { parent: None, step: Step::Root, levels: DEPTH_LIMIT };

    fn then(&'p self, step: Step<'p>) -> Path<'p> {
        Path { parent: Some(self), step, levels: self.levels.saturating_sub(1) }
    }

    fn text(&self) -> String {
        let parent = self.parent.map(Path::text).unwrap_or_default();
        match self.step {
            Step::Root | Step::Same => parent,
            Step::Member(name) if parent.is_empty() => name.to_string(),
            Step::Member(name) => format!("{parent}.{name}"),
            Step::Element(index) => format!("{parent}[{index}]"),
        }
    }

    fn violation(&self, reason: String) -> SchemaViolation {
        SchemaViolation { path: self.text(), reason }
    }

    fn expected(&self, expected: fmt::Arguments<'_>, found: Json<'_>) -> SchemaViolation {
        const LONGEST: usize = 40;
        let text = found.raw();
        let found = match text.char_indices().nth(LONGEST) {
            Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
            None => text.to_string(),
        };
        self.violation(format!("expected {expected}, found {found}"))
    }
}

type Checked = Result<(), SchemaViolation>;

/// A check of one value.
#[derive(Clone, Copy)]
struct Check<'s> {
    root: Json<'s>,
    /// The number of schemas that the check may still apply.
    left: &'s Cell<u32>,
}

impl<'s> Check<'s> {
    fn value(self, schema: Json<'s>, value: Json<'_>, path: &Path<'_>) -> Checked {
        match schema.boolean() {
            Some(false) => return Err(path.violation("no value is allowed here".to_string())),
            _ if path.levels == 0 || self.left.get() == 0 => return Ok(()),
            _ => {}
        }
        self.left.set(self.left.get().saturating_sub(1));
        let [reference, all, any, one] = schema.pick(["$ref", "allOf", "anyOf", "oneOf"]);
        let same = path.then(Step::Same);
        if let Some(target) = reference.and_then(|reference| self.resolve(reference)) {
            self.value(target, value, &same)?;
        }
        for part in all.unwrap_or(Json::NULL).elements() {
            self.value(part, value, &same)?;
        }
        self.kind(schema, value, path)?;
        self.constants(schema, value, path)?;
        match value.kind() {
            Kind::Number => self.number(schema, value, path)?,
            Kind::String => self.string(schema, value, path)?,
            Kind::Array => self.array(schema, value, path)?,
            Kind::Object => self.object(schema, value, path)?,
            Kind::Null | Kind::Bool => {}
        }
        for variants in [any, one].into_iter().flatten() {
            self.variants(variants, value, &same)?;
        }
        Ok(())
    }

    /// Returns the schema at a JSON pointer in the root schema. Returns `None` if the reference is to another
    /// document, or nothing is at the pointer. The function supports neither anchors nor percent encoding.
    fn resolve(self, reference: Json<'s>) -> Option<Json<'s>> {
        let pointer = reference.string()?.to_string();
        let mut steps = pointer.strip_prefix('#')?.split('/');
        steps.next().filter(|anchor| anchor.is_empty())?;
        let mut schema = self.root;
        for step in steps {
            let step = step.replace("~1", "/").replace("~0", "~");
            schema = match schema.kind() {
                Kind::Array => schema.index(step.parse().ok()?)?,
                _ => schema.get(&step)?,
            };
        }
        Some(schema)
    }

    /// Accepts the value if one of the variants accepts the value, or if there are no variants. Otherwise returns the
    /// violation with the longest path.
    fn variants(self, variants: Json<'s>, value: Json<'_>, path: &Path<'_>) -> Checked {
        let mut deepest: Option<SchemaViolation> = None;
        for variant in variants.elements() {
            match self.value(variant, value, path) {
                Ok(()) => return Ok(()),
                Err(violation) => {
                    let is_deeper =
                        deepest.as_ref().is_none_or(|known| violation.path.len() > known.path.len());
                    deepest = if is_deeper { Some(violation) } else { deepest };
                }
            }
        }
        deepest.map_or(Ok(()), Err)
    }

    fn kind(self, schema: Json<'_>, value: Json<'_>, path: &Path<'_>) -> Checked {
        let Some(kinds) = schema.get("type") else { return Ok(()) };
        let is_one = |kind: Json<'_>| kind.string().is_none_or(|kind| is_kind(value, kind));
        let fits = if kinds.kind() == Kind::Array { kinds.elements().any(is_one) } else { is_one(kinds) };
        if fits { Ok(()) } else { Err(path.expected(format_args!("the type {kinds}"), value)) }
    }

    fn constants(self, schema: Json<'_>, value: Json<'_>, path: &Path<'_>) -> Checked {
        let [constant, names] = schema.pick(["const", "enum"]);
        if let Some(constant) = constant
            && !is_equal(constant, value)
        {
            return Err(path.expected(format_args!("{constant}"), value));
        }
        match names {
            Some(names) if !names.elements().any(|name| is_equal(name, value)) => {
                Err(path.expected(format_args!("one of {names}"), value))
            }
            _ => Ok(()),
        }
    }

    fn number(self, schema: Json<'_>, value: Json<'_>, path: &Path<'_>) -> Checked {
        let Some(number) = decimal(value) else { return Ok(()) };
        let bounds = schema.pick(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]);
        let words = ["of at least", "of at most", "above", "below"];
        let checks: [fn(&Decimal, &Decimal) -> bool; 4] =
            [Decimal::ge, Decimal::le, Decimal::gt, Decimal::lt];
        for ((bound, words), check) in bounds.into_iter().zip(words).zip(checks) {
            let Some(bound) = bound else { continue };
            if decimal(bound).is_some_and(|bound| !check(&number, &bound)) {
                return Err(path.expected(format_args!("a number {words} {bound}"), value));
            }
        }
        Ok(())
    }

    fn string(self, schema: Json<'_>, value: Json<'_>, path: &Path<'_>) -> Checked {
        let length = || value.string().map_or(0, |text| text.chars().count());
        count(schema, ["minLength", "maxLength"], length, ["a string", "characters"], value, path)
    }

    fn array(self, schema: Json<'s>, value: Json<'_>, path: &Path<'_>) -> Checked {
        let length = || value.elements().count();
        count(schema, ["minItems", "maxItems"], length, ["an array", "elements"], value, path)?;
        let [first, items] = schema.pick(["prefixItems", "items"]);
        let mut first = first.unwrap_or(Json::NULL).elements();
        for (index, element) in value.elements().enumerate() {
            if let Some(schema) = first.next().or(items) {
                self.value(schema, element, &path.then(Step::Element(index)))?;
            }
        }
        Ok(())
    }

    fn object(self, schema: Json<'s>, value: Json<'_>, path: &Path<'_>) -> Checked {
        let length = || value.members().count();
        count(schema, ["minProperties", "maxProperties"], length, ["an object", "members"], value, path)?;
        let [required, properties, names, others, patterns] = schema.pick([
            "required",
            "properties",
            "propertyNames",
            "additionalProperties",
            "patternProperties",
        ]);
        for name in required.unwrap_or(Json::NULL).elements().filter_map(Json::string) {
            if !value.members().any(|(known, _)| known == name) {
                return Err(path.violation(format!("missing member `{name}`")));
            }
        }
        for (name, member) in value.members() {
            let path = path.then(Step::Member(name));
            if let Some(names) = names {
                let quoted = format!("\"{}\"", name.raw());
                self.value(names, Json::trusted(quoted.as_bytes()), &path)?;
            }
            let property = properties.and_then(|properties| properties.get(&name.to_string()));
            match (property, others) {
                (Some(schema), _) => self.value(schema, member, &path)?,
                (None, Some(schema)) if patterns.is_none() => self.value(schema, member, &path)?,
                _ => {}
            }
        }
        Ok(())
    }
}

/// Checks the number of characters, elements or members.
fn count(
    schema: Json<'_>,
    keys: [&str; 2],
    length: impl Fn() -> usize,
    [what, parts]: [&str; 2],
    value: Json<'_>,
    path: &Path<'_>,
) -> Checked {
    for (bound, words) in schema.pick(keys).into_iter().zip(["at least", "at most"]) {
        let Some(limit) = bound.and_then(Json::unsigned) else { continue };
        let length = u64::try_from(length()).unwrap_or(u64::MAX);
        if (words == "at least" && length < limit) || (words == "at most" && length > limit) {
            return Err(path.expected(format_args!("{what} of {words} {limit} {parts}"), value));
        }
    }
    Ok(())
}

fn decimal(value: Json<'_>) -> Option<Decimal> {
    value.number().and_then(Decimal::parse)
}

fn is_kind(value: Json<'_>, kind: Str<'_>) -> bool {
    // A `Decimal` has no trailing zeros, so a whole number has no negative exponent. Digits that `Decimal` cuts off do
    // not count.
    let is_whole = || decimal(value).is_none_or(|number| number.exponent() >= 0);
    match value.kind() {
        Kind::Null => kind == "null",
        Kind::Bool => kind == "boolean",
        Kind::Number => kind == "number" || (kind == "integer" && is_whole()),
        Kind::String => kind == "string",
        Kind::Array => kind == "array",
        Kind::Object => kind == "object",
    }
}

fn is_equal(one: Json<'_>, other: Json<'_>) -> bool {
    match (one.kind(), other.kind()) {
        (Kind::String, Kind::String) => one.string() == other.string(),
        (Kind::Number, Kind::Number) => decimal(one) == decimal(other),
        (Kind::Array, Kind::Array) => {
            let pairs = || one.elements().zip(other.elements());
            one.elements().count() == other.elements().count()
                && pairs().all(|(one, other)| is_equal(one, other))
        }
        (Kind::Object, Kind::Object) => {
            let has = |(name, value): (Str<'_>, Json<'_>)| {
                other.get(&name.to_string()).is_some_and(|other| is_equal(value, other))
            };
            one.members().count() == other.members().count() && one.members().all(has)
        }
        _ => one.raw() == other.raw(),
    }
}
