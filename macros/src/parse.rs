//! Parsers for attribute values and doc comments, and functions that replace lifetimes.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::meta::ParseNestedMeta;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Error, Expr, Ident, Lit, LitStr, Meta, Result, Token, UnOp};

use crate::attributes::Direction;
use crate::names::Case;

/// Parses `= "…"`.
pub(crate) fn parse_string(meta: &ParseNestedMeta<'_>) -> Result<LitStr> {
    meta.value()?.parse()
}

/// Parses `rename = "…"` or `rename(serialize = "…", deserialize = "…")`. Returns the name for this direction, or
/// `None` if the attribute does not contain one.
pub(crate) fn parse_rename(meta: &ParseNestedMeta<'_>, direction: Direction) -> Result<Option<LitStr>> {
    if meta.input.peek(Token![=]) {
        return parse_string(meta).map(Some);
    }
    let mut found = None;
    meta.parse_nested_meta(|side| {
        let (name, is_decoded) = (parse_string(&side)?, side.path.is_ident("deserialize"));
        if !is_decoded && !side.path.is_ident("serialize") {
            return Err(side.error("expected `serialize` or `deserialize`"));
        }
        if is_decoded == direction.has_decoder() {
            found = Some(name);
        }
        Ok(())
    })?;
    Ok(found)
}

/// Parses the name of a case. Accepts the same forms as [`parse_rename`].
pub(crate) fn parse_case(meta: &ParseNestedMeta<'_>, direction: Direction) -> Result<Option<Case>> {
    let found = parse_rename(meta, direction)?;
    found
        .map(|name| Case::from_name(&name.value()).map_err(|reason| Error::new(name.span(), reason)))
        .transpose()
}

/// Skips the value of an irrelevant item of an attribute, if the item has a value.
pub(crate) fn skip_value(meta: &ParseNestedMeta<'_>) -> Result<()> {
    if meta.input.peek(Token![=]) {
        meta.value()?.parse::<Expr>()?;
    } else if meta.input.peek(syn::token::Paren) {
        let content;
        syn::parenthesized!(content in meta.input);
        content.parse::<TokenStream>()?;
    }
    Ok(())
}

/// Stores a value. Fails if there is a value already.
pub(crate) fn set_once<T>(meta: &ParseNestedMeta<'_>, target: &mut Option<T>, value: T) -> Result<()> {
    if target.replace(value).is_some() {
        return Err(meta.error("this attribute is repeated"));
    }
    Ok(())
}

/// A range: `0..=100`, `0..`, `..=100`.
pub(crate) struct Range {
    pub(crate) minimum: Option<Expr>,
    pub(crate) maximum: Option<Expr>,
}

// Parse the range by hand. Whether `syn` parses range expressions depends on features that other crates enable.
impl Parse for Range {
    fn parse(input: ParseStream<'_>) -> Result<Range> {
        let minimum = parse_range_start(input)?;
        if input.peek(Token![..=]) {
            input.parse::<Token![..=]>()?;
            return Ok(Range { minimum, maximum: Some(input.parse()?) });
        }
        input.parse::<Token![..]>()?;
        if !input.is_empty() && !input.peek(Token![,]) {
            return Err(input.error("write `..=` and the maximum"));
        }
        Ok(Range { minimum, maximum: None })
    }
}

/// Parses the expression before `..`, if there is one.
fn parse_range_start(input: ParseStream<'_>) -> Result<Option<Expr>> {
    let mut tokens = TokenStream::new();
    while !input.is_empty() && !input.peek(Token![..]) && !input.peek(Token![,]) {
        tokens.extend([input.parse::<TokenTree>()?]);
    }
    if tokens.is_empty() { Ok(None) } else { syn::parse2(tokens).map(Some) }
}

/// The literal value of a bound or a default.
pub(crate) enum Literal {
    /// An integer, as text.
    Integer(String),
    /// A float, as JSON text.
    Float(String),
    Boolean(bool),
    String(String),
}

impl Literal {
    /// Parses a boolean, a string or a number, possibly negative. Returns `None` for any other expression.
    pub(crate) fn parse(expression: &Expr) -> Option<Literal> {
        match expression {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Int(literal) => Some(Literal::Integer(literal.base10_digits().to_owned())),
                Lit::Float(literal) => Some(Literal::Float(json_float(literal.base10_digits()))),
                Lit::Bool(literal) => Some(Literal::Boolean(literal.value)),
                Lit::Str(literal) => Some(Literal::String(literal.value())),
                _ => None,
            },
            Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => match Literal::parse(&unary.expr)? {
                Literal::Integer(text) => Some(Literal::Integer(format!("-{text}"))),
                Literal::Float(text) => Some(Literal::Float(format!("-{text}"))),
                _ => None,
            },
            Expr::Group(group) => Literal::parse(&group.expr),
            Expr::Paren(paren) => Literal::parse(&paren.expr),
            _ => None,
        }
    }

    /// Returns the value of a float, or `None` for any other literal.
    pub(crate) fn float(&self) -> Option<f64> {
        if let Literal::Float(text) = self { text.parse().ok() } else { None }
    }

    /// Returns the literal as JSON text.
    pub(crate) fn json(&self) -> String {
        match self {
            Literal::Integer(text) | Literal::Float(text) => text.clone(),
            Literal::Boolean(value) => value.to_string(),
            Literal::String(text) => json_string(text),
        }
    }
}

