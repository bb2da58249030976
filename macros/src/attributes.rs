//! Parsing of `#[tool(…)]` and `#[serde(…)]` attributes. Unknown attributes that affect decoding are errors.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::meta::ParseNestedMeta;
use syn::{Attribute, Error, Expr, ExprPath, LitStr, Path, Result, Token};

use crate::names::Case;
use crate::parse::{Literal, Range, case, documentation, ignore, once, renamed, string};

/// The default of a missing value.
pub(crate) enum Absent {
    /// `Default::default()`.
    Trait,
    /// The return value of a function.
    Function(ExprPath),
    /// A literal, which the schema contains.
    Shown { expression: Expr, json: String },
}

/// Attributes of a struct or an enum.
#[derive(Default)]
pub(crate) struct OfType {
    pub(crate) description: Option<TokenStream>,
    pub(crate) rename_all: Option<Case>,
    pub(crate) rename_all_fields: Option<Case>,
    pub(crate) tag: Option<LitStr>,
    pub(crate) default: Option<Absent>,
    pub(crate) transparent: bool,
    pub(crate) open: bool,
    pub(crate) root: Option<Path>,
}

/// Attributes of a variant.
#[derive(Default)]
pub(crate) struct OfVariant {
    pub(crate) description: Option<TokenStream>,
    pub(crate) name: Option<String>,
    pub(crate) rename_all: Option<Case>,
    pub(crate) skip: bool,
}

/// Attributes of a field.
#[derive(Default)]
pub(crate) struct OfField {
    pub(crate) description: Option<TokenStream>,
    pub(crate) name: Option<String>,
    pub(crate) default: Option<Absent>,
    pub(crate) skip: bool,
    pub(crate) minimum: Option<Expr>,
    pub(crate) maximum: Option<Expr>,
    pub(crate) shortest: Option<Expr>,
    pub(crate) longest: Option<Expr>,
    pub(crate) fewest: Option<Expr>,
    pub(crate) most: Option<Expr>,
    pub(crate) schema: Option<Expr>,
}

/// The namespace of an attribute.
#[derive(Clone, Copy, PartialEq)]
enum Owner {
    Serde,
    Tool,
}

