//! Parsers for `#[tool(…)]` and `#[serde(…)]` attributes.
//!
//! The parsers skip serde items that have no effect on the schema. Any other unsupported item is an error.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::meta::ParseNestedMeta;
use syn::{Attribute, Error, Expr, ExprPath, LitStr, Path, Result, Token};

use crate::names::Case;
use crate::parse::{
    Literal, Range, doc_text, parse_case, parse_rename, parse_string, set_once, skip_value, unsupported_item,
};

/// The direction of a derived schema.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Direction {
    /// The schema describes the values that the derived decoder accepts.
    Decode,
    /// The schema describes the values that serde's `Serialize` writes.
    Encode,
    /// The macro derives the fields of a form, and the decoder of its content.
    Form,
}

impl Direction {
    /// Returns the name of the derive macro.
    fn macro_name(self) -> &'static str {
        match self {
            Direction::Decode => "ToolArguments",
            Direction::Encode => "Schema",
            Direction::Form => "FormContent",
        }
    }

    /// Returns whether the macro derives a decoder.
    pub(crate) fn has_decoder(self) -> bool {
        self != Direction::Encode
    }

    /// Returns whether every parser skips this attribute of serde, because the attribute has no effect on the schema.
    fn ignores(self, name: &str) -> bool {
        match self {
            Direction::Decode | Direction::Form => {
                matches!(
                    name,
                    "skip_serializing" | "skip_serializing_if" | "serialize_with" | "getter" | "into"
                )
            }
            Direction::Encode => matches!(
                name,
                "skip_deserializing"
                    | "deserialize_with"
                    | "default"
                    | "alias"
                    | "borrow"
                    | "bound"
                    | "deny_unknown_fields"
                    | "expecting"
                    | "from"
                    | "other"
                    | "try_from"
            ),
        }
    }
}

/// The default of a missing value, or of a skipped field. A skipped field is not in the schema.
pub(crate) enum DefaultValue {
    /// `Default::default()`.
    Trait,
    /// The return value of a function.
    Function(ExprPath),
    /// A literal. The schema contains this default.
    Literal { expression: Expr, value: Literal },
    /// A variant of a derived enumeration. The schema contains the name of the variant.
    Variant(ExprPath),
}

/// Attributes of a struct or an enum.
#[derive(Default)]
pub(crate) struct TypeAttributes {
    pub(crate) description: Option<TokenStream>,
    pub(crate) rename_all: Option<Case>,
    pub(crate) rename_all_fields: Option<Case>,
    pub(crate) tag: Option<LitStr>,
    pub(crate) default: Option<DefaultValue>,
    pub(crate) transparent: bool,
    pub(crate) open: bool,
    pub(crate) root: Option<Path>,
}

/// Attributes of a variant.
#[derive(Default)]
pub(crate) struct VariantAttributes {
    pub(crate) description: Option<TokenStream>,
    pub(crate) name: Option<String>,
    pub(crate) rename_all: Option<Case>,
    pub(crate) skip: bool,
}

/// Attributes of a field.
#[derive(Default)]
pub(crate) struct FieldAttributes {
    pub(crate) description: Option<TokenStream>,
    pub(crate) name: Option<String>,
    pub(crate) default: Option<DefaultValue>,
    pub(crate) skip: bool,
    /// Whether the field may be absent without a default (`skip_serializing_if`).
    pub(crate) may_be_absent: bool,
    pub(crate) minimum: Option<Expr>,
    pub(crate) maximum: Option<Expr>,
    pub(crate) shortest: Option<Expr>,
    pub(crate) longest: Option<Expr>,
    pub(crate) fewest: Option<Expr>,
    pub(crate) most: Option<Expr>,
    pub(crate) schema: Option<Expr>,
    /// The error for `with` or `serialize_with` in `derive(Schema)`. The parser drops the error if the field has
    /// `#[tool(schema = …)]`.
    unknown_writer: Option<Error>,
    /// A format of JSON Schema.
    pub(crate) format: Option<LitStr>,
    /// The end of the name of the header field that repeats the value: `Region` for `Mcp-Param-Region`.
    pub(crate) header: Option<LitStr>,
    /// The name of the field for the user.
    pub(crate) title: Option<LitStr>,
}