/// Converts a Rust float to JSON, which does not allow `1.`.
fn json_float(digits: &str) -> String {
    digits.strip_suffix('.').map_or_else(|| digits.to_owned(), |whole| format!("{whole}.0"))
}

pub(crate) fn json_string(text: &str) -> String {
    let mut json = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => json.extend(['\\', letter]),
            '\0'..='\x1F' => json.push_str(&format!("\\u{:04x}", u32::from(letter))),
            _ => json.push(letter),
        }
    }
    json + "\""
}

/// Returns the text of the doc comment, or `None` if there is no text. Fails if the comment is not a literal.
pub(crate) fn doc_text(attributes: &[Attribute]) -> Result<Option<TokenStream>> {
    let mut lines = Vec::new();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("doc")) {
        let Meta::NameValue(pair) = &attribute.meta else { continue };
        let Some(Literal::String(text)) = Literal::parse(&pair.value) else {
            let reason = "the description must be a literal doc comment, or be in `#[tool(description = …)]`";
            return Err(Error::new_spanned(&pair.value, reason));
        };
        lines.extend(without_margin(&text).map(|line| line.trim().to_owned()));
        if text.is_empty() {
            lines.push(String::new());
        }
    }
    let text = join_paragraphs(&lines);
    Ok((!text.is_empty()).then(|| quote!(#text)))
}

/// Returns the lines of a text, without the margin of a block comment: the `*` before every line but the first. The text
/// of such a comment begins with white space, unlike most texts of `#[doc = …]`.
fn without_margin(text: &str) -> impl Iterator<Item = &str> {
    let has_margin = |line: &str| line.is_empty() || line.starts_with('*');
    let is_block = text.starts_with(char::is_whitespace)
        && text.lines().skip(1).all(|line| has_margin(line.trim_start()));
    text.lines().enumerate().map(move |(index, line)| match line.trim_start().strip_prefix('*') {
        Some(rest) if is_block && index > 0 => rest,
        _ => line,
    })
}

/// Joins wrapped lines: only paragraphs and list items start on a new line.
fn join_paragraphs(lines: &[String]) -> String {
    let mut text = String::new();
    let mut before = "";
    for line in lines {
        if !line.is_empty() && !text.is_empty() {
            let is_item = line.starts_with("- ") || line.starts_with("* ");
            text.push_str(match (before.is_empty(), is_item) {
                (true, _) => "\n\n",
                (false, true) => "\n",
                (false, false) => " ",
            });
        }
        text.push_str(line);
        before = line;
    }
    text
}

/// Replaces every lifetime with `'static`, because constants allow no other lifetime.
pub(crate) fn with_static_lifetimes(tokens: impl ToTokens) -> TokenStream {
    map_lifetimes(tokens, &|name| Ident::new("static", name.span()))
}

/// Replaces the lifetime `'_` with the lifetime `name`.
pub(crate) fn with_named_lifetimes(tokens: impl ToTokens, name: &str) -> TokenStream {
    map_lifetimes(tokens, &|old| if old == "_" { Ident::new(name, old.span()) } else { old })
}

fn map_lifetimes(tokens: impl ToTokens, map: &dyn Fn(Ident) -> Ident) -> TokenStream {
    let mut after_quote = false;
    let replace = |token: TokenTree| match token {
        TokenTree::Group(group) => {
            let mut inner = proc_macro2::Group::new(group.delimiter(), map_lifetimes(group.stream(), map));
            inner.set_span(group.span());
            TokenTree::Group(inner)
        }
        TokenTree::Ident(name) if after_quote => {
            after_quote = false;
            TokenTree::Ident(map(name))
        }
        token => {
            after_quote = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '\'');
            token
        }
    };
    tokens.into_token_stream().into_iter().map(replace).collect()
}

/// Returns the error text for an item that the attribute does not support. The text lists the supported items.
pub(crate) fn unsupported_item(attribute: &str, name: &str, items: &[&str]) -> String {
    format!("`#[{attribute}({name})]` is not supported here; supported are `{}`", items.join("`, `"))
}

#[cfg(test)]
mod tests {
    use super::{join_paragraphs, json_string};

    #[test]
    fn lines_become_paragraphs() {
        let text = ["One line", "and the next.", "", "", "Another:", "- one", "  more", "- two", ""];
        let lines: Vec<_> = text.iter().map(|line| line.trim().to_owned()).collect();
        assert_eq!(join_paragraphs(&lines), "One line and the next.\n\nAnother:\n- one more\n- two");
    }

    #[test]
    fn strings_are_escaped() {
        assert_eq!(json_string("a\"\\\n\u{1}ä"), "\"a\\\"\\\\\\u000a\\u0001ä\"");
    }
}
