//! A parser for the signature of a function: name, generics, parameters and return type.
//!
//! This module does not use the parsers of `syn` for functions and patterns. These parsers need the feature `full` of
//! `syn`, which every crate that uses the macros would then have to compile.

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::spanned::Spanned;
use syn::token::Brace;
use syn::{Attribute, Error, Generics, Ident, Lifetime, Result, Token, Type, Visibility};

/// The signature of a function or a method. The parser ignores the body.
pub(crate) struct Signature {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    /// The position of `async`.
    pub(crate) asynchronous: Option<Span>,
    pub(crate) name: Ident,
    pub(crate) generics: Generics,
    pub(crate) parameters: Vec<Parameter>,
    /// The return type, which may contain an `impl Trait`.
    pub(crate) output: Option<TokenStream>,
}

/// A parameter of a function.
pub(crate) enum Parameter {
    /// `&self` or `&mut self`.
    Receiver { is_mutable: bool, span: Span },
    /// Any other parameter, with its name if the pattern is a name.
    Typed(Option<Ident>, Box<Type>),
}

impl Parse for Signature {
    fn parse(input: ParseStream<'_>) -> Result<Signature> {
        let attributes = Attribute::parse_outer(input)?;
        let visibility = input.parse()?;
        input.parse::<Option<Token![const]>>()?;
        let asynchronous = input.parse::<Option<Token![async]>>()?.map(|token| token.span);
        if !input.peek(Token![fn]) {
            return Err(input.error("expected a safe function or a method"));
        }
        input.parse::<Token![fn]>()?;
        let name = input.call(Ident::parse_any)?;
        let mut generics: Generics = input.parse()?;
        let content;
        syn::parenthesized!(content in input);
        let parameters = parse_parameters(&content)?;
        let output = match input.parse::<Option<Token![->]>>()? {
            Some(_) => Some(parse_output(input)?),
            None => None,
        };
        generics.where_clause = input.parse()?;
        input
            .parse::<Group>()
            .map_err(|error| Error::new(error.span(), "expected the body of the function"))?;
        Ok(Signature { attributes, visibility, asynchronous, name, generics, parameters, output })
    }
}

/// Parses the return type. If `syn` cannot parse the type, such as `impl Trait + use<…>`, takes all tokens before the
/// `where` clause or the body of the function.
fn parse_output(input: ParseStream<'_>) -> Result<TokenStream> {
    let is_end = |input: ParseStream<'_>| input.peek(Token![where]) || input.peek(Brace);
    let rest = input.fork();
    match rest.parse::<Type>() {
        Ok(_) if is_end(&rest) => input.parse::<Type>().map(ToTokens::into_token_stream),
        _ => take_until(input, |input| input.peek(Token![where]) || is_body(input)),
    }
}

/// Returns whether the rest of the input is the body of the function.
fn is_body(input: ParseStream<'_>) -> bool {
    let rest = input.fork();
    input.peek(Brace) && rest.parse::<Group>().is_ok() && rest.is_empty()
}

fn parse_parameters(input: ParseStream<'_>) -> Result<Vec<Parameter>> {
    let mut parameters = Vec::new();
    while !input.is_empty() {
        Attribute::parse_outer(input)?;
        let pattern = take_until(input, |input| {
            input.peek(Token![,]) || (input.peek(Token![:]) && !input.peek(Token![::]))
        })?;
        if input.parse::<Option<Token![:]>>()?.is_some() {
            let ty: Box<Type> = input.parse()?;
            if pattern.to_string() == "self" || pattern.to_string() == "mut self" {
                return Err(Error::new(pattern.span(), "the receiver is `&self` or `&mut self`"));
            }
            parameters.push(Parameter::Typed(parse_name.parse2(pattern).ok(), ty));
        } else {
            parameters.push(parse_receiver.parse2(pattern)?);
        }
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
    }
    Ok(parameters)
}

/// Parses a pattern that is a name.
fn parse_name(input: ParseStream<'_>) -> Result<Ident> {
    input.parse::<Option<Token![mut]>>()?;
    input.parse()
}

fn parse_receiver(input: ParseStream<'_>) -> Result<Parameter> {
    let refuse =
        |span| Error::new(span, "the receiver is `&self` or `&mut self`, because the router lends the state");
    let span = input.span();
    input.parse::<Token![&]>().map_err(|_| refuse(span))?;
    input.parse::<Option<Lifetime>>()?;
    let is_mutable = input.parse::<Option<Token![mut]>>()?.is_some();
    input.parse::<Token![self]>().map_err(|error| refuse(error.span()))?;
    Ok(Parameter::Receiver { is_mutable, span })
}

/// Takes the tokens before the first position that `is_end` accepts, or all tokens if there is no such position.
pub(super) fn take_until(
    input: ParseStream<'_>,
    is_end: impl Fn(ParseStream<'_>) -> bool,
) -> Result<TokenStream> {
    let mut tokens = TokenStream::new();
    while !input.is_empty() && !is_end(input) {
        if input.peek(Token![::]) {
            let path: Token![::] = input.parse()?;
            tokens.extend(path.into_token_stream());
        } else {
            tokens.extend([input.parse::<TokenTree>()?]);
        }
    }
    Ok(tokens)
}