/// Calls `item` with every item of the two attributes and its name.
fn each(
    attributes: &[Attribute],
    mut item: impl FnMut(Owner, &str, &ParseNestedMeta<'_>) -> Result<()>,
) -> Result<()> {
    for attribute in attributes {
        let owner = match attribute.path() {
            path if path.is_ident("serde") => Owner::Serde,
            path if path.is_ident("tool") => Owner::Tool,
            _ => continue,
        };
        attribute.parse_nested_meta(|meta| {
            let name = meta.path.to_token_stream().to_string();
            item(owner, &name, &meta)
        })?;
    }
    Ok(())
}

/// The error for an unknown or unsupported item.
fn refused(owner: Owner, name: &str, meta: &ParseNestedMeta<'_>) -> Error {
    if owner == Owner::Tool {
        return meta.error(format!("there is no `#[tool({name})]` here"));
    }
    let why = match name {
        "flatten" => "a struct inside another is an object of its own: write its fields here",
        "alias" => "a schema cannot say that one of two names has to be there: `rename` gives another one",
        "with" | "deserialize_with" | "from" | "try_from" | "remote" => {
            "the schema cannot know what it accepts: give the type a `Deserialize` of its own and use \
             `#[tool(schema = …)]`"
        }
        "untagged" | "content" => {
            "what cannot be told apart by a member needs a heap: use `#[serde(tag = \"…\")]`"
        }
        "other" => "the schema lists every variant, and no other is accepted",
        "rename" => "the name of a type does not appear in JSON",
        "tag" => "only the variants of an enum are told apart by a tag",
        "transparent" => "only a struct with one field that has no name is that field",
        "default" => "it is for a struct with named fields, and for its fields",
        "rename_all_fields" => "it is for the variants of an enum: use `rename_all`",
        "bound" => "there are no type parameters",
        "crate" => "use `#[tool(crate = path)]`",
        "expecting" => "errors name the field and say what it accepts",
        _ => "the schema would not know of it",
    };
    meta.error(format!("`#[serde({name})]` is not possible with `ToolArguments`: {why}"))
}

/// Whether the attribute only affects `Serialize`.
fn is_for_serialize(name: &str) -> bool {
    matches!(name, "skip_serializing" | "skip_serializing_if" | "serialize_with" | "getter" | "into")
}

fn serde_default(meta: &ParseNestedMeta<'_>) -> Result<Absent> {
    if !meta.input.peek(Token![=]) {
        return Ok(Absent::Trait);
    }
    string(meta)?.parse().map(Absent::Function)
}

fn shown_default(meta: &ParseNestedMeta<'_>) -> Result<Absent> {
    let expression: Expr = meta.value()?.parse()?;
    match Literal::parse(&expression) {
        Some(literal) => Ok(Absent::Shown { json: literal.json(), expression }),
        None => Err(Error::new_spanned(
            expression,
            "the schema can show a literal only: for other values there is `#[serde(default = \"path\")]`",
        )),
    }
}

fn rename(meta: &ParseNestedMeta<'_>, place: &mut Option<String>) -> Result<()> {
    renamed(meta)?.map_or(Ok(()), |name| once(meta, place, name.value()))
}

fn rename_all(meta: &ParseNestedMeta<'_>, place: &mut Option<Case>) -> Result<()> {
    case(meta)?.map_or(Ok(()), |case| once(meta, place, case))
}

/// Parses a description that replaces the doc comment.
fn description(meta: &ParseNestedMeta<'_>, place: &mut Option<TokenStream>) -> Result<()> {
    let expression: Expr = meta.value()?.parse()?;
    once(meta, place, quote!(#expression))
}

impl OfType {
    pub(crate) fn parse(attributes: &[Attribute], is_enum: bool, has_name: bool) -> Result<OfType> {
        let mut found = OfType::default();
        let mut denies = false;
        each(attributes, |owner, name, meta| {
            match (owner, name) {
                (Owner::Tool, "description") => return description(meta, &mut found.description),
                (Owner::Tool, "allow_unknown_fields") => found.open = true,
                (Owner::Tool, "crate") => found.root = Some(meta.value()?.call(Path::parse_mod_style)?),
                (Owner::Serde, "deny_unknown_fields") => denies = true,
                (Owner::Serde, "rename_all") => rename_all(meta, &mut found.rename_all)?,
                (Owner::Serde, "rename_all_fields") if is_enum => {
                    rename_all(meta, &mut found.rename_all_fields)?;
                }
                (Owner::Serde, "tag") if is_enum => once(meta, &mut found.tag, string(meta)?)?,
                (Owner::Serde, "default") if !is_enum && has_name => {
                    once(meta, &mut found.default, serde_default(meta)?)?
                }
                (Owner::Serde, "transparent") if !has_name => found.transparent = true,
                (Owner::Serde, name) if is_for_serialize(name) => return ignore(meta),
                _ => return Err(refused(owner, name, meta)),
            }
            if found.open && denies {
                return Err(meta.error("unknown fields are either denied or allowed"));
            }
            Ok(())
        })?;
        found.description = or_documentation(found.description, attributes)?;
        Ok(found)
    }
}

impl OfVariant {
    pub(crate) fn parse(attributes: &[Attribute]) -> Result<OfVariant> {
        let mut found = OfVariant::default();
        each(attributes, |owner, name, meta| match (owner, name) {
            (Owner::Tool, "description") => description(meta, &mut found.description),
            (Owner::Serde, "rename") => rename(meta, &mut found.name),
            (Owner::Serde, "rename_all") => rename_all(meta, &mut found.rename_all),
            (Owner::Serde, "skip" | "skip_deserializing") => {
                found.skip = true;
                Ok(())
            }
            (Owner::Serde, "borrow") => ignore(meta),
            (Owner::Serde, name) if is_for_serialize(name) => ignore(meta),
            _ => Err(refused(owner, name, meta)),
        })?;
        found.description = or_documentation(found.description, attributes)?;
        Ok(found)
    }
}

impl OfField {
    pub(crate) fn parse(attributes: &[Attribute]) -> Result<OfField> {
        let mut found = OfField::default();
        each(attributes, |owner, name, meta| found.item(owner, name, meta))?;
        found.description = or_documentation(found.description, attributes)?;
        found.agree(attributes)?;
        Ok(found)
    }

    fn item(&mut self, owner: Owner, name: &str, meta: &ParseNestedMeta<'_>) -> Result<()> {
        let bound = match (owner, name) {
            (Owner::Tool, "minimum") => &mut self.minimum,
            (Owner::Tool, "maximum") => &mut self.maximum,
            (Owner::Tool, "min_length") => &mut self.shortest,
            (Owner::Tool, "max_length") => &mut self.longest,
            (Owner::Tool, "min_items") => &mut self.fewest,
            (Owner::Tool, "max_items") => &mut self.most,
            (Owner::Tool, "schema") => &mut self.schema,
            _ => return self.other_item(owner, name, meta),
        };
        once(meta, bound, meta.value()?.parse()?)
    }

    fn other_item(&mut self, owner: Owner, name: &str, meta: &ParseNestedMeta<'_>) -> Result<()> {
        match (owner, name) {
            (Owner::Tool, "description") => return description(meta, &mut self.description),
            (Owner::Tool, "range") => {
                let Range { minimum, maximum } = meta.value()?.parse()?;
                if let Some(minimum) = minimum {
                    once(meta, &mut self.minimum, minimum)?;
                }
                if let Some(maximum) = maximum {
                    once(meta, &mut self.maximum, maximum)?;
                }
            }
            (Owner::Tool, "default") => return once(meta, &mut self.default, shown_default(meta)?),
            (Owner::Serde, "default") => return once(meta, &mut self.default, serde_default(meta)?),
            (Owner::Serde, "rename") => return rename(meta, &mut self.name),
            (Owner::Serde, "skip" | "skip_deserializing") => self.skip = true,
            // Fields borrow where possible in any case.
            (Owner::Serde, "borrow") => return ignore(meta),
            (Owner::Serde, name) if is_for_serialize(name) => return ignore(meta),
            _ => return Err(refused(owner, name, meta)),
        }
        Ok(())
    }

    /// Checks that the attributes are consistent.
    fn agree(&self, attributes: &[Attribute]) -> Result<()> {
        let error = |why| {
            Err(attributes.first().map_or_else(
                || Error::new(proc_macro2::Span::call_site(), why),
                |first| Error::new_spanned(first, why),
            ))
        };
        let kinds = [self.is_ranged(), self.is_measured(), self.is_counted(), self.schema.is_some()];
        if kinds.iter().filter(|said| **said).count() > 1 {
            return error("a field has either a range, a length, a number of items or a schema");
        }
        if self.skip && (kinds.contains(&true) || self.name.is_some()) {
            return error("a field that is skipped is not in the schema");
        }
        // The compiler compares integers, because it also evaluates constants.
        let float = |expression: Option<&Expr>| match expression.and_then(Literal::parse) {
            Some(Literal::Float(text)) => text.parse::<f64>().ok(),
            _ => None,
        };
        let (minimum, maximum) = (float(self.minimum.as_ref()), float(self.maximum.as_ref()));
        let default = match &self.default {
            Some(Absent::Shown { expression, .. }) => float(Some(expression)),
            _ => None,
        };
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

    /// Whether the field has bounds of a number.
    pub(crate) fn is_ranged(&self) -> bool {
        self.minimum.is_some() || self.maximum.is_some()
    }

    /// Whether the field has bounds of a string length.
    pub(crate) fn is_measured(&self) -> bool {
        self.shortest.is_some() || self.longest.is_some()
    }

    /// Whether the field has bounds of a number of items.
    pub(crate) fn is_counted(&self) -> bool {
        self.fewest.is_some() || self.most.is_some()
    }

    /// The default that the schema contains.
    pub(crate) fn shown_default(&self) -> Option<Literal> {
        match &self.default {
            Some(Absent::Shown { expression, .. }) => Literal::parse(expression),
            _ => None,
        }
    }
}

fn or_documentation(said: Option<TokenStream>, attributes: &[Attribute]) -> Result<Option<TokenStream>> {
    if said.is_some() { Ok(said) } else { documentation(attributes) }
}