/// The namespace of an attribute.
#[derive(Clone, Copy, PartialEq)]
enum Namespace {
    Serde,
    Tool,
}

/// Calls `item` for every item of `#[tool(…)]` and `#[serde(…)]`, with the name of the item. Stops at the first error.
fn for_each_item(
    attributes: &[Attribute],
    mut item: impl FnMut(Namespace, &str, &ParseNestedMeta<'_>) -> Result<()>,
) -> Result<()> {
    for attribute in attributes {
        let namespace = match attribute.path() {
            path if path.is_ident("serde") => Namespace::Serde,
            path if path.is_ident("tool") => Namespace::Tool,
            _ => continue,
        };
        attribute.parse_nested_meta(|meta| {
            let name = meta.path.to_token_stream().to_string();
            item(namespace, &name, &meta)
        })?;
    }
    Ok(())
}

/// Returns the path of `#[tool(crate = path)]`, if there is one. Ignores errors, and the items of an attribute
/// after an error.
pub(crate) fn find_root(attributes: &[Attribute]) -> Option<Path> {
    let mut root = None;
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("tool")) {
        let _ = attribute.parse_nested_meta(|meta| match meta.path.is_ident("crate") {
            true => meta.value()?.call(Path::parse_mod_style).map(|path| root = Some(path)),
            false => skip_value(&meta),
        });
    }
    root
}

/// The items of `#[tool(…)]` on a type.
const TYPE_ITEMS: &[&str] = &["description", "allow_unknown_fields", "crate"];

/// The items of `#[tool(…)]` on a variant.
const VARIANT_ITEMS: &[&str] = &["description"];

/// Returns the items of `#[tool(…)]` on a field.
fn field_items(direction: Direction) -> Vec<&'static str> {
    let mut items = vec!["title", "description", "range", "minimum", "maximum", "min_length", "max_length"];
    items.extend(["min_items", "max_items", "format", "schema"]);
    items.extend(match direction {
        Direction::Decode => &["default", "header"][..],
        Direction::Encode => &[],
        Direction::Form => &["default"],
    });
    items
}

/// Returns the error for an unknown or unsupported item. `items` lists the supported items of `#[tool(…)]`.
fn unsupported(
    namespace: Namespace,
    name: &str,
    meta: &ParseNestedMeta<'_>,
    direction: Direction,
    items: &[&str],
) -> Error {
    if namespace == Namespace::Tool {
        return meta.error(unsupported_item("tool", name, items));
    }
    let reason = match name {
        "flatten" => "a nested struct is a separate object: write its fields here",
        "alias" => "a schema cannot require one of two names: use `rename`",
        "with" | "serialize_with" | "into" | "getter" if direction == Direction::Encode => {
            "the schema cannot know what it writes: give the type a `Serialize` of its own and use `#[tool(schema = …)]`"
        }
        "with" | "deserialize_with" | "from" | "try_from" | "remote" => {
            "the schema cannot know what it accepts: give the type a `Deserialize` of its own and use \
             `#[tool(schema = …)]`"
        }
        "untagged" | "content" => "variants without a tag need a heap to decode: use `#[serde(tag = \"…\")]`",
        "other" => "the schema lists every variant, and accepts no other",
        "rename" => "the name of a type does not appear in JSON",
        "tag" => "only an enum has a tag",
        "transparent" => "only a struct with one unnamed field is transparent",
        "default" => "it applies only to a struct with named fields, and to its fields",
        "rename_all_fields" => "it applies only to the variants of an enum: use `rename_all`",
        "bound" => "each type parameter has the bounds of the derived traits",
        "crate" => "use `#[tool(crate = path)]`",
        "expecting" => "errors already name the field and its accepted values",
        _ => "the schema would not reflect it",
    };
    let derived = direction.macro_name();
    meta.error(format!("`#[serde({name})]` is not possible with `{derived}`: {reason}"))
}

