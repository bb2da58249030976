//! The derived type: its name and its parameters, which the code for the fields needs.

use std::cell::Cell;

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{DeriveInput, Expr, Ident, Result, Type};

use crate::attributes::Direction;
use crate::fields::refuse;
use crate::parse::with_static_lifetimes;

/// The derived type.
pub(crate) struct Scope {
    direction: Direction,
    name: Ident,
    /// The type with static lifetimes. Used only if the type has no type or const parameters.
    static_type: TokenStream,
    /// The type and const parameters.
    parameters: Vec<Ident>,
    is_recursive: Cell<bool>,
}

impl Scope {
    pub(crate) fn new(input: &DeriveInput, direction: Direction) -> Scope {
        let types = input.generics.type_params().map(|parameter| parameter.ident.clone());
        let constants = input.generics.const_params().map(|parameter| parameter.ident.clone());
        let (name, (_, arguments, _)) = (&input.ident, input.generics.split_for_impl());
        let arguments = with_static_lifetimes(&arguments);
        Scope {
            direction,
            name: name.clone(),
            static_type: quote!(#name #arguments),
            parameters: types.chain(constants).collect(),
            is_recursive: Cell::new(false),
        }
    }

    /// Returns the direction of the schema.
    pub(crate) fn direction(&self) -> Direction {
        self.direction
    }

    /// Returns whether the type has type or const parameters.
    pub(crate) fn is_generic(&self) -> bool {
        !self.parameters.is_empty()
    }

    /// Returns whether the type contains itself. Valid after [`schema_type`](Scope::schema_type) was called for all
    /// fields.
    pub(crate) fn is_recursive(&self) -> bool {
        self.is_recursive.get()
    }

    /// Returns the name of the type.
    pub(crate) fn name(&self) -> String {
        self.name.unraw().to_string()
    }

    /// Returns the type with static lifetimes.
    pub(crate) fn static_type(&self) -> &TokenStream {
        &self.static_type
    }

    pub(crate) fn depends_on_parameter(&self, ty: &Type) -> bool {
        self.is_generic() && mentions(ty.to_token_stream(), &self.parameters)
    }

    /// Returns the type of a field as it occurs in constants. `__Recursive` stands for the derived type itself,
    /// because a constant cannot depend on itself. Fails if a type with type or const parameters contains itself.
    pub(crate) fn schema_type(&self, ty: &Type) -> Result<TokenStream> {
        let (tokens, found) = self.replace_own_name(ty.to_token_stream());
        if found {
            self.is_recursive.set(true);
            if self.is_generic() {
                return refuse(ty.span(), "a type with type or const parameters cannot contain itself");
            }
        }
        Ok(with_static_lifetimes(tokens))
    }

    /// Refuses a field whose type contains a reference to a slice, because no JSON decoder can borrow a list.
    /// Accepts the field if the macro derives no decoder, or if an attribute sets the schema of the field.
    pub(crate) fn check_slices(&self, ty: &Type, has_schema: bool) -> Result<()> {
        if self.direction.has_decoder() && !has_schema && borrows_slice(ty.to_token_stream()) {
            return refuse(ty.span(), "no decoder borrows a list: use an array, a `Vec` or a `Box<[T]>`");
        }
        Ok(())
    }

    /// Replaces `Self` in an expression, because constants inside of functions cannot use `Self`. Fails if the
    /// expression uses `Self`, and the type has type or const parameters.
    pub(crate) fn replace_self(&self, expression: &mut Expr) -> Result<()> {
        let (tokens, own) = (expression.to_token_stream(), Ident::new("Self", Span::call_site()));
        if !mentions(tokens.clone(), std::slice::from_ref(&own)) {
            return Ok(());
        }
        if self.is_generic() {
            return refuse(
                expression.span(),
                "a limit of a type with type or const parameters cannot use `Self`",
            );
        }
        *expression = Expr::Verbatim(with_type_for_self(tokens, &self.static_type));
        Ok(())
    }

    fn replace_own_name(&self, tokens: TokenStream) -> (TokenStream, bool) {
        let (mut replaced, mut found, mut is_path) = (TokenStream::new(), false, false);
        let mut rest = tokens.into_iter().peekable();
        while let Some(token) = rest.next() {
            match token {
                TokenTree::Ident(name) if !is_path && (name == self.name || name == "Self") => {
                    found = true;
                    replaced.extend(quote!(__Recursive));
                    if rest.peek().is_some_and(|next| is_punct(next, '<')) {
                        skip_arguments(&mut rest);
                    }
                }
                TokenTree::Group(group) => {
                    let (inner, inside) = self.replace_own_name(group.stream());
                    found |= inside;
                    let mut copy = Group::new(group.delimiter(), inner);
                    copy.set_span(group.span());
                    replaced.extend([TokenTree::Group(copy)]);
                }
                token => {
                    is_path = is_punct(&token, ':');
                    replaced.extend([token]);
                    continue;
                }
            }
            is_path = false;
        }
        (replaced, found)
    }
}

/// Returns whether a type contains a reference to a slice, such as `&'a [u8]`.
fn borrows_slice(tokens: TokenStream) -> bool {
    let mut follows_reference = false;
    tokens.into_iter().any(|token| match token {
        TokenTree::Group(group) => {
            let is_array = group.stream().into_iter().any(|token| is_punct(&token, ';'));
            let is_slice = group.delimiter() == Delimiter::Bracket && !is_array;
            follows_reference && is_slice || borrows_slice(group.stream())
        }
        TokenTree::Punct(punct) => {
            // A lifetime may stand between the `&` and the slice.
            follows_reference = punct.as_char() == '&' || follows_reference && punct.as_char() == '\'';
            false
        }
        _ => false,
    })
}

fn with_type_for_self(tokens: TokenStream, ty: &TokenStream) -> TokenStream {
    let replace = |token| match token {
        TokenTree::Ident(name) if name == "Self" => quote!(<#ty>),
        TokenTree::Group(group) => {
            Group::new(group.delimiter(), with_type_for_self(group.stream(), ty)).into_token_stream()
        }
        token => token.into(),
    };
    tokens.into_iter().flat_map(replace).collect()
}

fn is_punct(token: &TokenTree, expected: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == expected)
}

/// Skips generic arguments, from `<` to the matching `>`.
fn skip_arguments(tokens: &mut impl Iterator<Item = TokenTree>) {
    let mut depth = 0usize;
    for token in tokens {
        if is_punct(&token, '<') {
            depth += 1;
        } else if is_punct(&token, '>') {
            depth -= 1;
        }
        if depth == 0 {
            return;
        }
    }
}

/// Returns whether one of the names occurs in the tokens.
pub(crate) fn mentions(tokens: TokenStream, names: &[Ident]) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(name) => names.contains(&name),
        TokenTree::Group(group) => mentions(group.stream(), names),
        _ => false,
    })
}