fn parse_serde_default(meta: &ParseNestedMeta<'_>) -> Result<DefaultValue> {
    if !meta.input.peek(Token![=]) {
        return Ok(DefaultValue::Trait);
    }
    parse_string(meta)?.parse().map(DefaultValue::Function)
}

/// The error for a default that is neither a literal nor a variant.
pub(crate) const HIDDEN_DEFAULT: &str =
    "the schema shows only literals and variants: use `#[serde(default = \"path\")]` for other values";

fn parse_literal_default(meta: &ParseNestedMeta<'_>) -> Result<DefaultValue> {
    if !meta.input.peek(Token![=]) {
        let message = "`default` needs a value, which the schema shows, such as `#[tool(default = 5)]`: use \
                       `#[serde(default)]` for `Default::default()`";
        return Err(meta.error(message));
    }
    let expression: Expr = meta.value()?.parse()?;
    match (Literal::parse(&expression), expression) {
        (Some(value), expression) => Ok(DefaultValue::Literal { expression, value }),
        (None, Expr::Path(path)) if is_variant(&path) => Ok(DefaultValue::Variant(path)),
        (None, expression) => Err(Error::new_spanned(expression, HIDDEN_DEFAULT)),
    }
}

/// Returns whether a path may name a variant, such as `Speed::Slow` or `Mode::RGB`. The path must have several
/// segments. The last segment must contain a lowercase letter, or the segment before it must begin with a capital.
fn is_variant(path: &ExprPath) -> bool {
    let mut segments = path.path.segments.iter().rev().map(|segment| segment.ident.unraw().to_string());
    match (segments.next(), segments.next()) {
        (Some(name), Some(parent)) => {
            name.contains(char::is_lowercase) || parent.starts_with(char::is_uppercase)
        }
        _ => false,
    }
}

fn rename(meta: &ParseNestedMeta<'_>, target: &mut Option<String>, direction: Direction) -> Result<()> {
    parse_rename(meta, direction)?.map_or(Ok(()), |name| set_once(meta, target, name.value()))
}

fn rename_all(meta: &ParseNestedMeta<'_>, target: &mut Option<Case>, direction: Direction) -> Result<()> {
    parse_case(meta, direction)?.map_or(Ok(()), |case| set_once(meta, target, case))
}

/// Parses a description that replaces the doc comment.
fn description(meta: &ParseNestedMeta<'_>, target: &mut Option<TokenStream>) -> Result<()> {
    let expression: Expr = meta.value()?.parse()?;
    set_once(meta, target, quote!(#expression))
}

impl TypeAttributes {
    pub(crate) fn parse(
        attributes: &[Attribute],
        is_enum: bool,
        has_name: bool,
        direction: Direction,
    ) -> Result<TypeAttributes> {
        let mut found = TypeAttributes::default();
        let mut denies_unknown = false;
        for_each_item(attributes, |namespace, name, meta| {
            match (namespace, name) {
                (Namespace::Tool, "description") => return description(meta, &mut found.description),
                (Namespace::Tool, "allow_unknown_fields") => found.open = true,
                (Namespace::Tool, "crate") => found.root = Some(meta.value()?.call(Path::parse_mod_style)?),
                (Namespace::Serde, name) if direction.ignores(name) => return skip_value(meta),
                (Namespace::Serde, "deny_unknown_fields") => denies_unknown = true,
                (Namespace::Serde, "rename_all") => rename_all(meta, &mut found.rename_all, direction)?,
                (Namespace::Serde, "rename_all_fields") if is_enum => {
                    rename_all(meta, &mut found.rename_all_fields, direction)?;
                }
                (Namespace::Serde, "tag") if is_enum => set_once(meta, &mut found.tag, parse_string(meta)?)?,
                (Namespace::Serde, "default") if !is_enum && has_name => {
                    set_once(meta, &mut found.default, parse_serde_default(meta)?)?
                }
                (Namespace::Serde, "transparent") if !has_name => found.transparent = true,
                _ => return Err(unsupported(namespace, name, meta, direction, TYPE_ITEMS)),
            }
            if found.open && denies_unknown {
                return Err(meta.error("unknown fields are either denied or allowed"));
            }
            Ok(())
        })?;
        found.description = or_doc_text(found.description, attributes)?;
        Ok(found)
    }
}

impl VariantAttributes {
    pub(crate) fn parse(attributes: &[Attribute], direction: Direction) -> Result<VariantAttributes> {
        let mut found = VariantAttributes::default();
        for_each_item(attributes, |namespace, name, meta| match (namespace, name) {
            (Namespace::Tool, "description") => description(meta, &mut found.description),
            (Namespace::Serde, "rename") => rename(meta, &mut found.name, direction),
            (Namespace::Serde, "rename_all") => rename_all(meta, &mut found.rename_all, direction),
            (Namespace::Serde, name) if direction.ignores(name) => skip_value(meta),
            (Namespace::Serde, "skip" | "skip_deserializing" | "skip_serializing") => {
                found.skip = true;
                Ok(())
            }
            (Namespace::Serde, "borrow") => skip_value(meta),
            _ => Err(unsupported(namespace, name, meta, direction, VARIANT_ITEMS)),
        })?;
        found.description = or_doc_text(found.description, attributes)?;
        Ok(found)
    }
}

impl FieldAttributes {
    pub(crate) fn parse(attributes: &[Attribute], direction: Direction) -> Result<FieldAttributes> {
        let mut found = FieldAttributes::default();
        for_each_item(attributes, |namespace, name, meta| found.item(namespace, name, meta, direction))?;
        found.description = or_doc_text(found.description, attributes)?;
        found.check_consistency(attributes)?;
        if let Some(error) = found.unknown_writer.take_if(|_| found.schema.is_none()) {
            return Err(error);
        }
        Ok(found)
    }

    fn item(
        &mut self,
        namespace: Namespace,
        name: &str,
        meta: &ParseNestedMeta<'_>,
        direction: Direction,
    ) -> Result<()> {
        let bound = match (namespace, name) {
            (Namespace::Tool, "minimum") => &mut self.minimum,
            (Namespace::Tool, "maximum") => &mut self.maximum,
            (Namespace::Tool, "min_length") => &mut self.shortest,
            (Namespace::Tool, "max_length") => &mut self.longest,
            (Namespace::Tool, "min_items") => &mut self.fewest,
            (Namespace::Tool, "max_items") => &mut self.most,
            (Namespace::Tool, "schema") => &mut self.schema,
            _ => return self.other_item(namespace, name, meta, direction),
        };
        set_once(meta, bound, meta.value()?.parse()?)
    }

    fn other_item(
        &mut self,
        namespace: Namespace,
        name: &str,
        meta: &ParseNestedMeta<'_>,
        direction: Direction,
    ) -> Result<()> {
        match (namespace, name) {
            (Namespace::Tool, "description") => return description(meta, &mut self.description),
            (Namespace::Tool, "format") => return set_once(meta, &mut self.format, parse_string(meta)?),
            (Namespace::Tool, "range") => {
                let Range { minimum, maximum } = meta.value()?.parse()?;
                if let Some(minimum) = minimum {
                    set_once(meta, &mut self.minimum, minimum)?;
                }
                if let Some(maximum) = maximum {
                    set_once(meta, &mut self.maximum, maximum)?;
                }
            }
            (Namespace::Tool, "header") if direction == Direction::Decode => {
                return set_once(meta, &mut self.header, parse_string(meta)?);
            }
            (Namespace::Tool, "title") => return set_once(meta, &mut self.title, parse_string(meta)?),
            (Namespace::Tool, "default") if direction.has_decoder() => {
                return set_once(meta, &mut self.default, parse_literal_default(meta)?);
            }
            (Namespace::Serde, name) if direction.ignores(name) => return skip_value(meta),
            (Namespace::Serde, "default") => {
                return set_once(meta, &mut self.default, parse_serde_default(meta)?);
            }
            (Namespace::Serde, "rename") => return rename(meta, &mut self.name, direction),
            (Namespace::Serde, "skip" | "skip_deserializing" | "skip_serializing") => self.skip = true,
            (Namespace::Serde, "with" | "serialize_with") if direction == Direction::Encode => {
                self.unknown_writer =
                    Some(unsupported(namespace, name, meta, direction, &field_items(direction)));
                return skip_value(meta);
            }
            (Namespace::Serde, "skip_serializing_if") => {
                self.may_be_absent = true;
                return skip_value(meta);
            }
            // Fields borrow where possible, with or without the attribute.
            (Namespace::Serde, "borrow") => return skip_value(meta),
            _ => return Err(unsupported(namespace, name, meta, direction, &field_items(direction))),
        }
        Ok(())
    }

    /// Refuses attributes that contradict each other.
    fn check_consistency(&self, attributes: &[Attribute]) -> Result<()> {
        let error = |reason| {
            Err(attributes.first().map_or_else(
                || Error::new(proc_macro2::Span::call_site(), reason),
                |first| Error::new_spanned(first, reason),
            ))
        };
        let kinds = [self.has_range(), self.has_length(), self.has_item_count(), self.schema.is_some()];
        if kinds.iter().filter(|is_set| **is_set).count() > 1 {
            return error("a field has only one of: a range, a length, a number of items, a schema");
        }
        let is_named =
            self.name.is_some() || self.header.is_some() || self.format.is_some() || self.title.is_some();
        if self.skip && (kinds.contains(&true) || is_named) {
            return error("a field that is skipped is not in the schema");
        }
        // The macro compares floats only. Integer bounds may be constants, so the compiler compares integer bounds.
        let float = |expression: Option<&Expr>| Literal::parse(expression?)?.float();
        let (minimum, maximum) = (float(self.minimum.as_ref()), float(self.maximum.as_ref()));
        let default = self.literal_default().and_then(Literal::float);
        let is_more =
            |one: Option<f64>, other: Option<f64>| one.zip(other).is_some_and(|(one, other)| one > other);
        if is_more(minimum, maximum) {
            return error("the minimum is greater than the maximum");
        }
        if is_more(minimum, default) || is_more(default, maximum) {
            return error("the default is out of bounds");
        }
        Ok(())
    }

    /// Returns whether the field has numeric bounds.
    pub(crate) fn has_range(&self) -> bool {
        self.minimum.is_some() || self.maximum.is_some()
    }

    /// Returns whether the field has bounds for its string length.
    pub(crate) fn has_length(&self) -> bool {
        self.shortest.is_some() || self.longest.is_some()
    }

    /// Returns whether the field has bounds for its number of items.
    pub(crate) fn has_item_count(&self) -> bool {
        self.fewest.is_some() || self.most.is_some()
    }

    /// Returns the expressions of the limits and of the schema.
    pub(crate) fn expressions(&mut self) -> impl Iterator<Item = &mut Expr> {
        let lengths = [&mut self.shortest, &mut self.longest, &mut self.fewest, &mut self.most];
        [&mut self.minimum, &mut self.maximum, &mut self.schema].into_iter().chain(lengths).flatten()
    }

    /// Returns the default if it is a literal, otherwise `None`.
    pub(crate) fn literal_default(&self) -> Option<&Literal> {
        match &self.default {
            Some(DefaultValue::Literal { value, .. }) => Some(value),
            _ => None,
        }
    }
}

fn or_doc_text(description: Option<TokenStream>, attributes: &[Attribute]) -> Result<Option<TokenStream>> {
    if description.is_some() { Ok(description) } else { doc_text(attributes) }
}
